"""Soft margins give up a few examples

The hard margin raises the smallest margin of all. The soft margin raises the mean of the smallest
tenth, so that a few difficult examples stay below zero and most others gain.
"""

import matplotlib.pyplot as plt

import relaxboost as rb
from relaxboost.views import plots

data = rb.matrices.datasets.breast_cancer()
stumps = rb.matrices.stumps(data.X, data.y, data.feature_names, max_cuts=16)
hard = rb.solve(rb.Game(stumps), tol=1e-3)
soft = rb.solve(rb.Game(stumps, rb.Capped(fraction=0.1)), tol=1e-3)
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
plots.draw_margins({"hard": hard.margins, "soft": soft.margins}, axes=axes)
axes.legend(fontsize=7)
figure.savefig("margins.png", dpi=100)
