"""The best weights in hindsight: the front door, and what it returns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock, Limits, run
from relaxboost._core.parameters import positive
from relaxboost._core.rounding import show_bracket
from relaxboost.certificates import Certificate, Verdict, certify
from relaxboost.game import Game
from relaxboost.game.domains import AtomicSet, L2Ball
from relaxboost.online.comparators.cumulative import Cumulative
from relaxboost.online.comparators.level import level, linear
from relaxboost.online.comparators.newton import State, kinked, smooth
from relaxboost.online.comparators.polyhedral import LossGame
from relaxboost.online.comparators.replay import Replay
from relaxboost.online.losses import Inner, as_online_loss

_LARGEST = 2000
"""Base functions, or examples, up to which equations of their order are factorised."""
_FLOOR = 1e-6
"""Losses below this part of the first one seen count as that small only."""


class Proved(NamedTuple):
    """A bracket of the least cumulative loss in fractions, and the file that proves it."""

    certificate: Certificate
    """Of the value ρ of the game."""
    game: Game
    scale: Fraction
    """The least loss is −scale · ρ."""
    lower: Fraction
    upper: Fraction

    def check(self) -> Verdict:
        """Check the certificate; a large matrix is not in it, and is handed to the checker."""
        return self.certificate.check(self.game.matrix)


@dataclass(frozen=True, eq=False)
class Comparator:
    """The best w of a domain for examples that are known, and the bracket of its loss.

    Every w of the domain has a cumulative loss of at least `lower`, and `w` has at most `upper`,
    both rounded outwards.
    """

    w: Vector
    """In the domain, up to rounding; shape (M,)."""
    lower: float
    upper: float
    tol: float
    """The width that was asked for, as a part of the loss."""
    status: str
    """optimal, time_limit, interrupted, or stalled where rounding keeps the bracket wider."""
    rounds: int
    seconds: float
    _problem: Cumulative = field(repr=False)
    _slopes: Vector | None = field(repr=False)
    """The z of the best lower bound that has them."""

    @property
    def gap(self) -> float:
        """upper − lower."""
        return self.upper - self.lower

    @property
    def examples(self) -> int:
        """How many examples it is for."""
        return self._problem.m

    def __str__(self) -> str:
        lower, upper = show_bracket(self.lower, self.upper)
        return f"{self.status}: {lower} <= least loss of {self.examples} examples <= {upper}"

    def game(self) -> LossGame:
        """Return the game that the problem is; see `certificate`.

        Raises
        ------
        InputError
            Unless the loss is hinge, absolute, quantile or inner.
        """
        return LossGame(self._problem)

    def certificate(self) -> Proved:
        """Return the bracket in fractions with a certificate of it, for anyone to re-check.

        Hinge, absolute and quantile losses and `Inner` make a game of this package. Over polytopes
        its certificate is exact, over an L2Ball enclosed. The examples are read into memory.

        Raises
        ------
        InputError
            For other losses.
        """
        made = self.game()
        proof = certify(made.game, d=made.distribution(self._slopes), w=made.weights(self.w))
        lower, upper = -made.scale * proof.upper, -made.scale * proof.lower
        return Proved(proof, made.game, made.scale, lower, upper)


def hindsight(
    loss: Any,
    over: AtomicSet | L2Ball,
    stream: Any,
    tol: float = 1e-6,
    *,
    start: Any = None,
    time_limit: float | None = None,
    first: int | None = None,
) -> Comparator:
    """Bracket the least cumulative loss min over w in W of Σ s_i l(w, (h_i, y_i)).

    Hinge, absolute and quantile losses are solved by a primal-dual interior point method, other
    losses of <w, h> by a barrier method. Both take equations of order M, or m if that is less, and
    a few dozen passes over the examples. A loss with subgradients only, or one with corners of its
    own, takes a level method: a hundred passes or more.

    Parameters
    ----------
    loss : str, PointwiseLoss or OnlineLoss
        As learners take it: "hinge", "logistic", "inner", ...
    over : Simplex, FullSimplex, L1Ball or L2Ball
    stream : tuple of arrays, callable or iterable
        Arrays (H, y) or (H, y, weight) of shapes (m, M), (m,), (m,), y ±1 or numbers as the loss
        has it, weight >= 0; or blocks of that form, from an iterable that can be iterated again or
        a function that opens the stream anew. Then memory is O(M²) and a block, and for hinge,
        absolute and quantile ten numbers an example.
    tol : float
        In (0, 1): the width to reach, as a part of the loss (or of a millionth of that of the
        first w tried, where the least is near 0).
    start : Comparator or array of shape (M,), optional
        Where to begin, such as the comparator of a part of the stream.
    time_limit : float, optional
        Seconds, > 0; the best bracket so far is returned.
    first : int, optional
        Count the first so many examples only.

    Returns
    -------
    Comparator
        Also after Ctrl-C, with status "interrupted".

    Raises
    ------
    InputError
        For a stream that can be read once only, an empty one, values that are not finite (with
        their row), targets the loss does not take, negative weights, or weights all zero.

    References
    ----------
    Mehrotra (1992) for the interior point method; Lemaréchal, Nemirovskii & Nesterov (1995) for the
    level method; the bracket is Fenchel and Young's inequality, see the mathematics page.
    """
    if not isinstance(over, AtomicSet | L2Ball):
        raise InputError(
            f"the comparator needs a bounded set, Simplex, FullSimplex, L1Ball or L2Ball, got "
            f"{over!r}"
        )
    tol = positive("tol", tol)
    if tol >= 1.0:
        raise InputError(f"tol must be below 1, got {tol:g}: it is a part of the loss")
    limits = Limits(time_limit=time_limit)
    clock = Clock(limits.time_limit)
    asked = as_online_loss(loss)
    problem = Cumulative(asked, over, Replay(stream, asked, first))
    best = _Best(problem, tol)
    status = run(_rounds(problem, _start(problem, start), clock), best.keep, limits, clock)
    # A linear loss is bracketed to rounding at once, whatever part of a small loss that is.
    return best.comparator(status or ("optimal" if isinstance(asked, Inner) else "stalled"), clock)


def _start(problem: Cumulative, start: Any) -> Vector | None:
    if start is None:
        return None
    w = doubles("start", start.w if isinstance(start, Comparator) else start)
    if w.shape != (problem.M,) or not np.isfinite(w).all():
        raise InputError(f"start needs {problem.M} finite weights, got shape {w.shape}")
    return problem.feasible(w)


def _rounds(problem: Cumulative, start: Vector | None, clock: Clock) -> Iterator[State]:
    """Yield the rounds of the method for this loss, then of the level method where it stalls."""
    if isinstance(problem.loss, Inner):
        yield from linear(problem)
        return
    best: State | None = None
    if problem.pointwise is not None and min(problem.m, problem.M) <= _LARGEST:
        for state in (kinked if problem.kinked else smooth)(problem, start, clock):
            best = state if best is None or state.upper < best.upper else best
            yield state
    yield from level(problem, start if best is None else best.w, clock)


class _Best:
    """The best points of a run, and whether they are near enough."""

    def __init__(self, problem: Cumulative, tol: float) -> None:
        self._problem, self._tol = problem, tol
        self._above: State | None = None
        self._below: State | None = None
        self._slopes: Vector | None = None
        self._first, self._share, self._rounds = 0.0, 0.9, 0

    def keep(self, state: State) -> str:
        """Keep what is better; return "optimal" where the certified bracket is narrow enough."""
        self._rounds += 1
        if not math.isfinite(state.upper):
            raise InputError(
                f"the cumulative {self._problem.loss!r} loss is {state.upper} at w = "
                f"{state.w[:4]}...; it needs to be finite on {self._problem.over!r}: scale H or y"
            )
        if self._above is None or self._below is None:
            self._above = self._below = state
            self._first = abs(state.upper)
        if state.upper < self._above.upper:
            self._above = state
        if state.lower > self._below.lower:
            self._below = state
        if self._below.z is not None:
            self._slopes = self._below.z
        lower, upper = self._below.lower, self._above.upper
        if upper - lower > self._share * self._allowed(lower, upper):
            return ""
        _, lower, upper = self._certified()
        if upper - lower <= self._allowed(lower, upper):
            return "optimal"
        self._share *= 0.5
        return ""

    def _allowed(self, lower: float, upper: float) -> float:
        return self._tol * max(lower, -upper, _FLOOR * self._first, 1e-300)

    def _certified(self) -> tuple[Vector, float, float]:
        """Return w and the bracket, evaluated afresh and rounded outwards."""
        assert self._above is not None
        assert self._below is not None
        w, below = self._problem.feasible(self._above.w), self._below
        lower = below.lower
        if below.at is not None or below.z is not None:
            lower = self._problem.lower(below.at, below.z)
        return w, lower, self._problem.upper(w)

    def comparator(self, status: str, clock: Clock) -> Comparator:
        """Return what was found."""
        w, lower, upper = self._certified()
        return Comparator(
            w, lower, upper, self._tol, status, self._rounds, clock.seconds,
            self._problem, self._slopes,
        )  # fmt: skip
