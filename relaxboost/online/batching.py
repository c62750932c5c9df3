"""From online to batch: one hypothesis from the iterates of any learner, and what bounds its risk.

After m examples a learner has had the weights w_0, ..., w_{m−1}, each chosen before the example it
was judged by. Q is the uniform distribution on them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from relaxboost._core.arrays import Array, Matrix, Vector, doubles
from relaxboost._core.errors import InputError, RowError
from relaxboost._core.parameters import count, natural, positive, share
from relaxboost.online.blocks import opener
from relaxboost.online.learner import Learner, OnlineMethod
from relaxboost.online.losses import losses_of
from relaxboost.online.risks import Assumptions, ordered, ranged, risk_bound, validation_radius

Rule = Literal["mean", "uniform", "majority", "validation"]
_ONCE = "give arrays, or a function that opens it anew, or declare snapshots=[i, ...]"
_ROWS = 1024
"""Of a stream at a time, and iterates validated in one pass."""
_DOUBLES = 2**20
"""Of the iterates validated in one pass."""


class _Piece(NamedTuple):
    """Rows of a stream, about to be learned."""

    first: int
    H: Matrix
    y: Vector
    asked: bool
    """Whether the weights before its first row were asked for."""


class _Run:
    """One pass of a learner through a stream, which stops at the weights asked for."""

    def __init__(self, method: OnlineMethod, opened: Callable[[], Iterable[Any]]) -> None:
        self.method, self.opened = method, opened
        self.learner: Learner | None = None
        self.rows = 0
        self.wrong = 0

    @property
    def w(self) -> Vector:
        """w_i after i rows."""
        assert self.learner is not None
        return self.learner.w

    def pieces(self, stops: Iterable[int]) -> Iterator[_Piece]:
        """Yield the rows in order, each piece before it is learned; a stop begins a piece.

        Stops increase; i asks for w_i, before row i.
        """
        ahead = iter(stops)
        stop = next(ahead, None)
        for given in self.opened():
            H, y = self._checked(*_arrays(given))
            at = 0
            while at < len(H):
                asked = stop == self.rows
                if asked:
                    stop = next(ahead, None)
                end = min(len(H), at + _ROWS)
                if stop is not None:
                    end = min(end, at + stop - self.rows)
                yield _Piece(self.rows, H[at:end], y[at:end], asked)
                self._learn(H[at:end], y[at:end])
                at = end
        if not self.rows:
            raise InputError("the stream is empty: there is no hypothesis to choose")

    def _checked(self, H: Matrix, y: Vector | None) -> tuple[Matrix, Vector]:
        """Return a block with its targets as the loss takes them."""
        if len(H):
            self.learner = self.learner or self.method.start(H.shape[1])
            if H.shape[1] != self.learner.size:
                raise InputError(
                    f"row {self.rows} has {H.shape[1]} base functions, and those before "
                    f"{self.learner.size}; a stream has one width"
                )
        try:
            return H, self.method.loss.checked(y, len(H))
        except RowError as error:
            raise error.moved(self.rows) from None

    def _learn(self, H: Matrix, y: Vector) -> None:
        assert self.learner is not None
        try:
            said = self.learner.update(H, y)
        except RowError as error:
            raise error.moved(self.rows) from None
        if self.method.loss.task == "binary":
            self.wrong += int((said * y <= 0.0).sum())
        self.rows += len(H)


@dataclass(frozen=True, eq=False)
class BatchHypothesis:
    """What online learning leaves behind for examples to come. Made by `batch`."""

    rule: Rule
    w: Vector | None
    """The weights; None for a majority."""
    index: int | None
    """i where w is the iterate w_i."""
    examples: int
    """m."""
    among: int
    """How many iterates Q has, or were compared: m, or the snapshots."""
    loss: float
    """The mean loss of the iterates of Q, each on the example that came after it."""
    wrong: float | None
    """The share of these examples with y<w, h> <= 0; None where there are no labels."""
    score: float | None = None
    """For "validation": loss on later examples and radius, of the one chosen."""
    sure: tuple[float, float] | None = None
    """(δ, c) of the radius."""
    voters: Matrix | None = None
    """The snapshots that vote, shape (among, M)."""
    _replayed: Callable[[], Iterator[Matrix]] | None = None

    def __str__(self) -> str:
        which = f"{self.rule} of {self.among} iterates"
        chosen = "" if self.index is None else f": w_{self.index}"
        wrong = "" if self.wrong is None else f", {self.wrong:.1%} wrong"
        score = "" if self.score is None else f", later loss and radius {self.score:.6g}"
        return f"{which}{chosen}, mean loss on the way {self.loss:.6g}{wrong}{score}"

    def predict(self, H: Any) -> Any:
        """Return <w, h> for an example or rows of them; for a majority the mean of sign <w_i, h>.

        H has shape (M,) or (rows, M). A majority of all iterates goes through its stream again.
        """
        given = doubles("H", H)
        if self.w is not None:
            _check_width(given, self.w.size)
            return given @ self.w
        votes, voters = np.zeros(given.shape[:-1]), 0
        for W in [self.voters] if self._replayed is None else self._replayed():
            assert W is not None
            _check_width(given, W.shape[1])
            votes += np.sign(given @ W.T).sum(axis=-1)
            voters += len(W)
        _check_same(self.among, voters)
        votes = votes / voters
        return float(votes) if given.ndim == 1 else votes

    def risk_bound(self, delta: float, assumptions: Assumptions) -> float:
        """Return a bound of the risk with probability >= 1 − δ over the examples.

        For "mean" it is Eq. 1, for "uniform" too, where the risk is the mean of that of all draws.
        For "majority" it is twice Eq. 1 of the 0-1 loss, and bounds the chance of an error; a vote
        of 0 is one. For "validation" it is the score, with the δ and c of the choice.

        Raises
        ------
        InputError
            Where what it rests on is not assumed, or the choice was made with another δ or less c.
        """
        if self.rule == "validation":
            assert self.score is not None
            assert self.sure is not None
            if delta != self.sure[0] or ranged("validation", assumptions) > self.sure[1]:
                raise InputError(
                    f"the choice was made with delta={self.sure[0]:g} and losses in [0, "
                    f"{self.sure[1]:g}]; ask for these, or choose again"
                )
            return self.score
        if self.rule == "majority":
            ordered("the bound of a majority", assumptions)
            assert self.wrong is not None
            zero_one = Assumptions(iid_order=True, loss_range=1.0)
            return 2.0 * risk_bound(self.wrong, self.among, delta, zero_one)
        return risk_bound(self.loss, self.among, delta, assumptions)


def batch(
    method: OnlineMethod,
    source: Any,
    rule: Rule = "mean",
    *,
    snapshots: int | Iterable[int] | None = None,
    delta: float | None = None,
    loss_range: float | None = None,
    seed: int = 0,
) -> BatchHypothesis:
    """Learn from a stream, and return one hypothesis for examples to come.

    Parameters
    ----------
    method : OnlineMethod
    source : (H, y), Stream, iterable of blocks (H, y), or function that returns one
        What can be read once only will do for "mean", "uniform" and declared snapshots.
    rule : str
        "mean" of w_0, ..., w_{m−1}; "uniform", one of them drawn at random. Both need one pass and
        O(M) memory. "majority", the sign of the sum of their signs: it reads the stream again
        whenever it predicts. "validation": the w_{i−1} with the least loss on z_i, ..., z_m
        plus `validation_radius`; it takes m² losses.
    snapshots : int or increasing integers, optional
        For the last two rules: so many iterates, evenly spread, or w_i for these i, in place of
        all. Bounds then are those of so few, with log(2k/δ) for k snapshots.
    delta, loss_range : float, optional
        For "validation": δ, and c with all losses in [0, c].
    seed : int
        Of the draw of "uniform", which does not depend on how the stream is cut into blocks.

    Raises
    ------
    InputError
        For options that do not fit the rule, a stream that cannot be read as often as it must, an
        empty one, a loss outside [0, c].

    References
    ----------
    Dekel (2011), Secs. 1 and 2.3, with the indices of its Sec. 1; Vitter (1985) for the draw.

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> H = np.array([[1.0, -1.0], [0.5, 1.0], [-1.0, 0.0]])
    >>> method = rb.online.ExponentiatedGradient("hinge")
    >>> found = rb.online.batch(method, (H, np.array([1.0, -1.0, 1.0])), "uniform", seed=1)
    >>> found.index, found.examples
    """
    _check_options(method, rule, snapshots, delta, loss_range)
    again = rule in ("majority", "validation") and not isinstance(snapshots, Iterable)
    opened, _ = opener(source, _ONCE if again else None)
    if rule in ("mean", "uniform"):
        return _kept(_Run(method, opened), rule, natural("seed", seed))
    if rule == "majority" and snapshots is None:
        return _replayed(method, opened)
    plan = _planned(snapshots, opened)
    if rule == "majority":
        return _voted(method, opened, plan)
    assert delta is not None
    assert loss_range is not None
    return _validated(method, opened, plan, (delta, float(loss_range)))


def _check_options(method: Any, rule: Any, snapshots: Any, delta: Any, loss_range: Any) -> None:
    """Raise for options that do not fit the rule."""
    if not isinstance(method, OnlineMethod):
        raise InputError(f"method must be an OnlineMethod such as GradientDescent, got {method!r}")
    if rule not in get_args(Rule):
        raise InputError(f"rule must be {', '.join(get_args(Rule))}, got {rule!r}")
    if rule in ("mean", "uniform") and snapshots is not None:
        raise InputError(f"{rule!r} is exact in one pass; leave out snapshots")
    if rule == "validation":
        if delta is None or loss_range is None:
            raise InputError("validation needs delta and loss_range=c, with all losses in [0, c]")
        share("delta", delta)
        positive("loss_range", loss_range)
    elif delta is not None or loss_range is not None:
        raise InputError(f"delta and loss_range are for validation, not for {rule!r}")
    if rule == "majority" and method.loss.task != "binary":
        raise InputError(f"a majority votes on labels -1 and +1, which {method.loss!r} has not")


def _kept(way: _Run, rule: Rule, seed: int) -> BatchHypothesis:
    """Return the mean, or an iterate that a reservoir of size one holds in the end."""
    w, index = None, None
    for piece in way.pieces(reservoir(seed) if rule == "uniform" else ()):
        if piece.asked:
            w, index = way.w, piece.first
    assert way.learner is not None
    if rule == "mean":
        w = way.learner.average
    wrong = way.wrong / way.rows if way.method.loss.task == "binary" else None
    loss = way.learner.loss / way.rows
    return BatchHypothesis(rule, w, index, way.rows, way.rows, loss, wrong)


def reservoir(seed: int) -> Iterator[int]:
    """Yield 0 = i_0 < i_1 < ... so that, for all m, the last below m is uniform on 0, ..., m − 1.

    Of i things each stays the last for k − i more with probability i/k. So the next number is the
    least k with i/k <= u, for u uniform; the draw is uniform to 2^−53.
    """
    rng, i = np.random.default_rng(seed), 1
    while True:
        yield i - 1
        i = max(i + 1, math.ceil(i / (1.0 - rng.random())))


class _Plan(NamedTuple):
    """Which iterates vote or are compared."""

    places: list[int]
    together: int
    """How many of them at a time."""
    rows: int | None
    """m, where it was counted."""


def _planned(snapshots: Any, opened: Callable[[], Iterable[Any]]) -> _Plan:
    """Return the iterates declared, or as many as asked for."""
    if isinstance(snapshots, Iterable):
        places = [natural("snapshots", i) for i in snapshots]
        if not places or any(a >= b for a, b in itertools.pairwise(places)):
            raise InputError(f"snapshots must increase, and be one at least, got {snapshots!r}")
        return _Plan(places, len(places), None)
    m, size = 0, 1
    for given in opened():
        rows, size = _arrays(given)[0].shape
        m += rows
    if not m:
        raise InputError("the stream is empty: there is no hypothesis to choose")
    k = m if snapshots is None else count("snapshots", snapshots)
    if k > m:
        raise InputError(f"snapshots={k} is more than the {m} examples of the stream")
    return _Plan([j * m // k for j in range(k)], min(_ROWS, max(1, _DOUBLES // size)), m)


def _voted(
    method: OnlineMethod, opened: Callable[[], Iterable[Any]], plan: _Plan
) -> BatchHypothesis:
    """Return the majority of some iterates, which are kept."""
    way = _Run(method, opened)
    W, losses, errors = [], [], []
    for piece in way.pieces(plan.places):
        if piece.asked:
            W.append(way.w)
            losses.append(
                float(losses_of(method.loss, W[-1][None], piece.H[:1], piece.y[:1])[0, 0])
            )
            errors.append(float(piece.y[0] * (W[-1] @ piece.H[0]) <= 0.0))
    _check_reached(plan, way)
    loss, wrong = float(np.mean(losses)), float(np.mean(errors))
    k = len(W)
    return BatchHypothesis("majority", None, None, way.rows, k, loss, wrong, voters=np.array(W))


def _replayed(method: OnlineMethod, opened: Callable[[], Iterable[Any]]) -> BatchHypothesis:
    """Return the majority of all iterates, which are made again to predict."""
    way = _Run(method, opened)
    for _ in way.pieces(()):
        pass
    assert way.learner is not None
    m, loss, wrong = way.rows, way.learner.loss / way.rows, way.wrong / way.rows
    again = partial(_iterates, method, opened)
    return BatchHypothesis("majority", None, None, m, m, loss, wrong, _replayed=again)


def _iterates(method: OnlineMethod, opened: Callable[[], Iterable[Any]]) -> Iterator[Matrix]:
    """Yield w_0, ..., w_{m−1}, some rows at a time."""
    way, held = _Run(method, opened), []
    for _ in way.pieces(itertools.count()):
        held.append(way.w)
        if len(held) == _ROWS or len(held) * held[0].size >= _DOUBLES:
            yield np.array(held)
            held = []
    if held:
        yield np.array(held)


def _validated(
    method: OnlineMethod,
    opened: Callable[[], Iterable[Any]],
    plan: _Plan,
    sure: tuple[float, float],
) -> BatchHypothesis:
    """Return the iterate of the least score, the first of several; some in each pass."""
    k, (delta, c) = len(plan.places), sure
    said = Assumptions(iid_order=True, loss_range=c)  # the choice is made in any case
    best, w, index = math.inf, None, None
    next_losses = []
    for at in range(0, k, plan.together):
        group = plan.places[at : at + plan.together]
        way, W, sums = _Run(method, opened), np.empty((len(group), 0)), np.zeros(len(group))
        seen = 0
        for piece in way.pieces(group):
            if piece.asked:
                W = W if seen else np.empty((len(group), piece.H.shape[1]))
                W[seen] = way.w
                seen += 1
            if seen:
                losses = losses_of(method.loss, W[:seen], piece.H, piece.y)
                _check_range(losses, c, piece.first)
                sums[:seen] += losses.sum(axis=1)
                if piece.asked:
                    next_losses.append(float(losses[-1, 0]))
        _check_reached(plan, way)
        for place, total, kept in zip(group, sums.tolist(), W, strict=True):
            left = way.rows - place
            score = total / left + validation_radius(left, k, delta, said)
            if score < best:
                best, w, index = score, kept.copy(), place
    loss = float(np.mean(next_losses))
    return BatchHypothesis("validation", w, index, way.rows, k, loss, None, best, sure)


def _check_range(losses: Array, c: float, first: int) -> None:
    outside = (losses < 0.0) | (losses > c * (1.0 + 1e-12))
    if outside.any():
        row = first + int(np.argmax(outside.any(axis=0)))
        wrong = float(losses[outside][0])
        raise InputError(f"row {row} has the loss {wrong:g}, outside [0, {c:g}]; set loss_range")


def _check_reached(plan: _Plan, way: _Run) -> None:
    _check_same(plan.rows, way.rows)
    if plan.places[-1] >= way.rows:
        raise InputError(
            f"the stream has {way.rows} examples, and so no w_{plan.places[-1]} that predicts one"
        )


def _check_same(before: int | None, now: int) -> None:
    if before not in (None, now):
        raise InputError(
            f"the stream had {before} examples, and now {now}; give one that is the same each "
            "time, such as arrays"
        )


def _check_width(H: Array, size: int) -> None:
    if H.ndim not in (1, 2) or H.shape[-1] != size:
        raise InputError(f"H must be (M,) or (rows, {size}), got {H.shape}")


def _arrays(given: Any) -> tuple[Matrix, Vector | None]:
    """Return the rows and targets of a block."""
    parts = given if isinstance(given, tuple | list) else (given,)
    if len(parts) > 2:
        raise InputError(
            "a block is (H, y); the bounds are for examples that all count the same, so that "
            "weights have no place here"
        )
    H = np.atleast_2d(doubles("H", parts[0]))
    if len(parts) == 1 or parts[1] is None:
        return H, None
    y = np.atleast_1d(np.asarray(parts[1]))
    if y.shape != (len(H),):
        raise InputError(f"there are {len(H)} examples and targets of shape {y.shape}")
    return H, y
