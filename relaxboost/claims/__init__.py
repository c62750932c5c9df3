"""The claims of the literature, each with a check, and a verdict on every one.

::

    import relaxboost as rb

    rb.claims.all()
    print(rb.claims.get("SS09-T9").check(trials=20, seed=0))
    print(rb.claims.get("SS09-T9").attack(budget=2000))

Names are loaded when they are first used, so that the pytest plugin costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relaxboost.claims.arrays import Distribution, Matrix, Vector, Weights
    from relaxboost.claims.claim import Claim, Source, Statement, Unchecked
    from relaxboost.claims.fields import Choice, Field, Real, Whole
    from relaxboost.claims.instance import Instance
    from relaxboost.claims.measure import Bracket, Slack, assume, at_least, at_most, equal
    from relaxboost.claims.registry import all, get, load, select, sources
    from relaxboost.claims.running import Failure, attack_all, check_all
    from relaxboost.claims.spaces import Space
    from relaxboost.claims.verdict import Evidence, Finding, Verdict

_HOME = {
    "Bracket": "measure",
    "Choice": "fields",
    "Claim": "claim",
    "Distribution": "arrays",
    "Evidence": "verdict",
    "Failure": "running",
    "Field": "fields",
    "Finding": "verdict",
    "Instance": "instance",
    "Matrix": "arrays",
    "Real": "fields",
    "Slack": "measure",
    "Source": "claim",
    "Space": "spaces",
    "Statement": "claim",
    "Unchecked": "claim",
    "Vector": "arrays",
    "Verdict": "verdict",
    "Weights": "arrays",
    "Whole": "fields",
    "all": "registry",
    "assume": "measure",
    "at_least": "measure",
    "at_most": "measure",
    "attack_all": "running",
    "check_all": "running",
    "equal": "measure",
    "get": "registry",
    "load": "registry",
    "select": "registry",
    "sources": "registry",
}

__all__ = [
    "Bracket",
    "Choice",
    "Claim",
    "Distribution",
    "Evidence",
    "Failure",
    "Field",
    "Finding",
    "Instance",
    "Matrix",
    "Real",
    "Slack",
    "Source",
    "Space",
    "Statement",
    "Unchecked",
    "Vector",
    "Verdict",
    "Weights",
    "Whole",
    "all",
    "assume",
    "at_least",
    "at_most",
    "attack_all",
    "check_all",
    "equal",
    "get",
    "load",
    "select",
    "sources",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
