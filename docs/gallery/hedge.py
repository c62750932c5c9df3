"""The gap is at most the regret per round

Hedge is an online learner that chooses the distribution d. Its regret per round bounds the distance
between the two proved bounds of ρ, so they close in as the regret per round falls.
"""

import matplotlib.pyplot as plt

import relaxboost as rb

data = rb.matrices.datasets.breast_cancer()
stumps = rb.matrices.stumps(data.X, data.y, data.feature_names, max_cuts=16)
game = rb.Game(stumps, rb.Capped(k=57))
run = rb.solve(game, 0.03, method=rb.online.ScheduledHedge())
rounds = [record.round for record in run.history]
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="round", ylabel="bounds of ρ")
axes.semilogx(rounds, [record.upper for record in run.history], label="upper")
axes.semilogx(
    rounds, [record.lower for record in run.history], "--", label="lower"
)
axes.legend(fontsize=9)
figure.savefig("hedge.png", dpi=100)
