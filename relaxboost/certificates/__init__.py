"""Exact optima: the value of a polyhedral game as a fraction, with the pair that proves it."""

from relaxboost.certificates.forms import ExactForm, exact_form
from relaxboost.certificates.optimum import ExactOptimum, NotClosed, exact_optimum, exact_value

__all__ = [
    "ExactForm",
    "ExactOptimum",
    "NotClosed",
    "exact_form",
    "exact_optimum",
    "exact_value",
]
