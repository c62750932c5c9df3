"""How many instances a verdict rests on and how tight it is: measured.json, for the pages.

``make claims`` measures; pages, lists and `relaxboost claims show` read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from relaxboost._core.errors import InputError
from relaxboost._core.files import write_atomically
from relaxboost.claims.claim import Claim
from relaxboost.claims.measure import REFUTED, TIGHT
from relaxboost.claims.verdict import ClaimVerdict, StatementVerdict

FILE = Path(__file__).with_name("measured.json")
SEED = 0
"""Of the checks whose results are on file."""


@dataclass(frozen=True)
class Measured:
    """What a check of a statement came to, with the claim's own number of instances."""

    tried: int
    """Instances that meet the hypotheses, counterexamples on record included."""
    refuted: int
    tight: int
    """Instances whose two sides are equal, as far as can be told."""
    least: str
    """The least relative slack of those not refuted, to two digits; "" where all are."""


Record: TypeAlias = Mapping[str, tuple[Measured, ...]]
"""From the id of a claim, or of a step of a proof, to the claim as stated and its corrections."""


def of_verdict(verdict: ClaimVerdict) -> dict[str, tuple[Measured, ...]]:
    """Return what a check measured, of the claim and of the steps of its proofs."""
    parts = (verdict.stated, *verdict.corrections)
    found = {verdict.id: tuple(map(_measured, parts))}
    for part in parts:
        for step in part.steps:
            found.update(of_verdict(step))
    return found


def _measured(part: StatementVerdict) -> Measured:
    least = "" if part.least is None else two_digits(part.least.slack.relative)
    if part.counts[TIGHT]:
        least = "0"
    return Measured(part.tried, part.counts[REFUTED], part.counts[TIGHT], least)


def two_digits(relative: float) -> str:
    """Return a relative slack to two digits, and 0 where it is rounding."""
    if not math.isfinite(relative):
        return str(relative)
    return "0" if abs(relative) < 1e-12 else f"{relative:.2g}"


@cache
def on_file() -> Record:
    """Return what is on file."""
    written = json.loads(FILE.read_text(encoding="utf-8"))
    return {id: tuple(Measured(**part) for part in parts) for id, parts in written.items()}


def lookup(record: Record, claim: Claim) -> tuple[Measured, ...]:
    """Return what is on record of a claim: one for each of its statements.

    Raises
    ------
    InputError
        If there is nothing, or the claim has other statements since.
    """
    found = record.get(claim.id, ())
    if len(found) != len(claim.statements):
        raise InputError(f"what {claim.id} rests on was not measured; run make claims")
    return found


def write(record: Record) -> Path:
    """Write what was measured, a claim a line; return the file."""
    lines = (
        f"{json.dumps(id)}: {json.dumps([asdict(part) for part in parts])}"
        for id, parts in sorted(record.items())
    )
    write_atomically(FILE, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
    on_file.cache_clear()
    return FILE


def measure(verdicts: Iterable[ClaimVerdict]) -> Record:
    """Return what checks measured."""
    found: dict[str, tuple[Measured, ...]] = {}
    for verdict in verdicts:
        found.update(of_verdict(verdict))
    return found


def kept(claims: Sequence[Claim]) -> Record:
    """Return what is on file of claims that are still there, and of the steps of their proofs."""
    steps = [step for claim in claims for part in claim.statements for step in part.steps]
    known = {one.id for one in (*claims, *steps)}
    return {id: parts for id, parts in on_file().items() if id in known}
