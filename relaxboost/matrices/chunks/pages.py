"""Files of binned features, written one feature at a time and read as memory maps."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.errors import InputError
from relaxboost.matrices.stumps import binned, code_type


class Spool:
    """Rows of features in a file on disk.

    The file consists of pages, which are blocks of rows stored feature by feature.
    """

    def __init__(self, path: Path, rows: Iterable[Array], page: int) -> None:
        self._path = path
        self.page = page
        self.m = self.features = 0
        buffer = np.empty((page, 0))
        used = 0
        with path.open("wb") as file:
            for X in rows:
                if not self.m:
                    self.features = X.shape[1]
                    buffer = np.empty((page, self.features))
                self.m += X.shape[0]
                while X.shape[0]:
                    taken = min(page - used, X.shape[0])
                    buffer[used : used + taken] = X[:taken]
                    X = X[taken:]
                    used += taken
                    if used == page:
                        file.write(np.ascontiguousarray(buffer.T).data)
                        used = 0
            file.write(np.ascontiguousarray(buffer[:used].T).data)

    def _starts(self) -> Iterator[tuple[int, int]]:
        return ((a, min(self.page, self.m - a)) for a in range(0, self.m, self.page))

    def column(self, f: int) -> Vector:
        """Return the values of feature f, one for each example."""
        out = np.empty(self.m)
        with self._path.open("rb") as file:
            for a, rows in self._starts():
                file.seek(8 * (a * self.features + f * rows))
                file.readinto(out[a : a + rows].data)
        return out

    def blocks(self) -> Iterator[Array]:
        """Yield the stored rows as arrays, one page at a time."""
        with self._path.open("rb") as file:
            for _, rows in self._starts():
                page = np.fromfile(file, count=rows * self.features)
                yield page.reshape(self.features, rows).T


@dataclass(frozen=True)
class Pages:
    """The location and layout of the files of a stump matrix.

    Other processes use this object to open the files. The file ``codes`` contains the number of
    cuts below each value, with features in rows. The file ``cuts`` contains the neighbouring values
    (low, high) around each cut. The file ``signs`` contains the labels −1 and +1.
    """

    folder: Path
    m: int
    page: int
    """The number of rows in a block. Tasks on a cluster process whole blocks."""
    bins: tuple[int, ...]
    """The number of codes (bins) of each feature, one more than its cuts."""
    kind: str
    """The NumPy type of the file ``codes``, by name."""
    tops: tuple[float, ...]
    """The largest value of each feature, above all its cuts."""
    sums: tuple[int, ...]
    """The CRC-32 checksums of the files ``codes``, ``cuts`` and ``signs``."""

    def check(self) -> None:
        """Raise InputError if a file is missing or has changed since it was written."""
        try:
            found = _sums(self.folder)
        except OSError as error:
            raise InputError(
                f"the files of a matrix in {self.folder} cannot be read ({error.strerror}). The "
                "files are deleted together with their matrix; for a cluster, directory= must be a "
                "directory that all workers can read"
            ) from None
        if found != self.sums:
            raise InputError(
                f"the files of a matrix in {self.folder} have changed since they were written; "
                "create the matrix again"
            )

    def codes(self, first: int = 0, last: int | None = None) -> NDArray[Any]:
        """Return the entries first, ..., last − 1 of the file ``codes`` as a memory-mapped array.

        An entry is the number of cuts below an example's value. The entries of the first feature
        come first. By default all entries are returned.
        """
        last = len(self.bins) * self.m if last is None else last
        start = np.dtype(self.kind).itemsize * first
        path = self.folder / "codes"
        return np.asarray(np.memmap(path, self.kind, "c", start, (last - first,)))

    def cuts(self) -> Array:
        """Return the neighbours (low, high) of each cut as rows of a memory-mapped array."""
        return np.asarray(np.memmap(self.folder / "cuts", np.float64, "c")).reshape(-1, 2)

    def signs(self) -> Vector:
        """Return the labels −1 and +1 as a memory-mapped array."""
        return np.asarray(np.memmap(self.folder / "signs", np.float64, "c"))

    @property
    def offsets(self) -> Whole:
        """The column of each feature's first cut, followed by the number of columns."""
        return _offsets(self.bins)


def _offsets(bins: Iterable[int]) -> Whole:
    return np.cumsum([0, *(b - 1 for b in bins)], dtype=np.int64)


def _sums(folder: Path) -> tuple[int, ...]:
    sums = []
    for name in ("codes", "cuts", "signs"):
        crc = 0
        with (folder / name).open("rb") as file:
            while chunk := file.read(2**20):
                crc = zlib.crc32(chunk, crc)
        sums.append(crc)
    return tuple(sums)


def write_pages(spool: Spool, signs: Vector, folder: Path, max_cuts: int | None) -> Pages:
    """Bin every feature, and write the files of the matrix to `folder`.

    Only one feature is in memory at a time.
    """
    bins = []
    tops = []
    wide = folder / "wide"
    with wide.open("wb") as codes, (folder / "cuts").open("wb") as cuts:
        for f in range(spool.features):
            column = spool.column(f)
            tops.append(float(column.max()))
            code, around = binned(column, max_cuts)
            bins.append(len(around) + 1)
            cuts.write(around.data)
            codes.write(code.astype(np.uint32).data)
            del column, code, around  # This frees the memory before the next feature is read.
    if max(bins) == 1:
        raise InputError(
            "X has only constant features, so there is no stump; add a feature that varies"
        )
    kind = code_type(_offsets(bins))
    if kind is np.uint32:
        wide.rename(folder / "codes")
    else:
        with wide.open("rb") as given, (folder / "codes").open("wb") as codes:
            while (some := np.fromfile(given, np.uint32, 2**18)).size:
                codes.write(some.astype(kind).data)
        wide.unlink()
    signs.tofile(folder / "signs")
    shape = (spool.m, spool.page, tuple(bins), np.dtype(kind).name, tuple(tops))
    return Pages(folder, *shape, _sums(folder))
