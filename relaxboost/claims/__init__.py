"""The claims of the literature, each with a check, and a verdict on every one.

::

    import relaxboost as rb

    rb.claims.all()
    print(rb.claims.get("SS09-T9").check(trials=20, seed=0))
    print(rb.claims.get("SS09-T9").attack(budget=2000))
"""

from __future__ import annotations

from relaxboost.claims.arrays import Distribution, Matrix, Vector, Weights
from relaxboost.claims.claim import Claim, Source, Statement, Unchecked
from relaxboost.claims.fields import Choice, Field, Real, Whole
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import Bracket, Slack, assume, at_least, at_most, equal
from relaxboost.claims.registry import all, get, load, sources
from relaxboost.claims.spaces import Space
from relaxboost.claims.verdict import Evidence, Finding, Verdict

__all__ = [
    "Bracket",
    "Choice",
    "Claim",
    "Distribution",
    "Evidence",
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
    "equal",
    "get",
    "load",
    "sources",
]
