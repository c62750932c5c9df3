"""What is not installed is asked for by name, and nothing else with it."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relaxboost as rb
from relaxboost import claims, online, planning
from relaxboost._core import MissingDependencyError
from relaxboost.claims import check_all
from relaxboost.commands.cli import main
from relaxboost.views import plots
from tests.claims.toys import HEAD

ROOT = Path(rb.__file__).parent
CALLS = {
    "paths": lambda draw: draw(planning.grid(np.ones((1, 2, 1)))),
    "overview": lambda draw: draw(rb.solve(rb.Game([[1.0]], rb.HardMargin()))),
    "portrait": lambda draw: draw(rb.HardMargin(), margins=[0.0, 1.0]),
    "draw_penalty": lambda draw: draw(rb.HardMargin(), m=2),
    "draw_conjugate": lambda draw: draw(rb.HardMargin(), m=2),
    "draw_distribution": lambda draw: draw(rb.HardMargin(), margins=[0.0, 1.0]),
    "draw_margins": lambda draw: draw({"u": [0.0, 1.0]}),
    "bounds_by_round": lambda draw: draw(
        rb.solvers.compare_methods(rb.Game([[1.0]], rb.HardMargin()), ["lpboost"], tol=0.1)
    ),
    "regret_curves": lambda draw: draw(object.__new__(online.Regret)),
}
"""Of every public function that makes Axes or a figure: not of those that take one first."""


def pictures():
    for file in ROOT.rglob("*.py"):
        if re.search(
            r"^ +(import|from) matplotlib", file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            name = ".".join(file.relative_to(ROOT.parent).with_suffix("").parts)
            for f in vars(import_module(name)).values():
                if inspect.isfunction(f) and f.__module__ == name and f.__name__[0] != "_":
                    given = inspect.signature(f)
                    drawn = next(iter(given.parameters), "") in ("axes", "figure")
                    if given.return_annotation in ("Any", Any) and not drawn:
                        yield f


def test_every_picture_says_what_it_needs(monkeypatch):
    found = list(pictures())
    assert {f.__name__ for f in found} == set(CALLS)
    assert len(found) == len(CALLS)
    calls = [lambda f=f: CALLS[f.__name__](f) for f in found]
    calls.append(lambda: plots.check_plot("a.png"))
    for name in [*sys.modules, "matplotlib"]:
        if name.split(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, name, None)
    said = r"pictures need matplotlib \(extra plots\): pip install 'matplotlib>="
    for call in calls:
        with pytest.raises(MissingDependencyError, match=said):
            call()


def test_a_parquet_file_to_stream_asks_for_pyarrow_alone(monkeypatch, tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'pyarrow>=[\d.]+'$"):
        next(iter(online.stream(tmp_path / "a.parquet", "y")))
    assert next(iter(online.stream(tmp_path / "a.csv", "y")))[0].tolist() == [[1.0]]


@pytest.mark.parametrize("action", ["check", "attack"])
def test_a_claim_says_what_to_install_and_nothing_else(action, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(SystemExit) as ended:
        main(["claims", action, "SS09-T9"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    said = r"relaxboost: exact optima need .* pip install 'python-flint>=[\d.]+'\n"
    assert re.fullmatch(said, err)


def test_a_claim_in_another_process_says_it_as_well(tmp_path):
    lines = """
from relaxboost._core.errors import MissingDependencyError

def lacks(x):
    raise MissingDependencyError("a check needs more")

claim("a", lacks)
claim("b", lambda x: at_most(x.x, 1, "x"))
"""
    (tmp_path / "mine.py").write_text(HEAD + lines)
    with pytest.raises(MissingDependencyError, match="a check needs more"):
        list(check_all(claims.load(tmp_path / "mine.py"), jobs=2))
