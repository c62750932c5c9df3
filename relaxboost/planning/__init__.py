"""Maximum-margin planning on graphs: costs learned from demonstrated paths, linear or boosted."""

from __future__ import annotations

from relaxboost.planning.boosting import BoostedCosts, FlooredCosts, boost
from relaxboost.planning.cuts import Cut
from relaxboost.planning.evaluation import METRICS, Difference, PerTask, Report, compare, evaluate
from relaxboost.planning.fitting import Fit, FitRecord, fit
from relaxboost.planning.folds import Fold, split
from relaxboost.planning.graphs import Graph
from relaxboost.planning.grids import grid
from relaxboost.planning.learners import (
    Bundle,
    Exponentiated,
    FrankWolfe,
    Learner,
    Step,
    Subgradient,
)
from relaxboost.planning.losses import Distance, Gains, Hamming, Missed, NoLoss, PathLoss, Strayed
from relaxboost.planning.models import LinearModel, load_model, save_model
from relaxboost.planning.networks import from_networkx, to_networkx
from relaxboost.planning.oracle import Answer, Answers, Oracle
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
from relaxboost.planning.problem import Point, Problem
from relaxboost.planning.reference import program, reference
from relaxboost.planning.regularisers import L1Radius, Lasso, Regulariser, Ridge
from relaxboost.planning.risk import PlanningLoss, PlanningRisk
from relaxboost.planning.tasks import Task
from relaxboost.planning.traffic import demonstrated, traffic
from relaxboost.planning.turns import TurnGraph, turn_angles, turn_pairs, turns

__all__ = [
    "METRICS",
    "PLANNERS",
    "Answer",
    "Answers",
    "BoostedCosts",
    "Bundle",
    "Cut",
    "Difference",
    "Distance",
    "Exponentiated",
    "Fit",
    "FitRecord",
    "FlooredCosts",
    "Fold",
    "FrankWolfe",
    "Gains",
    "Graph",
    "Hamming",
    "L1Radius",
    "Lasso",
    "Learner",
    "LinearModel",
    "Missed",
    "NegativeCycle",
    "NoLoss",
    "NoPath",
    "Oracle",
    "Path",
    "PathLoss",
    "PerTask",
    "Plan",
    "PlanCheck",
    "PlanningLoss",
    "PlanningRisk",
    "Point",
    "Problem",
    "Regulariser",
    "Report",
    "Ridge",
    "SimplePath",
    "Step",
    "Strayed",
    "Subgradient",
    "Task",
    "TurnGraph",
    "astar",
    "bellman_ford",
    "boost",
    "check_plan",
    "compare",
    "csgraph",
    "demonstrated",
    "dijkstra",
    "euclidean",
    "evaluate",
    "fit",
    "flow",
    "from_networkx",
    "grid",
    "load_model",
    "octile",
    "program",
    "reference",
    "save_model",
    "shortest_path",
    "shortest_paths",
    "simple",
    "split",
    "to_networkx",
    "traffic",
    "turn_angles",
    "turn_pairs",
    "turns",
]
