"""Rounds to a certified gap of 0.01 for each step rule, and the time of a round.

Run: python benchmarks/rounds.py
"""

from __future__ import annotations

import time

import numpy as np
from common import best_time, cancer, machine, table
from threadpoolctl import threadpool_limits

import relaxboost as rb
from relaxboost.matrices import kernels
from relaxboost.solvers import Corrective, TotallyCorrective

TOL = 0.01
LIMIT = 400_000


def rounds_table(matrix: rb.matrices.MarginMatrix, relaxation: rb.Relaxation) -> None:
    game = rb.Game(matrix, relaxation)
    as_stated = TOL / (2 * np.log(game.m))
    runs = [
        ("corrective, fig1 (β as stated)", {"method": Corrective(step="fig1")}),
        *(
            (
                f"corrective, {step}",
                {
                    "method": Corrective(
                        step=step, beta=TOL / (2 * game.relaxation.entropy_range(game.m))
                    )
                },
            )
            for step in rb.solvers.STEPS
        ),
        (
            "corrective, pairwise (β as stated)",
            {"method": Corrective(step="pairwise", beta=as_stated)},
        ),
        (
            "totally corrective, smoothed",
            {"method": TotallyCorrective(inner="smoothed")},
        ),
        ("totally corrective, lp", {"method": TotallyCorrective(inner="lp")}),
        ("hedge, growing", {"method": rb.online.Hedge()}),
        ("hedge, horizon", {"method": rb.online.Hedge("horizon")}),
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


def round_against_pass(rng: np.random.Generator) -> None:
    """The CPU time of a round against the bare pass Aᵀd, one thread."""
    few = cancer(max_cuts=62)
    dense = few.toarray()
    big = rng.choice(np.array([-1, 1], np.int8), (20_000, 1_000))
    X = rng.normal(size=(100_000, 20))
    y = np.sign(X @ rng.normal(size=20)) * np.where(rng.random(100_000) < 0.1, -1.0, 1.0)
    cases = [
        ("569 x 15310 stumps, implicit", cancer(), None),
        ("569 x 1860 stumps, implicit", few, None),
        ("20000 x 20 features, all stumps", rb.matrices.stumps(X[:20_000], y[:20_000]), None),
        ("100000 x 20 features, all stumps", rb.matrices.stumps(X, y), None),
        ("569 x 1860 float64", rb.matrices.DenseMatrix(dense), dense),
        ("569 x 1860 int8", rb.matrices.DenseMatrix(dense.astype(np.int8)), None),
        ("20000 x 1000 float64", rb.matrices.DenseMatrix(big.astype(np.float64)), big * 1.0),
        ("20000 x 1000 int8", rb.matrices.DenseMatrix(big), None),
    ]
    rows = []
    for name, matrix, array in cases:
        d = rng.dirichlet(np.ones(matrix.m))
        game = rb.Game(matrix, rb.Capped(fraction=0.1))
        count = 2_000 if matrix.m < 1_000 else 60
        ours = best_time(lambda matrix=matrix, d=d: matrix.edges(d), clock=time.process_time)
        blas = "-"
        if array is not None:
            with threadpool_limits(1):
                blas = f"{best_time(lambda array=array, d=d: array.T @ d) * 1e6:.0f}"
        times = []
        for step in ("fig1", "pairwise"):
            method, ends = Corrective(step=step, beta=1e-3), []

            def note(_: object, ends: list[float] = ends) -> None:
                ends.append(time.process_time())

            rb.solve(game, 1e-9, method, max_rounds=count, callback=note)
            times.append(float(np.median(np.diff(ends))))
        shown = (f"{t * 1e6:.0f} ({t / ours:.2f}x)" for t in times)
        rows.append((name, f"{ours * 1e6:.0f}", blas, *shown))
    table(
        "a round against the bare pass Aᵀd, CPU µs (OMP_NUM_THREADS=1)",
        ("matrix", "our Aᵀd", "BLAS Aᵀd", "fig1 round", "pairwise round"),
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


def main() -> None:
    machine()
    rng = np.random.default_rng(0)
    for matrix in (cancer(max_cuts=62), cancer()):
        for relaxation in (rb.Capped(fraction=0.1), rb.HardMargin()):
            rounds_table(matrix, relaxation)
    round_against_pass(rng)
    storages(rng)


if __name__ == "__main__":
    main()
