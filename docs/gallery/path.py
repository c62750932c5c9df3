"""The optimum grows with k

k is the number of examples over which the smallest margins are averaged. At k = 1 the optimum ρ is
the hard margin, and at k = 569 it is the mean margin of all examples.
"""

import matplotlib.pyplot as plt

import relaxboost as rb

data = rb.matrices.datasets.breast_cancer()
stumps = rb.matrices.stumps(data.X, data.y, data.feature_names, max_cuts=16)
ks = [1, 28, 57, 114, 228, 569]
path = rb.path(rb.Game(stumps, rb.Capped(k=1)), tol=1e-3, k=ks)
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
axes.set(xlabel="k", ylabel="ρ")
axes.plot(ks, [solution.lower for solution in path], "o-")
figure.savefig("path.png", dpi=100)
