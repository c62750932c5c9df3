"""Reports about a solution, as text and as JSON data."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxboost._core.digits import finite
from relaxboost._core.errors import number_of
from relaxboost._core.rounding import show_bracket
from relaxboost.certificates.levels import strongest_level
from relaxboost.game.solution import Solution
from relaxboost.relaxations import HardMargin
from relaxboost.relaxations.bounds import bounds_of

_QUANTILES = {
    "min": 0.0,
    "1%": 0.01,
    "5%": 0.05,
    "10%": 0.1,
    "25%": 0.25,
    "median": 0.5,
    "75%": 0.75,
    "max": 1.0,
}
"""The margin quantiles in reports, by name, as shares of the examples.

Most are low, because low margins show which examples are hard.
"""


def margin_quantiles(solution: Solution) -> dict[str, float]:
    """Return the margin quantiles by name, from "min" to "max"."""
    values = np.quantile(solution.margins, list(_QUANTILES.values()))
    return dict(zip(_QUANTILES, values.tolist(), strict=True))


def text(solution: Solution, most: int = 10) -> str:
    """Return a text report about a solution: bounds, rounds, largest weights and margins."""
    s = solution
    lower, upper = show_bracket(s.lower, s.upper)
    certified = "certified" if bounds_of(s.game.relaxation).is_proved else "bracketed, numerical"
    asked = f"{s.tol:g}" + (f" or {s.rtol:g} |rho|" if s.rtol else "")
    lines = [
        f"{certified}:  {lower} <= rho <= {upper}   (gap {s.gap:.2g}, asked {asked}: {s.outcome})",
        f"method:     {s.method}, {number_of(s.rounds, 'round')}, {s.seconds:.2f} s",
    ]
    if s.status != "optimal":
        lines.append(f"note:       {s.message}")
    listed = s.hypotheses(most)
    said = f"none: {_why_none(s, upper)}"
    if listed:
        count = "1 hypothesis has" if len(s.support) == 1 else f"{len(s.support)} hypotheses have"
        said = f"{count} a nonzero weight; the largest weights are"
    lines.append(f"weights:    {said}")
    weights = _aligned([weight for weight, _ in listed], 8)
    lines += [f"  {weight}  {name}" for weight, (_, name) in zip(weights, listed, strict=True)]
    quantiles = margin_quantiles(s)
    lines.append("margins:    of the examples, by quantile")
    lines.append("  " + "".join(f"{name:>9}" for name in quantiles))
    lines.append("  " + "".join(_aligned(list(quantiles.values()), 9)))
    return "\n".join(lines)


def _aligned(values: list[float], width: int) -> list[str]:
    # Numbers have exponents if four decimals would be too few.
    form = ".4f" if not 0.0 < max(map(abs, values), default=0.0) < 1e-3 else ".1e"
    return [f"{value:{width}{form}}" for value in values]


def data(solution: Solution) -> dict[str, Any]:
    """Return a solution as a JSON-serialisable dictionary, without its distribution and history."""
    s = solution
    return {
        "lower": finite(s.lower),
        "upper": finite(s.upper),
        "gap": finite(s.gap),
        "tol": s.tol,
        "status": s.status,
        "message": s.message,
        "method": s.method,
        "rounds": s.rounds,
        "rounds_bound": finite(s.bound),
        "seconds": s.seconds,
        "examples": s.game.m,
        "hypotheses": s.game.n,
        "relaxation": repr(s.game.relaxation),
        "over": repr(s.game.over),
        "strongest_level": strongest_level(s.game),
        "game_digest": s.game.digest,
        "gamma": finite(s.gamma),
        "weights": [
            {"column": int(j), "coefficient": c, "hypothesis": s.game.matrix.describe(int(j))}
            for j, c in zip(s.support.tolist(), s.coefficients.tolist(), strict=True)
        ],
        "margin_quantiles": margin_quantiles(s),
    }


def _why_none(s: Solution, upper: str) -> str:
    if s.upper > 0.0 and s.status != "optimal":
        return (
            f"no vote was found before the run ended, but one may reach up to {upper}; allow more "
            "rounds or time"
        )
    hard = isinstance(s.game.relaxation, HardMargin)
    remedy = "a cap (--k, --fraction) ignores some" if hard else "a larger k ignores more"
    than = f"no vote does better than {upper if s.upper > 0.0 else 'nothing'} on the worst examples"
    return f"{than}; if equal examples have opposite labels, {remedy}"
