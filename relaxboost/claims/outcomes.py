"""What a method makes of samples: expectations, probabilities and quantiles of its excess risk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import share
from relaxboost._core.rounding import roundoff, show_bracket, sum_bounds
from relaxboost.online.learner import OnlineMethod

Output = Literal["average", "last", "uniform", "majority"]


@dataclass(frozen=True)
class Excess:
    """An expected excess risk, enclosed, beside what the theorem promises."""

    lower: float
    upper: float
    bound: float
    """Of the theorem about the method, for i.i.d. examples; inf where there is none."""
    how: str
    """What was summed or drawn, and how sure it is."""

    @property
    def ratio(self) -> float:
        """What part of the bound is used, at most."""
        return self.upper / self.bound

    def __str__(self) -> str:
        low, high = show_bracket(self.lower, self.upper)
        said = f"{self.ratio:.4f} of the bound {self.bound:.6g}"
        return (
            f"expected excess risk in [{low}, {high}] ({self.how}), "
            f"{said if self.bound < math.inf else 'without a bound'}"
        )


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What a method makes of each sample of t examples: of all, or of some that were drawn.

    Made by `Law.outcomes` and `Law.drawn`.
    """

    method: OnlineMethod
    samples: NDArray[np.integer[Any]]
    """The atoms in the order of arrival, shape (N, t)."""
    probability: Vector
    """Of each sample; 1/N where they were drawn."""
    risk: Vector
    """The expected risk of the output after each sample; for "majority", the chance of an error."""
    loss: Vector
    """Σ l_i(w_{i−1})."""
    promise: Vector
    """`Learner.regret_bound` after each sample."""
    least: tuple[float, float]
    """A bracket of the least risk over the domain; 0 for "majority"."""
    bound: float
    """`promised`."""
    rounding: float
    """A bound of what rounding did to a risk, or to a mean of risks."""
    width: float
    """A bound of the difference of two risks over the domain."""
    drawn: bool

    def chance(self, event: Any) -> float:
        """Return the probability of an event, an array of N truths."""
        return math.fsum(self.probability[np.asarray(event, dtype=bool)])

    def exceeds(self, b: float) -> tuple[float, float]:
        """Return a bracket of the probability of an excess risk above b.

        Samples so near to b that rounding, or the bracket of the least risk, hides the side they
        are on make its width.
        """
        self._enumerated()
        size = 1.0 + roundoff(2 * self.samples.shape[1] + 2)
        sure = self.chance(self.risk - self.least[1] > b + self.rounding)
        maybe = self.chance(self.risk - self.least[0] > b - self.rounding)
        return sure / size, min(1.0, maybe * size)

    def quantile(self, delta: float) -> float:
        """Return the least b, rounded up, that the excess risk exceeds with probability <= δ."""
        self._enumerated()
        order = np.argsort(-self.risk, kind="stable")
        above = np.cumsum(self.probability[order]) * (1.0 + roundoff(sum(self.samples.shape) + 2))
        place = int(np.searchsorted(above, share("delta", delta), side="right"))
        worst = order[min(place, len(order) - 1)]
        return float(self.risk[worst]) - self.least[0] + self.rounding

    def excess(self, confidence: float = 0.99) -> Excess:
        """Return the expected excess risk: a bracket, or where samples were drawn a band.

        Parameters
        ----------
        confidence : float
            Of the band, in (0, 1). It holds for any number of runs, not only in the limit.

        References
        ----------
        Maurer & Pontil (2009), Empirical Bernstein bounds and sample variance penalization, Thm 4.
        """
        runs, t = self.samples.shape
        low, high = sum_bounds(self.probability * self.risk)
        radius, how = self.rounding, f"all {runs} samples of {t}"
        if self.drawn:
            radius += self._band(1.0 - share("confidence", confidence))
            how = f"{runs} samples of {t} drawn, sure to {confidence:g} by Bernstein"
        lower = max(0.0, low - self.least[1] - radius)  # outputs are in the domain
        return Excess(lower, high - self.least[0] + radius, self.bound, how)

    def _band(self, delta: float) -> float:
        """Return how far the mean is from the expectation with probability at most δ."""
        runs = len(self.risk)
        if runs < 2:
            raise InputError("the band of Bernstein needs two runs or more")
        log = math.log(4.0 / delta)  # each side has half of δ
        spread = math.sqrt(2.0 * float(self.risk.var(ddof=1)) * log / runs)
        return spread + 7.0 * self.width * log / (3.0 * (runs - 1))

    def _enumerated(self) -> None:
        if self.drawn:
            raise InputError("probabilities need all samples; use Law.outcomes, not Law.drawn")
