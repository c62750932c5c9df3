"""The function `report`, which writes a solution as a self-contained HTML page."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError, check_drawing
from relaxboost._core.files import check_output, write_atomically
from relaxboost._core.html import MAX_LISTED, shown, table
from relaxboost._core.rounding import show_bracket
from relaxboost.game.solution import Solution
from relaxboost.matrices.stumps import StumpMatrix
from relaxboost.relaxations import Capped, HardMargin
from relaxboost.views import plots
from relaxboost.views.report import margin_quantiles

_STYLE = """body{font:16px/1.5 sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#222}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse}
td,th{padding:.15em .8em;border-bottom:1px solid #ddd;white-space:nowrap;text-align:left}
.wide{overflow-x:auto}.bracket{font-size:1.4em}svg{max-width:100%;height:auto}
pre{background:#f4f4f4;padding:.8em;overflow-x:auto}code{overflow-wrap:anywhere}
@media print{h2{break-after:avoid}pre{white-space:pre-wrap}.wide td,.wide th{padding:.1em .2em;
white-space:normal}.wide{overflow:visible;font-size:min(1em,calc(220px/var(--columns)))}}"""
_RECHECK = """import relaxboost as rb

certificate = rb.certify(solution, inline=True)   # the data go into the file
certificate.save("proof.json")
print(rb.check_certificate("proof.json"))         # or: relaxboost check proof.json"""


def report(
    solution: Solution,
    path: str | os.PathLike[str],
    *,
    rows: Any = None,
    title: str = "",
    check: str = "",
) -> Path:
    """Write a page about a solution with its bounds, margins, hypotheses and hardest examples.

    The pictures are part of the page, and the page contains no code. Pictures require the `plots`
    extra.

    Parameters
    ----------
    solution : Solution
        The result of `solve` or `reference`.
    path : path
        The file to write, with the suffix .html.
    rows : data frame or array of m rows, optional
        The data in the table of the hardest examples, by default the data of the stumps.
    title : str
        The title of the page. By default it describes the game.
    check : str
        The command that checks a saved certificate. By default the page shows how to save one.

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    InputError
        If `rows` does not have m rows, or if the file cannot be written.
    MissingDependencyError
        If matplotlib is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import relaxboost as rb
    >>> vote = rb.solve(rb.Game([[1, 0], [0, 1]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rb.report(vote, Path(folder, "vote.html")).name
    'vote.html'
    """
    target = check_report(path)
    if not isinstance(solution, Solution):
        raise InputError(
            f"report needs a Solution, as returned by rb.solve, got {type(solution).__name__}"
        )
    s = solution
    given = _rows(s, rows)
    count = len(s.support)
    lower, upper = show_bracket(s.lower, s.upper)
    heading = shown(title or f"All {s.game.n or 'known'} hypotheses, {s.game.relaxation}")
    proved = s.game.level
    quantiles = margin_quantiles(s)
    numerical = "Bracketed, numerical: rounding is not proved"
    certain = "Certified" if proved != "numerical" else numerical
    short = "" if s.status == "optimal" else f" ({s.status}: {s.message})"
    parts = [
        f"<h1>{heading}</h1>",
        f'<p class="bracket">{lower} ≤ ρ ≤ {upper}</p>',
        f"<p>{certain}. The gap is {s.gap:.2g}, requested {s.tol:g}{shown(short)}.</p>",
        "<h2>How the bracket is proved</h2>",
        f"<p>{_REST} {_SCORED[proved != 'numerical']} The strongest certificate of this bracket "
        f"is <em>{proved}</em>.</p>",
        "<h2>What ρ means here</h2>",
        *(f"<p>{shown(sentence)}</p>" for sentence in meaning(s)),
        "<h2>Margins, and the gap against time</h2>",
        _picture(s),
        "<p>Quantiles of the margins of the examples:</p>",
        _wide([list(quantiles.values())], list(quantiles)),
        f"<h2>Hypotheses</h2><p>{count} with a weight; the largest {min(count, MAX_LISTED)}.</p>",
        _wide(s.hypotheses(MAX_LISTED), ("weight", "hypothesis")),
        "<h2>The hardest examples</h2>",
        "<p>The lowest margins come first, and rows are counted from 0. The weight of an example "
        "is its weight in the distribution d, which proves the upper end.</p>",
        _hardest(s, given),
        "<h2>Check it again</h2>",
        f"<pre>{shown(check or _RECHECK)}</pre>",
        f"<p>{shown(s.game)}, over {shown(s.game.over)}; {shown(s.method)}, {s.rounds} rounds, "
        f"{s.seconds:.2f} s. Game <code>{s.game.digest}</code>.</p>",
    ]
    body = "\n".join(parts)
    page = (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{heading}</title>\n'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )
    write_atomically(target, page.encode("utf-8", "replace"))
    return target


_REST = (
    "Lower end: F(A w) − g*(w) of the weights w below. Upper end: f(d) + g(Aᵀd) of a distribution "
    "d over the examples; g is the largest edge and g* is 0 where w is in the unit l1 ball."
)
_SCORED = (
    "Both ends are recomputed from these points, in floating point.",
    "Both ends are recomputed from these points and rounded outwards, and do not depend on what a "
    "solver reported.",
)
"""The sentences about how the two bounds were computed: first for bounds without a proof, then for
bounds with a proof."""


def check_report(path: str | os.PathLike[str]) -> Path:
    """Return the path of a page, or raise an error if it cannot be written."""
    check_drawing()
    return check_output(path, (".html", ".htm"))


def meaning(s: Solution) -> list[str]:
    """Explain the optimal value ρ for this relaxation, and the effect of the weights."""
    f = s.game.relaxation
    m = s.game.m
    u = s.margins
    if isinstance(f, HardMargin):
        about = "ρ is the largest margin that weighted votes give to every example at once"
    elif isinstance(f, Capped):
        k = float(f.resolve(m).exact_k)
        about = (
            f"ρ is the largest mean of the {k:.6g} lowest margins, {k / m:.1%} of {m} examples: "
            f"an opponent weighs the examples, with a weight of at most 1/{k:.6g} for each"
        )
    else:
        about = (
            f"ρ is the largest F(A w), where F is the least of <d, A w> + f(d) over distributions "
            f"d: an opponent weighs the examples, at the price f = {f}"
        )
    lower, upper = show_bracket(s.lower, s.upper)
    did = "No weights were found that are better than w = 0; try a softer relaxation."
    if s.support.size:
        wrong = int((u <= 0.0).sum())
        best = "other weights may reach more"
        if np.isfinite(s.upper):
            best = f"no weights reach more than {upper}"
        did = (
            f"These weights reach {lower}, and {best}. Of {m} examples, {wrong} ({wrong / m:.1%}) "
            f"have a margin of 0 or less and are misclassified; {int((u < s.lower).sum())} have a "
            f"margin below {lower}, and half have a margin of at least {np.median(u):.4g}."
        )
    margin = "The margin of an example is the weight of votes for its label less that against it."
    return [f"{margin} {about}.", did]


def _rows(s: Solution, rows: Any) -> tuple[list[str], Any]:
    matrix = s.game.matrix
    if rows is None and isinstance(matrix, StumpMatrix):
        return ["y", *matrix.feature_names], matrix.data()
    if rows is None:
        return [], np.empty((s.game.m, 0))
    values = np.asarray(rows)
    if values.ndim != 2 or len(values) != s.game.m:
        raise InputError(
            f"rows must have shape ({s.game.m}, columns), one row per example, got {values.shape}"
        )
    return [str(name) for name in getattr(rows, "columns", range(values.shape[1]))], values


def _hardest(s: Solution, given: tuple[list[str], Any]) -> str:
    names, values = given
    u = s.margins
    order = np.argsort(u, kind="stable")[:MAX_LISTED].tolist()
    lines = [(i, float(u[i]), float(s.d[i]), *values[i].tolist()) for i in order]
    return _wide(lines, ("row", "margin", "weight", *names))


def _wide(rows: Sequence[Sequence[Any]], head: Sequence[Any]) -> str:
    # The style of the page lets the table scroll, and prints many columns in small letters.
    return f'<div class="wide" style="--columns:{len(head)}">{table(rows, head)}</div>'


def _picture(s: Solution) -> str:
    import matplotlib

    buffer = io.BytesIO()
    # A fixed salt and no date make the SVG of equal solutions equal.
    with matplotlib.rc_context({"svg.hashsalt": s.game.digest}):
        figure = plots.overview(s, against="seconds")[0].figure
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue().decode()
    return text[text.index("<svg") :]
