"""The prediction file of `relaxboost online run`."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from relaxboost._core.errors import InputError, number_of
from relaxboost._core.files import check_output, naming


class PredictionsFile:
    """A CSV file of predictions, each made before the learner saw the label of its row.

    The function `label_of` returns the label of the class −1 or +1. For a resumed run, `rows` is
    the number of rows that the saved learner has read. The file must contain predictions for these
    rows; later ones, which a killed run left, are replaced.
    """

    def __init__(
        self,
        path: Path,
        loss: Any,
        label_of: Callable[[int], Any],
        is_resumed: bool = False,
        rows: int = 0,
    ) -> None:
        self.path = check_output(path)
        header = ["row", "prediction"]
        if loss.task == "binary":
            self._labels = np.array([str(label_of(-1)), str(label_of(1))])
            header += [f"probability of {label_of(1)}" if loss.loss.likelihood else "score"]
        self._task = loss.task
        self._is_likelihood = header[-1].startswith("probability")
        self._header = _lines([header])
        if path.exists() and not is_resumed:
            raise InputError(f"{path} already exists; pass another name to --predictions")
        self._at = self._end_of(rows) if path.exists() or rows else 0
        # The file is opened for the first page, so that a refused run changes no file.
        self._file: BinaryIO | None = None

    def _end_of(self, rows: int) -> int:
        has = "does not exist"
        if self.path.exists():
            with naming(self.path), self.path.open("rb") as file:
                has = "has other columns"
                if file.readline() == self._header:
                    lines = sum(line.endswith(b"\n") for line in islice(file, rows))
                    has = f"has {number_of(lines, 'prediction')}"
                    if lines == rows:
                        return file.tell()
        raise InputError(
            f"{self.path} {has}, but the --save file was written after row {rows}; pass the "
            "prediction file of the same run, or leave out --predictions"
        )

    def __call__(self, first: int, values: Any) -> None:
        """Append the predictions for consecutive rows of the stream, the first of which is row
        `first`."""
        columns: list[Any] = [range(first, first + len(values)), values.tolist()]
        if self._task == "binary":
            # The logistic function by tanh does not overflow.
            said = (1.0 + np.tanh(values / 2.0)) / 2.0 if self._is_likelihood else values
            columns[1:] = [self._labels[(values > 0.0).astype(int)].tolist(), said.tolist()]
        with naming(self.path):
            if self._file is None:
                self._file = self.path.open("r+b" if self._at else "wb")
                self._file.seek(self._at)
                self._file.truncate()
                if not self._at:
                    self._file.write(self._header)
            self._last = (first, self._file.tell())
            self._file.write(_lines(zip(*columns, strict=True)))
            # A checkpoint that is written next must not have more rows than the file.
            self._file.flush()

    def close(self, rows: int) -> None:
        """Close the prediction file, and keep only the predictions of the first `rows` rows."""
        if self._file is None:
            return
        with naming(self.path), self._file as file:
            # Ctrl-C may have come after the predictions of a page and before it was learned.
            if self._last[0] == rows:
                file.truncate(self._last[1])


def _lines(rows: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
