"""TotalBoost (Warmuth, Liao & Rätsch 2006): SoftBoost without a cap, for the hard margin."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost.relaxations import HardMargin
from relaxboost.solvers.boosters.softboost import SoftBoost


@dataclass(frozen=True)
class TotalBoost(SoftBoost):
    """TotalBoost: each d is the distribution nearest to the uniform one with only small edges.

    Let Γ be the smallest edge that the weak learner has returned so far, and ν the accuracy. The
    next d minimises the relative entropy to the uniform distribution, among the d at which every
    column found so far has an edge of at most Γ − ν. If there is no such d, some weights of these
    columns prove a margin of more than Γ − ν, and the run ends. `SoftBoost` is the same algorithm
    with a cap on d, and `SoftBoostRun` has the proof for both.

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
