"""Whatever is in a finding's file, it is accepted or refused, soon, and nothing else happens."""

import copy
import json
import random
import time

import pytest
from tests.hostile.test_bad_certificates import junk, nested, places
from tests.support.mutate import mutate

from surefoot import SurefootError, checker, load_policy, load_task
from surefoot.certificates import checkers_policy, model_of
from surefoot.checker import Rejected, check_finding, check_run
from surefoot.faults import find_faults
from surefoot.findings import finding_of, read_finding, run_from
from surefoot.fuzz import fuzz
from surefoot.minimise import minimise
from surefoot.replay import replay

LINE = "domain:one-way-line?packages=1&locations=3"
MAX_SECONDS = 5.0


@pytest.fixture(scope="module")
def line():
    task = load_task(LINE)
    policy = load_policy("random", task)
    runs = fuzz(task, policy, runs=20).failing
    found = find_faults(task, policy, runs, deviations=True)
    things = (found.faults[0], found.bugs[0], runs[0])
    contents = [finding_of(task, policy, each).to_dict() for each in things]
    within = find_faults(task, policy, runs, radius=2).faults
    contents += [finding_of(task, policy, each).to_dict() for each in within[:1]]
    return task, policy, json.loads(json.dumps(contents))


@pytest.fixture(scope="module")
def model(line):
    return model_of(line[0], None)


def is_accepted(model, content, policy):
    """Return what the checker says; anything but an answer is an error of ours."""
    begin = time.process_time()
    try:
        check_finding(model, content, policy=policy)
    except Rejected as error:
        assert "\n" not in str(error)
        assert 0 < len(str(error)) < 700
        return False
    except checker.ModelError:
        return False
    finally:
        assert time.process_time() - begin < MAX_SECONDS
    return True


def test_right_ones_are_accepted(line, model):
    task, policy, contents = line
    assert len(contents) == 4
    assert all(is_accepted(model, each, checkers_policy(task, policy)) for each in contents)


def test_junk(line, model):
    rng = random.Random(1)
    for _ in range(2_000):
        value = junk(rng)
        assert not is_accepted(model, value, None)
        with pytest.raises(Rejected):
            check_run(model, value)


def test_junk_anywhere_inside(line, model):
    task, policy, contents = line
    asked = checkers_policy(task, policy)
    rng = random.Random(2)
    for _ in range(1_500):
        content = copy.deepcopy(rng.choice(contents))
        for _ in range(rng.choice((1, 1, 2))):
            container, key = rng.choice(places(content))
            container[key] = junk(rng)
        is_accepted(model, content, asked)


def test_deep_ones(line, model):
    _, _, contents = line
    for name in contents[0]:
        assert not is_accepted(model, {**contents[0], name: nested(50_000)}, None)


@pytest.mark.slow
def test_deep_files(line, tmp_path):
    """Whatever is nested as deeply as files may be: an error of ours, or an answer."""
    task, policy, contents = line
    deep = "[" * 9_000 + "]" * 9_000
    file = tmp_path / "finding.json"
    for content in copy.deepcopy(contents):
        for container, key in random.Random(6).sample(places(content), 20):
            was, container[key] = container[key], "DEEP"
            file.write_text(json.dumps(content).replace('"DEEP"', deep))
            container[key] = was
            if outcome_of(lambda: read_finding(file)) is None:
                outcome_of(lambda: read_finding(file).check(task, policy))
                outcome_of(lambda: replay(file, task, policy))
                outcome_of(lambda: minimise(file, policy, task=task, max_seconds=1.0))


def outcome_of(call):
    """Return the error of ours that a call raises, if it raises one."""
    begin = time.process_time()
    try:
        call()
    except SurefootError as error:
        str(error)
        return error
    finally:
        assert time.process_time() - begin < MAX_SECONDS
    return None


def test_damaged_files(line, tmp_path):
    """Read, checked, replayed, minimised: each ends with an answer or an error of ours."""
    task, policy, contents = line
    rng = random.Random(3)
    file = tmp_path / "finding.json"
    read = 0
    for number in range(400):
        file.write_bytes(mutate(rng.choice(contents), rng))
        error = outcome_of(lambda: read_finding(file))
        if error is not None:
            continue
        read += 1
        finding = read_finding(file)
        outcome_of(lambda f=finding: f.check(task, policy))
        outcome_of(lambda f=finding: replay(f, task, policy))
        if number % 10 == 0:
            outcome_of(lambda f=finding: minimise(f, policy, task=task, max_seconds=1.0))
            outcome_of(lambda f=finding: f.check())
    assert read > 50


def test_what_is_minimised_was_right_before(line, tmp_path):
    """Damage to the run is not carried into something that is accepted for wrong reasons."""
    task, policy, contents = line
    rng = random.Random(4)
    for _ in range(150):
        content = copy.deepcopy(contents[0])
        run = content["run"]
        row = rng.choice(run["states"])
        row[rng.randrange(len(row))] = rng.randint(-1, 3)
        file = tmp_path / "finding.json"
        file.write_text(json.dumps(content))
        try:
            result = minimise(file, policy, task=task)
        except SurefootError:
            continue
        if result.is_smaller:
            result.after.check()


def test_bad_runs(line):
    task, _, contents = line
    rng = random.Random(5)
    for _ in range(1_000):
        content = copy.deepcopy(contents[2]["run"])
        container, key = rng.choice(places(content))
        container[key] = junk(rng)
        outcome_of(lambda c=content: run_from(c, task, file="runs.json"))
        outcome_of(lambda: run_from(junk(rng), task))
