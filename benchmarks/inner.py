"""Eq. 13's inner problem: smoothed against the restricted LP, by the gap asked for.

Run: python benchmarks/inner.py
"""

from __future__ import annotations

import numpy as np
from common import cancer, machine, table

import relaxboost as rb
from relaxboost.solvers import Corrective, ERLPBoost, LPBoost


def main() -> None:
    machine()
    rng = np.random.default_rng(0)
    base = np.sign(rng.normal(size=(2_000, 400)))
    noisy = np.where(rng.random(base.shape) < 0.1, 1.0, base)
    games = [
        ("569 x 15310 stumps", rb.Game(cancer(), rb.HardMargin())),
        ("569 x 15310 stumps", rb.Game(cancer(), rb.Capped(k=57))),
        ("2000 x 400 noisy signs", rb.Game(noisy, rb.Capped(k=667))),
    ]
    rows = []
    for name, game in games:
        for tol in (0.1, 0.03, 0.01, 0.001, 1e-6):
            cells = []
            for method in (ERLPBoost(), LPBoost(), Corrective(step="pairwise"), "auto"):
                s = rb.solve(game, tol, method, time_limit=20)
                mark = "" if s.status == "optimal" else f" ({s.status}, gap {s.gap:.3g})"
                cells.append(f"{s.rounds} rounds, {s.seconds:.2f} s{mark}")
            rows.append((name, game.relaxation, tol, *cells))
    table(
        "ERLPBoost and LPBoost, compared with pairwise steps and the default method",
        ("game", "f", "gap", "erlpboost", "lpboost", "corrective (pairwise)", "auto"),
        rows,
    )


if __name__ == "__main__":
    main()
