"""What a learner takes beside the exponentials it must take, and beside the parsing of its file.

    python benchmarks/online.py exponentials [--examples 1000000] [--functions 100]
    python benchmarks/online.py csv [--megabytes 1000]

The first lets learners go through a memory map, and has NumPy take the exponentials of as many
numbers: row by row, as a learner must, since each row needs the one before; in pages; all at once.
The second writes a CSV file in a temporary folder, and lets pandas parse it alone, with the same
settings, then lets a learner learn from it; each in a process of its own. Seconds are those of the
processor, one thread unless said.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import machine, table

import relaxboost as rb
from relaxboost.online import LinearBasis, MirrorDescent, progressive, stream

PAGE = 1310


def peak(what: str) -> float:
    """Return the resident memory of this process in MB: VmHWM, the most so far, or VmRSS, now."""
    text = Path("/proc/self/status").read_text()
    return int(text.split(f"{what}:")[1].split()[0]) / 1e3


def seconds(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def exponentials(m: int, M: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        H = np.lib.format.open_memmap(Path(folder) / "H.npy", "w+", np.float64, (m, M))
        rng = np.random.default_rng(0)
        y = np.empty(m)
        w = rng.normal(size=M) / M**0.5
        for a in range(0, m, 10_000):
            H[a : a + 10_000] = rng.uniform(-1.0, 1.0, (len(H[a : a + 10_000]), M))
            y[a : a + 10_000] = np.sign(H[a : a + 10_000] @ w + 0.3 * rng.normal(size=10_000))
        out, page, row = np.empty((m, M)), np.empty((PAGE, M)), np.empty(M)

        def by_rows() -> None:
            for h in np.asarray(H):
                np.exp(h, out=row)

        def by_pages() -> None:
            for a in range(0, m, PAGE):
                np.exp(H[a : a + PAGE], out=page[: len(H[a : a + PAGE])])

        jobs: dict[str, Callable[[], Any]] = {
            "np.exp row by row": by_rows,
            "np.exp in pages": by_pages,
            "np.exp at once": lambda: np.exp(H, out=out),
        }
        for loss in ("hinge", "logistic"):
            for over in (rb.Simplex(1), rb.L1Ball(1)):
                method = MirrorDescent(loss, over)
                progressive(method, stream(H[:10], y[:10]))  # loads the kernels
                name = f"{loss}, {type(over).__name__}"
                jobs[name] = lambda method=method: progressive(method, stream(H, y))
        best = dict.fromkeys(jobs, np.inf)
        for _ in range(3):
            for name, job in jobs.items():
                best[name] = min(best[name], seconds(job))
        rows = []
        for name, took in best.items():
            # over the l1 ball each weight takes two exponentials
            needed = [best[one] * (2 if "L1" in name else 1) for one in list(jobs)[:3]]
            ratios = [f"{took / one:.2f}" for one in needed]
            rows.append([name, f"{took:.3f}", f"{took / m * 1e9:.0f}", *ratios])
    header = ["what", "seconds", "ns a row", "of rows", "of pages", "of all at once"]
    table(f"{m:,} examples of {M} base functions", header, rows)
    answers: Any = multiprocessing.get_context("spawn").SimpleQueue()
    found = [["base functions", "examples", "MB more at most"]]
    for functions in (M, 100 * M):
        process = multiprocessing.get_context("spawn").Process(
            target=memory, args=(20 * m // functions, functions, answers)
        )
        process.start()
        found.append([functions, 20 * m // functions, f"{answers.get():.1f}"])
        process.join()
    table("Memory of a run on a generator of blocks of 100 rows", found[0], found[1:])


def memory(m: int, M: int, answers: Any) -> None:
    """Say how much the memory of this process grows while it learns."""
    block = np.random.default_rng(0).uniform(-1.0, 1.0, (100, M)), np.ones(100)
    learner = MirrorDescent("logistic", rb.Simplex(1)).start(M)
    learner.update(*block)
    before = peak("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    progressive(learner, stream(block for _ in range(m // 100)))
    answers.put(peak("VmHWM") - before)


def write_csv(path: Path, megabytes: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 100)).round(5)
    y = np.where(X[:, :10].sum(axis=1) + rng.normal(size=5000) > 0.0, 1, -1)
    lines = "".join(
        f"{label},{','.join(map(str, x))}\n"
        for x, label in zip(X.tolist(), y.tolist(), strict=True)
    )
    with path.open("w") as file:
        file.write("label," + ",".join(f"x{f}" for f in range(100)) + "\n")
        while file.tell() < megabytes * 1e6:
            file.write(lines)


def parsing(path: Path, answers: Any) -> None:
    """Let pandas parse the file in blocks of about a megabyte, and throw it away."""
    import pandas as pd

    rows = 0
    wall, start = time.perf_counter(), time.process_time()
    for block in pd.read_csv(path, dtype=float, chunksize=1250):
        rows += len(block)
    answers.put((rows, time.process_time() - start, time.perf_counter() - wall, peak("VmHWM")))


def learning(path: Path, answers: Any) -> None:
    """Learn from the file."""
    given = stream(path, "label")
    method = MirrorDescent("logistic", rb.L1Ball(5))
    method.start(100).update(np.zeros((1, 100)), [1.0])  # loads the kernels
    wall, start = time.perf_counter(), time.process_time()
    got = progressive(method, given.through(LinearBasis.spanning(given.head(1000)[0])))
    took = time.process_time() - start
    answers.put((got.last.rows, took, time.perf_counter() - wall, peak("VmHWM")))


def from_csv(megabytes: float) -> None:
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.csv"
        write_csv(path, megabytes)
        size, found = path.stat().st_size / 1e6, []
        for job in (parsing, learning):
            answers = spawn.SimpleQueue()
            process = spawn.Process(target=job, args=(path, answers))
            process.start()
            found.append(answers.get())
            process.join()
    rows = [
        [
            name,
            count,
            f"{cpu:.1f}",
            f"{wall:.1f}",
            f"{size / cpu:.0f}",
            f"{cpu / found[0][1]:.2f}",
            f"{most:.0f}",
        ]
        for name, (count, cpu, wall, most) in zip(("pandas alone", "learning"), found, strict=True)
    ]
    header = ["what", "rows", "cpu s", "wall s", "MB/s of cpu", "of parsing", "MB resident"]
    table(f"A CSV file of {size:.0f} MB, 100 features", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["exponentials", "csv"])
    parser.add_argument("--examples", type=int, default=1_000_000)
    parser.add_argument("--functions", type=int, default=100)
    parser.add_argument("--megabytes", type=float, default=1000.0)
    given = parser.parse_args()
    machine()
    if given.what == "csv":
        from_csv(given.megabytes)
    else:
        exponentials(given.examples, given.functions)


if __name__ == "__main__":
    main()
