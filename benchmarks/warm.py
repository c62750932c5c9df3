"""What a start from a neighbour's solution saves, and a path of caps beside separate solves.

CPU seconds of one thread, warm and cold in turn in one process, the least of three; a path, the
less of two, is divided by the median of its own games solved cold. All kernels are compiled before.

Run: OMP_NUM_THREADS=1 python benchmarks/warm.py [--data DIR] [word of a name]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import cancer, machine, table

import relaxboost as rb

TOL, MOST = 1e-6, 60.0


def games(data: Path | None) -> Iterator[tuple[str, rb.matrices.MarginMatrix, list[float]]]:
    """Yield (name, matrix, 20 caps)."""
    rng = np.random.default_rng(0)

    def spread(m: int, low: float = 0.05, high: float = 0.33) -> list[float]:
        return np.geomspace(low * m, high * m, 20).tolist()

    def noisy(m: int, n: int) -> Any:
        signs = rng.choice([-1.0, 1.0], (m, n))
        return rb.Game(np.where(rng.random((m, n)) < 0.09, 1.0, signs)).matrix

    yield "breast cancer, all 15310 stumps", cancer(), spread(569)
    X = rng.normal(size=(1000, 5))
    y = np.where(X @ rng.normal(size=5) + 0.3 * rng.normal(size=1000) > 0.0, 1.0, -1.0)
    yield "1000 x 5 normal, all stumps", rb.matrices.stumps(X, y), spread(1000)
    uniform = np.clip(rng.normal(0.05, 0.4, (300, 2000)), -1, 1)
    yield "real 300 x 2000", rb.Game(uniform).matrix, spread(300)
    if data is not None:
        for name in ("splice", "german", "banana"):
            rows = np.genfromtxt(data / "raetsch" / f"{name}.csv.gz", delimiter=",", skip_header=1)
            A = rb.matrices.stumps(rows[:, :-1], rows[:, -1])
            yield f"{name}, all {A.n} stumps", A, spread(A.m, 0.25)
    yield "dense: noisy signs 500 x 200", noisy(500, 200), spread(500)
    yield "dense: noisy signs 2000 x 400", noisy(2000, 400), spread(2000)


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return (CPU seconds, what the call returns)."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def neighbours(A: Any, ks: list[float]) -> list[float]:
    """Return warm over cold CPU seconds of three caps, each from both neighbours."""
    ratios = []
    for place in (4, 10, 15):
        game = rb.Game(A, rb.Capped(ks[place]))
        for near in (place - 1, place + 1):
            start = rb.solve(rb.Game(A, rb.Capped(ks[near])), TOL, time_limit=MOST)
            pairs = []
            for _ in range(3):
                cold, _ = seconds(lambda: rb.solve(game, TOL, time_limit=MOST))  # noqa: B023
                warm, found = seconds(
                    lambda: rb.solve(game, TOL, start=start, time_limit=MOST)  # noqa: B023
                )
                pairs.append((cold, warm))
                if cold > 10.0:
                    break
            cold, warm = np.min(pairs, axis=0)
            ratios.append(warm / cold if found.status == "optimal" else np.inf)
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    machine()
    rows = []
    for name, A, ks in games(given.data):
        if given.word not in name:
            continue
        game = rb.Game(A, rb.Capped(1))
        for part in (ks[:1], ks[10:11], ks[-3:]):
            rb.path(game, TOL, k=part, time_limit=MOST)  # compiles
        separate = [
            seconds(lambda A=A, k=k: rb.solve(rb.Game(A, rb.Capped(k)), TOL, time_limit=MOST))
            for k in ks
        ]
        (whole, found), (again, _) = (
            seconds(lambda game=game, ks=ks: rb.path(game, TOL, k=ks, time_limit=MOST))
            for _ in range(2)
        )
        whole, cold = min(whole, again), float(np.median([spent for spent, _ in separate]))
        ratios = neighbours(A, ks)
        reached = sum(s.status == "optimal" for s in found)
        values = f"{found[0].lower:.4f} to {found[-1].lower:.4f}"
        path = f"{whole / cold:.1f}" + ("" if reached == len(ks) else f" ({reached} reached)")
        rows.append(
            (name, values, f"{cold:.3f}", path, f"{np.median(ratios):.2f}", f"{max(ratios):.2f}")
        )
        print(rows[-1], flush=True)
    table(
        "20 caps from m/20 (data: m/4) to m/3, certified gap 1e-6, CPU seconds of one thread",
        ("game", "rho", "alone, s", "path / alone", "neighbour / alone, median", "largest"),
        rows,
    )


if __name__ == "__main__":
    main()
