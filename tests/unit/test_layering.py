"""Who may use whom: the rules of the architecture, read off the imports.

One test for the package and one for the core; each lists everything that is out of place.
"""

import ast
import re
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "surefoot"
CORE = ROOT / "core"

STAGES = {
    "explore",
    "simulate",
    "fuzz",
    "compare",
    "oracles",
    "faults",
    "repair",
    "verify",
    "evaluate",
    "doctor",
    "minimise",
    "replay",
    "suspects",
    "train",
    "gym",
    # on its way to `evidence`
    "findings",
}
# Lower ones may not use higher ones. A part that stands nowhere is an error: give it a place.
LAYERS = (
    {"errors", "lazy", "options", "python_file", "registry", "files", "text"},
    {"jobs"},
    {"tasks", "policies", "domains", "pictures"},
    {"records"},
    {"objectives"},
    {"certificates"},
    STAGES,
    {"evidence"},
    {"loop"},
    {"campaign", "corpus", "report"},
    {"cli", "web", "pytest_plugin", "__main__"},
)
LAYER = {part: number for number, parts in enumerate(LAYERS) for part in parts}
# Who may use whom within a layer. oracles < faults < repair < verify; the others stand beside.
SIDEWAYS = {
    "lazy": set(),
    "options": {"errors"},
    "python_file": {"errors"},
    "registry": {"errors", "python_file"},
    "files": {"errors"},
    "domains": {"tasks"},
    "policies": {"tasks"},
    "pictures": {"domains", "tasks"},
    "faults": {"oracles"},
    "repair": {"fuzz", "simulate"},
    "verify": {"findings", "fuzz", "oracles", "simulate"},
    "evaluate": {"fuzz", "simulate"},
    "suspects": {"evaluate"},
    "compare": {"evaluate", "faults", "fuzz", "simulate"},
    "replay": {"findings"},
    "minimise": {"faults", "findings", "replay"},
    "train": {"fuzz"},
    "gym": {"train"},
    "report": {"campaign"},
    "__main__": {"cli"},
}
# A loader may pick a domain while it runs; it must not need it to be imported.
LATE = {"tasks": {"domains"}, "policies": {"domains"}}
APART = {"checker", "reference", "__init__"}
# Who hands them over; everybody else must not know it.
MAY_USE_CHECKER = {"certificates", "findings"}
MAY_USE_CORE = {"tasks", "policies", "certificates", *STAGES} - {
    "compare",
    "findings",
    "replay",
    "suspects",
}
ANYBODY_MAY_USE = {"__version__"}
NOBODY_MAY_USE = {"gym"}  # it needs Gymnasium to be imported
HEAVY = {
    "torch",
    "xgboost",
    "lightgbm",
    "sklearn",
    "onnx",
    "onnxruntime",
    "z3",
    "pysat",
    "ray",
    "stormpy",
    "oxidd",
    "gymnasium",
    "highspy",
    "gurobipy",
    "jinja2",
}
# Their classes derive from Gymnasium's; `surefoot.gym` imports them when they are asked for.
DERIVED = {PACKAGE / "gym" / name: {"gymnasium"} for name in ("env.py", "vector.py")}

FILES = sorted(PACKAGE.rglob("*.py"))


def part_of(file):
    """Return the part of the package a file belongs to: ``tasks`` for tasks/jani/model.py."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_names(node, file):
    """Return the dotted names one import statement may bring in; relative ones made absolute."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        package = ["surefoot", *file.relative_to(PACKAGE).parent.parts]
        base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
    if base == "surefoot":
        return [f"surefoot.{alias.name}" for alias in node.names]
    return [base]


