"""Taut strings, the interior point method and `auto` on all stumps, to gaps that are parts of ρ.

CPU seconds of one thread, in one process, kernels compiled before.

Run: OMP_NUM_THREADS=1 python benchmarks/strings.py [--data DIR] [--parts .1 .05 .02 .01] [NAME ...]
with names of games of benchmarks/suite.toml.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

from common import machine, table
from solvers.suite import read_suite

import relaxboost as rb
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.solvers import Booster, Method, Tolerance
from relaxboost.solvers.taut_strings import StringsRun, unfit


@dataclass(frozen=True)
class TautStrings(Method):
    """The phase of `auto` alone, to the end."""

    def check(self, game: rb.Game) -> None:
        """Raise an InputError unless A is of stumps, f only bounds d, and w is in an l1 ball."""
        if reason := unfit(game):
            raise InputError(reason)

    def start(self, game: rb.Game, goal: Tolerance, clock: Clock) -> Booster:
        """Start from the centre of f."""
        return StringsRun(game, goal, clock).named("taut-strings")


NAMES = (
    "halfspace-2000x10-tenth",
    "halfspace-5000x20-tenth",
    "waveform-5000x21-tenth",
    "twonorm-7400x20-hard",
    "banana-5300x2-tenth",
    "spambase-4601x57-tenth",
    "magic-19020x10-tenth",
)
METHODS = TautStrings(), "interior-point", "auto"
LIMIT = 300.0


def seconds(game: rb.Game, tol: float, method: str | Method) -> str:
    """Return the CPU seconds to a gap of tol, with the last phase of `auto`."""
    start = time.process_time()
    found = rb.solve(game, tol, method, time_limit=LIMIT)
    took = f"{time.process_time() - start:.2f}"
    said = took if found.status == "optimal" else f"{found.status} ({found.gap:.1e})"
    return f"{said} ({found.history[-1].inner})" if method == "auto" else said


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--parts", nargs="*", type=float, default=[0.1, 0.05, 0.02, 0.01])
    options = parser.parse_args()
    machine()
    known = {
        game.name: game
        for game in read_suite(Path(__file__).parent / "suite.toml", options.data)
        if not game.missing
    }
    rows = []
    first = known["halfspace-2000x10-tenth"].game()
    for method in METHODS:
        rb.solve(first, 1e-4, method, max_rounds=20)
    for name in options.names:
        if name not in known:
            continue
        game = known[name].game()
        rough = rb.solve(game, rtol=0.05, time_limit=LIMIT)
        for part in options.parts:
            tol = part * rough.lower
            rows.append((name, f"{part:g}", *(seconds(game, tol, method) for method in METHODS)))
    header = ("game", "part", "taut strings", *METHODS[1:])
    table("CPU seconds to a part of the value", header, rows)
