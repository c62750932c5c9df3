"""Steps that move weight close the gap sooner

Three step rules solve the same game. The pairwise step moves weight from the worst hypothesis in
use to the best one, and needs the fewest rounds.
"""

import matplotlib.pyplot as plt

import relaxboost as rb

data = rb.matrices.datasets.breast_cancer()
stumps = rb.matrices.stumps(data.X, data.y, data.feature_names, max_cuts=16)
game = rb.Game(stumps, rb.Capped(k=57))
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="round", ylabel="certified gap")
for step, line in (("fig1", "-"), ("line-search", "--"), ("pairwise", ":")):
    run = rb.solve(
        game, 0.02, method=rb.solvers.Corrective(step=step), max_rounds=1000
    )
    gaps = [record.upper - record.lower for record in run.history]
    axes.loglog(
        [record.round for record in run.history], gaps, line, label=step
    )
axes.legend(fontsize=9)
figure.savefig("steps.png", dpi=100)
