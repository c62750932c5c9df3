"""The hard margin puts nearly all weight on one example

For the same twenty margins, each relaxation has its own hardest distribution. A small entropy term
(β = 0.05) smooths all three. The hard margin puts nearly all weight on the smallest margin, and
the others spread the weight.
"""

import matplotlib.pyplot as plt
import numpy as np

import relaxboost as rb
from relaxboost.views import plots

margins = np.sort(np.random.default_rng(0).normal(0.2, 0.25, 20))
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
relaxations = rb.HardMargin(), rb.Capped(k=6), rb.KLPenalty(0.1)
plots.draw_distribution(*relaxations, margins=margins, axes=axes)
axes.legend(fontsize=9)
figure.savefig("distribution.png", dpi=100)
