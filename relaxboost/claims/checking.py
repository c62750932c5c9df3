"""Checking a claim: instances in, a verdict out."""

from __future__ import annotations

import time
from pathlib import Path

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, natural
from relaxboost.claims.record import ClaimRecord
from relaxboost.claims.verdict import ClaimVerdict, StatementVerdict


def check(
    claim: ClaimRecord, trials: int | None, seed: int, certificates: Path | str | None = None
) -> ClaimVerdict:
    """Return the verdict of a claim and its corrections on the same instances."""
    start = time.perf_counter()
    trials = claim.trials if trials is None else count("trials", trials)
    natural("seed", seed)
    folder = None if certificates is None else certificate_folder(certificates)
    statements = [claim.stated, *claim.corrections]
    verdicts = [StatementVerdict(statement.words) for statement in statements]
    for number, (origin, values) in enumerate(claim.instances(trials, seed)):
        for place, (statement, verdict) in enumerate(zip(statements, verdicts, strict=True)):
            files = None if folder is None else folder / f"{claim.id}-{number}-{place}"
            evidence = claim.examine(statement, values, origin, files)
            verdict.add(evidence)
            if number < len(claim.counterexamples):
                verdict.known.append(evidence)
    asked = f" --trials {trials}" if trials != claim.trials else ""
    return ClaimVerdict(
        id=claim.id,
        recorded=claim.status,
        stated=verdicts[0],
        corrections=tuple(verdicts[1:]),
        seed=seed,
        repeat=claim.command("check", f"{asked} --seed {seed}"),
        seconds=time.perf_counter() - start,
    )


def certificate_folder(folder: Path | str) -> Path:
    """Return a folder for certificates, which is made if there is none."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write certificates to {folder}: {error.strerror}") from None
    return Path(folder)
