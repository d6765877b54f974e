"""What a policy is fed with, what it decides, and what looks unusual about that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from surefoot import _core
from surefoot.doctor.policy_report import PolicyFacts, input_facts
from surefoot.doctor.report import Remark, agreeing, named, variables_text
from surefoot.doctor.sampling import STATES, Sample, sampled
from surefoot.errors import InputError, quoted
from surefoot.policies.decisions import ask_core
from surefoot.tasks.compiled_task import has_description
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.policies import Policy
    from surefoot.policies.models import Model

SCORED_ALONE = "the policy has no decision there: none of the applicable actions is an output"


def examine_policy(
    policy: Policy, walked: list[bytes], *, seed: int, deadline: float
) -> tuple[PolicyFacts, list[Remark]]:
    """Return what a policy is made of and decides, and what is unusual about it.

    It is asked about the walked states; a learned one also about states drawn within the ranges of
    the variables, and there compared with the library that it comes from.
    """
    count = STATES if policy.model is not None else len(walked)
    sample = sampled(policy.task, walked, count=count, seed=seed, deadline=deadline)
    decisions, findings = _decisions(policy, sample)
    fidelity = None
    if policy.model is not None:
        from surefoot.doctor.fidelity import compared

        fidelity, more = compared(policy, sample, seed=seed, deadline=deadline)
        findings += [*more, *_mapping_findings(policy)]
        findings += list(_never_best(policy, sample, decisions))
    findings += list(_constant(decisions))
    return _facts(policy, decisions, fidelity), findings


def _facts(policy: Policy, decisions: Counter[str], fidelity: object) -> PolicyFacts:
    model, interface = policy.model, policy.interface
    return PolicyFacts(
        name=policy.name,
        file=None if policy.file is None else str(policy.file),
        sha256=policy.sha256,
        kind=_kind(policy),
        model=None if model is None else str(model),
        precision=None if model is None else _precision(model),
        unfiltered=policy.unfiltered,
        inputs=() if interface is None else input_facts(interface),
        outputs=() if interface is None else interface.outputs,
        notes=policy.notes,
        choices=decisions.total(),
        decisions=dict(decisions.most_common()),
        fidelity=fidelity,  # type: ignore[arg-type]
        card=policy.card,
    )


def _kind(policy: Policy) -> str:
    if policy.model is not None:
        return policy.model.kind
    if isinstance(policy.core, _core.TablePolicy):
        return "table"
    if isinstance(policy.core, _core.ShieldedPolicy):
        return "shield"
    return "Python code" if isinstance(policy.core, _core.CallablePolicy) else "built in"


def _precision(model: Model) -> str:
    from surefoot.policies.graph import Graph
    from surefoot.policies.models import Corrected, Network, Trees

    if isinstance(model, Network | Graph):
        return model.precision
    if isinstance(model, Corrected):
        return f"the network in {model.network.precision}; of the trees, {_precision(model.trees)}"
    if isinstance(model, Trees):
        return f"inputs are compared in {model.input_precision}, added in {model.sum_precision}"
    return "float64"


# -- decisions -----------------------------------------------------------------------------------


def _decisions(policy: Policy, sample: Sample) -> tuple[Counter[str], list[Remark]]:
    """Return what the policy decides for where it has a choice, and where it cannot decide."""
    asked = [sample.states[at] for at in sample.with_choice]
    findings = []
    if policy.interface is not None and not policy.unfiltered:
        outputs = {policy.task.action_number(name) for name in policy.interface.outputs}
        able = [at for at in sample.with_choice if outputs.intersection(sample.choices[at])]
        if len(able) < len(asked):
            count = f"{len(asked) - len(able):,} of {counted(len(asked), 'state')} with a choice"
            findings.append(Remark("policy-no-decision", f"in {count} {SCORED_ALONE}"))
        asked = [sample.states[at] for at in able]
    try:
        actions = _asked(policy, asked)
    except InputError as error:
        return Counter(), [*findings, Remark(error.code, error.message, error.place)]
    return Counter(actions), findings


def _asked(policy: Policy, states: list[bytes]) -> list[str]:
    if not states:
        return []
    if policy.unfiltered and policy.interface is not None:
        from surefoot.policies.callables import fed

        rows = fed(policy.interface, policy.task, b"".join(states))
        return [policy.interface.outputs[at] for at in policy.scorer.scores(rows).argmax(axis=1)]
    numbers = ask_core(policy.task, policy.core.decide_all, policy.task.core, b"".join(states))
    names = policy.task.actions
    return [names[number] for number in numbers]


def _constant(decisions: Counter[str]) -> Iterator[Remark]:
    if len(decisions) == 1 and decisions.total() > 1:
        (action,) = decisions
        yield Remark(
            "policy-constant",
            f"the policy picks {quoted(action)} in all {decisions.total():,} sampled states "
            "with a choice",
        )


def _never_best(policy: Policy, sample: Sample, decisions: Counter[str]) -> Iterator[Remark]:
    """Yield the outputs that could be decided for in a sampled state, and never are."""
    if policy.interface is None or len(decisions) < 2:
        return
    names = policy.task.actions
    could = {names[a] for at in sample.with_choice for a in sample.choices[at]}
    never = [name for name in policy.interface.outputs if name in could and name not in decisions]
    if never:
        is_best = agreeing(len(never), "is never the best", "are never the best")
        yield Remark(
            "output-never-best",
            f"{counted(len(never), 'output')} ({named(never)}) {is_best} in "
            f"{decisions.total():,} sampled states with a choice",
        )


# -- the mapping ---------------------------------------------------------------------------------


def _mapping_findings(policy: Policy) -> Iterator[Remark]:
    model, interface = policy.model, policy.interface
    assert model is not None and interface is not None
    used = used_inputs(model)
    unused = [
        f"{at} <- {', '.join(entry.variables)}"
        for at, entry in enumerate(interface.inputs)
        if entry.variables and at not in used
    ]
    if unused:
        what = f"{counted(len(unused), 'input')} ({named(unused)})"
        yield Remark("input-unused", f"the policy does not look at {what}")
    task = policy.task
    if has_description(task):
        outputs = set(interface.outputs)
        without = [a for a in task.actions if a not in task.silent and a not in outputs]
        if without:
            what = f"{counted(len(without), 'action')} ({named(without)})"
            taken = agreeing(len(without), "it is", "they are")
            yield Remark(
                "action-without-output",
                f"the policy has no output for {what}: {taken} taken only where nothing else is "
                "applicable",
            )
    fed = {name for entry in interface.inputs for name in entry.variables}
    if unfed := [name for name in task.names if name not in fed]:
        yield Remark("variable-not-fed", f"no input is fed with {variables_text(unfed)}")


def used_inputs(model: Model) -> set[int]:
    """Return the inputs that can make a difference: with a weight that is not 0, or compared with
    something.
    """
    from surefoot.policies.models import Corrected, Network, Rules, Trees

    if isinstance(model, Corrected):
        return used_inputs(model.network) | used_inputs(model.trees)
    if isinstance(model, Network):
        return {at for at, column in enumerate(model.layers[0].weights.T) if column.any()}
    if isinstance(model, Trees):
        return {int(feature) for feature in model.features if feature >= 0}
    if isinstance(model, Rules):
        return {number for number, _ in model.atoms}
    return set(range(model.num_inputs))
