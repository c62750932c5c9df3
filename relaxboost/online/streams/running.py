"""Progressive learning: each example is predicted before anything is learned from it."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.errors import InputError, RowError
from relaxboost._core.files import Pace, check_output
from relaxboost._core.history import History
from relaxboost._core.loop import Clock, Limits, run
from relaxboost._core.parameters import count, natural
from relaxboost.online.learner import Learner, OnlineMethod
from relaxboost.online.saving import read_state, write_state
from relaxboost.online.streams.streaming import Page, Stream, stream


class ProgressRecord(NamedTuple):
    """How far a learner is, and how well it has predicted."""

    rows: int
    """Examples learned from in this run."""
    loss: float
    """The sum of the losses of their predictions, each made before it."""
    mistakes: int | None
    """How many of them have the wrong sign (0 counts as −1); None without classes."""
    bound: float
    """What the loss may exceed that of any fixed w in the domain by, whatever the examples.

    It is that of the learner, all it has learned before this run included; delays add to it what
    the predictions lost by them.
    """
    seconds: float


@dataclass(frozen=True)
class Progressive:
    """What a run of :func:`progressive` has come to."""

    learner: Learner
    status: str
    """"ended" with the stream, or "time_limit", "callback", "interrupted"."""
    history: tuple[ProgressRecord, ...]
    """Thinned; the last one is what the run came to."""

    @property
    def last(self) -> ProgressRecord:
        """The last record."""
        return self.history[-1]

    def __repr__(self) -> str:
        rows, loss, mistakes, bound, _ = self.last
        wrong = "" if mistakes is None else f", {mistakes} mistakes"
        return (
            f"Progressive({rows} examples, mean loss {loss / max(rows, 1):.6g}{wrong}, regret at "
            f"most {bound:.6g}, {self.status})"
        )


class _Waiting(NamedTuple):
    """Examples predicted whose labels have not arrived."""

    H: Array
    y: Vector
    scores: Array
    """The loss of each, and whether its sign was wrong; shape (examples, 2)."""

    def cut(self, a: int, b: int | None = None) -> _Waiting:
        """Return those from a to b."""
        return _Waiting(self.H[a:b], self.y[a:b], self.scores[a:b])

    def with_others(self, others: _Waiting) -> _Waiting:
        """Return these and others."""
        pairs = zip(self, others, strict=True)
        return _Waiting(*(np.concatenate(pair) for pair in pairs))


class _Kept(NamedTuple):
    """All that a run goes on from, exchanged at once."""

    arrays: tuple[Vector, ...]
    at: int
    """The next row to be predicted."""
    loss: float
    mistakes: int
    waiting: _Waiting


class _Run:
    """A learner on its way through a stream, from the checkpoint at `path` on, if there is one."""

    def __init__(
        self,
        learner: Learner,
        source: Stream,
        delay: int,
        path: Path | None,
        limit: float | None,
    ) -> None:
        self.learner, self.source, self.delay, self.path = learner, source, delay, path
        self.begin, self.before, spent = source.start, learner.loss, 0.0
        none = _Waiting(np.empty((0, learner.size)), np.empty(0), np.empty((0, 2)))
        self.kept = _Kept(self._copies(), source.start, 0.0, 0, none)
        self._owed = none.scores
        if path is not None and path.exists():
            spent = self._resume(read_state(path))
        self.clock, self.pace = Clock(limit, spent), Pace()

    def record(self) -> ProgressRecord:
        """Return how far it is."""
        kept, learner = self.kept, self.learner
        learned = learner.loss - self.before
        loss = kept.loss if self.delay else learned
        mistakes = kept.mistakes if learner.method.loss.task == "binary" else None
        rows = kept.at - len(kept.waiting.y) - len(self._owed) - self.begin
        bound = learner.regret_bound() + (loss - learned)
        return ProgressRecord(rows, loss, mistakes, bound, self.clock.seconds)

    def records(self, every: int | None) -> Iterator[ProgressRecord]:
        """Learn, and yield a record for each page, or `every` so many rows and at the end."""
        pages = self.source.pages(self.kept.at - len(self._owed))
        told = -1
        for page in _cut(self._refilled(pages), every):
            self._learn(page)
            if every is None or self.kept.at % every == 0:
                told = self.kept.at
                yield self.record()
            self.clock.check()
        end = self.source.rows
        if end is not None and end < self.kept.at:
            raise InputError(
                f"{self.source.name} has {end} rows, and the run that {self.path} goes on with had "
                f"{self.kept.at}"
            )
        if told != self.kept.at:
            yield self.record()

    def restore(self) -> None:
        """Put the learner back to what was kept last."""
        for array, kept in zip(self.learner.arrays(), self.kept.arrays, strict=True):
            array[:] = kept

    def write(self) -> None:
        """Write the checkpoint, if there is to be one; trouble with it does not end the run."""
        if self.path is None or len(self._owed):  # until then the file is as it was
            return
        begun = time.perf_counter()
        kept = self.kept
        about = {"delay": self.delay, "begin": self.begin, "before": self.before, "at": kept.at}
        about |= {"loss": kept.loss, "mistakes": kept.mistakes, "seconds": self.clock.seconds}
        state = {**self.learner.state(), "run": about, "owed": kept.waiting.scores}
        try:
            write_state(self.path, state)
        except OSError as error:
            said = f"checkpoint {self.path} could not be written: {error.strerror}; the run goes on"
            warnings.warn(said, RuntimeWarning, stacklevel=2)
        self.pace.wrote(begun)

    def _resume(self, state: dict[str, Any]) -> float:
        """Go on from a checkpoint; return the seconds that were spent."""
        learner, path = self.learner, self.path
        try:
            there = learner.method.restored(state)
            about, owed = state["run"], state["owed"].reshape(-1, 2)
            if there.size != learner.size:
                raise InputError(f"it has {there.size} weights, and this learner {learner.size}")
            if (about["delay"], about["begin"]) != (self.delay, self.begin):
                raise InputError(
                    f"its run has delay={about['delay']} from row {about['begin']} on, and this "
                    f"one delay={self.delay} from row {self.begin} on"
                )
        except InputError as error:
            raise InputError(
                f"cannot go on from {path}: {error}; give another name, or remove the file"
            ) from None
        except (KeyError, ValueError, TypeError) as error:
            raise InputError(f"{path} is no checkpoint of a run, or damaged: {error}") from None
        learner.origin, self.before = there.origin, about["before"]
        self.kept = self.kept._replace(
            arrays=there.arrays(), at=about["at"], loss=about["loss"], mistakes=about["mistakes"]
        )
        self.restore()
        self._owed = owed
        return float(about["seconds"])

    def _refilled(self, pages: Iterator[Page]) -> Iterator[Page]:
        """Yield the pages, but for rows already predicted, which wait for their labels again."""
        known = False
        for page in pages:
            if not known:
                self._recognise(page)
                known = True
            n = min(len(self._owed), len(page.H))
            if n:
                y = np.zeros(n) if page.y is None else page.y[:n].copy()
                again = _Waiting(page.H[:n].copy(), y, self._owed[:n])
                waiting = self.kept.waiting.with_others(again)
                self.kept = self.kept._replace(waiting=waiting)
                self._owed = self._owed[n:]
                page = _part(page, n, len(page.H))
            if len(page.H):
                yield page

    def _recognise(self, page: Page) -> None:
        """Raise unless the stream is of the kind that the learner knows, and has targets."""
        learner, here = self.learner, self.source.origin
        for what, there in learner.origin.items():
            if there and here[what] and there != here[what]:
                raise InputError(
                    f"this learner has learned from {what} {there}, and {self.source.name} has "
                    f"{here[what]}; they must be the same, in the same order"
                )
        if page.y is None and learner.method.loss.task:
            raise InputError(
                f"{learner.method.loss!r} needs targets, and {self.source.name} has none; say "
                "where they are: y="
            )
        if page.H.shape[1] != learner.size:
            raise InputError(
                f"{self.source.name} has {page.H.shape[1]} base functions, and this learner "
                f"{learner.size} weights"
            )
        learner.origin = here

    def _learn(self, page: Page) -> None:
        try:
            if self.delay:
                self._learn_late(page)
                return
            predictions = self.learner.update(page.H, page.y)
        except RowError as error:
            raise error.moved(page.first) from None
        wrong = self.kept.mistakes
        if page.y is not None:
            wrong += int(np.count_nonzero((predictions > 0.0) != (page.y > 0.0)))
        at = page.first + len(page.H)
        self.kept = self.kept._replace(arrays=self._copies(), at=at, mistakes=wrong)

    def _learn_late(self, page: Page) -> None:
        """Predict each row, then learn from the one `delay` rows before it."""
        kept, n = self.kept, len(page.H)
        y = np.zeros(n) if page.y is None else page.y
        found = kept.waiting.with_others(_Waiting(page.H, y, np.empty((n, 2))))
        arrived = max(0, len(found.y) - self.delay)
        said = self.learner.update_late(found.H[:arrived], found.y[:arrived], page.H, page.y)
        found.scores[-n:, 0] = said[:, 1]
        found.scores[-n:, 1] = (said[:, 0] > 0.0) != (y > 0.0)
        loss, scores = kept.loss, found.scores[:arrived]
        for value in scores[:, 0].tolist():  # one by one, so that pages change no bit
            loss += value
        mistakes = kept.mistakes + int(scores[:, 1].sum())
        waiting = found.cut(arrived)
        self.kept = _Kept(self._copies(), page.first + n, loss, mistakes, waiting)

    def _copies(self) -> tuple[Vector, ...]:
        return tuple(array.copy() for array in self.learner.arrays())


def _cut(pages: Iterator[Page], every: int | None) -> Iterator[Page]:
    """Cut pages where a multiple of `every` rows is reached."""
    for page in pages:
        a, rows = 0, len(page.H)
        while a < rows:
            b = rows if every is None else min(rows, a + every - (page.first + a) % every)
            yield _part(page, a, b)
            a = b


def _part(page: Page, a: int, b: int) -> Page:
    return Page(page.first + a, page.H[a:b], None if page.y is None else page.y[a:b])


def progressive(
    learner: Any,
    source: Any,
    *,
    delay: int = 0,
    every: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    callback: Callable[[ProgressRecord], Any] | None = None,
) -> Progressive:
    """Predict each example of a stream with what was learned before it, then learn from it.

    The losses of these predictions say how a learner does on data it has not seen, with no test
    set. Ctrl-C ends the run with what there is.

    Parameters
    ----------
    learner : Learner or OnlineMethod
        A learner goes on from where it is, and is changed; a method starts one.
    source : Stream, or what `stream` takes
    delay : int
        Labels arrive late: example i is learned from when i + delay has been predicted, so that
        the last `delay` ones never are. So many rows are kept in memory.
    every : int, optional
        A record and a call of `callback` every so many rows, by default for each page.
    checkpoint : path, optional
        Written at most every half second, and at the end. If there is a file, the learner goes on
        from it: the stream is replayed up to its row, and results are those of one run, to the bit.
    time_limit : float, optional
        Seconds, > 0.
    callback : callable, optional
        Called with each `ProgressRecord`; the run ends when what it returns is true.

    Raises
    ------
    InputError
        For a row that cannot be learned from, by its number in the stream, counted from 0. The
        page it lies in is not learned, those before it are; the error says which row comes next.
        For an empty stream; for other base functions, columns or widths than the learner knows;
        for a checkpoint of another learner.

    References
    ----------
    Blum, Kalai & Langford (1999), Beating the hold-out; Cesa-Bianchi, Conconi & Gentile (2004).
    """
    given = source if isinstance(source, Stream) else stream(source)
    delay = natural("delay", delay)
    every = None if every is None else count("every", every)
    path = None if checkpoint is None else check_output(checkpoint)
    limits = Limits(time_limit=time_limit, callback=callback)
    if isinstance(learner, OnlineMethod):
        learner = learner.start(_width(given))
    if not isinstance(learner, Learner):
        raise InputError(f"learner must be a Learner, or a method to start, got {learner!r}")
    way = _Run(learner, given, delay, path, limits.time_limit)
    history: History[ProgressRecord] = History()

    def keep(record: ProgressRecord) -> str:
        history.add(record)
        if way.pace.due:
            way.write()
        return ""

    try:
        status = run(way.records(every), keep, limits, way.clock, empty=True)
    except InputError as error:
        way.restore()
        way.write()
        if way.kept.at == given.start:
            raise
        said = f"{error}; what comes before row {way.kept.at} is learned"
        raise InputError(f"{said}: mend it, and go on from row {way.kept.at}") from error
    way.restore()
    if not status and way.kept.at == given.start:
        raise InputError(f"{given.name} is empty: it has no rows to learn from")
    way.write()
    last = way.record()
    if history.last is None or history.last.rows != last.rows:
        history.add(last)
    return Progressive(learner, status or "ended", history.records())


def _width(source: Stream) -> int:
    """Return M, from the first row of a stream."""
    if not source.replayable:
        raise InputError(
            f"{source.name} can be read once, so that its width is not known beforehand; give "
            "method.start(M)"
        )
    return source.base.size(source.head(1)[0].shape[1])
