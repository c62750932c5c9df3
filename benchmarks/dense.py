"""Games whose optimum uses many columns: `solve` against HiGHS, to a certified gap of 1e-6.

Every solver's point is scored by the bracket of the package, in CPU seconds of one thread.

Run: OMP_NUM_THREADS=1 python benchmarks/dense.py [word of a name]
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

import numpy as np
from common import cancer, machine, table
from scipy import sparse

import relaxboost as rb
from relaxboost.solvers import Combined

TOL, MOST = 1e-6, 60.0


def games() -> Iterator[tuple[str, rb.Game]]:
    """Yield (name, game)."""
    rng = np.random.default_rng(0)

    def noisy(m: int, n: int) -> np.ndarray:
        signs = rng.choice([-1.0, 1.0], (m, n))
        return np.where(rng.random((m, n)) < 0.09, 1.0, signs)

    def stumps(m: int, features: int) -> rb.matrices.StumpMatrix:
        X = rng.normal(size=(m, features))
        y = np.where(X @ rng.normal(size=features) > 0.0, 1.0, -1.0)
        return rb.matrices.stumps(X, np.where(rng.random(m) < 0.1, -y, y))

    real = np.clip(rng.normal(0.05, 0.4, (3000, 500)), -1, 1)
    yield "noisy signs 2000 x 400, k = m/3", rb.Game(noisy(2000, 400), rb.Capped(2000 / 3))
    yield "noisy signs 4000 x 1000, k = m/3", rb.Game(noisy(4000, 1000), rb.Capped(4000 / 3))
    yield "random signs 1000 x 1000", rb.Game(rng.choice([-1.0, 1.0], (1000, 1000)))
    yield "real 3000 x 500, k = m/5", rb.Game(real, rb.Capped(600))
    yield "rho = 0, 2000 x 500", rb.Game(rng.choice([-1.0, 1.0], (2000, 500)), rb.Capped(200))
    yield "uniform 300 x 20000", rb.Game(rng.uniform(-1, 1, (300, 20000)))
    yield "breast cancer, all 15310 stumps", rb.Game(cancer(), rb.Capped(57))
    yield "largest weight, 2000 x 400", rb.Game(noisy(2000, 400), rb.NormPenalty(np.inf, 5.0))
    yield (
        "spectral, 1000 x 200",
        rb.Game(noisy(1000, 200), rb.relaxations.SpectralRisk([10, 100, 500], [0.2, 0.3, 0.5])),
    )
    yield "all 20000 stumps, m = 2000, k = m/10", rb.Game(stumps(2000, 10), rb.Capped(200))
    yield "all 100000 stumps, m = 5000, k = m/10", rb.Game(stumps(5000, 20), rb.Capped(500))


def highs(game: rb.Game, solver: str) -> tuple[float, str]:
    """Return (CPU seconds, what was reached) of HiGHS on the linear program of the game."""
    import highspy

    form, m = game.linear_form, game.m
    A = game.matrix.toarray()
    start = time.process_time()
    columns = sparse.csr_array(np.vstack([A.T, -A.T]))
    extra = form.cost.size - m
    edge = sparse.csr_array(np.full((columns.shape[0], 1), -1.0))
    none = sparse.csr_array((columns.shape[0], extra))
    rows = [sparse.hstack([columns, none, edge])]
    low, high = [np.full(columns.shape[0], -np.inf)], [np.zeros(columns.shape[0])]
    total = sparse.csr_array((np.ones(m), ([0] * m, range(m))), (1, m + extra + 1))
    rows, low, high = [*rows, total], [*low, np.ones(1)], [*high, np.ones(1)]
    if form.rows is not None:
        wider = sparse.csr_array(form.rows)
        wider.resize(wider.shape[0], m + extra + 1)
        rows, low, high = [*rows, wider], [*low, form.row_lower], [*high, form.row_upper]
    matrix = sparse.csr_array(sparse.vstack(rows))
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_ = np.append(form.cost, game.over.scale)
    model.col_lower_ = np.append(form.lower, 0.0)
    model.col_upper_ = np.append(form.upper, np.inf)
    model.row_lower_, model.row_upper_ = np.concatenate(low), np.concatenate(high)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
    model.a_matrix_.value_ = matrix.data
    solve = highspy.Highs()
    for name, value in {
        "output_flag": False,
        "threads": 1,
        "solver": solver,
        "run_crossover": "off",
        "time_limit": MOST,
        "ipm_optimality_tolerance": 1e-9,
    }.items():
        solve.setOptionValue(name, value)
    solve.passModel(model)
    solve.run()
    solution = solve.getSolution()
    seconds = time.process_time() - start
    n = game.n
    duals = -np.array(solution.row_dual)[: 2 * n]
    try:
        lower, upper = game.bracket(np.array(solution.col_value)[:m], duals[:n] - duals[n:])
    except rb.InputError:
        return seconds, "nothing"
    return seconds, "" if upper - lower <= TOL else f" (gap {upper - lower:.1e})"


def main() -> None:
    machine()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        print("(CPU seconds of several threads: set OMP_NUM_THREADS=1 to compare)")
    rows = []
    for name, game in games():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        cells, times = [], []
        for method in ("auto", "interior-point", Combined(interior=False)):
            start = time.process_time()
            found = rb.solve(game, TOL, method, time_limit=MOST)
            times.append(time.process_time() - start)
            reached = "" if found.status == "optimal" else f" (gap {found.gap:.1e})"
            cells.append(f"{times[-1]:.2f}{reached}")
        entries = game.m * game.n
        for solver in ("ipm", "simplex"):
            if entries > 20_000_000:
                cells.append("not tried")
                continue
            seconds, reached = highs(game, solver)
            times.append(seconds)
            cells.append(f"{seconds:.2f}{reached}")
        best = f"{times[3] / times[0]:.1f}" if len(times) > 3 else ""
        rows.append((name, *cells, best))
        print(rows[-1], flush=True)
    table(
        "CPU seconds to a certified gap of 1e-6, one thread, 60 s at most",
        (
            "game",
            "auto",
            "interior-point",
            "steps and program",
            "HiGHS ipm",
            "HiGHS simplex",
            "ipm / auto",
        ),
        rows,
    )


if __name__ == "__main__":
    main()
