"""What the benchmarks share: the games, a Markdown table, and where results go."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence

import relaxboost as rb


def cancer(max_cuts: int | None = None) -> rb.matrices.StumpMatrix:
    """Return the stumps of the bundled breast-cancer data, all or a spread of them."""
    data = rb.matrices.datasets.breast_cancer()
    return rb.matrices.stumps(data.X, data.y, data.feature_names, max_cuts)


def best_time(
    call: Callable[[], object],
    seconds: float = 0.5,
    least: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return the least time of a call in seconds, over at least `least` calls after a first one."""
    call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


def exit_status(name: str, work: Callable[[], None], kept: str) -> int:
    """Do the work of a command; return 0, 2 for bad input, or 130 if interrupted.

    `kept` names what an interrupted command has stored, so that the same command continues.
    """
    try:
        work()
    except rb.InputError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        said = f"interrupted; finished {kept} are stored, and the same command continues"
        print(f"{name}: {said}", file=sys.stderr)
        return 130
    return 0


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table."""
    cells = [[str(c) for c in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    print(f"\n### {title}\n")
    for index, row in enumerate(cells):
        print("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |")
        if index == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")


def machine() -> None:
    """Print what the figures were measured on."""
    print(f"_{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}_")
