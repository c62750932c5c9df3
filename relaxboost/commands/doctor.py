"""The command `relaxboost doctor`, which prints installed libraries, working solvers and missing
extras."""

from __future__ import annotations

import platform
import re
import sys
import time
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

import relaxboost as rb
from relaxboost._core.errors import install, requirements
from relaxboost.commands.style import Verb, show

FEATURES = {
    "exact": ("flint", "exact optima, and certificates of the level enclosed"),
    "plots": ("matplotlib", "pictures"),
    "ecos": ("ecos", "the solver ECOS"),
    "lightgbm": ("lightgbm", "boosted trees"),
    "dask": ("distributed", "clusters"),
    "pyarrow": ("pyarrow", "Parquet"),
    "river": ("river", "pipelines of river for online estimators"),
}
"""The optional extras, with a module and a purpose. An extra is installed if its module can be
imported. The extra dask has two entries, because it installs two libraries."""


@click.command(
    cls=Verb,
    epilog="""
\b
Exit status: 0 all required libraries and solvers work, 1 some do not.

\b
Examples:
  relaxboost doctor
  relaxboost doctor --json
""",
)
def doctor(as_json: bool) -> None:
    """Print the installed libraries, the working solvers, and the missing extras.

    Each solver is tested on a game with 2 examples and 2 hypotheses, whose value is 1/2.
    """
    found: dict[str, Any] = {
        "relaxboost": rb.__version__,
        "place": str(Path(rb.__file__).parent),
        "python": platform.python_version(),
        "system": platform.platform(),
        "libraries": _libraries(),
        "solvers": _solvers(),
        "missing": _missing(),
    }
    show(as_json, found, _text(found))
    # ECOS is an extra: if it is installed and fails, other solvers take its place.
    works = [one["works"] for name, one in found["solvers"].items() if name != "ECOS"]
    if not all(works) or None in found["libraries"].values():
        sys.exit(1)


def _libraries() -> dict[str, str | None]:
    # The required libraries are listed in the metadata of the package.
    names = [re.split("[^\\w.-]", line)[0] for line in requirements(None)]
    # The names of installed distributions may have an underscore where the requirement has a
    # hyphen.
    here = {one.name.lower(): one.version for one in metadata.distributions()}
    return {name: here.get(name.replace("-", "_"), here.get(name)) for name in names}


def _solvers() -> dict[str, dict[str, Any]]:
    """Solve a game of value 1/2 with each solver, and return the results by solver.

    A solver works if its bounds enclose 1/2 and differ by at most 1e-4. Each result says whether
    the solver works, its time in seconds, and the error message, if any.
    """
    game = rb.Game([[1.0, 0.0], [0.0, 1.0]], rb.HardMargin())
    tried: dict[str, dict[str, Any]] = {}
    for name in ("auto", *rb.solvers.SOLVERS):
        # If ECOS is not installed, it is listed with the missing extras instead.
        if name == "ECOS" and find_spec("ecos") is None:
            continue
        start = time.perf_counter()
        try:
            solved = rb.solve(game, 1e-6) if name == "auto" else rb.reference(game, name)
            works = solved.lower <= 0.5 <= solved.upper and solved.gap <= 1e-4
            said = "" if works else f"{solved.lower} <= rho <= {solved.upper}, and rho is 1/2"
        # A broken library may raise any exception, which is then the result of the test.
        except Exception as error:
            works = False
            said = " ".join(str(error).split())
        seconds = time.perf_counter() - start
        tried[name] = {"works": works, "seconds": round(seconds, 3), "message": said}
    return tried


def _missing() -> dict[str, dict[str, str]]:
    missing = {}
    for name, (module, what) in FEATURES.items():
        # pyarrow is a part of the extra dask, and suffices for Parquet files.
        if find_spec(module) is None:
            how = install("dask", name) if name in ("dask", "pyarrow") else install(name)
            missing[name] = {"for": what, "install": f"{sys.executable} -m {how}"}
    return missing


def _text(found: dict[str, Any]) -> str:
    versions = [f"{name} {version or 'MISSING'}" for name, version in found["libraries"].items()]
    lines = [
        f"relaxboost {found['relaxboost']} in {found['place']}",
        f"Python {found['python']}, {found['system']}",
        f"libraries:  {', '.join(versions)}",
        "solvers:    on a game of value 1/2",
    ]
    for name, tried in found["solvers"].items():
        said = "works" if tried["works"] else f"FAILS: {tried['message']}"
        lines.append(f"  {name:10}{said} ({tried['seconds']:.2f} s)")
    lines.append("missing:" + ("" if found["missing"] else "    nothing"))
    for one in found["missing"].values():
        lines += [f"  {one['for']}", f"    {one['install']}"]
    return "\n".join(lines)
