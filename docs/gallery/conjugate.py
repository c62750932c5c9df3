"""A cap charges shortfalls linearly, and KL exponentially

How much does one bad margin cost? For these three relaxations, the relaxed margin is at least γ −
f*(t, 0, ..., 0) if one example falls short of a threshold γ by t, and no other does. So the curves
show the price of a shortfall t. The cap charges 1/k for each unit. `KLPenalty` forgives small
shortfalls and punishes large ones. `NormBall(2, 0.4)`, which keeps the Euclidean norm of d below
0.4, charges 0.4 for each unit.
"""

import matplotlib.pyplot as plt

import relaxboost as rb
from relaxboost.views import plots

figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
relaxations = rb.Capped(k=5), rb.KLPenalty(0.3), rb.NormBall(2, 0.4)
plots.draw_conjugate(*relaxations, m=20, axes=axes)
axes.legend(fontsize=9)
figure.savefig("conjugate.png", dpi=100)
