"""A run of taut strings: its rounds, and the edges that they aim at."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.hypothesis import FullWeights
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.strings.iterate import Strings
from relaxboost.solvers.warm_start import WarmStart

_STEPS, _FEW = 25, 8
"""Steps of a round, and of a short one. The first is short: at v = 0 w has its direction after some
five. So are those with tol above the lower bound, since d soon has what is asked."""
_SPARED = 0.1
"""The part of tol by which a lower bound may stay below the value."""
_FURTHER = 1.1
"""Aims move where the next is so many times as large."""
_FAR, _BOLD = 4.0, 1.25
"""How many times the lower bound the next aim is where it says little of ρ, and at most else."""
_MOVING = 0.05
"""The part of tol by which the lower bound rises in a round as long as it is worth to wait."""
_ROOM = 0.5
"""The part of tol by which the last aim must have grown, to be moved again."""
_ROUGH, _DROP = 1.02, 4.0
"""Times the lower bound that twice v must be, for a guess of ρ from both; and how many times below
an aim that turned out to be too large the next is at most."""
_NEAR = 8.0
"""How many times its lower bound the upper bound of a start is where its d is of use."""
_FADING = 0.7
"""The part of its largest size at which w is on its way to 0."""
_PATIENCE = 100
"""Whole rounds in which no bound moves, after which none is expected to."""
_SHOWN = 5_000_000
"""Cuts that a w has at most to be shown: more take a GB, and v is far below the value then."""
PASSES_PER_STEP = 5.0
"""Passes over A that a step takes, which gathers and scatters by level."""

FIRST_ROUNDS = 8
"""Rounds after which w has its direction."""

ROUNDS_PER_RATIO = 0.02
"""Rounds for each feature and each time that the value exceeds the requested gap. First-order
methods take a number of steps in proportion to that ratio; the factor was measured on sets of 2 to
57 features."""


def unfit(game: Game) -> str:
    """Return why taut strings are not for this game, "" where they are."""
    form, over = game.linear_form, game.over
    if not (isinstance(over, AtomicSet) and over.two_sided):
        return f"taut strings are for games over L1Ball, and this one is over {over!r}"
    if not game.matrix.implicit or game.matrix.bulk().levels is None:
        return f"taut strings need all stumps of examples in memory, and A is {game.matrix!r}"
    if form is None or form.rows is not None or form.cost.any() or form.cost.size > game.m:
        return f"taut strings need an f that only bounds d, as Capped does, not {game.relaxation!r}"
    return ""


class StringsRun(Booster):
    """A round is some steps towards a d without edges above v; d is the last, w the best.

    While v is below the value, w proves more than v, by a gap of about (ρ − v)²/ρ (measured), from
    which ρ is guessed and v moved, until the lower bound is near enough. Then v is that bound and
    most of tol: either d gets there, and the gap is tol, or the lower bound rises above v.
    """

    inner = "strings"
    active: FullWeights

    def __init__(self, game: Game, goal: Tolerance, clock: Clock, budget: float = math.inf) -> None:
        form, over, levels = game.linear_form, game.over, game.matrix.bulk().levels
        assert isinstance(over, AtomicSet)
        assert form is not None
        assert levels is not None
        self._game, self._clock, self._over = game, clock, over
        self._asked = goal
        self._budget = budget
        self.d = game.relaxation.center(game.m)
        self._strings = Strings(levels, form.lower, np.minimum(form.upper, 1.0), self.d)
        none = np.arange(0)
        self.active = FullWeights(over, none, np.zeros(0), np.zeros(game.m))
        self._lower = self._before = self._v = 0.0
        self._features = len(levels.codes)
        self._highest, self._idle, self._taken = np.inf, 0.0, 0
        self._part = self._spent = 0.0  # of a whole round, the last one; and all so far
        self._largest, self._last = 0.0, False  # of the sizes of w at this v; whether v stays

    @property
    def _tol(self) -> float:
        """The gap that is enough for the present lower bound, over the unit ball."""
        scale = self._over.scale
        return self._asked.allowed(self._lower * scale) / scale

    def warmed(self, start: WarmStart) -> Booster:
        """Begin at the d of a start near the value, with v little above what its w proves.

        From a d far from the value steps take as many as from the centre, or more.
        """
        if start.d is not None and start.upper <= _NEAR * start.lower:
            self.d = start.d
            self._strings.begin(start.d)
            self._lower = self._before = start.lower / self._over.scale
            self._move(self._last_aim, last=True)
        return self

    def advance(self, best: Best) -> Booster | None:
        """Take some steps; return None where another method is quicker, or nothing moves."""
        if self._late(best):
            return None
        if self._taken > 1:
            self._aim()
        steps = _FEW if self._taken == 1 or self._tol > self._lower else _STEPS
        self._part = steps / _STEPS
        self.work += steps * PASSES_PER_STEP
        for _ in range(steps):
            self._clock.check()
            self._strings.step(self._v)
        self._largest = max(self._largest, self._strings.size)
        f, over = self._game.relaxation, self._over
        self.d = f.repair(self._strings.d)
        columns, w = self._strings.weights()
        if columns.size:
            w = over.repair(w * (over.scale / float(np.abs(w).sum())))
            margins = self._game.matrix.margins(columns, w)
            lower = f.relaxed_margin(margins)[0] / over.scale
            if lower > self._lower:
                self._lower, self._idle = lower, 0.0
                if columns.size <= _SHOWN:
                    self.active = FullWeights(over, columns, w, margins)
        return self

    def _late(self, best: Best) -> bool:
        """Count a round; return whether it is one too many."""
        self._taken += 1
        self._spent, self._idle = self._spent + self._part, self._idle + self._part
        if best.edge < self._highest:
            self._highest, self._idle = best.edge, 0.0
        if self._idle > _PATIENCE:
            return True
        ratio = max(self._lower, 0.0) / self._tol
        rounds = FIRST_ROUNDS + ROUNDS_PER_RATIO * self._features * ratio
        return rounds * _STEPS * PASSES_PER_STEP > self._budget

    def _aim(self) -> None:
        """Move v where that is worth it."""
        lower, v, tol = self._lower, self._v, self._tol
        rise, self._before = lower - self._before, lower
        if lower > v:
            aim = _FAR * lower
            if 2.0 * v > _ROUGH * lower:  # else v is half of ρ or less, and the guess is too rough
                value = max(v * v / (2.0 * v - lower), lower)  # a guess of ρ
                aim = min(value - math.sqrt(_SPARED * tol * value), _BOLD * lower)
            if aim > _FURTHER * v:
                self._move(aim)
            elif self._last or rise <= _MOVING * tol:
                self._move(self._last_aim, last=True)
        elif self._last:
            # v may be so near the value that neither w nor d gets anywhere.
            if rise <= _MOVING * tol and self._last_aim > v + _ROOM * tol:
                self._move(self._last_aim, last=True)
        elif lower == v == 0.0:  # w = 0 may be optimal
            self._move(self._last_aim, last=True)
        elif self._too_large():
            v = min(v, self._highest)
            self._move(max(math.sqrt(lower * v), v / _DROP))

    @property
    def _last_aim(self) -> float:
        """What v is in the end."""
        return self._lower + (1.0 - _SPARED) * self._tol

    def _too_large(self) -> bool:
        """Return whether some d proves that v is not below the value, or w fades, or stays 0."""
        return self._highest <= self._v or self._strings.size <= _FADING * self._largest

    def _move(self, v: float, last: bool = False) -> None:
        self._v, self._last, self._largest = v, last, 0.0
        self._strings.restart()
