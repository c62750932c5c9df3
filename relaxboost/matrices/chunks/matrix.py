"""The margin matrix of all decision stumps of data on disk."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.compiled import thread_pool
from relaxboost._core.errors import ClusterError, InputError
from relaxboost._core.parameters import count
from relaxboost.matrices.base import Best, best_of
from relaxboost.matrices.bulk import Pricing
from relaxboost.matrices.chunks.cluster import Cluster
from relaxboost.matrices.chunks.pages import Pages, Spool, write_pages
from relaxboost.matrices.chunks.passes import (
    all_edges,
    cut_up,
    each_feature,
    fixed_point,
    largest_edge,
)
from relaxboost.matrices.chunks.sources import LabelledRows
from relaxboost.matrices.stumps import StumpBulk, StumpMatrix, stump_digest


class ChunkedMatrix(StumpMatrix):
    """The margin matrix of all decision stumps of data on disk.

    It has the same columns and the same digest as the `StumpMatrix` of the same data. Results do
    not depend on threads or workers, because the products y_i d_i are rounded to integer multiples
    of a unit before they are summed. Features are processed one at a time, so that no array with an
    entry for each stump is in memory unless the caller requests one. Use `chunked` to create such a
    matrix.

    The files are deleted when the matrix is deleted. An unpickled copy of the matrix reads the same
    files, and does not use the cluster.
    """

    edge_roundings: ClassVar[int] = 1  # The sums are exact; see `fixed_point`.

    def __init__(
        self, pages: Pages, names: tuple[str, ...], max_cuts: int | None, digest: str
    ) -> None:
        self._pages = pages
        self._names = names
        self._max_cuts = max_cuts
        self._digest = digest
        self.m = pages.m
        self._offsets = pages.offsets
        self.n = int(self._offsets[-1])
        self._codes = pages.codes().reshape(-1, pages.m)
        self._cuts = pages.cuts()
        self._y = pages.signs()
        self.cluster: Cluster | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self._pages, self._names, self._max_cuts, self._digest)

    def _around(self, j: int) -> tuple[float, float]:
        low, high = self._cuts[j].tolist()
        return low, high

    def _each(self, d: Vector, reduced: Callable[[int, Whole], Any]) -> tuple[list[Any], float]:
        """Return a result for each feature, such as the largest edge of its stumps, and a unit.

        The function `reduced` computes the result from the sum of all products y_i d_i and their
        sums over each bin, as integer multiples of the unit.
        """
        q, total, unit = fixed_point(self._y, d)
        then = partial(reduced, total)
        cluster = self.cluster  # Another thread may set `self.cluster` to None meanwhile.
        if cluster is not None:
            try:
                return cluster.each(q, then), unit
            except ClusterError as error:
                self.cluster = None
                raise ClusterError(
                    f"{error}; this matrix no longer uses the cluster, and is computed in this "
                    "process if it is used again"
                ) from error
        pool, threads = thread_pool()

        def some(features: range) -> list[Any]:
            a, b = features.start, features.stop
            return each_feature(self._codes[a:b], self._pages.bins[a:b], q, then)

        parts = pool.map(some, cut_up(len(self._codes), 2 * threads))
        return list(chain.from_iterable(parts)), unit

    def _edges(self, d: Vector) -> Vector:
        edges, unit = self._each(d, all_edges)
        return unit * np.concatenate(edges)

    def best(self, d: Vector) -> Best:
        found, unit = self._each(self._examples(d), largest_edge)
        with_cuts = [f for f, b in enumerate(self._pages.bins) if b > 1]
        # Among equal edges, `max` returns the first.
        feature = max(with_cuts, key=lambda f: abs(found[f][1]))
        cut, edge = found[feature]
        return best_of(int(self._offsets[feature]) + cut, edge * unit)

    def pricing(self) -> Pricing:
        # Unlike `bulk`, this object computes edges in exact passes over the pages.
        return StumpBulk(self._codes, self._offsets, self._y, self.edges)

    def data(self) -> Array:
        """Return the labels and features, one row per example, for a certificate.

        Raises
        ------
        InputError
            If `max_cuts` was passed, because the files then do not contain the exact values.
        """
        if self._max_cuts is not None:
            raise InputError(
                "max_cuts was passed, so the files of this matrix contain the bin of each value "
                "instead of the value; to store the data in a certificate, use "
                "stumps(X, y, max_cuts=...), which gives the same game"
            )
        out = np.empty((self.m, 1 + len(self._codes)), order="F")
        out[:, 0] = self._y
        for f, (a, b) in enumerate(pairwise(self._offsets.tolist())):
            out[:, 1 + f] = np.append(self._cuts[a:b, 0], self._pages.tops[f])[self._codes[f]]
        return out


def _reopened(pages: Pages, *known: Any) -> ChunkedMatrix:
    pages.check()
    return ChunkedMatrix(pages, *known)


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # A forked process must not delete the files of its parent.
        shutil.rmtree(folder, ignore_errors=True)


def chunked(
    source: Any,
    y: Any = None,
    *,
    directory: str | os.PathLike[str] | None = None,
    max_cuts: int | None = None,
    feature_names: Any = None,
    page: int = 65_536,
    client: Any = None,
) -> ChunkedMatrix:
    """Store a data set of any size on disk, and return the margin matrix of all its stumps.

    The function reads the source once, and bins one feature at a time in about 80 bytes of memory
    per row. The files take 8 bytes per value during binning, and 1, 2 or 4 bytes per value and 16
    bytes per stump afterwards.

    Parameters
    ----------
    source : array, path, or iterator
        A NumPy array or memory map of shape (m, features); or the path of a Parquet file, or of a
        folder of Parquet files, which pyarrow reads in the order of their names; or an object with
        ``reset()`` and ``next(input_data)``, like xgboost's DataIter. Its method `next` calls
        ``input_data(data=X, label=y)`` and returns True, or it returns False at the end. Empty
        blocks are skipped.
    y : array of shape (m,), or str
        The labels, which have two values. The values −1 and +1 are kept, and `datasets.labels` maps
        others. For Parquet, `y` is the name of the label column. For an iterator, it is None.
    directory : path, optional
        The directory for the files of binned features. The files are written to a subfolder, which
        is deleted with the matrix. The default is the directory for temporary files. The workers of
        a cluster must be able to read the directory under the same path.
    max_cuts : int, optional
        The maximum number of thresholds per feature, as in `stumps`. With fewer thresholds the game
        has a different digest and optimum. If no feature has more than 255 thresholds, a value
        takes one byte.
    feature_names : sequence of str, optional
        The names of the features. By default they are those of the source, or x0, x1, ...
    page : int
        The number of rows to read and write at a time. It does not affect the results.
    client : dask.distributed.Client, optional
        The client whose workers compute the sums over the examples. The workers may be threads or a
        cluster. This parameter requires ``pip install '.[dask]'`` in a checkout. Workers read the
        binned features from `directory`, and receive vectors of length m as a file in the same
        directory. If a worker dies, another worker repeats its tasks.

    Returns
    -------
    ChunkedMatrix
        Equal to ``stumps(X, y, max_cuts=max_cuts)`` in columns, hypotheses and digest.

    Raises
    ------
    InputError
        If a block has a missing or infinite value, other columns than earlier blocks, or a third
        label (the message names the block and the row); if all features are constant; or if the
        directory is not writable.
    ClusterError
        If the workers cannot read the files. If the cluster becomes unavailable while a game is
        solved, the run ends with the status "failed" and the best bounds so far.
    """
    if max_cuts is not None:
        max_cuts = count("max_cuts", max_cuts)
    rows = LabelledRows(source, y, count("page", page), feature_names)
    if directory is not None and not os.access(directory, os.W_OK):
        raise InputError(
            f"directory {os.fspath(directory)} is not a folder to which files can be written"
        )
    folder = Path(tempfile.mkdtemp(prefix="relaxboost-", dir=directory)).absolute()
    try:
        spool = Spool(folder / "rows", rows, page)
        signs = rows.signs()
        digest = stump_digest((spool.m, spool.features), max_cuts, spool.blocks(), signs)
        pages = write_pages(spool, signs, folder, max_cuts)
        (folder / "rows").unlink()
        matrix = ChunkedMatrix(pages, rows.names, max_cuts, digest)
        if client is not None:
            matrix.cluster = Cluster(client, pages)
    except BaseException:
        _remove(folder, os.getpid())
        raise
    weakref.finalize(matrix, _remove, folder, os.getpid())
    return matrix
