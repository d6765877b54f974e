"""Getting a task by name: what fits a source, and what does not."""

import pytest

from surefoot import InputError, load_task

OPTIONS = {
    "properties": "a.jani",
    "property_name": "a",
    "start": "a.jani",
    "goal": "a.jani",
    "fail": "a.jani",
    "constants": {"N": 3},
    "int_range": (0, 3),
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("source", ["domain:one-way-line?packages=1", "nothing.py:task"])
def test_options_of_jani_files_are_refused_elsewhere(source, name):
    with pytest.raises(InputError) as caught:
        load_task(source, **{name: OPTIONS[name]})
    assert caught.value.code == "bad-option"
    assert caught.value.message.startswith(name)


def test_no_constants_are_none():
    assert load_task("domain:one-way-line?packages=1&locations=2", constants={}).actions
