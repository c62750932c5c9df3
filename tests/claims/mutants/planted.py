"""All errors planted: the tuple MUTANTS of every file of this folder that has one."""

from __future__ import annotations

import importlib
from pathlib import Path

from tests.claims.mutants.mutant import Mutant

_OTHERS = ("__init__", "__main__", "mutant", "planted")
_NAMES = sorted(f.stem for f in Path(__file__).parent.glob("*.py") if f.stem not in _OTHERS)

MUTANTS: tuple[Mutant, ...] = tuple(
    mutant
    for name in _NAMES
    for mutant in importlib.import_module(f"tests.claims.mutants.{name}").MUTANTS
)
