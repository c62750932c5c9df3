"""Optimisers of linear costs, one file each."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):  # each enters `OPTIMISERS`
    import_module(f"{__name__}.{_module.name}")
