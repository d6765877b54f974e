"""Built-in domains: names and parameters. What each does is tested in tests/unit/domains."""

import re
from xml.etree import ElementTree

import pytest

from surefoot import InputError, domain, explore, load_task, simulate
from surefoot.domains import DOMAINS, domain_family, domain_from_text

WRONG = {
    "domain:one-way-lin": ("unknown-domain", "one-way-line"),
    "domain:": ("unknown-domain", "one-way-line"),
    "domain:nothing like it": ("unknown-domain", "one-way-line"),
    "domain:one-way-line?package=3": ("unknown-parameter", "packages"),
    "domain:one-way-line?zzz=3": ("unknown-parameter", "packages"),
    "domain:one-way-line?packages=many": ("bad-parameter", None),
    "domain:one-way-line?packages=": ("bad-parameter", None),
    "domain:one-way-line?packages=0": ("bad-parameter", None),
    "domain:one-way-line?packages=1001": ("bad-parameter", None),
    "domain:one-way-line?locations=1": ("bad-parameter", None),
    "domain:one-way-line?top_speed=0": ("bad-parameter", None),
    "domain:one-way-line?variant=icey": ("bad-parameter", "icy"),
    "domain:one-way-line?packages=1&packages=2": ("bad-parameter", None),
    "domain:one-way-line?packages=2&packages=2": ("bad-parameter", None),
    "domain:one-way-line?size=15-11": ("bad-parameter", "15-10"),
    "domain:one-way-line?size=": ("bad-parameter", "tiny, small"),
    "domain:one-way-line?size=tiny&size=tiny": ("bad-parameter", None),
    "domain:one-way-line?size=tiny&packages=0": ("bad-parameter", None),
    "domain:one-way-line?return=3": ("unknown-parameter", "packages"),
    "domain:one-way-line?variant=icy&icy=5;7": ("bad-parameter", "icy=5,7"),
    "domain:one-way-line?icy=1": ("bad-parameter", "icy-park"),
    "domain:two-way-lin": ("unknown-domain", "two-way-line"),
    "domain:two-way-line?variant=park": ("bad-parameter", "icy-park"),
    "domain:two-way-line?locations=0": ("bad-parameter", None),
    "domain:flappybird": ("unknown-domain", "flappy-bird"),
    "domain:flappy-bird?wall=3": ("unknown-parameter", "walls"),
    "domain:flappy-bird?width=1": ("bad-parameter", None),
    "domain:flappy-bird?height=1": ("bad-parameter", None),
    "domain:flappy-bird?walls=0": ("bad-parameter", None),
    "domain:flappy-bird?seed=-1": ("bad-parameter", None),
    "domain:flappy-bird?seed=one": ("bad-parameter", None),
    "domain:layered?depth=0": ("bad-parameter", None),
    "domain:layered?depth=1000000001": ("bad-parameter", None),
    "domain:staircase?steps=0": ("bad-parameter", None),
    "domain:staircase?steps=100001": ("bad-parameter", None),
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_texts(text):
    code, hint = WRONG[text]
    with pytest.raises(InputError) as caught:
        domain_from_text(text)
    assert caught.value.code == code
    assert hint is None or hint in caught.value.hint


NUMBERS = [
    *(("one-way-line", name) for name in ("packages", "locations", "top_speed")),
    *(("two-way-line", name) for name in ("packages", "locations", "top_speed")),
    *(("flappy-bird", name) for name in ("width", "height", "walls", "seed")),
    ("layered", "depth"),
    ("staircase", "steps"),
]


@pytest.mark.parametrize(
    "value", ["3", 2.5, None, True, 10**5000], ids=["text", "real", "none", "bool", "huge"]
)
@pytest.mark.parametrize("family, name", NUMBERS)
def test_parameters_of_the_wrong_kind(family, name, value):
    with pytest.raises(InputError) as caught:
        domain(family, **{name: value})
    assert caught.value.code == "bad-parameter"
    assert name in caught.value.message


@pytest.mark.parametrize("value", [3, None, b"det", ["det"]])
@pytest.mark.parametrize("name", ["variant", "icy"])
@pytest.mark.parametrize("family", ["one-way-line", "two-way-line"])
def test_variant_and_ice_are_text(family, name, value):
    with pytest.raises(InputError) as caught:
        domain(family, **{name: value})
    assert caught.value.code == "bad-parameter"


def test_text_and_keywords_make_the_same_task():
    text = "domain:one-way-line?packages=2&locations=5&variant=icy"
    task = domain("one-way-line", packages=2, locations=5, variant="icy")
    assert domain_from_text(text).sha256 == task.sha256 == load_task(text).sha256
    assert domain_from_text("domain:one-way-line").sha256 == domain("one-way-line").sha256
    assert task.sha256 != domain("one-way-line", packages=2, locations=5).sha256


WITHOUT_GOAL = ("flappy-bird", "layered", "staircase")
REALS = ("bouncing-ball", "inverted-pendulum", "follow-car", "cartpole")


def begin_of(task, name):
    """Return where to begin: the start states over reals cannot be listed."""
    return task.sample_starts(3, seed=0) if name in REALS else None


@pytest.mark.parametrize("name", [name for name in DOMAINS if name not in REALS])
def test_every_domain_explores_without_error_by_default(name):
    counts = explore(domain(name), max_states=200_000)
    assert counts.complete
    assert counts.fail > 0
    assert (counts.goal > 0) == (name not in WITHOUT_GOAL)


@pytest.mark.parametrize("name", DOMAINS)
def test_every_domain_can_be_written_and_read_again(name, tmp_path):
    task = domain(name)
    task.write_jani(tmp_path / "task.jani")
    again = load_task(tmp_path / "task.jani")
    assert again.sha256 == task.sha256
    first, second = (explore(t, begin_of(t, name), max_states=20_000) for t in (task, again))
    for count in ("states", "starts", "pairs", "outcomes", "fail", "goal", "dead_ends", "depth"):
        assert getattr(first, count) == getattr(second, count), count


@pytest.mark.parametrize("name", DOMAINS)
def test_what_every_family_says_of_itself(name):
    family = domain_family(name)
    assert family.name == name
    assert family.summary.endswith(".")
    assert len(family.summary) <= 100
    assert family.rules.startswith(family.summary[:20])
    assert not re.search(r"``|:\w+:`", family.rules)
    assert "tiny" in family.sizes
    assert all(set(size) <= set(family.defaults) for size in family.sizes.values())


@pytest.mark.parametrize("name", DOMAINS)
def test_defaults_are_tiny(name):
    assert domain(name, size="tiny").sha256 == domain(name).sha256


EVERY_SIZE = [(name, size) for name in DOMAINS for size in domain_family(name).sizes]


@pytest.mark.parametrize("name, size", EVERY_SIZE)
def test_every_size_is_a_task_with_pictures(name, size):
    task = domain_from_text(f"domain:{name}?size={size}")
    (start,) = task.sample_starts(1, seed=1)
    picture = task.picture(start)
    assert max(map(len, picture.text.splitlines())) <= 100
    assert not any(line != line.rstrip() for line in picture.text.splitlines())
    assert len(ElementTree.fromstring(picture.svg)) > 2
    assert task.picture(start.to_dict()) == picture


@pytest.mark.parametrize("name", DOMAINS)
def test_states_on_a_run_have_pictures_that_tell_them_apart(name):
    task = domain(name)
    (run,) = simulate(task, policy="random", runs=1, max_steps=30, seed=1).runs
    svgs = [task.picture(state).svg for state in run.states]
    texts = [task.picture(state).text for state in run.states]
    assert len(set(svgs)) > 1 and len(set(texts)) > 1
    assert not any('"nan"' in svg or '"inf"' in svg for svg in svgs)


def test_tasks_of_files_have_no_pictures(tmp_path):
    domain("layered").write_jani(tmp_path / "task.jani")
    task = load_task(tmp_path / "task.jani")
    assert task.picture(task.initial_state()) is None


def test_a_picture_is_of_a_state_of_the_task():
    with pytest.raises(InputError) as caught:
        domain("layered").picture({"layer": 99, "side": 0})
    assert caught.value.code == "value-out-of-range"


def test_the_source_says_the_size_as_it_was_given():
    task = domain("one-way-line", size="15-10", variant="icy")
    assert task.source.text == "domain:one-way-line?size=15-10&variant=icy"
    assert load_task(task.source.text).sha256 == task.sha256
    assert task.sha256 == domain("one-way-line", packages=15, locations=10, variant="icy").sha256
