"""Compare solvers on a suite of games: `python -m benchmarks.solvers`, from a checkout.

The clock counts the CPU seconds of a solver's own call, on one thread.
Every solver has a process for each game, which is killed if it exceeds its limits. Results are
stored, one file each: the same command continues an interrupted run. The command writes
OUT/suite.md and OUT/cells.

Examples:
  python -m benchmarks.solvers --limit 10 --only 'noisy-*'
  python -m benchmarks.solvers --suite mine.toml --peers auto,highs-ipm,clarabel --json
  python -m benchmarks.solvers --peers auto,mine:prepare

In the last example, mine.prepare(game) returns a function run(tol, seconds), which is called once
and returns d and w, or None for either.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import sys
from pathlib import Path

from benchmarks.common import exit_status
from benchmarks.solvers.report import Report
from benchmarks.solvers.running import ROOT, BenchLimits, bench
from benchmarks.solvers.suite import read_suite
from relaxboost._core import progress
from relaxboost._core.errors import InputError


def parse(words: list[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.solvers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    suite = ROOT / "benchmarks" / "suite.toml"
    parser.add_argument("--suite", type=Path, default=suite, help="file with the games")
    parser.add_argument("--only", default="*", help="pattern of the names of games")
    parser.add_argument("--peers", default="", help="solvers, separated by commas; default: all")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of each run")
    parser.add_argument("--memory", type=float, default=20.0, help="GB of each run")
    parser.add_argument("--tol", type=float, default=1e-6, help="certified gap to reach")
    parser.add_argument("--data", type=Path, help="folder of public data")
    parser.add_argument("--out", type=Path, default=Path("output/bench"), help="folder of results")
    parser.add_argument("--json", action="store_true", help="print data for machines")
    parser.add_argument(
        "--race",
        type=float,
        default=math.inf,
        help="stop a general solver at so many times the seconds of the fastest before it",
    )
    return parser.parse_args(words)


def run(given: argparse.Namespace) -> None:
    """Play the games, write the report and print it."""
    limits = BenchLimits(given.tol, given.limit, given.memory * 1e9, race=given.race)
    games = [
        game
        for game in read_suite(given.suite, given.data)
        if fnmatch.fnmatchcase(game.name, given.only)
    ]
    if not games:
        raise InputError(f"{given.suite} has no game that --only {given.only!r} fits")
    names = [name.strip() for name in given.peers.split(",") if name.strip()]
    with progress.bar("playing") as bar:
        cells = list(bench(games, given.out, names, limits, bar))
    report = Report(cells, limits)
    written = report.write(given.out)
    if given.json:
        print(json.dumps({"summary": report.summary(), "cells": cells}, indent=2, default=str))
    else:
        print(f"{report.markdown()}\nwritten: {written}")


def main(words: list[str] | None = None) -> int:
    """Run the command; return 0, 2 for bad input, or 130 if interrupted."""
    return exit_status("benchmarks.solvers", lambda: run(parse(words)), "results")


if __name__ == "__main__":
    sys.exit(main())
