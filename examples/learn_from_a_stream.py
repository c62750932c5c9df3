"""Mirror descent, EG and GD on the same streams, each beside the bound that is proved for it.

On the left every base function speaks at every example, and three of the hundred matter: the
entropy, which mirror descent and EG share, is at home here. On the right only five speak at a time,
and each matters as much as any other: the home of the squared norm, and so of GD. EG and GD are
told how many examples there will be; mirror descent is not.

Run it: python examples/learn_from_a_stream.py [picture.png] [--rows 50000]
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NamedTuple

import numpy as np

import relaxboost as rb
from relaxboost.online import ExponentiatedGradient, GradientDescent, Horizon, MirrorDescent
from relaxboost.views import plots

SIZE, SEEDS = 100, 5
COLORS = {"mirror descent": "#1f5fa8", "EG": "#d9730d", "GD": "#2e7d4f"}
MARKERS = {"mirror descent": "o", "EG": "s", "GD": "^"}


class Setting(NamedTuple):
    """A law of examples: how many base functions speak, as ±1, and weights that make the labels."""

    title: str
    speaking: int
    truth: np.ndarray

    def stream(self, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return base functions of shape (rows, SIZE), and labels with the odds e^<truth, h>."""
        rng = np.random.default_rng(seed)
        H = rng.choice([-1.0, 1.0], size=(rows, SIZE))
        silent = rng.random((rows, SIZE)).argsort(axis=1)[:, self.speaking :]
        np.put_along_axis(H, silent, 0.0, axis=1)
        return H, np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-H @ self.truth)), 1.0, -1.0)

    def methods(self, rows: int) -> dict[str, rb.online.OnlineMethod]:
        """Return the learners, each over the smallest ball of its norm that has the truth in it."""
        ball = rb.L1Ball(np.abs(self.truth).sum())
        euclidean = rb.L2Ball(np.linalg.norm(self.truth))
        norm = np.sqrt(self.speaking)  # ‖h‖_2
        return {
            "mirror descent": MirrorDescent("logistic", ball),
            "EG": ExponentiatedGradient("logistic", ball, schedule=Horizon(rows)),
            "GD": GradientDescent("logistic", euclidean, schedule=Horizon(rows), bound=norm),
        }


class Trace(NamedTuple):
    """Regret against the truth, and the bound proved for it, at some moments of some streams."""

    stops: np.ndarray
    regret: np.ndarray
    bound: np.ndarray


def run(setting: Setting, rows: int) -> dict[str, Trace]:
    """Return the trace of each learner, over streams of all seeds."""
    stops = np.unique(np.geomspace(10, rows, 40).astype(int))
    found = {name: Trace(stops, *np.empty((2, SEEDS, len(stops)))) for name in COLORS}
    for seed in range(SEEDS):
        H, y = setting.stream(rows, seed)
        best = np.cumsum(np.logaddexp(0.0, -y * (H @ setting.truth)))
        for name, method in setting.methods(rows).items():
            learner, start = method.start(SIZE), 0
            for k, stop in enumerate(stops):
                learner.update(H[start:stop], y[start:stop])
                start = stop
                found[name].regret[seed, k] = learner.loss - best[stop - 1]
                found[name].bound[seed, k] = learner.regret_bound(setting.truth)
    return found


def draw(results: dict[str, dict[str, Trace]]) -> Any:
    """Return the picture, a panel for each setting: regret per example, and its bound dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.4), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for axis, (title, traces) in zip(axes, results.items(), strict=True):
        for name, (stops, regret, bound) in traces.items():
            each, color = np.maximum(regret / stops, 1e-6), COLORS[name]
            mark = {"marker": MARKERS[name], "markevery": 4, "color": color}
            axis.fill_between(stops, each.min(0), each.max(0), color=color, alpha=0.15, lw=0)
            axis.loglog(stops, np.median(each, axis=0), lw=2, label=name, **mark)
            axis.loglog(stops, np.median(bound / stops, axis=0), "--", lw=1, markersize=3, **mark)
        axis.set_title(title, loc="left", fontsize=11)
        axis.set_xlabel("examples")
        axis.set_xlim(stops[0], stops[-1])
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.2)
    axes[0].set_ylabel("loss above the truth's, per example")
    axes[0].set_ylim(3e-3, 30)
    axes[0].plot([], [], "--", color="grey", lw=1, label="proved bound")
    axes[0].legend(frameon=False, loc="lower left")
    return figure


def main() -> int:
    """Run both settings, print the regrets in the end, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("picture", nargs="?")
    parser.add_argument("--rows", type=int, default=50_000)
    given = parser.parse_args()
    if given.picture:
        plots.check_plot(given.picture)
    few, all_alike = np.zeros(SIZE), np.full(SIZE, 1.5)
    few[:3] = 1.5
    settings = [
        Setting("All hundred speak, three matter", SIZE, few),
        Setting("Five of a hundred speak, all matter alike", 5, all_alike),
    ]
    results = {setting.title: run(setting, given.rows) for setting in settings}
    for title, traces in results.items():
        print(f"{title}: after {given.rows} examples, medians of {SEEDS} streams")
        for name, trace in traces.items():
            regret, bound = np.median([trace.regret[:, -1], trace.bound[:, -1]], axis=1)
            print(f"  {name:15} regret {regret:7.0f}, proved to be at most {bound:7.0f}")
    broken = [
        t for traces in results.values() for t in traces.values() if (t.regret > t.bound).any()
    ]
    print(f"bounds broken: {len(broken)}")
    if given.picture:
        plots.save(draw(results), given.picture)
        print(f"picture: {given.picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
