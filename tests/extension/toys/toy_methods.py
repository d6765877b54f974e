"""Verification methods that look at all states that the policy reaches, one by one."""

from surefoot.records import Run, RunEnd, VerifyResult
from surefoot.verify import Method, Question
from surefoot.verify.certificate import write_box_certificate


def verify_slowly(question: Question) -> VerifyResult:
    """Return the verdict of a plain search, with a certificate that the checker reads."""
    task, policy = question.task, question.policy
    runs = {start: Run(0, (start,), (), RunEnd.FAIL) for start in task.list_starts(max_states=1000)}
    waiting = list(runs)
    for state in waiting:
        if task.is_fail(state):
            return VerifyResult("unsafe", "slow", 0, True, len(runs), 0, 0.0, run=runs[state])
        if task.is_goal(state) or not task.applicable(state):
            continue
        action = policy.decide(state)
        for outcome in task.outcomes(state, action):
            if outcome not in runs:
                before = runs[state]
                states, actions = (*before.states, outcome), (*before.actions, action)
                runs[outcome] = Run(0, states, actions, RunEnd.FAIL)
                waiting.append(outcome)
    boxes = [[(value, value) for value in state.values()] for state in runs]
    certificate = write_box_certificate(question, boxes, []) if question.certificate else None
    return VerifyResult(
        "safe", "slow", 0, True, len(runs), 0, 0.0, boxes=len(boxes), certificate=certificate
    )


SLOW = Method("slow", verify_slowly)
HOPEFUL = Method("hopeful", lambda question: VerifyResult("safe", "hopeful", 0, True, 0, 0, 0.0))
