"""An extension of Griffe, which reads the package for the pages of the API."""

import importlib
import inspect
from typing import Any

import griffe


class Signatures(griffe.Extension):
    """Keep only the parameters with which a class can be called.

    Griffe reads the fields of a dataclass without running the code. So it also shows fields that
    are not arguments, because they have ``init=False`` or are attributes of the class.
    """

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        for module in [pkg, *_modules(pkg)]:
            for member in module.members.values():
                # Only the fields of dataclasses may be no arguments.
                is_dataclass = not member.is_alias and "dataclass" in member.labels
                if not is_dataclass or "__init__" not in member.members:
                    continue
                value = getattr(importlib.import_module(module.path), member.name)
                real = inspect.signature(value).parameters
                shown = member.members["__init__"].parameters
                for name in [one.name for one in shown if one.name not in {"self", *real}]:
                    del shown[name]


def _modules(module: griffe.Module) -> list[griffe.Module]:
    inner = [one for one in module.members.values() if not one.is_alias and one.is_module]
    return [*inner, *(deeper for one in inner for deeper in _modules(one))]
