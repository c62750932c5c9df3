"""`solve` and its methods, and `reference`, which asks general solvers.

Read `solve` first, then `rounds` (what every method shares), `portfolio` (which methods the default
runs, in which order) and the file of the method that you care about: `boosters/` has one file for
each published algorithm, `interior_point/` the workhorse.
"""

from relaxboost.solvers.automatic import Automatic
from relaxboost.solvers.boosters.adaboost import ADABOOST_STEPS, AdaBoost, AdaBoostStar
from relaxboost.solvers.boosters.corrective import STEPS, Corrective
from relaxboost.solvers.boosters.erlpboost import ERLPBoost
from relaxboost.solvers.boosters.fully_corrective import FullyCorrective
from relaxboost.solvers.boosters.lpboost import LPBoost
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
    "InteriorPoint",
    "LPBoost",
    "Method",
    "RoundState",
    "SmoothedMethod",
    "Tolerance",
    "path",
    "reference",
    "solve",
]
