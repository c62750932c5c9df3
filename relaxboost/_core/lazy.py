"""Lazy imports of libraries that load slowly."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class _Lazy(ModuleType):
    """A placeholder for a module, which is imported at the first attribute access."""

    def __getattr__(self, name: str) -> Any:
        # Tools that inspect all names of a module must not load the library.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


cp: Any = _Lazy("cvxpy")
