"""docs/extending.md shows the very files that the tests use."""

from tests.extension.conftest import TOYS

PAGE = TOYS.parents[2] / "docs" / "extending.md"


def test_files_are_on_the_page():
    page = PAGE.read_text("utf-8")
    for file in TOYS.glob("*.py"):
        assert file.read_text("utf-8").rstrip() in page, file.name
