"""TotalBoost (Warmuth, Liao & Rätsch 2006): SoftBoost for the hard margin."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost.relaxations import HardMargin
from relaxboost.solvers.boosters.softboost import SoftBoost


@dataclass(frozen=True)
class TotalBoost(SoftBoost):
    """TotalBoost, which projects the uniform distribution onto those with small edges.

    Let Γ be the smallest edge so far, and let ν be the accuracy. The distribution d of the next
    round minimises the relative entropy to the uniform distribution, subject to an edge of at most
    Γ − ν for every column found so far. If no d meets this constraint, some convex combination of
    these columns has a margin of at least Γ − ν, and the run ends. `SoftBoost` adds the constraint
    d_i <= 1/k for `Capped(k)`. `SoftBoostRun` has the proof of the bound on the rounds.

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
