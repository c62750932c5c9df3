"""HTML reports of verdicts. A report is a single file that needs no scripts and no network."""

import base64
import importlib.util
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from importlib.metadata import version
from os import PathLike

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


_PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>Claims and verdicts</title><style>{style}</style></head>
<body><h1>Claims and verdicts</h1>
{body}
</body></html>
"""


def write_report(
    verdicts: Iterable[ClaimVerdict],
    path: str | PathLike[str],
    claims: Mapping[str, Claim] | Iterable[Claim] | None = None,
    not_checked: Iterable[Unchecked] = (),
) -> None:
    """Write verdicts, with the texts of their claims, to one HTML file.

    Parameters
    ----------
    verdicts : iterable of ClaimVerdict
    path : path
        The path of the file, which ends in .html. The file is written atomically.
    claims : mapping from id to Claim, or iterable of Claim, optional
        The claims of the verdicts. By default these are the built-in claims.
    not_checked : iterable of Unchecked
        Statements without a check. The report lists them at its end, with the reasons.

    Raises
    ------
    InputError
        If `path` cannot be written, or if `claims` lacks the claim of a verdict.
    """
    target = check_output(path, (".html", ".htm"))
    listed = built_in() if claims is None else claims
    known = {c.id: c for c in (listed.values() if isinstance(listed, Mapping) else listed)}
    pairs = []
    for verdict in verdicts:
        if verdict.id not in known:
            raise InputError(
                f"`claims` must contain {verdict.id}, because there is a verdict on this claim"
            )
        pairs.append((known[verdict.id], verdict))
    write_atomically(target, page(pairs, list(not_checked)).encode())


def page(pairs: list[tuple[Claim, ClaimVerdict]], not_checked: list[Unchecked]) -> str:
    """Return the HTML page of claims with their verdicts. The page is also well-formed XML."""
    body = [_head([verdict for _, verdict in pairs]), _summary(pairs)]
    body += [_section(claim, verdict) for claim, verdict in pairs]
    if not_checked:
        rows = [(one.id, one.location, one.words, one.reason) for one in not_checked]
        table = _table(("id", "where", "statement", "reason"), [map(as_html, row) for row in rows])
        body.append(f'<section id="not-checked"><h2>Not decidable here</h2>{table}</section>')
    return _PAGE.format(style=_STYLE, body="\n".join(body))


def _chip(status: str) -> str:
    return f'<span class="chip {status.replace(" ", "-")}">{status}</span>'


def _table(heads: tuple[str, ...], rows: Iterable[Iterable[str]]) -> str:
    """Return an HTML table that can be scrolled if it is too wide. Its cells are HTML too."""
    lines = ["".join(f"<th>{head}</th>" for head in heads)]
    lines += ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    text = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="wide"><table>{text}</table></div>'


def _head(verdicts: list[ClaimVerdict]) -> str:
    statuses = Counter(v.status for v in verdicts)
    counts = ", ".join(f"{status}: {number}" for status, number in sorted(statuses.items()))
    libraries = ", ".join(f"{name} {version(name)}" for name in ("relaxboost", "numpy", "scipy"))
    seeds = ", ".join(map(str, sorted({v.seed for v in verdicts}))) or "none"
    optima = sum(v.optima for v in verdicts)
    return (
        f"<p>{number_of(len(verdicts), 'claim')}: {counts or 'none'}. {_exceptions(verdicts)}</p>\n"
        f"<p>Python {platform.python_version()}, {libraries}. Seed: {seeds}. "
        f"{number_of(sum(v.stated.tried for v in verdicts), 'instance')}, {optima} "
        f"{optima_of(optima)}. The same seed, instances and versions give the same verdicts.</p>"
    )


def _exceptions(verdicts: list[ClaimVerdict]) -> str:
    status = "status on record" if all(v.has_record for v in verdicts) else "expected status"
    lists = {
        "Interrupted, with less tried than was asked": [v.id for v in verdicts if v.interrupted],
        f"Not the {status}": [v.id for v in verdicts if not (v.agrees or v.interrupted)],
    }
    found = " ".join(f"{title}: {', '.join(ids)}." for title, ids in lists.items() if ids)
    return escaped(found or f"Every verdict is the {status}.")


def _summary(pairs: list[tuple[Claim, ClaimVerdict]]) -> str:
    rows = []
    for claim, verdict in pairs:
        link = f'<a href="#{_anchor(claim.id)}">{escaped(claim.id)}</a>'
        slack = f"{verdict.decisive.slack.relative + 0.0:.2g}" if verdict.decisive else "–"
        numbers = str(verdict.stated.tried), slack, f"{verdict.seconds:.1f}"
        evidence = "counterexample" if verdict.counterexample else claim.evidence(claim.stated)
        rows.append((link, _chip(verdict.status), evidence, as_html(claim.stated.words), *numbers))
    heads = ("claim", "verdict", "rests on", "statement", "instances", "least slack", "seconds")
    return _table(heads, rows)


def _anchor(id: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in id)


def _section(claim: Claim, verdict: ClaimVerdict) -> str:
    expected = f"on record: {verdict.recorded}" if verdict.has_record else verdict.expectation
    expected = "" if verdict.agrees else f" {expected}"
    outcomes = [_outcome("As stated", verdict.stated)]
    outcomes += [_outcome(f"“{part.words}”", part) for part in verdict.corrections]
    title = escaped(f"{claim.id}: {claim.location} ")
    where = f"{as_html(claim.source.reference)}. Check: {escaped(claim.stated.code)}. Again:"
    return f"""\
