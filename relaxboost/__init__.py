"""relaxboost: the convex optimisation behind boosting, with a certified optimum.

Declare a relaxation of the weak-learning game, get its optimum as a bracket that a feasible pair
proves, solve the same game with fast boosters::

    import relaxboost as rb

    game = rb.Game(A, rb.Capped(k=57))
    ref = rb.reference(game)
    sol = rb.solve(game, tol=1e-3)
    print(rb.compare(sol, ref))

Boost any convex loss, by gradient descent in function space: `relaxboost.functional`.

Names are loaded when they are first used, so that importing the package costs little.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relaxboost import (
        boosters,
        bounds,
        certificates,
        claims,
        datasets,
        ensembles,
        estimators,
        functional,
        maps,
        matrices,
        outer,
        planning,
        plots,
        projections,
        readers,
        references,
        relaxations,
        report,
        reproductions,
        solvers,
        testing,
    )
    from relaxboost.boosters import solve
    from relaxboost.certificates import (
        Certificate,
        Verdict,
        certify,
        check_certificate,
        exact_value,
    )
    from relaxboost.ensembles import EnsembleReport, certify_ensemble
    from relaxboost.errors import InputError, MissingDependencyError
    from relaxboost.estimators import (
        FunctionalGradientClassifier,
        FunctionalGradientRanker,
        FunctionalGradientRegressor,
    )
    from relaxboost.game import Game
    from relaxboost.outer import L1Ball, L1Penalty, L2Ball, OuterSet, Simplex, SquaredNorm
    from relaxboost.relaxations import (
        BinaryEntropy,
        Capped,
        Caps,
        ChiSquareBall,
        ChiSquarePenalty,
        Condition,
        Conditions,
        Custom,
        CVaR,
        DualWitness,
        GroupCaps,
        GroupNormBall,
        GroupNormPenalty,
        HardMargin,
        HellingerBall,
        HellingerPenalty,
        KLBall,
        KLPenalty,
        MahalanobisBall,
        MahalanobisPenalty,
        NormBall,
        NormPenalty,
        PowerBall,
        PowerPenalty,
        Relaxation,
        Traits,
        Violation,
        Witness,
        appendix_b,
        check_conditions,
        f_divergence,
        hinge_form,
    )
    from relaxboost.solution import Comparison, Solution, compare
    from relaxboost.solvers import reference

__version__ = "0.1.0"

_HOME = {
    "BinaryEntropy": "relaxations",
    "CVaR": "relaxations",
    "Capped": "relaxations",
    "Caps": "relaxations",
    "ChiSquareBall": "relaxations",
    "ChiSquarePenalty": "relaxations",
    "Certificate": "certificates",
    "Comparison": "solution",
    "Condition": "relaxations",
    "Conditions": "relaxations",
    "Custom": "relaxations",
    "DualWitness": "relaxations",
    "EnsembleReport": "ensembles",
    "FunctionalGradientClassifier": "estimators",
    "FunctionalGradientRanker": "estimators",
    "FunctionalGradientRegressor": "estimators",
    "Game": "game",
    "GroupCaps": "relaxations",
    "GroupNormBall": "relaxations",
    "GroupNormPenalty": "relaxations",
    "HardMargin": "relaxations",
    "HellingerBall": "relaxations",
    "HellingerPenalty": "relaxations",
    "InputError": "errors",
    "KLBall": "relaxations",
    "KLPenalty": "relaxations",
    "L1Ball": "outer",
    "L1Penalty": "outer",
    "L2Ball": "outer",
    "MahalanobisBall": "relaxations",
    "MahalanobisPenalty": "relaxations",
    "MissingDependencyError": "errors",
    "NormBall": "relaxations",
    "NormPenalty": "relaxations",
    "OuterSet": "outer",
    "PowerBall": "relaxations",
    "PowerPenalty": "relaxations",
    "Relaxation": "relaxations",
    "Simplex": "outer",
    "Solution": "solution",
    "SquaredNorm": "outer",
    "Traits": "relaxations",
    "Verdict": "certificates",
    "Violation": "relaxations",
    "Witness": "relaxations",
    "appendix_b": "relaxations",
    "certify": "certificates",
    "certify_ensemble": "ensembles",
    "check_certificate": "certificates",
    "check_conditions": "relaxations",
    "compare": "solution",
    "exact_value": "certificates",
    "f_divergence": "relaxations",
    "hinge_form": "relaxations",
    "reference": "solvers",
    "solve": "boosters",
}
_MODULES = (
    "boosters",
    "bounds",
    "certificates",
    "claims",
    "datasets",
    "ensembles",
    "estimators",
    "functional",
    "maps",
    "matrices",
    "outer",
    "planning",
    "plots",
    "projections",
    "readers",
    "references",
    "relaxations",
    "report",
    "reproductions",
    "solvers",
    "testing",
)

__all__ = [
    "BinaryEntropy",
    "CVaR",
    "Capped",
    "Caps",
    "Certificate",
    "ChiSquareBall",
    "ChiSquarePenalty",
    "Comparison",
    "Condition",
    "Conditions",
    "Custom",
    "DualWitness",
    "EnsembleReport",
    "FunctionalGradientClassifier",
    "FunctionalGradientRanker",
    "FunctionalGradientRegressor",
    "Game",
    "GroupCaps",
    "GroupNormBall",
    "GroupNormPenalty",
    "HardMargin",
    "HellingerBall",
    "HellingerPenalty",
    "InputError",
    "KLBall",
    "KLPenalty",
    "L1Ball",
    "L1Penalty",
    "L2Ball",
    "MahalanobisBall",
    "MahalanobisPenalty",
    "MissingDependencyError",
    "NormBall",
    "NormPenalty",
    "OuterSet",
    "PowerBall",
    "PowerPenalty",
    "Relaxation",
    "Simplex",
    "Solution",
    "SquaredNorm",
    "Traits",
    "Verdict",
    "Violation",
    "Witness",
    "appendix_b",
    "boosters",
    "bounds",
    "certificates",
    "certify",
    "certify_ensemble",
    "check_certificate",
    "check_conditions",
    "claims",
    "compare",
    "datasets",
    "ensembles",
    "estimators",
    "exact_value",
    "f_divergence",
    "functional",
    "hinge_form",
    "maps",
    "matrices",
    "outer",
    "planning",
    "plots",
    "projections",
    "readers",
    "reference",
    "references",
    "relaxations",
    "report",
    "reproductions",
    "solve",
    "solvers",
    "testing",
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
