"""A campaign as JUnit XML, which CI servers read."""

from __future__ import annotations

from xml.etree import ElementTree

from surefoot.report.checks import Check, checks_of, summary
from surefoot.report.source import CampaignSource
from surefoot.report.words import plain


def junit_of(source: CampaignSource) -> str:
    """Return the suite of a campaign's checks: failures are what is wrong, errors what is open."""
    checks = checks_of(source)
    name = f"surefoot debug {plain(source.task.get('name'))}, policy {_policy(source)}"
    open_ones = sum(entry.problem is not None and entry.is_open for entry in checks)
    counts = {
        "tests": str(len(checks)),
        "failures": str(sum(entry.problem is not None for entry in checks) - open_ones),
        "errors": str(open_ones),
        "skipped": "0",
        "time": f"{float(source.content.get('seconds') or 0):.3f}",
    }
    suites = ElementTree.Element("testsuites", {"name": "surefoot", **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": name, **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in summary(source).items():
        ElementTree.SubElement(properties, "property", {"name": key, "value": value})
    for check in checks:
        _add(suite, check, source)
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add(suite: ElementTree.Element, check: Check, source: CampaignSource) -> None:
    name = f"surefoot.{check.group}.{plain(source.task.get('name'))}"
    case = ElementTree.SubElement(
        suite, "testcase", {"classname": name, "name": check.name, "time": "0"}
    )
    if check.problem is not None:
        kind = "error" if check.is_open else "failure"
        given = {"message": check.problem, "type": f"surefoot.{source.outcome}"}
        ElementTree.SubElement(case, kind, given).text = check.text or check.problem
    elif check.text:
        ElementTree.SubElement(case, "system-out").text = check.text


def _policy(source: CampaignSource) -> str:
    return plain(source.policy.get("name"))
