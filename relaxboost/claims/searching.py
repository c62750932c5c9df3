"""The search for a counterexample, and its simplification."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from relaxboost.claims.measure import REFUTED
from relaxboost.claims.spaces import Space, Values
from relaxboost.claims.verdict import Evidence, StatementVerdict

DRAWN_SHARE = 0.4
"""The share of the instances that the search draws. The others are changed copies of the drawn
instances that come nearest to a counterexample."""
MAX_FAILED_STEPS = 60
"""The number of consecutive unsuccessful changes after which the search continues with the next
drawn instance."""

Examine: TypeAlias = Callable[[Values, str], "Evidence | None"]
"""A function that measures a statement on an instance. Its second argument is the origin of the
instance."""


def search(
    examine: Examine,
    space: Space,
    draw: Callable[[int], np.random.Generator],
    budget: int,
    verdict: StatementVerdict,
) -> tuple[Values, Evidence] | None:
    """Return an instance that refutes a statement, with its evidence, or None. The search first
    draws instances, and then changes those with the least slack.

    Parameters
    ----------
    examine : callable
        The function that measures the statement on an instance.
    space : Space
        The space from which instances are drawn.
    draw : callable
        A function that returns the random generator for an instance number.
    budget : int
        The maximum number of instances.
    verdict : StatementVerdict
        The verdict to which the evidence of every instance is added.
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
    """Simplify a counterexample, and return the evidence of the simplest one found.

    At most `left` simpler instances are tried. If this budget does not suffice, the text `origin`
    of the evidence says so.
    """
    origin = f"{evidence.origin}, shrunk"
    while True:
        length = space.complexity(values)
        for simpler in space.smaller(values):
            if space.complexity(simpler) >= length:
                continue
            if left == 0:
                ended = f"{origin} until the budget ended (a larger budget continues)"
                return replace(evidence, origin=ended)
            left -= 1
            tried = examine(simpler, origin)
            if tried is not None and tried.outcome == REFUTED:
                values = simpler
                evidence = tried
                break
        else:
            return evidence
