"""TotalBoost (Warmuth, Liao & Rätsch 2006), which is SoftBoost for the hard margin."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost.relaxations import HardMargin
from relaxboost.solvers.boosters.softboost import SoftBoost


@dataclass(frozen=True)
class TotalBoost(SoftBoost):
    """TotalBoost, which takes the distribution with small edges that is nearest to the uniform one.

    The next distribution d over the examples minimises the relative entropy to the uniform
    distribution. The constraint is that the edge of every column so far is at most a level, which
    is the smallest edge that the weak learner has returned, minus the accuracy ν. If no d meets
    the constraint, some weights w on the columns so far have a margin above the level, so the gap
    is at most ν and the run ends. `SoftBoost` is the same method with a cap on d, and
    `SoftBoostRun` proves the bound on the rounds of both.

    Parameters
    ----------
    projection_accuracy : float
        The accuracy of a projection as a fraction of ν, as in `SoftBoost`.

    References
    ----------
    Warmuth, Liao & Rätsch (2006), Totally corrective boosting algorithms that maximize the margin,
    ICML 23. The paper proves the bound of 2 ln(m)/ν² rounds for m examples.

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
