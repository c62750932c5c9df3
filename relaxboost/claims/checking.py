"""Checking a claim: instances in, a verdict out."""

from __future__ import annotations

import shlex
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import HOLDS, REFUTED, TIGHT, UNDECIDED, Vacuous
from relaxboost.claims.verdict import Bound, Evidence, Finding, Verdict
from relaxboost.errors import InputError
from relaxboost.parameters import count, natural

if TYPE_CHECKING:
    from relaxboost.claims.claim import Claim, Statement
    from relaxboost.claims.spaces import Values

_GRAVITY = {REFUTED: 0, UNDECIDED: 1, TIGHT: 2, HOLDS: 3}


def check(
    claim: Claim, trials: int | None, seed: int, certificates: Path | str | None = None
) -> Verdict:
    """Return the verdict of a claim and its corrections on the same instances."""
    start = time.perf_counter()
    trials = claim.trials if trials is None else count("trials", trials)
    natural("seed", seed)
    folder = None if certificates is None else made(certificates)
    statements = [claim.stated, *claim.corrections]
    findings = [Finding(statement.words) for statement in statements]
    for number, (origin, values) in enumerate(instances(claim, trials, seed)):
        for place, (statement, finding) in enumerate(zip(statements, findings, strict=True)):
            prefix = f"{claim.id}-{number}-{place}"
            evidence = examine(claim, statement, values, origin, folder, prefix)
            finding.add(evidence)
            if number < len(claim.counterexamples):
                finding.known.append(evidence)
    asked = f" --trials {trials}" if trials != claim.trials else ""
    return Verdict(
        id=claim.id,
        recorded=claim.status,
        stated=findings[0],
        corrections=tuple(findings[1:]),
        seed=seed,
        repeat=command(claim, "check", f"{asked} --seed {seed}"),
        seconds=time.perf_counter() - start,
    )


def made(folder: Path | str) -> Path:
    """Return a folder for certificates, which is made if there is none."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write certificates to {folder}: {error.strerror}") from None
    return Path(folder)


def command(claim: Claim, action: str, options: str) -> str:
    """Return the command that repeats a check or an attack."""
    file = "" if claim.file is None else f" --file {shlex.quote(str(claim.file))}"
    return f"relaxboost claims {action} {claim.id}{file}{options}"


def instances(claim: Claim, trials: int, seed: int) -> Iterator[tuple[str, Values]]:
    """Yield the recorded counterexamples, then instances drawn; each depends on its number only."""
    for number, spelled in enumerate(claim.counterexamples, 1):
        yield f"recorded counterexample {number}", claim.space.read(spelled)
    for number in range(trials):
        yield f"instance {number}", claim.space.draw(generator(claim, seed, number), number)


def generator(claim: Claim, seed: int, number: int) -> np.random.Generator:
    """Return the generator of an instance."""
    return np.random.default_rng([seed, zlib.crc32(claim.id.encode()), number])


def examine(
    claim: Claim,
    statement: Statement,
    values: Values,
    origin: str,
    folder: Path | None = None,
    prefix: str = "",
) -> Evidence | None:
    """Measure a statement on an instance; None if it does not meet the hypotheses."""
    x = claim.make(values)
    try:
        slacks = statement.measure(x)
    except Vacuous:
        return None
    except Exception as error:
        error.add_note(f"in {claim.id}, {origin}: {claim.space.spell(values)}")
        raise
    if not slacks:
        return None
    slack = min(slacks, key=lambda s: (_GRAVITY[s.outcome(claim.resolution)], s.relative))
    return Evidence(
        origin=origin,
        instance=claim.space.spell(values),
        slack=slack,
        outcome=slack.outcome(claim.resolution),
        slacks=slacks,
        optima=tuple(_bounds(x, folder, prefix)),
    )


def _bounds(x: Instance, folder: Path | None, prefix: str) -> Iterator[Bound]:
    for number, optimum in enumerate(x.optima):
        file = ""
        if folder is not None:
            path = folder / f"{prefix}-{number}.json"
            optimum.certificate().save(path)
            file = str(path)
        bracket = optimum.bracket
        yield Bound(optimum.digest, str(bracket.lower), str(bracket.upper), file)
