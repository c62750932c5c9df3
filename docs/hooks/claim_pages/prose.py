"""The conversion of statements, notes and instances to Markdown, HTML and plain text."""

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from relaxboost._core.rounding import RELATIVE_ROUNDING
from relaxboost.claims.latex import rows_of
from relaxboost.claims.measure import Slack

_MARKED = re.compile(
    r"``(.+?)``|`([^`]+)`|(?<![\w*])\*(?=\w)([^*]+?)(?<=\w)\*(?![\w*(])", re.DOTALL
)
"""Code and emphasis in text. The star in a formula such as f*(u) does not match."""
_SPECIAL = re.compile(r"[\\*`]|(?<!\w)_|_(?!\w)|(?<=\])[(\[]")
"""Characters that have a meaning in Markdown. The underscore in x_t does not match."""
_INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters that HTML and XML do not allow, such as control characters."""
_PRODUCT = re.compile(r"<(?=\S)([^<>,]+), ([^<>,]+)(?<=\S)>")
"""A scalar product such as <d, u>. An inequality such as 0 < x does not match."""
MAX_PRINTED_SIDE = 14
"""The maximum number of rows, and of columns, of a matrix that a page about a claim prints in full.
Of a larger matrix, the page prints only the numbers of rows and columns."""


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a string as pairs of the type, "text", "code" or "emphasis", and text.

    Scalar products have the angle brackets of the other pages, and no line ends inside them.
    """
    text = _PRODUCT.sub("⟨\\1,\u00a0\\2⟩", text)
    at = 0
    for found in _MARKED.finditer(text):
        if found.start() > at:
            yield "text", text[at : found.start()]
        code = found[1] or found[2]
        yield ("code", code) if code else ("emphasis", found[3])
        at = found.end()
    if at < len(text):
        yield "text", text[at:]


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a docstring, each as one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]


def escaped(text: Any) -> str:
    """Return a string with its special characters escaped for HTML and XML."""
    return html.escape(_INVALID.sub("\ufffd", str(text)))


def as_html(text: str) -> str:
    """Convert text to HTML. Code becomes a <code> element, and emphasis an <em> element."""
    tags = {"code": "code", "emphasis": "em"}
    return "".join(
        f"<{tags[kind]}>{escaped(part)}</{tags[kind]}>" if kind in tags else escaped(part)
        for kind, part in pieces(text)
    )


def as_markdown(text: str, cell: bool = False) -> str:
    """Convert text to one line of Markdown, which is escaped for a table if `cell` is true."""
    parts = []
    for kind, part in pieces(" ".join(text.split())):
        if kind == "text":
            parts.append(_SPECIAL.sub(r"\\\g<0>", part).replace("<", "&lt;"))
        else:
            parts.append(formula(part) if kind == "code" else f"*{part}*")
    joined = "".join(parts)
    return joined.replace("|", r"\|") if cell else joined


def formula(text: str) -> str:
    """Return a formula as code in Markdown."""
    # The fence is longer than all runs of backticks in the formula.
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def code(text: str) -> str:
    """Return a formula between double backticks, which `pieces` recognises as code."""
    return f"``{text}``" if text else ""


def measured(slack: Slack) -> str:
    """Return a slack as one line of text, in which rounding errors are printed as 0."""

    def clean(value: float) -> float:
        # Rounding errors differ between machines.
        return 0.0 if abs(value) < RELATIVE_ROUNDING else value

    return str(replace(slack, left=clean(slack.left), right=clean(slack.right)))


def columns(instance: Mapping[str, Any]) -> str:
    """Return an instance as text. The rows of matrices come first, and the numbers follow."""
    lines: list[str] = []
    scalars = []
    for name, value in instance.items():
        if isinstance(value, (list, tuple)):
            lines += _array(name, value)
        else:
            scalars.append(f"{name} = {entry(value)}")
    return "\n".join([*lines, ", ".join(scalars)]).strip("\n")


def entry(value: Any) -> str:
    """Return an entry of an instance as text. Floats are rounded to six significant digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _array(name: str, value: Any) -> list[str]:
    rows = [[entry(x) for x in row] for row in rows_of(value)]
    if max(len(rows), len(rows[0])) > MAX_PRINTED_SIDE:
        is_matrix = rows_of(value) is value
        size = f"{len(rows)} × {len(rows[0])} matrix" if is_matrix else f"{len(value)} entries"
        return [f"{name} = ({size})"]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.rjust, row, widths)) for row in rows)
    margin = " " * len(f"{name} = ")
    return [(margin if i else f"{name} = ") + f"[{line}]" for i, line in enumerate(lines)]
