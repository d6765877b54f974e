"""Small JANI models as Python values."""


def op(name, *operands):
    """Return an expression node; the number of operands decides its shape."""
    keys = {1: ("exp",), 2: ("left", "right"), 3: ("if", "then", "else")}[len(operands)]
    keys = {"aa": ("exp", "index")}.get(name, keys)
    return {"op": name, **dict(zip(keys, operands, strict=True))}


def av(*elements):
    return {"op": "av", "elements": list(elements)}


def bounded(lower, upper, base="int"):
    return {"kind": "bounded", "base": base, "lower-bound": lower, "upper-bound": upper}


def var(name, type_, initial=None, **more):
    node = {"name": name, "type": type_, **more}
    return node if initial is None else {**node, "initial-value": initial}


def edge(action=None, *assignments, guard=None, at="l", to="l", **more):
    """Return an edge with one destination that runs assignments given as (ref, value[, index])."""
    put = [dict(zip(("ref", "value", "index"), each, strict=False)) for each in assignments]
    node = {"location": at, "destinations": [{"location": to, "assignments": put}], **more}
    if action is not None:
        node["action"] = action
    return node if guard is None else {**node, "guard": {"exp": guard}}


def automaton(*edges, name="m", locations=("l",), **more):
    places = [each if isinstance(each, dict) else {"name": each} for each in locations]
    head = {"name": name, "locations": places, "initial-locations": [places[0]["name"]]}
    return {**head, "edges": list(edges), **more}


def sync(result, *labels):
    node = {"synchronise": list(labels)}
    return node if result is None else {**node, "result": result}


def model(*automata, variables=(), actions=("a",), syncs=None, elements=None, **more):
    """Return a model; for one automaton, every action has its sync."""
    automata = automata or (automaton(edge("a")),)
    elements = elements or [each["name"] for each in automata]
    if syncs is None:
        syncs = [sync(each, each) for each in actions] if len(elements) == 1 else []
    return {
        "jani-version": 1,
        "name": "test",
        "type": "mdp",
        "variables": list(variables),
        "actions": [{"name": each} for each in actions],
        "automata": list(automata),
        "system": {"elements": [{"automaton": each} for each in elements], "syncs": syncs},
        "properties": [],
        **more,
    }


def condition(exp=None, **more):
    node = {"op": "state-condition", **more}
    return node if exp is None else {**node, "exp": exp}


def objective(exp):
    return {"op": "objective", "goal": condition(exp)}


def pa(name="p", **parts):
    return {"name": name, "expression": {"op": "PA", **parts}}


X = var("x", bounded(0, 9), 0)
Y = var("y", bounded(0, 9), 0)
