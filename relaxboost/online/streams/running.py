"""Progressive learning, in which each example is predicted before it is learned."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, RowError, few
from relaxboost._core.files import Pace, check_output
from relaxboost._core.history import History
from relaxboost._core.loop import Clock, Limits, run
from relaxboost._core.parameters import count, exact, natural
from relaxboost.online.learner import Learner, OnlineMethod
from relaxboost.online.saving import read_state, remove_leftovers, write_state
from relaxboost.online.streams.bases import BaseFunctions
from relaxboost.online.streams.streaming import Page, Stream, stream
from relaxboost.online.streams.words import split_columns


class ProgressRecord(NamedTuple):
    """The progress of a `progressive` run and the quality of its predictions."""

    rows: int
    """The number of examples so far."""
    loss: float
    """The sum of the losses so far. Each example is predicted before it is learned."""
    mistakes: int | None
    """The number of predictions with the wrong sign so far, or None unless the targets are classes.
    The prediction 0 counts as negative."""
    bound: float
    """A proved upper bound on the regret for the examples of this run and of earlier runs; see
    `Learner.regret_bound`."""
    seconds: float


@dataclass(frozen=True)
class Progressive:
    """The result of `progressive`."""

    learner: Learner
    status: str
    """Why the run ended: "ended" at the end of the stream, "time_limit", "callback" or
    "interrupted"."""
    history: tuple[ProgressRecord, ...]
    """The records of this run and of the runs that it resumed. Long runs keep only some of them."""
    unsaved: OSError | None = None
    """The error that prevented writing the last checkpoint, or None."""
    positives: int | None = None
    """The number of examples with the label +1, or None unless the targets are classes."""

    @property
    def last(self) -> ProgressRecord:
        """The last record of the run."""
        return self.history[-1]

    def __repr__(self) -> str:
        rows, loss, mistakes, bound, _ = self.last
        wrong = "" if mistakes is None else f", {mistakes} mistakes"
        return (
            f"Progressive({rows} examples, mean loss {loss / max(rows, 1):.6g}{wrong}, regret at "
            f"most {bound:.6g}, {self.status})"
        )


class _Kept(NamedTuple):
    """The learner's state after the last completely learned group of rows.

    The learner returns to it if the run is interrupted.
    """

    arrays: tuple[Vector, ...]
    """Copies of the arrays that `Learner.arrays` returns."""
    at: int
    """The index of the first row that is not learned yet."""
    mistakes: int
    positives: int
    """The number of examples with the label +1."""


class _Run:
    """A run of a learner on a stream, which resumes the checkpoint at `path`, if any."""

    def __init__(
        self,
        learner: Learner,
        source: Stream,
        path: Path | None,
        limit: float | None,
        predictions: Callable[[int, Vector], Any] | None,
    ) -> None:
        self.learner = learner
        self.predictions = predictions
        self.path = path
        self._source = source
        self._begin = source.start
        self._loss_before = learner.loss
        self.kept = _Kept(self._copies(), source.start, 0, 0)
        # The first and the last learned row are stored, so that a resumed run can recognise its
        # stream.
        self._ends: list[Vector] = []
        # The records are thinned, so that a long run stores at most 10 000 of them.
        self.history: History[ProgressRecord] = History()
        if path is not None:
            remove_leftovers(path)
        spent = self._resume(read_state(path)) if path is not None and path.exists() else 0.0
        self._first = self.kept.at
        self.clock = Clock(limit, spent)
        self.pace = Pace()

    @property
    def has_labels(self) -> bool:
        """Whether the targets are labels, so that a wrong sign is a mistake."""
        return bool(self.learner.method.loss.task == "binary")

    def record(self) -> ProgressRecord:
        """Return the progress of the run so far."""
        return ProgressRecord(
            self.kept.at - self._begin,
            self.learner.loss - self._loss_before,
            self.kept.mistakes if self.has_labels else None,
            self.learner.regret_bound(),
            self.clock.seconds,
        )

    def records(self, every: int | None) -> Iterator[ProgressRecord]:
        """Learn the rows of the stream, and yield a record after each group of rows.

        If `every` is a number, records are yielded after each multiple of it, and at the end.
        """
        reported = -1
        # A resumed run skips the rows before the checkpoint.
        for page in _cut(self._pages(), every):
            self._learn(page)
            if every is None or self.kept.at % every == 0:
                reported = self.kept.at
                yield self.record()
            # The checkpoint follows the record, so that a resumed run has all records.
            if self.pace.due:
                self.write()
            self.clock.check()
        # The stream of a resumed run may be shorter than that of the checkpoint.
        end = self._source.rows
        if end is not None and end < self.kept.at:
            raise InputError(
                f"{self._source.name} has {end} rows, but the checkpoint {self.path} is after row "
                f"{self.kept.at}; pass the stream of the checkpoint"
            )
        if reported != self.kept.at:
            yield self.record()

    def _pages(self) -> Iterator[Page]:
        at = self.kept.at
        # The last row of the checkpoint is read again, because a file may have been rewritten.
        is_resumed = at > self._begin
        pages = self._source.pages(at - is_resumed)
        for number, page in enumerate(pages):
            if number == 0:
                self._recognise(page)
                if is_resumed:
                    page = Page(at, page.H[1:], None if page.y is None else page.y[1:], page.X[1:])
            yield page

    def _compare_ends(self, page: Page) -> None:
        if self._source.replayable:
            X, y = self._source.head(1)
            self._compare(self._begin, X[0], y, self._ends[0])
        self._compare(page.first, page.X[0], page.y, self._ends[1])

    def _compare(self, row: int, x: Vector, y: Vector | None, kept: Vector) -> None:
        """Raise an InputError if a row differs from the one learned before the checkpoint."""
        here = _row(x, y)
        columns = self._source.columns
        names = [*(f"feature {name!r}" for name in columns), "the label"]
        # A row with another number of features has other columns, which the error of `_recognise`
        # names.
        if len(here) != len(kept) or np.array_equal(here, kept, equal_nan=True):
            return
        j = int(np.argmax((here != kept) & ~(np.isnan(here) & np.isnan(kept))))
        remedy = "pass the stream of the checkpoint"
        numbers, words = split_columns(columns)
        # The features of words are not columns of the table, so that they are named by their words.
        if words and len(numbers) <= j < len(columns):
            raise InputError(
                f"{self._source.name} has words at row {row}, in {few(words, 9)}, that differ "
                f"from those in the checkpoint {self.path}; {remedy}"
            )
        if j == len(names) - 1 and here[j] == -kept[j]:
            remedy += ", and its classes in the same order"
        raise InputError(
            f"{self._source.name} has {here[j]:g} at row {row}, {names[j]}, but the checkpoint "
            f"{self.path} has {kept[j]:g} there; {remedy}"
        )

    def restore(self) -> None:
        """Reset the learner to the last completely learned group of rows."""
        for array, kept in zip(self.learner.arrays(), self.kept.arrays, strict=True):
            array[:] = kept

    def write(self) -> OSError | None:
        """Write the checkpoint, if requested. If writing fails, warn and return the error."""
        if self.path is None:
            return None
        begun = time.perf_counter()
        about: dict[str, Any] = {"begin": self._begin, "before": self._loss_before}
        about["predictions"] = self.predictions is not None
        about |= self.kept._asdict() | {"seconds": self.clock.seconds}
        del about["arrays"]
        # Missing targets are stored as nan, because the array contains doubles.
        history = np.array(self.history.records(), dtype=np.float64)
        rest = {"run": about, "history": history, "ends": np.array(self._ends)}
        trouble = None
        try:
            write_state(self.path, self.learner.state() | rest)
        except OSError as error:
            # A full disk must not end a run that took hours.
            trouble = error
            message = f"checkpoint {self.path} could not be written: {error.strerror}"
            warnings.warn(f"{message}; free disk space", RuntimeWarning, stacklevel=3)
        self.pace.wrote(begun)
        return trouble

    def refuse(self, error: InputError) -> None:
        """Restore the last complete state, write the checkpoint, and raise an error.

        The error names the row from which the run can continue. If no row was learned, no error is
        raised.
        """
        self.restore()
        unsaved = self.write()
        at = self.kept.at
        # Another stream than that of the checkpoint is refused before this run learns a row.
        if at == self._first:
            return
        said = (
            f"the rows before row {at} are learned: correct the stream, and continue from row {at}"
        )
        if unsaved is not None:
            said = f"{self.path} could not be written: {unsaved.strerror}"
        raise InputError(f"{error}; {said}") from error

    def _resume(self, state: dict[str, Any]) -> float:
        # The result is the time of the earlier runs in seconds.
        learner = self.learner
        path = self.path
        try:
            found = self._checked(state)
            about = state["run"]
            spent = float(exact("a checkpoint", "seconds", about["seconds"]))
            counts = (natural(name, about[name]) for name in ("at", "mistakes", "positives"))
            self.kept = _Kept(found.arrays(), *counts)
            self._loss_before = float(exact("a checkpoint", "before", about["before"]))
            self._ends = list(state["ends"])
            for rows, loss, mistakes, bound, seconds in state["history"]:
                wrong = None if np.isnan(mistakes) else int(mistakes)
                numbers = map(float, (bound, seconds))
                self.history.add(ProgressRecord(int(rows), float(loss), wrong, *numbers))
        except InputError as error:
            raise InputError(
                f"cannot resume {path}: {error}; use the same options, or another file"
            ) from None
        except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
            raise InputError(
                f"{path} is not a checkpoint of a run, or is damaged: {error}"
            ) from None
        learner.origin = found.origin
        self.restore()
        return spent

    def _checked(self, state: dict[str, Any]) -> Learner:
        """Return the learner of a checkpoint.

        An InputError is raised if it belongs to another method, stream or set of base functions.
        """
        # The method may depend on the columns, so other columns explain another method.
        names = state.get("origin", {}).get("names")
        here = self._source.origin["names"]
        if names and here and names != here:
            raise InputError(f"{self._source.name} has {_difference('names', here, names)}")
        # The bound of a method may depend on the base functions, so they are compared first.
        _check_base(state, self.learner.size, self._source.base)
        found: Learner = self.learner.method.restored(state)
        begin = state["run"]["begin"]
        if begin != self._begin:
            raise InputError(
                f"the saved run started at row {begin}, and this run starts at row {self._begin}"
            )
        return found

    def _recognise(self, page: Page) -> None:
        # The base functions and columns must be those of the learner's earlier streams.
        learner = self.learner
        name = self._source.name
        here = self._source.origin
        # A stream without column names fits any columns.
        for what in ("names", "features", "base functions"):
            # Other rows explain other base functions, so they are named first.
            if what == "base functions" and self._ends:
                self._compare_ends(page)
            known = learner.origin.get(what)
            if known and here[what] and known != here[what]:
                raise InputError(f"{name} has {_difference(what, here[what], known)}")
        if page.y is None and learner.method.loss.task:
            raise InputError(
                f"{learner.method.loss!r} needs targets, but {name} has none; name their column: y="
            )
        if page.H.shape[1] != learner.size:
            raise InputError(
                f"{name} has {page.H.shape[1]} base functions, but this learner has "
                f"{learner.size} weights"
            )
        # The known names of columns are kept if a later stream has no names.
        learner.origin = {what: new or learner.origin.get(what, new) for what, new in here.items()}

    def _learn(self, page: Page) -> None:
        try:
            predictions = self.learner.update(page.H, page.y)
        except RowError as error:
            raise error.moved(page.first) from None
        if self.predictions is not None:
            self.predictions(page.first, predictions)
        _, _, mistakes, positives = self.kept
        if page.y is not None:
            is_positive = page.y > 0.0
            mistakes += int(np.count_nonzero((predictions > 0.0) != is_positive))
            positives += int(np.count_nonzero(is_positive))
        first = self._ends[0] if self._ends else _row(page.X[0], page.y)
        self._ends = [first, _row(page.X[-1], page.y, -1)]
        # Ctrl-C may come at any time, so that the state is replaced by a single assignment.
        self.kept = _Kept(self._copies(), page.first + len(page.H), mistakes, positives)

    def _copies(self) -> tuple[Vector, ...]:
        return tuple(array.copy() for array in self.learner.arrays())


def _cut(pages: Iterator[Page], every: int | None) -> Iterator[Page]:
    """Divide the pages of a stream so that a page ends at every multiple of `every` rows."""
    for first, H, y, X in pages:
        a = 0
        while a < len(H):
            b = len(H) if every is None else min(len(H), a + every - (first + a) % every)
            yield Page(first + a, H[a:b], None if y is None else y[a:b], X[a:b])
            a = b


def _check_base(state: dict[str, Any], size: int, base: BaseFunctions) -> None:
    kept = state.get("origin", {}).get("base functions", "")
    # The key of base functions begins with their name, which the message shows.
    was = kept.rpartition(" ")[0]
    if was not in ("", base.name):
        raise InputError(
            f"the learner was saved with base functions {was!r}, and this run has {base.name!r}"
        )
    if np.size(state["w"]) != size:
        raise InputError(
            f"the learner was saved with {np.size(state['w'])} base functions, and this run has "
            f"{size}"
        )


def _row(x: Vector, y: Vector | None, at: int = 0) -> Vector:
    return np.append(x, np.nan if y is None else y[at])


def _difference(what: str, here: str, known: str) -> str:
    if what == "names":
        both = (split_columns(names.split("\n")) for names in (here, known))
        got, want = ([*numbers, *words] for numbers, words in both)
        for names, others, has in ((got, want, "a"), (want, got, "no")):
            for name in names:
                if name not in others:
                    return f"{has} column {name!r}, but the learner has learned from {few(want, 9)}"
        j = next(j for j, pair in enumerate(zip(got, want, strict=False)) if pair[0] != pair[1])
        return (
            f"column {got[j]!r} where the learner has learned from column {want[j]!r}; put the "
            f"columns in the order {few(want, 9)}"
        )
    if what == "features":
        return f"{here} columns, but the learner has learned from {known}"
    return (
        f"{what} that differ from those that the learner has learned from; they must be the same, "
        "and so must the rows from which they are made"
    )


def progressive(
    learner: Any,
    source: Any,
    *,
    every: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    callback: Callable[[ProgressRecord], Any] | None = None,
    predictions: Callable[[int, Vector], Any] | None = None,
) -> Progressive:
    """Predict each example of a stream with the current weights, then learn from it.

    The losses of these predictions measure the performance on new data without a test set. Ctrl-C
    ends the run and returns the current result.

    Parameters
    ----------
    learner : Learner or OnlineMethod
        A learner is changed in place; a method starts a new learner.
    source : Stream, or an argument of `stream`
        The stream.
    every : int, optional
        The number of rows between two records. By default there is a record for each page of the
        stream.
    checkpoint : path, optional
        A file that is written at most every half second and at the end. If it exists, the run
        resumes after its last row, with bitwise the same result as an uninterrupted run. The
        method, the columns and the base functions must be unchanged. The last learned row is
        compared, and also the first if the stream is replayable; other changes are not detected.
    time_limit : float, optional
        The time limit in seconds.
    callback : callable, optional
        A function that is called with each `ProgressRecord`. A true result ends the run.
    predictions : callable, optional
        A function that is called for each page with the index of its first row and the predictions.
        If a run was killed, the resumed run predicts the rows after the checkpoint again.

    Raises
    ------
    InputError
        If the stream is empty, if the stream or the checkpoint does not fit the learner, or if a
        row is invalid. The page of an invalid row is not learned. The error names the index of the
        row and of the first row of its page, both from 0. `Stream.after` continues after the
        invalid row.

    References
    ----------
    Blum, Kalai & Langford (1999), Beating the hold-out; Cesa-Bianchi, Conconi & Gentile (2004).
    """
    given = source if isinstance(source, Stream) else stream(source)
    every = None if every is None else count("every", every)
    path = None if checkpoint is None else check_output(checkpoint)
    limits = Limits(time_limit=time_limit, callback=callback)
    started = _started(learner, given)
    way = _Run(started, given, path, limits.time_limit, predictions)
    history = way.history

    def keep(record: ProgressRecord) -> str:
        history.add(record)
        return ""

    # The rows before an invalid row stay learned, and are in the checkpoint.
    try:
        status = run(way.records(every), keep, limits, way.clock, empty=True)
    except InputError as error:
        way.refuse(error)
        raise
    # Ctrl-C may have interrupted a page.
    way.restore()
    if not status and way.kept.at == given.start:
        raise InputError(f"{given.name} is empty: it has no rows to learn from")
    unsaved = way.write()
    last = way.record()
    if history.last is None or history.last.rows != last.rows:
        history.add(last)
    positives = way.kept.positives if way.has_labels else None
    return Progressive(started, status or "ended", history.records(), unsaved, positives)


def _started(learner: Any, source: Stream) -> Learner:
    if isinstance(learner, Learner):
        return learner
    if not isinstance(learner, OnlineMethod):
        raise InputError(
            f"learner must be a Learner, or an OnlineMethod that starts one, got {learner!r}"
        )
    # A stream that can be read only once would lose its first row.
    if not source.replayable:
        raise InputError(
            f"{source.name} can be read only once, so its number of base functions M is "
            "unknown before the run; pass a learner, method.start(M)"
        )
    return learner.start(source.base.size(source.head(1)[0].shape[1]))
