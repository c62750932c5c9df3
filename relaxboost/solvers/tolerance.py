"""How narrow a bracket is to be."""

from __future__ import annotations

import math


class Tolerance(float):
    """The gap asked for, a float; and the part of |ρ| that is enough as well.

    Parameters
    ----------
    tol : float
        Above 0.
    rtol : float
        In [0, 1).
    """

    rtol: float

    def __new__(cls, tol: float, rtol: float = 0.0) -> Tolerance:
        made = super().__new__(cls, tol)
        made.rtol = rtol
        return made

    @classmethod
    def of(cls, tol: float) -> Tolerance:
        """Return tol itself where it is one, else one without rtol."""
        return tol if isinstance(tol, cls) else cls(tol)

    def at(self, lower: float, upper: float = math.inf) -> float:
        """Return the widest gap that is narrow enough for this bracket."""
        return max(self, self.rtol * max(lower, -upper, 0.0)) if self.rtol else self
