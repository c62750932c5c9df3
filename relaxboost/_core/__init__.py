"""Shared parts of all rooms: errors, directed rounding, intervals, files, compiled kernels."""

from relaxboost._core.errors import InputError, MissingDependencyError

__all__ = ["InputError", "MissingDependencyError"]
