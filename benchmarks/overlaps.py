"""How much of a trip was seen in training, and reports by that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relaxboost import planning as pl
from relaxboost.planning.splitting import arc_rows

STRATA = {"< .3": (0.0, 0.3), ".3-.5": (0.3, 0.5), ".5-.8": (0.5, 0.8), ">= .8": (0.8, np.inf)}
"""The ends of the strata of overlap, of which the first belongs to a stratum."""


def overlap(tasks: Sequence[pl.Task], training: Sequence[pl.Task]) -> np.ndarray:
    """Return the largest Jaccard index of each task's arcs with those of a training task, (T,)."""
    rows, owner = arc_rows((*tasks, *training))
    cut = int(np.searchsorted(owner, len(tasks)))
    size = np.diff(rows.indptr)
    columns = rows[cut:].T.tocsr()
    most = np.zeros(len(tasks))
    # Products are made of 256 rows at a time, so that they fit in memory.
    for start in range(0, cut, 256):
        shared = (rows[start : min(start + 256, cut)] @ columns).tocoo()
        i, j = shared.row + start, shared.col + cut
        np.maximum.at(most, owner[i], shared.data / (size[i] + size[j] - shared.data))
    return most


def strata(report: pl.Evaluation, overlaps: np.ndarray) -> dict[str, pl.Evaluation]:
    """Return the reports on tasks with similar overlaps."""
    return {
        name: report.at((overlaps >= low) & (overlaps < high))
        for name, (low, high) in STRATA.items()
    }
