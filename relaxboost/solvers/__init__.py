"""Reference optima: the cvxpy pair solved by a general solver, repaired and bracketed."""

from relaxboost.solvers.external import SOLVERS
from relaxboost.solvers.pair import reference

__all__ = ["SOLVERS", "reference"]
