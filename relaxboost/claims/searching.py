"""The search for a counterexample: draw, climb from the least slack, shrink the instance found."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from relaxboost.claims.measure import REFUTED
from relaxboost.claims.spaces import Space, Values
from relaxboost.claims.verdict import Evidence, StatementVerdict

_DRAWN_SHARE = 0.4
"""The share of the budget for instances drawn; the rest climbs from the best of them."""
_STEPS_WITHOUT_SUCCESS = 60
"""After so many steps a climb starts again from the next best instance."""

Examine: TypeAlias = Callable[[Values, str], "Evidence | None"]
"""Measures a statement on an instance; the text says where the instance comes from."""


def search(
    examine: Examine,
    space: Space,
    draw: Callable[[int], np.random.Generator],
    budget: int,
    verdict: StatementVerdict,
) -> tuple[Values, Evidence] | None:
    """Draw, then climb from the instances of least slack; return the first that refutes.

    `draw` returns the random numbers for the instance of a number. `budget` instances are tried,
    and added to the verdict.
    """
    pool: list[tuple[float, int, Values]] = []
    drawn = max(1, int(_DRAWN_SHARE * budget))
    for number in range(drawn):
        values = space.draw(draw(number), number)
        evidence = examine(values, f"instance {number}")
        verdict.add(evidence)
        if evidence is not None:
            if evidence.outcome == REFUTED:
                return values, evidence
            pool.append((evidence.slack.relative, number, values))
    pool.sort(key=lambda entry: entry[:2])
    rng = draw(2**32 - 1)
    left = budget - drawn
    for best, _, values in pool:
        failures = 0
        while left > 0 and failures < _STEPS_WITHOUT_SUCCESS:
            left -= 1
            near = space.neighbour(rng, values)
            evidence = examine(near, f"step {budget - left} of the attack")
            verdict.add(evidence)
            if evidence is not None and evidence.outcome == REFUTED:
                return near, evidence
            if evidence is not None and evidence.slack.relative < best:
                values, best, failures = near, evidence.slack.relative, 0
            else:
                failures += 1
    return None


def shrink(
    examine: Examine, space: Space, values: Values, evidence: Evidence, left: int
) -> Evidence:
    """Return a smaller counterexample: rows and columns dropped, short fractions for entries.

    At most `left` instances are tried.
    """
    origin = f"{evidence.origin}, shrunk"
    improved = True
    while improved:
        improved = False
        length = space.complexity(values)
        for simpler in space.smaller(values):
            if space.complexity(simpler) >= length:
                continue
            if left == 0:
                return evidence
            left -= 1
            tried = examine(simpler, origin)
            if tried is not None and tried.outcome == REFUTED:
                values, evidence, improved = simpler, tried, True
                break
    return evidence
