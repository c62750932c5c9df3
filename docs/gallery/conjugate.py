"""The conjugates of relaxations

The conjugate f* is the price that the vote pays if one example falls short of the margin γ. It is
the relaxation seen from the side of the vote.
"""

import matplotlib.pyplot as plt

import relaxboost as rb
from relaxboost.views import plots

figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
relaxations = rb.Capped(k=5), rb.KLPenalty(0.3), rb.NormBall(2, 0.4)
plots.draw_conjugate(*relaxations, m=20, axes=axes)
axes.legend(fontsize=7)
figure.savefig("conjugate.png", dpi=100)
