"""Every relaxation: its distribution against softmax, its round against the hard margin's.

Run: python benchmarks/relaxations.py [--m 1000000]
"""

from __future__ import annotations

import argparse
import time

import cvxpy as cp
import numpy as np
from common import best_time, machine, table
from scipy.special import softmax
from threadpoolctl import threadpool_limits

import relaxboost as rb
from relaxboost.solvers import Corrective

BETAS = (1e-4, 1e-2, 1.0)


def families(m: int) -> list[rb.Relaxation]:
    """Return each built-in family with parameters that bind on normal margins."""
    rng = np.random.default_rng(1)
    share = max(1.0, 0.1 * m)
    prior = rng.uniform(0.5, 1.5, m)
    groups = np.arange(m) % max(1, m // 100)
    return [
        rb.HardMargin(),
        rb.Capped(share),
        rb.Caps(rng.uniform(0, 20 / m, m)),
        rb.relaxations.GroupCaps(groups, 20 / max(1, m // 100)),
        rb.NormBall(2, 3 / m**0.5),
        rb.NormBall(3, 3 / m ** (2 / 3)),
        rb.NormPenalty(2, 0.03 * m**0.5),
        rb.NormPenalty(3, 0.03 * m ** (2 / 3)),
        rb.NormPenalty(np.inf, 0.03 * m),
        rb.relaxations.GroupNormBall(
            groups, 0.3 if m >= 200 else 1
        ),  # at least a tenth in groups of 100
        rb.relaxations.ChiSquarePenalty(0.03, prior / prior.sum()),
        rb.relaxations.ChiSquareBall(3),
        rb.relaxations.HellingerPenalty(0.1),
        rb.relaxations.HellingerBall(0.3),
        rb.relaxations.PowerPenalty(3, 0.03),
        rb.relaxations.PowerPenalty(1.5, 0.1),
        rb.relaxations.PowerBall(3, 0.5),
        rb.KLPenalty(0.05),
        rb.KLBall(0.5),
        rb.BinaryEntropy(share, 0.05),
    ]


def label(f: rb.Relaxation) -> str:
    """Return the name and the leading scalar parameters."""
    text = repr(f)
    return text if len(text) < 44 else type(f).__name__


def distributions(m: int) -> None:
    """Print the time of distribution(u, β), with one thread, as a multiple of softmax's."""
    u = np.random.default_rng(0).normal(size=m) * 0.1
    rows = []
    with threadpool_limits(1):
        for f in families(m):
            cells = []
            for beta in BETAS:
                f.distribution(u, beta)  # compiled
                ours, plain = [], []
                for _ in range(3):  # in turns, since the machine's speed drifts
                    plain.append(best_time(lambda: softmax(u / 0.01), 0.1, 3))
                    ours.append(best_time(lambda f=f, b=beta: f.distribution(u, b), 0.1, 2))
                cells.append(f"{min(ours) / min(plain):.1f}")
            rows.append((label(f), *cells))
    table(
        f"distribution(u, β) at m = {m}, one thread, as a multiple of scipy's softmax",
        ("f", *(f"β = {beta:g}" for beta in BETAS)),
        rows,
    )


def rounds(m: int, n: int, count: int = 60) -> None:
    """Print the time of a corrective round with each relaxation on a dense game."""
    A = np.sign(np.random.default_rng(0).normal(size=(m, n)))
    matrix = rb.matrices.DenseMatrix(A)
    rows = []
    for step in ("fig1", "pairwise"):
        times = {}
        for f in families(m):
            game = rb.Game(matrix, f)
            best = np.inf
            for _ in range(2):
                s = rb.solve(game, 1e-9, Corrective(step=step, beta=1e-2), max_rounds=count)
                best = min(best, s.seconds / s.rounds)
            times[label(f)] = best
        base = times["HardMargin()"]
        rows.append((step, times, base))
    (_, first, base), (_, second, other) = rows
    table(
        f"a corrective round on {m} x {n} float64, µs (multiple of the hard margin's)",
        ("f", "fig1", "pairwise"),
        [
            (name, f"{t * 1e6:.0f} ({t / base:.2f}x)",
             f"{second[name] * 1e6:.0f} ({second[name] / other:.2f}x)")
            for name, t in first.items()
        ],
    )  # fmt: skip


def custom(m: int) -> None:
    """Print the first and the second call of a Custom relaxation, in this process."""
    u = np.random.default_rng(0).normal(size=m)
    cp.Problem(cp.Minimize(cp.square(cp.Variable()))).solve()  # cvxpy's own set-up apart
    rows = []
    for name, function in (
        ("sum_squares(pos(d - 2/m))", lambda d: cp.sum_squares(cp.pos(d - 2 / m))),
        ("norm2(d) <= r", lambda d: (0.0, [cp.norm2(d) <= 2 / m**0.5])),
        ("kl_div(d, 1/m)", lambda d: cp.sum(cp.kl_div(d, 1 / m))),
    ):
        for method in ("relaxed_margin", "distribution"):
            f = rb.Custom(f=function).resolve(m)
            arguments = (u,) if method == "relaxed_margin" else (u, 0.01)
            start = time.perf_counter()
            if method == "relaxed_margin":  # resolve compiles it
                f = rb.Custom(f=function).resolve(m)
            getattr(f, method)(*arguments)
            first = time.perf_counter() - start
            second = best_time(lambda f=f, a=arguments, k=method: getattr(f, k)(*a), 0.2, 3)
            rows.append((name, method, f"{first * 1e3:.1f}", f"{second * 1e3:.1f}",
                         f"{first / second:.1f}"))  # fmt: skip
    table(
        f"Custom at m = {m}: the first call and the next ones, ms",
        ("f", "call", "first", "next", "first / next"),
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--m", type=int, default=1_000_000)
    machine()
    distributions(parser.parse_args().m)
    rounds(10_000, 1_000)
    custom(200)


if __name__ == "__main__":
    main()
