"""Rounds to a certified gap of 0.01 for each step rule; the time of a round, its memory and ends.

Run: python benchmarks/rounds.py [--part rounds|passes|lengths|long|storages] [--plot FILE.svg]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from common import best_time, cancer, machine, table

import relaxboost as rb
from relaxboost.matrices import DenseMatrix, MarginMatrix, kernels, stumps
from relaxboost.relaxations.base import projector
from relaxboost.solvers import Corrective, ERLPBoost, LPBoost

TOL = 0.01
LIMIT = 400_000
BETA = 1e-3
STEPS = ("fig1", "pairwise")


def rounds_table(matrix: rb.matrices.MarginMatrix, relaxation: rb.Relaxation) -> None:
    game = rb.Game(matrix, relaxation)
    as_stated = TOL / (2 * np.log(game.m))
    runs = [
        ("corrective, fig1 (β as stated)", {"method": Corrective(step="fig1")}),
        *(
            (
                f"corrective, {step}",
                {"method": Corrective(step=step, beta=TOL / (2 * game.entropy_range))},
            )
            for step in rb.solvers.STEPS
        ),
        (
            "corrective, pairwise (β as stated)",
            {"method": Corrective(step="pairwise", beta=as_stated)},
        ),
        (
            "erlpboost",
            {"method": ERLPBoost()},
        ),
        ("lpboost", {"method": LPBoost()}),
        ("hedge, growing", {"method": rb.online.ScheduledHedge()}),
        ("hedge, horizon", {"method": rb.online.ScheduledHedge("horizon")}),
    ]
    rows = []
    for name, options in runs:
        s = rb.solve(game, TOL, max_rounds=LIMIT, **options)
        rows.append(
            (
                name,
                s.rounds if s.status == "optimal" else f"> {LIMIT}",
                f"{s.gap:.4f}",
                len(s.support),
                f"{s.seconds:.2f}",
                f"{s.seconds / s.rounds * 1e6:.0f}",
            )
        )
    table(
        f"{game.m} x {game.n}, {relaxation}, certified gap {TOL} "
        f"(bound 64 log(m)/tol²: {64 * np.log(game.m) / TOL**2:.3g})",
        ("update", "rounds", "gap", "columns", "seconds", "µs a round"),
        rows,
    )


def relaxations(m: int) -> dict[str, rb.Relaxation]:
    return {
        "hard margin": rb.HardMargin(),
        "k = m/10": rb.Capped(fraction=0.1),
        "k = m/3": rb.Capped(k=m / 3),
    }


def noisy_stumps(rng: np.random.Generator, m: int, max_cuts: int | None) -> MarginMatrix:
    """Return stumps of normal features and a linear rule, a tenth of the labels turned around."""
    X = rng.normal(size=(m, 20))
    y = np.sign(X @ rng.normal(size=20)) * np.where(rng.random(m) < 0.1, -1.0, 1.0)
    return stumps(X, y, max_cuts=max_cuts)


def cases(rng: np.random.Generator) -> Iterator[tuple[str, MarginMatrix]]:
    yield "569 x 30 features, all stumps", cancer()
    for m, n in ((2_000, 400), (20_000, 500), (200_000, 100)):
        signs = np.where(rng.random((m, n)) < 0.55, 1, -1).astype(np.int8)
        for kind in (np.float64, np.float32, np.int8):
            yield f"{m} x {n} {np.dtype(kind).name}", DenseMatrix(signs.astype(kind))
    yield "20000 x 20 features, all stumps", noisy_stumps(rng, 20_000, None)
    yield "20000 x 20 features, 255 cuts", noisy_stumps(rng, 20_000, 255)
    yield "1000000 x 20 features, 255 cuts", noisy_stumps(rng, 1_000_000, 255)


def round_seconds(game: rb.Game, step: str, rounds: int) -> float:
    """Return the least CPU time of a round in three runs, what a run costs at all left out."""
    times = {}
    for _ in range(3):
        for last in (rounds // 4, rounds):
            start = time.process_time()
            found = rb.solve(game, 1e-12, Corrective(step=step, beta=BETA), max_rounds=last)
            spent = (time.process_time() - start, found.rounds)
            times[last] = min(times.get(last, spent), spent)
    (short, few), (long, many) = times[rounds // 4], times[rounds]
    return (long - short) / (many - few)


def pass_seconds(matrix: MarginMatrix, rng: np.random.Generator) -> float:
    """Return the least CPU time of a pass that finds the best column."""
    d = rng.dirichlet(np.ones(matrix.m))
    return best_time(lambda: matrix.best(d), clock=time.process_time)


def passes_in_a_row(matrix: MarginMatrix, rng: np.random.Generator, passes: int) -> float:
    """Return the CPU time of a pass as that of a round is measured: the mean of a run, of three.

    The quickest of many passes is .02 to .49 below that, on a machine that others use too.
    """
    d, times = rng.dirichlet(np.ones(matrix.m)), []
    for _ in range(3):
        start = time.process_time()
        for _ in range(passes):
            matrix.best(d)
        times.append((time.process_time() - start) / passes)
    return min(times)


def least_seconds(game: rb.Game, rng: np.random.Generator) -> float:
    """Return the least CPU time of a pass and the projection before it: rounds take no less."""
    project, u = projector(game.relaxation, BETA), rng.normal(0.0, 0.01, game.m)
    return best_time(lambda: game.matrix.best(project(u)), clock=time.process_time)


def passes(rng: np.random.Generator) -> None:
    """The CPU time of a round against that of the bare pass, one thread.

    In brackets, against as many passes in a row, measured as rounds are.
    """
    rows = []
    for name, matrix in cases(rng):
        bare = pass_seconds(matrix, rng)
        rounds = int(np.clip(0.5 / bare, 40, 500))
        for family, relaxation in relaxations(matrix.m).items():
            game = rb.Game(matrix, relaxation)
            in_a_row = passes_in_a_row(matrix, rng, rounds)
            said = [f"{t / bare:.2f}" for t in (in_a_row, least_seconds(game, rng))]
            for step in STEPS:
                t = round_seconds(game, step, rounds)
                said.append(f"{t / bare:.2f} ({t / in_a_row:.2f})")
            rows.append([name, family, f"{bare * 1e6:.0f}", *said])
    table(
        "passes a round (OMP_NUM_THREADS=1)",
        ("matrix", "relaxation", "CPU µs of a pass", "in a row", "with a projection", *STEPS),
        rows,
    )


def lengths(rng: np.random.Generator, plot: Path | None) -> None:
    """The CPU time of a pairwise round from ten thousand examples to a million."""
    sizes = [10_000, 31_623, 100_000, 316_228, 1_000_000]
    rows, curves = [], {}
    for m in sizes:
        matrix = noisy_stumps(rng, m, 255)
        for family, relaxation in relaxations(m).items():
            seconds = round_seconds(rb.Game(matrix, relaxation), "pairwise", 60)
            curves.setdefault(family, []).append(seconds)
        curves.setdefault("bare pass", []).append(pass_seconds(matrix, rng))
    for name, seconds in curves.items():
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        rows.append([name, *(f"{t * 1e3:.2f}" for t in seconds), f"{slope:.2f}"])
    table(
        "m x 20 features, 255 cuts: CPU ms of a pairwise round, and its power of m",
        ("relaxation", *(f"m = {m}" for m in sizes), "power"),
        rows,
    )
    if plot is not None:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(5.0, 3.5), layout="constrained")
        for (name, seconds), marker in zip(curves.items(), "os^x", strict=True):
            axes.loglog(sizes, np.array(seconds) * 1e3, marker=marker, label=name)
        axes.set(xlabel="examples m", ylabel="CPU ms of a round")
        axes.legend(frameon=False)
        figure.savefig(plot)


def resident() -> float:
    """Return the memory of this process in MB."""
    text = Path("/proc/self/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1e3


def long_runs(rng: np.random.Generator) -> None:
    """Memory over 100 000 rounds, and how far runs go beyond their time."""
    signs = np.where(rng.random((500, 400)) < 0.55, 1, -1).astype(np.int8)
    rows = []
    for name, matrix in (("500 x 400 int8", DenseMatrix(signs)), ("569 stumps", cancer(62))):
        for step in STEPS:
            seen: list[float] = []

            def note(state: rb.solvers.RoundState, seen: list[float] = seen) -> None:
                if state.round in (10_000, 100_000):
                    seen.append(resident())

            method = Corrective(step=step, beta=1e-6)
            found = rb.solve(rb.Game(matrix), 1e-9, method, max_rounds=100_000, callback=note)
            rows.append([name, step, found.rounds, *(f"{mb:.1f}" for mb in (*seen, resident()))])
    header = ("matrix", "step", "rounds", "MB after 10000", "after 100000", "at the end")
    table("memory of hard margins", header, rows)
    rows = []
    for name, matrix in cases(rng):
        for family, relaxation in relaxations(matrix.m).items():
            game = rb.Game(matrix, relaxation)
            method = Corrective(step="pairwise", beta=BETA)
            rb.solve(game, 1e-9, method, max_rounds=2)
            ends: list[float] = []
            note_end = partial(lambda ends, _: ends.append(time.perf_counter()), ends)
            start = time.perf_counter()
            found = rb.solve(game, 1e-9, method, time_limit=1.0, callback=note_end)
            over = f"{(time.perf_counter() - start - 1.0) * 1e3:.1f}"
            longest = max(np.diff([start, *ends]))
            told = over if found.status == "time_limit" else found.status
            rows.append([name, family, told, f"{longest * 1e3:.1f}"])
    table(
        "a time limit of one second",
        ("matrix", "relaxation", "ms beyond it", "ms of the longest round"),
        rows,
    )


def storages(rng: np.random.Generator) -> None:
    """Products with signs beyond the cache, by how they are stored."""
    A = np.asfortranarray(rng.choice(np.array([-1, 1], np.int8), (20_000, 2_000)))
    d, w = rng.dirichlet(np.ones(20_000)), rng.normal(size=2_000)
    rows = []
    for kind in (np.int8, np.float32, np.float64):
        H = A.astype(kind, order="F")
        calls = [lambda H=H: kernels.dots(H, 2_000, d), lambda H=H: kernels.combine(H, 2_000, w)]
        times = [best_time(call, clock=time.process_time) * 1e3 for call in calls]
        rows.append((np.dtype(kind).name, *(f"{t:.2f}" for t in (*times, sum(times)))))
    table("20000 x 2000 signs, CPU ms", ("storage", "Aᵀd", "Aw", "both"), rows)


def to_a_gap(_: np.random.Generator) -> None:
    for matrix in (cancer(max_cuts=62), cancer()):
        for relaxation in (rb.Capped(fraction=0.1), rb.HardMargin()):
            rounds_table(matrix, relaxation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path, help="where the plot of the lengths goes")
    parts = {
        "rounds": to_a_gap,
        "passes": passes,
        "lengths": lambda rng: lengths(rng, asked.plot),
        "long": long_runs,
        "storages": storages,
    }
    parser.add_argument("--part", choices=parts, help="one of them, by default all")
    asked = parser.parse_args()
    machine()
    for name, part in parts.items():
        if asked.part in (None, name):
            part(np.random.default_rng(0))


if __name__ == "__main__":
    main()
