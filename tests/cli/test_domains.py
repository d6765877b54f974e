"""``surefoot domains``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from surefoot import domain, load_task
from surefoot.cli import main
from surefoot.domains import DOMAINS, domain_family
from surefoot.policies import builtin
from tests.cli.conftest import Surefoot

OPTIONS = "--out -o --json --seed --max-seconds --memory-mb"
TASK = """one-way-line-2-5-icy
  task        domain:one-way-line?packages=2&locations=5&variant=icy
  sha256      {sha256}
  parameters  packages=2, locations=5, top_speed=3, variant=icy, icy=
  variables   9: location_load_0 0..2, location_load_1 0..2, location_load_2 0..2, \
location_load_3 0..2, location_load_4 0..2, truck_0 0..4, truck_load_0 0..2, \
truck_vel_0 0..3, and 1 more
  actions     5: pick_up_truck_0, drop_truck_0, acc_truck_0, dec_truck_0, move_truck_0
  edges       46

A start state, drawn by seed 3:

{picture}
"""


def test_help(surefoot: Surefoot) -> None:
    done = surefoot("domains", "--help")
    assert done.code == 0
    assert all(f"{option} " in done.out for option in OPTIONS.split())
    assert "For example:\n  surefoot domains\n" in done.out
    assert max(len(line) for line in done.out.splitlines() if "  surefoot " in line) <= 79
    assert "domains" in surefoot("--help").out


def test_list(surefoot: Surefoot) -> None:
    done = surefoot("domains")
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[:-2:2]] == list(DOMAINS)
    assert lines[0].partition(" ")[2].strip() == (
        "a truck brings packages to the end of a line and must not overrun it."
    )
    assert lines[1].strip() == "packages=3, locations=4, top_speed=3, variant=det, icy="
    assert max(map(len, lines)) <= 120


def test_list_as_a_document(surefoot: Surefoot) -> None:
    done = surefoot("domains", "--json")
    document = done.document
    assert (done.code, done.err, document["command"]) == (0, "", "domains")
    assert [one["name"] for one in document["domains"]] == list(DOMAINS)
    for one in document["domains"]:
        family = domain_family(one["name"])
        assert one["summary"] == family.summary
        assert one["parameters"] == family.defaults
        assert one["sizes"] == list(family.sizes)


def test_family(surefoot: Surefoot) -> None:
    done = surefoot("domains", "staircase")
    assert done.code == 0
    assert done.out.startswith("staircase\nStaircase: ")
    assert domain_family("staircase").rules in done.out
    assert "parameters with their defaults: steps=10\n" in done.out
    table = done.out[done.out.index("size ") :].splitlines()
    assert table[:3] == [
        "size   parameters  variables  actions  edges",
        "tiny   steps=10            2       12     14",
        "small  steps=5000          2    5,002  5,004",
    ]
    assert "\nstaircase-10\n  task        domain:staircase\n" in done.out
    assert done.out.endswith("        __ 2\n    __ 1\n__ fail\n")


@pytest.mark.parametrize("name", DOMAINS)
def test_every_family_as_a_document(surefoot: Surefoot, name: str) -> None:
    document = surefoot("domains", name, "--json").document
    family, task = domain_family(name), domain(name)
    told = document["domain"]
    assert (told["name"], told["rules"]) == (name, family.rules)
    assert list(told["sizes"]) == list(family.sizes)
    tiny = told["sizes"]["tiny"]
    counts = len(task.variables), len(task.actions), len(task.description.edges)
    assert (tiny["variables"], tiny["actions"], tiny["edges"]) == counts
    assert document["task"]["sha256"] == task.sha256
    assert len(document["variables"]) == counts[0]
    assert document["actions"] == list(task.actions)
    (start,) = task.sample_starts(1, seed=0)
    assert document["start"] == start.to_dict()
    drawn = task.picture(start)
    assert drawn is not None
    assert document["picture"] == {"text": drawn.text, "svg": drawn.svg}


def test_policies_of_a_family(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Cards are made here, and the command runs in this process: what is shipped may change."""
    for name, task in (("line-network", "one-way-line?size=tiny"), ("stairs-trees", "staircase")):
        card = {
            **{"surefoot_card": 1, "name": name, "task": f"domain:{task}", "task_sha256": ""},
            **{"file": f"{name}.json", "kind": "network", "seed": 0, "goal_fraction": 0.75},
            **{"unsafe_fraction": 0.125, "starts": 8, "exact": True, "mean_steps": 3.5},
            "command": "none",
        }
        (tmp_path / f"{name}.card.json").write_text(json.dumps(card))
    monkeypatch.setattr(builtin, "FOLDER", tmp_path)
    assert main(["domains", "one-way-line"]) == 0
    out = capsys.readouterr().out
    assert out[out.index("policy  ") :].splitlines()[:3] == [
        "policy                kind     task                             goal  unsafe",
        "builtin:line-network  network  domain:one-way-line?size=tiny  0.7500  0.1250",
        "",
    ]
    assert "stairs" not in out
    assert main(["domains", "layered"]) == 0
    assert "builtin:" not in capsys.readouterr().out
    assert main(["domains", "staircase", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["domain"]["policies"]
    assert told == {
        **{"name": "stairs-trees", "task": "domain:staircase", "kind": "network"},
        **{"goal_fraction": 0.75, "unsafe_fraction": 0.125},
    }


@pytest.mark.parametrize("prefix", ["", "domain:"])
def test_task(surefoot: Surefoot, prefix: str) -> None:
    text = "one-way-line?packages=2&locations=5&variant=icy"
    done = surefoot("domains", prefix + text, "--seed", "3")
    task = domain("one-way-line", packages=2, locations=5, variant="icy")
    (start,) = task.sample_starts(1, seed=3)
    assert done.code == 0
    assert done.out == TASK.format(sha256=task.sha256, picture=task.picture(start))


def test_a_size_is_all_its_parameters(surefoot: Surefoot) -> None:
    document = surefoot("domains", "one-way-line?size=15-10&packages=7", "--json").document
    assert document["parameters"] == {
        **{"packages": 7, "locations": 10, "top_speed": 3},
        **{"variant": "det", "icy": ""},
    }
    assert "domain" not in document
    assert document["task"]["name"] == "one-way-line-7-10-det"


@pytest.mark.parametrize("name", DOMAINS)
def test_written_tasks_are_the_same_tasks(surefoot: Surefoot, name: str, tmp_path: Path) -> None:
    done = surefoot("domains", name, "-o", "task.jani")
    assert done.code == 0
    assert done.out == f"wrote task.jani: {domain(name).name}\n"
    again = load_task(tmp_path / "task.jani")
    assert again.sha256 == domain(name).sha256


def test_written_tasks_can_be_used_by_commands(surefoot: Surefoot) -> None:
    text = "two-way-line?packages=1&locations=3&variant=icy-park"
    surefoot("domains", text, "--out", "line.jani")
    first, second = (
        surefoot("explore", task, "--json").document for task in (f"domain:{text}", "line.jani")
    )
    for count in ("states", "pairs", "outcomes", "fail", "goal", "dead_ends", "depth"):
        assert first[count] == second[count]
    assert first["task"]["sha256"] == second["task"]["sha256"]


def test_pictures_are_written(surefoot: Surefoot, tmp_path: Path) -> None:
    written = []
    for seed in ("1", "2", "1"):
        done = surefoot("domains", "flappy-bird?width=9", "-o", "bird.SVG", "--seed", seed)
        assert (done.code, done.out) == (0, "wrote bird.SVG: flappy-bird-9-8-10-0\n")
        written.append((tmp_path / "bird.SVG").read_text())
    assert written[0] == written[2] != written[1]
    assert ElementTree.fromstring(written[0]).tag.endswith("svg")


def test_writing_with_a_document(surefoot: Surefoot, tmp_path: Path) -> None:
    done = surefoot("domains", "layered", "-o", "task.jani", "--json")
    assert done.document["options"]["out"] == "task.jani"
    assert done.document["task"]["sha256"] == load_task(tmp_path / "task.jani").sha256


BAD = {
    "unknown family": (("one-way-lin",), 'did you mean "one-way-line"?'),
    "no family like it": (("zzz",), "domains are: one-way-line, two-way-line, "),
    "empty": (("",), "domains are: "),
    "unknown parameter": (("one-way-line?zzz=3",), "its parameters are: packages, locations, "),
    "unknown size": (("one-way-line?size=zzz",), "its sizes are: tiny, small, 15-10"),
    "bad value": (("one-way-line?packages=0",), "packages must be from 1 to 1,000"),
    "file without family": (("-o", "x.jani"), "needs a NAME"),
    "other suffix": (("layered", "-o", "x.png"), "unknown-suffix"),
    "no folder": (("layered", "-o", "nothing/x.jani"), "nothing/x.jani: the file cannot be"),
    "no folder for a picture": (("layered", "-o", "nothing/x.svg"), "nothing/x.svg: the file"),
    "a folder": (("layered", "-o", "folder.jani"), "file-not-written"),
    "bad seed": (("layered", "--seed", "-1"), "seed"),
    "no time": (("layered", "--max-seconds", "0"), "--max-seconds"),
    "no memory": (("layered", "--memory-mb", "0"), "--memory-mb"),
}


@pytest.mark.parametrize("arguments, text", BAD.values(), ids=BAD)
def test_bad_input(
    surefoot: Surefoot, arguments: tuple[str, ...], text: str, tmp_path: Path
) -> None:
    (tmp_path / "folder.jani").mkdir()
    done = surefoot("domains", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert text in done.err
    assert sorted(os.listdir(tmp_path)) == ["folder.jani", "tasks.py"]


def test_errors_are_documents(surefoot: Surefoot) -> None:
    done = surefoot("domains", "zzz", "--json")
    assert done.code == 2
    assert done.document["error"]["code"] == "unknown-domain"
