"""JUnit, SARIF and Markdown: what tools of others read."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.support import campaigns

from surefoot import report
from surefoot.report.markdown_text import code


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> report.CampaignSource:
    return campaigns.blocks(tmp_path_factory.mktemp("blocks"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> report.CampaignSource:
    return campaigns.hostile(tmp_path_factory.mktemp("hostile"))


def changed(source: report.CampaignSource, **more: Any) -> report.CampaignSource:
    return replace(source, content={**source.content, **more})


NOT_SAFE = {
    "improved": {"outcome": "improved", "verification": None},
    "unknown": {"outcome": "unknown", "verification": None},
    "stopped": {"outcome": "stopped", "verification": None},
    "outcome nobody knows": {"outcome": "perfect"},
    "running": {"state": "running", "outcome": None, "verification": None},
    "interrupted": {"state": "interrupted", "outcome": None},
}


def suite_of(source: report.CampaignSource) -> ElementTree.Element:
    suite = ElementTree.fromstring(report.junit(source)).find("testsuite")
    assert suite is not None
    return suite


def wrong(suite: ElementTree.Element) -> int:
    return int(suite.attrib["failures"]) + int(suite.attrib["errors"])


def test_junit_of_a_safe_campaign_passes(blocks: report.CampaignSource) -> None:
    suite = suite_of(blocks)
    assert wrong(suite) == 0
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase")) == 5
    assert suite.findall(".//failure") == suite.findall(".//error") == []
    names = [case.attrib["name"] for case in suite.findall("testcase")]
    assert len(set(names)) == len(names)
    values = {each.attrib["name"]: each.attrib["value"] for each in suite.iter("property")}
    assert values["unsafe_fraction before"] == "12.3 %"


@pytest.mark.parametrize("more", NOT_SAFE.values(), ids=NOT_SAFE)
def test_junit_fails_unless_the_outcome_is_safe(
    blocks: report.CampaignSource, more: dict[str, Any]
) -> None:
    suite = suite_of(changed(blocks, **more))
    found = len(suite.findall(".//failure")) + len(suite.findall(".//error"))
    assert wrong(suite) == found > 0


def test_junit_of_faults_that_are_left(blocks: report.CampaignSource) -> None:
    last = [{**blocks.iterations[0], "policy_sha256": None, "policy": None}]
    source = changed(blocks, outcome="improved", iterations=last, final_sha256=None)
    failures = [one.attrib["message"] for one in suite_of(source).iter("failure")]
    assert "choose_table is a fault, and not repaired" in failures
    assert "iteration 1: 60 of 10,000 runs fail" in failures


def test_junit_counts_many_faults_together(tmp_path: Path) -> None:
    source = campaigns.line(tmp_path)
    cases = suite_of(source).findall("testcase")
    assert len(cases) == 4 + 100 + 1
    assert cases[-1].attrib["name"] == f"{len(source.faults) - 100:,} further faults repaired"


def test_repaired_is_what_the_last_policy_was_repaired_of(blocks: report.CampaignSource) -> None:
    fault = blocks.faults[0]
    assert blocks.is_repaired(fault)
    assert blocks.is_repaired(replace(fault, iteration=2))
    assert not blocks.is_repaired(replace(fault, iteration=3))
    older = changed(blocks, final_sha256=blocks.iterations[0]["policy_sha256"])
    assert not older.is_repaired(replace(fault, iteration=2))
    as_given = changed(blocks, final_sha256=blocks.policy["sha256"])
    assert not as_given.is_repaired(fault)
    unfinished = changed(blocks, final_sha256=None)
    assert unfinished.is_repaired(replace(fault, iteration=2))


def sarif_run(source: report.CampaignSource) -> dict[str, Any]:
    document = json.loads(report.sarif(source))
    assert document["version"] == "2.1.0"
    assert len(document["runs"]) == 1
    return dict(document["runs"][0])


@pytest.mark.parametrize("which", ["blocks", "hostile"])
def test_sarif_has_what_the_standard_requires(which: str, request: pytest.FixtureRequest) -> None:
    run = sarif_run(request.getfixturevalue(which))
    driver = run["tool"]["driver"]
    assert driver["name"] == "Surefoot"
    rules = [rule["id"] for rule in driver["rules"]]
    assert rules == ["surefoot/fault", "surefoot/unsafe-start", "surefoot/not-verified"]
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    assert all(isinstance(one["executionSuccessful"], bool) for one in run["invocations"])
    for result in run["results"]:
        assert result["message"]["text"]
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        (location,) = result["locations"]
        place = location["physicalLocation"]["artifactLocation"]
        assert re.fullmatch(r"(findings/)?[\w.-]+\.json", place["uri"])
        assert place["uriBaseId"] in run["originalUriBaseIds"]
        assert all(one["name"] for one in location["logicalLocations"])


def test_sarif_of_a_safe_campaign_only_notes(blocks: report.CampaignSource) -> None:
    (result,) = sarif_run(blocks)["results"]
    assert (result["ruleId"], result["level"]) == ("surefoot/fault", "note")
    assert result["message"]["text"].startswith("choose_table in hand-empty=0, ")
    assert "safe alternative: choose_block_1, choose_block_2, choose_block_4" in str(result)
    names = [one["name"] for one in result["locations"][0]["logicalLocations"]]
    assert names == ["blocksworld-5-3-ci", "builtin:blocksworld-trees"]


def test_sarif_of_what_is_wrong(blocks: report.CampaignSource) -> None:
    source = changed(blocks, outcome="stopped", iterations=[], verification=None)
    found = {one["ruleId"]: one["level"] for one in sarif_run(source)["results"]}
    assert found == {
        "surefoot/fault": "error",
        "surefoot/unsafe-start": "error",
        "surefoot/not-verified": "warning",
    }


def test_sarif_knows_a_fault_again(blocks: report.CampaignSource) -> None:
    def prints(source: report.CampaignSource) -> list[Any]:
        return [one.get("partialFingerprints") for one in sarif_run(source)["results"]]

    renamed = [{**blocks.content["faults"][0], "iteration": 2, "finding": None, "steps": 99}]
    other = [{**blocks.content["faults"][0], "action": "choose_block_3"}]
    assert prints(blocks) == prints(changed(blocks, faults=renamed))
    assert prints(blocks) != prints(changed(blocks, faults=other))


def test_sarif_messages_are_literal(blocks: report.CampaignSource) -> None:
    name = "go{0}[here](http://example.org)"
    fault = {**blocks.content["faults"][0], "action": name}
    text = sarif_run(changed(blocks, faults=[fault]))["results"][0]["message"]["text"]
    assert text.startswith("go{{0}}[here] (http://example.org) in ")


def test_markdown(blocks: report.CampaignSource) -> None:
    text = report.markdown(blocks)
    assert text.startswith("### ✅ Surefoot: safe\n")
    assert "| unsafe start states | 12.3 % | 0 % |" in text
    assert "- `choose_table` in `hand-empty=0, " in text
    assert "Verification: **safe**, 98,765 states from all 4,321 start states; certificate" in text
    assert "accepted by the checker" in text
    assert "No run fails from any of the 4,321 start states." in text


def test_markdown_does_not_claim_what_is_not_so(blocks: report.CampaignSource) -> None:
    text = report.markdown(changed(blocks, **NOT_SAFE["improved"]))
    assert "Surefoot: improved" in text
    assert "Not verified." in text
    assert "✅" not in text


@pytest.mark.parametrize("name", [*campaigns.HOSTILE, "``", "`", "a``b`", "@all", "", "\n# x"])
def test_code_spans_hold_any_name(name: str) -> None:
    """As CommonMark reads them: a span ends at the first run of as many backticks."""
    span = code(name)
    fence = re.match("`+", span)
    assert fence is not None
    runs = re.findall("`+", span)
    assert span.endswith(fence.group())
    assert [len(run) for run in runs].count(len(fence.group())) == 2
    assert "\n" not in span


def test_hostile_names_in_texts(hostile: report.CampaignSource) -> None:
    for make in (report.junit, report.sarif, report.markdown):
        text = make(hostile)
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", text)
    suite = suite_of(hostile)
    assert campaigns.HOSTILE[0] in suite.attrib["name"]
    outside = re.sub(r"(`+)(?:.*?[^`])\1(?!`)", "", report.markdown(hostile), flags=re.DOTALL)
    assert "<script" not in outside
    assert "<img" not in outside
