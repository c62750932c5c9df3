"""Convex losses, and the risks they become on data."""

from relaxboost.functional.losses.base import Loss, PointwiseLoss, PointwiseRisk, Risk
from relaxboost.functional.losses.regression import Absolute, Squared

__all__ = ["Absolute", "Loss", "PointwiseLoss", "PointwiseRisk", "Risk", "Squared"]
