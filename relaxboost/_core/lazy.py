"""Libraries that take long to load, under names that load them at their first use."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class _Lazy(ModuleType):
    """Stands for the module of its name, which is imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # those who look at every name of a module do not ask for it
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


cp: Any = _Lazy("cvxpy")
