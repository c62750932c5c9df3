"""Maximum-margin planning on graphs: costs learned from demonstrated paths, with a bracket."""

from __future__ import annotations

from relaxboost.planning.cuts import Cut
from relaxboost.planning.fitting import Fit, FitRecord, fit
from relaxboost.planning.graphs import Graph
from relaxboost.planning.learners import (
    Bundle,
    Exponentiated,
    FrankWolfe,
    Learner,
    Step,
    Subgradient,
)
from relaxboost.planning.losses import (
    Distance,
    Gains,
    Hamming,
    Missed,
    NoLoss,
    PathLoss,
    Strayed,
)
from relaxboost.planning.oracle import Answer, Evaluation, Oracle
from relaxboost.planning.paths import Path
from relaxboost.planning.planners import bellman_ford, dijkstra, simple
from relaxboost.planning.plans import NegativeCycle, NoPath, Plan, PlanCheck, check_plan
from relaxboost.planning.problem import Point, Problem
from relaxboost.planning.reference import program, reference
from relaxboost.planning.regularisers import L1Radius, Lasso, Regulariser, Ridge
from relaxboost.planning.risk import PlanningLoss, PlanningRisk
from relaxboost.planning.tasks import Task

__all__ = [
    "Answer",
    "Bundle",
    "Cut",
    "Distance",
    "Evaluation",
    "Exponentiated",
    "Fit",
    "FitRecord",
    "FrankWolfe",
    "Gains",
    "Graph",
    "Hamming",
    "L1Radius",
    "Lasso",
    "Learner",
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
    "Step",
    "Strayed",
    "Subgradient",
    "Task",
    "bellman_ford",
    "check_plan",
    "dijkstra",
    "fit",
    "program",
    "reference",
    "simple",
]
