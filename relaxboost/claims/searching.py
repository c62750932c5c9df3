"""The search for a counterexample to a claim, and the simplification of a counterexample."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from relaxboost.claims.measure import REFUTED
from relaxboost.claims.spaces import Space, Values
from relaxboost.claims.verdict import Evidence, StatementVerdict

DRAWN_SHARE = 0.4
"""The fraction of the instances that the search for a counterexample draws at random. The search
finds the other instances by changing those drawn instances that come nearest to a
counterexample."""
MAX_FAILED_STEPS = 60
"""The maximum number of consecutive changes of an instance that do not bring it nearer to a
counterexample. Afterwards the search continues with the next drawn instance."""

Examine: TypeAlias = Callable[[Values, str], "Evidence | None"]
"""The type of a function that measures the statement of a claim on an instance. Its second argument
is a text about the origin of the instance."""


def search(
    examine: Examine,
    space: Space,
    draw: Callable[[int], np.random.Generator],
    budget: int,
    verdict: StatementVerdict,
) -> tuple[Values, Evidence] | None:
    """Search for an instance that refutes a statement. Return None if the search finds none.

    The search first draws instances, and then changes the drawn instances with the least slack. If
    it succeeds, the result is the values of the counterexample and its evidence.

    Parameters
    ----------
    examine : callable
        The function that measures the statement on an instance.
    space : Space
        The space from which instances are drawn.
    draw : callable
        A function from the number of an instance to the random generator that draws it.
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
    """Simplify a counterexample to a claim, and return the evidence of the simplest counterexample
    that was found.

    The search starts from the counterexample `values`, whose evidence is `evidence`, and tries at
    most `left` simpler instances. If this budget is used up before all simpler instances are tried,
    the text `origin` of the evidence says so.
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
