"""Modules that all subpackages use: errors, rounding, intervals, files and compiled kernels."""

from relaxboost._core.errors import InputError, MissingDependencyError

__all__ = ["InputError", "MissingDependencyError"]
