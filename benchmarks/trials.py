"""Random games over all families, sums, multiples, shifts and domains: is every bracket right?

Each trial solves a small random game and compares its bracket with the optimum that Clarabel finds
for the primal problem of the game, which cvxpy compiles from the definition of f alone. A bracket
is false if it misses this optimum by more than the accuracy of Clarabel. The script solves such a
game again by another method, because two brackets of one game that do not overlap need no solver
to be recognised as wrong. Every tenth solution is certified, and the certificate is checked.

Run: python benchmarks/trials.py [FIRST LAST]. Ctrl-C prints the counts so far.
"""

from __future__ import annotations

import collections
import sys
import tempfile
import time
import warnings
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from common import machine, table

import relaxboost as rb
from tests.conformance.families import FAMILIES

ACCURACY = 1e-6
"""The error of an optimum found by Clarabel, relative to the size of the game."""
ROUNDS = 30
"""The largest number of rounds. A bracket after few rounds must be right, too."""
SECONDS = 2.0
"""The time limit of a run."""
METHODS = ("auto", "auto", "interior-point", "corrective", "erlpboost", "lpboost")


def random_matrix(rng: np.random.Generator) -> np.ndarray:
    """Return a matrix of at most 12 x 8: signs, normal entries, or columns that repeat."""
    m = int(rng.integers(1, 13))
    n = int(rng.integers(1, 9))
    kind = rng.integers(4)
    if kind == 0:
        return np.sign(rng.normal(size=(m, n)) + rng.uniform(0.0, 0.5))
    A = rng.normal(size=(m, n)) + rng.uniform(0.0, 0.5)
    A /= np.abs(A).max()
    if kind == 1:
        return np.round(4.0 * A) / 4.0
    return A[:, rng.integers(n, size=n)] if kind == 2 else A


def random_relaxation(rng: np.random.Generator, m: int) -> rb.Relaxation:
    """Return a family with its parameters, or a sum, a multiple or a shift of such families."""
    make = FAMILIES[rng.integers(len(FAMILIES))][1]
    f = make(m)
    kind = rng.integers(8)
    if kind == 0:
        return float(10.0 ** rng.uniform(-3.0, 2.0)) * f
    if kind == 1:
        return f.shifted(rng.uniform(-0.2, 0.2, m) / m)
    if kind in (2, 3):
        other = FAMILIES[rng.integers(len(FAMILIES))][1](m)
        return f + Fraction(int(rng.integers(1, 9)), 4) * other
    return f


def random_domain(rng: np.random.Generator) -> Any:
    """Return a domain of the weights w with a random size."""
    size = float(rng.choice([0.5, 1.0, 3.0]))
    makers = (rb.L1Ball, rb.Simplex, rb.FullSimplex, rb.L2Ball, rb.SquaredNorm)
    return makers[rng.choice(5, p=[0.4, 0.2, 0.1, 0.15, 0.15])](size)


def optimum(game: rb.Game) -> float:
    """Return the value of the game by Clarabel, or nan if Clarabel does not solve it."""
    try:
        problem = game.primal()
        problem.solve(solver=cp.CLARABEL)
    except cp.error.SolverError:
        return np.nan
    return float(problem.value) if problem.status == cp.OPTIMAL else np.nan


def trial(seed: int) -> tuple[str, str]:
    """Return the outcome of one trial, and what is needed to reproduce it."""
    rng = np.random.default_rng(seed)
    A = random_matrix(rng)
    over = random_domain(rng)
    tol = float(10.0 ** rng.integers(-7, -1))
    try:
        f = random_relaxation(rng, A.shape[0])
        game = rb.Game(A, f, over=over)
        method = str(rng.choice(METHODS))
        found = rb.solve(game, tol=tol, method=method, max_rounds=ROUNDS, time_limit=SECONDS)
    except rb.InputError:
        return "refused", ""
    what = f"{seed}: {method} to {tol:g}, {f!r} over {over!r}: [{found.lower}, {found.upper}]"
    value = optimum(game)
    size = 1.0 + abs(found.upper) + (0.0 if np.isnan(value) else abs(value))
    slack = ACCURACY * size
    if found.lower > value + slack or found.upper < value - slack:
        other = rb.solve(game, tol=1e-7, max_rounds=ROUNDS, time_limit=SECONDS)
        overlap = max(found.lower, other.lower) <= min(found.upper, other.upper)
        verdict = "Clarabel and a second bracket disagree" if overlap else "false"
        return verdict, f"{what}, {value}, again [{other.lower}, {other.upper}]"
    if seed % 10 == 0 and np.isfinite(found.gap):
        certificate = rb.certify(found)
        if certificate.lower > value + slack or certificate.upper < value - slack:
            return "false", f"certificate {certificate.lower} {certificate.upper} of {what}"
        with tempfile.TemporaryDirectory() as folder:
            certificate.save(f"{folder}/game.json")
            rb.check_certificate(f"{folder}/game.json", A)
    if np.isnan(value):
        return "no optimum by Clarabel", what
    return ("bracket within tol" if found.gap <= tol else "wider bracket"), what


def _count(seed: int, counts: collections.Counter[str]) -> None:
    """Count the outcome of one trial, and print what somebody has to look at."""
    try:
        outcome, what = trial(seed)
    except Exception as error:  # a traceback is a finding too
        outcome = f"traceback ({type(error).__name__})"
        what = f"{seed}: {error}"
    counts[outcome] += 1
    if "false" in outcome or "disagree" in outcome or "traceback" in outcome:
        print(outcome, what, flush=True)


def main() -> None:
    machine()
    warnings.simplefilter("ignore")
    first, last = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (0, 30_000)
    counts: collections.Counter[str] = collections.Counter()
    start = time.process_time()
    try:
        for seed in range(first, last):
            _count(seed, counts)
    except KeyboardInterrupt:
        print(f"stopped at seed {seed}")
    print(f"{time.process_time() - start:.0f} CPU seconds")
    table("Random games", ("outcome", "games"), sorted(counts.items()))


if __name__ == "__main__":
    main()
