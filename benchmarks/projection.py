"""The entropic projections: selection against sorting, and all against scipy's softmax.

Run: python benchmarks/projection.py
"""

from __future__ import annotations

import numpy as np
from common import best_time, machine, table
from scipy.special import softmax

from relaxboost.relaxations._projections.capped import by_sorting, capped_distribution
from relaxboost.relaxations._projections.caps import caps_distribution
from relaxboost.relaxations._projections.max_penalty import max_penalty_distribution


def main() -> None:
    machine()
    rng = np.random.default_rng(0)
    rows = []
    for m in (100, 1_000, 10_000, 100_000, 1_000_000):
        u = rng.normal(size=m) * 0.1
        for share in (None, 0.1, 0.5):
            k = 1.0 if share is None else share * m
            beta = 0.01
            plain = best_time(lambda u=u, beta=beta: softmax(u / beta))
            times = {
                name: best_time(lambda u=u, beta=beta, k=k, method=method: method(u, beta, k))
                for name, method in (("sort", by_sorting), ("select", capped_distribution))
            }
            rows.append(
                (
                    m,
                    "1" if share is None else f"{share} m",
                    f"{plain * 1e6:.0f}",
                    *(f"{t * 1e6:.0f} ({t / plain:.1f}x)" for t in times.values()),
                    f"{times['sort'] / times['select']:.2f}",
                )
            )
    table(
        "capped_distribution(u, β, k), µs (multiple of softmax)",
        ("m", "k", "softmax", "sort", "select", "sort / select"),
        rows,
    )
    rows = []
    for m in (1_000, 100_000, 1_000_000):
        u, caps, a = rng.normal(size=m) * 0.1, rng.uniform(0, 20 / m, m), rng.uniform(0.5, 2, m)
        for beta in (1e-6, 0.01, 1.0):
            plain = best_time(lambda u=u, beta=beta: softmax(u / beta))
            calls = (
                lambda u=u, beta=beta, caps=caps: caps_distribution(u, beta, caps),
                lambda u=u, beta=beta, a=a, m=m: max_penalty_distribution(u, beta, 0.1 * m, a),
            )
            times = [best_time(call) for call in calls]
            shown = (f"{t * 1e6:.0f} ({t / plain:.1f}x)" for t in times)
            rows.append((m, beta, f"{plain * 1e6:.0f}", *shown))
    table(
        "a cap for each example, and a penalty on the largest, µs (multiple of softmax)",
        ("m", "β", "softmax", "caps_distribution", "max_penalty_distribution"),
        rows,
    )


if __name__ == "__main__":
    main()
