"""Whatever is in a certificate of boxes, the checker accepts it or rejects it, and soon."""

from __future__ import annotations

import json
import random
import time

import pytest
from tests.hostile.test_bad_certificates import junk, places
from tests.support.boxes import Truth, lines_of
from tests.support.ring import ring

from surefoot import CertificateRejected, InputError
from surefoot.certificates import check_policy_certificate
from surefoot.options import VerifyOptions
from surefoot.policies import as_policy
from surefoot.verify.certificate import write_box_certificate
from surefoot.verify.question import Question

MAX_SECONDS = 5.0
BOXES = [((0, 3), (0, 0), (False, True)), ((0, 1), (1, 2), (False, True))]
BOXES += [((2, 3), (1, 2), (False, True))]
SUM = ({"x": 1, "y": 1}, 0, 5)


@pytest.fixture(scope="module", params=["boxes", "blocked"])
def made(request, tmp_path_factory):
    """Return the truth, a file, and the lines of the certificate in it."""
    task = ring()
    truth = Truth(task, as_policy("first", task))
    file = tmp_path_factory.mktemp("certificate") / "c.jsonl"
    question = Question(task, truth.policy, VerifyOptions(), None, file)
    is_blocked = request.param == "blocked"
    boxes = [((0, 3), (3, 3), (False, True))] if is_blocked else BOXES
    write_box_certificate(question, boxes, [SUM], blocked=is_blocked)
    check_policy_certificate(task, file, policy=truth.policy)
    return truth, file, lines_of(file)


def is_accepted(made, text):
    """Return what the checker says; anything but an answer is an error of ours."""
    truth, file, _ = made
    file.write_bytes(text)
    begin = time.process_time()
    try:
        check_policy_certificate(truth.task, file, policy=truth.policy, max_seconds=60)
    except CertificateRejected:
        return False
    except InputError as error:
        known = ("not-a-certificate", "certificate-other-task", "certificate-version")
        assert error.code in (*known, "certificate-other-policy"), error
        return False
    finally:
        assert time.process_time() - begin < MAX_SECONDS
    return True


def is_proof(truth, text):
    """Return whether the states of the certificate are a closed set."""
    head, *rows = (json.loads(line) for line in text.decode().rstrip("\n").split("\n"))
    order = [head["variables"].index(name) for name in truth.names]
    boxes = [
        tuple(tuple(row[i]) if isinstance(row[i], list) else (row[i], row[i]) for i in order)
        for row in rows
    ]
    constraints = [(each["factors"], each["lower"], each["upper"]) for each in head["constraints"]]
    return truth.proves(truth.states_of(boxes, constraints, blocked="blocked" in head))


def text_of(content):
    return "".join(f"{json.dumps(each)}\n" for each in content).encode("utf-8", "replace")


def test_random_damage(made):
    rng, accepted, rejected = random.Random(8), 0, 0
    for _ in range(800):
        content = json.loads(json.dumps(made[2]))
        for _ in range(rng.choice((1, 1, 2))):
            if rng.random() < 0.1:
                content.append(rng.choice(content))
            holder, key = rng.choice(places(content))
            holder[key] = rng.choice((junk(rng), rng.randint(-1, 4), rng.random() < 0.5))
        try:
            text = text_of(content)
        except ValueError:
            continue
        if is_accepted(made, text):
            accepted += 1
            assert is_proof(made[0], text)
        else:
            rejected += 1
    assert accepted > 10 and rejected > 300, (accepted, rejected)


def test_random_bytes(made):
    rng, text = random.Random(9), text_of(made[2])
    for _ in range(400):
        damaged = bytearray(text)
        for _ in range(rng.choice((1, 2, 5))):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        if is_accepted(made, bytes(damaged)):
            assert is_proof(made[0], bytes(damaged))


def test_large_numbers(made):
    """Sums of huge factors are exact, and do not take for ever."""
    head, *rows = made[2]
    for factors, lower, upper in (
        ({"x": 10**4000, "y": 1}, 0, 3 * 10**4000 + 3),
        ({"x": -(10**30), "b": 10**30}, -4 * 10**30, 10**30),
    ):
        constraint = {"factors": factors, "lower": lower, "upper": upper}
        text = text_of([{**head, "constraints": [*head["constraints"], constraint]}, *rows])
        assert is_accepted(made, text) and is_proof(made[0], text)


def test_many_lines(made):
    head, *rows = made[2]
    kind = "blocked" if "blocked" in head else "boxes"
    text = text_of([{**head, kind: 3000 * len(rows)}, *(rows * 3000)])
    assert is_accepted(made, text)
