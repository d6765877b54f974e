"""What a certificate or finding says about its policy never decides against what the user gives."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from surefoot import CertificateRejected, Description, InputError, load_policy, load_task
from surefoot.certificates import check_policy_certificate
from surefoot.findings import finding_of, read_finding
from surefoot.fuzz import fuzz
from surefoot.policies.models import Layer, Network
from surefoot.policies.writing import write_policy
from surefoot.verify import verify
from tests.cli.conftest import Surefoot

FOOL = {"surefoot_interface": 1, "inputs": [{"constant": 5}], "outputs": ["up", "down"]}
"""with this the network below goes down wherever it can, and never fails"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with a task, a policy that fails there, and a true certificate that it does not
    with another interface.
    """
    d = Description("lamp")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", guard=x < 3, outcomes=[{x: x + 1}])
    d.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    d.fail(x == 3)
    d.compile().write_jani(tmp_path / "lamp.jani")
    task = load_task(tmp_path / "lamp.jani")
    layer = Layer(np.array([[0.0], [1.0]]), np.array([0.0, -2.5]), "linear")
    made = load_policy(Network((layer,), "float64"), task)
    write_policy(made, tmp_path / "lamp.safetensors")
    (tmp_path / "fool.json").write_text(json.dumps(FOOL))
    fooled = load_policy(str(tmp_path / "lamp.safetensors"), task, interface=FOOL)
    assert verify(task, fooled, certificate=tmp_path / "c.jsonl").verdict == "safe"
    plain = load_policy(str(tmp_path / "lamp.safetensors"), task)
    assert verify(task, plain).verdict == "unsafe"
    head, *rest = (tmp_path / "c.jsonl").read_text().splitlines()
    content = json.loads(head)
    content["policy"]["name"] = "lamp.safetensors"
    content["task"]["source"] = "lamp.jani"
    (tmp_path / "c.jsonl").write_text("\n".join([json.dumps(content), *rest]) + "\n")
    return tmp_path


def forged(files: Path, **members: object) -> Path:
    """Return the certificate with other members of its policy."""
    head, *rest = (files / "c.jsonl").read_text().splitlines()
    content = json.loads(head)
    content["policy"] |= members
    (files / "forged.jsonl").write_text("\n".join([json.dumps(content), *rest]) + "\n")
    return files / "forged.jsonl"


FORGERIES: dict[str, dict[str, object]] = {
    "as it is": {},
    "no hash": {"sha256": None},
    "no hash and no interface": {"sha256": None, "interface": None},
    "no interface": {"interface": None},
    "empty hash": {"sha256": ""},
    "a file": {"interface": "fool.json"},
    "no hash and a file": {"sha256": None, "interface": "fool.json"},
    "unfiltered": {"unfiltered": True},
    "no hash, unfiltered": {"sha256": None, "unfiltered": True},
    "another name": {"name": "first", "sha256": None, "interface": None},
}


@pytest.mark.parametrize("members", FORGERIES.values(), ids=FORGERIES)
def test_the_given_policy_decides(
    surefoot: Surefoot, files: Path, members: dict[str, object]
) -> None:
    file = forged(files, **members)
    task = load_task(files / "lamp.jani")
    policy = load_policy(str(files / "lamp.safetensors"), task)
    with pytest.raises((CertificateRejected, InputError)):
        check_policy_certificate(task, file, policy=policy)
    done = surefoot("check", file.name, "lamp.jani", "--policy", "lamp.safetensors")
    assert done.code == 5, done.err


@pytest.mark.parametrize("members", FORGERIES.values(), ids=FORGERIES)
def test_the_named_policy_is_no_other(
    surefoot: Surefoot, files: Path, members: dict[str, object]
) -> None:
    """Without a policy from the user, an answer tells that the interface is not the plain one."""
    done = surefoot("check", forged(files, **members).name, "--json")
    if done.code == 0:
        assert done.document["interface"] in (FOOL, "fool.json")
        assert "constant" in surefoot("check", "forged.jsonl").out
    else:
        assert done.code in (2, 5), done.err


def test_the_given_interface_is_accepted_and_named(surefoot: Surefoot, files: Path) -> None:
    fooled = ("--policy", "lamp.safetensors", "--interface", "fool.json")
    verified = ("verify", "lamp.jani", *fooled, "--certificate", "d.jsonl")
    assert surefoot(*verified).code == 0
    done = surefoot("check", "d.jsonl", *fooled, "--json")
    assert (done.code, done.document["interface"]) == (0, "fool.json")
    assert "with the interface fool.json" in surefoot("check", "d.jsonl").out
    assert surefoot("check", "d.jsonl", "--policy", "lamp.safetensors").code in (2, 5)


def test_findings_say_the_same_policy(surefoot: Surefoot, files: Path) -> None:
    task = load_task(files / "lamp.jani")
    plain = load_policy(str(files / "lamp.safetensors"), task)
    run = fuzz(task, plain, runs=1, max_seconds=10).failing[0]
    finding_of(task, plain, run).write(files / "f.json")
    content = json.loads((files / "f.json").read_text())
    read_finding(files / "f.json").check(task, plain)
    for members in (
        {"sha256": None},
        {"unfiltered": True},
        {"interface": FOOL},
        {"sha256": None, "interface": FOOL},
    ):
        changed = {**content, "policy": {**content["policy"], **members}}
        (files / "g.json").write_text(json.dumps(changed))
        with pytest.raises(CertificateRejected):
            read_finding(files / "g.json").check(task, plain)
        done = surefoot("check", "g.json", "lamp.jani", "--policy", "lamp.safetensors")
        assert done.code == 5, (members, done.err)
