"""Exact optima: the time to the fraction, and how long it is.

Run: python benchmarks/exact.py
"""

from __future__ import annotations

import math
import time
from fractions import Fraction

import flint
import numpy as np
from common import cancer, machine, table

import relaxboost as rb
from relaxboost.certificates import exact_optimum
from relaxboost.certificates.exact import simplex
from relaxboost.certificates.exact.kernel import Kernel
from relaxboost.instances import plant


def games() -> list[tuple[str, rb.Game]]:
    """Return the games by name."""
    rng = np.random.default_rng(0)
    m, n = 1_000, 200
    matrices = {
        "signs, 60 % agree": rng.choice([-1, 1], (m, n), p=[0.4, 0.6]).astype(np.int8),
        "doubles, mean 0.2": np.clip(rng.uniform(-0.8, 1.2, (m, n)), -1.0, 1.0),
        "doubles, mean 0": rng.uniform(-1.0, 1.0, (m, n)),
    }
    out = []
    for name, A in matrices.items():
        for f in (rb.HardMargin(), rb.Capped(k=100)):
            out.append((name, rb.Game(A, f)))
    A = matrices["doubles, mean 0.2"]
    out.append(("doubles, mean 0.2", rb.Game(A, rb.NormPenalty(math.inf, 0.5))))
    out.append(("doubles, mean 0.2", rb.Game(A, rb.Capped(100) + rb.NormPenalty(math.inf, 3))))
    out.append(("breast-cancer stumps", rb.Game(cancer())))
    out.append(("breast-cancer stumps", rb.Game(cancer(), rb.Capped(fraction=0.1))))
    for entries in ("signs", "floats"):
        for k in (None, 400):
            out.append((f"planted {entries}", plant(2_000, 1_000, k, 0, entries).game()))
    return out


def systems() -> list[tuple]:
    """Time one solve at the last basis: rows of f eliminated by hand first, or python-flint alone.

    There is no exact simplex on PyPI to compare the whole with.
    """
    rows, seen = [], []

    class Noted(simplex.Kernel):
        def __init__(self, program, tight, basic):
            seen.append((program, tight, basic))
            super().__init__(program, tight, basic)

    simplex.Kernel = Noted
    norm = rb.Game(np.round(games()[6][1].matrix.toarray(), 2), rb.NormPenalty(math.inf, 100))
    for name, game in [*games()[:8], ("two decimals", norm)]:
        exact_optimum(game)
        program, tight, basic = seen[-1]
        right = list(range(1, len(tight) + 1))
        whole = [program.coefficients(t, basic) for t in tight]
        column = [[x] for x in right]
        found, seconds = [], []
        for solve in (
            lambda p=program, t=tight, b=basic, r=right: Kernel(p, t, b).solve(r),
            lambda K=whole, c=column: flint.fmpz_mat(K).solve(flint.fmpz_mat(c)),
            lambda K=whole, c=column: flint.fmpq_mat(flint.fmpz_mat(K)).solve(flint.fmpz_mat(c)),
        ):
            start = time.perf_counter()
            found.append(solve())
            seconds.append(f"{time.perf_counter() - start:.3f}")
        numbers, q = found[0]
        assert [flint.fmpq(x, q) for x in numbers] == found[1].entries() == found[2].entries()
        size = (len(tight), Kernel(program, tight, basic).size)
        rows.append((name, f"{game.m} x {game.n}", game.relaxation, *size, *seconds))
    simplex.Kernel = Kernel
    return rows


def main() -> None:
    machine()
    exact_optimum(rb.Game(np.eye(3)))  # imports
    rows = []
    for name, game in games():
        start = time.perf_counter()
        value = rb.exact_value(game)
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        found = exact_optimum(game)
        pair = time.perf_counter() - start
        digits = math.ceil(value.denominator.bit_length() * math.log10(2))
        size = f"{game.m} x {game.n}"
        cells = (f"{seconds:.2f}", f"{pair:.2f}", found.pivots, len(found.support), digits)
        rows.append((name, size, game.relaxation, *cells, f"{float(value):.12g}"))
    header = ("game", "m x n", "f", "seconds", "with the pair", "exact pivots", "columns")
    table("exact_value", (*header, "digits of the denominator", "value"), rows)

    header = ("game", "m x n", "f", "equations", "after elimination", "ours, s", "fmpz_mat, s")
    table("one system of a basis", (*header, "fmpq_mat, s"), systems())

    rows = []
    for m, n, k, entries in (
        (10_000, 5_000, None, "signs"),
        (10_000, 5_000, 2_000, "signs"),
        (10_000, 5_000, Fraction(4_001, 2), "floats"),
    ):
        start = time.perf_counter()
        found_plant = plant(m, n, k, 0, entries)
        made = time.perf_counter() - start
        game, value = found_plant.game(), found_plant.value
        for tol in (0.1, 0.02):
            sol = rb.solve(game, tol, time_limit=60)
            assert sol.lower <= value <= sol.upper
            cells = (f"{made:.1f}", str(value), sol.status, f"{sol.gap:.3g}", sol.rounds)
            rows.append((f"{m} x {n}", entries, game.relaxation, *cells, f"{sol.seconds:.1f}"))
    header = ("m x n", "entries", "f", "seconds to plant", "value")
    table("planted games, and a booster on them", (*header, "solve", "gap", "rounds", "s"), rows)


if __name__ == "__main__":
    main()
