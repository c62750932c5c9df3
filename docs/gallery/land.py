"""Ten paths are enough to predict an eleventh

Ten paths were shown on a grid with three features. `fit` finds costs for which these paths are the
shortest ones. The picture shows the costs, and an eleventh path, which these costs predict exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

from relaxboost import planning as pl

rng = np.random.default_rng(0)
land = pl.grid(rng.random((3, 20, 30)), names=["a", "b", "c"])
secret = land.arc_features @ [0.2, 2.0, 0.0]
tasks = []
for a, b in rng.permutation(600)[:22].reshape(-1, 2):
    plan = pl.shortest_path(land, secret, land.label(a), land.label(b))
    tasks.append(pl.Task.along(plan.path))
figure, axes = plt.subplots(figsize=(4.2, 2.9), layout="constrained")
pl.maps.paths(tasks[10], costs=pl.fit(tasks[:10]), axes=axes)
figure.savefig("land.png", dpi=100)
