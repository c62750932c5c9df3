"""A million examples from disk and on dask workers, beside the same game in memory.

Run: python benchmarks/chunked.py [examples] [rounds]
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, table

import relaxboost as rb

FEATURES = 20


def make(folder: Path, m: int) -> None:
    """Write the data: normal features, a linear rule, a tenth of the labels turned around."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (m, FEATURES))
    X[:] = rng.normal(size=X.shape)
    y = np.sign(X @ rng.normal(size=FEATURES))
    y[rng.random(m) < 0.1] *= -1.0
    np.save(folder / "y.npy", y)


class Peak:
    """The largest anonymous memory of this process, in MB; pages of files are not in it."""

    def __init__(self) -> None:
        self.most, self._stop = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._stop.wait(0.005):
            text = Path("/proc/self/status").read_text()
            self.most = max(self.most, int(text.split("RssAnon:")[1].split()[0]) / 1e3)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def run(how: str, folder: Path, rounds: int, answers: Any) -> None:
    """Make the matrix and solve, in a process of its own."""
    found: dict[str, Any] = {"how": how}
    with ExitStack() as stack:
        client = None
        if how.startswith("dask"):
            from distributed import Client, LocalCluster

            workers = int(how.split()[1])
            options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
            cluster = stack.enter_context(LocalCluster(n_workers=workers, **options))
            client = stack.enter_context(Client(cluster))
        y = np.load(folder / "y.npy")
        start = time.perf_counter()
        with Peak() as peak:
            if how == "memory":
                matrix = rb.matrices.stumps(np.load(folder / "X.npy"), y)
            else:
                X = np.load(folder / "X.npy", mmap_mode="r")
                matrix = rb.matrices.chunked(X, y, directory=folder, client=client)
        found |= {"making": peak.most, "made": time.perf_counter() - start}
        game = rb.Game(matrix, rb.Capped(fraction=0.1))
        method = rb.solvers.Corrective(step="pairwise")
        rb.solve(game, 1e-3, method, max_rounds=2)  # compiles, and reads the files once

        def cpu() -> float:
            others = client.run(time.process_time).values() if client else ()
            return time.process_time() + sum(others)

        before = cpu()
        with Peak() as peak:
            solution = rb.solve(game, 1e-3, method, max_rounds=rounds)
        found |= {"solving": peak.most, "cpu": (cpu() - before) / rounds}
        found |= {"wall": solution.seconds / rounds, "digest": game.digest}
        found |= {"bracket": (solution.lower, solution.upper), "d": solution.d.tobytes()}
    answers.put(found)


def main() -> None:
    m = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    spawn = multiprocessing.get_context("spawn")
    rows, results = [], {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, m)
        for how in ("memory", "disk", "dask 1", "dask 2"):
            answers = spawn.Queue()
            process = spawn.Process(target=run, args=(how, folder, rounds, answers))
            process.start()
            results[how] = got = answers.get()
            process.join()
            rows.append(
                [
                    how,
                    *(f"{got[key]:.0f}" for key in ("making", "solving")),
                    *(f"{got[key]:.3f}" for key in ("made", "cpu", "wall")),
                    f"[{got['bracket'][0]:.6f}, {got['bracket'][1]:.6f}]",
                ]
            )
    machine()
    header = ("from", "MB making", "MB solving", "s making", "CPU s a round", "wall s a round")
    table(f"{m} x {FEATURES}, k = m/10, {rounds} rounds", (*header, "bracket"), rows)
    here = [results[how] for how in ("disk", "dask 1", "dask 2")]
    same = len({(r["bracket"], r["d"], r["digest"]) for r in here}) == 1
    print(f"\nfrom disk, one worker and two to the same bits: {same}")
    print(f"the same game as in memory: {results['memory']['digest'] == here[0]['digest']}")


if __name__ == "__main__":
    main()
