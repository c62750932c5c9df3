"""HTML for notebooks. All text is escaped, because it may come from users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from relaxboost._core.names import printable


def shown(value: Any) -> str:
    """Return a value as escaped text, with floats rounded to four significant digits."""
    return escape(printable(_text(value)))


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(rows: Iterable[Sequence[Any]], head: Sequence[Any] = ()) -> str:
    """Return an HTML table with right-aligned numbers."""
    lines = ["<table>"]
    if head:
        lines.append("<tr>" + "".join(f"<th>{shown(cell)}</th>" for cell in head) + "</tr>")
    for row in rows:
        lines.append("<tr>" + "".join(map(_cell, row)) + "</tr>")
    return "\n".join([*lines, "</table>"])


DIGEST_CHARACTERS = 12
"""The number of digest characters that a notebook shows."""


def card(title: str, facts: Mapping[str, Any], more: str = "") -> str:
    """Return an HTML summary of an object: a title, a table of facts, and `more` HTML."""
    rows = [(name, _text(value)) for name, value in facts.items()]
    return f"<div><strong>{shown(title)}</strong>\n{table(rows)}\n{more}</div>"


def _cell(value: Any) -> str:
    right = ' style="text-align:right"' if isinstance(value, (int, float)) else ""
    return f"<td{right}>{shown(value)}</td>"
