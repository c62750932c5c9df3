"""The corrective update of Shalev-Shwartz & Singer (2009), Fig. 1, and its faster step rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost.boosters.active import ActiveSet, Combination
from relaxboost.boosters.dense import DensePoint
from relaxboost.boosters.smoothing import Smoother
from relaxboost.boosters.steps import Step, line_search, quadratic_step
from relaxboost.game import Game
from relaxboost.matrices import Best
from relaxboost.outer import AtomicSet, Dense
from relaxboost.outer.euclidean import EuclideanSet

Vector = NDArray[np.float64]

STEPS = ("fig1", "classic", "line-search", "away", "pairwise")
"""Step rules: Fig. 1's own; 2/(t + 2); exact; exact with away steps; exact and pairwise."""

EXCHANGING = ("away", "pairwise")
"""The rules that take weight from single atoms, and so need an outer set that has some."""


class _Worst(NamedTuple):
    """The atom in use with the smallest edge; slot None is w = 0."""

    slot: int | None
    edge: float
    """Of the unit atom."""
    weight: float


class Corrective:
    """w_{t+1} = (1 − η_t) w_t + η_t e_{j_t}: one column enters, all others shrink alike.

    This is Frank–Wolfe on the smoothed relaxed margin D(w) = min over d of <d, Aw> + f(d) + βh(d)
    over the l1 ball, with d_t the minimising d. ``"fig1"`` takes the paper's step. ``"classic"``
    takes 2/(t + 2) without looking, ``"line-search"`` the best step on the segment. ``"away"`` may
    instead move away from the worst column in use, ``"pairwise"`` moves weight from the worst
    column in use to the best one (Lacoste-Julien & Jaggi 2015); both search the line exactly and
    drop columns.

    Over other outer sets e_j is the answer to d_t: an atom of another size, or a dense w. With a
    penalty g* on w this is the generalised conditional gradient method: the answer maximises
    <Aᵀd_t, w> − g*(w), and steps are taken on D − g*, exactly where a line is searched.
    """

    inner = "smoothed"

    def __init__(
        self,
        game: Game,
        beta: float,
        rule: str,
        active: ActiveSet | None = None,
        smoother: Smoother | None = None,
    ) -> None:
        self._relaxation = game.relaxation if smoother is None else smoother
        self._beta = beta
        self._rule = rule
        self._round = 0
        self.active: Combination
        if active is not None:
            self.active = active
        elif isinstance(game.over, AtomicSet):
            self.active = active_set(game, store=rule in EXCHANGING)
        else:
            assert isinstance(game.over, EuclideanSet)
            self.active = DensePoint(game.matrix, game.over)
        self.step = float("nan")
        self._found = Step(float("nan"))
        self._stretches: dict[str, float] = {}
        self.d = self._relaxation.distribution(self.active.u, beta)

    def advance(self, best: Best | Dense) -> bool:
        """Move towards the answer `best` and recompute d."""
        self._round += 1
        if self._rule in EXCHANGING:
            assert isinstance(best, Best)
            self._exchange(best)
        else:
            self._towards(best)
        self._reweigh()
        return True

    def towards(self, best: Best | Dense) -> None:
        """Take the exact step on the segment to `best`, which gains at least what Fig. 1's does."""
        self._towards(best)
        self._reweigh()

    def _reweigh(self) -> None:
        """Set d to that of the present margins, where the line search has not met it."""
        d, self._found = self._found.d, Step(float("nan"))
        self.d = self._relaxation.distribution(self.active.u, self._beta) if d is None else d

    def _towards(self, best: Best | Dense) -> None:
        active, beta = self.active, self._beta
        v = active.direction(best)
        bend = active.bend(best)
        # For g* = a η + b η²/2 along the way, the gap is the slope at 0 less b/2.
        slope = active.gap(self.d, best) + 0.5 * bend[1]
        if self._rule == "fig1":
            eta = quadratic_step(slope, v, beta, curvature=bend[1])
        elif self._rule == "classic":
            eta = 2.0 / (self._round + 2.0)
        else:
            eta = self._search("towards", v, slope, bend=bend)
        active.move(best, eta, v)
        self.step = eta

    @property
    def _atoms(self) -> ActiveSet:
        assert isinstance(self.active, ActiveSet)
        return self.active

    def _exchange(self, best: Best) -> None:
        worst = self._worst_in_use()
        scale = self._atoms.over.scale
        if self._rule == "pairwise":
            self._pairwise(best, worst)
            return
        away = float(self.d @ self.active.u) - scale * worst.edge
        if self._atoms.gap(self.d, best) >= away or worst.weight >= scale:
            self._towards(best)
        else:
            self._away(worst, away)

    def _worst_in_use(self) -> _Worst:
        active = self._atoms
        weights = active.weights[: len(active)]
        unused = active.over.scale - float(weights.sum())
        zero = _Worst(None, 0.0, unused)
        if not weights.any():
            return zero
        edges = np.where(weights > 0.0, active.edges(self.d), np.inf)
        slot = int(np.argmin(edges))
        if active.over.holds_zero and unused > 1e-12 * active.over.scale and edges[slot] >= 0.0:
            return zero
        return _Worst(slot, float(edges[slot]), float(weights[slot]))

    def _pairwise(self, best: Best, worst: _Worst) -> None:
        active = self._atoms
        slot = active.slot(best)
        v = active.columns[:, slot].astype(np.float64)
        if worst.slot is not None:
            v -= active.columns[:, worst.slot]
        eta = self._search("pairwise", v, best.edge - worst.edge, worst.weight)
        active.weights[slot] += eta
        if worst.slot is not None:
            active.weights[worst.slot] = 0.0 if eta == worst.weight else worst.weight - eta
        self._moved(eta, v)

    def _away(self, worst: _Worst, slope: float) -> None:
        active, scale = self._atoms, self._atoms.over.scale
        v = active.u.copy()
        if worst.slot is not None:
            v -= scale * active.columns[:, worst.slot]
        longest = worst.weight / (scale - worst.weight)
        eta = self._search("away", v, slope, longest)
        active.weights[: len(active)] *= 1.0 + eta
        if worst.slot is not None:
            left = active.weights[worst.slot] - eta * scale
            active.weights[worst.slot] = 0.0 if eta == longest else max(0.0, left)
        self._moved(eta, v)

    def _search(
        self,
        kind: str,
        v: Vector,
        slope: float,
        longest: float = 1.0,
        bend: tuple[float, float] = (0.0, 0.0),
    ) -> float:
        """Return the best step, looked for where the last one of its kind was."""
        stretch = self._stretches.get(kind, 1.0)
        given = self._relaxation, self.active.u, v, self._beta, slope, longest
        self._found = line_search(*given, bend=bend, stretch=stretch)
        if self._found.stretch is not None:
            self._stretches[kind] = self._found.stretch
        return self._found.eta

    def _moved(self, eta: float, v: Vector) -> None:
        self.active.u = self.active.u + eta * v
        self.step = eta


def active_set(game: Game, store: bool) -> ActiveSet:
    """Return the point that runs start from, for a game over a set with atoms."""
    assert isinstance(game.over, AtomicSet)
    return ActiveSet(game.matrix, game.over, game.relaxation.center(game.m), store)
