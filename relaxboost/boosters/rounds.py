"""The loop all boosters share: price, yield the state, update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from relaxboost.boosters.active import Combination
from relaxboost.game import Game
from relaxboost.matrices import Best
from relaxboost.outer import Dense

Vector = NDArray[np.float64]


@dataclass(slots=True)
class State:
    """A round as it stands after the weak learner has answered and before the update.

    In round 1 w is the point that runs start from, w = 0 over balls. AdaBoost's `active` is w
    scaled to the size of the ball, and follows the w that is not: ``active.norm`` is its ‖w_t‖_1,
    ``active.raw`` its margins A w_t, and ``active.log_risk`` the logarithm of the exponential risk
    (1/m) Σ exp(−(A w_t)_i); over `L1Ball(r)`, ``active.u`` is r raw / norm.
    """

    round: int
    d: Vector
    """The distribution d_t shown to the weak learner."""
    best: Best | Dense
    """Its answer: an atom, or a dense w over a Euclidean set."""
    active: Combination
    """The combined hypothesis w_t, with its margins."""
    smoothed_gap: float
    """<d_t, A(e_j − w_t)>, the quantity SS09 Fig. 1 tests, in general
    g(Aᵀd_t) + g*(w_t) − <d_t, Aw_t>; nan where d_t is not smoothed."""
    lower: float
    """F(A w_t) − g*(w_t) from the cached margins."""
    upper: float
    """f(d_t) + g(Aᵀd_t) with the slack, as computed."""
    step: float
    """The step that led to w_t; for AdaBoost η_{t−1} of the w that is not scaled."""
    inner: str
    """How d_t was made: "smoothed", "lp", "conic" or "hull"; "exponential" by AdaBoost."""


class Update(Protocol):
    """One booster: holds d_t and w_t, and moves to the next pair when told the best column."""

    @property
    def active(self) -> Combination:
        """The combined hypothesis w_t."""
        ...

    @property
    def d(self) -> Vector:
        """The distribution d_t; a new array each round."""
        ...

    @property
    def step(self) -> float:
        """The step that led to w_t; nan where there is none."""
        ...

    @property
    def inner(self) -> str:
        """How d_t is made: "smoothed", "lp", "conic", "hull" or "exponential"."""
        ...

    def advance(self, best: Any) -> bool:
        """Take the answer `best` into account; False if nothing can change any more."""
        ...


def rounds(game: Game, update: Update) -> Iterator[State]:
    """Yield a state per round, for ever or until the update cannot move.

    The state's arrays belong to the round: d is never written to again, the active set lives on.
    """
    relaxation, over = game.relaxation, game.over
    for t in count(1):
        d, active = update.d, update.active
        best = over.best(game.matrix, d)
        smoothed = update.inner == "smoothed"
        yield State(
            round=t,
            d=d,
            best=best,
            active=active,
            smoothed_gap=active.gap(d, best) if smoothed else float("nan"),
            lower=relaxation.relaxed_margin(active.u)[0] - active.cost,
            upper=relaxation.penalty(d) + over.value(best.edge + best.slack),
            step=update.step,
            inner=update.inner,
        )
        if not update.advance(best):
            return
