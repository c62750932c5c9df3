"""A run that begins with a walk from the optimum of a neighbour."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relaxboost._core.blas import one_blas_thread
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.corrective import active_set
from relaxboost.solvers.hypothesis import FullWeights
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.walk import Lost, Walk, form_of
from relaxboost.solvers.warm_start import WarmStart


class Walking(Booster):
    """A round at the d of the start, and one where a walk from it, or from the last one, ends.

    Then runs what would without a walk. It is "lost" where none gets there: a basis is singular, no
    vertex is near, or it would take more than `most` seconds.
    """

    inner = "walk"

    def __init__(
        self,
        game: Game,
        clock: Clock,
        start: WarmStart,
        most: float,
        otherwise: Callable[[], Booster],
    ) -> None:
        self._game, self._clock, self._near = game, clock, start.near
        self._most, self._otherwise = most, otherwise
        self.active = active_set(game)
        self.d = game.relaxation.center(game.m) if start.d is None else start.d
        last = None if start.relay is None else start.relay.booster
        self.walk: Walk | None = last.walk if isinstance(last, Walking) else None
        """What the next game of a path goes on with."""

    def successor(self, best: Best) -> Booster | None:
        """Return what runs on, once the walk was tried."""
        return self._otherwise() if self._near is None else None

    def advance(self, best: Best) -> Booster:
        """Walk to the optimum, where that costs less than another way is expected to."""
        game, near, walk, over = self._game, self._near, self.walk, self._game.over
        assert near is not None
        assert isinstance(over, AtomicSet)
        self._near = self.walk = None
        try:
            with one_blas_thread():  # so that as many threads as there are change nothing
                if walk is None or not walk.fits(game):
                    walk = Walk(game, near, self._most)
                d, w = walk.to(game, self._clock, self._most)
        except Lost:
            self.inner = "lost"
            return self
        self.d, w = game.relaxation.repair(np.maximum(d, 0.0)), over.repair(w)
        self.active = FullWeights(over, np.arange(w.size), w, walk.margins)
        self.walk = walk
        return self


def walkable(game: Game, start: WarmStart) -> bool:
    """Whether a walk from this start is one between programs of the same form."""
    near = start.near
    return near is not None and form_of(game) is not None and form_of(near.game) is not None
