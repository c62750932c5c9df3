"""The text that follows the statement of a claim on its page, divided into parts."""

from collections.abc import Iterator
from dataclasses import dataclass

from relaxboost.claims.claim import Claim
from relaxboost.claims.record import (
    AMBIGUOUS,
    EXPECTED,
    FALSE,
    ILLEGIBLE,
    MISPRINT,
    Statement,
    WorstCases,
    reading,
)

from .prose import code, columns, measured, paragraphs

_RELATIONS = "=≤≥<>≪∈"
"""Relation signs. A printed text with one of these characters is assumed to contain a formula."""

_REASONS = {
    FALSE: "Why it is false:",
    MISPRINT: "Why it is a misprint:",
    AMBIGUOUS: "Why the reading matters:",
}
"""For each status of a refuted claim, the label of the text that gives the reason."""


@dataclass(frozen=True)
class EntryPart:
    """A part of the text about a claim, such as a quotation or a step of a proof."""

    kind: str
    """The type of the part: "text", "printed" (a quotation), "data" (an instance) or "step"."""
    text: str
    label: str = ""
    """The label of the part. It is printed in bold before the text."""


def verdict(claim: Claim) -> str:
    """Return the recorded status of a claim and the type of its evidence, as text."""
    return f"{claim.status} ({claim.evidence(claim.stated)})" if claim.has_record else EXPECTED


def parts(claim: Claim, brief: bool = False, in_full: bool = False) -> Iterator[EntryPart]:
    """Yield the text about a claim that follows its statement, part by part.

    The words of the corrections come first, so that a reader sees what was found before the
    symbols. Their formulas and proofs come last, after the refutation.

    If `brief` is true, the text is for a page that also has a table of errata. Misprints and claims
    that hold are then not quoted. The text about a refuted claim has only the first counterexample,
    and leaves out the formula if the quotation contains a formula. If `in_full` is true, the words
    of the correction of a misprint are printed although the table of errata has the correction.
    """
    refuted = bool(claim.counterexamples)
    in_errata = brief and claim.status == MISPRINT
    for correction in claim.corrections:
        text = "See the errata." if in_errata and not in_full else reading(correction.words)
        yield EntryPart("text", text, f"{_title(claim, correction)}:")
    yield from _printed(claim, brief, in_errata)
    if claim.caused_by:
        yield EntryPart("text", f"{claim.source.key}-{claim.caused_by}.", "The error is caused by")
    for evidence in [claim.refutation()] if brief and refuted else claim.refutations(claim.stated):
        yield EntryPart(
            "text",
            code(measured(evidence.slack)),
            "Refuted by an instance with this relation:",
        )
        yield EntryPart("data", columns(evidence.instance))
    yield from _proof(claim.stated, _REASONS.get(claim.status, ""))
    for number, correction in enumerate(claim.corrections, 1):
        noun = "reading" if claim.status == AMBIGUOUS else "correction"
        which = f"{noun} {number}" if len(claim.corrections) > 1 else f"the {noun}"
        if correction.formula and not in_errata:
            label = f"{which[:1].upper()}{which[1:]} in symbols:"
            yield EntryPart("text", code(correction.formula), label)
            yield from _proof(correction)
        else:
            yield from _proof(correction, f"About {which}:")


def _printed(claim: Claim, brief: bool, in_errata: bool) -> Iterator[EntryPart]:
    refuted = bool(claim.counterexamples)
    quoted = brief and refuted and any(c in claim.printed for c in _RELATIONS)
    place = claim.page
    if brief and not claim.part_of:  # The heading has the location.
        place = place.removesuffix(f", {claim.location}")
    page = "" if in_errata else f"{place[:1].upper()}{place[1:]}."
    formula = "" if quoted else code(claim.stated.formula)
    if page:
        yield EntryPart("text", page, "Place:")
    if formula:
        yield EntryPart("text", formula, "In symbols:")
    if claim.given:
        yield EntryPart("text", f"{claim.given.rstrip('.')}.", "Given:")
    if claim.printed == ILLEGIBLE:
        yield EntryPart("text", "Illegible in our copy.")
    elif claim.printed and (refuted or not brief) and not in_errata:
        yield EntryPart("printed", claim.printed)


def _title(claim: Claim, correction: Statement) -> str:
    evidence = claim.evidence(correction)
    if claim.status != AMBIGUOUS:
        verb = "Read" if claim.status == MISPRINT else "True"
        return f"{verb} instead ({evidence})"
    refuted = any(claim.refutations(correction))
    return f"Read as follows, it {'is refuted as well' if refuted else f'holds ({evidence})'}"


def _proof(statement: Statement, label: str = "") -> Iterator[EntryPart]:
    for text in paragraphs(statement.note):
        yield EntryPart("text", text, label)
        label = ""
    for step in statement.steps:
        text = reading(step.stated.words).rstrip(".")
        formula = f": {code(step.stated.formula)}" if step.stated.formula else ""
        cases = f" Computed for {step.every.words}." if isinstance(step.every, WorstCases) else ""
        note = " ".join(["", *paragraphs(step.stated.note)])
        yield EntryPart("step", f"{text}{formula}.{cases}{note}")
