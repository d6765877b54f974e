"""A picture from outside: reports draw states with it."""

import base64
import re

import pytest

from tests.extension.test_format import TWO


@pytest.fixture
def report(surefoot, tmp_path):
    """Return a function that reports on a campaign about a JANI file, which draws nothing."""
    assert surefoot("domains", "counter?goal=3", "-o", "counter.jani").code == 0
    (tmp_path / "work" / "policy.weights").write_text(TWO)
    done = surefoot("debug", "counter.jani", "--policy", "policy.weights", "-o", "kept")
    assert done.code == 0, done.err

    def make(*arguments):
        done = surefoot("report", "kept", "-o", "page.html", *arguments)
        return done, (tmp_path / "work" / "page.html")

    return make


def images(page):
    coded = re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", page.read_text())
    return [base64.b64decode(each).decode() for each in coded]


def test_pictures(report):
    done, page = report()
    assert done.code == 0, done.err
    assert not images(page)
    for name, sign in (("bar", "#123456"), ("toy_picture.py:PICTURE", "#123456"), ("bars", "x = ")):
        done, page = report("--picture", name)
        assert done.code == 0, done.err
        assert images(page) and all(sign in image for image in images(page))


def test_unknown_names(report):
    done, page = report("--picture", "bra")
    assert done.code == 2
    assert "pictures are: bars, bar" in done.err
    assert not page.exists()


def test_what_is_drawn_is_looked_at(report, tmp_path):
    (tmp_path / "work" / "wrong.py").write_text(
        "from surefoot.pictures import Drawing\n"
        "PICTURE = Drawing('wrong', lambda state, task: 42)\n"
    )
    done, _ = report("--picture", "wrong.py:PICTURE")
    assert done.code == 2, done.err
    assert "the picture of a state is 42" in done.err
