"""The names that each file of claims imports, such as `Matrix` and `at_most`."""

from collections.abc import Iterator
from typing import TypeAlias

from relaxboost._core.arrays import Array
from relaxboost.claims.arrays import Distribution, Matrix, Vector, Weights
from relaxboost.claims.fields import Choice, Real, Whole
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import Bracket, Slack, assume, at_least, at_most, equal
from relaxboost.claims.record import AMBIGUOUS, ILLEGIBLE, MISPRINT, OPEN, Enumeration, WorstCases
from relaxboost.claims.sides import Exact, exactly, near, solve, solved
from relaxboost.claims.spaces import Space

__all__ = ["Choice", "Distribution", "Matrix", "Real", "Space", "Vector", "Weights", "Whole"]
__all__ += ["Array", "Bracket", "Enumeration", "Instance", "Slack", "Slacks", "WorstCases"]
__all__ += ["assume", "at_least", "at_most", "equal"]
__all__ += ["Exact", "exactly", "near", "solve", "solved"]
__all__ += ["AMBIGUOUS", "ILLEGIBLE", "MISPRINT", "OPEN"]

Slacks: TypeAlias = Iterator[Slack]
"""The result of a check that measures several inequalities."""
