"""Certificates for the margin of a trained ensemble, and for the optimal margin of its
hypotheses.
"""

from relaxboost.estimators.ensembles.certifying import certify_ensemble
from relaxboost.estimators.ensembles.report import EnsembleReport

__all__ = ["EnsembleReport", "certify_ensemble"]