<section id="{_anchor(claim.id)}"><h2>{title}{_chip(verdict.status)}{expected}</h2>
<p>{as_html(claim.stated.words)}</p>
{"".join(_entry(claim))}{_picture(claim, verdict)}{"".join(outcomes)}
<p>{where}</p><pre>{escaped(verdict.repeat)}</pre></section>"""


def _entry(claim: Claim) -> Iterator[str]:
    for part in parts(claim):
        if part.kind == "data":
            yield f"<pre>{escaped(part.text)}</pre>\n"
        else:
            label = f"<strong>{escaped(part.label)}</strong> " * bool(part.label)
            tag = "blockquote" if part.kind == "printed" else "p"
            yield f"<{tag}>{label}{as_html(part.text)}</{tag}>\n"


def _outcome(title: str, part: StatementVerdict) -> str:
    counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(part.counts.items()))
    line = f" on {number_of(part.tried, 'instance')} ({counts or 'none'}), "
    line += f"{part.optima} {optima_of(part.optima)}"
    text = f"<p><strong>{escaped(title)}: </strong>{_chip(part.status)}{line}</p>"
    if part.steps:
        steps = ", ".join(f"{step.id} {step.status}" for step in part.steps)
        text += f"<p>Steps of the proof: {escaped(steps)}</p>"
    for name, found in (
        ("Refuted. It would require", part.counterexample),
        ("Least slack", part.least),
    ):
        text += "" if found is None else _evidence(name, found)
    return f"<div>{text}</div>\n"


def _evidence(title: str, evidence: Evidence) -> str:
    sides = f"<code>{escaped(measured(evidence.slack))}</code>, {escaped(evidence.origin)}"
    rows = [(one.digest, *_ends(one), escaped(one.file)) for one in evidence.optima]
    table = _table(("game, SHA-256", "at least", "at most", "certificate"), rows) * bool(rows)
    data = escaped(columns(evidence.instance))
    return f"<details><summary>{title}: {sides}</summary><pre>{data}</pre>{table}</details>\n"


def _ends(bound: Bound) -> tuple[str, str]:
    # A long fraction is replaced by a decimal that is rounded outwards.
    if max(len(bound.lower), len(bound.upper)) <= 24:
        return bound.lower, bound.upper
    return show_bracket(float_down(Fraction(bound.lower)), float_up(Fraction(bound.upper)))


def _picture(claim: Claim, verdict: ClaimVerdict) -> str:
    if verdict.decisive is None:
        return "<p>No instance met the hypotheses.</p>"
    if importlib.util.find_spec("matplotlib") is None:
        return f"<p>The picture needs matplotlib: {escaped(install('plots'))}</p>"
    from relaxboost.claims.publishing.pictures import picture, svg

    content = base64.b64encode(svg(picture(claim, verdict), claim.id)).decode()
    words = f"{claim.id}: the two sides, the slack of the instances, and the decisive instance"
    return f'<p><img src="data:image/svg+xml;base64,{content}" alt="{escaped(words)}"/></p>'
