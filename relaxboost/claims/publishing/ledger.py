"""The pages of all claims, docs/claims/, made from the registry; ``make claims`` runs it.

``python -m relaxboost.claims.publishing.ledger docs`` checks every claim, keeps what the verdicts
rest on in measured.json, and writes a page for each source, an overview, and the pictures of the
claims that are refuted. With patterns of ids after the folder those alone are checked.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from relaxboost._core.errors import InputError, check_drawing, number_of
from relaxboost._core.files import write_atomically
from relaxboost.claims.claim import Claim, Source
from relaxboost.claims.publishing import measuring
from relaxboost.claims.publishing.pages import (
    OWN,
    PICTURES,
    STATUSES,
    anchor,
    counts,
    file_of,
    page,
)
from relaxboost.claims.publishing.prose import as_markdown
from relaxboost.claims.record import (
    AMBIGUOUS,
    COUNTEREXAMPLE,
    EXACT,
    FALSE,
    INSTANCES,
    MISPRINT,
    PROOF,
    WORST,
    WorstCases,
)
from relaxboost.claims.registry import select, sources
from relaxboost.claims.running import Failure, check_all
from relaxboost.claims.verdict import ClaimVerdict

FOLDER, FINDINGS = "claims", "findings.md"
"""Where the pages are, and the page whose numbers are renewed, below the documentation."""

_NUMBERS = "<!-- numbers -->\n", "<!-- end -->"
"""What the numbers on the page of findings stand between."""

_HEAD = """\
# Claims

<!-- made by `make claims` from relaxboost/claims/; edit the claims, not this page -->

What the literature states, each statement with a check that anyone can run, and what came of it.
In a hurry: [what we found in the papers](../findings.md), in five minutes.
"""

_MEANING = """\
## How to read a verdict

* *holds*: nothing refutes it. Whether that is proved, the evidence says.
* *false as stated*: an instance on record refutes what is printed. What is true instead stands
  beside it, with evidence of its own.
* *misprint*: false as stated, but what is meant is plain, used, and holds.
* *ambiguous*: it can be read in more than one way; each reading has its verdict.
* *open*: nothing refutes it, and no proof is known to us, nor to the paper.
* *not decidable here*: no computation settles it; the reason is given.

A verdict rests on

* a *counterexample*: one instance, in short numbers, that anyone can work out by hand;
* a *proof*: its steps stand on the page, and each is checked on instances of its own;
* *worst case*: the greatest difference over all instances, in spaces of any dimension, was
  computed for some parameters by a semidefinite program, and proved by its dual in exact numbers;
* *exact*: all instances there are were tried;
* *instances*: random and structured ones, which is evidence and no proof. The page says how many,
  and how near to equality they came: the relative slack (right − left)/(|left| + |right|), 0 where
  both sides are equal.

```
relaxboost claims show SS09-T9        # a claim in full
relaxboost claims check 'SS09-*'      # repeat the checks of a source
relaxboost claims attack SS09-T9      # search for a counterexample, and shrink it
```

