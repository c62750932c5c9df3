"""A check: counterexamples on record, other instances, and the steps of proofs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from relaxboost._core.compiled import is_interrupt
from relaxboost.claims.verdict import StatementVerdict


def until_interrupted(work: Callable[[], None], parts: Sequence[StatementVerdict]) -> bool:
    """Do work that adds to verdicts; return whether Ctrl-C has ended it.

    Before any instance was tried Ctrl-C is raised: there is nothing to tell.
    """
    try:
        work()
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error) or not any(part.counts for part in parts):
            raise
        return True
    return False


def check(
    claim: Any,
    parts: Sequence[StatementVerdict],
    trials: int,
    seed: int,
    folder: Path | None,
    repeat: str,
) -> None:
    """Add to `parts` what the instances say of each statement, and then the steps of its proof.

    `claim` is a `Claim`, whose file builds on this one. Certificates go to `folder`, if there is
    one; `repeat` is the command that does it again.
    """
    for number, (origin, values) in enumerate(claim.instances(trials, seed)):
        for place, (statement, part) in enumerate(zip(claim.statements, parts, strict=True)):
            files = folder and folder / f"{claim.id.replace('/', '-')}-{number}-{place}"
            evidence = claim.examine(statement, values, origin, files)
            part.add(evidence)
            if number < len(claim.counterexamples):
                part.known.append(evidence)
    for statement, part in zip(claim.statements, parts, strict=True):
        for step in statement.steps:
            verdict = step.check(min(trials, step.trials), seed)
            part.steps.append(replace(verdict, repeat=repeat))
            if verdict.interrupted:
                raise KeyboardInterrupt
