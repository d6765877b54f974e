"""The page: what it says, what it leaves out, and that names cannot become anything but text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.support import campaigns

from surefoot import InputError, report
from surefoot.report import faults as fault_views
from surefoot.report import pictures
from surefoot.report.again import Again
from surefoot.report.page import json_for_script


class Text(HTMLParser):
    """The text of a page, and its elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> report.CampaignSource:
    return campaigns.blocks(tmp_path_factory.mktemp("blocks"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> report.CampaignSource:
    return campaigns.hostile(tmp_path_factory.mktemp("hostile"))


def changed(source: report.CampaignSource, **more: Any) -> report.CampaignSource:
    return replace(source, content={**source.content, **more})


def text_of(source: report.CampaignSource) -> str:
    return Text(report.html(source)).text


def test_what_the_page_says(blocks: report.CampaignSource) -> None:
    text = text_of(blocks)
    for said in (
        "blocksworld-5-3-ci",
        "policy builtin:blocksworld-trees",
        "✓ safe verified: no run of the repaired policy fails",
        "12.3 %",
        "86.8 %",
        "The policy may fail from 0 of 1,000 start states.",
        "98,765 states from all 4,321 start states",
        "choose_table instead of choose_block_1 , choose_block_2 , choose_block_4",
        "The run, which fails after 8 steps",
        "Iteration 1: 2,400 of 10,000 visited states decided otherwise",
        "1,997 of 2,000",
        "surefoot check campaign/certificates/policy-safe.jsonl",
        "surefoot debug TASK --policy POLICY -o campaign --seed 7",
    ):
        assert said in text, said
    assert "could not be loaded" not in text


def test_scores_are_those_of_the_policies(blocks: report.CampaignSource) -> None:
    view = fault_views.faults_of(Again(blocks), pictures.Pictures())[0]
    again = Again(blocks)
    state = again.state(blocks.faults[0].state)
    assert again.original is not None
    assert again.final is not None
    assert view.actions[0].action == "choose_table"
    assert {row.action for row in view.actions} == set(again.task.applicable(state))
    for row in view.actions:
        for shown, policy in ((row.before, again.original), (row.after, again.final)):
            assert shown == f"{policy.scores(state)[row.action]:.5g}".replace("-", "−")
    assert [row.action for row in view.actions if row.is_fault] == ["choose_table"]
    assert [row.action for row in view.actions if row.is_chosen_after] == [
        again.final.decide(state)
    ]
    assert {row.action for row in view.actions if row.is_safe} == set(blocks.faults[0].alternatives)
    assert view.is_repaired


def test_a_decision_that_is_still_taken_is_not_called_repaired(
    blocks: report.CampaignSource,
) -> None:
    """Whatever the rounds say: the last policy is asked."""
    digest = blocks.policy["sha256"]
    rounds = [{**one, "policy_sha256": digest} for one in blocks.iterations]
    same = {"final_policy": "policy/policy.json", "final_sha256": digest, "iterations": rounds}
    view = fault_views.faults_of(Again(changed(blocks, **same)), pictures.Pictures())[0]
    assert view.after == "choose_table"
    assert not view.is_repaired


def test_before_is_the_policy_that_took_the_decision(blocks: report.CampaignSource) -> None:
    rounds = [dict(one) for one in blocks.iterations]
    rounds[0] |= {"policy": "policies/final.json", "policy_sha256": blocks.content["final_sha256"]}
    later = changed(
        blocks, iterations=rounds, faults=[{**blocks.content["faults"][0], "iteration": 2}]
    )
    view = fault_views.faults_of(Again(later), pictures.Pictures())[0]
    assert view.before_name == "repaired in iteration 1"
    assert [row.before for row in view.actions] == [row.after for row in view.actions]


def test_the_run_is_there_to_step_through(blocks: report.CampaignSource) -> None:
    shown = pictures.Pictures()
    run = fault_views.faults_of(Again(blocks), shown)[0].run
    assert run is not None
    finding = blocks.finding(blocks.faults[0])
    assert finding is not None
    real = finding.content["run"]
    assert run.data["states"] == [list(map(str, state)) for state in real["states"]]
    assert run.data["actions"] == real["actions"]
    assert (run.data["fault"], run.data["total"], run.data["first"]) == (7, 8, 0)
    task = Again(blocks).task
    for state, number in zip(real["states"], run.data["pictures"], strict=True):
        values = dict(zip(real["variables"], state, strict=True))
        assert shown.frames[number] == task.picture(values).svg


def test_the_page_loads_nothing_and_allows_its_own_script_only(
    hostile: report.CampaignSource,
) -> None:
    page = report.html(hostile)
    elements = Text(page).elements
    assert not {"iframe", "object", "embed", "base", "form"} & {tag for tag, _ in elements}
    for _, attributes in elements:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "action", "srcset", "poster", "data"):
            assert (attributes.get(name) or "data:").startswith("data:")
        assert "style" not in attributes
    rules = next(a["content"] for tag, a in elements if a.get("http-equiv"))
    assert rules is not None and rules.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        content = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert len(content) == 1
        digest = base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in rules


def test_hostile_names_stay_text(hostile: report.CampaignSource) -> None:
    page = report.html(hostile)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", page)
    parsed = Text(page)
    assert campaigns.HOSTILE[0] in parsed.text
    assert campaigns.HOSTILE[1] in parsed.text
    assert [tag for tag, _ in parsed.elements].count("script") == 2
    assert not [a for tag, a in parsed.elements if tag == "img" and a.get("src") == "x"]


@pytest.mark.parametrize("name", campaigns.HOSTILE)
def test_data_for_the_script_cannot_end_it(name: str) -> None:
    text = json_for_script({name: [name]})
    assert not set("<>&") & set(text)
    assert text.isascii()
    assert json.loads(text) == {name: [name]}


def test_commands_can_be_copied(blocks: report.CampaignSource) -> None:
    text = text_of(changed(blocks, directory="a; rm -rf b"))
    assert "surefoot check 'a; rm -rf b/certificates/policy-safe.jsonl'" in text
    assert "surefoot check 'a; rm -rf b/findings/fault-0000000000000000.json'" in text


def test_pages_are_bounded(tmp_path: Path) -> None:
    source = campaigns.line(tmp_path)
    assert len(source.faults) > 100
    page = report.html(source)
    assert len(page) < 700_000
    assert page.count('<details class="fault"') == fault_views.PICTURED_FAULTS
    assert f"and {len(source.faults) - 10} more" in Text(page).text
    assert "No scores: the policy gives none" in Text(page).text


def test_long_runs_are_cut_around_the_fault(blocks: report.CampaignSource, tmp_path: Path) -> None:
    finding = blocks.finding(blocks.faults[0])
    assert finding is not None
    content = json.loads(json.dumps(finding.to_dict()))
    run = content["run"]
    run["states"] = run["states"][:1] * 500 + run["states"]
    run["actions"] = run["actions"][:1] * 500 + run["actions"]
    content["fault"]["step"] += 500
    (tmp_path / "findings").mkdir()
    (tmp_path / "findings" / "long.json").write_text(json.dumps(content))
    faults = [{**blocks.content["faults"][0], "finding": "findings/long.json"}]
    long = campaigns.source(tmp_path, {**blocks.content, "faults": faults})
    view = fault_views.faults_of(Again(long), pictures.Pictures())[0].run
    assert view is not None
    assert len(view.data["states"]) == fault_views.SHOWN_STATES
    assert view.is_cut
    assert view.states == 509
    assert view.actions[view.fault] == "choose_table"
    assert view.first + view.fault == 507


def test_pictures_have_a_bound() -> None:
    shown = pictures.Pictures()
    large = "x" * (pictures.FRAME_BYTES // 2)
    assert shown.run([large, large + "y"]) is None
    assert shown.run([large, large]) == [0, 0]
    assert shown.run([large, "small"]) == [0, 1]
    assert shown.run(["small", None]) is None
    assert shown.figure("x" * (pictures.FIGURE_BYTES + 1)) is None
    assert shown.figure(None) is None


GONE = {
    "task changed": ({"task": {"sha256": "0" * 64}}, "the task could not be loaded again"),
    "task is code": ({"task": {"source": "evil.py:task"}}, "reading it would run that file"),
    "no such task": ({"task": {"source": "nothing.jani"}}, "the task could not be loaded again"),
    "policy gone": ({"final_policy": "policies/gone.json"}, '"policies/gone.json" could not be'),
    "policy outside": ({"final_policy": "../../etc/passwd"}, "could not be loaded again"),
    "policy changed": ({"final_sha256": "0" * 64}, "its file has changed since the campaign"),
}


@pytest.mark.parametrize("more, said", GONE.values(), ids=GONE)
def test_what_is_gone_is_left_out_and_said(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    made = campaigns.blocks(tmp_path)
    content = dict(made.content)
    for name, value in more.items():
        is_object = isinstance(value, dict)
        content[name] = {**content[name], **value} if is_object else value
    page = Text(report.html(campaigns.source(tmp_path, content))).text
    assert said in page
    assert "choose_table instead of choose_block_1" in page
    assert "The run, which fails after 8 steps" in page


def test_findings_that_are_gone(tmp_path: Path) -> None:
    source = campaigns.blocks(tmp_path)
    for file in (tmp_path / "findings").iterdir():
        file.write_text("{")
    page = Text(report.html(source)).text
    assert "the finding findings/fault-0000000000000000.json cannot be read" in page
    assert "The run, which fails" not in page
    assert "choose_table instead of choose_block_1" in page


def test_files_outside_the_campaign_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    folder.mkdir()
    source = campaigns.blocks(folder)
    (folder / "findings" / "fault-0000000000000000.json").rename(tmp_path / "outside.json")
    for name in ("../outside.json", str(tmp_path / "outside.json"), "findings/\0"):
        assert source.file(name) is None
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    assert source.file("link.json") is None
    assert source.file("campaign.json") == folder / "campaign.json"


UNFINISHED = {
    "running": "… running the campaign is still running",
    "interrupted": "‖ interrupted the campaign was interrupted: surefoot resume continues it",
}


@pytest.mark.parametrize("state, said", UNFINISHED.items())
def test_unfinished_campaigns_say_so(blocks: report.CampaignSource, state: str, said: str) -> None:
    open_ones = dict.fromkeys(("outcome", "reason", "after", "verification", "final_policy"))
    text = text_of(changed(blocks, state=state, **open_ones))
    assert said in text
    assert "not verified" in text
    assert "before any repair" in text
    assert "✓ safe" not in text


def test_a_campaign_that_has_only_begun(blocks: report.CampaignSource) -> None:
    nothing = dict.fromkeys(
        ("outcome", "reason", "before", "after", "verification", "final_policy", "starts")
    )
    source = changed(blocks, state="interrupted", iterations=[], faults=[], **nothing)
    text = text_of(source)
    assert "Not evaluated yet." in text
    assert "No fault was found yet." in text
    for make in (report.junit, report.sarif, report.markdown):
        assert "interrupted" in make(source)


def test_data_alone_will_do(blocks: report.CampaignSource) -> None:
    text = Text(report.html(blocks.content)).text
    assert "choose_table instead of choose_block_1" in text
    assert "The run, which fails" not in text


def test_writing(blocks: report.CampaignSource, tmp_path: Path) -> None:
    assert report.write_report(blocks, tmp_path / "page.html") == tmp_path / "page.html"
    assert (tmp_path / "page.html").read_text() == report.html(blocks)
    assert blocks.directory is not None
    assert report.write_report(blocks) == blocks.directory / "report.html"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_errors(blocks: report.CampaignSource, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        report.write_report(tmp_path, tmp_path / "page.html")
    assert caught.value.code == "not-a-campaign"
    with pytest.raises(InputError) as caught:
        report.html({"something": "else"})
    assert caught.value.code == "not-a-campaign"
    for place in (tmp_path, tmp_path / "nothing" / "page.html", tmp_path / "a\0b"):
        with pytest.raises(InputError) as caught:
            report.write_report(blocks, place)
        assert caught.value.code == "file-not-written"
    with pytest.raises(InputError) as caught:
        report.write_report(blocks.content)
    assert caught.value.code == "bad-option"


JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**400,
    1e308,
    float("nan"),
    "<b>",
    [],
    {},
    [[]],
    {"a": []},
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to each value inside plain data."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [path, *(place for name, one in inner for place in places(one, (*path, name)))]


def with_junk(content: Any, path: tuple[Any, ...], junk: Any) -> Any:
    """Return plain data with one value replaced."""
    if not path:
        return junk
    copy = content.copy()
    copy[path[0]] = with_junk(content[path[0]], path[1:], junk)
    return copy


@pytest.mark.slow
def test_forged_data_are_reported_or_refused(blocks: report.CampaignSource) -> None:
    """Whatever stands in them: an error of the input, or a report; never anything else."""
    content = json.loads(json.dumps(dict(blocks.content)))
    refused = tried = 0
    for number, path in enumerate(places(content)[1:]):
        forged = with_junk(content, path, JUNK[number % len(JUNK)])
        tried += 1
        try:
            for make in (report.junit, report.sarif, report.markdown, report.html):
                make(forged)
        except InputError as error:
            assert error.code == "not-a-campaign"
            refused += 1
    assert tried > 150
    assert tried / 4 < refused < tried


@pytest.mark.parametrize("junk", JUNK, ids=map(str, range(len(JUNK))))
@pytest.mark.parametrize("name", ["states", "actions", "variables"])
def test_forged_findings_do_no_harm(tmp_path: Path, name: str, junk: Any) -> None:
    source = campaigns.blocks(tmp_path)
    file = tmp_path / "findings" / "fault-0000000000000000.json"
    content = json.loads(file.read_text())
    values = content["run"][name]
    values[2] = [*values[2][:3], junk, *values[2][4:]] if name == "states" else junk
    file.write_text(json.dumps(content))
    assert "choose_table" in report.html(source)
