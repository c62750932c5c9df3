"""Libraries that take long to load, under names that load them at their first use."""

from __future__ import annotations

import re
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


class _Lazy(ModuleType):
    """Stands for the module of its name, which is imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # those who look at every name of a module do not ask for it
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


cp: Any = _Lazy("cvxpy")


def unknown(name: str, known: list[str]) -> AttributeError:
    """Return what is said of a name that relaxboost has not: where it is, or what is like it.

    Rooms are read as text, for importing them to answer a typo takes seconds.
    """
    said = f"relaxboost has no {name!r}"
    root = Path(__file__).parent.parent
    for room in known:
        files = [root / room / f"__init__.{end}" for end in ("pyi", "py")]
        text = next((file.read_text(encoding="utf-8") for file in files if file.exists()), "")
        if re.search(rf'^    "{name}",$|import {name} as {name}$', text, re.MULTILINE):
            return AttributeError(f"{said}; it is relaxboost.{room}.{name}")
    near = get_close_matches(name, known, 3)
    return AttributeError(said + (f"; did you mean {', '.join(near)}?" if near else ""))
