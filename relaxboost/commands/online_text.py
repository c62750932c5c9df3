"""The results that `relaxboost online` prints, as data and as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxboost._core.digits import finite
from relaxboost._core.errors import number_of
from relaxboost.commands.style import largest

ALMOST = 0.9
"""The part of a ball from which a note recommends a larger radius."""
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
        "filled": found.learner.filled,
        "seconds": seconds,
        "weights": dict(zip(names, w.tolist(), strict=True)),
    }


def run_text(found: Any, stream: Any, content: dict[str, Any]) -> str:
    """Return the result of a run, in lines."""
    rows, _, mistakes, _, seconds = found.last
    size, mean = content["base_functions"], content["mean_loss"]
    wrong = "" if mistakes is None else f", {mistakes / rows:.2%} wrong"
    lines = [
        f"data:       {stream.name}, {number_of(rows, 'example')}, {size} base functions "
        f"({stream.base.name})",
        f"learner:    {found.learner.method!r}",
        f"loss:       {mean:.6g} on average{wrong}, each predicted before it was learned",
    ]
    lines.append(f"regret:     {_regret(found, mean)}")
    lines.append(f"status:     {found.status}, {seconds:.2g} s, {rows / seconds:.3g} examples/s")
    # All average weights stay 0 if no base function varies.
    if not any(content["weights"].values()):
        lines.append("note:       nothing was learned; choose columns that vary, or another --base")
    if content["filled"] > ALMOST:
        lines.append(
            f"note:       the average weights fill {content['filled']:.0%} of the ball; a larger "
            "--radius, or --radius auto, may have smaller losses"
        )
    lines.append("average weights:")
    return "\n".join(lines + largest(content["weights"]))


def _regret(found: Any, mean: float) -> str:
    """Return the bound of the regret, and the least loss that follows from it."""
    from relaxboost.online.hedged import HedgedLearner

    rows, _, _, bound, _ = found.last
    learner = found.learner
    against = "no fixed weights have"
    if isinstance(learner, HedgedLearner):
        # No ball limits these weights, so the bound is for weights as long as the average.
        w = learner.average
        bound = learner.regret_bound(w)
        against = f"no fixed weights of a norm up to {np.linalg.norm(w):.3g} have"
    if not np.isfinite(bound):
        return f"this method has no bound with such steps; {_REMEDY}"
    return f"at most {bound:.6g}: {against} a mean loss below {mean - bound / rows:.6g}"


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
