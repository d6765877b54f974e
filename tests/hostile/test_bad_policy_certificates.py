"""Whatever is in a policy's certificate, the checker accepts it or rejects it, and soon."""

import json
import random
import time

import pytest
from tests.hostile.test_bad_certificates import junk, places
from tests.support.ring import SIDE, ring

from surefoot import CertificateRejected, InputError
from surefoot.certificates import check_policy_certificate
from surefoot.checker import Rejected, check_policy_safety
from surefoot.policies import as_policy
from surefoot.verify import verify

MAX_SECONDS = 2.0


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return task, policy, file, and the lines of its certificate."""
    task = ring()
    policy = as_policy("first", task)
    file = tmp_path_factory.mktemp("certificate") / "c.jsonl"
    found = verify(task, policy, certificate=file)
    assert (found.verdict, found.states) == ("safe", 16)
    return task, policy, file, file.read_text().splitlines()


def is_accepted(made, lines, *, end="\n"):
    """Return what the checker says; anything but an answer is an error of ours."""
    task, policy, file, _ = made
    text = lines if isinstance(lines, bytes) else (end.join(lines) + end).encode("utf-8", "replace")
    file.write_bytes(text)
    begin = time.process_time()
    try:
        check_policy_certificate(task, file, policy=policy, max_seconds=60)
    except CertificateRejected:
        return False
    except InputError as error:
        known = ("not-a-certificate", "certificate-other-task", "certificate-version")
        assert error.code in (*known, "certificate-other-policy"), error
        return False
    finally:
        assert time.process_time() - begin < MAX_SECONDS
    return True


def changed(lines, **members):
    """Return the lines with other members in the first one."""
    return [json.dumps({**json.loads(lines[0]), **members}), *lines[1:]]


def with_rows(lines, rows, states=None):
    head = {**json.loads(lines[0]), "states": len(rows) if states is None else states}
    return [json.dumps(head), *map(json.dumps, rows)]


def rows_of(lines):
    return [json.loads(line) for line in lines[1:]]


def test_it_is_accepted_as_it_is(made):
    assert is_accepted(made, made[3])


def test_order_of_lines_and_of_variables_is_free(made):
    rows = rows_of(made[3])
    assert is_accepted(made, with_rows(made[3], rows[::-1]))
    lines = with_rows(made[3], [[b, y, x] for x, y, b in rows])
    assert is_accepted(made, changed(lines, variables=["b", "y", "x"]))


def test_more_than_needed_is_no_lie(made):
    rows = [[x, y, b] for x in range(SIDE + 1) for y in range(SIDE) for b in (False, True)]
    assert is_accepted(made, with_rows(made[3], rows))


def test_every_state_is_needed(made):
    rows = rows_of(made[3])
    for row in rows:
        others = [each for each in rows if each != row]
        assert not is_accepted(made, with_rows(made[3], others)), row
        assert not is_accepted(made, with_rows(made[3], others, states=len(rows)))


def test_fail_states_and_foreign_ones_are_rejected(made):
    rows = rows_of(made[3])
    for extra in (
        *([0, SIDE, False], [0, 4, False], [-1, 0, False], [0, 0], [0, 0, False, 0]),
        *([0.0, 2, False], [False, 2, False], ["0", 2, False], [0, 2, 0], [0, 2, None]),
        *({"x": 0, "y": 2, "b": False}, None, 3, "x", [], [[0], 2, False], rows[0]),
    ):
        assert not is_accepted(made, with_rows(made[3], [*rows, extra])), extra


@pytest.mark.parametrize(
    "members",
    [
        *({"states": n} for n in (0, 15, 17, -16, 16.0, "16", None, True, 10**30)),
        *({"policy_certificate": version} for version in (0, 2, True, 1.5, "1", None)),
        *({"claim": claim} for claim in ("safe", "policy-unsafe", None, [], "")),
        *({"variables": names} for names in ([], ["x"], ["x", "y", "y"], ["x", "y", "z"], "xyb")),
        *({"task": task} for task in (None, {}, [], "ring")),
        *({"policy": policy} for policy in (None, {}, "first", {"name": "first"})),
        {"surefoot": 3},
        {"more": 1},
    ],
    ids=str,
)
def test_bad_first_lines(made, members):
    assert not is_accepted(made, changed(made[3], **members))


@pytest.mark.parametrize("name", ["surefoot", "claim", "task", "policy", "variables", "states"])
def test_missing_members(made, name):
    head = json.loads(made[3][0])
    del head[name]
    assert not is_accepted(made, [json.dumps(head), *made[3][1:]])


def test_other_texts(made):
    lines = made[3]
    text = "\n".join(lines).encode()
    assert is_accepted(made, lines, end="\r\n")
    for damaged in (
        b"",
        text.replace(b"\n", b""),
        text.replace(b"\n", b"\n\n"),
        text + b"\n" + text,
        text + b"\n[NaN, 0, false]\n",
        text + b"\n" + b"[" * 100_000,
        text + b"\n\xff\xfe\n",
        text + b"\n" + b" " * (2**20 + 10),
        text.replace(b'"claim"', b'"claim": "safe", "claim"', 1),
        b"\xef\xbb\xbf" + text,
        text[: len(text) // 2],
        text[: -len(lines[-1])],
        b"\x00" * 1000,
    ):
        assert not is_accepted(made, damaged), damaged[:80]


def is_proof(lines):
    """Return whether the states of these lines are a closed set, by the rules of the ring."""
    rows = {tuple(row) for row in map(json.loads, lines[1:])}
    starts = {(0, y, False) for y in (0, 1)}

    def outcomes(x, y, b):
        if x == SIDE:
            return {(0, y, b)}
        return {(x + 1, y, b), (x, y, True)}

    is_closed = all(outcomes(*row) <= rows for row in rows)
    return starts <= rows and is_closed and all(y < SIDE for _, y, _ in rows)


def test_random_damage(made):
    rng = random.Random(6)
    accepted = rejected = 0
    for _ in range(1500):
        content = [json.loads(line) for line in made[3]]
        for _ in range(rng.choice((1, 1, 2))):
            kind = rng.random()
            if kind < 0.3:
                content.insert(rng.randrange(1, len(content)), rng.choice(content[1:]))
            elif kind < 0.4:
                rng.shuffle(rest := content[1:])
                content[1:] = rest
            else:
                holder, key = rng.choice(places(content))
                holder[key] = junk(rng)
        try:
            lines = [json.dumps(each) for each in content]
        except ValueError:
            continue
        if is_accepted(made, lines):
            accepted += 1
            assert is_proof(lines)
        else:
            rejected += 1
    assert accepted > 20 and rejected > 500, (accepted, rejected)


def test_random_bytes(made):
    rng = random.Random(7)
    text = ("\n".join(made[3]) + "\n").encode()
    accepted = 0
    for _ in range(500):
        damaged = bytearray(text)
        for _ in range(rng.choice((1, 2, 5))):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        if is_accepted(made, bytes(damaged)):
            accepted += 1
            assert is_proof(damaged.decode().splitlines())
    assert accepted < 250


def test_policies_that_lie():
    """The checker takes decisions, nothing more: what is not applicable is rejected."""
    task = ring()
    from surefoot.certificates import model_of

    found = verify(task, "first", certificate=True)
    lines = found.certificate.path.read_text().splitlines()
    model = model_of(task, [])
    for decision in (None, "down", "", "up"):
        with pytest.raises(Rejected):
            check_policy_safety(model, lines, policy=lambda s, d=decision: [d for _ in s])
    check_policy_safety(model, lines, policy=lambda states: ["right" for _ in states])
    with pytest.raises(ValueError):
        check_policy_safety(model, lines, policy=lambda states: [])