def is_type_checking(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in (
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    )


@cache
def imports(file, *, top_only=False):
    """Return the names a file imports, those for type checkers left out."""
    names, open_nodes = [], [ast.parse(file.read_text())]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            names += imported_names(node, file)
        is_inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if is_type_checking(node):
            open_nodes.extend(node.orelse)
        elif not (top_only and is_inner):
            open_nodes.extend(ast.iter_child_nodes(node))
    return tuple(names)


def own_parts(file, *, top_only=False):
    """Return the parts of surefoot that a file imports; ``surefoot`` for the whole of it."""
    names = imports(file, top_only=top_only)
    parts = {name.split(".")[1] for name in names if name.startswith("surefoot.")}
    return parts | {name for name in names if name == "surefoot"}


def may_use(part, used, *, is_late):
    """Return whether a part may import another; ``is_late`` if only inside of functions."""
    if used == "checker":
        return part in MAY_USE_CHECKER
    if used == "_core":
        return part in MAY_USE_CORE
    is_allowed = {part, *SIDEWAYS.get(part, ()), *ANYBODY_MAY_USE}
    is_below = LAYER.get(used, len(LAYERS)) < LAYER[part] and used not in NOBODY_MAY_USE
    return is_below or used in is_allowed or (is_late and used in LATE.get(part, ()))


def out_of_order(file):
    """Yield what a file of a layer imports that it may not."""
    part = part_of(file)
    if part not in LAYER:
        if part not in APART:
            yield f"{part} has no place in LAYERS"
        return
    at_once = own_parts(file, top_only=True)
    for used in sorted(own_parts(file)):
        if not may_use(part, used, is_late=used not in at_once):
            yield f"{part} uses {used}"


def not_alone(file):
    """Yield what the checker imports beyond itself, and the reference beyond the checker."""
    part = part_of(file)
    if part not in ("checker", "reference"):
        return
    own = {"checker": {"checker"}, "reference": {"checker", "reference"}}[part]
    for name in imports(file):
        top, inner = (*name.split("."), "")[:2]
        if not (top == "surefoot" and inner in own) and top not in sys.stdlib_module_names:
            yield f"{part} uses {name}"


def heavy_at_once(file):
    """Yield the heavy libraries that a file imports outside of functions."""
    if file not in DERIVED:
        names = set(imports(file, top_only=True))
        yield from sorted(names & {f"surefoot.gym.{path.stem}" for path in DERIVED})
    libraries = {name.split(".")[0] for name in imports(file, top_only=True)}
    for name in sorted(HEAVY & libraries - DERIVED.get(file, set())):
        yield f"imports {name} outside of a function"


RULES = (out_of_order, not_alone, heavy_at_once)


def violations(files=FILES):
    """Return everything that is out of place, as ``file: what``."""
    return [
        f"{file.relative_to(PACKAGE)}: {what}"
        for file in files
        for rule in RULES
        for what in rule(file)
    ]


def test_every_part_uses_what_stands_below_it():
    assert not violations(), "\n".join(["out of place:", *violations()])


def test_nobody_uses_each_other_within_a_layer():
    TopologicalSorter(SIDEWAYS).prepare()
    across = [
        f"{part}, {used}"
        for part, parts in SIDEWAYS.items()
        for used in parts
        if LAYER[part] != LAYER[used]
    ]
    assert not across, "SIDEWAYS is for parts of one layer"


def test_every_permission_is_used():
    """One that is not would let in what nobody has thought about."""
    used = {(part_of(file), used) for file in FILES for used in own_parts(file)}
    given = {(part, each) for rule in (SIDEWAYS, LATE) for part in rule for each in rule[part]}
    given |= {(part, "checker") for part in MAY_USE_CHECKER}
    given |= {(part, "_core") for part in MAY_USE_CORE}
    assert given <= used, sorted(given - used)


def test_the_rules_find_what_is_out_of_place(tmp_path, monkeypatch):
    """The tests above are worth something only if they find something."""
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    wrong = {
        "domains/core.py": ("from surefoot import _core", "domains uses _core"),
        "files.py": ("def f():\n    from surefoot.tasks import Task", "files uses tasks"),
        "tasks/a.py": ("from surefoot.domains import DOMAINS", "tasks uses domains"),
        "tasks/c.py": ("from ..cli import x", "tasks uses cli"),
        "records/a.py": ("import surefoot", "records uses surefoot"),
        "records/c.py": (
            "if not TYPE_CHECKING:\n    from surefoot.cli import x",
            "records uses cli",
        ),
        "loop/c.py": (
            "if TYPE_CHECKING:\n    x = 1\nelse:\n    from surefoot.cli import x",
            "loop uses cli",
        ),
        "fuzz.py": ("from surefoot import evaluate", "fuzz uses evaluate"),
        "loop/a.py": ("from surefoot.checker import x", "loop uses checker"),
        "cli/a.py": ("from surefoot.nowhere import x", "cli uses nowhere"),
        "cli/b.py": ("def f():\n    import surefoot.gym", "cli uses gym"),
        "nowhere.py": ("", "nowhere has no place in LAYERS"),
        "checker/a.py": ("import surefoot.errors", "checker uses surefoot.errors"),
        "reference/a.py": ("import numpy", "reference uses numpy"),
        "policies/a.py": ("import torch.nn", "imports torch outside of a function"),
    }
    right = {
        "tasks/b.py": "def f():\n    from surefoot.domains import DOMAINS",
        "oracles/b.py": "from surefoot import _core, errors\nfrom surefoot.tasks import Task",
        "policies/b.py": "def f():\n    import torch",
        "reference/b.py": "import math\nfrom surefoot.checker import x",
        "loop/b.py": "if TYPE_CHECKING:\n    from surefoot.cli import x",
    }
    for name, text in [*((name, text) for name, (text, _) in wrong.items()), *right.items()]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    expected = sorted(f"{name}: {what}" for name, (_, what) in wrong.items())
    assert sorted(violations(sorted(tmp_path.rglob("*.py")))) == expected


def test_import_reader_sees_what_it_should(tmp_path):
    """The tests above are worth something only if the reader finds imports."""
    text = (
        "import torch.nn\nfrom surefoot import _core, errors\n"
        "from surefoot.tasks.task import Task\ndef f():\n    import z3\n"
    )
    file = tmp_path / "x.py"
    file.write_text(text)
    assert set(imports(file)) == {
        "torch.nn",
        "surefoot._core",
        "surefoot.errors",
        "surefoot.tasks.task",
        "z3",
    }
    assert "z3" not in set(imports(file, top_only=True))
    relative = ast.parse("from . import model\nfrom ..errors import X\nfrom .a.b import c").body
    inside = PACKAGE / "tasks" / "jani" / "reading.py"
    assert [imported_names(node, inside) for node in relative] == [
        ["surefoot.tasks.jani"],
        ["surefoot.tasks.errors"],
        ["surefoot.tasks.jani.a.b"],
    ]
    assert len(FILES) > 20


# -- C++ -------------------------------------------------------------------------------------

CORE_LAYERS = (
    {"base"},
    {"task"},
    {"policy"},
    {"search"},
    {"relax"},
    {"oracle", "fuzz", "values", "verify"},
    {"fault"},
)
CORE_LAYER = {folder: number for number, folders in enumerate(CORE_LAYERS) for folder in folders}
CORE_FILES = sorted([*CORE.rglob("*.h"), *CORE.rglob("*.cc")])
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
FOREIGN = re.compile(
    r"nanobind|pybind|Python\.h|iostream|<cstdio>|<stdio\.h>|<print>|\bf?printf\s*\(|std::(cout|cerr)"
)


def core_violations(file):
    """Yield what a file of the core includes that it may not, and what it may not know."""
    own, text = file.relative_to(CORE).parts[0], file.read_text()
    if own not in CORE_LAYER:
        yield f"{own} has no place in CORE_LAYERS"
        return
    for kind, name in INCLUDE.findall(text):
        folder = name.split("/")[0]
        if kind == '"' and not (CORE / name).is_file():
            yield f"{name} is not in core"
        elif kind == '"' and folder != own and not CORE_LAYER[folder] < CORE_LAYER[own]:
            yield f"{own} includes {name}"
    if foreign := FOREIGN.search(text):
        yield f"knows Python or prints: {foreign[0]}"


def test_the_core_includes_what_stands_below_it():
    listed = [
        f"{file.relative_to(CORE)}: {what}" for file in CORE_FILES for what in core_violations(file)
    ]
    assert not listed, "\n".join(["out of place:", *listed])


DECLARED = re.compile(r"^surefoot_library\((\w+)([\w ]*)\)$", re.MULTILINE)


def included_folders(folder):
    """Return the other folders of the core whose headers the files of a folder include."""
    names = {
        name.split("/")[0]
        for file in CORE_FILES
        if file.parent == CORE / folder
        for kind, name in INCLUDE.findall(file.read_text())
        if kind == '"'
    }
    return names - {folder}


def test_the_libraries_of_the_core_declare_what_they_include():
    """No more, no less; that each builds with what it declares: test_core_libraries.py."""
    declared = DECLARED.findall((CORE / "CMakeLists.txt").read_text())
    assert {folder: set(needed.split()) for folder, needed in declared} == {
        path.name: included_folders(path.name) for path in CORE.iterdir() if path.is_dir()
    }


def test_there_is_a_core():
    assert {file.relative_to(CORE).parts[0] for file in CORE_FILES} >= {"base", "task", "search"}


# -- tests -----------------------------------------------------------------------------------

TESTS = ROOT / "tests"
IMPORTED_TESTS = re.compile(r"^\s*(?:from|import) (tests\.[\w.]+)", re.MULTILINE)


def test_tests_share_what_stands_in_support():
    """A folder of tests imports from itself and from tests/support, not from other folders."""
    foreign = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in sorted(TESTS.rglob("*.py"))
        for name in IMPORTED_TESTS.findall(file.read_text())
        if name.split(".")[1] not in ("support", "fuzz_loader", file.relative_to(TESTS).parts[0])
    ]
    assert not foreign, "\n".join(["belongs in tests/support:", *foreign])
