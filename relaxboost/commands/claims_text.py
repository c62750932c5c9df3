"""What `relaxboost claims` prints: rows of tables, and a claim in full."""

from __future__ import annotations

import math
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import relaxboost as rb
from relaxboost.claims.verdict import in_one_line

if TYPE_CHECKING:
    from relaxboost.claims import (
        Claim,
        ClaimVerdict,
        Evidence,
        Failure,
        Statement,
        StatementVerdict,
        Unchecked,
    )

_LONGEST = 240
"""Of an instance in a table; `--json` has it in full."""
_STATUS = len("false as stated")
_NONE = "none of the instances meets the hypotheses, or the check yields nothing"


def listed(claims: Sequence[Claim], unchecked: Sequence[Unchecked]) -> Iterator[str]:
    """Yield the lines of `relaxboost claims list`."""
    rows = [(c.id, c.location, c.status, c.stated.words) for c in claims]
    rows += [(u.id, u.location, "not decidable here", f"{u.words} [{u.reason}]") for u in unchecked]
    rows = [("id", "location", "on record", "statement"), *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        start = "".join(f"{cell:{width}}  " for cell, width in zip(row, widths, strict=False))
        yield _wrapped(start, row[3])


def shown(claim: Claim) -> Iterator[str]:
    """Yield the lines of `relaxboost claims show`."""
    file = "" if claim.file is None else f" --file {claim.file}"
    yield f"{claim.id}: {claim.location}"
    yield _wrapped("  of:          ", claim.source.reference)
    yield from _statement("statement", claim.stated)
    if claim.printed:
        yield _wrapped("  printed:     ", claim.printed)
    if claim.page:
        yield f"    place:     {claim.page}"
    if claim.given:
        yield _wrapped("  given:       ", claim.given)
    yield f"  on record:   {claim.status}, by {claim.evidence(claim.stated)}"
    for number, instance in enumerate(claim.counterexamples):
        title = "fails at:" if number == 0 else ""
        yield f"  {title:12} {in_one_line(claim.space.to_json(claim.space.from_json(instance)))}"
    for correction in claim.corrections:
        yield from _statement("corrected", correction)
    yield f"  data:        {', '.join(claim.space.fields)}; {claim.trials} instances by default"
    yield f"  check:       relaxboost claims check {claim.id}{file}"
    yield f"  attack:      relaxboost claims attack {claim.id}{file}"


def _statement(title: str, statement: Statement) -> Iterator[str]:
    yield _wrapped(f"  {title + ':':12} ", statement.words)
    if statement.formula:
        yield f"    formula:   {statement.formula}"
    for number, line in enumerate(statement.note.splitlines()):
        start = "note:" if number == 0 else ""
        yield f"    {start:10} {line}".rstrip()
    yield f"    code:      {statement.code}"


def not_checked(statement: Unchecked) -> Iterator[str]:
    """Yield the lines of `relaxboost claims show` for a statement without a check."""
    yield f"{statement.id}: {statement.location}"
    yield _wrapped("  statement:   ", statement.words)
    yield _wrapped("  not checked: ", statement.reason)


class Table:
    """The table of `relaxboost claims check`, a claim at a time.

    Parameters
    ----------
    claims : sequence of Claim
        The claims that may come; their ids set the width of the first column.
    """

    def __init__(self, claims: Sequence[Claim]) -> None:
        self.width = max([len("id"), *(len(claim.id) for claim in claims)])
        names = ("id", "verdict", "instances", "optima", "seconds", "slack", "where it is least")
        self.head = self._line(*names)

    def rows(self, outcome: ClaimVerdict | Failure) -> Iterator[str]:
        """Yield the lines of a claim: more than one if it fails."""
        if isinstance(outcome, rb.claims.Failure):
            yield self._line(outcome.id, outcome.status, "", "", "", "", outcome.error)
            return
        stated, decisive = outcome.stated, outcome.decisive
        yield self._line(
            outcome.id,
            outcome.status,
            str(stated.tried),
            str(outcome.optima),
            f"{outcome.seconds:.1f}",
            "" if decisive is None else _slack(decisive),
            _NONE if decisive is None else str(decisive.slack),
        )
        first = stated.counterexample
        if first is not None:
            yield f"    at {_instance(first)}  [{first.origin}]"
            for known in stated.known:  # those on record that refute it as well
                if known and known.origin != first.origin and known.outcome == "refuted":
                    yield f"    {known.slack}"
                    yield f"      at {_instance(known)}  [{known.origin}]"
        for correction in outcome.corrections:
            yield f"    corrected: {correction.words}"
            yield f"      {_on(correction)}"
        if not outcome.agrees:
            idle = ", ".join(map(str, outcome.idle))
            if outcome.status != outcome.recorded:
                yield f"    DIFFERS: on record as {outcome.recorded!r}"
            if idle:
                yield f"    DIFFERS: not refuted by the counterexample on record, number {idle}"
            if outcome.status == outcome.recorded and not idle:
                yield "    DIFFERS: a correction on record does not hold"
            yield f"    again: {outcome.repeat}"

    def _line(self, id: str, status: str, *cells: str) -> str:
        numbers = "  ".join(
            f"{cell:>{width}}" for cell, width in zip(cells[:4], (9, 6, 7, 8), strict=True)
        )
        return f"{id:{self.width}}  {status:{_STATUS}}  {numbers}  {cells[4]}".rstrip()


def summary(outcomes: Sequence[ClaimVerdict | Failure], asked: int, seconds: float) -> str:
    """Return the last line: how many claims hold, and whether that is what is on record."""
    statuses = [outcome.status for outcome in outcomes]
    counts = [
        f"{statuses.count(status)} {status if statuses.count(status) == 1 else words}"
        for status, words in (
            ("holds", "hold"),
            ("false as stated", "false as stated"),
            ("misprint", "misprints"),
            ("ambiguous", "ambiguous"),
            ("open", "open"),
            ("undecided", "undecided"),
            ("error", "errors"),
        )
        if status in statuses
    ]
    differing = [outcome.id for outcome in outcomes if not outcome.agrees]
    record = "all as recorded"
    if differing:
        record = f"{len(differing)} not as recorded: {', '.join(differing)}"
    optima = sum(outcome.optima for outcome in outcomes)
    done = len(outcomes)
    some = f"{done} claim{'s' * (done != 1)}"
    if done < asked:
        some = f"interrupted after {done} of {asked} claims"
    certified = f"{optima:,}".replace(",", " ")
    parts = (", ".join(counts), record, f"{certified} certified optima", f"{seconds:.0f} s")
    return f"{some}: " + "; ".join(parts)


def entry(claim: Claim) -> dict[str, Any]:
    """Return a claim as `relaxboost claims list --json` has it."""
    return {
        "id": claim.id,
        "source": claim.source.reference,
        "location": claim.location,
        "status": claim.status,
        **_words(claim.stated),
        "given": claim.given,
        "counterexamples": [dict(instance) for instance in claim.counterexamples],
        "corrections": [_words(correction) for correction in claim.corrections],
        "trials": claim.trials,
    }


def _words(statement: Statement) -> dict[str, str]:
    return {
        "statement": statement.words,
        "formula": statement.formula,
        "note": statement.note,
        "code": statement.code,
    }


def _on(part: StatementVerdict) -> str:
    """Return how a correction fared."""
    text = f"{part.status} on {part.tried} instance{'s' * (part.tried != 1)}"
    if part.counterexample is not None:
        return f"{text}: {part.counterexample.slack} at {_instance(part.counterexample)}"
    return text if part.least is None else f"{text}; least slack: {part.least.slack}"


def _slack(evidence: Evidence) -> str:
    if evidence.outcome == "tight":
        return "tight"
    relative = evidence.slack.relative
    return f"{relative:.2g}" if math.isfinite(relative) else str(relative)


def _instance(evidence: Evidence) -> str:
    text = in_one_line(evidence.instance)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _wrapped(start: str, text: str) -> str:
    """Return a line that wraps under itself on a terminal, and is left alone in a pipe."""
    columns = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or columns < len(start) + 30:
        return f"{start}{text}".rstrip()
    return textwrap.fill(text, columns, initial_indent=start, subsequent_indent=" " * len(start))
