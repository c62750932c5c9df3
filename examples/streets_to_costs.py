"""From OSMnx's streets and a table of trips to costs: python examples/streets_to_costs.py [map.png]

The town is made up, in the form that OSMnx gives; so are the trips. Yours replace `town`:

G = osmnx.graph_from_place("Borlänge, Sweden", network_type="drive")
osmnx.add_edge_speeds(G, hwy_speeds={"residential": 30})  # km/h, where no tag says it
osmnx.add_edge_travel_times(G)
trips = pandas.read_csv(...)
"""

import sys

import networkx as nx
import numpy as np
import pandas as pd

from relaxboost import planning as pl


def town(rng):
    """Return a town of blocks with two avenues, and 100 trips."""
    G = nx.MultiDiGraph(crs="epsg:4326")
    blocks = nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 12), label_attribute="at")
    for node, (row, column) in blocks.nodes(data="at"):
        east, north = rng.normal([80 * column, 80 * row], 8)  # metres
        G.add_node(node, x=15.43 + east / 54_900, y=60.48 + north / 111_200)
    for u, v in blocks.edges:
        (row, column), (below, beside) = blocks.nodes[u]["at"], blocks.nodes[v]["at"]
        avenue = row == below == 4 or column == beside == 6
        tags = {"highway": "primary", "maxspeed": "50"} if avenue else {"highway": "residential"}
        tags |= {"maxspeed": "30"} if rng.random() < 0.3 and not avenue else {}
        length = 80 + rng.exponential(20)
        seconds = length / ((50 if avenue else 30) / 3.6)
        for ends in [(u, v), (v, u)][: 1 if rng.random() < 0.1 and not avenue else 2]:
            G.add_edge(*ends, length=length, travel_time=seconds, **tags)
    G.add_edge(5, 5, length=120.0, highway="residential")
    merged = {"highway": ["residential", "primary"], "maxspeed": ["30", "50"]}
    G.add_edge(50, 51, length=95.0, travel_time=95.0 / (40 / 3.6), **merged)
    roads = pl.from_osmnx(G)
    secret = roads.features @ [0.0, 1.0, 0.0, 9.0]  # seconds, and 9 more a block off the avenues
    ends = [rng.choice(roads.nodes, 2, replace=False).tolist() for _ in range(100)]
    paths = [pl.shortest_path(roads, secret, *pair).path for pair in ends]
    rows = [(trip, node) for trip, path in enumerate(paths) for node in path.nodes]
    return G, pd.DataFrame(rows, columns=["trip", "node"]).drop(index=[25, 77, 200])


G, trips = town(np.random.default_rng(1))
picture = sys.argv[1] if len(sys.argv) > 1 else "streets.png"

# Six lines, eight with the imports of networkx and planning.
# --8<-- [start:lines]
roads = pl.from_osmnx(G)
tasks = pl.paths_from_pandas(trips, roads, parallel="travel_time", gaps="length")
learned = pl.fit(tasks[:60])
pl.maps.paths(tasks[73], costs=learned).figure.savefig(picture)
streets = pl.to_networkx(roads, learned)
way = nx.shortest_path(streets, 0, 107, weight="cost")
# --8<-- [end:lines]

print(*roads.notes, sep="\n")
print("joined:", *(f"trip {gap.trip}: {gap.nodes}" for gap in tasks.joined))
seconds = roads.features[:, roads.names.index("travel_time")]
for what, costs in (("quickest", seconds), ("learned", learned)):
    print(f"{what}: {pl.evaluate(tasks[60:], costs).metric('exact_match'):.0%} of unseen trips")
print("from 0 to 107:", *way)
