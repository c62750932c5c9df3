"""Grubb & Bagnell (2011), boosting any convex loss: the statements, in the order of the text."""

from relaxboost.claims.gb11 import functions, projections, weak, multiclass, smooth, example  # isort: skip
from relaxboost.claims.gb11 import repeated, convex, residual, displays  # isort: skip
from relaxboost.claims.gb11.source import SOURCE

__all__ = [
    "SOURCE",
    "convex",
    "displays",
    "example",
    "functions",
    "multiclass",
    "projections",
    "repeated",
    "residual",
    "smooth",
    "weak",
]
