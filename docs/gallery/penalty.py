"""The more weight on one example, the higher its price

A relaxation is a convex function f of the distribution d over the examples. The curves show f when
one example has more weight than the others. A cap allows a weight up to 1/k, and forbids more.
"""

import matplotlib.pyplot as plt

import relaxboost as rb
from relaxboost.views import plots

figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
relaxations = (
    rb.Capped(k=5),
    rb.KLPenalty(0.3),
    rb.BinaryEntropy(k=5, weight=0.3),
)
plots.draw_penalty(*relaxations, m=20, axes=axes)
axes.set_ylim(top=1.7)
axes.legend(fontsize=9, loc="upper right")
figure.savefig("penalty.png", dpi=100)
