"""Compare variants of the solver, and another installed version, game by game.

The games are those of a suite (`benchmarks/suite.toml`). Every variant solves one game before the
next game begins, so that a busy machine slows all of them alike. The script reports CPU seconds,
the least of three runs; a variant whose first run took more than five seconds runs once.

Each installation runs in a process of its own, which answers one request at a time. A variant of
the present version is an entry of `VARIANTS`. `--baseline PYTHON` adds the default method of the
version that is installed for that Python executable; the figures are then ratios to it.

Run: python benchmarks/ablation.py [--games 'noisy-*'] [--tol 1e-2 1e-3 1e-6] [--data DIR]
     [--limit 60] [--variants auto interior-point] [--baseline PYTHON] [--out ablation.csv]
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import json
import math
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

from common import machine, table
from solvers.suite import BenchGame, read_suite

import relaxboost as rb

SUITE = Path(__file__).parent / "suite.toml"
GROUPS = ("dense", "sparse", "stumps", "curved", "data")
BASELINE = "baseline"
RUNS = 3
"""The most runs of a variant on a game; the least of their times counts."""
SECONDS_TO_REPEAT = 5.0
"""A run that took longer is not repeated: the machine's noise is small compared with it."""
WARM_UP_ROWS = (600, 5000)
"""The rows of the games that are solved first. Games above 4096 rows use other kernels."""
GRACE_SECONDS = 300.0
"""The time beyond its limit after which a process is killed; it includes making the game."""
WORST_GAMES = 8
"""The number of games in the table of the worst ratios."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Variant(NamedTuple):
    """One way to solve a game: a method, and a context manager around the run."""

    method: Any = "auto"
    context: Callable[[], AbstractContextManager[Any]] = nullcontext


VARIANTS: dict[str, Variant] = {"auto": Variant(), "interior-point": Variant("interior-point")}
"""The variants by name. To switch a part of the solver off, add a context manager that does so."""


class Row(NamedTuple):
    """One line of the CSV file."""

    game: str
    group: str
    tol: float
    variant: str
    seconds: float
    gap: float
    status: str


def answer_requests(suite: Path, data: Path | None) -> None:
    """Solve the game of each line of standard input and answer with one line of JSON."""
    # A solver may write to standard output, so the answers leave through a copy of it.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    entries = {entry.name: entry for entry in read_suite(suite, data)}
    warm: set[tuple[str, ...]] = set()
    name, game = "", None
    for line in sys.stdin:
        request = json.loads(line)
        entry, variant = entries[request["game"]], VARIANTS[request["variant"]]
        tol, limit = request["tol"], request["limit"]
        if name != entry.name:
            name, game = entry.name, None  # the old game leaves memory before the new one is made
            game = entry.game()
        kind = (*_kind(entry), str(tol), request["variant"])
        with variant.context():
            if kind not in warm:
                warm.add(kind)
                for rows in WARM_UP_ROWS:
                    _solve(entry.small(rows), tol, variant.method, limit)
            print(json.dumps(_solve(game, tol, variant.method, limit)), file=answers, flush=True)


def _kind(entry: BenchGame) -> tuple[str, ...]:
    """Return what decides which kernels a game needs: its source, storage, f and domain."""
    given = entry.given
    family = str(given.get("relaxation", "HardMargin()")).partition("(")[0]
    return (entry.group, family, str(given.get("stored")), str(given.get("over")))


def _solve(game: Any, tol: float, method: Any, limit: float) -> dict[str, Any]:
    """Return the CPU seconds of a run, its gap and its status."""
    start = time.process_time()
    try:
        found = rb.solve(game, tol, method, time_limit=limit)
    except rb.InputError as error:  # the method does not fit this game
        return {"seconds": math.nan, "gap": math.nan, "status": f"unfit: {error}"}
    seconds = time.process_time() - start
    return {"seconds": seconds, "gap": found.upper - found.lower, "status": found.status}


class Installation:
    """A process that solves games with the package of one Python executable.

    Parameters
    ----------
    python : str
        The executable.
    suite, data : path
        The arguments of `read_suite`.
    """

    def __init__(self, python: str, suite: Path, data: Path | None) -> None:
        self._command = [python, __file__, "--answer", "--suite", str(suite)]
        self._command += ["--data", str(data)] if data else []
        self._process: subprocess.Popen[bytes] | None = None

    def solve(self, **request: Any) -> dict[str, Any]:
        """Return the answer to a request; a process that dies or is late starts again."""
        process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):  # a process that has died is noticed when it is read
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        # A run of the limit is preceded by the warm-up, whose runs may take the limit each.
        wait = (1 + len(WARM_UP_ROWS)) * request["limit"] + GRACE_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            line = process.stdout.readline() if selector.select(wait) else b"late"
        if line.startswith(b"{"):
            return dict(json.loads(line))
        status = "killed: no answer in time" if line else f"died: exit status {process.wait()}"
        self.close()
        return {"seconds": math.nan, "gap": math.nan, "status": status}

    def _started(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(THREADS, "1")},
        )
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(BrokenPipeError):  # what was written last may not have been read
                    if pipe is not None:
                        pipe.close()
            self._process = None


def compare(
    games: Iterable[BenchGame],
    runners: dict[str, Callable[..., dict[str, Any]]],
    tols: Iterable[float],
    limit: float,
) -> Iterator[Row]:
    """Yield the least time of every runner on every game and tolerance, game by game."""
    for entry in games:
        for tol in tols:
            best: dict[str, dict[str, Any]] = {}
            for _ in range(RUNS):
                for name, run in runners.items():
                    known = best.get(name)
                    if known is not None and not known["seconds"] <= SECONDS_TO_REPEAT:
                        continue
                    answer = run(game=entry.name, tol=tol, limit=limit)
                    if known is None or answer["seconds"] < known["seconds"]:
                        best[name] = answer
            for name, found in best.items():
                yield Row(entry.name, entry.group, tol, name, **found)


def report(rows: list[Row], reference: str) -> None:
    """Print geometric means of the ratios to the reference, totals, and the worst games."""
    names = list(dict.fromkeys(row.variant for row in rows))
    for tol in dict.fromkeys(row.tol for row in rows):
        seconds = {(row.game, row.variant): row.seconds for row in rows if row.tol == tol}
        group_of = {row.game: row.group for row in rows if row.tol == tol}
        ratios = {
            (game, name): took / seconds[game, reference]
            for (game, name), took in seconds.items()
            if took > 0.0 and seconds[game, reference] > 0.0  # "not a number" is neither
        }
        lines: list[tuple[object, ...]] = []
        for group in (*GROUPS, "all"):
            games = [game for game in group_of if group in (group_of[game], "all")]
            means = [
                _mean([ratios[g, name] for g in games if (g, name) in ratios]) for name in names
            ]
            if games:
                lines.append((f"{group} ({len(games)})", *means))
        # A total compares variants only on games that every one of them has answered.
        common = [g for g in group_of if all((g, name) in ratios for name in names)]
        totals = (f"{sum(seconds[g, name] for g in common):.2f}" for name in names)
        lines.append((f"total, CPU s ({len(common)})", *totals))
        table(f"tol {tol:g}: geometric mean of time / {reference}", ("group", *names), lines)
        compared = [key for key in ratios if key[1] != reference]
        worst = sorted(compared, key=lambda key: -ratios[key])[:WORST_GAMES]
        listed = [
            (
                g,
                name,
                f"{ratios[g, name]:.2f}",
                f"{seconds[g, name]:.3f}",
                f"{seconds[g, reference]:.3f}",
            )
            for g, name in worst
        ]
        header = ("game", "variant", "ratio", "seconds", f"seconds of {reference}")
        table(f"tol {tol:g}: worst games", header, listed)
        failed = [r for r in rows if r.tol == tol and not (r.gap <= tol and r.seconds >= 0.0)]
        for row in failed:
            print(f"\n* {row.variant} on {row.game}: {row.status}, gap {row.gap:.1e}")


def _mean(ratios: Iterable[float]) -> str:
    """Return the geometric mean as text, "" if there are no ratios."""
    logs = [math.log(ratio) for ratio in ratios]
    return f"{math.exp(sum(logs) / len(logs)):.2f}" if logs else ""


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="Compare variants of the solver game by game.")
    parser.add_argument("--games", default="*", help="pattern of the names of games")
    parser.add_argument("--tol", type=float, nargs="+", default=[1e-2, 1e-3, 1e-6])
    parser.add_argument("--data", type=Path, help="folder of public data")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a run")
    parser.add_argument("--variants", nargs="+", default=["auto"], choices=list(VARIANTS))
    parser.add_argument("--baseline", help="Python executable with another version installed")
    parser.add_argument("--suite", type=Path, default=SUITE)
    parser.add_argument("--out", type=Path, help="CSV file to write")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.answer:
        return answer_requests(given.suite, given.data)
    entries = [
        entry
        for entry in read_suite(given.suite, given.data)
        if fnmatch.fnmatchcase(entry.name, given.games)
    ]
    for entry in entries:
        if entry.missing:
            print(f"* {entry.name} is left out: {entry.missing}")
    entries = [entry for entry in entries if not entry.missing]
    if not entries:
        parser.error(f"--games {given.games!r} leaves no game to solve; see {given.suite}")
    present = Installation(sys.executable, given.suite, given.data)
    installations = [present]
    runners: dict[str, Callable[..., dict[str, Any]]] = {}
    if given.baseline:
        other = Installation(given.baseline, given.suite, given.data)
        installations.append(other)
        runners[BASELINE] = _runner(other, "auto")
    runners |= {name: _runner(present, name) for name in given.variants}
    rows = []
    try:
        for row in compare(entries, runners, given.tol, given.limit):
            rows.append(row)
            print(f"{row.game} {row.tol:g} {row.variant}: {row.seconds:.3f}", file=sys.stderr)
            if given.out:
                _write(given.out, rows)
    finally:
        for installation in installations:
            installation.close()
    machine()
    report(rows, next(iter(runners)))


def _runner(installation: Installation, variant: str) -> Callable[..., dict[str, Any]]:
    """Return a function that solves a game with one variant of an installation."""
    return lambda **request: installation.solve(variant=variant, **request)


def _write(path: Path, rows: list[Row]) -> None:
    """Write all rows so far, so that an interrupted run keeps what it has measured."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Row._fields)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
