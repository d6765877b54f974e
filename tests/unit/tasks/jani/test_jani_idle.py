"""Edges that can never fire are noted."""

import json

from surefoot import load_task

MODEL = {
    "jani-version": 1,
    "name": "idle",
    "type": "mdp",
    "variables": [{"name": "b", "type": "bool", "initial-value": False}],
    "actions": [{"name": "up"}],
    "automata": [
        {
            "name": "m",
            "locations": [{"name": "l"}],
            "initial-locations": ["l"],
            "edges": [
                {"location": "l", "action": "up", "destinations": [{"location": "l"}]},
                {
                    "location": "l",
                    "destinations": [{"location": "l", "probability": {"exp": 0}}],
                },
            ],
        }
    ],
    "system": {"elements": [{"automaton": "m"}]},
    "properties": [],
}


def test_labels_in_no_sync_and_impossible_outcomes_are_noted(tmp_path):
    path = tmp_path / "idle.jani"
    path.write_text(json.dumps(MODEL))
    task = load_task(path)
    assert task.applicable({"b": False}) == ()
    notices = [(notice.message, notice.place) for notice in task.description.warnings]
    assert notices == [
        ('edges labelled "up" of "m" never fire: no sync mentions them', "/automata/0"),
        ("the edge never fires: it has no possible outcome", "/automata/0/edges/1"),
    ]
