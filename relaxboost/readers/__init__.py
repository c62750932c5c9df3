"""Readers of public data sets in the formats they are published in, from a folder of the user's."""

from relaxboost.readers.borlange import Routes, left_turns, link_constants, read_routes, u_turns
from relaxboost.readers.cells import map_graph
from relaxboost.readers.labelled import LABELLED, Labelled, read_labelled
from relaxboost.readers.links import link_graph, link_tasks
from relaxboost.readers.movingai import GridMap, Scenario, read_map, read_scenarios
from relaxboost.readers.places import ENVIRONMENT, SOURCES, data_folder
from relaxboost.readers.ranked import RANKED, Ranked, concatenated, read_fold, read_ranked
from relaxboost.readers.rasters import Layers, read_layers
from relaxboost.readers.roads import Into, road_graph, road_target
from relaxboost.readers.tntp import RoadNetwork, read_demand, read_network

__all__ = [
    "ENVIRONMENT",
    "LABELLED",
    "RANKED",
    "SOURCES",
    "GridMap",
    "Into",
    "Labelled",
    "Layers",
    "Ranked",
    "RoadNetwork",
    "Routes",
    "Scenario",
    "concatenated",
    "data_folder",
    "left_turns",
    "link_constants",
    "link_graph",
    "link_tasks",
    "map_graph",
    "read_demand",
    "read_fold",
    "read_labelled",
    "read_layers",
    "read_map",
    "read_network",
    "read_ranked",
    "read_routes",
    "read_scenarios",
    "road_graph",
    "road_target",
    "u_turns",
]
