"""Verdicts on one page: HTML that needs nothing else, no script and no network."""

from __future__ import annotations

import base64
import importlib.util
import platform
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from importlib.metadata import version
from os import PathLike
from typing import Any

from relaxboost._core.errors import InputError, install, number_of
from relaxboost._core.files import check_output, write_atomically
from relaxboost._core.rounding import float_down, float_up, show_bracket
from relaxboost.claims.claim import Claim
from relaxboost.claims.publishing.entry import parts
from relaxboost.claims.publishing.prose import as_html, columns, escaped, measured
from relaxboost.claims.record import Unchecked
from relaxboost.claims.registry import all as built_in
from relaxboost.claims.verdict import Bound, ClaimVerdict, Evidence, StatementVerdict, optima_of

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 68rem; margin: 2rem auto;
  padding: 0 1rem; }
section { border-top: 1px solid #ddd; padding-top: 1rem; margin-top: 2rem; }
pre { background: #f6f6f4; padding: .6rem .8rem; overflow-x: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; }
.chip { border-radius: 1rem; padding: 0 .7rem; font-size: .85rem; color: white; background: #777; }
.holds { background: #2a7f3f; } .false-as-stated, .refuted { background: #b3261e; }
.misprint, .ambiguous { background: #9a6200; }
img { max-width: 100%; height: auto; }
"""


class _Markup(str):
    """Text that is HTML already; all other text is escaped."""


def write_report(
    verdicts: Iterable[ClaimVerdict],
    path: str | PathLike[str],
    claims: Mapping[str, Claim] | Iterable[Claim] | None = None,
    not_checked: Iterable[Unchecked] = (),
) -> None:
    """Write verdicts, with the claims they are on, as one HTML page.

    Parameters
    ----------
    verdicts : iterable of ClaimVerdict
    path : path
        Ends in .html; written whole or not at all.
    claims : mapping from id to Claim, or iterable of Claim, optional
        The claims of the verdicts; by default those built in.
    not_checked : iterable of Unchecked
        Listed at the end, with the reasons.

    Raises
    ------
    InputError
        If `path` cannot be written, or there is a verdict on a claim that is not in `claims`.
    """
    target = check_output(path, (".html", ".htm"))
    listed = built_in() if claims is None else claims
    known = {c.id: c for c in (listed.values() if isinstance(listed, Mapping) else listed)}
    pairs = []
    for verdict in verdicts:
        if verdict.id not in known:
            raise InputError(
                f"a verdict on {verdict.id}, but no such claim is known; pass it as one of `claims`"
            )
        pairs.append((known[verdict.id], verdict))
    write_atomically(target, page(pairs, list(not_checked)).encode())


def page(pairs: list[tuple[Claim, ClaimVerdict]], not_checked: list[Unchecked]) -> str:
    """Return the page of claims and their verdicts, well-formed as HTML and as XML."""
    body = [_tag("h1", "Claims and verdicts"), *_head([verdict for _, verdict in pairs])]
    body += [_summary(pairs), *(_section(claim, verdict) for claim, verdict in pairs)]
    if not_checked:
        rows = [(one.id, one.location, one.words, one.reason) for one in not_checked]
        table = _table(("id", "where", "statement", "reason"), [map(_prose, row) for row in rows])
        body.append(_tag("section", _tag("h2", "Not decidable here"), table, id="not-checked"))
    head = _tag(
        "head",
        _Markup('<meta charset="utf-8"/>'),
        _Markup('<meta name="viewport" content="width=device-width, initial-scale=1"/>'),
        _tag("title", "Claims and verdicts"),
        _tag("style", _Markup(_STYLE)),
    )
    return "<!DOCTYPE html>\n" + _tag("html", head, _tag("body", *body), lang="en") + "\n"


def _tag(name: str, *content: Any, **attributes: str) -> _Markup:
    """Return an element; `cls` is its class, and content is escaped unless it is an element."""
    given = {"class" if key == "cls" else key: value for key, value in attributes.items()}
    start = "".join(f' {key}="{escaped(value)}"' for key, value in given.items())
    inner = "".join(part if isinstance(part, _Markup) else escaped(part) for part in content)
    ending = "\n" if name in ("p", "section", "div", "tr", "table", "pre", "details") else ""
    return _Markup(f"<{name}{start}>{inner}</{name}>{ending}")


def _chip(status: str) -> _Markup:
    return _tag("span", status, cls=f"chip {status.replace(' ', '-')}")


def _prose(text: str) -> _Markup:
    return _Markup(as_html(text))


def _table(heads: tuple[str, ...], rows: Iterable[Iterable[Any]]) -> _Markup:
    """Return a table that can be scrolled where it is too wide."""
    lines = [_tag("tr", *(_tag("th", head) for head in heads))]
    lines += [_tag("tr", *(_tag("td", cell) for cell in row)) for row in rows]
    return _tag("div", _tag("table", *lines), cls="wide")


def _head(verdicts: list[ClaimVerdict]) -> list[_Markup]:
    """Return how many claims have which verdict, and what is needed to repeat them."""
    statuses = sorted({v.status for v in verdicts})
    counts = ", ".join(f"{s}: {sum(v.status == s for v in verdicts)}" for s in statuses)
    lists = {
        "Interrupted, with less tried than was asked": [v.id for v in verdicts if v.interrupted],
        "Not the status on record": [v.id for v in verdicts if not (v.agrees or v.interrupted)],
    }
    record = " ".join(f"{title}: {', '.join(ids)}." for title, ids in lists.items() if ids)
    record = record or "Every verdict is the status on record."
    libraries = ", ".join(f"{name} {version(name)}" for name in ("relaxboost", "numpy", "scipy"))
    seeds = ", ".join(map(str, sorted({v.seed for v in verdicts}))) or "none"
    optima = sum(v.optima for v in verdicts)
    return [
        _tag("p", f"{number_of(len(verdicts), 'claim')}: {counts or 'none'}. {record}"),
        _tag(
            "p",
            f"Python {platform.python_version()}, {libraries}. Seed: {seeds}. "
            f"{number_of(sum(v.stated.tried for v in verdicts), 'instance')}, {optima} "
            f"{optima_of(optima)}. The same seed, instances and versions give the same verdicts.",
        ),
    ]


def _summary(pairs: list[tuple[Claim, ClaimVerdict]]) -> _Markup:
    rows = []
    for claim, verdict in pairs:
        link = _tag("a", claim.id, href=f"#{_anchor(claim.id)}")
        slack = f"{verdict.decisive.slack.relative + 0.0:.2g}" if verdict.decisive else "–"
        numbers = verdict.stated.tried, slack, f"{verdict.seconds:.1f}"
        evidence = claim.evidence(claim.stated)
        rows.append((link, _chip(verdict.status), evidence, _prose(claim.stated.words), *numbers))
    heads = ("claim", "verdict", "rests on", "statement", "instances", "least slack", "seconds")
    return _table(heads, rows)


def _anchor(id: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in id)


def _section(claim: Claim, verdict: ClaimVerdict) -> _Markup:
    recorded = [f" on record: {verdict.recorded}"] * (not verdict.agrees)
    outcomes = [_outcome("As stated", verdict.stated)]
    outcomes += [_outcome(f"“{part.words}”", part) for part in verdict.corrections]
    return _tag(
        "section",
        _tag("h2", f"{claim.id}: {claim.location} ", _chip(verdict.status), *recorded),
        _tag("p", _prose(claim.stated.words)),
        *_entry(claim),
        _picture(claim, verdict),
        *outcomes,
        _tag("p", _prose(claim.source.reference), f". Check: {claim.stated.code}. Again:"),
        _tag("pre", verdict.repeat),
        id=_anchor(claim.id),
    )


def _entry(claim: Claim) -> Iterator[_Markup]:
    """Yield what is on record of a claim after its words."""
    for part in parts(claim):
        if part.kind == "data":
            yield _tag("pre", part.text)
        else:
            label = [_tag("strong", part.label), " "] * bool(part.label)
            tag = "blockquote" if part.kind == "printed" else "p"
            yield _tag(tag, *label, _prose(part.text))


def _outcome(title: str, part: StatementVerdict) -> _Markup:
    """Return the verdict on a statement, with the instances that decide it."""
    counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(part.counts.items()))
    line = f" on {number_of(part.tried, 'instance')} ({counts or 'none'}), "
    line += f"{part.optima} {optima_of(part.optima)}"
    content = [_tag("p", _tag("strong", title, ": "), _chip(part.status), line)]
    steps = ", ".join(f"{step.id} {step.status}" for step in part.steps)
    content += [_tag("p", "Steps of the proof: ", steps)] * bool(steps)
    found = (("Refuted", part.counterexample), ("Least slack", part.least))
    content += [_evidence(name, one) for name, one in found if one is not None]
    return _tag("div", *content)


def _evidence(title: str, evidence: Evidence) -> _Markup:
    """Return an instance, folded: its data, and the optima used."""
    at = (title, ": ", _tag("code", measured(evidence.slack)), f", {evidence.origin}")
    rows = [(bound.digest, *_ends(bound), bound.file) for bound in evidence.optima]
    table = _table(("game, SHA-256", "at least", "at most", "certificate"), rows)
    data = _tag("pre", columns(evidence.instance))
    return _tag("details", _tag("summary", *at), data, *[table] * bool(rows))


def _ends(bound: Bound) -> tuple[str, str]:
    """Return both ends as they are, or as decimals that enclose them where they are long."""
    if max(len(bound.lower), len(bound.upper)) <= 24:
        return bound.lower, bound.upper
    return show_bracket(float_down(Fraction(bound.lower)), float_up(Fraction(bound.upper)))


def _picture(claim: Claim, verdict: ClaimVerdict) -> _Markup:
    if verdict.decisive is None:
        return _tag("p", "No instance met the hypotheses.")
    if importlib.util.find_spec("matplotlib") is None:
        return _tag("p", f"The picture needs matplotlib: {install('plots')}")
    from relaxboost.claims.publishing.pictures import picture, svg

    content = base64.b64encode(svg(picture(claim, verdict), claim.id)).decode()
    words = f"{claim.id}: the two sides, the slack of the instances, and the decisive instance"
    source = f"data:image/svg+xml;base64,{content}"
    return _Markup(f'<div><img src="{source}" alt="{escaped(words)}"/></div>\n')
