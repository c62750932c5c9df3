"""An upper bound on the regret of Hedge. The run updates the bound in every round."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost._core.arrays import Vector


@dataclass
class RegretAccount:
    """The upper bound β_{t−1} R + Σ_s r_s²/(2 β_{s−1}) on the regret of Hedge's distributions.

    The sum runs over the hypotheses w_1, ..., w_t that the weak learner has returned (atoms of the
    domain of w, or dense weights). R is the range of the relative entropy over the distributions
    that the relaxation f allows. r_s is half of the difference between the largest and the smallest
    margin (entry of A w_s, for the game matrix A) of the hypothesis w_s. This hypothesis is the
    best response to a distribution d, and β_{s−1} is the weight of the entropy in the problem whose
    solution is d.
    """

    range: float
    """The range R of the relative entropy over the distributions that the relaxation allows."""
    beta: float
    """The weight β_{t−1} of the entropy in the problem whose solution is the last distribution d.
    """
    squares: float = 0.0
    """The sum of r_s² over the hypotheses that the weak learner has returned. The number r_s is
    half of the difference between the largest and the smallest margin of hypothesis s."""
    spent: float = 0.0
    """The sum of r_s²/(2 β_{s−1}) over the rounds s so far. In round s, the weak learner returns a
    hypothesis. The number r_s is half the range of its margins, and β_{s−1} is the weight of the
    entropy before the round."""

    def add(self, margins: Vector, beta: float) -> None:
        """Update the sums after the weak learner has returned another hypothesis.

        `margins` are the margins of the hypothesis, which is the best response to a distribution d.
        `beta` is the weight of the entropy in the problem whose solution is d.
        """
        # A constant added to all margins changes no distribution, so only the range counts.
        square = (0.5 * (float(margins.max()) - float(margins.min()))) ** 2
        self.squares += square
        self.spent += square / (2.0 * beta)
        self.beta = beta

    @property
    def bound(self) -> float:
        """The upper bound on the regret of the distributions so far."""
        return self.beta * self.range + self.spent
