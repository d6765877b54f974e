"""Packages whose component cannot be imported: who is to blame, and what to do."""

import pytest

COMPONENTS = {
    "surefoot.oracles": ("decide", "domain:layered", "--oracle", "broken"),
    "surefoot.methods": ("verify", "domain:layered", "--policy", "first", "--method", "broken"),
    "surefoot.biases": ("fuzz", "domain:layered", "--policy", "first", "--bias", "broken"),
    "surefoot.families": ("explore", "domain:broken"),
    "surefoot.front_ends": ("explore", "task.broken"),
    "surefoot.formats": ("simulate", "domain:layered", "--policy", "policy.broken"),
    "surefoot.pictures": ("report", "kept", "--picture", "broken"),
}


@pytest.fixture
def broken(tmp_path, installed, surefoot):
    about = installed / "surefoot_broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: surefoot-broken\nVersion: 1.0\n")
    points = [f"[{group}]\nbroken = toy_broken:COMPONENT\n" for group in COMPONENTS]
    (about / "entry_points.txt").write_text("".join(points))
    (installed / "toy_broken.py").write_text("import nowhere_to_be_found\n")
    for name in ("policy.broken", "task.broken"):
        (tmp_path / "work" / name).write_text("")


@pytest.mark.parametrize("group", COMPONENTS)
def test_the_message_names_all(surefoot, broken, group):
    done = surefoot(*COMPONENTS[group])
    assert done.code == 2, done.err
    assert "plugin-error" in done.err
    assert 'the package "surefoot-broken"' in done.err
    assert f'entry point "broken = toy_broken:COMPONENT" of {group}' in done.err
    assert "No module named 'nowhere_to_be_found'" in done.err
    assert "hint: " in done.err and "uninstall" in done.err


def test_others_go_on(surefoot, broken):
    """Nobody else's component needs the broken one."""
    assert surefoot("decide", "domain:counter", "--oracle", "slow").code == 0
    assert surefoot("explore", "domain:counter").code == 0
    assert surefoot("--help").code == 0
