"""Certified margins of trained ensembles."""

from relaxboost.estimators.ensembles.certifying import certify_ensemble
from relaxboost.estimators.ensembles.report import EnsembleReport

__all__ = ["EnsembleReport", "certify_ensemble"]
