"""Tasks for dask workers, which sum over the examples of a stump matrix on disk."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.arrays import Whole
from relaxboost._core.errors import ClusterError, InputError, missing
from relaxboost.matrices.chunks.pages import Pages
from relaxboost.matrices.chunks.passes import cut_up, each_feature

_check = lru_cache(maxsize=64)(Pages.check)  # The files are checked once in each process.


def work(
    pages: Pages, vector: Path, then: Callable[[Whole], Any], features: range, rows: range
) -> list[Any]:
    """Return a result for each of the `features`, such as the largest edge of a stump.

    The function `then` computes it from the sums of a vector over the examples of each bin. Only
    the examples in `rows` count. `vector` is the path of the file with the vector.
    """
    # This function runs on a worker. The vector is a file in the folder of the pages. Features are
    # memory-mapped one by one, because dask treats many memory maps in a worker as a memory leak.
    _check(pages)
    first, last = rows.start, rows.stop
    q = np.asarray(np.memmap(vector, np.int64, "c", 8 * first, (last - first,)))
    codes = (pages.codes(f * pages.m + first, f * pages.m + last) for f in features)
    return each_feature(codes, [pages.bins[f] for f in features], q, then)


class Cluster:
    """The workers of a dask client, which sum vectors over the examples in each bin of a feature.

    Usually a task processes all rows of several features. If there are more threads than features,
    it processes one feature and some of the rows, and this process adds the sums of all tasks. The
    sums are exact, so the result does not depend on the tasks or on the workers. If a worker dies,
    another worker repeats its tasks.
    """

    def __init__(self, client: Any, pages: Pages) -> None:
        try:
            import distributed
        except ImportError:
            raise missing("clusters need dask", "dask", "dask") from None
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise InputError(
                f"client must be a synchronous dask.distributed.Client, got {client!r}"
            )
        self._client = client
        self._pages = pages
        self._run(Pages.check, [pages])
        threads = sum(client.nthreads().values()) or 1
        self._features = cut_up(len(pages.bins), 2 * threads)
        self._rows = cut_up(pages.m, -(-threads // len(pages.bins)), pages.page)

    def each(self, q: Whole, then: Callable[[Whole], Any]) -> list[Any]:
        """Return a result for each feature, such as the largest edge of its stumps.

        The function `then` computes it from the sums of the vector `q` over the examples of each
        bin. If the cluster is no longer available, or cannot read the files, ClusterError is
        raised.
        """
        vector = self._pages.folder / f"vector-{uuid.uuid4().hex}"
        whole = len(self._rows) == 1
        try:
            q.tofile(vector)
            each = [(f, rows) for rows in self._rows for f in self._features]
            shared = partial(work, self._pages, vector, then if whole else np.copy)
            results = chain.from_iterable(self._run(shared, *zip(*each, strict=True)))
        except OSError as error:
            raise ClusterError(f"the vector for the workers cannot be written: {error}") from error
        finally:
            vector.unlink(missing_ok=True)
        if whole:
            return list(results)
        sums = list(results)
        features = len(self._pages.bins)
        return [then(np.sum(sums[f::features], axis=0)) for f in range(features)]

    def _run(self, function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
        import dask
        import distributed

        # A run stops using the cluster after this many seconds without a scheduler or workers. By
        # default dask waits for 30 seconds.
        timeout = dask.config.get("distributed.comm.timeouts.connect")
        patience = dask.utils.parse_timedelta(timeout)
        futures: list[Any] = []
        try:
            futures = self._client.map(function, *arguments, pure=False)
            seen = time.monotonic()
            while True:
                try:
                    distributed.wait(futures, timeout=1.0)
                    return self._client.gather(futures)
                except TimeoutError:
                    now = time.monotonic()
                    if self._client.status == "running" and self._client.nthreads():
                        seen = now
                    if now - seen > patience:
                        raise
        except InputError as error:
            raise ClusterError(f"a worker of {self._client!r} stopped: {error}") from error
        except Exception as error:
            raise ClusterError(
                f"the cluster of {self._client!r} is no longer available, or cannot compute "
                f"({type(error).__name__}: {error})"
            ) from error
        finally:
            for future in futures:
                future.release()
