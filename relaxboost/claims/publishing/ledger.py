"""The record of all claims, and the pages that the documentation makes from it.

``python -m relaxboost.claims.publishing.ledger docs``, which ``make claims`` runs, checks every
claim, keeps what the verdicts rest on in measured.json, and renews the numbers on the page of
findings. With patterns of ids after the folder those alone are checked. `built` returns the pages
and the pictures of claims for ``make docs``; none of them is kept in the repository.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from relaxboost._core.errors import InputError, check_drawing, number_of
from relaxboost._core.files import write_atomically
from relaxboost.claims.claim import Claim
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
from relaxboost.claims.source import Source
from relaxboost.claims.verdict import ClaimVerdict

FOLDER, FINDINGS = "claims", "findings.md"
"""Where the pages are, and the page whose numbers are renewed, below the documentation."""

_NUMBERS = "<!-- numbers -->\n", "<!-- end -->"
"""What the numbers on the page of findings stand between."""

_DRAWN = 20
"""Instances of a claim in its picture."""

_HEAD = """\
# Claims

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


def built(pictures: bool = True) -> dict[str, bytes]:
    """Return the pages and the pictures of all claims, by their paths in the documentation."""
    found = pages(sources(), measuring.on_file())
    files = {f"{FOLDER}/{name}": text.encode() for name, text in found.items()}
    claims = [claim for source in sources() for claim in source.claims.values()]
    refuted = [claim for claim in claims if claim.counterexamples and pictures]
    if refuted:
        check_drawing()
    for claim, verdict in _verdicts(refuted, _DRAWN):
        from relaxboost.claims.publishing.pictures import picture, svg

        files[f"{PICTURES}/{claim.id}.svg"] = svg(picture(claim, verdict), claim.id)
    return files


def write(folder: Path | str, patterns: Sequence[str] = ()) -> list[Path]:
    """Check claims, write what they rest on, and renew the numbers on the page of findings.

    Parameters
    ----------
    folder : path
        Of the documentation.
    patterns : sequence of str
        Ids of the claims to check, all by default. Of the others what is on file is kept.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError
        If there is no such folder, a check ends in an error, or something was never measured.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"no folder {folder}; give the one of the documentation, docs")
    claims = [claim for source in sources() for claim in source.claims.values()]
    verdicts = [verdict for _, verdict in _verdicts(select(list(patterns), claims))]
    record = measuring.kept(claims) if patterns else {}
    record = {**record, **measuring.measure(verdicts)}
    pages(sources(), record)  # which fails where something was not measured
    written = [measuring.write(record)]
    findings = folder / FINDINGS
    if findings.exists():
        text = renewed(findings.read_text(encoding="utf-8"), sources())
        write_atomically(findings, text.encode())
        written.append(findings)
    _complain(verdicts)
    return written


def _verdicts(
    claims: Sequence[Claim], trials: int | None = None
) -> Iterator[tuple[Claim, ClaimVerdict]]:
    """Check claims, all of them or none."""
    done = 0
    for claim, outcome in check_all(claims, trials, seed=measuring.SEED):
        if isinstance(outcome, Failure):
            raise InputError(f"nothing is written: {outcome}")
        if outcome.interrupted:
            break
        yield claim, outcome
        done += 1
    if done < len(claims):
        raise InputError(
            f"nothing is written: interrupted after {done} of {number_of(len(claims), 'claim')}; "
            "start again"
        )


def _complain(verdicts: Iterable[ClaimVerdict]) -> None:
    """Refuse verdicts that are not those on record."""
    other = [str(verdict) for verdict in verdicts if not verdict.agrees]
    if other:
        raise InputError("the record is written, but not as recorded:\n" + "\n".join(other))


def main() -> None:
    """Renew the record, and the page of findings in the folder given."""
    if len(sys.argv) < 2:
        sys.exit(
            "usage: python -m relaxboost.claims.publishing.ledger FOLDER [ID]..., e.g. docs 'TEL-*'"
        )
    for path in write(sys.argv[1], sys.argv[2:]):
        print(path)


if __name__ == "__main__":
    main()
