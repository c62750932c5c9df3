"""Readers of public data sets, in their published formats, from a folder of the user."""

from benchmarks.readers.borlange import (
    Routes,
    left_turns,
    link_graph,
    link_tasks,
    read_routes,
    u_turns,
)
from benchmarks.readers.labelled import LABELLED, Labelled, read_labelled
from benchmarks.readers.movingai import GridMap, Scenario, map_graph, read_map, read_scenarios
from benchmarks.readers.places import ENVIRONMENT, SOURCES, data_folder
from benchmarks.readers.ranked import RANKED, Ranked, concatenated, read_fold, read_ranked
from benchmarks.readers.rasters import read_layers
from benchmarks.readers.shanghai import TURNS, TaxiTrips, read_taxi, taxi_graph
from benchmarks.readers.tntp import Into, RoadNetwork, read_network, road_graph, road_target

__all__ = [
    "ENVIRONMENT",
    "LABELLED",
    "RANKED",
    "SOURCES",
    "TURNS",
    "GridMap",
    "Into",
    "Labelled",
    "Ranked",
    "RoadNetwork",
    "Routes",
    "Scenario",
    "TaxiTrips",
    "concatenated",
    "data_folder",
    "left_turns",
    "link_graph",
    "link_tasks",
    "map_graph",
    "read_fold",
    "read_labelled",
    "read_layers",
    "read_map",
    "read_network",
    "read_ranked",
    "read_routes",
    "read_scenarios",
    "read_taxi",
    "road_graph",
    "road_target",
    "taxi_graph",
    "u_turns",
]
