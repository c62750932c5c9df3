"""One loop, any convex loss: quantiles of a noisy curve, and how far each algorithm gets.

On the left, boosted networks of three units minimise four losses on the same 400 points: the
quantile losses of 10, 50 and 90 per cent, which give a median and a band, and a loss written here
in one line, which charges four times as much for a prediction that is too low. On the right, the
three algorithms of Grubb & Bagnell (2011) minimise the hinge loss on the breast-cancer data over 30
hypotheses, "this feature is above its median"; the optimum is known between two bounds. The naive
algorithm, which projects the subgradient itself, comes to a halt far above it, since the hinge has
corners; the other two keep what the projection leaves over, and go on.

Run it: python examples/any_convex_loss.py [picture.png]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import relaxboost as rb
from relaxboost import functional as fn
from relaxboost.views import plots

POINTS = 400
ROUNDS = 100
LEARNERS = 3000
QUANTILES = (0.1, 0.5, 0.9)


def too_low(F: Any, y: Any) -> Any:
    """Return a loss of one's own: the square, four times as much where F is below y."""
    import cvxpy as cp

    return cp.square(cp.pos(F - y)) + 4.0 * cp.square(cp.pos(y - F))


def curve(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points on a wave, whose noise grows from left to right."""
    x = np.sort(rng.uniform(0.0, 6.0, n))
    return x[:, None], np.sin(x) + (0.05 + 0.1 * x) * rng.normal(size=n)


def losses(X: np.ndarray, y: np.ndarray) -> dict[str, fn.Boosted]:
    """Boost the four losses, and print what they do."""
    own = fn.CustomLoss(too_low, smoothness=8.0, strong_convexity=2.0, name="too_low")
    print(f"{'loss':<18}{'risk of f_0':>12}{'risk':>10}{'points below':>14}")
    runs = {}
    for loss in (*map(fn.Quantile, QUANTILES), own):
        smooth = loss is own  # then the naive algorithm will do, with steps 1/Λ
        run = fn.boost(
            X,
            loss.bind(y),
            fn.Networks(hidden=3, iterations=30),
            algorithm=fn.Naive() if smooth else fn.Residual(scale=0.3, iterate="average"),
            stopping=20 if smooth else ROUNDS,
        )
        below = np.mean(y <= run.predict(X))
        print(f"{loss!r:<18}{run.history[0].value:>12.4f}{run.value:>10.4f}{below:>14.1%}")
        runs[repr(loss)] = run
    return runs


def algorithms() -> tuple[fn.LossOptimum, dict[str, fn.Boosted]]:
    """Minimise the hinge loss on real data by each algorithm, and print the gaps."""
    data = rb.matrices.datasets.breast_cancer()
    H = np.where(np.median(data.X, axis=0) < data.X, 1.0, -1.0)  # one column a hypothesis
    best = fn.optimum(fn.Hinge().bind(data.y), H)
    print(f"\n{data.name}, least hinge loss over {H.shape[1]} hypotheses:")
    print(f"{best.lower:.9f} <= R_min <= {best.upper:.9f}")
    print(f"{'algorithm':<12}{'rounds':>8}{'learners':>10}{'least R[f_t] - R_min':>22}")
    runs = {}
    for kind in (fn.Naive, fn.Repeated, fn.Residual):
        run = fn.boost(
            H,
            fn.Hinge().bind(data.y),
            fn.FiniteSet(),
            algorithm=kind(step="1/sqrt(t)"),
            stopping=fn.Stopping(LEARNERS, max_learners=LEARNERS),
        )
        gap = min(record.value for record in run.history) - best.lower
        print(f"{kind.name:<12}{run.rounds:>8}{len(run.terms):>10}{gap:>22.6f}")
        runs[kind.name] = run
    return best, runs


def draw(
    X: np.ndarray,
    y: np.ndarray,
    curves: dict[str, fn.Boosted],
    best: fn.LossOptimum,
    runs: dict[str, fn.Boosted],
) -> Any:
    """Return the picture: the curves over the data, and the gaps by weak learners."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(X[:, 0], y, ".", color="0.7", markersize=4)
    low, median, high, own = (run.predict(X) for run in curves.values())
    left.fill_between(X[:, 0], low, high, alpha=0.2, label="10% to 90% quantile")
    left.plot(X[:, 0], median, "--", label="median")
    left.plot(X[:, 0], own, label="four times the price if too low")
    left.set(xlabel="x", ylabel="y", title="Four losses, one loop")
    left.legend(fontsize="small")
    for (name, run), dashes in zip(runs.items(), ("-", "--", "-.", ":") * 2, strict=False):
        gaps = np.minimum.accumulate([record.value for record in run.history]) - best.lower
        right.plot([record.learners for record in run.history[1:]], gaps[1:], dashes, label=name)
    right.set(xscale="log", yscale="log", xlabel="weak learners")
    right.set(ylabel=r"least R[f] − $R_{\min}$ so far", title="Hinge loss, to its optimum")
    right.legend(fontsize="small")
    return figure


def main() -> int:
    """Boost, print, draw."""
    if len(sys.argv) > 1:
        plots.check_plot(sys.argv[1])
    start = time.perf_counter()
    X, y = curve(np.random.default_rng(0), POINTS)
    print(f"{POINTS} points on a wave, networks of three units for weak learners\n")
    curves = losses(X, y)
    best, runs = algorithms()
    if best.gap > 1e-6:
        raise rb.InputError(f"the optimum is bracketed within {best.gap:.1e} only")
    if len(sys.argv) > 1:
        plots.save(draw(X, y, curves, best, runs), sys.argv[1])
        print(f"\npicture: {sys.argv[1]}")
    print(f"\n{time.perf_counter() - start:.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
