"""Planners, one file each: every one returns a path and what proves it shortest."""

from relaxboost.planning.planners.astar import astar, euclidean, octile
from relaxboost.planning.planners.bellman_ford import bellman_ford
from relaxboost.planning.planners.csgraph import csgraph
from relaxboost.planning.planners.dijkstra import dijkstra, distances_to
from relaxboost.planning.planners.flow import flow
from relaxboost.planning.planners.shortest import PLANNERS, shortest_path, shortest_paths
from relaxboost.planning.planners.simple import SimplePath, simple

__all__ = [
    "PLANNERS",
    "SimplePath",
    "astar",
    "bellman_ford",
    "csgraph",
    "dijkstra",
    "distances_to",
    "euclidean",
    "flow",
    "octile",
    "shortest_path",
    "shortest_paths",
    "simple",
]
