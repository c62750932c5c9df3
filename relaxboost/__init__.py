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
        plots,
        projections,
        relaxations,
        report,
        solvers,
    )
    from relaxboost.boosters import solve
    from relaxboost.errors import InputError, MissingDependencyError
    from relaxboost.game import Game
    from relaxboost.relaxations import (
        BinaryEntropy,
        Capped,
        HardMargin,
        KLBall,
        KLPenalty,
        Relaxation,
        Witness,
    )
    from relaxboost.solution import Comparison, Solution, compare
    from relaxboost.solvers import reference

__version__ = "0.1.0"

_HOME = {
    "BinaryEntropy": "relaxations",
    "Capped": "relaxations",
    "Comparison": "solution",
    "Game": "game",
    "HardMargin": "relaxations",
    "InputError": "errors",
    "KLBall": "relaxations",
    "KLPenalty": "relaxations",
    "MissingDependencyError": "errors",
    "Relaxation": "relaxations",
    "Solution": "solution",
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
    "plots",
    "projections",
    "relaxations",
    "report",
    "solvers",
)

__all__ = [
    "BinaryEntropy",
    "Capped",
    "Comparison",
    "Game",
    "HardMargin",
    "InputError",
    "KLBall",
    "KLPenalty",
    "MissingDependencyError",
    "Relaxation",
    "Solution",
    "Witness",
    "boosters",
    "bounds",
    "compare",
    "datasets",
    "matrices",
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
