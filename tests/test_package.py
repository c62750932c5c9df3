"""The house: what importing costs, which way imports point, how long files are."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import relaxboost as rb

ROOT = Path(rb.__file__).parent
FLOORS = [
    {"errors", "rounding", "parameters", "files", "compiled", "intervals"},
    {"projections", "matrices"},
    {"relaxations", "outer"},
    {"bounds"},
    {"models"},
    {"game"},
    {"solution"},
    {"solvers", "boosters", "functional", "planning"},
    {"certificates"},
    {"datasets", "readers"},
    {"references", "ensembles", "estimators"},
    {"report", "plots", "maps"},
    {"claims"},
    {"testing"},
    {"reproductions"},
    {"commands"},
    {"cli"},
    {"__main__", "__init__"},
]
LAZY = {"cvxpy", "sklearn", "networkx", "matplotlib", "pandas", "highspy", "rasterio"}


def files():
    return sorted(ROOT.rglob("*.py"))


def floor(module: str) -> int:
    return next(i for i, floor in enumerate(FLOORS) if module in floor)


def imports(path: Path, top_level_only: bool):
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "relaxboost":
                yield from (f"relaxboost.{alias.name}" for alias in node.names)
            else:
                yield node.module


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    here = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if here == "__init__":
        return
    for name in imports(path, top_level_only=True):
        if name.startswith("relaxboost."):
            there = name.split(".")[1]
            if there != here and not there.startswith("__"):
                assert floor(there) <= floor(here), f"{path.name} imports {name} from a floor above"


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_libraries_are_imported_where_they_are_used(path):
    # Estimators inherit from scikit-learn's, and so are only loaded themselves when used.
    lazy = LAZY - {"sklearn"} if "estimators" in path.relative_to(ROOT).parts else LAZY
    for name in imports(path, top_level_only=True):
        assert name.split(".")[0] not in lazy, f"{path.name} imports {name} at the top"


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_functions_stay_short(path):
    text = path.read_text()
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body
            documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
            start = body[1].lineno if documented and len(body) > 1 else body[0].lineno
            assert node.end_lineno - start < 60, f"{path.name}: {node.name}"


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_everything_public_is_documented(path):
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), path
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            nested = not any(
                node in getattr(p, "body", [])
                for p in ast.walk(tree)
                if isinstance(p, ast.Module | ast.ClassDef)
            )
            if not nested and not (path.name == "cli.py" and node.name == "convert"):
                assert ast.get_docstring(node), f"{path.name}: {node.name}"


def test_importing_is_cheap():
    """Half a second is the promise; it is kept by loading nothing heavy."""
    code = "import sys, relaxboost; print(*sorted(m.split('.')[0] for m in sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "scipy", "numba", *LAZY} & set(loaded)
    code = "import sys, relaxboost as rb; rb.Game; rb.solve; rb.functional; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not LAZY & set(loaded)


def test_public_names_are_all_there():
    for name in rb.__all__:
        assert getattr(rb, name) is not None
    assert set(rb.__all__) <= set(dir(rb))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = rb.nonsense


def test_submodules_do_not_shadow_public_functions():
    code = (
        "import relaxboost.solvers.pair, relaxboost.boosters.solving, relaxboost as rb\n"
        "print(callable(rb.reference), callable(rb.solve), callable(rb.compare))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "True True True\n"
