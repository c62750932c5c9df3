"""Corrective rounds of one thread over dense matrices, several in one compiled call.

Between two passes over a matrix Python takes long, since a pass leaves nothing of it in the cache.
`CorrectiveRun` and `line_search` are the slow twins, whose rounds these are to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.compiled import njit
from relaxboost.game.domains import L1Ball
from relaxboost.game.game import Game
from relaxboost.matrices import Best, DenseMatrix
from relaxboost.matrices.base import best_of
from relaxboost.matrices.kernels import apart, dots, first_largest, least
from relaxboost.relaxations import Capped, HardMargin
from relaxboost.relaxations._projections import CappedFollower, MeanFollower
from relaxboost.relaxations._projections.following import average, follow, stretch
from relaxboost.solvers.hypothesis import ActiveSet, worst_in_use

_MOST, _BYTES = 16, 300_000_000
"""Rounds of a call at most, and the bytes that they read at most, an entry being as much work as
three: limits wait for its end."""
_LOOKS = 60
"""Points of a line that a search looks at: where it takes more, `line_search` goes on instead."""


@njit(error_model="numpy")
def _search(
    v: Vector,
    size: float,
    aims: tuple[float, float, float, float],
    rule: tuple[float, float, float],
    u: Vector,
    there: Vector,
    d: Vector,
) -> tuple[float, float, float]:
    """Set the margins and the d that `line_search` finds; return step, level and <d, u>.

    `size` is ‖v‖_inf; `aims` are slope, longest step, stretch and accuracy, inf for the step of
    Fig. 1; `rule` is β, k and the level, which is nan in the end where it does not find one.
    """
    (slope, longest, times, accuracy), (beta, k, level) = aims, rule
    bend = size * size
    shortest = longest if bend == 0.0 else min(longest, max(beta * slope / bend, 1e-300))
    eta, aim, side, closing = min(longest, times * shortest), 0.5 * accuracy * slope, 0, False
    left, at_left, right, at_right = 0.0, slope - aim, math.inf, -math.inf
    for _ in range(_LOOKS):
        level, rise, product = follow(u, v, eta, (beta, k, level), there, d)
        value = rise - aim
        growing = value > 0.0 and not closing
        ended = eta >= longest if growing else eta == shortest and value < 0.0
        if abs(value) <= aim or ended or math.isnan(level):
            return eta, level, product
        if growing:
            secant = eta + value * (eta - left) / max(at_left - value, 1e-300)
            left, at_left = eta, value
            eta = min(longest, max(2.0 * left, min(1.2 * secant, 16.0 * left)))
            continue
        if value > 0.0:
            left, at_left = eta, value
            at_right, side = at_right / 2 if side == 1 else at_right, 1
        else:
            right, at_right = eta, value
            at_left, side = at_left / 2 if side == -1 else at_left, -1 if closing else 0
            closing = True
        eta = max(right - at_right * (right - left) / (at_right - at_left), shortest)
    return eta, math.nan, 0.0


@njit(error_model="numpy")
def _worst(
    atoms: tuple[Whole, Vector, Vector], edges: Vector, scale: float
) -> tuple[int, float, float]:
    """Return the `worst_in_use` of atoms, given the edges of all columns."""
    (numbers, signs, weights), own = atoms, np.empty(atoms[0].shape[0])
    for slot in range(own.shape[0]):
        own[slot] = signs[slot] * edges[numbers[slot]]
    return worst_in_use(weights, own, scale, True)


@njit(error_model="numpy")
def _exchange(
    atoms: tuple[Whole, Vector, Vector], atom: tuple[int, float], worst: int, eta: float
) -> None:
    """Move weight to an atom, which takes the first slot without a sign where it has none."""
    (numbers, signs, weights), slot = atoms, 0
    while signs[slot] != 0.0 and (numbers[slot] != atom[0] or signs[slot] != atom[1]):
        slot += 1
    numbers[slot], signs[slot] = atom
    weights[slot] += eta
    if worst >= 0:
        weights[worst] -= eta


@njit(error_model="numpy")
def _rounds(
    A: NDArray[Any],
    start: tuple[Vector, Vector, float, Vector],
    atoms: tuple[Whole, Vector, Vector],
    steps: tuple[float, float],
    rule: tuple[float, float, float],
    mean: tuple[int, float, float],
    out: tuple[Array, Array, Array],
) -> tuple[int, float, tuple[int, float, float]]:
    """Take rounds from `start`, u, d, <d, u> and edges; return how many, the level and the mean.

    `atoms` are numbers, signs and weights; `steps` the scale and the accuracy; `rule` is as in
    `_search`, and `mean` is what a `MeanFollower` knows. Each round sets its row of `out`: margins,
    d, and what else is in a `RoundAhead`, in that order. `edges` and `atoms` become those after the
    last one.
    """
    (margins, ds, told), (scale, accuracy), (beta, k, level) = out, steps, rule
    (u, d, product, edges), (rank, gamma, width) = start, mean
    (j, edge), v = first_largest(edges), np.empty(u.shape[0])
    for r in range(told.shape[0]):
        worst, sign, times = -1, -1.0 if edge < 0.0 else 1.0, 1.0
        if accuracy == math.inf:
            size = apart(A[:, j], sign * scale, u, 1.0, v)
            slope, longest = scale * abs(edge) - product, 1.0
        else:
            worst, low, longest = _worst(atoms, edges, scale)
            i, turn = (j, 0.0) if worst < 0 else (atoms[0][worst], atoms[1][worst])
            size = apart(A[:, j], sign, A[:, i], turn, v)
            slope, times = abs(edge) - low, stretch(d, v, size, k, accuracy)
        if not beta * slope > 0.0:
            return r, level, (rank, gamma, width)
        aims, rule = (slope, longest, times, accuracy), (beta, k, level)
        there, d = margins[r], ds[r]
        eta, level, product = _search(v, size, aims, rule, u, there, d)
        if math.isnan(level):
            return r, level, (rank, gamma, width)
        if accuracy < math.inf:
            _exchange(atoms, (j, sign), worst, eta)
        u = there
        value = 0.0 if rank else least(u)  # before the pass, which u does not outlive in a cache
        if rank:
            value, gamma, width = average(u, rank, k, gamma, width)
        edges[:] = dots(A, A.shape[1], d)
        j, edge = first_largest(edges)
        told[r] = (eta, float(worst), product, value, float(j), edge)
    return told.shape[0], level, (rank, gamma, width)


class RoundAhead(NamedTuple):
    """A round that was made ahead."""

    u: Vector
    d: Vector
    eta: float
    """The step to it."""
    worst: int | None
    """The slot that lost weight, None for w = 0."""
    product: float
    """<d, u>."""
    value: float
    """F(u); f(d) is 0 for hard and soft margins."""
    answer: Best


class Ahead:
    """What the next rounds will be: half as many as there were, since runs may end soon."""

    def __init__(
        self, A: NDArray[Any], steps: tuple[float, float], project: CappedFollower, rank: int
    ) -> None:
        self._A, self._steps, self._project = A, steps, project
        self._mean = rank, math.nan, 0.0
        self._made: Iterator[RoundAhead] = iter(())
        self._edges: Vector | None = None
        """Those at the d of the last round that was made."""
        self.most = min(_MOST, _BYTES // (A.nbytes + 3 * A.size))
        """Rounds of a call at most: by less than two nothing is won."""
        self._so_far = 0

    def after(self, active: ActiveSet, d: Vector, best: Best) -> RoundAhead | None:
        """Return the round after that at d with the answer `best`; None where it is not had."""
        following = next(self._made, None)
        if following is None:
            active.gap(d, best)  # which leaves <d, u>
            self._made = self._rounds(active, d)
            following = next(self._made, None)
        return following

    def _rounds(self, active: ActiveSet, d: Vector) -> Iterator[RoundAhead]:
        """Make some rounds, once the first is asked for."""
        A, project, many = self._A, self._project, min(1 + self._so_far // 2, self.most)
        if self._edges is None:
            self._edges = dots(A, A.shape[1], d)
        size, atoms = (many, d.size), active.with_room(many)
        margins, ds, told = np.empty(size), np.empty(size), np.empty((many, 6))
        rule = project.beta, project.k, project.level
        start = active.u, d, active.product[2], self._edges
        made, project.level, self._mean = _rounds(
            A, start, atoms, self._steps, rule, self._mean, (margins, ds, told)
        )
        self._so_far += made
        rows = zip(margins, ds, told[:made].tolist(), strict=False)
        for u, d, (eta, worst, product, value, j, edge) in rows:
            slot = None if worst < 0 else int(worst)
            yield RoundAhead(u, d, eta, slot, product, value, best_of(int(j), edge))


def ahead(game: Game, project: Any, accuracy: float) -> Ahead | None:
    """Return an `Ahead`; None where a part of the run is not one that it is written for."""
    matrix, over, relaxation = game.matrix, game.over, game.relaxation
    A = matrix.unshared if isinstance(matrix, DenseMatrix) else None
    if A is None or type(over) is not L1Ball or type(project) is not CappedFollower:
        return None
    value = relaxation.valuer()
    rank = value.rank if isinstance(value, MeanFollower) else 0 if value is least else None
    if type(relaxation) not in (HardMargin, Capped) or rank is None:
        return None
    found = Ahead(A, (over.scale, accuracy), project, rank)
    return found if found.most > 1 else None
