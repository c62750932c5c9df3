"""The results that `relaxboost online` prints, as data and as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxboost._core.digits import finite
from relaxboost._core.errors import number_of
from relaxboost.commands.style import largest

_REMEDY = "--horizon, the number of examples, gives steps with a bound"


def run_data(found: Any, stream: Any) -> dict[str, Any]:
    """Return the result of a run, for machines."""
    rows, loss, mistakes, bound, seconds = found.last
    w = found.learner.average
    names = stream.base.names(stream.columns)
    return {
        "data": stream.name,
        "base": stream.base.name,
        "base_functions": found.learner.size,
        "method": repr(found.learner.method),
        "status": found.status,
        "rows": rows,
        "mean_loss": loss / rows,
        "mistakes": mistakes,
        "error": None if mistakes is None else mistakes / rows,
        "regret_bound": finite(bound),
        "seconds": seconds,
        "weights": dict(zip(names, w.tolist(), strict=True)),
    }


def run_text(found: Any, stream: Any, content: dict[str, Any]) -> str:
    """Return the result of a run, in lines."""
    rows, _, mistakes, bound, seconds = found.last
    size, mean = content["base_functions"], content["mean_loss"]
    wrong = "" if mistakes is None else f", {mistakes / rows:.2%} wrong"
    lines = [
        f"data:       {stream.name}, {number_of(rows, 'example')}, {size} base functions "
        f"({stream.base.name})",
        f"learner:    {found.learner.method!r}",
        f"loss:       {mean:.6g} on average{wrong}, each predicted before it was learned",
    ]
    if np.isfinite(bound):
        least = f"no fixed weights have a mean loss below {mean - bound / rows:.6g}"
        lines.append(f"regret:     at most {bound:.6g}: {least}")
    else:
        lines.append(f"regret:     this method has no bound with such steps; {_REMEDY}")
    lines.append(f"status:     {found.status}, {seconds:.2g} s, {rows / seconds:.3g} examples/s")
    # All average weights stay 0 if no base function varies.
    if not any(content["weights"].values()):
        lines.append("note:       nothing was learned; choose columns that vary, or another --base")
    lines.append("average weights:")
    return "\n".join(lines + largest(content["weights"]))


def compare_text(content: dict[str, dict[str, Any]]) -> str:
    """Return a table with a row for each learner."""
    header = ["learner", "mean loss", "wrong", "regret <=", "examples", "examples/s"]
    rows = [header]
    for name, one in content.items():
        error, bound = one["error"], one["regret_bound"]
        rows.append(
            [
                name,
                f"{one['mean_loss']:.6g}",
                "-" if error is None else f"{error:.2%}",
                "-" if bound is None else f"{bound:.5g}",
                str(one["rows"]),
                f"{one['rows'] / one['seconds']:.3g}",
            ]
        )
    # Columns are as wide as their longest cell, so that the table lines up in a pipe too.
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells[1:]]))
    if any(row["regret_bound"] is None for row in content.values()):
        lines.append(f"regret <= -: no bound with such steps; {_REMEDY}")
    return "\n".join(lines)
