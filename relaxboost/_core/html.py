"""HTML for notebooks and reports. Text may come from users, and is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from relaxboost._core.names import printable


def shown(value: Any) -> str:
    """Return a value as text without markup; floats have four digits, other values are `str`."""
    return escape(printable(_text(value)))


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(rows: Iterable[Sequence[Any]], head: Sequence[Any] = ()) -> str:
    """Return a table with numbers aligned to the right."""
    lines = ["<table>"]
    if head:
        lines.append("<tr>" + "".join(f"<th>{shown(cell)}</th>" for cell in head) + "</tr>")
    for row in rows:
        lines.append("<tr>" + "".join(map(_cell, row)) + "</tr>")
    return "\n".join([*lines, "</table>"])


def card(title: str, facts: Mapping[str, Any], more: str = "") -> str:
    """Return the display of an object in a notebook: a title, facts by name, and more HTML."""
    rows = [(name, _text(value)) for name, value in facts.items()]
    return f"<div><strong>{shown(title)}</strong>\n{table(rows)}\n{more}</div>"


def _cell(value: Any) -> str:
    right = ' style="text-align:right"' if isinstance(value, (int, float)) else ""
    return f"<td{right}>{shown(value)}</td>"
