"""HTML for notebooks and reports. All text is escaped, because it may come from users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from relaxboost._core.names import printable


def shown(value: Any) -> str:
    """Return a value as escaped text. Floats are rounded to four significant digits."""
    return escape(printable(_text(value)))


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(rows: Iterable[Sequence[Any]], head: Sequence[Any] = ()) -> str:
    """Return an HTML table with numbers aligned to the right."""
    lines = ["<table>"]
    if head:
        lines.append("<tr>" + "".join(f"<th>{shown(cell)}</th>" for cell in head) + "</tr>")
    for row in rows:
        lines.append("<tr>" + "".join(map(_cell, row)) + "</tr>")
    return "\n".join([*lines, "</table>"])


MAX_LISTED = 20
"""The maximum number of entries of a long list, such as weights or examples, that a report or a
command shows. A list of weights contains the largest weights. Twenty lines fit on one screen."""
DIGEST_CHARACTERS = 12
"""The number of characters of a hexadecimal digest that a notebook shows for a game or a
certificate. Twelve of the 64 characters distinguish any games that a user compares."""


def card(title: str, facts: Mapping[str, Any], more: str = "") -> str:
    """Return the HTML that shows an object in a notebook: a title, a table of facts, and `more`."""
    rows = [(name, _text(value)) for name, value in facts.items()]
    return f"<div><strong>{shown(title)}</strong>\n{table(rows)}\n{more}</div>"


def curve(x: Sequence[float], y: Sequence[float], caption: str) -> str:
    """Return a small picture of a line through points (x, y), with a caption below it."""
    return _picture("M" + "L".join(_points(x, y)), "none", caption)


def stems(values: Sequence[float], caption: str) -> str:
    """Return a small picture with a vertical bar from 0 to each value, and a caption below it."""
    # The points (0, 0) and (n - 1, 0) keep the level of zero within the picture.
    places = [0, *range(len(values)), len(values) - 1]
    start, *ends, end = _points(places, [0.0, *values, 0.0])
    zero = start.split(",")[1]
    width = min(10.0, 160.0 / len(ends))
    bars = []
    for left, height in (point.split(",") for point in ends):
        bars.append(f"M{float(left) - width / 2:.1f},{zero}h{width:.1f}V{height}h{-width:.1f}z")
    return _picture(f"M{start}L{end}{''.join(bars)}", "currentColor", caption)


def _points(x: Sequence[float], y: Sequence[float]) -> list[str]:
    # The picture has 256 x 64 pixels and margins of 8 pixels.
    def scaled(values: Sequence[float], size: float) -> list[float]:
        low, high = min(values), max(values)
        return [size * (value - low) / (high - low or 1.0) for value in values]

    pairs = zip(scaled(x, 240.0), scaled(y, 48.0), strict=True)
    return [f"{8.0 + left:.1f},{56.0 - up:.1f}" for left, up in pairs]


def _picture(path: str, fill: str, caption: str) -> str:
    return (
        f'<svg width="256" height="64" role="img" aria-label="{shown(caption)}">'
        f'<path d="{path}" fill="{fill}" stroke="currentColor"/></svg>\n'
        f"<div><small>{shown(caption)}</small></div>\n"
    )


def _cell(value: Any) -> str:
    right = ' style="text-align:right"' if isinstance(value, (int, float)) else ""
    return f"<td{right}>{shown(value)}</td>"
