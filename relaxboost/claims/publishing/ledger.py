"""The pages of the documentation that are generated from the registry of claims.

``make docs`` calls `built`, which returns the pages and the pictures. They are not stored in the
repository. ``make claims`` runs ``python -m relaxboost.claims.publishing.ledger docs``, which
updates the numbers on the page of findings.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from relaxboost._core.errors import InputError
from relaxboost._core.files import write_atomically
from relaxboost.claims.claim import Claim
from relaxboost.claims.publishing.entry import refutation
from relaxboost.claims.publishing.pages import PICTURES, STATUSES, counts, file_of, pages
from relaxboost.claims.record import COUNTEREXAMPLE, EXACT, FALSE, INSTANCES, PROOF, WORST
from relaxboost.claims.registry import sources
from relaxboost.claims.source import Source

FOLDER, FINDINGS = "claims", "findings.md"
"""The folder of the generated pages, and the page with updated numbers, within the
documentation."""

_NUMBERS = "<!-- numbers -->\n", "<!-- end -->"
"""The two lines that enclose the numbers on the page of findings."""

OWN = "not in the paper"
"""The entry `page` of claims that this package adds to a paper."""

_HEAD = """\
# Claims

What the literature states, each statement with a check that anyone can run, and its verdict.
In a hurry: [what we found in the papers](../findings.md), in five minutes.
"""

_MEANING = """\
## How to read a verdict

* *holds*: nothing refutes it.
* *false as stated*: a counterexample on record refutes what is printed.
* *misprint*: false as printed, but the meaning is plain, and holds.
* *ambiguous*: it has several readings; each has its verdict.
* *open*: nothing refutes it, and neither we nor the paper know a proof.
* *not decidable here*: no computation settles it; the reason is given.

In brackets follows what the verdict rests on:

* *counterexample*: one instance in short numbers, with both sides of the inequality.
* *proof*: each step stands on the page and is checked on instances of its own.
* *worst case*: for some parameters, a semidefinite program gives the worst case over all
  instances of any dimension, and its dual proves it in exact numbers.
* *exact*: all instances of a finite space were tried.
* *instances*: random and structured instances were tried, which is evidence and no proof.

Each source has a page with its results and errors. Longer sources have a second page with every
claim, its proof and its counterexamples.

```
relaxboost claims show SS09-T9        # a claim in full
relaxboost claims check 'SS09-*'      # repeat the checks of a source
relaxboost claims attack SS09-T9      # search for a counterexample, and shrink it
```

[Checking a claim](../checking-claims.md) has the details, and claims of your own.
"""


def index(all_sources: Sequence[Source]) -> str:
    """Return the overview page: a table of statements by status, and the meaning of a verdict."""
    claims = [claim for source in all_sources for claim in source.claims.values()]
    unchecked = [one for source in all_sources for one in source.not_checked]
    heads = ("source", *STATUSES, "not decidable here")
    lines = [_HEAD, f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for source in all_sources:
        numbers = counts(source.claims.values(), source.not_checked)
        lines.append(f"| [{source.key}]({file_of(source)}) | {' | '.join(map(str, numbers))} |")
    lines.append(f"| all | {' | '.join(map(str, counts(claims, unchecked)))} |")
    return "\n".join([*lines, "", _evidence(claims), "", _MEANING])


def _evidence(claims: Iterable[Claim]) -> str:
    """Return a sentence with the number of verdicts for each type of evidence.

    A correction has its own verdict, which counts separately.
    """
    kinds = [claim.evidence(statement) for claim in claims for statement in claim.statements]
    names = (COUNTEREXAMPLE, PROOF, WORST, EXACT, INSTANCES)
    rests = ", ".join(f"{kinds.count(kind)} {kind}" for kind in names if kind in kinds)
    return f"With the corrections there are {len(kinds)} verdicts. They rest on: {rests}."


def numbers(all_sources: Sequence[Source]) -> str:
    """Return a paragraph with the numbers of statements by status, for the page of findings."""
    claims = [c for source in all_sources for c in source.claims.values() if c.page != OWN]
    holds, false, misprint, ambiguous, open_, left = counts(
        claims, [one for source in all_sources for one in source.not_checked]
    )
    mended = sum(claim.status == FALSE and bool(claim.corrections) for claim in claims)
    also = " and" if mended == false else f", and {mended} of these with"
    own = sum(len(source.claims) for source in all_sources) - len(claims)
    lines = sum(len(source.lines) for source in all_sources)
    rows = sum(len(source.misprints) for source in all_sources)
    statements = len(claims) + left + rows - misprint
    return (
        f"{len(all_sources)} papers and lectures, {statements} statements: theorems, "
        f"displays, steps of proofs, remarks. **{holds} hold**. As stated **{false} are false**, "
        f"each with a counterexample{also} what is true instead. {rows} "
        f"are misprints whose meaning is plain, {ambiguous} are ambiguous, {open_} are open, and "
        f"{left} cannot be decided by computing. The index counts {own} more, which this package "
        f"adds. “Line by line”, on their pages, has the claims about each of {lines} lines."
    )


def renewed(text: str, all_sources: Sequence[Source]) -> str:
    """Return the text of the page of findings, with updated numbers."""
    start, end = _NUMBERS
    if text.count(start) != 1 or text.count(end) != 1:
        raise InputError(f"the page of findings needs the lines {start.strip()} and {end.strip()}")
    head, _, rest = text.partition(start)
    _, _, tail = rest.partition(end)
    wrapped = textwrap.fill(numbers(all_sources), 120, break_on_hyphens=False)
    return f"{head}{start}{wrapped}\n{end}{tail}"


def built(pictures: bool = True) -> dict[str, bytes]:
    """Return the contents of all generated pages and pictures, by their paths."""
    found = {"index.md": index(sources())}
    for source in sources():
        found |= pages(source)
    files = {f"{FOLDER}/{name}": text.encode() for name, text in found.items()}
    for claim in chain.from_iterable(source.claims.values() for source in sources()):
        if claim.counterexamples and pictures:
            from relaxboost.claims.publishing.pictures import sides, svg

            files[f"{PICTURES}/{claim.id}.svg"] = svg(sides(refutation(claim)), claim.id)
    return files


def main() -> None:
    """Update the numbers on the page of findings in the given folder."""
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: python -m relaxboost.claims.publishing.ledger FOLDER, e.g. docs")
    findings = Path(sys.argv[1]) / FINDINGS
    text = renewed(findings.read_text(encoding="utf-8"), sources())
    write_atomically(findings, text.encode())


if __name__ == "__main__":
    main()
