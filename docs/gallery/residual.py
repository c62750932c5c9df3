"""What a projection leaves over must be kept

A weak learner fits only a part of a gradient. Naive boosting drops the rest and stops above the
least risk; residual projection keeps the rest and gets closer.
"""

import matplotlib.pyplot as plt
import numpy as np

import relaxboost as rb
from relaxboost import functional as fn

data = rb.matrices.datasets.breast_cancer()
H = np.where(np.median(data.X, axis=0) < data.X, 1.0, -1.0)
risk = fn.Hinge().bind(data.y)
least = fn.optimum(risk, H).lower
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="round", ylabel="risk above the least")
for name, line in (("naive", "--"), ("residual", "-")):
    run = fn.boost(H, risk, fn.FiniteSet(), algorithm=name, stopping=300)
    above = [record.value - least for record in run.history]
    axes.loglog(np.minimum.accumulate(above), line, label=name)
axes.legend(fontsize=9)
figure.savefig("residual.png", dpi=100)
