"""Maximum-margin planning on graphs: costs learned from demonstrated paths, linear or boosted."""

from __future__ import annotations

from relaxboost.planning.boosting import BoostedCosts, FlooredCosts, boost
from relaxboost.planning.fitting import Fit, FitRecord, fit
from relaxboost.planning.graphs import Graph
from relaxboost.planning.grids import grid
from relaxboost.planning.losses import (
    Distance,
    Gains,
    Hamming,
    Missed,
    NoLoss,
    PathLoss,
    Strayed,
)
from relaxboost.planning.networks import from_networkx, to_networkx
from relaxboost.planning.oracle import Answer, Evaluation, Oracle
from relaxboost.planning.paths import Path
from relaxboost.planning.planners import (
    PLANNERS,
    SimplePath,
    astar,
    bellman_ford,
    csgraph,
    dijkstra,
    euclidean,
    flow,
    octile,
    shortest_path,
    shortest_paths,
    simple,
)
from relaxboost.planning.plans import NegativeCycle, NoPath, Plan, PlanCheck, check_plan
from relaxboost.planning.problem import Cut, Point, Problem
from relaxboost.planning.regularisers import L1Radius, Lasso, Regulariser, Ridge
from relaxboost.planning.risk import PlanningLoss, PlanningRisk
from relaxboost.planning.tasks import Task
from relaxboost.planning.turns import TurnGraph, turn_angles, turn_pairs, turns

__all__ = [
    "PLANNERS",
    "Answer",
    "BoostedCosts",
    "Cut",
    "Distance",
    "Evaluation",
    "Fit",
    "FitRecord",
    "FlooredCosts",
    "Gains",
    "Graph",
    "Hamming",
    "L1Radius",
    "Lasso",
    "Missed",
    "NegativeCycle",
    "NoLoss",
    "NoPath",
    "Oracle",
    "Path",
    "PathLoss",
    "Plan",
    "PlanCheck",
    "PlanningLoss",
    "PlanningRisk",
    "Point",
    "Problem",
    "Regulariser",
    "Ridge",
    "SimplePath",
    "Strayed",
    "Task",
    "TurnGraph",
    "astar",
    "bellman_ford",
    "boost",
    "check_plan",
    "csgraph",
    "dijkstra",
    "euclidean",
    "fit",
    "flow",
    "from_networkx",
    "grid",
    "octile",
    "shortest_path",
    "shortest_paths",
    "simple",
    "to_networkx",
    "turn_angles",
    "turn_pairs",
    "turns",
]
