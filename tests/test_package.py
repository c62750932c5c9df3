"""The house: what importing costs, which way imports point, how long files are."""

from __future__ import annotations

import ast
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import networkx
import pytest

import relaxboost as rb
from tests import processes

ROOT = Path(rb.__file__).parent
FLOORS = [
    "_core",
    "matrices",
    "relaxations",
    "game",
    "solvers",
    "certificates",
    "instances",
    "functional",
    "online",
    "planning",
    "claims",
    "estimators",
    "views",
    "testing",
    "commands",
    "__main__",
]
LAZY = {"cvxpy", "sklearn", "networkx", "matplotlib", "pandas", "highspy", "rich"}
LAZY |= {"joblib", "scipy.optimize", "distributed", "dask", "pyarrow", "clarabel"}


WIDE = {
    "relaxboost.online.streams.streaming.stream",
    "relaxboost.relaxations._projections.group_norm.norm_penalties",
    "relaxboost.relaxations._projections.wright.sweep",
    "relaxboost.solvers.solve.solve",
}
"""Functions of 8 parameters or more: compiled loops, which take no objects, `solve`, `stream`."""


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = sorted(ROOT.rglob("*.py"))
MODULES = {name_of(path): path for path in FILES}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return all within a file that these tests look at."""
    kinds = ast.Import | ast.ImportFrom | ast.Module | ast.ClassDef | ast.FunctionDef
    return [node for node in ast.walk(tree(path)) if isinstance(node, kinds)]


def imports(path: Path, *, lazy: bool):
    """Yield what a file imports, module.name for a name; if `lazy`, inside functions too."""
    here = name_of(path).split(".")
    for node in nodes(path) if lazy else tree(path).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = here[: len(here) - node.level + (path.name == "__init__.py")] if node.level else []
            base = [*up, *filter(None, [node.module])]
            yield from (".".join([*base, alias.name]) for alias in node.names)


def imported_files(path: Path):
    """Yield the modules of the package that a file imports, inside functions too."""
    for target in imports(path, lazy=True):
        while target and target not in MODULES:
            target = target.rpartition(".")[0]
        if target and target != name_of(path):
            yield target


def defined(kind):
    """Yield (module, node) of every class or function of the package."""
    for path in FILES:
        found = (node for node in nodes(path) if isinstance(node, kind))
        yield from ((name_of(path), node) for node in found)


def room(module: str) -> str:
    return module.split(".")[1]


def test_imports_between_rooms_point_down():
    """Those inside functions too."""
    for path in FILES:
        if path.parent == ROOT:
            continue
        for target in imported_files(path):
            if target != "relaxboost":
                below = FLOORS.index(room(target)) <= FLOORS.index(room(name_of(path)))
                assert below, f"{name_of(path)} imports {target} from a floor above"


def test_there_are_no_circles_of_files():
    graph = networkx.DiGraph()
    for path in FILES:
        if path.name == "__init__.py":  # gathers the files of its folder, which import each other
            continue
        for target in imported_files(path):
            gathers = MODULES[target].name == "__init__.py"
            if not (gathers and name_of(path).startswith(f"{target}.")):
                graph.add_edge(name_of(path), target)
    circles = [part for part in networkx.strongly_connected_components(graph) if len(part) > 1]
    assert circles == []


def test_there_are_at_most_sixteen_rooms():
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert rooms <= set(FLOORS)
    assert len(rooms) <= 16


def test_two_things_never_share_one_name():
    homes: dict[str, set[str]] = {}
    for module, node in defined(ast.ClassDef):
        if not node.name.startswith("_"):
            homes.setdefault(node.name, set()).add(module)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_functions_take_few_parameters():
    wide = set()
    for module, node in defined(ast.FunctionDef):
        a = node.args
        given = [x for x in a.posonlyargs + a.args + a.kwonlyargs if x.arg not in ("self", "cls")]
        if len(given) >= (10 if node.name == "__init__" else 8):
            wide.add(f"{module}.{node.name}")
    assert wide == WIDE


def test_few_names_are_at_the_top():
    assert len(rb.__all__) <= 45


def test_heavy_libraries_are_imported_where_they_are_used():
    for path in FILES:
        # Estimators inherit from scikit-learn's, and so are only loaded themselves when used.
        lazy = LAZY - {"sklearn"} if "estimators" in path.relative_to(ROOT).parts else LAZY
        for target in imports(path, lazy=False):
            heavy = {target, target.split(".")[0], target.rpartition(".")[0]} & lazy
            assert not heavy, f"{name_of(path)} imports {target} at the top"


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_other_packages_are_used_through_their_public_names():
    """A private name of another package may change in any of its versions."""
    # The names that `NamedTuple` and `os` document although they begin with an underscore.
    allowed = {"_replace", "_asdict", "_make", "_fields", "_exit"}
    used = {}
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                allowed.add(node.name)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                allowed.add(node.target.id)
            elif isinstance(node, ast.Assign):
                allowed |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                allowed.add(node.attr)
            elif isinstance(node, ast.Attribute) and is_private(node.attr):
                used[node.attr] = name_of(path)
            elif isinstance(node, ast.ImportFrom | ast.Import):
                parts = [part for alias in node.names for part in alias.name.split(".")]
                parts += (getattr(node, "module", None) or "").split(".")
                assert "ctypes" not in parts, name_of(path)
                if not getattr(node, "level", 0) and "relaxboost" not in parts:
                    assert not any(map(is_private, parts)), (name_of(path), parts)
    assert {name: where for name, where in used.items() if name not in allowed} == {}


def test_files_and_functions_stay_short():
    lines = {module: path.read_text().count("\n") for module, path in MODULES.items()}
    assert [module for module, count in lines.items() if count > 500] == []
    for module, node in defined(ast.FunctionDef):
        body = node.body
        documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        start = body[1].lineno if documented and len(body) > 1 else body[0].lineno
        assert node.end_lineno - start < 60, f"{module}: {node.name}"


def test_everything_public_is_documented():
    """A method may leave it to the one it overrides to say what it is for, as `help` does.

    What the check of a claim is for is said in the table of its source.
    """
    classes = {node.name: node for _, node in defined(ast.ClassDef)}

    def inherited(home: ast.ClassDef | ast.Module, name: str) -> bool:
        above = [base.id for base in getattr(home, "bases", []) if isinstance(base, ast.Name)]
        return any(
            any(getattr(node, "name", "") == name and ast.get_docstring(node) for node in base.body)
            or inherited(base, name)
            for base in (classes[each] for each in above if each in classes)
        )

    for path in FILES:
        assert ast.get_docstring(tree(path)), path
        homes = [node for node in nodes(path) if isinstance(node, ast.Module | ast.ClassDef)]
        for home, node in ((each, child) for each in homes for child in each.body):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                said = ast.get_docstring(node) or inherited(home, node.name)
                said = said or (path.parents[1].name == "claims" and node.decorator_list)
                assert said, f"{name_of(path)}: {node.name}"


def test_importing_is_cheap():
    """A tenth of a second is the promise; it is kept by loading nothing heavy."""
    everything = "rb.Game; rb.solve; rb.certify; rb.functional.boost; rb.planning.fit"
    for used, heavy in (("", {"numpy", "scipy", "numba", *LAZY}), (everything, LAZY)):
        code = f"import sys, relaxboost as rb; {used}\nprint(*sys.modules)"
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert not heavy & set(result.stdout.split())


def test_public_names_are_all_there():
    for name in rb.__all__:
        assert getattr(rb, name) is not None
    assert set(rb.__all__) <= set(dir(rb))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = rb.nonsense


def test_a_name_that_is_elsewhere_is_told_where():
    for name, said in {
        "stumps": "; it is relaxboost.matrices.stumps",
        "MarginBoostClassifier": "; it is relaxboost.estimators.MarginBoostClassifier",
        "FiniteSet": "; it is relaxboost.functional.FiniteSet",  # of a folder imported whole
        "boost": "; it is relaxboost.functional.boost or relaxboost.planning.boost",
        "Caped": r"; did you mean Capped or Caps\?",
        "nowhere": "",
        "(": "",
    }.items():
        with pytest.raises(AttributeError, match=f"^relaxboost has no '{re.escape(name)}'{said}$"):
            getattr(rb, name)
    assert not hasattr(rb, "Game(")  # no pattern either


def test_a_room_that_left_the_package_is_named_with_its_new_place():
    with pytest.raises(AttributeError, match="benchmarks/reproductions of the source repository"):
        _ = rb.reproductions
    with pytest.raises(AttributeError, match="benchmarks/readers of the source repository"):
        _ = rb.planning.readers


def test_submodules_do_not_shadow_public_functions():
    code = (
        "import relaxboost.solvers.reference, relaxboost.solvers.solve, relaxboost as rb\n"
        "print(callable(rb.reference), callable(rb.solve), callable(rb.compare))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "True True True\n"


def test_what_a_test_starts_is_killed_when_it_takes_too_long_and_when_the_test_ends(monkeypatch):
    monkeypatch.setattr(processes, "LIMIT", 0.2)
    command = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)"]
    options = {"stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **options) as process:
        assert process.stdout.read() in ("1\n", "")  # which would wait for ever
    assert process.returncode == -signal.SIGKILL
    monkeypatch.setattr(processes, "LIMIT", 60.0)
    with subprocess.Popen(["sleep", "600"]) as process:
        process.end()
    assert process.returncode == -signal.SIGKILL
