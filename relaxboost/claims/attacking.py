"""Attacking a claim: instances that minimise the slack, and the shrinking of what refutes it."""

from __future__ import annotations

from relaxboost.claims.measure import REFUTED
from relaxboost.claims.record import ClaimRecord, Statement
from relaxboost.claims.spaces import Values
from relaxboost.claims.verdict import Evidence, StatementVerdict

_DRAWN = 0.4
"""Share of the budget for instances drawn; the rest climbs from the best of them."""
_PATIENCE = 60
"""Steps without success after which a climb starts again from the next best."""


def attack(claim: ClaimRecord, statement: Statement, budget: int, seed: int) -> StatementVerdict:
    """Return the verdict of a search for counterexamples to a statement of a claim."""
    verdict = StatementVerdict(statement.words)
    found = _search(claim, statement, budget, seed, verdict)
    if found is not None:
        verdict.counterexample = _shrink(claim, statement, *found, budget)
    return verdict


def _search(
    claim: ClaimRecord, statement: Statement, budget: int, seed: int, verdict: StatementVerdict
) -> tuple[Values, Evidence] | None:
    """Draw, then climb from the instances of least slack; return the first that refutes."""
    pool: list[tuple[float, int, Values]] = []
    drawn = max(1, int(_DRAWN * budget))
    for number in range(drawn):
        values = claim.space.draw(claim.generator(seed, number), number)
        evidence = claim.examine(statement, values, f"instance {number}")
        verdict.add(evidence)
        if evidence is not None:
            if evidence.outcome == REFUTED:
                return values, evidence
            pool.append((evidence.slack.relative, number, values))
    pool.sort(key=lambda entry: entry[:2])
    rng = claim.generator(seed, 2**32 - 1)
    left = budget - drawn
    for best, _, values in pool:
        failures = 0
        while left > 0 and failures < _PATIENCE:
            left -= 1
            near = claim.space.neighbour(rng, values)
            evidence = claim.examine(statement, near, f"step {budget - left} of the attack")
            verdict.add(evidence)
            if evidence is not None and evidence.outcome == REFUTED:
                return near, evidence
            if evidence is not None and evidence.slack.relative < best:
                values, best, failures = near, evidence.slack.relative, 0
            else:
                failures += 1
    return None


def _shrink(
    claim: ClaimRecord, statement: Statement, values: Values, evidence: Evidence, budget: int
) -> Evidence:
    """Return a smaller counterexample: rows and columns dropped, short fractions for entries."""
    left, origin = budget, f"{evidence.origin}, shrunk"
    improved = True
    while improved:
        improved = False
        length = claim.space.complexity(values)
        for simpler in claim.space.smaller(values):
            if claim.space.complexity(simpler) >= length:
                continue
            if left == 0:
                return evidence
            left -= 1
            tried = claim.examine(statement, simpler, origin)
            if tried is not None and tried.outcome == REFUTED:
                values, evidence, improved = simpler, tried, True
                break
    return evidence
