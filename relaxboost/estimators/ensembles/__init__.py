"""Trained ensembles as points of a game: their certified margin, and the best one."""

from relaxboost.estimators.ensembles.certifying import certify_ensemble
from relaxboost.estimators.ensembles.report import EnsembleReport

__all__ = ["EnsembleReport", "certify_ensemble"]
