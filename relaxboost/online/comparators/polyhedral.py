"""Games whose values are minima of piecewise linear losses, for exact certificates.

The hinge, absolute and quantile losses of a prediction F for a target y are the maximum of z (F −
y) over slopes z in [a, b] with a <= 0 <= b. Hence such a loss is minus the minimum of d₊ (F − y) +
d₋ (y − F) over 0 <= d₊ <= −a and 0 <= d₋ <= b.

The game of the cumulative loss L(w) has two rows for each example (h, y) of weight s:

* h, with the cost −y and the cap −s a,
* −h, with the cost y and the cap s b.

The caps are divided by a number S so that they sum to less than 1. A further row of zeros has the
cost 0 and the cap 1. For the margins u of the weights w,

    −L(w)/S = min over d of Σ d (u + cost),

where d is a distribution on the rows below the caps. Therefore the minimum of L is −S times the
game value.

The rows are divided by a power of two so that entries are at most 1, and w is multiplied by it. The
inner loss L(w) = Σ s <w, h> needs one row −h for each example, and caps s/S that sum to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.rounding import sum_bounds, up
from relaxboost.game import Game
from relaxboost.online.comparators.cumulative import Cumulative, has_corners
from relaxboost.online.losses import Inner, OnlineLoss
from relaxboost.relaxations import Caps, ExactForm, Relaxation, Traits, Witness
from relaxboost.relaxations.bounds import Bounds
from relaxboost.relaxations.description import Description


@dataclass(frozen=True)
class CapsWithCosts(Relaxation, Bounds, Description):
    """The relaxation f(d) = <costs, d> for distributions whose entries are at most given caps.

    Its relaxed margin at u is that of `Caps` at u + costs. The game value gives the minimum of a
    piecewise linear loss.
    """

    family = "relaxboost.CapsWithCosts"
    per_example: ClassVar[str] = "costs"

    within: Caps
    costs: tuple[float, ...]

    def __repr__(self) -> str:
        return f"{self.within!r} with costs"

    def key(self) -> str:
        costs = ", ".join(str(Fraction(c)) for c in self.costs)
        return f"{self.family}({self.within.key()}, [{costs}])"

    @cached_property
    def _costs(self) -> Vector:
        return np.array(self.costs)

    @property
    def traits(self) -> Traits:
        return self.within.traits._replace(symmetric=False, zero_minimum=False, monotone=False)

    def penalty(self, d: Vector) -> float:
        return self.within.penalty(d) + float(self._costs @ d)

    def conjugate(self, theta: Vector) -> float:
        return self.within.conjugate(np.asarray(theta, dtype=np.float64) - self._costs)

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        return self.within.relaxed_margin(u + self._costs)

    def _distribution(self, u: Vector, beta: float) -> Vector:
        return self.within.distribution(u + self._costs, beta)

    def witness(self, u: Vector) -> Witness:
        return self.within.witness(u + self._costs)

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        # The sum u + costs is rounded down, so that the bound stays valid.
        return self.within.lower_bound(np.nextafter(u + self._costs, -np.inf), witness)

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return self._costs @ d, self.within.cvxpy_penalty(d)[1]

    def exact_form(self, m: int) -> ExactForm:
        form = self.within.exact_form(m)
        return form._replace(cost=[Fraction(c) for c in self.costs])

    def exact_caps(self, m: int) -> Any:
        return self.within.exact_caps(m)

    def exact_multipliers(self, u: Any) -> tuple[Fraction, list[Fraction]]:
        margins = [x + Fraction(c) for x, c in zip(u, self.costs, strict=True)]
        # The caps are filled from the smallest margin upwards, until they sum to 1; see `Caps`.
        filled = Fraction(0)
        for i in sorted(range(len(margins)), key=margins.__getitem__):
            filled += self.within.caps[i]
            if filled >= 1:
                return margins[i], []
        raise AssertionError("the caps must sum to at least 1")

    def exact_auxiliaries(self, d: Any) -> list[Fraction]:
        return []

    def center(self, m: int) -> Vector:
        return self.within.center(m)

    def repair(self, d: Vector) -> Vector:
        return self.within.repair(d)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        # Moving d below the caps changes the costs by at most the distance times the largest cost.
        _, distance = self.within.penalty_bound(d, total)
        value = sum_bounds(np.nextafter(self._costs * d, np.inf))[1]
        value = up(value / (total[0] if value >= 0.0 else total[1]))
        return up(value + up(distance * float(np.abs(self._costs).max()))), distance


def check_piecewise_linear(loss: OnlineLoss) -> None:
    """Raise an InputError unless the minimum of a loss is the value of a game."""
    if not (has_corners(loss) or isinstance(loss, Inner)):
        raise InputError(
            f"{loss!r} is not piecewise linear, so there is no exact certificate; "
            "use a hinge, absolute, quantile or inner loss, or rely on the bounds lower and upper"
        )


class LossGame:
    """A game whose value ρ gives the minimum cumulative loss −`scale` · ρ."""

    def __init__(self, problem: Cumulative) -> None:
        check_piecewise_linear(problem.loss)
        # All blocks are joined, because a game needs the whole matrix in memory.
        blocks = list(problem.replay)
        H = np.vstack([block.H for block in blocks])
        self._weight = np.concatenate([block.weight for block in blocks])
        y = np.concatenate([block.y for block in blocks])
        # A division by a power of two is exact, and makes all entries at most 1.
        largest = float(np.abs(H).max())
        self._factor = Fraction(2) ** (math.frexp(largest)[1] if largest > 0.0 else 0)
        self._H = H / float(self._factor)
        over: Any = problem.over
        over = type(over)(over.radius * self._factor)
        if isinstance(problem.loss, Inner):
            weights = [Fraction(s) for s in self._weight.tolist()]
            self.scale = sum(weights, Fraction(0))
            shares = [s / self.scale for s in weights]
            self._d = np.array([float(share) for share in shares])
            self.game = Game(-self._H, Caps(shares), over=over)
        else:
            self.game = Game(*self._with_corners(problem, y), over=over)

    def _with_corners(self, problem: Cumulative, y: Vector) -> tuple[Any, Relaxation]:
        loss = problem.pointwise
        assert loss is not None
        ends = loss.domain(y)
        assert ends is not None
        caps = np.stack([-ends[0], ends[1]])
        # A row with a cap of 0 gets no weight, so it is left out.
        self._rows = [np.flatnonzero((side > 0.0) & (self._weight > 0.0)) for side in caps]
        # The caps are stored as fractions, because products of doubles would be rounded.
        exact = [
            Fraction(s) * Fraction(c)
            for side, rows in zip(caps, self._rows, strict=True)
            for s, c in zip(self._weight[rows].tolist(), side[rows].tolist(), strict=True)
        ]
        total = sum(exact, Fraction(0))
        # The sum of the caps is below 1, so that the row of zeros always gets some weight.
        self.scale = Fraction(2) ** max(0, math.ceil(math.log2(total)) + 1)
        plus, minus = self._rows
        A = np.vstack([self._H[plus], -self._H[minus], np.zeros((1, problem.M))])
        costs = np.concatenate([-y[plus], y[minus], [0.0]])
        shares = [*(c / self.scale for c in exact), Fraction(1)]
        return A, CapsWithCosts(Caps(shares), tuple(costs.tolist()))

    def distribution(self, slopes: Vector | None) -> Vector:
        """Return the distribution of the game for given loss slopes, one for each example."""
        if slopes is None:
            return self._d
        # A negative slope belongs to the row h, and a positive slope to the row −h.
        plus, minus = self._rows
        z = self._weight * slopes / float(self.scale)
        # Of the two rows of an example, only one has weight.
        d = np.concatenate([np.maximum(-z[plus], 0.0), np.maximum(z[minus], 0.0)])
        return np.append(d, max(0.0, 1.0 - float(d.sum())))

    def weights(self, w: Vector) -> Vector:
        """Convert weights w of the base functions to weights of the game's hypotheses."""
        return w * float(self._factor)
