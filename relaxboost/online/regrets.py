"""Bounds on the regret of an online learner."""

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
from relaxboost.online.comparators.comparator import Comparator, hindsight
from relaxboost.online.comparators.replay import Replay
from relaxboost.online.kernels.rounds import SQUARES
from relaxboost.online.learner import Learner, OnlineMethod


@dataclass(frozen=True, eq=False)
class Regret:
    """Bounds on the regret Σ l_i(w_{i−1}) − min_w Σ l_i(w) of an online learner.

    Here l_i is the loss on example i, and w_{i−1} are the learner's weights before this example.

    The bounds are `lower` = loss − comparator.upper, rounded down, and `upper` = loss −
    comparator.lower, rounded up.
    """

    lower: float
    upper: float
    loss: float
    """The cumulative loss Σ l_i(w_{i−1}) of the learner."""
    bound: float
    """A proved upper bound on the regret compared with any weights of the domain."""
    bound_at: float
    """A proved upper bound on the regret compared with the best weights found."""
    comparator: Comparator
    learner: str
    """The representation (`repr`) of the learner's method."""
    along: tuple[Regret, ...] = field(default=(), repr=False)
    """The regrets after the numbers of examples in the argument `at` of `regret`, in ascending
    order."""

    @property
    def examples(self) -> int:
        """The number of examples."""
        return self.comparator.examples

    @property
    def gap(self) -> float:
        """The difference `upper` − `lower`."""
        return self.upper - self.lower

    def __str__(self) -> str:
        lower, upper = show_bracket(self.lower, self.upper)
        least = self.comparator.upper if self.comparator.lower > 0.0 else self.loss - self.lower
        theorem = (
            f"by theorem at most {self.bound_at:.6g} compared with this w, and at most "
            f"{self.bound:.6g} compared with any w"
        )
        if math.isinf(self.bound_at):
            theorem = "no theorem bounds it with these steps; Horizon(t) has a bound"
        return (
            f"{lower} <= regret <= {upper} after {self.examples} examples: the learner's loss is "
            f"{self.loss:.6g}, and the loss of the best w is {least:.6g}; {theorem}"
        )

    def show(self) -> None:
        """Print the bounds after each requested number of examples and after all examples."""
        print(*(*self.along, self), sep="\n")

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds as a JSON dictionary.

        The entry "along" lists the regrets after fewer examples. Bounds that do not exist are None.
        """
        names = ("examples", "lower", "upper", "loss", "bound", "bound_at", "learner")
        return {
            # JSON has no infinity, so that infinite bounds become None.
            **{name: None if (x := getattr(self, name)) == math.inf else x for name in names},
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
    """Return lower and upper bounds on the regret of a learner, and the bound of a theorem.

    Parameters
    ----------
    learner : OnlineMethod or Learner
        A method or a new learner, which is run on the stream, or a learner that has already learned
        from this stream.
    stream : tuple of arrays, callable or iterable
        The stream, as for `hindsight`. It is read many times.
    at : iterable of int, optional
        Additional numbers of examples after which to compute the regret. They require a method or a
        new learner.
    tol : float
        The requested gap as a fraction of the loss of the best weights.
    time_limit : float, optional
        The time limit in seconds for all comparators together.

    Returns
    -------
    Regret
        The regret on all examples, with the regrets requested by `at` in `Regret.along`.

    Raises
    ------
    InputError
        If the stream is empty or can be read only once, if an example is invalid, if a number in
        `at` exceeds the number of examples, or if the learner has learned from a different total
        weight.
    """
    if not isinstance(learner, OnlineMethod | Learner):
        raise InputError(
            "learner must be a Learner, or a method such as MirrorDescent('hinge', "
            f"over=Simplex(1)), got {type(learner).__name__}"
        )
    left = None if time_limit is None else positive("time_limit", time_limit)
    method = learner if isinstance(learner, OnlineMethod) else learner.method
    replay = Replay(stream, method.loss)
    stops = sorted({*(count("at", k) for k in (() if at is None else at)), replay.m})
    if stops[-1] > replay.m:
        raise InputError(f"at contains {stops[-1]}, but the stream has only {replay.m} examples")
    if isinstance(learner, Learner) and learner.weight > 0.0:
        # The learner has already summed its losses, so that only the comparator is computed.
        _check_learned(learner, replay, stops)
        states = [learner.state()]
    else:
        fresh = method.start(replay.M) if isinstance(learner, OnlineMethod) else learner
        states = _learned(fresh, replay, stops)
    clock = Clock(left)
    found: list[Regret] = []
    start = None
    for state, stop in zip(states, stops, strict=True):
        # Every comparator gets at least a millisecond, in which it finds some bracket.
        limit = None if left is None else max(clock.left, 1e-3)
        # The comparator of a prefix is a warm start for that of the next prefix.
        start = hindsight(
            method.loss, method.over, stream, tol, start=start, time_limit=limit, first=stop
        )
        found.append(_bracketed(method.restored(state), start))
    return replace(found[-1], along=tuple(found[:-1]))


def _check_learned(learner: Learner, replay: Replay, stops: list[int]) -> None:
    if len(stops) > 1:
        raise InputError("at= needs a new learner; pass the method of this learner, learner.method")
    # Weights are summed in another order, so the sums may differ by rounding.
    if abs(learner.weight - replay.total) > 1e-9 * replay.total:
        raise InputError(
            f"the learner has seen examples of total weight {learner.weight:g}, but the stream has "
            f"total weight {replay.total:g}; pass the stream from which it has "
            "learned, or learner.method"
        )


def _learned(learner: Learner, replay: Replay, stops: list[int]) -> list[dict[str, Any]]:
    states = []
    for rows, H, y, weight in replay:
        # The learner's state is copied after each requested number of examples, so that blocks are
        # divided there.
        cuts = [k - rows.start for k in stops if rows.start < k < rows.stop]
        for a, b in pairwise([0, *cuts, len(y)]):
            learner.update(H[a:b], y[a:b], weight[a:b])
            if rows.start + b in stops:
                states.append(learner.state())
    return states


def _bracketed(learner: Learner, comparator: Comparator) -> Regret:
    loss = learner.loss
    method = learner.method
    # The error of a prediction is the roundoff of Σ |w_j h_j|, and the error of a loss is its slope
    # times the error of the prediction. The predictions of `HedgedDescent` are means that `update`
    # returns and not products <w, h>. They have no error, so that the sum of squares is 0 and the
    # error of a loss is relative to the loss.
    steep = math.sqrt(learner.rounds * float(learner.arrays()[3][SQUARES]))
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
