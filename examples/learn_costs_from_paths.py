"""From a map to learned costs to a picture: python examples/learn_costs_from_paths.py picture.png

An expert crosses a land of lakes and avoids slopes and thickets, by costs that we never see.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.ndimage import gaussian_filter

from relaxboost import planning as pl
from relaxboost.views import plots

# A land of 45 x 70 cells: three features of each cell, and lakes that nobody crosses.
rng = np.random.default_rng(4)
height, wood, water = (gaussian_filter(rng.normal(size=(45, 70)), s) for s in (5.0, 2.5, 3.0))
slope = np.hypot(*np.gradient(height))
dry = water < np.quantile(water, 0.9)
layers = [np.ones_like(wood), slope / slope.max(), wood > 0.05]
land = pl.grid(layers, dry, names=["step", "slope", "thicket"])

# What the expert does: shortest paths between random places, for secret weights.
secret = land.arc_features @ [1.0, 6.0, 3.0]
ends = [rng.choice(np.argwhere(dry), 2, replace=False).tolist() for _ in range(30)]
tasks = [pl.Task.along(pl.shortest_path(land, secret, *map(tuple, pair)).path) for pair in ends]

# What we learn from fifteen of them, with a bracket of the least loss; the rest judge.
learned = pl.fit(tasks[:15], pl.Ridge(1e-3))
print(f"{learned.lower:.4f} <= least loss <= {learned.upper:.4f}")
print(*(f"{n}: {w:.2f}" for n, w in zip(learned.names, learned.w / learned.w[0], strict=True)))
longest = max((task.demonstration for task in tasks[15:]), key=len)
panels = Figure(figsize=(10.4, 4.0), layout="constrained").subplots(1, 2)
for axes, what, fit in zip(panels, ["shortest", "learned"], [None, learned], strict=True):
    costs = land.costs(np.ones(land.size)) if fit is None else fit.costs(land)
    print(f"{what}: {pl.evaluate(tasks[15:], costs).metric('arc_recall'):.0%} of the unseen arcs")
    plan = pl.shortest_path(land, costs, longest.nodes[0], longest.nodes[-1])
    pl.maps.paths(pl.Task.along(longest), planned=plan, costs=fit, axes=axes).set_title(what)
plots.save(panels, sys.argv[1])
