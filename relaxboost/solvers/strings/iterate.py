"""Over-relaxed primal-dual steps on the cuts of every feature."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector, Whole
from relaxboost._core.compiled import thread_pool
from relaxboost.matrices.bulk import CutLevels
from relaxboost.solvers.strings.pull import Room, begin, gather, nearest, pull, room_for

_RELAXATION = 1.7
"""Steps go beyond their end by this factor, below 2: more than half as fast again as 1."""
_GROUPS = 4
"""Groups of features that threads share. The groups stay, so sums do not depend on threads."""


class _Part(NamedTuple):
    """A group of features."""

    of: tuple[Any, Any, Any]
    """Their codes, where their levels begin, and the examples of each."""
    g: Vector
    r: Vector
    sides: NDArray[np.int8]
    sums: Vector
    room: Room


class Strings:
    """Looks for d with no edge above v: all d in play against all w, of any size, that cost v.

        min over d of max over w of <d, A w> − v ‖w‖_1,  least <= d <= most, Σd = 1.

    A w is y times Σ_f g_f + o, with g_f a function of the level of feature f, of mean 0, and o a
    number (see `pull`). On the examples these are orthogonal maps, so that steps of 1/√F for F
    features converge (Chambolle & Pock 2011, J. Math. Imaging Vis. 40, Alg. 1; over-relaxed,
    Condat 2013, J. Optim. Theory Appl. 158). Their number hardly rises with m.

    Where v is above the value of the game, d ends without an edge above v, and w at 0. Where it is
    below, w grows without end, soon in a direction whose margin is nearly the value (Applegate,
    Díaz, Lu & Lubin 2024, SIAM J. Optim. 34).

    Parameters
    ----------
    levels : CutLevels
    least, most : arrays of shape (m,)
        The bounds of d.
    d : array of shape (m,)
        Where to start.
    """

    def __init__(self, levels: CutLevels, least: Vector, most: Vector, d: Vector) -> None:
        codes, cuts, self._signs = levels
        features = len(codes)
        self._offsets = cuts + np.arange(features + 1)
        self._least, self._most = least, most
        self._codes = codes
        cuts_of_groups = np.unique(np.linspace(0, features, _GROUPS + 1).astype(int)).tolist()
        self._groups = list(pairwise(cuts_of_groups))
        self._counts = np.concatenate(
            [
                np.bincount(code, minlength=levels).astype(np.uint32)
                for code, levels in zip(codes, np.diff(self._offsets), strict=True)
            ]
        )
        self._step = 1.0 / np.sqrt(features)
        self.begin(d)
        self._sums = np.empty((len(self._groups), d.size))
        self._strings = np.empty(self._counts.size)
        self._sides = np.zeros(self._counts.size, dtype=np.int8)
        self._rooms = [room_for(self._offsets) for _ in self._groups]
        self.restart()

    def begin(self, d: Vector) -> None:
        """Begin at a point, within the bounds of d."""
        self.d = d
        """The last point that steps ended at, beyond which they went: within the bounds of d."""
        self._beyond, self._shift = d, 0.0

    def restart(self) -> None:
        """Begin with w = 0 again."""
        self._g, self._o, self._start = np.zeros(self._counts.size), 0.0, 0.0
        self._Ku = np.zeros(self.d.size)

    @property
    def size(self) -> float:
        """A measure of w that grows where v is below the value."""
        return float(np.abs(self._Ku).max())

    def step(self, v: float) -> None:
        """Take a step."""
        sigma, tube = self._step, 0.5 * self._step * v
        aim = self._beyond - self._step * (self._signs * self._Ku)
        self._shift = float(nearest(aim, self._least, self._most, self._shift))
        self.d = np.clip(aim - self._shift, self._least, self._most)
        s = self._signs * (2.0 * self.d - self._beyond)
        mean = float(s.mean())
        s -= mean
        self._each(lambda part: gather(*part.of, part.g, s, sigma, part.r))
        features = len(self._codes)
        o = self._o + features * sigma * mean
        everything = self._counts, self._strings, self._offsets
        self._start = begin(*everything, tube, s.size, o, self._start)
        steps = self._start, tube, _RELAXATION
        self._each(lambda part: pull(part.of, part.r, part.g, steps, *part[3:]))
        o += 2.0 * features * self._start / s.size
        self._Ku += _RELAXATION * (self._sums.sum(axis=0) + o - self._Ku)
        self._o += _RELAXATION * (o - self._o)
        self._beyond = self._beyond + _RELAXATION * (self.d - self._beyond)

    def _each(self, call: Callable[[_Part], None]) -> None:
        """Call with each group of features, in threads."""
        parts = []
        for k, (first, last) in enumerate(self._groups):
            levels = slice(int(self._offsets[first]), int(self._offsets[last]))
            offsets = self._offsets[first : last + 1] - levels.start
            of = self._codes[first:last], offsets, self._counts[levels]
            by_level = self._g[levels], self._strings[levels], self._sides[levels]
            parts.append(_Part(of, *by_level, self._sums[k], self._rooms[k]))
        pool, threads = thread_pool()
        list((pool.map if threads > 1 else map)(call, parts))

    def weights(self) -> tuple[Whole, Vector]:
        """Return the cuts at which the last strings bend, and their weights."""
        jumps = 0.5 * np.diff(self._strings)
        jumps[self._offsets[1:-1] - 1] = 0.0  # from a feature to the next
        place = np.flatnonzero(jumps)
        jumps = jumps[place]
        for f, (a, b) in enumerate(pairwise(np.searchsorted(place, self._offsets))):
            place[a:b] -= f  # a feature has a level more than it has cuts
        return place, jumps
