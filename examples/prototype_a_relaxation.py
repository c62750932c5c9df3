"""A relaxation of your own, from an idea to a picture.

The idea. `Capped(k)` forbids a distribution to give an example more than 1/k. Let it be allowed
instead, at a price: f(d) = price/2 · Σ [d_i − 1/k]_+², a soft cap. Nothing in relaxboost knows
this f. Its definition below is all that is written for it; the conjugate, the conditions of the
theory, the bracketed optimum, a booster and the picture follow from the package's defaults.

Run it: python examples/prototype_a_relaxation.py [picture.png] [--splits 3] [--train 200]
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

import relaxboost as rb
from relaxboost import testing
from relaxboost._core.rounding import show_bracket
from relaxboost.views import plots


# --8<-- [start:definition]
@dataclass(frozen=True)
class SoftCap(rb.Relaxation):
    """f(d) = price/2 · Σ [d_i − 1/k]_+²: weights above 1/k cost."""

    k: float
    price: float

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return f(d), and the constraints it needs: none."""
        return self.price / 2 * cp.sum_squares(cp.pos(d - 1 / self.k)), []


# --8<-- [end:definition]

PRICE = 20
CAP = 0.3
"""This price and the cap it is compared with were chosen on the splits 0, 1 and 2."""
FIRST = 3
"""The first of the splits that the errors are reported on."""
NOISE = 0.1


def noisy_half(seed: int, train: int) -> tuple[Any, Any, Any]:
    """Return the stumps of a noisy training sample, and the clean examples left out."""
    data = rb.matrices.datasets.breast_cancer()
    rng = np.random.default_rng(seed)
    order = rng.permutation(data.y.size)
    inside, outside = order[:train], order[train:]
    y = data.y[inside].copy()
    y[rng.choice(train, int(NOISE * train), replace=False)] *= -1.0
    stumps = rb.matrices.stumps(data.X[inside], y, data.feature_names, max_cuts=20)
    return stumps, data.X[outside], data.y[outside]


def held_out_error(solution: rb.Solution, X: Any, y: Any) -> float:
    """Return the share of new examples that the vote gets wrong; no opinion is wrong."""
    stumps: Any = solution.game.matrix
    pairs = zip(solution.support, solution.coefficients, strict=True)
    vote = sum(c * stumps.hypothesis(j)(X) for j, c in pairs)
    return float(np.mean(vote * y <= 0.0))


def examine() -> None:
    """Print what the theory says of f, and hold the defaults to the interface."""
    print("1. Conditions of Shalev-Shwartz & Singer (2009), Thm 7, at m = 6\n")
    print(rb.check_conditions(SoftCap(k=6, price=PRICE), m=6))
    report = testing.check_relaxation(SoftCap(k=3, price=PRICE), sizes=(1, 2, 5))
    passed = sum(row.status == "passed" for row in report.rows)
    print(f"\n2. Conformance: {passed} checks passed at m = 1, 2, 5, none failed")


def solve_small() -> bool:
    """Bracket the optimum of a small game by a cone solver and by a booster; compare."""
    stumps, _, _ = noisy_half(seed=0, train=40)
    game = rb.Game(stumps, SoftCap(k=40, price=PRICE))
    reference = rb.reference(game)
    booster = rb.solve(game, tol=0.05)
    print(f"\n3. The optimum of a small game, {game.m} examples and {game.n} stumps\n")
    for s in (reference, booster):
        lower, upper = show_bracket(s.lower, s.upper)
        line = f"{lower:>15} <= rho <= {upper:<15} {s.method}, {s.seconds:.1f} s"
        print(f"   bracketed, {s.game.level}: {line}")
    verdict = rb.compare(booster, reference)
    print(f"   the brackets overlap: {verdict.agree}")
    return bool(verdict.agree)


def learn(splits: int, train: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Return the held-out errors of three relaxations, and the margins of the first split."""
    errors: dict[str, list[float]] = {}
    margins: dict[str, Any] = {}
    for seed in range(FIRST, FIRST + splits):
        stumps, X, y = noisy_half(seed, train)
        for f in (rb.HardMargin(), rb.Capped(fraction=CAP), SoftCap(k=train, price=PRICE)):
            solution = rb.reference(rb.Game(stumps, f))
            errors.setdefault(repr(f), []).append(held_out_error(solution, X, y))
            margins.setdefault(repr(f), solution.margins)
    print(f"\n4. {train} examples, {NOISE:.0%} of the labels flipped: errors on {y.size} others\n")
    for name, values in errors.items():
        each = "  ".join(f"{value:6.1%}" for value in values)
        print(f"   {name:<26}{np.mean(values):6.1%} on average;  split by split {each}")
    return errors, margins


def draw(errors: dict[str, list[float]], margins: dict[str, Any], train: int) -> Any:
    """Return the picture: f, f*, the distribution it prefers, and the margins it buys."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 7.6), layout="constrained")
    (one, two), (three, four) = figure.subplots(2, 2)
    small = (rb.HardMargin(), rb.Capped(k=6), SoftCap(k=20, price=3))
    plots.draw_penalty(*small, m=20, axes=one)
    plots.draw_conjugate(*small, m=20, axes=two)
    u = np.sort(np.random.default_rng(1).normal(0.2, 0.25, 20))
    plots.draw_distribution(*small, margins=u, beta=0.001, axes=three)
    label = {name: f"{name}\nmean held-out error {np.mean(e):.1%}" for name, e in errors.items()}
    plots.draw_margins({label[name]: values for name, values in margins.items()}, axes=four)
    title = f"margins it buys: {train} examples, {NOISE:.0%} of the labels flipped"
    four.set_title(title, fontsize="medium")
    figure.suptitle("A soft cap: weights above 1/k cost, but are not forbidden")
    return figure


def main(arguments: list[str] | None = None) -> int:
    """Go through the five steps."""
    parser = argparse.ArgumentParser(description="A relaxation of your own.")
    parser.add_argument("picture", nargs="?", help="where to save the picture (.png, .pdf, .svg)")
    parser.add_argument("--splits", type=int, default=3, help="training samples to average over")
    parser.add_argument("--train", type=int, default=200, help="examples in each")
    chosen = parser.parse_args(arguments)
    if chosen.picture:
        plots.check_plot(chosen.picture)
    start = time.perf_counter()
    examine()
    agree = solve_small()
    errors, margins = learn(chosen.splits, chosen.train)
    if chosen.picture:
        plots.save(draw(errors, margins, chosen.train), chosen.picture)
        print(f"\n5. Picture: {chosen.picture}")
    print(f"\n{time.perf_counter() - start:.0f} seconds")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
