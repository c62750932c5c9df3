"""A run that begins with a walk from the optimum of a neighbour."""

from __future__ import annotations

import numpy as np

from relaxboost._core.blas import one_blas_thread
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.matrices.bulk import PASS
from relaxboost.solvers import work
from relaxboost.solvers.boosters.corrective import active_set
from relaxboost.solvers.hypothesis import FullWeights
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.walk import Lost, Walk, form_of
from relaxboost.solvers.warm_start import WarmStart


class Walking(Booster):
    """A round at the d of the start, and one where a walk from it, or from the last one, ends.

    It ends after that. It is "lost" where no walk gets there: a basis is singular, no vertex is
    near, or the walk would take more than `budget` passes over A.
    """

    inner = "walk"

    def __init__(
        self,
        game: Game,
        clock: Clock,
        start: WarmStart,
        budget: float,
    ) -> None:
        self._game, self._clock, self._near = game, clock, start.near
        self._most = budget * PASS * work.entries(game)
        self.active = active_set(game)
        self.d = game.relaxation.center(game.m) if start.d is None else start.d
        last = None if start.relay is None else start.relay.booster
        self.walk: Walk | None = last.walk if isinstance(last, Walking) else None
        """What the next game of a path goes on with."""

    def advance(self, best: Best) -> Booster | None:
        """Walk to the optimum, where that costs less than another way is expected to."""
        game, near, walk, over = self._game, self._near, self.walk, self._game.over
        if near is None:
            return None
        assert isinstance(over, AtomicSet)
        self._near = self.walk = None
        try:
            with one_blas_thread():  # so that as many threads as there are change nothing
                if walk is None or not walk.fits(game):
                    walk = Walk(game, near, self._most)
                d, w = walk.to(game, self._clock, self._most)
        except Lost:
            self.inner = "lost"
            return None
        self.d, w = game.relaxation.repair(np.maximum(d, 0.0)), over.repair(w)
        self.active = FullWeights(over, np.arange(w.size), w, walk.margins)
        self.walk = walk
        return self


def walkable(game: Game, start: WarmStart) -> bool:
    """Whether a walk from this start is one between programs of the same form."""
    near = start.near
    return near is not None and form_of(game) is not None and form_of(near.game) is not None
