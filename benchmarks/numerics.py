"""Intervals written by hand beside the balls of python-flint: time, and how tight they are.

Run: python benchmarks/numerics.py
"""

from __future__ import annotations

import numpy as np
from common import best_time, machine, table

from relaxboost._core.intervals import Interval

Row = tuple[str, str, str, str]

SIZE = 1_000


def intervals() -> list[Row]:
    """Array intervals in NumPy, and the balls of python-flint at their precision of 53 bits."""
    from flint import arb, ctx

    rng = np.random.default_rng(0)
    x, y = rng.uniform(0.1, 2.0, (2, SIZE))
    a, b = Interval(x, x + 1e-12), Interval(y, y + 1e-12)
    balls = [[arb(float(v) + 5e-13, 5e-13) for v in values] for values in (x, y)]
    ctx.prec = 53
    pairs = {
        "product": (lambda: a * b, lambda: [u * v for u, v in zip(*balls, strict=True)]),
        "quotient": (lambda: a / b, lambda: [u / v for u, v in zip(*balls, strict=True)]),
        "exp": (a.exp, lambda: [u.exp() for u in balls[0]]),
        "log": (a.log, lambda: [u.log() for u in balls[0]]),
    }
    rows = []
    for name, (ours, theirs) in pairs.items():
        widths = ours().upper - ours().lower, np.array([2.0 * float(u.rad()) for u in theirs()])
        wide = f"{np.median(widths[0] / widths[1]):.2f}"
        times = [f"{1e6 * best_time(call):.0f} µs" for call in (ours, theirs)]
        rows.append((f"interval {name}, {SIZE} entries", *times, f"{wide} times as wide"))
    return rows


def main() -> None:
    """Print the table."""
    machine()
    table("By hand and by a library", ("what", "by hand", "library", "result"), intervals())


if __name__ == "__main__":
    main()
