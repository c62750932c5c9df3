"""Rounds to a certified gap of 0.01 for each step rule, and the time of a round.

Run: python benchmarks/rounds.py
"""

from __future__ import annotations

import numpy as np
from common import best_time, cancer, machine, table
from threadpoolctl import threadpool_limits

import relaxboost as rb
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
    """The time of a Fig. 1 round against the bare pass Aᵀd, one thread."""
    few = cancer(max_cuts=62)
    dense = few.toarray()
    big = np.sign(rng.normal(size=(10_000, 1_000)))
    cases = [
        ("569 x 15310 stumps, implicit", cancer(), None),
        ("569 x 1860 stumps, implicit", few, None),
        ("569 x 1860 float64", rb.matrices.DenseMatrix(dense), dense),
        ("569 x 1860 int8", rb.matrices.DenseMatrix(dense.astype(np.int8)), None),
        ("10000 x 1000 float64", rb.matrices.DenseMatrix(big), big),
        ("10000 x 1000 int8", rb.matrices.DenseMatrix(big.astype(np.int8)), None),
    ]
    rows = []
    for name, matrix, array in cases:
        d = rng.dirichlet(np.ones(matrix.m))
        game = rb.Game(matrix, rb.Capped(fraction=0.1))
        count = 3_000 if matrix.m < 1_000 else 150
        ours = best_time(lambda matrix=matrix, d=d: matrix.edges(d))
        blas = "-"
        if array is not None:
            with threadpool_limits(1):
                blas = f"{best_time(lambda array=array, d=d: array.T @ d) * 1e6:.0f}"
        times = {}
        for step in ("fig1", "pairwise"):
            rb.solve(game, 1e-9, Corrective(step=step, beta=1e-3), max_rounds=5)
            s = rb.solve(game, 1e-9, Corrective(step=step, beta=1e-3), max_rounds=count)
            times[step] = s.seconds / s.rounds
        rows.append(
            (
                name,
                f"{ours * 1e6:.0f}",
                blas,
                *(f"{t * 1e6:.0f} ({t / ours:.1f}x)" for t in times.values()),
            )
        )
    table(
        "a round against the bare pass Aᵀd, µs",
        ("matrix", "our Aᵀd", "BLAS Aᵀd (1 thread)", "fig1 round", "pairwise round"),
        rows,
    )


def main() -> None:
    machine()
    rng = np.random.default_rng(0)
    for matrix in (cancer(max_cuts=62), cancer()):
        for relaxation in (rb.Capped(fraction=0.1), rb.HardMargin()):
            rounds_table(matrix, relaxation)
    round_against_pass(rng)


if __name__ == "__main__":
    main()
