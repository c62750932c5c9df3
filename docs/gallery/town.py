"""The quiet path has as many streets as the shortest one

Both paths connect the same places by twelve streets. The path through quiet streets has a total
cost of 6.0, which adds 0.1 to the noise of each street. The other path, chosen without regard to
noise, costs 8.4. The script needs networkx.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from relaxboost import planning as pl

rng = np.random.default_rng(0)
town = nx.random_geometric_graph(34, 0.25, seed=5)
nx.set_edge_attributes(
    town, {edge: rng.random() for edge in town.edges}, "noise"
)
place = nx.get_node_attributes(town, "pos")
streets = pl.from_networkx(town, ["noise"], position=place)
quiet = pl.shortest_path(streets, 0.1 + streets.arc_features[:, 0], 18, 4)
short = pl.shortest_path(streets, np.ones(streets.arcs), 18, 4)
figure, axes = plt.subplots(figsize=(5.4, 3.6), layout="constrained")
task = pl.Task.along(quiet.path)
pl.maps.paths(task, short, costs=quiet.costs, label="noise", axes=axes)
figure.savefig("town.png", dpi=80)
