"""Online-to-batch conversion: one hypothesis from a learner's iterates, with a risk bound.

For m examples, the iterates are the weights w_0, ..., w_{m−1}. The iterate w_{i−1} predicts example
i and does not depend on it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from relaxboost._core.arrays import Matrix, Vector, doubles
from relaxboost._core.errors import InputError, RowError
from relaxboost._core.parameters import count, natural, positive, share
from relaxboost._core.seeds import Rng, accepts_seed, generator
from relaxboost.online.blocks import opener
from relaxboost.online.hedged import HedgedDescent
from relaxboost.online.learner import Learner, OnlineMethod
from relaxboost.online.losses import losses_of
from relaxboost.online.risks import Assumptions, ordered, ranged, risk_bound, validation_radius

Rule = Literal["mean", "uniform", "majority", "validation"]
ROWS_PER_PIECE = 1024
"""The maximum number of examples that are learned at a time, and of iterates that are evaluated in
one pass. Their losses take at most 8 MB."""


class _Piece(NamedTuple):
    """Consecutive rows of a stream that the learner has not learned yet."""

    first: int
    """The index of the first row in the stream."""
    H: Matrix
    y: Vector
    is_stop: bool
    """Whether the caller reads the weights before these rows are learned."""


class _Pass:
    """One pass of a new learner through a stream."""

    learner: Learner
    """The learner, which is created at the first row."""

    def __init__(self, method: OnlineMethod, opened: Callable[[], Iterable[Any]]) -> None:
        self.method = method
        self._opened = opened
        self.rows = 0
        self.wrong = 0

    def pieces(self, stops: Iterable[int]) -> Iterator[_Piece]:
        """Yield pieces of consecutive rows before they are learned.

        A new piece begins at each index i in `stops`, so that the caller can read the weights w_i.
        The indices must increase.
        """
        # The stops are read one by one, because they may come from an infinite iterator such as
        # `reservoir`.
        ahead = iter(stops)
        stop = next(ahead, None)
        for given in self._opened():
            H, given_targets = _arrays(given)
            if not self.rows and len(H):
                # The learner is created now, because the first row determines the number of
                # weights.
                self.learner = self.method.start(H.shape[1])
            if len(H) and H.shape[1] != self.learner.size:
                raise InputError(
                    f"row {self.rows} has {H.shape[1]} base functions, but the rows before have "
                    f"{self.learner.size}; all rows must have the same number"
                )
            try:
                y = self.method.loss.checked(given_targets, len(H))
                at = 0
                while at < len(H):
                    is_stop = stop == self.rows
                    if is_stop:
                        stop = next(ahead, None)
                    end = min(len(H), at + ROWS_PER_PIECE)
                    if stop is not None:
                        end = min(end, at + stop - self.rows)
                    yield _Piece(self.rows, H[at:end], y[at:end], is_stop)
                    predictions = self.learner.update(H[at:end], y[at:end])
                    if self.method.loss.task == "binary":
                        self.wrong += int((predictions * y[at:end] <= 0.0).sum())
                    self.rows += end - at
                    at = end
            except RowError as error:
                raise error.moved(self.rows) from None
        if not self.rows:
            raise InputError("the stream is empty; pass at least one example")


@dataclass(frozen=True, eq=False)
class BatchHypothesis:
    """A single hypothesis for future examples, returned by `batch`."""

    rule: Rule
    w: Vector | None
    """The weights of the base functions, or None for the rule "majority"."""
    index: int | None
    """The index i if the hypothesis is an iterate w_i, and None otherwise."""
    examples: int
    """The number m of training examples."""
    among: int
    """The number of iterates that the rule used, such as the number of voters."""
    loss: float
    """The mean loss of these iterates, each evaluated on its next example."""
    wrong: float | None
    """The fraction of these iterates that misclassify their next example, that is, with y<w, h> <=
    0. It is None for numeric targets and for the rule "validation"."""
    score: float | None = None
    """For the rule "validation": the mean loss on later examples plus `validation_radius`."""
    sure: tuple[float, float] | None = None
    """For the rule "validation": the arguments δ and c of `validation_radius`, where δ is the
    probability of failure and losses lie in [0, c]."""
    voters: Matrix | None = None
    """For the rule "majority": the iterates that vote, one in each row."""

    def __str__(self) -> str:
        chosen = "" if self.index is None else f": w_{self.index}"
        wrong = "" if self.wrong is None else f", {self.wrong:.1%} wrong"
        score = "" if self.score is None else f", later loss and radius {self.score:.6g}"
        return (
            f"{self.rule} of {self.among} iterates{chosen}, mean loss on the way {self.loss:.6g}"
            f"{wrong}{score}"
        )

    def predict(self, H: Any) -> Any:
        """Return the prediction <w, h> for an example, or for each row of a block.

        For the rule "majority", the prediction is the mean vote, where the iterate w_i votes with
        the sign −1, 0 or +1 of <w_i, h>.
        """
        given = doubles("H", H)
        W = self.w if self.voters is None else self.voters
        assert W is not None
        size = W.shape[-1]
        if given.ndim not in (1, 2) or given.shape[-1] != size:
            raise InputError(f"H must have shape ({size},) or (rows, {size}), got {given.shape}")
        if self.voters is None:
            return given @ W
        # A tie of an iterate counts as half a vote for each class.
        votes = np.sign(given @ W.T).sum(axis=-1) / len(W)
        return float(votes) if given.ndim == 1 else votes

    def risk_bound(self, delta: float, assumptions: Assumptions) -> float:
        """Return an upper bound on the risk that holds with probability at least 1 − δ.

        For "mean" and "uniform", the bound is Eq. 1 of Dekel (2011), which holds for the risk of
        the mean and for the mean risk of a random iterate. For "majority", the risk is the
        probability of an error or a tie, and the bound is twice Eq. 1 for the 0-1 loss. For
        "validation", the bound is `score`.

        Raises
        ------
        InputError
            If an assumption is missing. For "validation", also if δ differs from the `delta` of
            `batch`, or if the loss range exceeds its `loss_range`.
        """
        if self.rule == "validation":
            assert self.score is not None
            assert self.sure is not None
            if delta != self.sure[0] or ranged("validation", assumptions) > self.sure[1]:
                raise InputError(
                    f"batch was called with delta={self.sure[0]:g} and "
                    f"loss_range={self.sure[1]:g}; use these values, or call batch again"
                )
            return self.score
        if self.rule == "majority":
            ordered("the bound of a majority", assumptions)
            assert self.wrong is not None
            # If the vote is wrong, at least half of the iterates are wrong, hence the factor 2.
            zero_one = Assumptions(iid_order=True, loss_range=1.0)
            return 2.0 * risk_bound(self.wrong, self.among, delta, zero_one)
        return risk_bound(self.loss, self.among, delta, assumptions)


@accepts_seed
def batch(
    method: OnlineMethod,
    source: Any,
    rule: Rule = "mean",
    *,
    snapshots: int | Iterable[int] | None = None,
    delta: float | None = None,
    loss_range: float | None = None,
    rng: Rng = 0,
) -> BatchHypothesis:
    """Learn from a stream, and return a single hypothesis for future examples.

    Parameters
    ----------
    method : OnlineMethod
        The online method that produces the iterates.
    source : (H, y), Stream, iterable of blocks (H, y), or function that returns an iterable
        The examples. "mean" and "uniform" read the stream once, and so do all rules if `snapshots`
        contains indices; otherwise it is read repeatedly.
    rule : str
        How the hypothesis is made from the iterates w_0, ..., w_{m−1}. "mean" returns their mean,
        and "uniform" a random iterate. "majority" stores all iterates and predicts the class with
        the most votes. "validation" returns the iterate that minimises the mean loss on later
        examples plus `validation_radius`, which takes about m² loss evaluations.
    snapshots : int or increasing integers, optional
        For "majority" and "validation": the number k of evenly spaced iterates to use instead of
        all m, or their indices. Risk bounds then depend on k.
    delta, loss_range : float, optional
        For "validation": the failure probability δ of the risk bound, and a number c such that all
        losses are in [0, c].
    rng : int, numpy.random.Generator or None
        The seed for "uniform": an integer >= 0, a generator, or None for a new seed. The draw does
        not depend on the block sizes.

    Raises
    ------
    InputError
        If an option does not fit the rule, if the stream is empty or cannot be read as often as
        needed, or if a loss is not in [0, c].

    References
    ----------
    Dekel (2011), Secs. 1 and 2.3, with the indices of its Sec. 1; Vitter (1985) for the draw.

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> H = np.array([[1.0, -1.0], [0.5, 1.0], [-1.0, 0.0]])
    >>> method = rb.online.ExponentiatedGradient("hinge")
    >>> found = rb.online.batch(method, (H, np.array([1.0, -1.0, 1.0])), "uniform", rng=1)
    >>> found.index, found.examples
    (2, 3)
    """
    _check_options(method, rule, snapshots, delta, loss_range)
    if isinstance(method, HedgedDescent):
        raise InputError(
            "batch cannot use HedgedDescent, whose clipped predictions have no single weight "
            "vector; pass a method with a radius, such as MirrorDescent"
        )
    again = rule in ("majority", "validation") and not isinstance(snapshots, Iterable)
    remedy = "pass arrays, or a function that reopens it, or snapshots=[i, ...]"
    opened, _ = opener(source, remedy if again else None)
    if rule in ("mean", "uniform"):
        return _streamed(_Pass(method, opened), rule, generator(rng))
    # The indices of the iterates must be known before the pass.
    plan = _planned(snapshots, opened)
    if rule == "majority":
        return _voted(_Pass(method, opened), plan)
    assert delta is not None
    assert loss_range is not None
    return _validated(method, opened, plan, (delta, float(loss_range)))


def _check_options(method: Any, rule: Any, snapshots: Any, delta: Any, loss_range: Any) -> None:
    if not isinstance(method, OnlineMethod):
        raise InputError(f"method must be an OnlineMethod such as GradientDescent, got {method!r}")
    if rule not in get_args(Rule):
        raise InputError(f"rule must be one of {', '.join(get_args(Rule))}, got {rule!r}")
    # The rules "mean" and "uniform" use all iterates in one pass, and store none of them.
    if rule in ("mean", "uniform") and snapshots is not None:
        raise InputError(
            f"snapshots cannot be used with the rule {rule!r}, which uses all iterates in one "
            "pass; leave snapshots out"
        )
    if rule == "validation":
        if delta is None or loss_range is None:
            raise InputError(
                "the rule 'validation' needs delta and loss_range=c, with all losses in [0, c]"
            )
        share("delta", delta)
        positive("loss_range", loss_range)
    elif delta is not None or loss_range is not None:
        raise InputError(
            "delta and loss_range can be used only with the rule 'validation'; leave them out "
            f"for {rule!r}"
        )
    # A majority needs labels, because the votes are signs.
    if rule == "majority" and method.loss.task != "binary":
        raise InputError(
            f"the rule 'majority' needs labels -1 and +1, but the targets of {method.loss!r} are "
            "not labels; use 'mean'"
        )


def _streamed(one: _Pass, rule: Rule, rng: np.random.Generator) -> BatchHypothesis:
    w = None
    index = None
    for piece in one.pieces(reservoir(rng) if rule == "uniform" else ()):
        if piece.is_stop:
            w = one.learner.w
            index = piece.first
    if rule == "mean":
        w = one.learner.average
    wrong = one.wrong / one.rows if one.method.loss.task == "binary" else None
    loss = one.learner.loss / one.rows
    return BatchHypothesis(rule, w, index, one.rows, one.rows, loss, wrong)


def reservoir(rng: Rng) -> Iterator[int]:
    """Yield random indices for drawing a uniform row from a stream of unknown length.

    The drawn row has the last index below the number of rows m. The indices increase from 0, and
    the distribution on 0, ..., m − 1 is uniform up to an error of 2^−53.
    """
    rng = generator(rng)
    i = 1
    while True:
        yield i - 1
        # The indices i, ..., k − 1 must all be skipped with probability i/k. A uniform random
        # number gives the next index by the inverse of this distribution.
        i = max(i + 1, math.ceil(i / (1.0 - rng.random())))


class _Plan(NamedTuple):
    """The iterates w_i that vote in a majority or that validation compares."""

    places: list[int]
    """The indices i of the iterates."""
    together: int
    """The maximum number of iterates that validation compares in one pass through the stream."""
    rows: int | None
    """The number of examples, or None if they were not counted."""

    def check_reached(self, rows: int) -> None:
        """Raise an InputError if the stream has changed, or is too short for the iterates."""
        if self.rows not in (None, rows):
            raise InputError(
                f"the stream had {self.rows} examples in the first pass, but has {rows} now; pass "
                "a stream that does not change, such as arrays"
            )
        if self.places[-1] >= rows:
            raise InputError(
                f"the stream has {rows} examples, so the iterate w_{self.places[-1]} predicts "
                "none of them; leave out this snapshot"
            )


def _planned(snapshots: Any, opened: Callable[[], Iterable[Any]]) -> _Plan:
    """Return the iterates that the argument `snapshots` of `batch` selects."""
    if isinstance(snapshots, Iterable):
        places = [natural("snapshots", i) for i in snapshots]
        if not places or any(a >= b for a, b in itertools.pairwise(places)):
            raise InputError(
                f"snapshots must contain at least one index, in increasing order, got {snapshots!r}"
            )
        return _Plan(places, len(places), None)
    # A first pass counts the examples, because snapshots are spread evenly.
    m = 0
    size = 1
    for given in opened():
        rows, size = _arrays(given)[0].shape
        m += rows
    if not m:
        raise InputError("the stream is empty; pass at least one example")
    k = m if snapshots is None else count("snapshots", snapshots)
    if k > m:
        raise InputError(
            f"snapshots={k} exceeds the number of examples in the stream, {m}; pass a smaller "
            "number"
        )
    # The weights of the iterates of one pass take at most 8 MB.
    together = min(ROWS_PER_PIECE, max(1, 2**20 // size))
    return _Plan([j * m // k for j in range(k)], together, m)


def _voted(one: _Pass, plan: _Plan) -> BatchHypothesis:
    W = []
    losses = []
    errors = []
    for piece in one.pieces(plan.places):
        if piece.is_stop:
            w = one.learner.w
            W.append(w)
            losses.append(losses_of(one.method.loss, w[None], piece.H[:1], piece.y[:1])[0, 0])
            errors.append(piece.y[0] * (w @ piece.H[0]) <= 0.0)
    plan.check_reached(one.rows)
    loss = float(np.mean(losses))
    wrong = float(np.mean(errors))
    voters = np.array(W)
    return BatchHypothesis("majority", None, None, one.rows, len(W), loss, wrong, voters=voters)


def _validated(
    method: OnlineMethod,
    opened: Callable[[], Iterable[Any]],
    plan: _Plan,
    sure: tuple[float, float],
) -> BatchHypothesis:
    k = len(plan.places)
    delta, c = sure
    # The radius is only used to compare iterates. The bound on the risk checks the assumptions.
    assumed = Assumptions(iid_order=True, loss_range=c)
    score = math.inf
    w = None
    index = None
    rows = 0
    next_losses: list[float] = []
    # Each pass through the stream computes the scores of a group of iterates.
    for at in range(0, k, plan.together):
        group = plan.places[at : at + plan.together]
        one = _Pass(method, opened)
        W, sums = _later_losses(one, group, c, next_losses)
        rows = one.rows
        plan.check_reached(rows)
        for place, total, found in zip(group, sums.tolist(), W, strict=True):
            left = rows - place
            # An iterate near the end has few later examples, and therefore a large radius.
            scored = total / left + validation_radius(left, k, delta, assumed)
            if scored < score:
                score, w, index = scored, found, place
    loss = float(np.mean(next_losses))
    return BatchHypothesis("validation", w, index, rows, k, loss, None, score, sure)


def _later_losses(
    one: _Pass, group: list[int], c: float, next_losses: list[float]
) -> tuple[list[Vector], Vector]:
    """Return the weights of several iterates, and their total losses on later examples.

    The argument `group` contains the indices of the iterates. Their losses on the next example are
    appended to `next_losses`.
    """
    W: list[Vector] = []
    sums = np.zeros(len(group))
    for piece in one.pieces(group):
        if piece.is_stop:
            W.append(one.learner.w)
        if not W:
            continue
        losses = losses_of(one.method.loss, np.array(W), piece.H, piece.y)
        outside = (losses < 0.0) | (losses > c * (1.0 + 1e-12))
        if outside.any():
            row = piece.first + int(np.argmax(outside.any(axis=0)))
            raise InputError(
                f"the loss in row {row} is {losses[outside][0]:g}, outside [0, {c:g}]; pass a "
                "larger loss_range"
            )
        sums[: len(W)] += losses.sum(axis=1)
        if piece.is_stop:
            next_losses.append(float(losses[-1, 0]))
    return W, sums


def _arrays(given: Any) -> tuple[Matrix, Vector | None]:
    parts = given if isinstance(given, tuple | list) else (given,)
    if len(parts) > 2:
        raise InputError(
            "a block must be (H, y) without weights, because the bounds assume examples of equal "
            "weight"
        )
    H = np.atleast_2d(doubles("H", parts[0]))
    if len(parts) == 1 or parts[1] is None:
        return H, None
    y = np.atleast_1d(np.asarray(parts[1]))
    if y.shape != (len(H),):
        raise InputError(
            f"y must have shape ({len(H)},), one target per example of H, got {y.shape}"
        )
    return H, y
