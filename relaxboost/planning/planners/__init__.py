"""Planners, one file each: every one returns a path and what proves it shortest."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):  # each enters `PLANNERS`
    import_module(f"{__name__}.{_module.name}")
