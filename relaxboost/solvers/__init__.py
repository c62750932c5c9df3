"""`solve` and `reference`, which solve games, and the methods of `solve`.

`solve` runs a method of this package. `reference` calls a general convex solver through cvxpy.

To understand a run, read `solve.py` and then `rounds.py`, which has the loop that all methods
share. `portfolio.py` lists the phases of the default method. `boosters/` has one file for each
published algorithm. `interior_point/` has the workhorse of the default method for small gaps.
`comparison.py` compares methods.
"""

from relaxboost.solvers.automatic import Automatic
from relaxboost.solvers.boosters.adaboost import ADABOOST_STEPS, AdaBoost
from relaxboost.solvers.boosters.adaboost_star import AdaBoostStar
from relaxboost.solvers.boosters.corrective import Corrective
from relaxboost.solvers.boosters.erlpboost import ERLPBoost
from relaxboost.solvers.boosters.frank_wolfe import STEPS
from relaxboost.solvers.boosters.fully_corrective import FullyCorrective
from relaxboost.solvers.boosters.hedge import Hedge
from relaxboost.solvers.boosters.lpboost import LPBoost
from relaxboost.solvers.boosters.mlpboost import FRANK_WOLFE_STEPS, MLPBoost
from relaxboost.solvers.boosters.smoothboost import SmoothBoost
from relaxboost.solvers.boosters.softboost import SoftBoost
from relaxboost.solvers.boosters.starting_points import starting_point
from relaxboost.solvers.boosters.totalboost import TotalBoost
from relaxboost.solvers.comparison import MethodComparison, MethodResult, compare_methods
from relaxboost.solvers.external import SOLVERS
from relaxboost.solvers.interior_point.method import InteriorPoint
from relaxboost.solvers.method import METHODS, Method, SmoothedMethod
from relaxboost.solvers.path import path
from relaxboost.solvers.reference import reference
from relaxboost.solvers.rounds import Booster, RoundState
from relaxboost.solvers.solve import solve
from relaxboost.solvers.stopping import Tolerance

__all__ = [
    "ADABOOST_STEPS",
    "FRANK_WOLFE_STEPS",
    "METHODS",
    "SOLVERS",
    "STEPS",
    "AdaBoost",
    "AdaBoostStar",
    "Automatic",
    "Booster",
    "Corrective",
    "ERLPBoost",
    "FullyCorrective",
    "Hedge",
    "InteriorPoint",
    "LPBoost",
    "MLPBoost",
    "Method",
    "MethodComparison",
    "MethodResult",
    "RoundState",
    "SmoothBoost",
    "SmoothedMethod",
    "SoftBoost",
    "Tolerance",
    "TotalBoost",
    "compare_methods",
    "path",
    "reference",
    "solve",
    "starting_point",
]
