"""Trained ensembles as points of a game: their certified margin, and the best one."""

from relaxboost.ensembles.certifying import certify_ensemble
from relaxboost.ensembles.report import EnsembleReport

__all__ = ["EnsembleReport", "certify_ensemble"]
