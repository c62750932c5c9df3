"""The excess risk of an online method over samples: its mean, probabilities and quantiles."""

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
    """An interval that contains an expected excess risk, and the bound of a theorem."""

    lower: float
    upper: float
    bound: float
    """The bound of the theorem for independent examples. It is inf if no theorem applies."""
    how: str
    """A description of how the interval was computed."""

    @property
    def ratio(self) -> float:
        """The upper end of the interval, divided by the bound of the theorem."""
        return self.upper / self.bound

    def __str__(self) -> str:
        low, high = show_bracket(self.lower, self.upper)
        bound = "without a bound"
        if self.bound < math.inf:
            bound = f"{self.ratio:.4f} of the bound {self.bound:.6g}"
        return f"expected excess risk in [{low}, {high}] ({self.how}), {bound}"


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The results of a method on all samples (`Law.outcomes`) or random samples (`Law.drawn`)."""

    method: OnlineMethod
    samples: NDArray[np.integer[Any]]
    """The indices of the atoms in each sample, in the order of arrival, shape (N, t)."""
    probability: Vector
    """The probability of each sample. For random samples, it is 1/N."""
    risk: Vector
    """The expected risk after each sample. For "majority", it is the probability of an error."""
    loss: Vector
    """The cumulative loss Σ l_i(w_{i−1}) of the learner on each sample."""
    promise: Vector
    """The value of `Learner.regret_bound` after each sample."""
    least: tuple[float, float]
    """An interval that contains the least risk over the domain. For "majority", it is (0, 0)."""
    bound: float
    """The bound on the expected excess risk that the function `promised` returns."""
    rounding: float
    """An upper bound on the rounding error of a risk. It also holds for means of risks."""
    width: float
    """An upper bound on the difference between two risks over the domain."""
    drawn: bool
    """Whether the samples are random samples rather than all samples."""

    def chance(self, event: Any) -> float:
        """Return the probability of an event, given as a boolean array of shape (N,)."""
        return math.fsum(self.probability[np.asarray(event, dtype=bool)])

    def exceeds(self, b: float) -> tuple[float, float]:
        """Return an interval that contains the probability of an excess risk above b.

        Its width is the probability of the samples for which the comparison with b is undecided.
        """
        self._enumerated()
        size = 1.0 + roundoff(2 * self.samples.shape[1] + 2)
        sure = self.chance(self.risk - self.least[1] > b + self.rounding)
        maybe = self.chance(self.risk - self.least[0] > b - self.rounding)
        return sure / size, min(1.0, maybe * size)

    def quantile(self, delta: float) -> float:
        """Return a number b, rounded up, with P(excess risk > b) ≤ delta."""
        self._enumerated()
        order = np.argsort(-self.risk, kind="stable")
        above = np.cumsum(self.probability[order]) * (1.0 + roundoff(sum(self.samples.shape) + 2))
        place = int(np.searchsorted(above, share("delta", delta), side="right"))
        worst = order[min(place, len(order) - 1)]
        return float(self.risk[worst]) - self.least[0] + self.rounding

    def excess(self, confidence: float = 0.99) -> Excess:
        """Return an interval for the expected excess risk.

        For random samples, the interval is a confidence band.

        Parameters
        ----------
        confidence : float
            The confidence of the band. The band is valid for any number of samples, not only in the
            limit.

        References
        ----------
        Maurer & Pontil (2009), Empirical Bernstein bounds and sample variance penalization, Thm 4.
        """
        runs, t = self.samples.shape
        low, high = sum_bounds(self.probability * self.risk)
        radius = self.rounding
        how = f"all {runs} samples of {t}"
        if self.drawn:
            radius += self._band(1.0 - share("confidence", confidence))
            how = f"{runs} random samples of {t}, confidence {confidence:g} by Bernstein"
        # Outputs are in the domain, so no excess risk is negative.
        lower = max(0.0, low - self.least[1] - radius)
        return Excess(lower, high - self.least[0] + radius, self.bound, how)

    def _band(self, delta: float) -> float:
        """Return the half-width of the confidence band of the expected risk."""
        runs = len(self.risk)
        if runs < 2:
            raise InputError("a confidence band needs at least two samples. Increase `runs`")
        # Each of the two sides has half of δ.
        log = math.log(4.0 / delta)
        spread = math.sqrt(2.0 * float(self.risk.var(ddof=1)) * log / runs)
        return spread + 7.0 * self.width * log / (3.0 * (runs - 1))

    def _enumerated(self) -> None:
        if self.drawn:
            raise InputError(
                "probabilities and quantiles need all samples. Use Law.outcomes instead of "
                "Law.drawn"
            )
