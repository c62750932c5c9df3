"""The function `hindsight`, which finds the best fixed weights for known examples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector, doubles
from relaxboost._core.errors import InputError, class_hint
from relaxboost._core.loop import Clock, Limits, run
from relaxboost._core.parameters import positive
from relaxboost._core.rounding import show_bracket
from relaxboost.certificates import Certificate, Verdict, certify
from relaxboost.game import Game
from relaxboost.game.domains import AtomicSet, L2Ball
from relaxboost.online.comparators.cumulative import Cumulative, has_corners
from relaxboost.online.comparators.level import level, linear
from relaxboost.online.comparators.newton import State, smooth, with_corners
from relaxboost.online.comparators.polyhedral import LossGame
from relaxboost.online.comparators.replay import Replay
from relaxboost.online.losses import Inner, as_online_loss

MAX_NEWTON_ORDER = 2000
"""The maximum order of matrices that are factorised. For more weights and examples, the level
method is used, which factorises none."""


class Proved(NamedTuple):
    """Exact bounds on a minimum cumulative loss, with a certificate that anyone can check."""

    certificate: Certificate
    """The certificate for the value ρ of the game. The minimum loss is −`scale` · ρ."""
    game: Game
    scale: Fraction
    """The factor between the game value and the loss: the minimum loss is −`scale` · ρ."""
    lower: Fraction
    upper: Fraction

    def check(self) -> Verdict:
        """Check the certificate against the matrix of the game."""
        return self.certificate.check(self.game.matrix)


@dataclass(frozen=True, eq=False)
class Comparator:
    """The best fixed weights for known examples, with bounds on the minimum cumulative loss.

    All weights of the domain have a cumulative loss of at least `lower`, and `w` has at most
    `upper`. Both bounds include all rounding errors.
    """

    w: Vector
    """The best weights found. They are in the domain up to rounding."""
    lower: float
    upper: float
    tol: float
    """The requested gap as a fraction of the loss."""
    status: str
    """Why the run ended: "optimal", "time_limit", "interrupted", or "stalled" if rounding errors
    keep the gap above `tol`."""
    rounds: int
    seconds: float
    _problem: Cumulative = field(repr=False)
    _slopes: Vector | None = field(repr=False)
    """The loss slope of each example, from which `certificate` computes a distribution, if known.
    """

    @property
    def gap(self) -> float:
        """The difference `upper` − `lower`."""
        return self.upper - self.lower

    @property
    def examples(self) -> int:
        """The number of examples."""
        return self._problem.m

    def __str__(self) -> str:
        lower, upper = show_bracket(self.lower, self.upper)
        return f"{self.status}: {lower} <= least loss of {self.examples} examples <= {upper}"

    def game(self) -> LossGame:
        """Return a game whose value ρ gives the minimum loss −scale · ρ.

        `scale` is an attribute of the game.

        Raises
        ------
        InputError
            If the loss is not a hinge, absolute, quantile or inner loss.
        """
        return LossGame(self._problem)

    def certificate(self) -> Proved:
        """Return both bounds as fractions, with a certificate that anyone can check.

        The certificate proves bounds on the value of `game`. Over a simplex or an l1 ball they are
        checked in exact arithmetic, and over an l2 ball in interval arithmetic. All examples are
        read into memory.

        Raises
        ------
        InputError
            If the loss is not a hinge, absolute, quantile or inner loss.
        """
        made = self.game()
        proof = certify(made.game, d=made.distribution(self._slopes), w=made.weights(self.w))
        lower = -made.scale * proof.upper
        upper = -made.scale * proof.lower
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
    """Find the best fixed weights for known examples, with bounds on their cumulative loss.

    The cumulative loss of weights w in the domain W is Σ s_i l(w, (h_i, y_i)), where example i has
    the weight s_i, the base function values h_i and the target y_i.

    Hinge, absolute and quantile losses are minimised by an interior point method, and other losses
    of <w, h> by Newton's method. Both factorise matrices of order min(M, m), for M weights and m
    examples, and read the examples a few dozen times. User-defined losses with corners or with
    subgradients only are minimised by a level bundle method, which reads the examples about a
    hundred times.

    Parameters
    ----------
    loss : str, PointwiseLoss or OnlineLoss
        A loss as for a learner, such as "hinge", "logistic" or "inner".
    over : Simplex, FullSimplex, L1Ball or L2Ball
        The domain W.
    stream : tuple of arrays, callable or iterable
        Arrays (H, y) or (H, y, weight) of shapes (m, M), (m,) and (m,), where the targets are ±1 or
        numbers, as the loss requires, and weights are >= 0. Also an iterable of such blocks that
        can be iterated repeatedly, or a function that reopens one. Blocks need memory for O(M²)
        numbers and one block, and for ten numbers per example if the loss is a hinge, absolute or
        quantile loss.
    tol : float
        The requested gap as a fraction of the minimum loss, in (0, 1). For minima near 0, the gap
        is a fraction of 1e-6 times a typical loss: the loss of the prediction 0, or of the center
        of the domain if the loss is not a function of <w, h>.
    start : Comparator or array of shape (M,), optional
        The starting weights, for example the result for a part of the stream.
    time_limit : float, optional
        The time limit in seconds, after which the best bounds so far are returned.
    first : int, optional
        The number of examples to use. By default all examples are used.

    Returns
    -------
    Comparator
        The best weights and bounds. After Ctrl-C the status is "interrupted".

    Raises
    ------
    InputError
        If the stream is empty or can be read only once, if a value is not finite, if the loss does
        not accept a target, if a weight is negative, or if all weights are zero.

    References
    ----------
    Mehrotra (1992) for the interior point method; Lemaréchal, Nemirovskii & Nesterov (1995) for the
    level method. The bounds follow from the Fenchel–Young inequality; see the page Mathematics.
    """
    if not isinstance(over, AtomicSet | L2Ball):
        raise InputError(
            f"over must be a bounded domain, such as Simplex, FullSimplex, L1Ball or L2Ball, got "
            f"{over!r}{class_hint(over)}"
        )
    # Arguments are checked before the stream is read, because reading may take long.
    tol = positive("tol", tol)
    if tol >= 1.0:
        raise InputError(f"tol must be below 1, because it is a fraction of the loss, got {tol:g}")
    limits = Limits(time_limit=time_limit)
    clock = Clock(limits.time_limit)
    chosen = as_online_loss(loss)
    problem = Cumulative(chosen, over, Replay(stream, chosen, first))
    w = None
    if start is not None:
        w = doubles("start", start.w if isinstance(start, Comparator) else start)
        if w.shape != (problem.M,) or not np.isfinite(w).all():
            raise InputError(
                f"start must have shape ({problem.M},) and finite entries, got {w.shape}"
            )
        w = problem.feasible(w)
    best = _Best(problem, tol)
    status = run(_rounds(problem, w, clock), best.keep, limits, clock)
    # The bounds for a linear loss differ by rounding errors only, so that the first round is
    # optimal even if the loss is small.
    return best.comparator(status or ("optimal" if isinstance(chosen, Inner) else "stalled"), clock)


def _rounds(problem: Cumulative, start: Vector | None, clock: Clock) -> Iterator[State]:
    if isinstance(problem.loss, Inner):
        yield from linear(problem)
        return
    best: State | None = None
    # Newton's method needs a loss of the prediction, and a matrix that is not too large.
    if problem.pointwise is not None and min(problem.m, problem.M) <= MAX_NEWTON_ORDER:
        method = with_corners if has_corners(problem.loss) else smooth
        for state in method(problem, start, clock):
            best = state if best is None or state.upper < best.upper else best
            yield state
    # The level method takes over if no other method applies, or if the other method stalls.
    yield from level(problem, start if best is None else best.w, clock)


class _Best:
    """The best weights and lower bound so far in a run of `hindsight`."""

    def __init__(self, problem: Cumulative, tol: float) -> None:
        self._problem = problem
        self._tol = tol
        self._above = self._below = State(problem.center(), math.inf, -math.inf)
        self._slopes: Vector | None = None
        self._scale = 0.0
        self._share = 0.9
        self._rounds = 0

    def keep(self, state: State) -> str:
        """Store the weights and the lower bound of a round if they are better.

        Return "optimal" if the gap is small enough to end the run, and "" otherwise.
        """
        self._rounds += 1
        # The run ends if a number overflows, because every later bound would be useless.
        if not math.isfinite(state.upper):
            raise InputError(
                f"the cumulative {self._problem.loss!r} loss is {state.upper} at w = "
                f"{state.w[:4]}...; the loss must be finite on {self._problem.over!r}; scale H or y"
            )
        # The loss of the first weights may be huge, so it is no scale for losses near 0.
        if self._rounds == 1:
            self._scale = self._problem.scale()
        if state.upper < self._above.upper:
            self._above = state
        if state.lower > self._below.lower:
            self._below = state
        # A certificate needs slopes, which the level method does not compute.
        if self._below.z is not None:
            self._slopes = self._below.z
        lower = self._below.lower
        upper = self._above.upper
        # A proof reads the stream twice, so it is only attempted if the estimates are narrow.
        if upper - lower > self._share * self._allowed(lower, upper):
            return ""
        _, lower, upper = self._certified()
        if upper - lower <= self._allowed(lower, upper):
            return "optimal"
        # The estimates were too optimistic, so the next proof waits for better estimates.
        self._share *= 0.5
        return ""

    def _allowed(self, lower: float, upper: float) -> float:
        return self._tol * max(lower, -upper, 1e-6 * self._scale, 1e-300)

    def _certified(self) -> tuple[Vector, float, float]:
        # The bounds for the best weights are recomputed and rounded outwards.
        w = self._problem.feasible(self._above.w)
        below = self._below
        lower = below.lower
        # A lower bound from cuts has already been proved.
        if below.at is not None or below.z is not None:
            lower = self._problem.lower(below.at, below.z)
        return w, lower, self._problem.upper(w)

    def comparator(self, status: str, clock: Clock) -> Comparator:
        """Return the result of the run, which ended with `status`."""
        w, lower, upper = self._certified()
        return Comparator(
            w, lower, upper, self._tol, status, self._rounds, clock.seconds,
            self._problem, self._slopes,
        )  # fmt: skip
