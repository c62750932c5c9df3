"""The least cumulative loss as a game: hinge, absolute and quantile losses, and linear ones.

φ(F, y) = max of z (F − y) over a <= z <= b, a <= 0 <= b, is −min of d₊(F − y) + d₋(y − F) over
0 <= d₊ <= −a and 0 <= d₋ <= b. With the caps divided by a scale S to sum to 1 at most, and a row of
zeros that takes what is left of the simplex,

    −L(w)/S = min over d in the simplex, d <= caps, of Σ d (u + cost) = F(u)

for rows ±h_i at costs ∓y_i. Rows are divided by a power of two κ, so that entries are at most 1 and
exact, and weights are multiplied by it. L = Σ s <w, h> has rows −h_i and caps that sum to 1.
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
from relaxboost.online.comparators.cumulative import Cumulative, is_kinked
from relaxboost.online.losses import Inner, OnlineLoss
from relaxboost.relaxations import Caps, ExactForm, Relaxation, Traits, Witness
from relaxboost.relaxations.bounds import Bounds
from relaxboost.relaxations.description import Description


@dataclass(frozen=True)
class CapsWithCosts(Relaxation, Bounds, Description):
    """f(d) = <costs, d> where d_i <= c_i; its relaxed margin is that of `Caps` at u + costs."""

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
        """Return that of the caps at u + costs, rounded down, which it grows with."""
        return self.within.lower_bound(np.nextafter(u + self._costs, -np.inf), witness)

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return self._costs @ d, self.within.cvxpy_penalty(d)[1]

    def exact_form(self, m: int) -> ExactForm:
        form = self.within.exact_form(m)
        return form._replace(cost=[Fraction(c) for c in self.costs])

    def exact_caps(self, m: int) -> Any:
        return self.within.exact_caps(m)

    def exact_multipliers(self, u: Any) -> tuple[Fraction, list[Fraction]]:
        """Return the threshold at which the caps, filled from the smallest u + cost, reach 1."""
        at = [x + Fraction(c) for x, c in zip(u, self.costs, strict=True)]
        filled = Fraction(0)
        for i in sorted(range(len(at)), key=at.__getitem__):
            filled += self.within.caps[i]
            if filled >= 1:
                return at[i], []
        raise AssertionError("caps sum to one at least")

    def exact_auxiliaries(self, d: Any) -> list[Fraction]:
        return []

    def center(self, m: int) -> Vector:
        return self.within.center(m)

    def repair(self, d: Vector) -> Vector:
        return self.within.repair(d)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return <costs, d>/Σd and what moving d below the caps may add to it, rounded up."""
        _, distance = self.within.penalty_bound(d, total)
        value = sum_bounds(np.nextafter(self._costs * d, np.inf))[1]
        value = up(value / (total[0] if value >= 0.0 else total[1]))
        return up(value + up(distance * float(np.abs(self._costs).max()))), distance


def check_piecewise_linear(loss: OnlineLoss) -> None:
    """Raise an InputError for a loss whose comparator is no game."""
    if not (is_kinked(loss) or isinstance(loss, Inner)):
        raise InputError(
            f"{loss!r} is not piecewise linear, so that its comparator has no exact certificate; "
            "take hinge, absolute, quantile or inner, or rely on the bracket"
        )


class LossGame:
    """The game whose value ρ gives the least cumulative loss, −scale · ρ.

    Of a hinge, absolute or quantile loss, or `Inner`; others raise an InputError.
    """

    def __init__(self, problem: Cumulative) -> None:
        linear = isinstance(problem.loss, Inner)
        check_piecewise_linear(problem.loss)
        blocks = list(problem.replay)
        H = np.vstack([block.H for block in blocks])
        self._weight = np.concatenate([block.weight for block in blocks])
        y = np.concatenate([block.y for block in blocks])
        largest = float(np.abs(H).max())
        self._factor = Fraction(2) ** (math.frexp(largest)[1] if largest > 0.0 else 0)
        self._H = H / float(self._factor)
        over: Any = problem.over
        over = type(over)(over.radius * self._factor)
        A, f = self._linear() if linear else self._kinked(problem, y)
        self.game = Game(A, f, over=over)

    def _linear(self) -> tuple[Any, Relaxation]:
        weights = [Fraction(s) for s in self._weight.tolist()]
        self.scale = sum(weights, Fraction(0))
        self._d = np.array([float(s / self.scale) for s in weights])
        return -self._H, Caps([s / self.scale for s in weights])

    def _kinked(self, problem: Cumulative, y: Vector) -> tuple[Any, Relaxation]:
        loss = problem.pointwise
        assert loss is not None
        ends = loss.domain(y)
        assert ends is not None
        caps = np.stack([-ends[0], ends[1]])
        self._rows = [np.flatnonzero((side > 0.0) & (self._weight > 0.0)) for side in caps]
        exact = [
            Fraction(s) * Fraction(c)
            for side, rows in zip(caps, self._rows, strict=True)
            for s, c in zip(self._weight[rows].tolist(), side[rows].tolist(), strict=True)
        ]
        total = sum(exact, Fraction(0))
        self.scale = Fraction(2) ** max(0, math.ceil(math.log2(total)) + 1)
        plus, minus = self._rows
        A = np.vstack([self._H[plus], -self._H[minus], np.zeros((1, problem.M))])
        costs = np.concatenate([-y[plus], y[minus], [0.0]])
        shares = [*(c / self.scale for c in exact), Fraction(1)]
        return A, CapsWithCosts(Caps(shares), tuple(costs.tolist()))

    def distribution(self, slopes: Vector | None) -> Vector:
        """Return the d of the game for slopes z of the losses, shape (m,); None for `Inner`."""
        if slopes is None:
            return self._d
        plus, minus = self._rows
        z = self._weight * slopes / float(self.scale)
        d = np.concatenate([np.maximum(-z[plus], 0.0), np.maximum(z[minus], 0.0)])
        return np.append(d, max(0.0, 1.0 - float(d.sum())))

    def weights(self, w: Vector) -> Vector:
        """Return the w of the game for a w of the loss."""
        return w * float(self._factor)
