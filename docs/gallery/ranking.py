"""Boosting puts pairs into the right order

Twenty queries have ten documents each. The share of pairs in the wrong order falls from a half to
less than 1 % while regression stumps are boosted for the ranking hinge.
"""

import matplotlib.pyplot as plt
import numpy as np

from relaxboost import functional as fn

X = np.random.default_rng(0).normal(size=(200, 4))
queries = np.repeat(np.arange(20), 10)
grades = np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1, 2])
risk = fn.RankingHinge().bind(grades, groups=queries)
run = fn.boost(
    X,
    risk,
    fn.RegressionStumps(),
    algorithm=fn.Residual(scale=2.0),
    stopping=25,
)
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="round", ylabel="share of pairs out of order")
axes.plot([risk.disagreement(f) for _, f in run.staged(X)])
axes.set_ylim(bottom=0)
figure.savefig("ranking.png", dpi=100)
