"""``surefoot schema``. That documents are as it says is asked by the fixture ``surefoot``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from surefoot.cli.app import app
from surefoot.records.documents import DOCUMENTS
from surefoot.records.schemas import files, kinds
from tests.cli.conftest import Surefoot


def test_help_shows_an_example(surefoot: Surefoot) -> None:
    assert "For example:\n  surefoot schema" in surefoot("schema", "--help").out


def test_without_kind_lists_them(surefoot: Surefoot) -> None:
    done = surefoot("schema")
    assert (done.code, done.out.splitlines()) == (0, list(kinds()))


def test_every_command_has_a_document() -> None:
    commands = {name for name in app if not name.startswith("-")}
    assert commands - {"schema"} == set(DOCUMENTS) - {"error"}


@pytest.mark.parametrize("kind", kinds())
def test_each_kind(surefoot: Surefoot, kind: str) -> None:
    done = surefoot("schema", kind)
    assert (done.code, done.err) == (0, "")
    content = json.loads(done.out)
    assert content["title"] == f"surefoot {kind}"
    assert "$ref" in content or "anyOf" in content
    assert all(name in content["$defs"] for name in _references(content))


def _references(content: Any) -> list[str]:
    if isinstance(content, list):
        return [name for each in content for name in _references(each)]
    if not isinstance(content, dict):
        return []
    own = [content["$ref"].removeprefix("#/$defs/")] if "$ref" in content else []
    return own + [name for each in content.values() for name in _references(each)]


def test_unknown_kind(surefoot: Surefoot) -> None:
    done = surefoot("schema", "fuz")
    assert (done.code, done.out) == (2, "")
    assert "[unknown-kind]" in done.err
    assert 'did you mean "fuzz"?' in done.err
    assert "the kinds are campaign, " in surefoot("schema", "x" * 40).err


def test_files_of_a_campaign(campaign: Path) -> None:
    findings = sorted(campaign.glob("findings/*.json"))
    certificates = [
        head
        for path in campaign.rglob("*.jsonl")
        if "policy_certificate" in (head := json.loads(path.read_bytes().split(b"\n")[0]))
    ]
    journal = (campaign / "journal.jsonl").read_text("utf-8").splitlines()
    _check("campaign", json.loads((campaign / "campaign.json").read_bytes()))
    for text in journal:
        _check("journal", json.loads(text))
    for path in findings:
        _check("finding", json.loads(path.read_bytes()))
    for head in certificates:
        _check("policy-certificate", head)
    assert findings
    assert certificates


def test_certificates(surefoot: Surefoot, folder: Path) -> None:
    surefoot("decide", "tasks.py:lamp", "--state", "x=0", "--state", "x=3", "--certificates", "c")
    paths = sorted((folder / "c").glob("*.json"))
    assert [path.name.partition("-")[0] for path in paths] == ["safe", "unsafe"]
    for path in paths:
        _check("certificate", json.loads(path.read_bytes()))


def _check(kind: str, content: Any) -> None:
    """Read a file as its kind; with a member more, or with one less, it is none."""
    assert _is(kind, content)
    assert not _is(kind, {name: content[name] for name in list(content)[1:]})
    assert not _is(kind, {**content, "further": 1})


def _is(kind: str, content: Any) -> bool:
    return any(_fits(record, content) for record in files()[kind])


def _fits(record: Any, content: Any) -> bool:
    try:
        msgspec.convert(content, record)
    except msgspec.ValidationError:
        return False
    return True
