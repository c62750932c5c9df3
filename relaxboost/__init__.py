"""relaxboost: the convex optimisation behind boosting, with a certified optimum.

Declare a relaxation of the weak-learning game, get its optimum as a bracket that a feasible pair
proves, solve the same game with fast boosters::

    import relaxboost as rb

    game = rb.Game(A, rb.Capped(k=57))
    ref = rb.reference(game)
    sol = rb.solve(game, tol=1e-3)
    print(rb.compare(sol, ref))

Names are loaded when they are first used, so that importing the package costs little.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relaxboost import (
        boosters,
        bounds,
        datasets,
        matrices,
        outer,
        plots,
        projections,
        relaxations,
        report,
        solvers,
    )
    from relaxboost.boosters import solve
    from relaxboost.errors import InputError, MissingDependencyError
    from relaxboost.game import Game
    from relaxboost.outer import L1Ball, L1Penalty, L2Ball, OuterSet, Simplex, SquaredNorm
    from relaxboost.relaxations import Capped, HardMargin, Relaxation, Witness
    from relaxboost.solution import Comparison, Solution, compare
    from relaxboost.solvers import reference

__version__ = "0.1.0"

_HOME = {
    "Capped": "relaxations",
    "Comparison": "solution",
    "Game": "game",
    "HardMargin": "relaxations",
    "InputError": "errors",
    "L1Ball": "outer",
    "L1Penalty": "outer",
    "L2Ball": "outer",
    "MissingDependencyError": "errors",
    "OuterSet": "outer",
    "Relaxation": "relaxations",
    "Simplex": "outer",
    "Solution": "solution",
    "SquaredNorm": "outer",
    "Witness": "relaxations",
    "compare": "solution",
    "reference": "solvers",
    "solve": "boosters",
}
_MODULES = (
    "boosters",
    "bounds",
    "datasets",
    "matrices",
    "outer",
    "plots",
    "projections",
    "relaxations",
    "report",
    "solvers",
)

__all__ = [
    "Capped",
    "Comparison",
    "Game",
    "HardMargin",
    "InputError",
    "L1Ball",
    "L1Penalty",
    "L2Ball",
    "MissingDependencyError",
    "OuterSet",
    "Relaxation",
    "Simplex",
    "Solution",
    "SquaredNorm",
    "Witness",
    "boosters",
    "bounds",
    "compare",
    "datasets",
    "matrices",
    "outer",
    "plots",
    "projections",
    "reference",
    "relaxations",
    "report",
    "solve",
    "solvers",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"relaxboost.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"relaxboost.{name}")
    else:
        raise AttributeError(f"module 'relaxboost' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
