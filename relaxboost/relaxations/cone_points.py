"""Upper bounds on f at points that its cone program allows, without a solver.

f(d) = min over z of cost·x + x·P x/2 + constant, x = (d, z), subject to rows @ x + s = right with s
in cones. Whatever z is, f(d) is at most the objective at (d, z) if the slacks lie in the cones. An
interior point method ends with such a z; only its equations are met up to the roundings of many
steps, and a correction in proportion to the entries takes these out.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations.cone_form import ConeForm

_ROUNDINGS = 8.0 * UNIT
"""By how much of the size of its terms an inequality may be broken."""
_EQUAL = 1e-13
"""By how much of one and the size of its terms an equation may be broken."""
_CORRECTIONS = 3


class ConePoints:
    """The points that the cone program of one f allows.

    Parameters
    ----------
    form : ConeForm
        Without matrix and power cones.
    m : int
        How many of its variables are d.
    """

    def __init__(self, form: ConeForm, m: int) -> None:
        from scipy import sparse

        self._form, self._m = form, m
        self._sizes = abs(form.rows).tocsr()
        whole = sparse.csr_array((np.arange(form.cost.size) < m)[None, :] * 1.0)
        self._equations = sparse.csr_array(sparse.vstack([whole, form.rows[: form.zero]]))
        self._equal = np.append(1.0, form.right[: form.zero])

    def near(self, point: Vector) -> tuple[Vector, float] | None:
        """Return a d of the simplex near that of `point` and a number not below f(d).

        None if the point breaks a constraint by more than roundings.
        """
        if point.shape != self._form.cost.shape or not np.isfinite(point).all():
            return None
        x = self._corrected(point)
        if x is None or not self._holds(x):
            return None
        form = self._form
        bent = form.quadratic @ x
        terms = [*(form.cost * x).tolist(), *(0.5 * bent * x).tolist(), form.constant]
        return x[: self._m], math.fsum(terms) + _ROUNDINGS * float(np.abs(terms).sum())

    def _corrected(self, x: Vector) -> Vector | None:
        """Return x moved onto the equations, entries in proportion to their size."""
        from scipy import sparse
        from scipy.sparse.linalg import splu

        x = np.append(np.maximum(x[: self._m], 0.0), x[self._m :])
        sizes = np.abs(x)
        sizes[self._m :] += 1.0
        rows = self._equations
        moves = rows @ sparse.diags_array(sizes) @ rows.T
        ridge = sparse.diags_array(_EQUAL * moves.diagonal() + 1e-300)
        try:
            factor = splu(
                sparse.csc_array(moves + ridge), "MMD_AT_PLUS_A", options={"SymmetricMode": True}
            )
        except RuntimeError:  # SciPy's: an equation has no entry that may move
            return None
        for _ in range(_CORRECTIONS):
            x = x + sizes * (rows.T @ factor.solve(self._equal - rows @ x))
        return x if x[: self._m].min() >= 0.0 else None

    def _holds(self, x: Vector) -> bool:
        """Return whether the slacks lie in their cones, up to roundings of their terms."""
        form = self._form
        slack, size = form.right - form.rows @ x, np.abs(form.right) + self._sizes @ np.abs(x)
        zero, half = form.zero, form.zero + form.half
        if (np.abs(slack[:zero]) > _EQUAL * (1.0 + size[:zero])).any():
            return False
        if (slack[zero:half] < -_ROUNDINGS * size[zero:half]).any():
            return False
        for rows, k in form.second_order():
            s, large = slack[rows].reshape(-1, k), size[rows].reshape(-1, k).max(axis=1)
            if (np.linalg.norm(s[:, 1:], axis=1) > s[:, 0] + _ROUNDINGS * large).any():
                return False
        first = half + sum(form.second)
        a, b, c = slack[first : first + 3 * form.exponential].reshape(-1, 3).T
        large = size[first : first + 3 * form.exponential].reshape(-1, 3).max(axis=1, initial=0.0)
        with np.errstate(all="ignore"):
            over = np.where(b > 0.0, b * np.exp(a / b) - c, np.inf)
        return not (over > _ROUNDINGS * large).any()
