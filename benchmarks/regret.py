"""The least cumulative loss and the regret, bracketed: seconds and widths.

    python benchmarks/regret.py [--examples 100000] [--functions 50] [--losses hinge,squared]

Base functions are normal numbers cut off at ±1, a fifth of them matters, and targets have noise.
It prints the processor's seconds of one thread, the rounds, and the width of the bracket as a part
of the comparator's loss; then `regret` itself, the run of the learner and its bracket.
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import relaxboost as rb
from relaxboost.online import GradientDescent, MirrorDescent, hindsight, regret

LOSSES = "hinge,absolute,quantile,logistic,squared,exponential,smooth-hinge,huber,inner"
REGRESSION = ("absolute", "quantile", "squared", "huber")


def made(m: int, M: int):
    rng = np.random.default_rng(0)
    H = np.clip(rng.normal(size=(m, M)) * 0.5, -1.0, 1.0)
    truth = rng.normal(size=M) * (rng.random(M) < 0.2)
    numbers = H @ truth + 0.3 * rng.normal(size=m)
    labels = np.where(H @ truth + 0.5 * rng.normal(size=m) > 0.0, 1.0, -1.0)
    return H, numbers, labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--functions", type=int, default=50)
    parser.add_argument("--losses", default=LOSSES)
    parser.add_argument("--radius", type=float, default=3.0)
    given = parser.parse_args()
    H, numbers, labels = made(given.examples, given.functions)
    domains = [kind(given.radius) for kind in (rb.Simplex, rb.FullSimplex, rb.L1Ball, rb.L2Ball)]
    print(f"m = {given.examples}, M = {given.functions}; tol = 1e-6 of the loss")
    print(f"{'loss':13}{'over':24}{'seconds':>8}{'rounds':>8}{'width':>10}  status")
    for name in given.losses.split(","):
        y = None if name == "inner" else numbers if name in REGRESSION else labels
        for over in domains:
            began = time.process_time()
            found = hindsight(name, over, (H, y))
            spent = time.process_time() - began
            width = found.gap / abs(found.upper)
            print(f"{name:13}{over!r:24}{spent:8.2f}{found.rounds:8}{width:10.1e}  {found.status}")
    size = float(np.sqrt((H**2).sum(axis=1)).max())
    at = [given.examples // 100, given.examples // 10]
    for method in (
        MirrorDescent("hinge", over=rb.Simplex(given.radius)),
        MirrorDescent("squared", over=rb.L1Ball(given.radius), targets=20.0),
        GradientDescent("logistic", over=rb.L2Ball(given.radius), bound=size),
    ):
        method.start(given.functions).update(H[:10], labels[:10])  # compile
        began = time.process_time()
        found = regret(method, (H, labels), at=at)
        spent = time.process_time() - began
        print(f"\n{method!r}: {spent:.2f} s")
        found.show()
    blocks = [(H[a : a + 2000], labels[a : a + 2000]) for a in range(0, len(H), 2000)]
    tracemalloc.start()
    hindsight("logistic", domains[0], lambda: iter(blocks))
    peak = tracemalloc.get_traced_memory()[1]
    print(f"\nlogistic over a stream of blocks: {peak / 2**20:.1f} MB beside the stream")


if __name__ == "__main__":
    main()
