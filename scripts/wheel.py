"""Build the wheel and the source archive into ``dist``, and check that they work.

The wheel is built from the source archive, so the archive holds all that a build needs. It is
then installed into a new environment, in which neither a compiler nor CMake can be found, and the
demo runs there. Usage: ``python -m scripts.wheel``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
WORK = ROOT / "build" / "wheel"
BUILDERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja", "make")
TASK = "domain:two-way-line?packages=2&locations=6&variant=icy"
POLICY = "builtin:two-way-line-icy-trees"
IN_SOURCES = ("CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "src/surefoot/py.typed")
NOT_IN_SOURCES = (".git/", ".venv/", "build/", "dist/", "__pycache__/")


def run(*command: str | Path, environment: Mapping[str, str] | None = None) -> int:
    """Return the exit code of a program that was run in the work folder."""
    print("$", *command, flush=True)
    return subprocess.run(command, env=environment, cwd=WORK, check=False).returncode


def must(*command: str | Path, environment: Mapping[str, str] | None = None) -> None:
    """Run a program in the work folder; exit if it fails."""
    if code := run(*command, environment=environment):
        sys.exit(f"{Path(command[0]).name} ended with exit code {code}")


def built() -> tuple[Path, Path]:
    """Return the source archive and the wheel, which has the widest tag that it deserves."""
    shutil.rmtree(DIST, ignore_errors=True)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    DIST.mkdir()
    must(sys.executable, "-m", "build", "--outdir", WORK, ROOT)
    (plain,) = WORK.glob("*.whl")
    tools = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"}
    audit = (sys.executable, "-m", "auditwheel")
    must(*audit, "show", plain)
    must(*audit, "repair", "--wheel-dir", DIST, plain, environment=tools)  # calls patchelf
    (archive,) = WORK.glob("*.tar.gz")
    (wheel,) = DIST.glob("*.whl")
    return Path(shutil.copy(archive, DIST)), wheel


def check_archive(archive: Path) -> None:
    """Exit unless the source archive has what a build needs, and nothing that was built."""
    with tarfile.open(archive) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    missing = [name for name in IN_SOURCES if name not in names]
    left_over = [name for name in names if name.startswith(NOT_IN_SOURCES) or name.endswith(".so")]
    if missing or left_over:
        sys.exit(f"{archive.name}: missing {missing}, left over {sorted(left_over)[:5]}")


def check_wheel(wheel: Path) -> None:
    """Exit unless the wheel has the extension, the types and every policy that ships."""
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    shipped = (ROOT / "src/surefoot/policies/shipped").iterdir()
    wanted = {f"surefoot/policies/shipped/{file.name}" for file in shipped}
    missing = sorted((wanted | {"surefoot/py.typed", "surefoot/_core.pyi"}) - names)
    if missing or not any(name.startswith("surefoot/_core.") and ".so" in name for name in names):
        sys.exit(f"{wheel.name}: missing {missing or 'the extension'}")


def demo(wheel: Path) -> None:
    """Install the wheel where nothing can be compiled, and debug a policy there."""
    folder = WORK / "environment"
    venv.create(folder, with_pip=True, clear=True)
    programs = folder / "bin"
    where = {"PATH": str(programs), "HOME": os.environ.get("HOME", "/"), "NO_COLOR": "1"}
    if found := [name for name in BUILDERS if shutil.which(name, path=where["PATH"])]:
        sys.exit(f"the environment of the demo has {found}")
    pip = (programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    must(*pip, "--only-binary", ":all:", wheel, environment={**os.environ, **where})
    campaign = WORK / "demo"
    surefoot = programs / "surefoot"
    code = run(surefoot, "debug", TASK, "--policy", POLICY, "-o", campaign, environment=where)
    if code not in (0, 4):  # 4: no failing run is left, but nothing was proved
        sys.exit(f"the demo ended with exit code {code}")
    must(surefoot, "report", campaign, environment=where)


def main() -> None:
    """Build, check and try; print what was made."""
    archive, wheel = built()
    must(sys.executable, "-m", "twine", "check", "--strict", archive, wheel)
    check_archive(archive)
    check_wheel(wheel)
    demo(wheel)
    for file in (archive, wheel):
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
