"""The corrective update of Shalev-Shwartz & Singer (2009), Fig. 1, and its faster step rules."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from relaxboost import relaxations
from relaxboost.boosters.active import ActiveSet
from relaxboost.boosters.steps import line_search, quadratic_step
from relaxboost.errors import InputError
from relaxboost.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations import Relaxation

Vector = NDArray[np.float64]

STEPS = ("fig1", "classic", "line-search", "away", "pairwise")
"""Step rules: Fig. 1's own; 2/(t + 2); exact; exact with away steps; exact and pairwise."""

_EXCHANGING = ("away", "pairwise")
_BINARY = "binary_distribution"


class Smoother(Protocol):
    """Whatever makes d_t of the margins and β: a relaxation, or one with another smoothing."""

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the d of least <d, u> + f(d) + β times a function of modulus >= 1 in l1."""
        ...


class BinaryEntropySmoother:
    """Smooths by β Σ d log d + (1 − d) log(1 − d) in place of β Σ d log d.

    Its Hessian is diagonal with 1/d_i + 1/(1 − d_i) >= 1/d_i, so that it is at least as strongly
    convex as the relative entropy: all that SS09 proves of Fig. 1 holds for it.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        own = getattr(relaxation, "binary_distribution", None)
        if own is None:
            able = [n for n in relaxations.__all__ if hasattr(vars(relaxations)[n], _BINARY)]
            raise InputError(
                f'smoothing="binary-entropy" needs a relaxation with a method {_BINARY}, and '
                f"{relaxation!r} has none; these have: {', '.join(able)}"
            )
        self.distribution = own

    @staticmethod
    def added_range(m: int) -> float:
        """Return the range of Σ (1 − d) log(1 − d) over the simplex, (m − 1) log(m/(m − 1)).

        It is 0 at the vertices and least at the uniform d, where Σ d log d is least too; so with
        the range of that, log m, it gives the range of the sum.
        """
        return (m - 1) * math.log(m / (m - 1)) if m > 1 else 0.0


class _Worst(NamedTuple):
    """The point in use with the smallest edge; slot None is w = 0."""

    slot: int | None
    edge: float
    weight: float


class Corrective:
    """w_{t+1} = (1 − η_t) w_t + η_t e_{j_t}: one column enters, all others shrink alike.

    This is Frank–Wolfe on the smoothed relaxed margin D(w) = min over d of <d, Aw> + f(d) + βh(d)
    over the l1 ball, with d_t the minimising d. ``"fig1"`` takes the paper's step. ``"classic"``
    takes 2/(t + 2) without looking, ``"line-search"`` the best step on the segment. ``"away"`` may
    instead move away from the worst column in use, ``"pairwise"`` moves weight from the worst
    column in use to the best one (Lacoste-Julien & Jaggi 2015); both search the line exactly and
    drop columns.
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
        if active is None:
            active = ActiveSet(game.matrix, store=rule in _EXCHANGING)
        self.active = active
        self.step = float("nan")
        self.d = self._relaxation.distribution(self.active.u, beta)

    def advance(self, best: Best) -> bool:
        """Move towards the column `best` and recompute d."""
        self._round += 1
        if self._rule in _EXCHANGING:
            self._exchange(best)
        else:
            self._towards(best)
        self._reweigh()
        return True

    def towards(self, best: Best) -> None:
        """Take the exact step on the segment to `best`, which gains at least what Fig. 1's does."""
        self._towards(best)
        self._reweigh()

    def _reweigh(self) -> None:
        self.d = self._relaxation.distribution(self.active.u, self._beta)

    def _towards(self, best: Best) -> None:
        active, d, beta = self.active, self.d, self._beta
        v = active.signed_column(best) - active.u
        slope = best.edge - float(d @ active.u)
        if self._rule == "fig1":
            eta = quadratic_step(slope, v, beta)
        elif self._rule == "classic":
            eta = 2.0 / (self._round + 2.0)
        else:
            eta = line_search(self._relaxation, active.u, v, beta, slope)
        slot = active.slot(best)
        active.weights[: len(active)] *= 1.0 - eta
        active.weights[slot] += eta
        self._moved(eta, v)

    def _exchange(self, best: Best) -> None:
        worst = self._worst_in_use()
        level = float(self.d @ self.active.u)
        if self._rule == "pairwise":
            self._pairwise(best, worst)
        elif best.edge - level >= level - worst.edge or worst.weight >= 1.0:
            self._towards(best)
        else:
            self._away(worst, level - worst.edge)

    def _worst_in_use(self) -> _Worst:
        active = self.active
        weights = active.weights[: len(active)]
        unused = 1.0 - float(weights.sum())
        zero = _Worst(None, 0.0, unused)
        if not weights.any():
            return zero
        edges = np.where(weights > 0.0, active.edges(self.d), np.inf)
        slot = int(np.argmin(edges))
        if unused > 1e-12 and edges[slot] >= 0.0:
            return zero
        return _Worst(slot, float(edges[slot]), float(weights[slot]))

    def _pairwise(self, best: Best, worst: _Worst) -> None:
        active = self.active
        slot = active.slot(best)
        v = active.columns[:, slot].astype(np.float64)
        if worst.slot is not None:
            v -= active.columns[:, worst.slot]
        eta = self._search(v, best.edge - worst.edge, worst.weight)
        active.weights[slot] += eta
        if worst.slot is not None:
            active.weights[worst.slot] = 0.0 if eta == worst.weight else worst.weight - eta
        self._moved(eta, v)

    def _away(self, worst: _Worst, slope: float) -> None:
        active = self.active
        v = active.u.copy()
        if worst.slot is not None:
            v -= active.columns[:, worst.slot]
        longest = worst.weight / (1.0 - worst.weight)
        eta = self._search(v, slope, longest)
        active.weights[: len(active)] *= 1.0 + eta
        if worst.slot is not None:
            left = active.weights[worst.slot] - eta
            active.weights[worst.slot] = 0.0 if eta == longest else max(0.0, left)
        self._moved(eta, v)

    def _search(self, v: Vector, slope: float, longest: float) -> float:
        return line_search(self._relaxation, self.active.u, v, self._beta, slope, longest)

    def _moved(self, eta: float, v: Vector) -> None:
        self.active.u = self.active.u + eta * v
        self.step = eta
