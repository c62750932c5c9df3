"""TotalBoost (Warmuth, Liao & Rätsch 2006): SoftBoost without a cap, for the hard margin."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost.relaxations import HardMargin
from relaxboost.solvers.boosters.softboost import SoftBoost


@dataclass(frozen=True)
class TotalBoost(SoftBoost):
    """TotalBoost: the distribution nearest to the uniform one whose edges are all small.

    d_{t+1} minimises the relative entropy to the uniform distribution among the d whose edge is at
    most min over r <= t of γ_r − ν for every column so far. If there is no such d, the weights of
    the columns so far prove a margin of more than min γ − ν, and the run ends. `SoftBoost` is the
    same with a cap on d; `SoftBoostRun` shows how both work and why they end.

    References
    ----------
    Warmuth, Liao & Rätsch (2006), Totally corrective boosting algorithms that maximize the margin,
    ICML 23: 2 ln(m)/ν² rounds.

    Examples
    --------
    >>> import relaxboost as rb
    >>> solution = rb.solve(rb.Game([[1, -1], [0.5, 1]]), 0.1, "totalboost")
    >>> solution.gap <= 0.1 and solution.rounds <= solution.bound
    True
    """

    name = "totalboost"
    accepts = (HardMargin,)
    purpose = "maximises the hard margin"
