"""The page of all claims, docs/claims.md, made from the registry; ``make claims`` runs it.

``python -m relaxboost.claims.publishing.ledger docs`` writes the page and, for the claims that
fail as stated, the pictures.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from relaxboost._core.errors import InputError
from relaxboost._core.files import write_atomically
from relaxboost.claims.claim import Claim, Source
from relaxboost.claims.measure import HOLDS, REFUTED
from relaxboost.claims.publishing.prose import as_markdown, columns, formula, measured, paragraphs
from relaxboost.claims.record import AMBIGUOUS, FALSE, MISPRINT, OPEN, Statement, Unchecked
from relaxboost.claims.registry import all as built_in
from relaxboost.claims.registry import sources

PAGE, PICTURES = "claims.md", "images/claims"
"""Where the page and the pictures are, below the folder of the documentation."""

_STATUSES = (HOLDS, FALSE, MISPRINT, AMBIGUOUS, OPEN)

_TRIALS, _SEED = 60, 0
"""Of the checks that are drawn."""

_HEAD = """\
# Claims

<!-- made by `make claims` from relaxboost/claims/; edit the claims, not this page -->

What the literature states, each with a check that anyone can run, and what came of it. A claim
is *false as stated* where an instance on record refutes it; where there is a correction, that
holds on the same instances. *Holds* means that no instance tried refutes it
([what a verdict says](checking-claims.md#what-a-verdict-says)).

```
relaxboost claims check 'SS09-*'      # repeat the checks of a source
relaxboost claims attack SS09-T9      # search for a counterexample, and shrink it
```
"""


def page(claims: Iterable[Claim], not_checked: Iterable[Unchecked] = ()) -> str:
    """Return the page: for every source a table of its claims, then each with its evidence.

    Parameters
    ----------
    claims : iterable of Claim
        In the order in which they are listed.
    not_checked : iterable of Unchecked
        Of the same sources.
    """
    claims, left = list(claims), list(not_checked)
    counts = (f"{s}: {sum(claim.status == s for claim in claims)}" for s in _STATUSES)
    totals = f"Claims: {len(claims)} ({', '.join(counts)}). Statements not checked: {len(left)}.\n"
    groups = [
        (
            source,
            [claim for claim in claims if claim.source is source],
            [one for one in left if one.id.startswith(f"{source.key}-")],
        )
        for source in dict.fromkeys(claim.source for claim in claims)
    ]
    return "\n".join([_HEAD, totals, _overview(groups), *(_source(*group) for group in groups)])


def write(folder: Path | str) -> list[Path]:
    """Write the page and its pictures below the folder of the documentation.

    Returns
    -------
    list of Path
        The files written. Pictures of claims that are no longer there are removed.
    """
    from relaxboost.claims.publishing.pictures import picture, svg

    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"no folder {folder}; give the one of the documentation, docs")
    claims = built_in()
    images = folder / PICTURES
    images.mkdir(parents=True, exist_ok=True)
    written = [folder / PAGE]
    for claim in (claim for claim in claims if claim.counterexamples):
        figure = picture(claim, claim.check(min(_TRIALS, claim.trials), _SEED))
        written.append(images / f"{claim.id}.svg")
        write_atomically(written[-1], svg(figure, claim.id))
    for old in set(images.glob("*.svg")) - set(written):
        old.unlink()
    not_checked = [one for source in sources() for one in source.not_checked]
    write_atomically(written[0], page(claims, not_checked).encode())
    return written


def _overview(groups: list[tuple[Source, list[Claim], list[Unchecked]]]) -> str:
    """Return how the claims of each source fare, and which are refuted as stated."""
    lines = [f"| source | {' | '.join(_STATUSES)} | not checked |"]
    lines += ["|---|" + "---|" * (len(_STATUSES) + 1)]
    wrong = []
    for source, own, unchecked in groups:
        counts = [sum(claim.status == status for claim in own) for status in _STATUSES]
        counts.append(len(unchecked))
        lines.append(f"| {_link(source.key)} | {' | '.join(map(str, counts))} |")
        failing = ", ".join(_link(claim.id) for claim in own if claim.counterexamples)
        if failing:
            wrong += [f"Refuted as stated: {failing}.", ""]
    return "\n".join([*lines, "", *wrong])


def _source(source: Source, claims: list[Claim], not_checked: list[Unchecked]) -> str:
    lines = [f"## {source.key}", "", as_markdown(source.reference).rstrip(".") + ".", ""]
    lines += ["| claim | where | statement | status |", "|---|---|---|---|"]
    for claim in claims:
        cells = [as_markdown(text, cell=True) for text in (claim.location, claim.stated.words)]
        lines.append(f"| {_link(claim.id)} | {cells[0]} | {cells[1]} | {claim.status} |")
    if not_checked:
        lines += [
            "",
            "Not checked:",
            "",
            "| id | where | statement | reason |",
            "|---|---|---|---|",
        ]
        for one in not_checked:
            texts = (one.id, one.location, one.words, one.reason)
            lines.append(f"| {' | '.join(as_markdown(text, cell=True) for text in texts)} |")
    lines += _lines(source)
    return "\n".join([*lines, "", *(_claim(claim) for claim in claims)])


def _lines(source: Source) -> list[str]:
    """Return the table of what the source says, line by line, and the claims about it."""
    if not source.lines:
        return []
    rows = ["", "Line by line:", "", "| where | what it says | claims, or why none |"]
    rows.append("|---|---|---|")
    unchecked = {one.id for one in source.not_checked}
    for line in source.lines:
        ids = ", ".join(id if id in unchecked else _link(id) for id in line.ids)
        texts = [as_markdown(text, cell=True) for text in (line.place, line.words, line.reason)]
        rows.append(f"| {texts[0]} | {texts[1]} | {'. '.join(filter(None, (ids, texts[2])))} |")
    return rows


def _link(id: str) -> str:
    """Return a link to the section of a claim, whose heading is its id."""
    anchor = "".join(c for c in id.lower() if c.isalnum() or c in "-_")
    return f"[{id}](#{anchor})"


def _claim(claim: Claim) -> str:
    lines = [f"### {claim.id}", "", f"**{as_markdown(claim.location)}**: {claim.status}.", ""]
    lines += [*_statement(claim.stated), ""]
    if claim.given:
        lines += [f"Given: {as_markdown(claim.given).rstrip('.')}.", ""]
    lines += _note(claim.stated)
    for number, written in enumerate(claim.counterexamples, 1):
        evidence = claim.examine(claim.stated, claim.space.from_json(written), f"number {number}")
        if evidence is None or evidence.outcome != REFUTED:
            raise InputError(f"counterexample {number} of {claim.id} does not refute it")
        lines += [f"Refuted by: {formula(measured(evidence.slack))}", ""]
        lines += ["```", columns(evidence.instance), "```", ""]
    for correction in claim.corrections:
        words, *rest = _statement(correction)
        lines += [f"**Corrected:** {words}", *rest, "", *_note(correction)]
    file, _, _ = claim.stated.code.rpartition(":")  # lines move, files seldom do
    lines += [f"Check: `{file}`.", ""]
    if claim.counterexamples:
        words = "the two sides, the slack of every instance, and the counterexample"
        lines += [f"![{claim.id}: {words}]({PICTURES}/{claim.id}.svg)", ""]
    return "\n".join(lines)


def _statement(statement: Statement) -> list[str]:
    lines = [as_markdown(statement.words)]
    if statement.formula:
        lines += ["", formula(statement.formula)]
    return lines


def _note(statement: Statement) -> list[str]:
    return [line for part in paragraphs(statement.note) for line in (as_markdown(part), "")]


def main() -> None:
    """Write the page and its pictures below the folder given."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m relaxboost.claims.publishing.ledger FOLDER, e.g. docs")
    for path in write(sys.argv[1]):
        print(path)


if __name__ == "__main__":
    main()
