"""A page for each source: on every claim the verdict, what it rests on, and what is printed."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Sequence

from relaxboost._core.errors import InputError, number_of
from relaxboost.claims.claim import Claim
from relaxboost.claims.measure import HOLDS, REFUTED, TIGHT
from relaxboost.claims.publishing.measuring import Measured, Record, lookup
from relaxboost.claims.publishing.prose import (
    as_markdown,
    columns,
    formula,
    measured,
    paragraphs,
    reading,
)
from relaxboost.claims.record import (
    AMBIGUOUS,
    COUNTEREXAMPLE,
    EXACT,
    FALSE,
    ILLEGIBLE,
    MISPRINT,
    OPEN,
    PROOF,
    WORST,
    Line,
    Statement,
    Unchecked,
    WorstCases,
)
from relaxboost.claims.source import DISPLAYS, Source

PICTURES = "images/claims"
"""Where the pictures are, below the folder of the documentation; pages are one folder down."""

STATUSES = (HOLDS, FALSE, MISPRINT, AMBIGUOUS, OPEN)
"""Statuses on record, in the order of tables."""

OWN = "not in the paper"
"""In place of a page, of claims that this package adds."""


def file_of(source: Source) -> str:
    """Return the name of the page of a source."""
    return f"{source.key.lower()}.md"


def anchor(id: str) -> str:
    """Return the anchor of a heading that is an id."""
    return "".join(c for c in id.lower() if c.isalnum() or c in "-_")


def link(id: str) -> str:
    """Return a link to the section of a claim on its own page."""
    return f"[{id}](#{anchor(id)})"


def counts(claims: Iterable[Claim], unchecked: Sequence[Unchecked]) -> list[int]:
    """Return how many claims have each status, and how many statements are not decidable here."""
    statuses = [claim.status for claim in claims]
    return [*map(statuses.count, STATUSES), len(unchecked)]


def page(source: Source, record: Record) -> str:
    """Return the page of a source, given what its claims were measured to rest on, by id."""
    claims = list(source.claims.values())
    rows = zip((*STATUSES, "not decidable here"), counts(claims, source.not_checked), strict=True)
    total = ", ".join(f"{status}: {number}" for status, number in rows if number)
    parts = [
        f"# {source.key}",
        "",
        f"{as_markdown(source.reference).rstrip('.')}.",
        "",
        f"Statements: {len(claims) + len(source.not_checked)}. {total[:1].upper()}{total[1:]}. "
        "[What these words mean, and how to repeat a verdict](index.md#how-to-read-a-verdict).",
        "",
        *_results(claims),
        *_errata(source),
        *_others(claims, source.not_checked),
        *_lines(source.lines, source.claims.keys()),
        "",
        "## Claim by claim",
        "",
        *(_claim(claim, lookup(record, claim), record) for claim in claims),
    ]
    return "\n".join(parts)


def _cell(text: str) -> str:
    return as_markdown(text, cell=True)


def _results(claims: list[Claim]) -> list[str]:
    """Return the table of results, with what is true instead, and the errors in their parts."""
    heads = "result", "verdict", "statement", "true instead", "rests on", "errors in its parts"
    rows = ["## Results", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for claim in claims:
        if not claim.part_of:
            name = claim.id.partition("-")[2]
            wrong = [c for c in claims if c.part_of == name and c.status not in (HOLDS, OPEN)]
            instead = claim.corrections[0].words if claim.corrections else ""
            texts = f"{claim.location}: {claim.stated.words}", reading(instead)
            cells = link(claim.id), claim.status, *map(_cell, texts)
            parts = ", ".join(f"{link(c.id)} ({c.status})" for c in wrong)
            rows.append(f"| {' | '.join(cells)} | {claim.evidence(claim.stated)} | {parts} |")
    return [*rows, ""]


def _errata(source: Source) -> list[str]:
    found = source.misprints
    if not found:
        return []
    rows = ["## Errata", "", "| where | printed | read | harm |", "|---|---|---|---|"]
    for one in found:
        texts = one.place, one.printed, one.read, one.harm
        rows.append(f"| {' | '.join(map(_cell, texts))} |")
    return [*rows, ""]


def _others(claims: list[Claim], unchecked: Sequence[Unchecked]) -> list[str]:
    rows = ["## Lines of proofs, remarks and displays", ""]
    rows += ["| claim | verdict | statement | rests on | of |", "|---|---|---|---|---|"]
    for claim in claims:
        if claim.part_of:
            cells = link(claim.id), claim.status, _cell(f"{claim.location}: {claim.stated.words}")
            of = "" if claim.part_of == DISPLAYS else link(f"{claim.source.key}-{claim.part_of}")
            rows.append(f"| {' | '.join(cells)} | {claim.evidence(claim.stated)} | {of} |")
    for one in unchecked:
        words, reason = _cell(f"{one.location}: {one.words}"), _cell(one.reason)
        rows.append(f"| {_cell(one.id)} | not decidable here | {words} | {reason} | |")
    return [*rows, ""]


def _lines(lines: Sequence[Line], claims: Container[str]) -> list[str]:
    """Return the table of what the source says, line by line, and the claims about it."""
    if not lines:
        return []
    rows = [
        "## Line by line",
        "",
        f"Every display and every sentence that asserts something, {len(lines)} in all, with the "
        "claims about it, or why there is none.",
        "",
        "| where | what it says | claims, or why none |",
        "|---|---|---|",
    ]
    for line in lines:
        ids = ", ".join(link(id) if id in claims else id for id in line.ids)
        reason = _cell(line.reason)
        about = ". ".join(filter(None, (ids, reason)))
        rows.append(f"| {_cell(line.place)} | {_cell(line.words)} | {about} |")
    return rows


def _claim(claim: Claim, found: tuple[Measured, ...], record: Record) -> str:
    where = f"{claim.location} ({claim.page})" if claim.printed else claim.location
    lines = [f"### {claim.id}", ""]
    lines += [f"**{claim.status[:1].upper() + claim.status[1:]}.** {as_markdown(where)}.", ""]
    if claim.part_of not in ("", DISPLAYS):
        lines += [f"Part of {link(f'{claim.source.key}-{claim.part_of}')}.", ""]
    if claim.caused_by:
        lines += [f"The error is that of {link(f'{claim.source.key}-{claim.caused_by}')}.", ""]
    lines += [as_markdown(claim.stated.words), "", *_printed(claim)]
    lines += ["As checked:", "", formula(claim.stated.formula), ""]
    if claim.given:
        lines += [f"Given: {as_markdown(claim.given).rstrip('.')}.", ""]
    lines += [f"Rests on {as_markdown(rests_on(claim, claim.stated, found[0]))}.", ""]
    lines += _counterexamples(claim)
    lines += _corrections(claim, found)
    return "\n".join([*lines, *_details(claim, record), ""])


def _printed(claim: Claim) -> list[str]:
    if claim.printed == ILLEGIBLE:
        return ["As printed: illegible in our copy, and nothing is charged.", ""]
    if not claim.printed:
        own = claim.page == OWN
        return ["Not in the paper: this package adds it.", ""] * own
    return ["As printed:", "", f"> {as_markdown(claim.printed)}", ""]


def rests_on(claim: Claim, statement: Statement, found: Measured) -> str:
    """Return in words what the verdict on a claim as stated, or a correction of it, rests on."""
    kind = claim.evidence(statement)
    if kind == COUNTEREXAMPLE:
        number = len(claim.counterexamples)
        text = "a counterexample" if number == 1 else f"{number} counterexamples"
        return f"{text} on record; {_refuting(found)}"
    if kind == PROOF:
        return f"a proof, each step checked; and on {instances(found)}"
    if kind == WORST:
        return f"the worst case over all instances, for some parameters; and on {instances(found)}"
    if kind == EXACT and claim.every is not None:
        return f"enumeration: {claim.every.words}; {instances(found)}"
    if found.refuted:
        return f"instances: {_refuting(found)}"
    return instances(found)


def _refuting(found: Measured) -> str:
    return f"of {found.tried} instances {found.refuted} refute{'s' * (found.refuted == 1)} it"


def instances(found: Measured) -> str:
    """Return how many instances there were, and how tight they are, in words."""
    text = number_of(found.tried, "instance")
    if found.tight == found.tried > 0:
        return f"{text}, on all of which it holds"
    if found.tight:
        return f"{text}, on {found.tight} of which it holds with an equality"
    if found.least == "0":  # in fractions, where nothing need be allowed for rounding
        return f"{text}, on some of which it holds with an equality"
    return f"{text}, least relative slack {found.least}" if found.least else text


def _corrections(claim: Claim, found: tuple[Measured, ...]) -> list[str]:
    lines = []
    for statement, part in zip(claim.corrections, found[1:], strict=True):
        words = as_markdown(reading(statement.words))
        if claim.status == AMBIGUOUS:
            verdict = "refuted as well" if part.refuted else "which holds"
            lines += [f"**Another reading, {verdict}:** {words}", ""]
        else:
            lines += [f"**True instead:** {words}", ""]
        if statement.formula:
            lines += [formula(statement.formula), ""]
        lines += [f"Rests on {as_markdown(rests_on(claim, statement, part))}.", ""]
    return lines


def _refutation(claim: Claim, number: int) -> list[str]:
    """Return a counterexample on record, which must refute the claim."""
    values = claim.space.from_json(claim.counterexamples[number])
    evidence = claim.examine(claim.stated, values, f"number {number + 1}")
    if evidence is None or evidence.outcome != REFUTED:
        raise InputError(f"counterexample {number + 1} of {claim.id} does not refute it")
    sides = formula(measured(evidence.slack))
    return [f"Refuted by {sides} at", "", "```", columns(evidence.instance), "```", ""]


def _counterexamples(claim: Claim) -> list[str]:
    if not claim.counterexamples:
        return []
    words = "the two sides, the slack of every instance, and the counterexample"
    picture = f"![{claim.id}: {words}](../{PICTURES}/{claim.id}.svg)"
    return [*_refutation(claim, 0), picture, ""]


def _details(claim: Claim, record: Record) -> list[str]:
    """Return what is folded: why, the steps of proofs, more counterexamples, and the code."""
    proofs = any(statement.steps for statement in claim.statements)
    title = "Proof, code and how to repeat it" if proofs else "Why, code and how to repeat it"
    lines = ['<details markdown="1">', f"<summary>{title}</summary>", ""]
    for number, statement in enumerate(claim.statements):
        if number and (statement.note or statement.steps):
            lines += [f"On “{as_markdown(reading(statement.words))}”:", ""]
        lines += [part for text in paragraphs(statement.note) for part in (as_markdown(text), "")]
        lines += _steps(statement, record)
    for number in range(1, len(claim.counterexamples)):
        lines += _refutation(claim, number)
    file, _, _ = claim.stated.code.rpartition(":")  # lines move, files seldom do
    lines += [f"Check: `{file}`. Again: `relaxboost claims check {claim.id}`.", "", "</details>"]
    return lines


def _steps(statement: Statement, record: Record) -> list[str]:
    rows = []
    for number, step in enumerate(statement.steps, 1):
        measured = lookup(record, step)[0]
        if isinstance(step.every, WorstCases):
            rows.append(_worst(number, step, step.every, measured))
            continue
        found = instances(measured)
        text = f"{number}. {as_markdown(step.stated.words)}"
        if step.stated.formula:
            text += f" {formula(step.stated.formula)}"
        note = " ".join(["", *map(as_markdown, paragraphs(step.stated.note))])
        rows.append(f"{text} ({found}){note}")
    return [*rows, ""] if rows else []


def _worst(number: int, step: Claim, cases: WorstCases, found: Measured) -> str:
    """Return a step about worst cases, with the two sides of the first and the fourth.

    The left side is known to the accuracy of a solver, so that equal sides are shown once.
    """
    sides = []
    for written in itertools.islice(cases.instances(), 0, 4, 3):
        evidence = step.examine(step.stated, step.space.from_json(written), "a worst case")
        if evidence is None:
            raise InputError(f"{step.id} says nothing of {written}")
        left, right = f"{evidence.slack.left:.4g}", f"{evidence.slack.right:.4g}"
        sides.append(f"{right} = {right}" if evidence.outcome == TIGHT else f"{left} ≤ {right}")
    words = f"{number}. {as_markdown(step.stated.words)} {formula(step.stated.formula)}"
    tight = f", tight for {found.tight} of {found.tried}" if found.tight else ""
    text = f"{words}: for {as_markdown(cases.words)}{tight}; e.g. {', '.join(sides)}"
    note = as_markdown(" ".join(step.stated.note.split()))
    return f"{text}. {note}" if note else text
