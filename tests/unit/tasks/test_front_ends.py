"""Which front end is for which address, and how options are told."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from surefoot import Description, InputError, load_task
from surefoot.tasks.front_end import FrontEnd, FrontEndOptions
from surefoot.tasks.front_ends import FRONT_ENDS, address_of
from surefoot.tasks.jani.options import JaniOptions
from surefoot.tasks.source import Source


@dataclass(frozen=True, kw_only=True)
class LampOptions(FrontEndOptions):
    """What a lamp takes."""

    lamps: int = 1
    is_lit: bool = False
    notes: Path | None = None


def lamp(file, options):
    """Return lamps, all lit or all not."""
    d = Description(file)
    for number in range(options.lamps):
        d.bool(f"lit_{number}", initial=options.is_lit)
    return d


LAMP = FrontEnd("lamp", lamp, LampOptions, about="lamps")


@pytest.fixture
def registered():
    FRONT_ENDS.register(LAMP, name="lamp")
    yield
    FRONT_ENDS.forget("lamp")


@pytest.mark.parametrize(
    ("text", "front_end", "rest"),
    [
        ("model.jani", "jani", "model.jani"),
        ("a/model.json", "jani", "a/model.json"),
        ("model", "jani", "model"),
        ("a:b.jani", "jani", "a:b.jani"),
        ("jani:model.lamp", "jani", "model.lamp"),
        ("domain:transport?size=3", "domain", "transport?size=3"),
        ("domain:toy.py:FAMILY?size=3", "domain", "toy.py:FAMILY?size=3"),
        ("model.domain", "jani", "model.domain"),
        ("a/task.py:Walk", "python", "a/task.py:Walk"),
        ("task.py", "python", "task.py"),
        ("toy.py:FRONT_END:a/model.txt", "toy.py:FRONT_END", "a/model.txt"),
        ("toy.py:FRONT_END:model.py", "toy.py:FRONT_END", "model.py"),
        ("model.lamp", "lamp", "model.lamp"),
        ("model.LAMP", "lamp", "model.LAMP"),
        ("lamp:model.txt", "lamp", "model.txt"),
    ],
)
def test_addresses(registered, text, front_end, rest):
    address = address_of(text)
    assert (address.front_end, address.rest) == (front_end, rest)
    assert address.prefix + address.rest == text
    assert Source(text=text).runs_code == (front_end not in ("jani", "domain") or ".py:" in text)


def test_options(registered):
    task = load_task("x.lamp", options=LampOptions(lamps=2))
    assert task.names == ("lit_0", "lit_1")
    assert task.source.words() == {"task.lamps": "2"}
    task = load_task("lamp:x", options=LampOptions(lamps=2), lamps=3, is_lit=True)
    assert task.initial_state() == {"lit_0": True, "lit_1": True, "lit_2": True}
    assert task.source.words() == {"task.lamps": "3", "task.is_lit": "true"}
    with pytest.raises(InputError, match="constants") as caught:
        load_task("x.lamp", constants={"N": 3})
    assert "is for JANI files" in caught.value.message


@pytest.mark.parametrize(
    "options",
    [
        LampOptions(lamps=3, is_lit=True, notes=Path("a b")),
        LampOptions(),
        JaniOptions(),
        JaniOptions(
            properties=Path("p.jani"),
            property_name="safe",
            goal=Path("g.json"),
            constants={"N": 3, "R": 0.5, "B": False},
            int_range=(-3, 4),
        ),
    ],
)
def test_words_mean_the_same_options(options):
    words = options.to_words()
    assert type(options).from_words(words) == options
    grouped = {"task." + word.removeprefix("task."): value for word, value in words.items()}
    assert type(options).from_words(grouped) == options


@pytest.mark.parametrize("words", [{"task.lamps": "x"}, {"lamps": []}, {"lamp": 3}, {"const": []}])
def test_bad_words(words):
    with pytest.raises(InputError) as caught:
        LampOptions.from_words(words)
    assert caught.value.code == "bad-option"


def test_paths_are_located():
    read = LampOptions.from_words({"notes": "n.txt"}, locate=lambda name: Path("there", name))
    assert read.notes == Path("there/n.txt")
