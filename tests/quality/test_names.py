"""What a reader meets who looks around in the package."""

from __future__ import annotations

import surefoot


def test_the_package_shows_its_public_names_only() -> None:
    surefoot.explore(surefoot.domain("one-way-line"))  # loads modules
    assert dir(surefoot) == sorted(["__version__", *surefoot.__all__])
