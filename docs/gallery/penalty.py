"""What relaxations charge for weight on one example

A relaxation is a convex function f of the distribution d over the examples. The curves show f when
one example has more weight than the others.
"""

import matplotlib.pyplot as plt

import relaxboost as rb
from relaxboost.views import plots

figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
relaxations = rb.Capped(k=5), rb.KLPenalty(0.3), rb.BinaryEntropy(k=5, weight=0.3)
plots.draw_penalty(*relaxations, m=20, axes=axes)
axes.legend(fontsize=7, loc=(0.26, 0.72))
figure.savefig("penalty.png", dpi=100)
