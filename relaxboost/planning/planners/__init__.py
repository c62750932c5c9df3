"""Planners, one file each: every one returns a path and what proves it shortest."""

from relaxboost.planning.planners.bellman_ford import bellman_ford
from relaxboost.planning.planners.dijkstra import dijkstra, distances_to
from relaxboost.planning.planners.simple import SimplePath, simple

__all__ = ["SimplePath", "bellman_ford", "dijkstra", "distances_to", "simple"]
