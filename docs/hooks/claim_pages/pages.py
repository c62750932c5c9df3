"""The pages about a source: one with results and errata, and one with all claims and proofs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from relaxboost.claims.claim import Claim
from relaxboost.claims.measure import HOLDS
from relaxboost.claims.record import AMBIGUOUS, FALSE, MISPRINT, OPEN, Unchecked, reading
from relaxboost.claims.registry import sources
from relaxboost.claims.source import DISPLAYS, Source

from .entry import parts, verdict
from .prose import as_html, as_markdown, paragraphs

PICTURES = "images/claims"
"""The folder of the pictures, relative to the folder of the documentation."""

STATUSES = (HOLDS, FALSE, MISPRINT, AMBIGUOUS, OPEN)
"""The recorded statuses, in the order of the columns of the tables."""

UNDECIDABLE = "not checkable"
"""The status that pages print for statements that no computation can decide."""

_OTHERS = {
    FALSE: "Other statements that are false as stated (in proofs, remarks and formulas)",
    MISPRINT: "Other statements with a misprint",
    AMBIGUOUS: "Other statements that are ambiguous",
    OPEN: "Open statements",
    HOLDS: "Other statements that hold",
    UNDECIDABLE: "Not checkable",
}
"""For each status, the text that introduces the list of statements that are not results."""

OWN = "not in the paper"
"""The value of `Claim.page` for claims that this package adds to a paper."""

MAX_DETAILED_CLAIMS = 10
"""The maximum number of claims whose details stand on the first page of a source, together with the
overview. If a source has more claims, the details are on a second page."""

_NOTATION = "<summary><b>Notation</b></summary>"
"""The line that a reader clicks to see the notation of a source."""

_PROOF = "Proof."
"""The word with which the proof in a note begins."""

_HEAD = "The [page about all sources](index.md) explains the verdicts, and how to repeat a check.\n"

_NAME = re.compile(r"(`+)(.+?)\1|(?<![\w/-])[A-Z][\w.]*(?:-\w[\w.]*)*(?:-\w+|\d\w*|\w)(?![\w-])")
"""Text that may be the name of a claim: code, or a word that starts with a capital."""


def file_of(source: Source) -> str:
    """Return the file name of the first page of a source."""
    return f"{source.key.lower()}.md"


def details_of(source: Source) -> str:
    """Return the file name of the page on which each claim of a source has a section."""
    few = len(source.claims) <= MAX_DETAILED_CLAIMS
    return file_of(source) if few else f"{source.key.lower()}-details.md"


def title_of(source: Source) -> str:
    """Return the authors, year and key of a source, or only the key if it names no authors."""
    dated = re.match(r"(.+?) \((\d{4})\)", source.reference)
    authors, year = dated.groups() if dated else (source.reference.partition(",")[0], "")
    names = [re.sub(r"^(?:[A-Z]\. )+", "", name) for name in re.split(", | and ", authors)]
    if " ".join(names) == " ".join(re.split(", | and ", authors)):  # no initials, so no authors
        return source.key
    together = " & ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return " ".join(filter(None, (together, year, f"({source.key})")))


def anchor(id: str) -> str:
    """Return the HTML anchor of the section of a claim."""
    return "".join(c for c in id.lower() if c.isalnum() or c in "-_")


def counts(claims: Iterable[Claim], unchecked: Sequence[Unchecked]) -> list[int]:
    """Return how many claims have each status, and how many statements are undecidable."""
    statuses = [claim.status for claim in claims]
    return [*map(statuses.count, STATUSES), len(unchecked)]


def pages(source: Source) -> dict[str, str]:
    """Return the pages of a source as a mapping from file name to text."""
    first, details = "\n".join(_front(source)), "\n".join(_details(source))
    if details_of(source) == file_of(source):
        return {file_of(source): f"{first}\n{details}"}
    front = file_of(source)
    letters = f"[notation]({front}#notation), " if source.notation else ""
    title = (
        f"# {as_markdown(title_of(source))}: details\n\n"
        "This page is for readers who want to see why a verdict is right. It has a section for "
        "each claim about the source. A section begins with the statement in words, and with its "
        "[verdict](index.md). If the statement is not true as printed, the corrected statement "
        "comes next. Then follow the place in the source, the formula and the conditions.\n\n"
        "The rest of a section gives the reasons. A true statement has a proof. A false statement "
        "has an *instance* on which it fails, a picture of the two sides of the printed relation, "
        "the reason why it is false, and the proof of the corrected statement. Click on *Proof* "
        "to unfold a proof. A numbered list after a proof contains its steps, and a program "
        "checked each step on many instances. "
        f"See {letters}[results and errata]({front}).\n"
    )
    return {file_of(source): first, details_of(source): f"{title}\n{details}"}


def _front(source: Source) -> Iterator[str]:
    claims = [*source.claims.values()]
    found = zip(counts(claims, source.not_checked), (*STATUSES, UNDECIDABLE), strict=True)
    total = ", ".join(f"{status} ({number})" for number, status in found if number)
    number = len(claims) + len(source.not_checked)
    reference = as_markdown(source.reference).rstrip(".")
    yield from (f"# {as_markdown(title_of(source))}", "", f"{reference}.", "")
    yield from (
        "Read this page before you use or cite this source. It says which statements are true as "
        f"printed, and how to correct the others. It has verdicts on {number} statements: {total}.",
        _HEAD,
    )
    if source.notation:
        # The text is folded, so that the results are on the first screen.
        yield from ('<details id="notation" markdown="1">', _NOTATION, "")
        for text in paragraphs(source.notation):
            yield from (as_markdown(text), "")
        yield from ("</details>", "")
    if details_of(source) != file_of(source):
        # Readers come for the statements that are not true as printed.
        results = [claim for claim in claims if not claim.part_of]
        yield from _results("not true as printed", (one for one in results if one.status != HOLDS))
        yield from _results("that hold", (one for one in results if one.status == HOLDS))
    yield from _others(source)
    if source.misprints:
        yield from ("## Errata", "", *_errata(source), "")


def _results(kind: str, claims: Iterable[Claim]) -> Iterator[str]:
    rows = [_row(claim) for claim in claims]
    if rows:
        yield from (f"## Results {kind}", "", "| result | verdict | statement |", "|---|---|---|")
        yield from (*rows, "")


def _others(source: Source) -> Iterator[str]:
    # A page with all details has the words of each statement further below.
    is_alone = details_of(source) == file_of(source)
    found: dict[str, list[tuple[str, str]]] = {status: [] for status in _OTHERS}
    for claim in source.claims.values():
        if claim.part_of and claim.status in found:
            words = claim.stated.words
            if claim.page == OWN:
                words += " (We added this statement.)"
            found[claim.status].append((claim.id, words))
    found[UNDECIDABLE] = [(one.id, one.words) for one in source.not_checked]
    for status, statements in found.items():
        if statements and is_alone:
            links = ", ".join(_link(source, id) for id, _ in statements)
            yield from (f"{_OTHERS[status]}: {links}.", "")
        elif statements:
            yield from (f"{_OTHERS[status]}:", "")
            yield from (f"* {_link(source, id)}: {as_markdown(words)}" for id, words in statements)
            yield ""


def _details(source: Source) -> Iterator[str]:
    proved: dict[str, str] = {}
    for claim in source.claims.values():
        if not claim.part_of:
            found = f"**Statement ({_found(claim)}):** {as_markdown(claim.stated.words)}"
            where = f"{as_markdown(claim.location)} ({claim.id})"
            yield from (f"## {where} {{#{anchor(claim.id)}}}", "", found)
            yield from _markdown(claim, proved)
            yield from _folded(source, claim.id.partition("-")[2], proved)
    others = [*_folded(source, DISPLAYS, proved)]
    for one in source.not_checked:
        reason = f"{one.reason[:1].upper()}{one.reason[1:].rstrip('.')}."
        text = f"{UNDECIDABLE}. {one.location}: {one.words} Reason: {reason}"
        text = _linked(source, as_markdown(text))
        others += [f'<p id="{anchor(one.id)}" markdown="1">**{one.id}** {text}</p>', ""]
    if others:
        yield from ("## Formulas and remarks", "", *others)
    if source.lines:
        yield from (
            "## Where each passage is checked",
            "",
            "Each passage of the source is followed by the claims about it:",
            "",
        )
        yield from (*_lines(source), "")


def _found(claim: Claim) -> str:
    return f"{claim.status}, {claim.evidence(claim.stated)}"


def _row(claim: Claim) -> str:
    text = as_markdown(f"{claim.location}: {claim.stated.words}", cell=True)
    if claim.corrections:
        titles = {AMBIGUOUS: "Another reading", MISPRINT: "Read instead"}
        title = titles.get(claim.status, "True instead")
        text += f"<br>*{title}:* {as_markdown(reading(claim.corrections[0].words), cell=True)}"
    text = _linked(claim.source, text)
    return f"| {_link(claim.source, claim.id)} | {verdict(claim)} | {text} |"


def _is_in_a_table(claim: Claim) -> bool:
    """Return whether the first page of the source has a row about the claim."""
    return not claim.part_of and details_of(claim.source) != file_of(claim.source)


def _errata(source: Source) -> Iterator[str]:
    # A table with four columns would be too wide for a phone.
    for one in source.misprints:
        printed, read, harm = map(as_markdown, (one.printed, one.read, one.harm))
        read, harm = _linked(source, read), _linked(source, harm)
        where = as_markdown(one.place)
        if claim := source.claims.get(one.id):
            where = _link(source, one.id, where)
            if _is_in_a_table(claim) and claim.corrections[0].formula:
                # The words are in the row of the result.
                read = as_markdown(claim.corrections[0].formula)
        yield f"* {where}: {printed}<br>*Read:* {read}<br>*Consequence:* {harm}"


def _lines(source: Source) -> Iterator[str]:
    """Yield the lines of the section "Where each passage is checked", in Markdown.

    The places of the source with claims come first, with links to the claims. The places without a
    claim follow, with the reasons why there is no claim.
    """
    claims: dict[str, dict[str, None]] = {}
    reasons: dict[str, dict[str, None]] = {}
    for line in source.lines:
        reason = _linked(source, as_markdown(line.reason))
        texts = [_link(source, id) for id in line.ids] or [reason]
        found = (claims if line.ids else reasons).setdefault(line.place, {})
        found.update(dict.fromkeys(texts))
    yield from _grouped(claims, ", ")
    if reasons:
        # "A definition." is left out beside "A definition, which the claims after it use."
        for given in reasons.values():
            for text in [*given]:
                if any(other != text and other.startswith(text.rstrip(".")) for other in given):
                    del given[text]
        yield from (
            "",
            "These passages have no claim, for the reason that follows each:",
            "",
            *_grouped(reasons, " "),
        )


def _grouped(found: dict[str, dict[str, None]], separator: str) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for place, texts in found.items():
        groups.setdefault(separator.join(texts), []).append(place)
    for text, places in groups.items():
        yield f"{as_markdown('; '.join(places))}: {text}<br>"


def _link(source: Source, id: str, text: str = "") -> str:
    """Return a link to the claim with an id. For a misprint, return a link to the errata.

    If the id is unknown, return only the text.
    """
    if id in {*source.claims, *(one.id for one in source.not_checked)}:
        return f"[{text or id}]({details_of(source)}#{anchor(id)})"
    for one in source.misprints:
        if one.id == id:
            label = f"errata, {as_markdown(one.place)}" if text else "errata"
            return f"[{label}]({file_of(source)}#errata)"
    return text or id


def _linked(source: Source, markdown: str, here: str = "") -> str:
    return _NAME.sub(partial(_as_link, source, here), markdown)


def _as_link(source: Source, here: str, found: re.Match[str]) -> str:
    """Return a link in Markdown if a match of `_NAME` is the name of a claim.

    Otherwise return the text of the match.
    """
    name = found[2] or found[0]
    key = name.partition("-")[0]
    full = next((one for one in (source, *sources()) if "-" in name and one.key == key), None)
    if full is None and (found[2] or re.search(r"\d|-", name)):
        full = source
        name = f"{source.key}-{name}"
    link = name if full is None else _link(full, name)
    if link == name:
        return found[0]
    return name if name == here else link


def _folded(source: Source, name: str, proved: dict[str, str]) -> Iterator[str]:
    for claim in source.claims.values():
        if claim.part_of == name:
            summary = f"<b>{claim.id}</b> ({_found(claim)}): {as_html(claim.stated.words)}"
            yield f'<details id="{anchor(claim.id)}" markdown="1">'
            yield from (f"<summary>{summary}</summary>", *_markdown(claim, proved))
            yield from ("</details>", "")


def _markdown(claim: Claim, proved: dict[str, str]) -> Iterator[str]:
    """Yield the lines in Markdown that follow the statement of a claim. Proofs are folded."""
    # `proved` has the claim of each step on the page, to which a repeated step refers.
    step = 0
    in_proof = False
    for part in parts(claim, brief=True, in_full=_is_in_a_table(claim)):
        step = step + 1 if part.kind == "step" else 0
        begins = part.text.startswith(_PROOF)
        if in_proof and (begins or part.label or part.kind in ("data", "printed")):
            yield from ("", "</details>")
            in_proof = False
        if begins or (step and not in_proof):
            of = part.label.removesuffix(":").replace("About", "of", 1)
            summary = f"Proof {of}".rstrip()
            yield from ("", '<details markdown="1">', f"<summary>{summary}</summary>")
            in_proof = True
        if step:
            before = proved.setdefault(part.text, claim.id)
            text = part.text if before == claim.id else f"As in the proof of {before}."
            yield from [""] * (step == 1)
            yield f"{step}. {_linked(claim.source, as_markdown(text), claim.id)}"
            continue
        yield ""
        if part.kind == "data":
            yield from ("```", part.text, "```", "")
            yield f"![Sides of {claim.id}](../{PICTURES}/{claim.id}.svg)"
        elif part.kind == "printed":
            yield f"> {as_markdown(part.text)}"
        else:
            label = f"**{part.label}** " if part.label and not begins else ""
            text = as_markdown(part.text.removeprefix(_PROOF).lstrip())
            yield label + _linked(claim.source, text, claim.id)
    if in_proof:
        yield from ("", "</details>")
    yield ""
