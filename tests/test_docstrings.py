"""Every public class and function has an example in its docstring, and the examples run."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from functools import reduce
from itertools import pairwise
from pathlib import Path

import pytest

import relaxboost as rb
from relaxboost import estimators
from relaxboost.functional import LOSSES

NAMES = [name for name in rb.__all__ if not inspect.ismodule(getattr(rb, name))]
MAIN = {
    "certificates": "ExactOptimum",
    "claims": "Claim",
    "estimators": "MarginBoostClassifier",
    "functional": "boost",
    "game": "Game",
    "instances": "plant",
    "matrices": "stumps",
    "online": "MirrorDescent",
    "planning": "fit",
    "relaxations": "TotalVariationBall",
    "solvers": "InteriorPoint",
    "testing": "check_relaxation",
    "views.plots": "overview",
}
"""The class or function of each room that its users meet first."""


def found(room: str, name: str) -> object:
    return reduce(getattr, [*room.split("."), name] if room else [name], rb)


CASES = [("", name) for name in NAMES] + [*MAIN.items(), ("solvers", "Method")]


@pytest.mark.parametrize(("room", "name"), CASES, ids=lambda part: part or "rb")
def test_examples_of_public_names(room, name):
    item = found(room, name)
    text = inspect.getdoc(item) or ""
    assert "\nExamples\n--------\n" in text
    runner = doctest.DocTestRunner()
    for one in doctest.DocTestFinder(recurse=False).find(item, name):
        runner.run(one)
    assert runner.tries > 1
    assert runner.failures == 0


def test_the_main_name_of_every_room_is_known():
    root = Path(rb.__file__).parent
    rooms = {path.parent.name for path in root.glob("*/__init__.py")} - {"_core", "commands"}
    assert {room.split(".")[0] for room in MAIN} == rooms


def test_every_parameter_and_attribute_has_a_description():
    root = Path(rb.__file__).parent
    bare = []
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
                where = f"{path.relative_to(root)}: {node.name}"
                bare += [f"{where}: {entry}" for entry in bare_entries(ast.get_docstring(node))]
    assert not bare, "these entries have a name, but no description"


def test_no_heading_of_a_docstring_shares_its_line_with_the_underline():
    root = Path(rb.__file__).parent
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    joined = [name for name, text in texts.items() if re.search(r"(?m)^ *[A-Z][a-z]+ -{5}", text)]
    assert not joined, "a heading such as Parameters needs its underline on the next line"


def test_parameters_are_documented_in_the_order_of_the_signature():
    """A group of parameters that share a description counts by its names."""
    wrong = []
    for room in MAIN:
        module = reduce(getattr, room.split("."), rb)
        for name in getattr(module, "__all__", ()):
            item = getattr(module, name)
            text = inspect.getdoc(item) if inspect.isclass(item) or inspect.isroutine(item) else ""
            listed = parameters_in(text or "")
            if listed and listed != [*inspect.signature(item).parameters]:
                wrong.append(f"{room}.{name}: {listed}")
    assert not wrong, "the section Parameters differs from the signature"


def parameters_in(text):
    """Return the names in the section Parameters of a docstring, in order."""
    section = text.partition("Parameters\n----------\n")[2]
    # The next section begins with a line of dashes below its name.
    section = re.split(r"\n\S.*\n-{3,}\n", section)[0]
    entries = [line for line in section.split("\n") if line and not line.startswith(" ")]
    return [name.strip(" *") for line in entries for name in line.split(" : ")[0].split(",")]


def bare_entries(text):
    """Return the entries of the sections for parameters and attributes without a description."""
    lines = [*text.split("\n"), "", ""]
    section = ""
    bare = []
    for line, below in pairwise(lines):
        if below and not below.strip("-"):
            section = line
        is_entry = line.strip("- ") and not line.startswith(" ") and line != section
        if section in ("Parameters", "Attributes") and is_entry and not below.startswith(" "):
            bare.append(line)
    return bare


@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("FunctionalGradientClassifier", ("binary", "multiclass")),
        ("FunctionalGradientRegressor", ("regression",)),
        ("MirrorDescentClassifier", ("binary",)),
        ("MirrorDescentRegressor", ("regression",)),
    ],
)
def test_docstrings_of_estimators_name_every_loss(name, tasks):
    told = getattr(estimators, name).__doc__
    # Tests may register losses of their own.
    known = {k: v for k, v in LOSSES.items() if v.__module__.startswith("relaxboost.")}
    # An estimator without a parameter `quantile` shows the class in place of the name.
    shown = {k: f'"{k}"' in told or f"{v.__name__}(" in told for k, v in known.items()}
    missing = [k for k, v in known.items() if v.task in tasks and not shown[k]]
    assert not missing, f"the docstring of {name} lacks the losses {missing}"
