"""`solve`, its methods, one file each, and `reference`, which asks general solvers.

`boosters` has the boosters of the literature under their names, and `comparison` runs several.

`method` and `rounds` are what all methods share, `starts` and `checkpoints` where runs begin. The w
of a run is in `active`, or `dense`; `smoothing` and `steps` make the next. `master` is the linear
program of a few columns, `walk` the way between neighbouring games, in a `tableau` by `pivots`.
`interior` and `strings` are packages of a method each.
"""

from relaxboost.solvers.auto import Automatic
from relaxboost.solvers.boosters.adaboost import ADABOOST_STEPS, AdaBoost
from relaxboost.solvers.boosters.adaboost_star import AdaBoostStar
from relaxboost.solvers.boosters.corrective import STEPS, Corrective
from relaxboost.solvers.boosters.hedge import Hedge
from relaxboost.solvers.boosters.mlpboost import FRANK_WOLFE_STEPS, MLPBoost
from relaxboost.solvers.boosters.smoothboost import SmoothBoost
from relaxboost.solvers.boosters.softboost import SoftBoost
from relaxboost.solvers.boosters.totalboost import TotalBoost
from relaxboost.solvers.boosters.totally_corrective import TotallyCorrective
from relaxboost.solvers.combined import Combined
from relaxboost.solvers.comparison import MethodComparison, MethodResult, compare_methods
from relaxboost.solvers.external import SOLVERS
from relaxboost.solvers.interior_point.method import InteriorPoint
from relaxboost.solvers.method import METHODS, Method, SmoothedMethod
from relaxboost.solvers.path import path
from relaxboost.solvers.reference import reference
from relaxboost.solvers.rounds import Booster, RoundState
from relaxboost.solvers.solve import solve
from relaxboost.solvers.strings import TautStrings

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
    "Combined",
    "Corrective",
    "Hedge",
    "InteriorPoint",
    "MLPBoost",
    "Method",
    "MethodComparison",
    "MethodResult",
    "RoundState",
    "SmoothBoost",
    "SmoothedMethod",
    "SoftBoost",
    "TautStrings",
    "TotalBoost",
    "TotallyCorrective",
    "compare_methods",
    "path",
    "reference",
    "solve",
]
