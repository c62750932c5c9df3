"""The output of `relaxboost claims`: tables of verdicts, and the full record of a claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import relaxboost as rb
from relaxboost._core.errors import number_of
from relaxboost._core.rounding import RELATIVE_ROUNDING
from relaxboost.claims.claim import MAX_INSTANCE_CHARACTERS
from relaxboost.claims.record import EXPECTED, reading
from relaxboost.claims.source import DISPLAYS
from relaxboost.claims.verdict import in_one_line, optima_of
from relaxboost.commands.style import folded

if TYPE_CHECKING:
    from relaxboost.claims import (
        Claim,
        ClaimVerdict,
        Evidence,
        Failure,
        Source,
        Statement,
        StatementVerdict,
        Unchecked,
    )

# The output of a check has 80 columns in a pipe too, so that it does not depend on the terminal.
_folded = partial(folded, columns=80, hang=2)
_STATUS = len("false as stated")
_VERDICT = len("false as stated")
MAX_CLAIMS_WITH_SLACKS = 10
"""The largest table that shows the inequality with the least slack below each claim that holds. In
larger tables, such claims only have the slack column."""
_NONE = "none of the instances meets the hypotheses, or the check yields nothing"
LEGEND = _folded(
    "slack: the relative slack, (right − left)/(|left| + |right|), of the inequality nearest to "
    "failing, from −1 to 1. Negative: it fails there; 0: both sides are equal up to rounding."
)
"""The explanation of the slack column in the table of `relaxboost claims check`."""


def listed(claims: Sequence[Claim], unchecked: Sequence[Unchecked]) -> Iterator[str]:
    """Yield the lines of `relaxboost claims list`: results first, then proof lines, remarks and
    formulas."""
    rows = [
        (c.id, *_record(c, c.stated), f"{c.location}: {c.stated.words}")
        for c in sorted(claims, key=lambda claim: bool(claim.part_of))
    ]
    rows += [
        (u.id, "not checkable", "", f"{u.location}: {u.words} [{u.reason}]") for u in unchecked
    ]
    # Ids have different lengths; the second column starts after the longest.
    width = max([len("id"), *(len(row[0]) for row in rows)])
    yield f"{'id':{width}}  {'verdict':{_STATUS}}  rests on"
    for id, status, evidence, words in rows:
        yield f"{id:{width}}  {status:{_STATUS}}  {evidence}".rstrip()
        yield _folded(f"    {words}")


def _record(claim: Claim, statement: Statement) -> tuple[str, str]:
    """Return the recorded status of a claim, and the kind of evidence for it, which may be ""."""
    return (claim.status, claim.evidence(statement)) if claim.has_record else (EXPECTED, "")


def _verdict(claim: Claim) -> str:
    status, evidence = _record(claim, claim.stated)
    return f"{status} ({evidence})" if evidence else status


def shown(claim: Claim) -> Iterator[str]:
    """Yield the lines of `relaxboost claims show` for a claim."""
    file = "" if claim.file is None else f" --file {claim.file}"
    key = claim.source.key
    is_part = claim.part_of not in ("", DISPLAYS)
    yield f"{claim.id}: {claim.location}"
    yield f"  of:          {claim.source.reference}"
    yield from _filled("  printed:", claim.printed)
    yield from _filled("    place:", claim.page * (claim.page != claim.location))
    yield from _statement("statement", claim.stated)
    yield from _filled("  given:", claim.given)
    status, evidence = _record(claim, claim.stated)
    yield f"  {'on record:' if claim.has_record else 'no record:':12} {status}"
    yield from _filled("  part of:", f"{key}-{claim.part_of}" * is_part)
    yield from _filled("  caused by:", claim.caused_by, f"the error of {key}-")
    yield from _filled("  harm:", claim.harm)
    yield from _filled("  rests on:", evidence)
    for number, instance in enumerate(claim.counterexamples):
        title = "fails at:" if number == 0 else ""
        values = claim.space.from_json(instance)
        yield f"  {title:12} {in_one_line(claim.space.to_json(values))}"
        yield f"    sides:     {_sides(claim, values)}"
    title = "reading" if claim.status == "ambiguous" else "corrected"
    for correction in claim.corrections:
        yield from _statement(title, correction)
        yield from _filled("    rests on:", _record(claim, correction)[1])
    for number, part in enumerate(_parts(claim)):
        yield f"  {'' if number else 'parts:':12} {part.id}: {_verdict(part)}"
    yield f"  data:        {', '.join(claim.space.fields)}; {claim.trials} instances by default"
    yield f"  check:       relaxboost claims check {claim.id}{file}"
    yield f"  attack:      relaxboost claims attack {claim.id}{file}"
    if any(statement.steps for statement in claim.statements):
        yield f"  steps:       relaxboost claims check '{claim.id}/*'{file}"


def _filled(title: str, text: str, before: str = "") -> Iterator[str]:
    if text:
        yield f"{title:15}{before}{text}"


def _parts(claim: Claim) -> Iterator[Claim]:
    for part in claim.source.claims.values():
        if part.part_of and f"{claim.source.key}-{part.part_of}" == claim.id:
            yield part


def _sides(claim: Claim, values: Mapping[str, Any]) -> str:
    # The check of a user-defined claim may raise any exception, and its text is the result then.
    try:
        evidence = claim.examine(claim.stated, dict(values), "a counterexample")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return _NONE if evidence is None else str(evidence.slack)


def _statement(title: str, statement: Statement) -> Iterator[str]:
    yield f"  {title + ':':12} {reading(statement.words)}"
    yield from _filled("    formula:", statement.formula)
    for number, paragraph in enumerate(filter(None, statement.note.split("\n\n"))):
        start = "note:" if number == 0 else ""
        yield f"    {start:10} {' '.join(paragraph.split())}"
    for number, step in enumerate(statement.steps, 1):
        words = step.stated.words
        formula = step.stated.formula
        said = f"{words.rstrip('.')}: {formula}" if words and formula else words or formula
        yield f"    step {number}:    {said}"
        yield from _filled("", " ".join(step.stated.note.split()))
    yield f"    code:      {statement.code}"


def errata(source: Source) -> Iterator[str]:
    """Yield the lines of `relaxboost claims show` for a source, which list its misprints."""
    found = source.misprints
    yield f"{source.key}: {source.reference}. {number_of(len(found), 'misprint')}."
    for one in found:
        yield f"{one.place} [{one.id}]"
        yield f"  printed:  {one.printed}"
        yield f"  read:     {one.read}"
        yield f"  harm:     {one.harm}"


def not_checked(statement: Unchecked) -> Iterator[str]:
    """Yield the lines of `relaxboost claims show` for a statement that has no numerical check."""
    yield f"{statement.id}: {statement.location}"
    yield f"  statement:   {statement.words}"
    yield "  on record:   not checkable"
    yield f"  reason:      {statement.reason}"


class Table:
    """The table of `relaxboost claims check`, at most 80 columns wide.

    Each row is printed as soon as the check of its claim ends.
    """

    def __init__(self, claims: Sequence[Claim]) -> None:
        self.width = max([len("id"), *(len(claim.id) for claim in claims)])
        self.few = len(claims) <= MAX_CLAIMS_WITH_SLACKS
        self.head = self._line("id", "verdict", "instances", "seconds", "slack")

    def rows(self, outcome: ClaimVerdict | Failure) -> Iterator[str]:
        """Yield the table row of a claim, and the detail lines below it.

        In a large table, a claim that holds has no line about its least slack.
        """
        if isinstance(outcome, rb.claims.Failure):
            yield self._line(outcome.id, outcome.status, "", "", "")
            yield _folded(f"    {outcome.error}")
            return
        stated = outcome.stated
        decisive = outcome.decisive
        yield self._line(
            outcome.id,
            "interrupted" if outcome.interrupted else outcome.status,
            str(stated.tried),
            f"{outcome.seconds:.1f}",
            "" if decisive is None else _slack(decisive),
        )
        # A verdict of an interrupted check is not final, so the first line does not show it.
        if outcome.interrupted:
            yield f"    so far {outcome.status}"
        if decisive is None:
            yield _folded(f"    {_NONE}")
        elif stated.counterexample is not None:
            yield from _refuted(outcome)
        elif self.few or outcome.interrupted or decisive.outcome == "undecided":
            yield _folded(f"    least slack: {decisive.measured}, {decisive.origin}")
        yield from _steps(stated, outcome.interrupted)
        yield from _corrections(outcome)
        yield from _differences(outcome)

    def _line(self, id: str, status: str, instances: str, seconds: str, slack: str) -> str:
        line = f"{id:{self.width}}  {status:{_VERDICT}}"
        return f"{line}  {instances:>9}  {seconds:>7}  {slack:>7}".rstrip()


def _refuted(outcome: ClaimVerdict) -> Iterator[str]:
    first = outcome.stated.counterexample
    assert first is not None
    yield _folded(f"    as stated: refuted by {_instance(first)} [{first.origin}]")
    yield _folded(f"      {first.slack}")
    for known in outcome.stated.known:
        if known and known.origin != first.origin and known.outcome == "refuted":
            yield _folded(f"      and by {_instance(known)} [{known.origin}]")
            yield _folded(f"      {known.slack}")


def _corrections(outcome: ClaimVerdict) -> Iterator[str]:
    title = "another reading" if outcome.status == "ambiguous" else "corrected"
    for correction in outcome.corrections:
        reached = correction.counts or not outcome.interrupted
        verdict = _on(correction) if reached else "not reached"
        yield _folded(f"    {title}: {verdict}. {reading(correction.words)}")
        yield from _steps(correction, outcome.interrupted)


def _steps(part: StatementVerdict, interrupted: bool) -> Iterator[str]:
    held = sum(step.status == "holds" for step in part.steps)
    if part.steps:
        yield f"    proof: {held} of {len(part.steps)} steps hold{' so far' * interrupted}"
    for step in part.steps:
        if step.status != "holds":
            yield _folded(f"      {step.id} is {step.status}: {step.repeat}")


def _differences(outcome: ClaimVerdict) -> Iterator[str]:
    if outcome.agrees:
        return
    idle = ", ".join(map(str, outcome.idle))
    # An interrupted check may still reach the recorded verdict.
    if outcome.remedy:
        yield f"    {outcome.remedy}"
    elif outcome.status != outcome.recorded and not outcome.interrupted:
        expected = f"on record as {outcome.recorded!r}"
        yield f"    DIFFERS: {expected if outcome.has_record else outcome.expectation}"
    if idle:
        yield f"    DIFFERS: not refuted by the counterexample on record, number {idle}"
    if outcome.status == outcome.recorded and not (idle or outcome.interrupted or outcome.remedy):
        yield "    DIFFERS: a correction on record does not hold"
    yield f"    again: {outcome.repeat}"


def summary(
    outcomes: Sequence[ClaimVerdict | Failure], claims: Sequence[Claim], seconds: float
) -> str:
    """Return the last line of `relaxboost claims check`.

    The line counts the verdicts and certified optima, and names the claims whose verdicts differ
    from the record.
    """
    word = "recorded" if all(claim.has_record for claim in claims) else "expected"
    whole = [outcome for outcome in outcomes if not outcome.interrupted]
    differing = [outcome.id for outcome in whole if not outcome.agrees]
    record = f"all as {word}" if whole else ""
    if differing:
        record = f"{len(differing)} not as {word}: {', '.join(differing)}"
    # The number of certified optima shows how much of the evidence is proved.
    optima = sum(outcome.optima for outcome in outcomes)
    done = len(whole)
    some = number_of(done, "claim")
    if done < len(claims):
        some = f"interrupted after {done} of {number_of(len(claims), 'claim')}"
    certified = f"{optima:,}".replace(",", " ")
    parts = (_counts(whole), record, f"{certified} {optima_of(optima)}", f"{seconds:.0f} s")
    return _folded(f"{some}: " + "; ".join(filter(None, parts)))


def _counts(outcomes: Sequence[ClaimVerdict | Failure]) -> str:
    statuses = [outcome.status for outcome in outcomes]
    plural = {"holds": "hold", "misprint": "misprints", "error": "errors"}
    order = ("holds", "false as stated", "misprint", "ambiguous", "open", "undecided", "error")
    return ", ".join(
        f"{count} {status if count == 1 else plural.get(status, status)}"
        for status in order
        if (count := statuses.count(status))
    )


def entry(claim: Claim) -> dict[str, Any]:
    """Return a claim as data for `relaxboost claims list --json`."""
    return {
        "id": claim.id,
        "source": claim.source.reference,
        "location": claim.location,
        "page": claim.page,
        "printed": claim.printed,
        "status": _record(claim, claim.stated)[0],
        **_words(claim, claim.stated),
        "given": claim.given,
        "part_of": claim.part_of,
        "caused_by": claim.caused_by,
        "harm": claim.harm,
        "counterexamples": [dict(instance) for instance in claim.counterexamples],
        "corrections": [_words(claim, correction) for correction in claim.corrections],
        "trials": claim.trials,
    }


def _words(claim: Claim, statement: Statement) -> dict[str, Any]:
    return {
        "evidence": _record(claim, statement)[1],
        "steps": [f"{step.stated.words} {step.stated.formula}" for step in statement.steps],
        "statement": statement.words,
        "formula": statement.formula,
        "note": statement.note,
        "code": statement.code,
    }


def _on(part: StatementVerdict) -> str:
    text = f"{part.status} on {number_of(part.tried, 'instance')}"
    if part.counterexample is not None:
        return f"{text}: {part.counterexample.slack} at {_instance(part.counterexample)}"
    return text if part.least is None else f"{text}; least slack: {part.least.measured}"


def _slack(evidence: Evidence) -> str:
    relative = evidence.slack.relative
    is_zero = evidence.outcome == "tight" or abs(relative) < RELATIVE_ROUNDING
    return "0" if is_zero else f"{relative:.2g}"


def _instance(evidence: Evidence) -> str:
    text = in_one_line(evidence.instance)
    return text if len(text) <= MAX_INSTANCE_CHARACTERS else f"{text[:MAX_INSTANCE_CHARACTERS]} ..."
