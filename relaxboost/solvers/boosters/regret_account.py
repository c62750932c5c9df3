"""The account of what the regret of Hedge is at most."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost._core.arrays import Vector


@dataclass
class RegretAccount:
    """What bounds the regret of d: β_{t−1} R + Σ ‖A w_s‖²/(2 β_{s−1}), norms half ranges."""

    range: float
    """R, the range of the relative entropy over the distributions that f allows."""
    beta: float
    """β_{t−1}, at which the last answer was met."""
    squares: float = 0.0
    """The sum of the squared half ranges of the answers' margins."""
    spent: float = 0.0
    """The sum of the squares, each divided by twice the β at which its answer was met."""

    def add(self, margins: Vector, beta: float) -> None:
        """Add an answer that was met at β and has these margins."""
        square = (0.5 * (float(margins.max()) - float(margins.min()))) ** 2
        self.squares += square
        self.spent += square / (2.0 * beta)
        self.beta = beta

    @property
    def bound(self) -> float:
        """The bound of the regret so far."""
        return self.beta * self.range + self.spent