[Checking a claim](../checking-claims.md) has the details, and claims of your own.
"""


def index(all_sources: Sequence[Source]) -> str:
    """Return the overview: how the statements of each source fare, and which are refuted."""
    claims = [claim for source in all_sources for claim in source.claims.values()]
    unchecked = [one for source in all_sources for one in source.not_checked]
    heads = (*STATUSES, "not decidable here")
    lines = [_HEAD, f"| source | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for source in all_sources:
        numbers = counts(source.claims.values(), source.not_checked)
        name = f"[{source.key}]({file_of(source)})"
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    total = " | ".join(map(str, counts(claims, unchecked)))
    lines += [f"| all | {total} |", "", _evidence(claims), "", *_refuted(all_sources), _MEANING]
    return "\n".join([*lines, "## Sources", "", *_references(all_sources)])


def numbers(all_sources: Sequence[Source]) -> str:
    """Return the truth in numbers, in a paragraph, for the page of findings."""
    claims = [c for source in all_sources for c in source.claims.values() if is_of_paper(c)]
    holds, false, misprint, ambiguous, open_, left = counts(
        claims, [one for source in all_sources for one in source.not_checked]
    )
    mended = sum(claim.status == FALSE and bool(claim.corrections) for claim in claims)
    also = " and" if mended == false else f", and {mended} of these with"
    own = sum(len(source.claims) for source in all_sources) - len(claims)
    lines = sum(len(source.lines) for source in all_sources)
    return (
        f"{len(all_sources)} papers and lectures, {len(claims) + left} statements: theorems, "
        f"displays, steps of proofs, remarks. **{holds} hold**. As stated **{false} are false**, "
        f"each with a counterexample{also} what is true instead. {misprint} "
        f"are misprints whose meaning is plain, {ambiguous} are ambiguous, {open_} are open, and "
        f"{left} cannot be decided by computing. The index counts {own} more, which this package "
        f"adds. “Line by line”, on their pages, has the claims about each of {lines} lines."
    )


def is_of_paper(claim: Claim) -> bool:
    """Return whether a claim is a statement of its source, and not one that this package adds."""
    return claim.page != OWN


def renewed(text: str, all_sources: Sequence[Source]) -> str:
    """Return the page of findings with the numbers of the registry."""
    start, end = _NUMBERS
    if text.count(start) != 1 or text.count(end) != 1:
        raise InputError(f"the page of findings needs the lines {start.strip()} and {end.strip()}")
    head, _, rest = text.partition(start)
    _, _, tail = rest.partition(end)
    wrapped = textwrap.fill(numbers(all_sources), 120, break_on_hyphens=False)
    return f"{head}{start}{wrapped}\n{end}{tail}"


def _evidence(claims: Iterable[Claim]) -> str:
    """Return how many verdicts rest on what; corrections count as verdicts of their own."""
    kinds = [claim.evidence(statement) for claim in claims for statement in claim.statements]
    numbers = ", ".join(
        f"{kinds.count(kind)} on {words}"
        for kind, words in (
            (COUNTEREXAMPLE, "counterexamples"),
            (PROOF, "proofs"),
            (WORST, "worst cases"),
            (EXACT, "the enumeration of all instances"),
            (INSTANCES, "instances tried"),
        )
        if kind in kinds
    )
    worst = sum(
        any(isinstance(step.every, WorstCases) for step in statement.steps)
        for claim in claims
        for statement in claim.statements
    )
    return (
        f"With the corrections that is {len(kinds)} verdicts: {numbers}. Of {worst} the worst case "
        "over all instances is proved as well, for some parameters."
    )


def _refuted(all_sources: Sequence[Source]) -> list[str]:
    """Return what is refuted as stated, by source and status."""
    lines = []
    for source in all_sources:
        parts = []
        for status in (FALSE, MISPRINT, AMBIGUOUS):
            chosen = [claim for claim in source.claims.values() if claim.status == status]
            ids = ", ".join(f"[{c.id}]({file_of(source)}#{anchor(c.id)})" for c in chosen)
            parts += [f"{status}: {ids}"] * bool(ids)
        if parts:
            lines += [f"{source.key}, {'; '.join(parts)}.", ""]
    return lines


def _references(all_sources: Sequence[Source]) -> list[str]:
    return [
        f"* [{source.key}]({file_of(source)}): {as_markdown(source.reference).rstrip('.')}."
        for source in all_sources
    ] + [""]


def pages(all_sources: Sequence[Source], record: measuring.Record) -> dict[str, str]:
    """Return the pages, from their names below the folder of pages."""
    found = {file_of(source): page(source, record) for source in all_sources}
    return {"index.md": index(all_sources), **found}


def write(folder: Path | str, patterns: Sequence[str] = ()) -> list[Path]:
    """Check claims, and write what they rest on, the pages and the pictures.

    Parameters
    ----------
    folder : path
        Of the documentation.
    patterns : sequence of str
        Ids of the claims to check, all by default. Of the others what is on file is kept.

    Returns
    -------
    list of Path
        The files written. Pages and pictures of what is no longer there are removed.

    Raises
    ------
    InputError
        If there is no such folder, a check ends in an error, or something was never measured.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"no folder {folder}; give the one of the documentation, docs")
    claims = [claim for source in sources() for claim in source.claims.values()]
    images, texts = folder / PICTURES, folder / FOLDER
    for made in (images, texts):
        made.mkdir(parents=True, exist_ok=True)
    verdicts, written = _checked(select(list(patterns), claims), images)
    record = measuring.kept(claims) if patterns else {}
    record = {**record, **measuring.measure(verdicts)}
    new = pages(sources(), record)  # which fails where something was not measured
    written.append(measuring.write(record))
    for name, text in new.items():
        write_atomically(texts / name, text.encode())
        written.append(texts / name)
    findings = folder / FINDINGS
    if findings.exists():
        text = renewed(findings.read_text(encoding="utf-8"), sources())
        write_atomically(findings, text.encode())
        written.append(findings)
    there = {*written, *(images / f"{claim.id}.svg" for claim in claims if claim.counterexamples)}
    for old in {*images.glob("*.svg"), *texts.glob("*.md")} - there:
        old.unlink()
    _complain(verdicts)
    return written


def _checked(claims: Sequence[Claim], images: Path) -> tuple[list[ClaimVerdict], list[Path]]:
    """Check claims and draw those that are refuted; return the verdicts and the pictures."""
    check_drawing()
    from relaxboost.claims.publishing.pictures import picture, svg

    verdicts, written = [], []
    for claim, outcome in check_all(claims, seed=measuring.SEED):
        if isinstance(outcome, Failure):
            raise InputError(f"no pages are written: {outcome}")
        if outcome.interrupted:
            break
        verdicts.append(outcome)
        if claim.counterexamples:
            written.append(_draw(images, claim, svg(picture(claim, outcome), claim.id)))
    if len(verdicts) < len(claims):
        done = f"{len(verdicts)} of {number_of(len(claims), 'claim')}"
        raise InputError(f"no pages are written: interrupted after {done}; start again")
    return verdicts, written


def _draw(folder: Path, claim: Claim, content: bytes) -> Path:
    write_atomically(folder / f"{claim.id}.svg", content)
    return folder / f"{claim.id}.svg"


def _complain(verdicts: Iterable[ClaimVerdict]) -> None:
    """Refuse verdicts that are not those on record."""
    other = [str(verdict) for verdict in verdicts if not verdict.agrees]
    if other:
        raise InputError("the pages are written, but not as recorded:\n" + "\n".join(other))


def main() -> None:
    """Write the pages and their pictures below the folder given."""
    if len(sys.argv) < 2:
        sys.exit(
            "usage: python -m relaxboost.claims.publishing.ledger FOLDER [ID]..., e.g. docs 'TEL-*'"
        )
    for path in write(sys.argv[1], sys.argv[2:]):
        print(path)


if __name__ == "__main__":
    main()
