"""Renew the tables of relaxations, losses, weak learners and methods, for ``make tables``.

A table stands between ``<!--NAME-->`` and ``<!--end-->``. Its rows and the columns that
`TABLES` lists follow from the classes. The other cells, formulas and advice, are kept from the
page. They are empty in the row of a new class until somebody writes them, which a test demands.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from fractions import Fraction
from math import inf
from pathlib import Path

import numpy as np

import relaxboost as rb
from relaxboost import functional as fn
from relaxboost import solvers
from relaxboost.game.domains import Domain
from relaxboost.instances.expressions import families
from relaxboost.relaxations.bounds import level_of
from relaxboost.solvers import METHODS
from tests.conformance.families import FAMILIES

DOCS = Path(__file__).parent
PAGES = (DOCS / "relaxations.md", DOCS / "losses.md", DOCS / "methods.md")
M = 4
ALONE = {  # each family once, without its subclasses, which are other names of it
    name: kind
    for name, kind in families().items()
    if not any(
        kind is not other and issubclass(kind, other)
        for other in families().values()
    )
}
EXAMPLES = {
    name: next(
        f for f in (make(M) for _, make in FAMILIES) if isinstance(f, kind)
    ).resolve(M)
    for name, kind in ALONE.items()
}
"""The first conformance instance of each family; the notes below the tables are about others."""
SYMBOLS = {"gamma": "γ", "multiplier": "λ", "v": "v"}


LOSSES = {kind.__name__: kind for kind in fn.LOSSES.values()}
LEARNERS = {
    kind.__name__: kind
    for kind in (getattr(fn, name) for name in fn.__all__)
    if inspect.isclass(kind)
    and issubclass(kind, fn.WeakLearner)
    and kind is not fn.WeakLearner
}
EXPORTED = {
    kind.__name__: kind
    for kind in METHODS.values()
    if kind.__name__ in solvers.__all__
}
TASKS = {
    "regression": "numbers",
    "binary": "two classes",
    "multiclass": "classes",
    "ranking": "grades of documents",
}


def call(name: str) -> str:
    """Return the family with the names of its parameters."""
    _, *names = inspect.signature(ALONE[name].__init__).parameters
    return f"`{name}({', '.join(names)})`"


def word(kind: type) -> str:
    """Return the name that stands for a class with its default parameters."""
    return f'`"{kind.name}"`' if kind.name else "none"


def constants(name: str) -> str:
    """Return the strong convexity and the smoothness of a loss with default parameters."""
    loss = LOSSES[name]()
    bounds = {"λ": loss.strong_convexity or inf, "Λ": loss.smoothness}
    known = [
        f"{symbol} = {Fraction(value)}"
        for symbol, value in bounds.items()
        if value < inf
    ]
    return ", ".join(known) or "none"


def witness(name: str) -> str:
    """Return the symbols of the fields of its witnesses."""
    fields = EXAMPLES[name].witness(np.linspace(0.0, 1.0, M))._fields
    return ", ".join(SYMBOLS[field] for field in fields)


def shape(name: str) -> str:
    """Return whether f is the indicator of a set or a price, and whether polyhedral or smooth."""
    f, rng = EXAMPLES[name], np.random.default_rng(0)
    values = {
        f.penalty(scale * rng.normal(size=M))
        for scale in (0.01, 0.1, 1.0)
        for _ in range(9)
    }
    values |= {f.penalty(rng.dirichlet(np.ones(M))) for _ in range(9)}
    traits = {"polyhedral": f.traits.polyhedral, "smooth": f.traits.smooth}
    kind = "set" if values <= {0.0, np.inf} else "price"
    return ", ".join([kind, *(trait for trait, has in traits.items() if has)])


Column = Callable[[str], str]
TABLES: dict[str, tuple[list[str], dict[str, Column]]] = {
    "losses": (
        list(LOSSES),
        {
            "name": lambda name: word(LOSSES[name]),
            "targets": lambda name: TASKS[LOSSES[name].task],
            "constants": constants,
        },
    ),
    "learners": (list(LEARNERS), {"name": lambda name: word(LEARNERS[name])}),
    "methods": (list(EXPORTED), {"name": lambda name: word(EXPORTED[name])}),
    "formulas": (list(ALONE), {}),
    "conjugates": (list(ALONE), {}),
    "levels": (
        list(ALONE),
        {
            "family": call,
            "f is a": shape,
            "level": lambda name: level_of(EXAMPLES[name]),
            "witness": witness,
        },
    ),
    "domains": (
        [
            x
            for x in rb.__all__
            if inspect.isclass(getattr(rb, x))
            and issubclass(getattr(rb, x), Domain)
        ],
        {},
    ),
}
"""For each table, what has a row, and the columns that are computed."""


def cells(row: str) -> list[str]:
    """Return the cells of a row of Markdown."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def renew(table: str, names: list[str], computed: dict[str, Column]) -> str:
    """Return the table with a row for each name, in the order of the page, new ones at the end."""
    head, rule, *rows = table.strip().split("\n")
    columns = cells(head)
    kept = {}
    for row in rows:
        first, *others = cells(row)
        kept[re.findall(r"\w+", first)[0]] = dict(
            zip(columns, [first, *others], strict=True)
        )
    order = [
        *(name for name in kept if name in names),
        *(name for name in names if name not in kept),
    ]
    lines = [head, rule]
    for name in order:
        row = (
            dict.fromkeys(columns, "")
            | {columns[0]: f"`{name}()`"}
            | kept.get(name, {})
        )
        row |= {column: make(name) for column, make in computed.items()}
        lines.append(f"| {' | '.join(row.values())} |")
    return "\n".join(lines)


def render(page: str) -> str:
    """Return the page with all its tables renewed."""
    for name in re.findall(r"<!--(\w+)-->\n\n\|", page):
        names, computed = TABLES[name]
        start, end = f"<!--{name}-->\n\n", "\n\n<!--end-->"
        before, rest = page.split(start)
        table, after = rest.split(end, 1)
        page = before + start + renew(table, names, computed) + end + after
    return page


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(
            render(page.read_text(encoding="utf-8")), encoding="utf-8"
        )
