"""A campaign as SARIF 2.1.0 (OASIS), which code-scanning services read."""

from __future__ import annotations

import json
from urllib.parse import quote

from surefoot import __version__
from surefoot.records import Fault
from surefoot.report.checks import fault_id, fault_text, summary
from surefoot.report.source import CampaignSource
from surefoot.report.words import plain

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
BASE = "CAMPAIGN"
MOST_RESULTS = 5_000
RULES = {
    "fault": (
        "Fault",
        "A decision of the policy may leave the safe region.",
        "In a safe state the policy takes an action with an outcome from which no policy surely "
        "avoids fail. The message names the safe alternatives.",
        "error",
    ),
    "unsafe-start": (
        "UnsafeStart",
        "No policy surely avoids fail from a start state.",
        "A run fails without a fault on it: it was lost from the start. No repair of the policy "
        "helps; the model or its start condition has to change.",
        "error",
    ),
    "not-verified": (
        "NotVerified",
        "It is not proved that no run of the policy fails.",
        "Verification found a failing run, ran out of time or memory, or was not reached.",
        "warning",
    ),
}
"""id: name, short and full description, level"""


def sarif_of(source: CampaignSource) -> str:
    """Return the document: an error for each fault that is left, a note for each repaired one."""
    run = {
        "tool": {"driver": _driver()},
        "automationDetails": {"id": f"surefoot/{plain(source.task.get('name'))}/"},
        "invocations": [{"executionSuccessful": source.is_finished}],
        "originalUriBaseIds": {BASE: {"description": {"text": "the directory of the campaign"}}},
        "columnKind": "unicodeCodePoints",
        "results": _results(source),
        "properties": summary(source),
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2) + "\n"


def _driver() -> dict[str, object]:
    rules = [
        {
            "id": f"surefoot/{rule}",
            "name": name,
            "shortDescription": {"text": short},
            "fullDescription": {"text": full},
            "defaultConfiguration": {"level": level},
        }
        for rule, (name, short, full, level) in RULES.items()
    ]
    return {"name": "Surefoot", "version": __version__, "rules": rules}


def _results(source: CampaignSource) -> list[dict[str, object]]:
    results = [_fault(source, fault) for fault in source.faults[:MOST_RESULTS]]
    text = plain(source.content.get("reason") or source.outcome_text)
    if source.outcome == "stopped":
        results.append(_result(source, "unsafe-start", text))
    if source.outcome != "safe":
        results.append(_result(source, "not-verified", f"{source.outcome}: {text}"))
    return results


def _fault(source: CampaignSource, fault: Fault) -> dict[str, object]:
    is_repaired = source.is_repaired(fault)
    text = fault_text(fault) + ("; repaired" if is_repaired else "")
    result = _result(source, "fault", text, file=fault.finding or "campaign.json")
    result["partialFingerprints"] = {"surefootDecision/v1": fault_id(fault)}
    result["properties"] = {
        "repaired": is_repaired,
        "checked": fault.checked,
        "iteration": fault.iteration,
    }
    return {**result, "level": "note"} if is_repaired else result


def _literal(text: str) -> str:
    """Return a text as messages hold it: its braces are not placeholders, nothing is a link."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _result(
    source: CampaignSource, rule: str, text: str, *, file: str = "campaign.json"
) -> dict[str, object]:
    names = {"module": source.task.get("name"), "object": source.policy.get("name")}
    return {
        "ruleId": f"surefoot/{rule}",
        "ruleIndex": list(RULES).index(rule),
        "kind": "fail",
        "level": RULES[rule][-1],
        "message": {"text": _literal(text)},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": quote(file), "uriBaseId": BASE}},
                "logicalLocations": [
                    {"name": plain(name), "fullyQualifiedName": plain(name), "kind": kind}
                    for kind, name in names.items()
                ],
            }
        ],
    }
