"""The search for a counterexample, and the simplification of the counterexample that it finds."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from relaxboost.claims.measure import REFUTED
from relaxboost.claims.spaces import Space, Values
from relaxboost.claims.verdict import Evidence, StatementVerdict

DRAWN_SHARE = 0.4
"""The share of the instances of an attack that are drawn at random. The other instances are found
by changing those drawn instances that come nearest to a counterexample."""
MAX_FAILED_STEPS = 60
"""The maximum number of consecutive changes of an instance that do not reduce its slack. Afterwards
the attack continues with the next drawn instance."""

Examine: TypeAlias = Callable[[Values, str], "Evidence | None"]
"""A function that measures a statement on an instance. Its second argument is a text about the
origin of the instance."""


def search(
    examine: Examine,
    space: Space,
    draw: Callable[[int], np.random.Generator],
    budget: int,
    verdict: StatementVerdict,
) -> tuple[Values, Evidence] | None:
    """Search for an instance that refutes a statement. Return None if the search finds none.

    The search draws instances, and then changes those with the least slack. ``draw(k)`` returns the
    random generator for instance k. The evidence of every instance is added to `verdict`.
    """
    pool: list[tuple[float, Values]] = []
    drawn = max(1, int(DRAWN_SHARE * budget))
    for number in range(drawn):
        values = space.draw(draw(number), number)
        evidence = examine(values, f"instance {number}")
        verdict.add(evidence)
        if evidence is not None:
            if evidence.outcome == REFUTED:
                return values, evidence
            pool.append((evidence.slack.relative, values))
    pool.sort(key=lambda entry: entry[0])
    rng = draw(2**32 - 1)
    left = budget - drawn
    for best, values in pool:
        failures = 0
        while left > 0 and failures < MAX_FAILED_STEPS:
            left -= 1
            near = space.neighbour(rng, values)
            evidence = examine(near, f"step {budget - left} of the attack")
            verdict.add(evidence)
            if evidence is not None and evidence.outcome == REFUTED:
                return near, evidence
            if evidence is not None and evidence.slack.relative < best:
                values = near
                best = evidence.slack.relative
                failures = 0
            else:
                failures += 1
    return None


def shrink(
    examine: Examine, space: Space, values: Values, evidence: Evidence, left: int
) -> Evidence:
    """Return a simpler counterexample after trying at most `left` instances."""
    origin = f"{evidence.origin}, shrunk"
    while True:
        length = space.complexity(values)
        for simpler in space.smaller(values):
            if space.complexity(simpler) >= length:
                continue
            if left == 0:
                return evidence
            left -= 1
            tried = examine(simpler, origin)
            if tried is not None and tried.outcome == REFUTED:
                values = simpler
                evidence = tried
                break
        else:
            return evidence
