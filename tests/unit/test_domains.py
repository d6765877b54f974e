"""Built-in domains: names and parameters. What each does is tested in tests/unit/domains."""

import pytest

from surefoot import InputError, domain, explore, load_task
from surefoot.domains import DOMAINS, domain_from_text

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


@pytest.mark.parametrize("name", DOMAINS)
def test_every_domain_explores_without_error_by_default(name):
    counts = explore(domain(name), max_states=200_000)
    assert counts.complete
    assert counts.fail > 0
    assert (counts.goal > 0) == name.endswith("line")


@pytest.mark.parametrize("name", DOMAINS)
def test_every_domain_can_be_written_and_read_again(name, tmp_path):
    task = domain(name)
    task.write_jani(tmp_path / "task.jani")
    again = load_task(tmp_path / "task.jani")
    assert again.sha256 == task.sha256
    assert explore(again).states == explore(task).states
