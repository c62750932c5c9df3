"""Regret as a bracket: what a learner lost more than the best fixed weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import count, positive
from relaxboost._core.rounding import down, roundoff, show_bracket, up
from relaxboost.online import kernels
from relaxboost.online.comparators.comparator import Comparator, hindsight
from relaxboost.online.comparators.replay import Replay
from relaxboost.online.learner import Learner, OnlineMethod

_LEAST = 1e-3
"""Seconds that every comparator is given, so that it has a bracket."""


@dataclass(frozen=True, eq=False)
class Regret:
    """Σ l_i(w_{i−1}) − min over w of Σ l_i(w) of a learner, as a bracket; made by `regret`.

    `lower` = loss − comparator.upper and `upper` = loss − comparator.lower, rounded outwards.
    """

    lower: float
    upper: float
    loss: float
    """Σ l_i(w_{i−1}), the learner's."""
    bound: float
    """What the theorem says of this trace for every w of the domain."""
    bound_at: float
    """What it says for the comparator's w."""
    comparator: Comparator
    learner: str
    """Its method."""
    along: tuple[Regret, ...] = field(default=(), repr=False)
    """The same for the prefixes asked for, shortest first."""

    @property
    def examples(self) -> int:
        """How many examples it is over."""
        return self.comparator.examples

    @property
    def gap(self) -> float:
        """upper − lower."""
        return self.upper - self.lower

    def __str__(self) -> str:
        lower, upper = show_bracket(self.lower, self.upper)
        least = self.comparator.upper if self.comparator.lower > 0.0 else self.loss - self.lower
        theorem = f"by theorem at most {self.bound_at:.6g} against it, {self.bound:.6g} against any"
        if math.isinf(self.bound_at):
            theorem = "no theorem bounds it with such steps; Horizon(t) has one"
        return (
            f"{lower} <= regret <= {upper} after {self.examples} examples: loss {self.loss:.6g}, "
            f"the best w {least:.6g}; {theorem}"
        )

    def show(self) -> None:
        """Print it, a line for each prefix and one for the whole."""
        print(*(*self.along, self), sep="\n")

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data, the prefixes under "along"; None is no bound."""
        names = ("examples", "lower", "upper", "loss", "bound", "bound_at", "learner")
        return {
            **{name: _json(getattr(self, name)) for name in names},
            "comparator": {
                "lower": self.comparator.lower,
                "upper": self.comparator.upper,
                "status": self.comparator.status,
                "w": self.comparator.w.tolist(),
            },
            "along": [one.to_dict() for one in self.along],
        }


def regret(
    learner: OnlineMethod | Learner,
    stream: Any,
    at: Iterable[int] | None = None,
    *,
    tol: float = 1e-6,
    time_limit: float | None = None,
) -> Regret:
    """Return the regret of a learner on a stream, bracketed, beside what the theorem promises.

    Parameters
    ----------
    learner : OnlineMethod or Learner
        A method is started and learns from the stream, and so does a learner that has seen
        nothing. One that has learned is believed to have done so from this stream.
    stream : tuple of arrays, callable or iterable
        As for `hindsight`: it is read many times.
    at : iterable of int, optional
        After how many examples else to look, each from 1 to all; each comparator starts from the
        one before. Only for learners that have seen nothing.
    tol : float
        The width of the bracket, as a part of the comparator's loss.
    time_limit : float, optional
        Seconds for the comparators together, > 0.

    Returns
    -------
    Regret
        Of all examples, those of `at` in `Regret.along`.

    Raises
    ------
    InputError
        For a stream that can be read once only, an empty one, examples that do not fit, numbers in
        `at` beyond the stream, or a learner that has learned from another weight of examples.
    """
    if not isinstance(learner, OnlineMethod | Learner):
        raise InputError(
            "regret needs a learner, such as MirrorDescent('hinge', over=Simplex(1)), or one that "
            f"it has started, got {type(learner).__name__}"
        )
    left = None if time_limit is None else positive("time_limit", time_limit)
    method = learner if isinstance(learner, OnlineMethod) else learner.method
    replay = Replay(stream, method.loss)
    stops = _stops(at, replay.m)
    if isinstance(learner, Learner) and learner.weight > 0.0:
        _check_learned(learner, replay, stops)
        states = [learner.state()]
    else:
        fresh = method.start(replay.M) if isinstance(learner, OnlineMethod) else learner
        states = _learned(fresh, replay, stops)
    clock, found, start = Clock(left), [], None
    for state, stop in zip(states, stops, strict=True):
        limit = None if left is None else max(clock.left, _LEAST)
        start = hindsight(
            method.loss, method.over, stream, tol, start=start, time_limit=limit, first=stop
        )
        found.append(_bracketed(method.restored(state), start))
    return replace(found[-1], along=tuple(found[:-1]))


def _json(value: Any) -> Any:
    return None if value == math.inf else value


def _stops(at: Iterable[int] | None, m: int) -> list[int]:
    """Return after how many examples to look, the last being all."""
    stops = sorted({count("at", k) for k in (() if at is None else at)} | {m})
    if stops[-1] > m:
        raise InputError(f"at asks for {stops[-1]} examples, and the stream has {m}")
    return stops


def _check_learned(learner: Learner, replay: Replay, stops: list[int]) -> None:
    if len(stops) > 1:
        raise InputError(
            "at= needs a learner that has seen nothing, and this one has learned already; give its "
            "method, learner.method"
        )
    if abs(learner.weight - replay.total) > 1e-9 * replay.total:
        raise InputError(
            f"the learner has learned from examples of weight {learner.weight:g}, and the stream "
            f"has {replay.total:g}; give the stream it learned from, or learner.method"
        )


def _learned(learner: Learner, replay: Replay, stops: list[int]) -> list[dict[str, Any]]:
    """Let a learner learn from the stream; return its states at the stops."""
    states = []
    for rows, H, y, weight in replay:
        cuts = [k - rows.start for k in stops if rows.start < k < rows.stop]
        for a, b in pairwise([0, *cuts, len(y)]):
            learner.update(H[a:b], y[a:b], weight[a:b])
            if rows.start + b in stops:
                states.append(learner.state())
    return states


def _bracketed(learner: Learner, comparator: Comparator) -> Regret:
    """Return the regret of one prefix; the learner's own sum is charged with its rounding."""
    loss, method = learner.loss, learner.method
    # Predictions are off by roundoff of Σ |w_j h_j|, and losses by their slopes times that.
    steep = math.sqrt(learner.rounds * float(learner.arrays()[3][kernels.SQUARES]))
    size = abs(loss) + steep * method.over.reach(learner.size)
    noise = roundoff(learner.rounds + learner.size + 64) * size
    return Regret(
        lower=down(down(loss - noise) - comparator.upper),
        upper=up(up(loss + noise) - comparator.lower),
        loss=loss,
        bound=learner.regret_bound(),
        bound_at=learner.regret_bound(comparator.w),
        comparator=comparator,
        learner=repr(method),
    )
