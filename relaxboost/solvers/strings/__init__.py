"""Taut strings: all cuts of all features at once, each feature exactly, for many examples."""

from relaxboost.solvers.strings.method import TautStrings

__all__ = ["TautStrings"]
