"""Records from plain data: what is not one is refused, with its place, whatever stands there."""

from __future__ import annotations

import pytest

from surefoot import InputError
from surefoot.records.evidence import finding_record, repair_file
from surefoot.records.files import members, plain, record_from
from surefoot.records.parts import PolicyPart

PLAIN = {"name": "p", "sha256": None, "interface": None, "unfiltered": False}


def refused(content: object) -> InputError:
    with pytest.raises(InputError) as caught:
        record_from(content, PolicyPart, code="some-code", what="a policy", hint="do something")
    assert caught.value.code == "some-code"
    return caught.value


def test_there_and_back() -> None:
    record = record_from(PLAIN, PolicyPart, code="some-code", what="a policy")
    assert plain(record) == members(record) == PLAIN


def test_what_is_refused() -> None:
    assert refused({**PLAIN, "unfiltered": 1}).place == "/unfiltered"
    assert refused({**PLAIN, "unfiltered": 1}).hint == "do something"
    assert "further" in refused({**PLAIN, "further": 1}).message
    assert "sha256" in refused({name: PLAIN[name] for name in PLAIN if name != "sha256"}).message
    assert refused(None).message.startswith("this is not a policy: ")


def test_names_that_are_not_unicode() -> None:
    """JSON has them, as half of a surrogate pair."""
    assert "Unicode" in refused({**PLAIN, "\ud800": 1}).message


def test_deep_ones() -> None:
    deep: object = []
    for _ in range(100_000):
        deep = [deep]
    assert refused({**PLAIN, "unfiltered": deep}).place == "/unfiltered"


@pytest.mark.parametrize("version", [None, 0, 2, True, "1", 1.0])
def test_versions(version: object) -> None:
    for read, name in ((finding_record, "finding"), (repair_file, "repair")):
        with pytest.raises(InputError) as caught:
            read({name: version})
        assert caught.value.code == f"{name}-version"
        with pytest.raises(InputError) as caught:
            read({})
        assert caught.value.code == f"not-a-{name}"
