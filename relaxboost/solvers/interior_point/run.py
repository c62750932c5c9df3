"""A run of the interior point method: its rounds, when it fits a game, and what it costs."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.matrices.bulk import PASS
from relaxboost.solvers.boosters.corrective import active_set
from relaxboost.solvers.hypothesis import ActiveSet, FullWeights
from relaxboost.solvers.interior_point.additive import (
    MULTIPLICATIONS_PER_READ,
    factor_work,
    passes_work,
)
from relaxboost.solvers.interior_point.elimination import MAX_FACTOR_ORDER
from relaxboost.solvers.interior_point.iterate import Iterate
from relaxboost.solvers.interior_point.sieve import Sieve
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.strings.run import Following, StringsRun, seconds_of_round
from relaxboost.solvers.strings.run import unfit as strings_unfit
from relaxboost.solvers.walking import Walking, walkable
from relaxboost.solvers.warm_start import WarmStart

MOST_CUTS = 1_000_000
"""Cuts in play at most, with a step by passes over the examples: optima of labels that are partly
turned use half as many as there are examples, and where no more may enter, steps get short."""
MOST_CONES = 100_000
"""Examples up to which an f that is not polyhedral is written down, and iterates are kept."""
MOST_ENTRIES = 200_000_000
"""Entries of A that are written down at most, 8 bytes each."""
# Seconds on one core, for estimates of work (`relaxboost bench`): of a pivot of the restricted
# program for each of its entries, and of the same in a pairwise step.
PIVOT, STEP = 3e-9, 3e-10
PROJECTIONS, OVERHEAD = 300, 200_000
"""What a pairwise step does besides: for each example, and at all."""
_STEP, _ROW = 5e-3, 4e-7
"""What else a step does, and what an example costs in it."""
_ITERATIONS, _MORE = 40, 100
"""Iterations of a step by passes over the examples, by default; and where w is known to use so many
columns, with which equations are worse: on 8 000 to 19 000 examples that takes 1.3 to 8 times as
long as the default says."""
_STEPS, _SIFTED, _PASSES = 12, 60, 20
"""Steps of a run on all columns, and on those in play, and passes over A of a step."""
_CONES = 8e-6
"""Seconds of the cones of an example in a step."""
_FALL = 1000.0
"""The factor by which products fall in a round where bounds are dear."""
_LAST = 10.0
"""How many times tol a product is left to the last of these rounds."""
_ALL = 1000
"""Stumps up to which all are in play."""
_FEWEST = 500
"""Columns in play for which it is worth to begin."""
_POLISH = 3
"""Steps that a round may take to leave only columns that matter."""
_PATIENCE, _SIEVED = 8, 20
"""Rounds without progress after which rounding has the last word, and where columns enter."""

_LOOK = 6.0
"""Rounds of taut strings that must be cheaper, to begin with them."""
_SPREAD = 30.0
"""Times 1/m that d may be at most: on few examples few columns do, and steps here are quick."""
PART = 0.25
"""The part of the expected seconds that others may take before."""
_SPARED, _IDLE = 2.75, 1.0
"""How many times the price what is left of steps may be counted, for them to go on instead; and the
same where no w is better than w = 0 so far. Their work is counted three to six times too dear."""
_WALK = 0.7
"""The part of the expected seconds that a walk from a neighbour may take."""
_DIGITS = 6.0
"""Of the gap, relative to the atoms, after that many seconds; fewer take less."""


def unfit(game: Game) -> str:
    """Return why no interior point method is for this game, "" where it is."""
    matrix = game.matrix
    if not isinstance(game.over, AtomicSet):
        return (
            f"InteriorPoint() is for games whose w has atoms, and this one is over {game.over!r}; "
            "use TotallyCorrective()"
        )
    if matrix.n is None:
        return f"InteriorPoint() needs every column, and {matrix!r} has any number; use Combined()"
    if _sifts(game):
        if not matrix.implicit and _most(game) < _FEWEST:
            return (
                f"InteriorPoint() writes columns down, and {matrix!r} is too large; use Combined()"
            )
    elif matrix.implicit and game.m > MAX_FACTOR_ORDER and not _of_columns(game):
        return (
            f"InteriorPoint() factorises a matrix of order {game.m} here, and {MAX_FACTOR_ORDER} "
            "is the largest; use Combined()"
        )
    if game.linear_form is None and game.m > MOST_CONES:
        return (
            f"{game.relaxation!r} is not polyhedral, and InteriorPoint() writes down its cone "
            f"program for up to {MOST_CONES} examples; use Corrective()"
        )
    if game.linear_form is None and game.cone_form is None:
        return (
            f"{game.relaxation!r} needs other cones than half lines, second-order and exponential "
            "ones; use Combined() or TotallyCorrective()"
        )
    return ""


def _of_columns(game: Game) -> bool:
    """Whether equations of the order of the columns need no A written down."""
    form = game.linear_form
    return form is not None and form.rows is None


def _sifts(game: Game) -> bool:
    """Whether columns enter and leave the play: where that costs little, or all are too many."""
    matrix = game.matrix
    if matrix.implicit:
        return _of_columns(game) and (matrix.n or 0) > _ALL
    return matrix.entries > MOST_ENTRIES or min(game.m, matrix.n or 0) > MAX_FACTOR_ORDER


def _most(game: Game) -> int:
    """Return how many columns may be in play; equations of the order of the examples do too."""
    matrix, n = game.matrix, game.n or 0
    if matrix.implicit:
        return n if game.m <= MAX_FACTOR_ORDER else min(n, game.m, MOST_CUTS)
    most = n if game.m <= MAX_FACTOR_ORDER else MAX_FACTOR_ORDER
    return min(most, MOST_ENTRIES * n // max(matrix.entries, 1))


def expected(game: Game, order: int | None = None) -> float:
    """Return about how many seconds a run to a narrow gap takes on one core.

    `order` is how many columns carry the optimum, by default a sixth of those that can. Where all
    columns are in play it says nothing.
    """
    matrix, m = game.matrix, game.m
    assert matrix.n is not None
    if _sifts(game):
        most = min(m, matrix.n, _most(game))
        iterations = _ITERATIONS if order is None else _MORE
        order = most // 6 if order is None else min(order, most)
        normal = PASS / MULTIPLICATIONS_PER_READ * (m * order**2 + order**3 / 3)
        if matrix.implicit:
            features = (matrix.entries - matrix.n) // m
            normal = min(normal, PASS * factor_work(features, m, order))
            normal = min(normal, PASS * passes_work(features, m, iterations))
        return _SIFTED * (normal + _PASSES * PASS * matrix.entries + _ROW * m + _STEP)
    order = m if matrix.implicit and not _of_columns(game) else min(m, matrix.n)
    # Half of a Gram matrix is made, of doubles; the kernel of stumps is no product of matrices.
    multiplications = order * (matrix.entries * (2.0 if matrix.implicit else 1.0) + order**2 / 1.5)
    cones = _CONES * m if game.linear_form is None else 0.0
    reads = _PASSES * matrix.entries + multiplications / MULTIPLICATIONS_PER_READ
    return _STEPS * (PASS * reads + _STEP + cones)


def walk_limit(game: Game) -> float:
    """Return how many seconds a walk may take at most."""
    return _WALK * expected(game)


class Rival:
    """An interior point method that waits until what runs has cost a part of its price.

    Whoever rents until the rent paid is a part q of the price, and then buys, pays at most 1 + q
    where buying is best, and 1 + 1/q times what is best elsewhere. Buying mostly is, so that q
    is below 1. The restricted program may take the price once, and what steps left of it, since it
    ends at a vertex, with few columns. Work is counted, not timed, so that runs are the same on
    every machine.
    """

    def __init__(self, game: Game, tol: float, clock: Clock, part: float = PART) -> None:
        self._game, self._tol, self._clock = game, tol, clock
        digits = math.log10(game.over.reach(game.n)) - math.log10(tol)
        self._share = min(max(digits, 1.0) / _DIGITS, 1.0)  # of a run to a narrow gap
        self._price = price = self._share * expected(game)
        self._left, self._more = part * price, (2.0 - part) * price

    used = False
    """Whether it has taken over once."""

    @property
    def left(self) -> float:
        """Seconds of work before it takes over, inf once it has."""
        return math.inf if self.used else self._left

    def due(self, work: float) -> bool:
        """Count work of steps; return whether they have cost the part."""
        self._left -= work
        return self._left <= 0.0

    def spares(self, left: float, idle: bool) -> bool:
        """Give steps another part where what is `left` of them, to the end, is not too dear.

        `idle` says that no w is better than w = 0 so far.
        """
        spares = left < (_IDLE if idle else _SPARED) * self._price
        if spares:
            self._left = PART * self._price
        return spares

    def wait(self) -> None:
        """Leave the restricted program the price, and what steps left of theirs."""
        self._left = max(self._left, 0.0) + self._more

    def after(self, work: float, fallback: Booster) -> Booster | None:
        """Count work; return the run that takes over, with what it goes back to, or None."""
        return self.now(fallback) if not self.used and self.due(work) else None

    def first(self, fallback: Booster) -> Opening:
        """Return what runs from the first round on, with what it goes back to."""
        self.used = True
        return Opening(self._game, self._tol, self._clock, fallback)

    def now(self, fallback: Booster) -> Booster:
        """Return the run that takes over, with what it goes back to.

        Where it would take long, taut strings look first whether tol is narrow, or wide, beside
        the value.
        """
        self.used = True
        made = partial(InteriorRun, self._game, self._tol, self._clock, fallback)
        game, form = self._game, self._game.linear_form
        if strings_unfit(game) or form is None or form.upper.max() * game.m > _SPREAD:
            return made()
        if expected(game) < _LOOK * seconds_of_round(game):
            return made()
        following = Following(made, partial(expected, game), self._share * expected(game, _FEWEST))
        return StringsRun(game, self._tol, self._clock, following)


class InteriorRun(Booster):
    """A round is a step of `Iterate`, or some for cones; (d, w) are the nearest feasible pair."""

    inner = "interior"
    active: FullWeights

    def __init__(
        self,
        game: Game,
        tol: float,
        clock: Clock,
        fallback: Booster | None = None,
    ) -> None:
        form, over = game.linear_form or game.cone_form, game.over
        assert form is not None
        assert isinstance(over, AtomicSet)
        self._game, self._tol, self._clock, self._over = game, tol, clock, over
        self._fallback = fallback and fallback.rested()
        self._sieve: Sieve | None = None
        if _sifts(game):
            known = np.arange(0)
            if fallback is not None:
                known, _ = fallback.active.coefficients(fallback.active.snapshot())
            whole = game.matrix.pricing()
            self._sieve = Sieve(whole, over, known, _most(game))
            bulk, columns = self._sieve.bulk, self._sieve.columns
        else:
            whole = bulk = game.matrix.bulk()
            columns = np.arange(bulk.n)
        # Bounds are dear where f is a cone program; a sieve asks for those of every step.
        dear = game.linear_form is None or game.relaxation.from_solver
        self._dear = dear and self._sieve is None
        self._goal = np.inf
        self._iterate = Iterate(form, bulk, over, game.relaxation.center(game.m), whole)
        self.active = FullWeights(over, columns, self._iterate.w, self._iterate.margins)
        self._lower, self._upper = -np.inf, np.inf
        self._least, self._idle = np.full(3, np.inf), 0
        self.d = game.relaxation.center(game.m)
        self._aim()
        self._show()

    def advance(self, best: Best) -> Booster | None:
        """Take a step, or some; return the fallback where rounding no longer lets anything shrink.

        At the end take a few more, until the columns in use are enough without the others, where
        a factor makes them cheap.
        """
        taken = 0
        while not taken or self._iterate.product > self._goal:
            self._clock.check()
            if not self._step():
                if not taken:
                    return self._fallback
                break
            taken += 1
        enough = self._show()
        for _ in range(0 if self._iterate.is_by_passes else _POLISH):
            active = self.active
            shown = self.d, self.witness, active.columns, active.w, active.u
            if enough or not self._step():
                break
            enough = self._show()
            if self._upper - self._lower > self._tol:
                self.d, self.witness, active.columns, active.w, active.u = shown
                break
        self._aim()
        return self

    def _aim(self) -> None:
        """Set the product at which the next round ends."""
        if self._dear:
            product, tol = self._iterate.product, self._tol
            self._goal = product / _FALL
            # A gap is often less than the product, which rounding may not let fall further.
            if self._goal <= _LAST * tol:
                self._goal = 1.5 * tol if product > 1.5 * tol else 0.5 * tol

    def _step(self) -> bool:
        """Take a step; return False where nothing has shrunk lately, or nothing can move."""
        now = np.array([self._upper - self._lower, self._iterate.mu, self._iterate.infeasibility])
        moved = (now < 0.9 * self._least).any()
        self._idle = 0 if moved else self._idle + 1
        if moved:  # else what many short steps do together counts
            self._least = np.minimum(now, self._least)
        sieve, patience = self._sieve, _PATIENCE
        if sieve is not None:
            patience = _SIEVED
            if self._upper - self._lower > self._tol:
                sieve.drop_idle(self._iterate)
        try:
            return self._idle < patience and self._iterate.step(sieve) > 1e-6
        except (np.linalg.LinAlgError, RuntimeError):  # SciPy's, of dense and of sparse factors
            return False

    def _priced(self) -> float:
        """Return the largest price of all columns at the present d."""
        if self._sieve is not None:
            return self._sieve.price(self._iterate.d)
        return float(self._over.prices(self._iterate.edges).max())

    def _show(self) -> bool:
        """Make the nearest feasible pair, with the columns in use alone where they are enough.

        Else those go that have a quarter of tol together. Return False where the gap is as small
        as asked only so.
        """
        f, over, w = self._game.relaxation, self._over, self._iterate.w
        self.d = f.repair(self._iterate.d)
        self._upper, used = f.penalty(self.d) + over.value(self._priced()), self._iterate.is_in_use
        order = np.argsort(np.abs(w))
        heavy = np.empty_like(used)
        heavy[order] = np.cumsum(np.abs(w[order])) > 0.25 * self._tol
        early = self._dear and self._iterate.product > self._tol
        for quick in (False,) if self._iterate.proof is None else (True, False):
            for mask in (heavy,) if early else (used, heavy):
                if not mask.any():
                    continue
                if self._sieve is not None:
                    self.active.columns = self._sieve.columns
                self.active.w = over.repair(np.where(mask, w, 0.0))
                self.active.u = self._iterate.bulk.margins(self.active.w)
                known = self._bound(quick, early)
                if early:
                    return True
                if known and self._upper - self._lower <= self._tol:
                    return mask is used
        return True

    def _bound(self, quick: bool, early: bool) -> bool:
        """Bound F(A w): where it is to be `quick`, by the multipliers; return whether that is so.

        Else exactly, which may take a cone solver, and is left to whoever asks where it is `early`.
        """
        f, u, proof = self._game.relaxation, self.active.u, self._iterate.proof
        self.witness = f.near_witness(u, proof) if quick and proof is not None else None
        if self.witness is not None:
            self._lower = f.lower_bound(u, self.witness)
        elif not (quick or early):
            self._lower = f.relaxed_margin(u)[0]
        return not quick or self.witness is not None


class Opening(Booster):
    """A first round at the centre of f, which `InteriorRun` follows.

    So an interrupt while that is prepared is one of a run, which has a bracket by then.
    """

    inner = "interior"
    active: ActiveSet

    def __init__(
        self, game: Game, tol: float, clock: Clock, fallback: Booster | None = None
    ) -> None:
        self._game, self._clock = game, clock
        self._following: Any = partial(InteriorRun, game, tol, clock, fallback)
        self.active = active_set(game)
        self.d = game.relaxation.center(game.m)

    def warmed(self, start: WarmStart) -> Booster:
        """Show its d first, and walk from its game to this one where there is a walk."""
        self.d = self.d if start.d is None else start.d
        if walkable(self._game, start):
            return Walking(self._game, self._clock, start, walk_limit(self._game), self._following)
        return self

    def successor(self, best: Best) -> Booster | None:
        """Return the run."""
        following: Booster = self._following()
        return following

    def advance(self, best: Best) -> Booster:
        """Do nothing; what follows does it."""
        return self
