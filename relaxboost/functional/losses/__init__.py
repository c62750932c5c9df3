"""Convex losses, and the risks that bind them to data."""

from relaxboost.functional.losses.base import Loss, PointwiseLoss, PointwiseRisk, Risk
from relaxboost.functional.losses.custom import CustomLoss, CustomRisk
from relaxboost.functional.losses.margins import Exponential, Hinge, Logistic, SmoothHinge
from relaxboost.functional.losses.multiclass import (
    MulticlassHinge,
    MulticlassLoss,
    MulticlassRisk,
    MultinomialLogistic,
)
from relaxboost.functional.losses.ranking import RankingHinge, RankingRisk
from relaxboost.functional.losses.regression import Absolute, Huber, Quantile, Squared
from relaxboost.functional.losses.targets import LOSSES

__all__ = [
    "LOSSES",
    "Absolute",
    "CustomLoss",
    "CustomRisk",
    "Exponential",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "MulticlassHinge",
    "MulticlassLoss",
    "MulticlassRisk",
    "MultinomialLogistic",
    "PointwiseLoss",
    "PointwiseRisk",
    "Quantile",
    "RankingHinge",
    "RankingRisk",
    "Risk",
    "SmoothHinge",
    "Squared",
]
