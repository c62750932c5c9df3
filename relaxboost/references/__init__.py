"""Reference sets: chosen games with certified optima, for the tests of other packages.

::

    import relaxboost as rb

    rb.references.make("games.toml", "games")  # a certificate a game, and index.json
    assert rb.references.check("games").ok  # recomputes everything
    reference = rb.references.load("games")["uniform-8x6-003"]
    rb.references.assert_bracketed(my_solver(reference.A), reference)

Names are loaded when they are first used: pytest imports this package when it starts.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relaxboost.references.brackets import assert_bracketed
    from relaxboost.references.checking import Checked, Summary, check
    from relaxboost.references.making import Made, make
    from relaxboost.references.planting import Plant, plant, planted
    from relaxboost.references.sets import Reference, ReferenceSet, load

_HOME = {
    "Checked": "checking",
    "Made": "making",
    "Plant": "planting",
    "Reference": "sets",
    "ReferenceSet": "sets",
    "Summary": "checking",
    "assert_bracketed": "brackets",
    "check": "checking",
    "load": "sets",
    "make": "making",
    "plant": "planting",
    "planted": "planting",
}

__all__ = [
    "Checked",
    "Made",
    "Plant",
    "Reference",
    "ReferenceSet",
    "Summary",
    "assert_bracketed",
    "check",
    "load",
    "make",
    "plant",
    "planted",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
