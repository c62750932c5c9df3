"""How good are the weights of a trained ensemble, given its hypotheses? With a proof.

Three ensembles of scikit-learn are trained on 300 examples of the breast-cancer data. Each is taken
apart into hypotheses and weights. For two relaxations (the smallest margin, and the mean of
the smallest tenth) the script prints the certified margin of the ensemble, the certified best one
that any weights on the same hypotheses reach, and between which bounds the difference is proved
to lie. Then the re-optimised weights are put to work on the examples left out.

Larger margins are what these relaxations ask for; they need not mean fewer errors. See for
yourself in the last two columns.

Run it: python examples/certify_an_ensemble.py [picture.png]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)

import relaxboost as rb
from relaxboost.views import plots

TRAIN = 300
ENSEMBLES = (
    AdaBoostClassifier(n_estimators=60, random_state=0),
    GradientBoostingClassifier(n_estimators=60, random_state=0),
    RandomForestClassifier(n_estimators=60, random_state=0),
)
ACCURACY = 1e-6
RELAXATIONS = (rb.HardMargin(), rb.Capped(fraction=0.1))
HEAD = (
    f"  {'ensemble':<28}{'its margin':>13}{'the best':>12}{'short by':>12}{'used':>9}"
    f"{'error':>9}{'re-opt.':>9}"
)


def row(report: rb.estimators.EnsembleReport, X: Any, y: Any) -> str:
    """Return one line: margin, optimum and distance, hypotheses used, errors on new examples."""
    low, high = report.distance
    if high - low > ACCURACY:
        raise SystemExit(f"{report.kind}: the distance is proved to {float(high - low):.1e} only")
    used = f"{np.count_nonzero(report.reoptimised)}/{len(report.names)}"
    errors = (np.mean(report.predict(X, reoptimised=best) != y) for best in (False, True))
    return (
        f"  {report.kind:<28}{float(report.margin[0]):>13.6f}{float(report.optimum.lower):>12.6f}"
        f"{float(low):>12.6f}{used:>9}" + "".join(f"{error:>9.1%}" for error in errors)
    )


def draw(reports: list[list[rb.estimators.EnsembleReport]]) -> Any:
    """Return the picture: margins before and after, a panel for each ensemble."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.5, 4.2), layout="constrained")
    for axes, (hard, capped) in zip(
        figure.subplots(1, len(ENSEMBLES), sharey=True), reports, strict=True
    ):
        curves = {"as trained": hard.margins}
        curves["best smallest margin"] = hard.reoptimised_margins
        curves["best mean of the smallest tenth"] = capped.reoptimised_margins
        plots.draw_margins(curves, axes=axes)
        for i, margins in enumerate(curves.values()):  # a mark on the axis at the smallest margin
            axes.plot(margins.min(), 0.0, "os^"[i], color=f"C{i}", ms=8, clip_on=False, zorder=5)
        axes.axvline(0.0, color="gray", linewidth=1, linestyle=":")
        axes.locator_params(axis="x", nbins=5)
        axes.set_title(f"{hard.kind}, {len(hard.names)} columns", fontsize="medium")
    for axes in figure.axes[1:]:
        axes.set_ylabel("")
    figure.suptitle("Three ensembles, re-weighted (marks on the axis: the smallest margin)")
    return figure


def main() -> int:
    """Train, certify, print, re-check, draw."""
    if len(sys.argv) > 1:
        plots.check_plot(sys.argv[1])
    start = time.perf_counter()
    data = rb.matrices.datasets.breast_cancer()
    order = np.random.default_rng(0).permutation(data.y.size)
    names = np.where(data.y > 0, data.classes[1], data.classes[0])
    X, y = data.X[order[:TRAIN]], names[order[:TRAIN]]
    new, truth = data.X[order[TRAIN:]], names[order[TRAIN:]]
    print(f"{data.name}: {TRAIN} examples to train on, {truth.size} left out; +1 is {max(names)}")
    for estimator in ENSEMBLES:
        estimator.fit(X, y)
    print("used: hypotheses with weight after re-optimising; error, re-opt.: wrong on those left")
    print("out, as trained and re-optimised. Margins and distances are proved, to 1e-6.")
    reports: list[list[rb.estimators.EnsembleReport]] = [[] for _ in ENSEMBLES]
    accepted = True
    for relaxation in RELAXATIONS:
        print(f"\n{relaxation.resolve(TRAIN)}\n{HEAD}")
        for estimator, found in zip(ENSEMBLES, reports, strict=True):
            report = rb.certify_ensemble(estimator, X, y, relaxation)
            found.append(report)
            accepted = accepted and all(report.check())
            print(row(report, new, truth), flush=True)
    print(f"\nall 12 certificates re-checked: {accepted}\n\nOne report in full:\n")
    print(reports[1][0])
    if len(sys.argv) > 1:
        plots.save(draw(reports), sys.argv[1])
        print(f"\npicture: {sys.argv[1]}")
    print(f"\n{time.perf_counter() - start:.0f} seconds")
    return 0 if accepted else 1


if __name__ == "__main__":
    sys.exit(main())
