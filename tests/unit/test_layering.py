"""Who may use whom: the rules of the architecture, read off the imports."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "surefoot"
CORE = ROOT / "core"

# Lower ones may not use higher ones. A part that stands nowhere is an error: give it a place.
LAYERS = [
    {"errors", "options", "results", "files"},
    {"tasks", "policies", "domains"},
    {
        "explore",
        "simulate",
        "doctor",
        "oracles",
        "fuzz",
        "faults",
        "repair",
        "verify",
        "evaluate",
        "certificates",
        "findings",
        "minimise",
        "replay",
        "suspects",
        "train",
        "gym",
    },
    {"loop"},
    {"campaign", "report"},
    {"cli", "web", "pytest_plugin", "__main__"},
]
APART = {"checker", "reference", "__init__"}
LAYER = {part: number for number, parts in enumerate(LAYERS) for part in parts}
# Who hands them over; everybody else must not know it.
MAY_USE_CHECKER = {"certificates", "findings"}
MAY_USE_CORE = LAYERS[1] | LAYERS[2] - {"domains"}
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
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(file, *, top_only=False):
    """Yield the names a file imports, those for type checkers left out."""
    open_nodes = [ast.parse(file.read_text())]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imported_names(node, file)
        is_inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if not is_type_checking(node) and not (top_only and is_inner):
            open_nodes.extend(ast.iter_child_nodes(node))


def own_parts(file, **how):
    """Return the parts of surefoot that a file imports."""
    return {name.split(".")[1] for name in imports(file, **how) if name.startswith("surefoot.")}


def case(file):
    return pytest.param(file, id=str(file.relative_to(PACKAGE)))


@pytest.mark.parametrize("file", list(map(case, FILES)))
def test_imports_go_downwards(file):
    part = part_of(file)
    assert part in LAYER or part in APART, f"{part} has no place in LAYERS"
    if part not in LAYER:
        return
    for used in own_parts(file) - {"_core", "__version__", part}:
        if used == "checker":
            assert part in MAY_USE_CHECKER, f"{part} uses the checker"
            continue
        assert used in LAYER, f"{file.name} uses {used}"
        # A loader may pick a domain while it runs; nobody below may need it to be imported.
        is_sideways = LAYER[used] == LAYER[part]
        assert is_sideways or LAYER[used] < LAYER[part], f"{part} uses {used}"


@pytest.mark.parametrize("file", list(map(case, [f for f in FILES if part_of(f) == "tasks"])))
def test_tasks_do_not_need_domains_to_be_imported(file):
    assert "domains" not in own_parts(file, top_only=True)


@pytest.mark.parametrize("file", list(map(case, FILES)))
def test_only_tasks_policies_and_stages_touch_the_core(file):
    assert "_core" not in own_parts(file) or part_of(file) in MAY_USE_CORE


@pytest.mark.parametrize("file", list(map(case, [f for f in FILES if part_of(f) == "checker"])))
def test_the_checker_uses_itself_and_the_standard_library(file):
    for name in imports(file):
        top = name.split(".")[0]
        assert name.startswith("surefoot.checker") or top in sys.stdlib_module_names, name


@pytest.mark.parametrize("file", list(map(case, [f for f in FILES if part_of(f) == "reference"])))
def test_the_reference_uses_the_checker_only(file):
    for name in imports(file):
        mine = name.startswith(("surefoot.checker", "surefoot.reference"))
        assert mine or name.split(".")[0] in sys.stdlib_module_names, name


@pytest.mark.parametrize("file", list(map(case, FILES)))
def test_heavy_libraries_are_imported_where_they_are_needed(file):
    allowed = DERIVED.get(file, set())
    assert not HEAVY & {name.split(".")[0] for name in imports(file, top_only=True)} - allowed


@pytest.mark.parametrize("file", list(map(case, sorted(set(FILES) - set(DERIVED)))))
def test_nobody_needs_gymnasium_to_be_imported(file):
    derived = {f"surefoot.gym.{one.stem}" for one in DERIVED}
    assert not derived & set(imports(file, top_only=True))
    assert part_of(file) == "gym" or "gym" not in own_parts(file)


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

CORE_LAYER = {
    "base": 0,
    "task": 1,
    "policy": 2,
    "search": 3,
    "oracle": 4,
    "fuzz": 4,
    "verify": 4,
    "fault": 5,
}
CORE_FILES = sorted([*CORE.rglob("*.h"), *CORE.rglob("*.cc")])
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
FOREIGN = re.compile(
    r"nanobind|pybind|Python\.h|iostream|<cstdio>|<stdio\.h>|<print>|\bf?printf\s*\(|std::(cout|cerr)"
)


def core_case(file):
    return pytest.param(file, id=str(file.relative_to(CORE)))


@pytest.mark.parametrize("file", list(map(core_case, CORE_FILES)))
def test_includes_go_downwards(file):
    own = file.relative_to(CORE).parts[0]
    for kind, name in INCLUDE.findall(file.read_text()):
        if kind == "<":
            continue
        used = name.split("/")[0]
        assert (CORE / name).is_file(), f"{name} is not in core"
        assert used == own or CORE_LAYER[used] < CORE_LAYER[own], f"{own} includes {name}"


@pytest.mark.parametrize("file", list(map(core_case, CORE_FILES)))
def test_the_core_knows_no_python_and_prints_nothing(file):
    assert not FOREIGN.search(file.read_text())


def test_there_is_a_core():
    assert {file.relative_to(CORE).parts[0] for file in CORE_FILES} >= {"base", "task", "search"}
