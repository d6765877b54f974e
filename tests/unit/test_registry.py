"""Components by name: found by their files, from packages, from files, and registered."""

import sys

import pytest

from surefoot.domains import DOMAINS
from surefoot.domains.family import Family
from surefoot.errors import InputError
from surefoot.tasks.source import Source

FILE = """
from surefoot.domains.family import Family
from surefoot.domains.one_way_line import FAMILY as line

FAMILY = Family("toy", make=line.make, draw=line.draw, sizes={})
NOTHING = 3
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "toy.py"
    path.write_text(FILE)
    return path


@pytest.fixture
def package(tmp_path, monkeypatch, file):
    """Return a function that installs the file as a package with entry points."""

    def install(*lines, name="toys"):
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        points = "\n".join(["[surefoot.families]", *lines, ""])
        (about / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(str(tmp_path))

    yield install
    sys.modules.pop("toy", None)
    DOMAINS._made.pop("toy", None)


def code_of(call, *args, **more):
    with pytest.raises(InputError) as caught:
        call(*args, **more)
    return caught.value.code, str(caught.value)


def test_names_are_known_without_imports():
    assert DOMAINS.built_in[:2] == ("one-way-line", "two-way-line")
    assert set(DOMAINS.built_in) == set(DOMAINS._modules) and "family" not in DOMAINS
    for name in DOMAINS:
        assert DOMAINS[name].name == name and isinstance(DOMAINS[name], Family)


def test_unknown_names_come_with_the_nearest_and_all():
    code, text = code_of(DOMAINS.__getitem__, "two-way-lime")
    assert code == "unknown-domain" and 'did you mean "two-way-line"?' in text
    assert "domains are: one-way-line, " in text


def test_files(file):
    assert DOMAINS[f"{file}:FAMILY"].name == "toy"
    assert DOMAINS[f"{file}:FAMILY"] is DOMAINS[f"{file}:FAMILY"]
    assert code_of(DOMAINS.__getitem__, f"{file}:NOTHING")[0] == "not-a-component"
    assert code_of(DOMAINS.__getitem__, f"{file}:FAMILLY")[0] == "unknown-name"
    assert code_of(DOMAINS.__getitem__, f"{file}x.py:FAMILY")[0] == "file-not-found"
    assert code_of(DOMAINS.__getitem__, f"{file}")[0] == "missing-name"


def test_domains_of_files_run_code():
    assert Source(text="domain:toy.py:FAMILY?packages=3").runs_code
    assert not Source(text="domain:toy?name=toy.py:FAMILY").runs_code
    assert not Source(text="domain:toy").runs_code


def test_packages(package):
    package("toy = toy:FAMILY")
    assert "toy" in DOMAINS and DOMAINS.names[-1] == "toy"
    assert DOMAINS["toy"].name == "toy"


def test_packages_that_cannot_be_imported(package):
    package("toy = toy:ABSENT")
    code, text = code_of(DOMAINS.__getitem__, "toy")
    assert code == "plugin-error" and '"toys"' in text


def test_clashes_are_refused(package, file):
    family = DOMAINS[f"{file}:FAMILY"]
    assert code_of(DOMAINS.register, family, name="transport")[0] == "name-clash"
    DOMAINS.register(family, name="toy")
    try:
        assert DOMAINS["toy"] is family
        assert code_of(DOMAINS.register, family, name="toy")[0] == "name-clash"
    finally:
        DOMAINS.forget("toy")
    package("transport = toy:FAMILY")
    code, text = code_of(lambda: DOMAINS.names)
    assert code == "name-clash" and '"toys"' in text
    assert DOMAINS["transport"].name == "transport"
