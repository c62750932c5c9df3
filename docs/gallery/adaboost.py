"""AdaBoost's risk stays under its bound

The exponential risk of AdaBoost after t rounds is at most exp(−tρ²/2), where ρ is the hard margin
of the game.
"""

import matplotlib.pyplot as plt
import numpy as np

import relaxboost as rb

game = rb.Game(np.random.default_rng(0).choice([-1, 1], size=(30, 200)))
risks = []


def keep_risk(state):
    risks.append(np.exp(state.active.log_risk))


rb.solve(game, method="adaboost", max_rounds=60, callback=keep_risk)
rho = rb.solve(game, tol=1e-6).lower
t = np.arange(60)
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="round", ylabel="exponential risk")
axes.semilogy(t, risks[:60], label="AdaBoost")
axes.semilogy(t, np.exp(-t * rho**2 / 2), "--", label="exp(−tρ²/2)")
axes.legend(fontsize=9)
figure.savefig("adaboost.png", dpi=100)
