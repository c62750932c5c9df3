"""The pages of the documentation that are generated from the registry of claims.

``make docs`` calls `built`, which returns the pages and the pictures. They are not stored in the
repository. ``make claims`` runs ``python -m docs.hooks.claim_pages.ledger docs``, which
updates the numbers on the page of findings.
"""

import sys
import textwrap
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from relaxboost._core.errors import InputError
from relaxboost._core.files import write_atomically
from relaxboost.claims.claim import Claim
from relaxboost.claims.record import EVIDENCE, FALSE
from relaxboost.claims.registry import sources
from relaxboost.claims.source import Source

from .pages import OWN, PICTURES, STATUSES, UNDECIDABLE, counts, file_of, pages, title_of
from .pictures import sides, svg

FOLDER, FINDINGS = "claims", "findings.md"
"""The folder of the generated pages, and the page of findings, in the documentation."""

_NUMBERS = "<!-- numbers -->\n", "<!-- end -->"
"""The two lines that enclose the numbers on the page of findings."""

_HEAD = """\
# Claims

Before you use or cite a theorem about boosting, look up here whether it is true as printed. A
*claim* is a statement of a paper or lecture, usually together with a check that anyone can run.
Most verdicts rest on a proof or a counterexample, and a few rest only on many instances. The claims
in the last column of the table have no check, because no computation can settle them.
[What we found in the papers](../findings.md) describes the most important errors. The table counts
the verdicts of each source:
"""

_MEANING = """\
## How to read a verdict

Every claim has one of these statuses:

* *holds*: the statement is true as printed, as far as its evidence goes.
* *false as stated*: a recorded counterexample refutes the printed statement.
* *misprint*: the printed statement is false, but its intended meaning is plain and holds.
* *ambiguous*: the printed statement has several readings, and a counterexample refutes one.
* *open*: no counterexample and no proof is known.
* *not checkable*: no computation can settle the statement.

The brackets after a status name the evidence:

* *counterexample*: an instance, that is, one choice of the data of the statement, violates it.
* *proof*: the page has a written proof. No program verified the proof as a whole, but each of its
  steps was checked numerically on instances.
* *exact*: the space of instances is finite, and all of them were checked.
* *instances*: random and structured instances were checked. That is evidence, and not a proof.
* *worst case*: for some values of the parameters, a semidefinite program gives the worst case over
  all instances of any dimension, and its dual solution proves it in exact numbers.

On the command line, you can read a claim, repeat its check, or look for another counterexample:

```
relaxboost claims show SS09-T9        # show a claim in full
relaxboost claims check 'SS09-*'      # repeat the checks of a source
relaxboost claims attack SS09-T9      # search for a small counterexample
```

[Checking a claim](../checking-claims.md) explains how a check decides, and
[Write a claim](../own_claim.md) how to write your own.
"""


def index(all_sources: Sequence[Source]) -> str:
    """Return the overview page, which counts the statements of all sources by their status."""
    claims = [claim for source in all_sources for claim in source.claims.values()]
    unchecked = [one for source in all_sources for one in source.not_checked]
    heads = ("source", *STATUSES, UNDECIDABLE)
    lines = [_HEAD, f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for source in all_sources:
        numbers = counts(source.claims.values(), source.not_checked)
        shown = " | ".join(str(number or "–") for number in numbers)
        lines.append(f"| [{title_of(source)}]({file_of(source)}) | {shown} |")
    lines.append(f"| all | {' | '.join(map(str, counts(claims, unchecked)))} |")
    more = sum(len(source.misprints) for source in all_sources) - counts(claims, unchecked)[2]
    own = sum(claim.page == OWN for claim in claims)
    errata = (
        f"The errata of the sources list {more} more misprints without a check. "
        f"The table includes {own} claims that we added, which the page of findings does not count."
    )
    return "\n".join([*lines, "", errata, _evidence(claims), "", _MEANING])


def _evidence(claims: Sequence[Claim]) -> str:
    kinds = [claim.evidence(one) for claim in claims for one in claim.statements]
    first, proof, worst, exact, rest = map(kinds.count, EVIDENCE)
    counted = [
        f"{first} rest on a counterexample",
        f"{proof} on a proof",
        *([f"{worst} on a worst case alone"] if worst else []),
        f"{exact} on an exact enumeration",
    ]
    return (
        "Corrections and other readings of claims have their own verdicts. Of all "
        f"{len(kinds)} verdicts, {', '.join(counted)} and {rest} on instances."
    )


def numbers(all_sources: Sequence[Source]) -> str:
    """Return a paragraph that counts the statements by status, for the page of findings."""
    claims = [c for source in all_sources for c in source.claims.values() if c.page != OWN]
    holds, false, misprint, ambiguous, open_, left = counts(
        claims, [one for source in all_sources for one in source.not_checked]
    )
    corrected = sum(claim.status == FALSE and bool(claim.corrections) for claim in claims)
    rows = sum(len(source.misprints) for source in all_sources)
    statements = len(claims) + left + rows - misprint
    plain = rows - misprint
    each = "Each false statement has a counterexample"
    instead = " and" if corrected == false else f", and {corrected} of them have"
    return (
        f"We read {statements} statements of {len(all_sources)} papers and lectures: theorems, "
        f"formulas, steps of proofs and remarks. Programs checked {len(claims)} of them: "
        f"**{holds} hold**, **{false} are false** as stated, {ambiguous} are ambiguous, {misprint} "
        f"are misprints and {open_} are open. {each}{instead} a corrected statement that is true. "
        f"Of the other {left + plain}, {plain} are misprints that need no program, and {left} are "
        "statements that no computation can decide."
    )


def renewed(text: str, all_sources: Sequence[Source]) -> str:
    """Return the text of the page of findings after its numbers have been updated."""
    start, end = _NUMBERS
    if text.count(start) != 1 or text.count(end) != 1:
        raise InputError(
            f"the page of findings must have one line {start.strip()} and one line {end.strip()}, "
            "which enclose the numbers"
        )
    head, _, rest = text.partition(start)
    _, _, tail = rest.partition(end)
    wrapped = textwrap.fill(numbers(all_sources), 120, break_on_hyphens=False)
    return f"{head}{start}{wrapped}\n{end}{tail}"


def built(pictures: bool = True) -> dict[str, bytes]:
    """Return the contents of all generated pages and pictures as a mapping from paths to bytes."""
    found = {"index.md": index(sources())}
    for source in sources():
        found |= pages(source)
    files = {f"{FOLDER}/{name}": text.encode() for name, text in found.items()}
    for claim in chain.from_iterable(source.claims.values() for source in sources()):
        if claim.counterexamples and pictures:
            files[f"{PICTURES}/{claim.id}.svg"] = svg(sides(claim.refutation()), claim.id)
    return files


def main() -> None:
    """Update the numbers on the page of findings in the folder given on the command line."""
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: python -m docs.hooks.claim_pages.ledger FOLDER, e.g. docs")
    findings = Path(sys.argv[1]) / FINDINGS
    text = renewed(findings.read_text(encoding="utf-8"), sources())
    write_atomically(findings, text.encode())


if __name__ == "__main__":
    main()
