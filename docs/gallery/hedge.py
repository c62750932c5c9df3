"""The gap of Hedge stays below its guarantee

Hedge is an online learner that chooses the distribution d. The gap between the two proved bounds of
ρ is at most the regret per round. The guarantee is a theorem's bound of this regret.
"""

import matplotlib.pyplot as plt
import numpy as np

import relaxboost as rb

data = rb.matrices.datasets.breast_cancer()
stumps = rb.matrices.stumps(data.X, data.y, data.feature_names, max_cuts=16)
game = rb.Game(stumps, rb.Capped(fraction=0.1))
run = rb.solve(game, 0.03, method=rb.online.ScheduledHedge())
rounds = np.array([record.round for record in run.history])
gaps = [record.upper - record.lower for record in run.history]
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="round", ylabel="gap")
axes.loglog(rounds, gaps, label="gap")
# A gap of 0.03 is guaranteed after run.bound rounds.
guarantee = 0.03 * np.sqrt(run.bound / rounds)
axes.loglog(rounds, guarantee, "--", label="guarantee")
axes.legend(fontsize=9)
figure.savefig("hedge.png", dpi=100)
