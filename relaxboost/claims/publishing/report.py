"""Verdicts on one page: HTML that needs nothing else, no script and no network."""

from __future__ import annotations

import base64
import importlib.util
import platform
from collections.abc import Iterable, Mapping
from fractions import Fraction
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from pprint import pformat
from typing import Any

from relaxboost._core.errors import InputError, install, number_of
from relaxboost._core.files import check_output, write_atomically
from relaxboost._core.rounding import float_down, float_up, show_bracket
from relaxboost.claims.claim import Claim
from relaxboost.claims.publishing.prose import (
    as_html,
    entry,
    escaped,
    measured,
    paragraphs,
    reading,
    rows_of,
    set_in_full,
    size,
)
from relaxboost.claims.record import AMBIGUOUS, Statement, Unchecked
from relaxboost.claims.registry import all as built_in
from relaxboost.claims.verdict import Bound, ClaimVerdict, Evidence, StatementVerdict, optima_of

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 68rem; margin: 2rem auto;
  padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 0; font-size: 1.3rem; }
a { color: #1f5f9e; text-decoration: none; } a:hover { text-decoration: underline; }
section { border-top: 1px solid #ddd; padding-top: 1.5rem; margin-top: 2rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { background: #f6f6f4; padding: .6rem .8rem; overflow-x: auto; }
.formula { background: #f6f6f4; padding: .5rem .8rem; overflow-x: auto; }
.wide { overflow-x: auto; }
table.list { border-collapse: collapse; width: 100%; font-size: .92rem; }
.list th, .list td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0;
  border-bottom: 1px solid #e4e4e4; }
.list .number { text-align: right; white-space: nowrap; }
table.matrix { border-collapse: collapse; border-left: 2px solid #555; border-right: 2px solid #555;
  font-variant-numeric: tabular-nums; }
.matrix td { padding: .05rem .6rem; text-align: right; }
.data { display: flex; flex-wrap: wrap; gap: .4rem 2rem; align-items: center; margin: .6rem 0; }
.data > div { display: flex; align-items: center; gap: .5rem; white-space: nowrap; }
.bounds td { overflow-wrap: anywhere; font-size: .85rem; }
.chip { display: inline-block; border-radius: 1rem; padding: 0 .7rem; font-size: .85rem;
  font-weight: normal; line-height: 1.5; white-space: nowrap; color: white; background: #777; }
.holds { background: #2a7f3f; } .false-as-stated, .refuted { background: #b3261e; }
.misprint, .ambiguous { background: #9a6200; }
.grey { color: #666; font-size: .92rem; }
img { max-width: 100%; height: auto; margin: .6rem 0; }
dt { float: left; clear: left; width: 9rem; color: #666; } dd { margin: 0 0 .2rem 9rem; }
details { margin: .5rem 0; } summary { cursor: pointer; color: #1f5f9e; }
.list td:first-child { white-space: nowrap; }
"""

_LONG = 20_000
"""Longest instance, in characters, that is printed as data."""


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
    pairs = [(_claim(known, verdict), verdict) for verdict in verdicts]
    write_atomically(target, page(pairs, list(not_checked)).encode())


def page(pairs: list[tuple[Claim, ClaimVerdict]], not_checked: list[Unchecked]) -> str:
    """Return the page of claims and their verdicts, well-formed as HTML and as XML."""
    body = [
        _tag("h1", "Claims and verdicts"),
        _head([verdict for _, verdict in pairs]),
        _summary(pairs),
        *(_section(claim, verdict) for claim, verdict in pairs),
    ]
    if not_checked:
        texts = [(one.id, one.location, one.words, one.reason) for one in not_checked]
        rows = (_tag("tr", *(_tag("td", _prose(text)) for text in row)) for row in texts)
        table = _table(("id", "where", "statement", "reason"), rows)
        body.append(_tag("section", _tag("h2", "Not decidable here"), table, id="not-checked"))
    head = _tag(
        "head",
        _Markup('<meta charset="utf-8"/>'),
        _Markup('<meta name="viewport" content="width=device-width, initial-scale=1"/>'),
        _tag("title", "Claims and verdicts"),
        _tag("style", _Markup(_STYLE)),
    )
    return "<!DOCTYPE html>\n" + _tag("html", head, _tag("body", *body), lang="en") + "\n"


def _claim(known: Mapping[str, Claim], verdict: ClaimVerdict) -> Claim:
    if verdict.id not in known:
        raise InputError(
            f"a verdict on {verdict.id}, but no such claim is known; pass it as one of `claims`"
        )
    return known[verdict.id]


def _tag(name: str, *content: Any, **attributes: str) -> _Markup:
    """Return an element; `cls` is its class, and content is escaped unless it is an element."""
    given = {"class" if key == "cls" else key: value for key, value in attributes.items()}
    start = "".join(f' {key}="{escaped(value)}"' for key, value in given.items())
    inner = "".join(part if isinstance(part, _Markup) else escaped(part) for part in content)
    ending = "\n" if name in ("p", "section", "div", "tr", "table", "pre", "dl", "details") else ""
    return _Markup(f"<{name}{start}>{inner}</{name}>{ending}")


def _chip(status: str) -> _Markup:
    return _tag("span", status, cls=f"chip {status.replace(' ', '-')}")


def _prose(text: str) -> _Markup:
    return _Markup(as_html(text))


def _head(verdicts: list[ClaimVerdict]) -> _Markup:
    libraries = ", ".join(
        [f"Python {platform.python_version()}", *(f"{n} {version(n)}" for n in ("numpy", "scipy"))]
    )
    seeds = ", ".join(str(seed) for seed in sorted({v.seed for v in verdicts})) or "none"
    tried = sum(v.stated.tried for v in verdicts)
    optima = sum(v.optima for v in verdicts)
    counts = ", ".join(
        f"{s}: {sum(v.status == s for v in verdicts)}" for s in sorted({v.status for v in verdicts})
    )
    ended = [v.id for v in verdicts if v.interrupted]
    other = [v.id for v in verdicts if not (v.agrees or v.interrupted)]
    lists = {
        "Interrupted, with less tried than was asked": ended,
        "Not the status on record": other,
    }
    against = [f"{title}: {', '.join(ids)}." for title, ids in lists.items() if ids]
    record = " ".join(against) or "Every verdict is the status on record."
    return _tag(
        "div",
        _tag("p", f"{number_of(len(verdicts), 'claim')}: {counts or 'none'}. {record}"),
        _tag(
            "p",
            f"relaxboost {version('relaxboost')}; {libraries}. Seed: {seeds}. "
            f"{number_of(tried, 'instance')}, {optima} {optima_of(optima)}. The same seed, "
            "instances and versions give the same verdicts.",
            cls="grey",
        ),
    )


def _table(heads: tuple[str, ...], rows: Iterable[_Markup], cls: str = "list") -> _Markup:
    """Return a table that can be scrolled where it is too wide."""
    head = _tag("tr", *(_tag("th", head) for head in heads))
    return _tag("div", _tag("table", head, *rows, cls=cls), cls="wide")


def _summary(pairs: list[tuple[Claim, ClaimVerdict]]) -> _Markup:
    heads = ("claim", "statement", "on record", "rests on", "verdict", "least slack", "instances")
    rows = []
    for claim, verdict in pairs:
        decisive = verdict.decisive
        slack = f"{decisive.slack.relative + 0.0:.2g}".replace("-", "−") if decisive else "–"
        numbers = (slack, verdict.stated.tried, verdict.optima, f"{verdict.seconds:.1f}")
        cells = [
            _tag("td", _tag("a", claim.id, href=f"#{_anchor(claim.id)}")),
            _tag("td", _prose(claim.stated.words)),
            _tag("td", claim.status),
            _tag("td", claim.evidence(claim.stated)),
            _tag("td", _chip(verdict.status)),
            *(_tag("td", number, cls="number") for number in numbers),
        ]
        rows.append(_tag("tr", *cells))
    note = (
        "Least slack: the least of (right − left)/(|left| + |right|) as stated, negative where "
        "the statement is refuted; 0: both sides are equal, as far as can be told."
    )
    return _tag("div", _table((*heads, "optima", "seconds"), rows), _tag("p", note, cls="grey"))


def _anchor(id: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in id)


def _section(claim: Claim, verdict: ClaimVerdict) -> _Markup:
    facts = [("given", claim.given)] * bool(claim.given)
    facts += [("place", claim.page)] * (claim.page not in ("", claim.location))
    facts += [("rests on", claim.evidence(claim.stated))]
    facts += [("source", claim.source.reference), ("check", claim.stated.code)]
    recorded = [_tag("span", f" on record: {verdict.recorded}", cls="grey")] * (not verdict.agrees)
    return _tag(
        "section",
        _tag("h2", f"{claim.id}: {claim.location} ", _chip(verdict.status), *recorded),
        _tag("p", _prose(claim.stated.words)),
        *[_tag("p", "As printed: ", _prose(claim.printed))] * bool(claim.printed),
        _tag("div", _tag("code", claim.stated.formula), cls="formula"),
        _tag("dl", *(part for k, v in facts for part in (_tag("dt", k), _tag("dd", _prose(v))))),
        _picture(claim, verdict),
        *_note(claim.stated),
        _outcome(claim, "As stated", verdict.stated),
        *(
            _correction(claim, statement, part)
            for statement, part in zip(claim.corrections, verdict.corrections, strict=False)
        ),
        _tag("div", _tag("p", "To repeat it:"), _tag("pre", verdict.repeat)),
        id=_anchor(claim.id),
    )


def _note(statement: Statement) -> list[_Markup]:
    return [_tag("p", _prose(part)) for part in paragraphs(statement.note)]


def _correction(claim: Claim, statement: Statement, part: StatementVerdict) -> _Markup:
    title = "Another reading" if claim.status == AMBIGUOUS else "Corrected"
    return _tag(
        "div",
        _tag("p", _tag("strong", f"{title}: "), _prose(reading(statement.words)), " "),
        *[_tag("div", _tag("code", statement.formula), cls="formula")] * bool(statement.formula),
        *_note(statement),
        _outcome(claim, title, part),
    )


def _outcome(claim: Claim, title: str, part: StatementVerdict) -> _Markup:
    counts = ", ".join(
        f"{number} {outcome}" for outcome, number in sorted(part.counts.items()) if number
    )
    line = (
        f" on {number_of(part.tried, 'instance')} ({counts or 'none'}), "
        f"{part.inequalities} inequalit{'y' if part.inequalities == 1 else 'ies'}, "
        f"{part.optima} {optima_of(part.optima)}"
    )
    parts = [_tag("p", _tag("strong", title, ": "), _chip(part.status), line)]
    steps = (f"{step.id} {step.status}" for step in part.steps)
    parts += [_tag("p", "Steps of the proof: ", ", ".join(steps))] * bool(part.steps)
    if part.counterexample is not None:
        parts.append(_evidence(claim, "Refuted", part.counterexample))
    if part.least is not None:
        parts.append(_evidence(claim, "Least slack", part.least, folded=True))
    return _tag("div", *parts)


def _evidence(claim: Claim, title: str, evidence: Evidence, folded: bool = False) -> _Markup:
    at = (title + ": ", _tag("code", measured(evidence.slack)), f", {evidence.origin}")
    data = _data(evidence.instance)
    details = [_tag("pre", _python(claim, evidence.instance)), *_bounds(evidence.optima)]
    if folded:
        return _tag("details", _tag("summary", *at), data, *details)
    return _tag("div", _tag("p", *at), data, _tag("details", _tag("summary", "as data"), *details))


def _data(instance: dict[str, Any]) -> _Markup:
    parts = []
    for name, value in instance.items():
        if not isinstance(value, (list, tuple)):
            parts.append(_tag("div", _tag("code", f"{name} = {entry(value)}")))
        elif not set_in_full(value):
            parts.append(_tag("div", _tag("code", f"{name}: {size(value)}")))
        else:
            cells = [_tag("tr", *(_tag("td", entry(x)) for x in row)) for row in rows_of(value)]
            table = _tag("table", *cells, cls="matrix")
            parts.append(_tag("div", _tag("code", f"{name} ="), table))
    return _tag("div", *parts, cls="data")


def _python(claim: Claim, instance: dict[str, Any]) -> str:
    """Return Python that makes the instance, for a look at it by hand."""
    data = pformat(instance, width=90, compact=True, sort_dicts=False)
    if len(data) > _LONG:
        return f"# {len(data)} characters; it is in the .instance of the evidence of claim.check()"
    if any(claim is known for known in built_in()):
        return f'import relaxboost as rb\n\nx = rb.claims.get("{claim.id}").instance(\n{data}\n)'
    name = Path(claim.stated.check.__code__.co_filename).name
    return (
        "import relaxboost as rb\n\n"
        f'claims = {{claim.id: claim for claim in rb.claims.load("{name}")}}\n'
        f'x = claims["{claim.id}"].instance(\n{data}\n)'
    )


def _bounds(optima: tuple[Bound, ...]) -> list[_Markup]:
    if not optima:
        return []
    rows = []
    for bound in optima:
        ends = (_tag("td", end) for end in _ends(bound))
        rows.append(_tag("tr", _tag("td", _tag("code", bound.digest)), *ends))
        if bound.file:
            rows.append(_tag("tr", _tag("td", "certificate: ", _tag("code", bound.file))))
    return [_table(("game, SHA-256", "at least", "at most"), rows, "list bounds")]


def _ends(bound: Bound) -> tuple[str, str]:
    """Return both ends as they are, or as decimals that enclose them where they are long."""
    if max(len(bound.lower), len(bound.upper)) <= 24:
        return bound.lower, bound.upper
    return show_bracket(float_down(Fraction(bound.lower)), float_up(Fraction(bound.upper)))


def _picture(claim: Claim, verdict: ClaimVerdict) -> _Markup:
    if verdict.decisive is None:
        return _tag("p", "No instance met the hypotheses.", cls="grey")
    if importlib.util.find_spec("matplotlib") is None:
        return _tag("p", f"The picture needs matplotlib: {install('plots')}", cls="grey")
    from relaxboost.claims.publishing.pictures import picture, svg

    content = base64.b64encode(svg(picture(claim, verdict), claim.id, outlines=False)).decode()
    words = f"{claim.id}: the two sides, the slack of the instances, and the decisive instance"
    source = f"data:image/svg+xml;base64,{content}"
    return _Markup(f'<div><img src="{source}" alt="{escaped(words)}"/></div>\n')
