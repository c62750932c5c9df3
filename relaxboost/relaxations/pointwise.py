"""Evaluation of a relaxation by cvxpy without a solver."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations.dcp import difference


class Pointwise:
    """A convex function f(d), given as a cvxpy expression with constraints.

    If the expression contains auxiliary variables, f(d) is the minimum over them.
    """

    def __init__(self, d: Any, value: Any, constraints: list[Any]) -> None:
        self.d = d
        self.value = value
        self.constraints = constraints

    @cached_property
    def atoms(self) -> list[Any]:
        """All nodes in the cvxpy expression trees of f and its constraints."""
        todo = [self.value, *(a for c in self.constraints for a in c.args)]
        found = []
        while todo:
            found.append(todo.pop())
            todo.extend(found[-1].args)
        return found

    @cached_property
    def explicit(self) -> bool:
        """Whether cvxpy can evaluate f without a solver.

        This requires that f has no variables except d and no support functions.
        """
        from cvxpy.atoms.suppfunc import SuppFuncAtom

        auxiliary = any(v.id != self.d.id for a in self.atoms for v in a.variables())
        return not auxiliary and not any(isinstance(a, SuppFuncAtom) for a in self.atoms)

    @cached_property
    def _domain(self) -> list[Any]:
        parts = [self.value, *(a for c in self.constraints for a in c.args)]
        return [c for part in parts for c in part.domain]

    def at(self, d: Vector) -> float:
        """Return f(d), or inf if d is outside the domain or violates a constraint by over 1e-9."""
        self.d.value = d
        if any(np.max(c.violation(), initial=0.0) > 1e-9 for c in self.constraints):
            return math.inf
        # cvxpy evaluates 1/x at negative x too, where the convex function is infinite.
        if any(np.max(_outside(c), initial=0.0) > 0.0 for c in self._domain):
            return math.inf
        return self._number()

    def above(self, d: Vector) -> float:
        """Return f(d) plus an estimate of its rounding error, without checking constraints."""
        # If terms of f cancel, rounding errors in d change f by about as much as rounding errors in
        # its evaluation. Four points near d show how much.
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (4, d.size))
        found = []
        for x in (d, *(d * (1.0 + 4.0 * UNIT * signs))):
            self.d.value = x
            found.append(self._number())
        if not math.isfinite(found[0]):
            return found[0]
        # At the boundary of its domain, f is infinite at some of the points near d.
        finite = [value for value in found if math.isfinite(value)]
        return max(finite) + 4.0 * (max(finite) - min(finite))

    def is_allowed(self, d: Vector) -> bool:
        """Return whether d satisfies the constraints of f without any tolerance."""
        self.d.value = d
        return not any(np.any(np.asarray(c.violation()) > 0.0) for c in self.constraints)

    def _number(self) -> float:
        with np.errstate(all="ignore"):  # The value log(0) = −inf is allowed.
            number = float(np.asarray(self.value.value).item())
        return math.inf if math.isnan(number) else number


def _outside(constraint: Any) -> Any:
    """Return the violation of a domain condition, such as x >= 0 for log(x)."""
    if not isinstance(constraint, cp.constraints.Equality):
        return constraint.violation()
    sides = [np.asarray(a.value, dtype=np.float64) for a in constraint.args]
    size = sum(np.abs(side).max(initial=0.0) for side in sides)
    # A matrix that is computed from d is symmetric only up to rounding.
    return np.maximum(np.abs(difference(constraint).value) - 1e-13 * (1.0 + size), 0.0)
