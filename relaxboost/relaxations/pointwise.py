"""What cvxpy evaluates of f, without a solver."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations.dcp import difference

_PROBES = 4
"""The number of points a few roundings away at which f is evaluated, too."""
_CANCELLED = 4.0
"""How many times the spread of f over these points is charged, since its terms may cancel."""
_TOLERANCE = 1e-9
"""By how much f(d) may break a constraint and still be called finite."""
_EQUAL = 1e-13
"""By how much rounding breaks an equality, relative to one and the size of its sides."""


class Pointwise:
    """A convex function of a cvxpy variable d, and perhaps of auxiliary variables.

    Parameters
    ----------
    d : cvxpy variable of shape (m,)
    value : cvxpy expression
    constraints : list of cvxpy constraints
    """

    def __init__(self, d: Any, value: Any, constraints: list[Any]) -> None:
        self.d = d
        self.value = value
        self.constraints = constraints

    @cached_property
    def atoms(self) -> list[Any]:
        """All expressions that f and its constraints are made of."""
        todo = [self.value, *(a for c in self.constraints for a in c.args)]
        found = []
        while todo:
            found.append(todo.pop())
            todo.extend(found[-1].args)
        return found

    @cached_property
    def explicit(self) -> bool:
        """Whether cvxpy evaluates f(d) without a solver: no other variables, and no supremum."""
        from cvxpy.atoms.suppfunc import SuppFuncAtom

        auxiliary = any(v.id != self.d.id for a in self.atoms for v in a.variables())
        return not auxiliary and not any(isinstance(a, SuppFuncAtom) for a in self.atoms)

    @cached_property
    def _domain(self) -> list[Any]:
        """Where all atoms are convex functions with finite values, as constraints."""
        parts = [self.value, *(a for c in self.constraints for a in c.args)]
        return [c for part in parts for c in part.domain]

    def at(self, d: Vector) -> float:
        """Return f(d), inf if d breaks a constraint by more than 1e-9 or an atom is undefined.

        cvxpy would evaluate 1/x at negative x too, where the convex function is infinite.
        """
        self.d.value = d
        if any(np.max(c.violation(), initial=0.0) > _TOLERANCE for c in self.constraints):
            return math.inf
        if any(np.max(_outside(c), initial=0.0) > 0.0 for c in self._domain):
            return math.inf
        return self._number()

    def above(self, d: Vector) -> float:
        """Return f(d), whatever its constraints are, and what it may be off by if terms cancel."""
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (_PROBES, d.size))
        found = []
        for x in (d, *(d * (1.0 + 4.0 * UNIT * signs))):
            self.d.value = x
            found.append(self._number())
        most = max(found)
        return most if most == math.inf else most + _CANCELLED * (most - min(found))

    def is_allowed(self, d: Vector) -> bool:
        """Return whether d breaks no constraint at all, by not a single rounding."""
        self.d.value = d
        return not any(np.any(np.asarray(c.violation()) > 0.0) for c in self.constraints)

    def _number(self) -> float:
        with np.errstate(all="ignore"):  # log(0) is −inf
            number = float(np.asarray(self.value.value).item())
        return math.inf if math.isnan(number) else number


def _outside(constraint: Any) -> Any:
    """Return by how much d is outside the domain of an atom.

    An equality may be broken by rounding: a matrix made of d is symmetric only up to that.
    """
    if not isinstance(constraint, cp.constraints.Equality):
        return constraint.violation()
    sides = [np.asarray(a.value, dtype=np.float64) for a in constraint.args]
    size = sum(np.abs(side).max(initial=0.0) for side in sides)
    return np.maximum(np.abs(difference(constraint).value) - _EQUAL * (1.0 + size), 0.0)
