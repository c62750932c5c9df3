"""Pictures of the two sides of claims on one instance. They need matplotlib."""

import io
import math
import re
from typing import Any

import numpy as np

from relaxboost.claims.measure import REFUTED, Slack
from relaxboost.claims.verdict import Evidence

LEFT, RIGHT = "#1b4f8a", "#f5b265"
"""The colours of the left side and the right side, which differ in greyscale too."""
WRONG = "#a50f15"
"""The colour of the places where an inequality is violated."""

MAX_BARS = 6
"""The maximum number of inequalities in a picture of the two sides of a claim. If an instance has
more inequalities, the picture shows those with the least slack. Six pairs of bars fit in a panel
with readable labels."""


def sides(evidence: Evidence) -> Any:
    """Return a matplotlib figure of the two sides on one instance, without the data."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 3.6), layout="constrained")
    draw_sides(figure.subplots(), evidence)
    return figure


def svg(figure: Any, salt: str) -> bytes:
    """Return a reproducible SVG of a matplotlib figure. The ids in the SVG depend on `salt`."""
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    content = re.sub(rb"<!--.*?-->|(?<=>)\s+(?=<)", b"", buffer.getvalue())
    # Coordinates are rounded to 1/100 of a point. Only the scale of letters needs more digits.
    return re.sub(rb"(?<!scale\()(\b\d+\.\d\d)\d{4}\b", rb"\1", content)


def draw_sides(axes: Any, evidence: Evidence) -> None:
    """Draw both sides of the inequalities of an instance, by round if there are several rounds."""
    finite = [s for s in evidence.slacks if math.isfinite(s.left) and math.isfinite(s.right)]
    trace = [s for s in finite if s.round is not None and s.where == evidence.slack.where]
    if len({s.round for s in trace}) > 1:
        _draw_trace(axes, trace, evidence)
    else:
        # If all inequalities fit, they keep their order.
        many = len(evidence.slacks) > MAX_BARS
        ordered = sorted(
            evidence.slacks, key=lambda s: (s is not evidence.slack, many * s.relative)
        )
        _draw_bars(axes, ordered[:MAX_BARS])


def _draw_trace(axes: Any, trace: list[Slack], evidence: Evidence) -> None:
    rounds, left, right = np.array([(s.round, s.left, s.right) for s in trace]).T
    few = len(trace) <= 25
    style = {"linewidth": 1.8, "markersize": 4.5 if few else 0}
    axes.plot(rounds, left, "o-", color=LEFT, label=_left_side(trace), zorder=3, **style)
    axes.plot(rounds, right, "s--", color=RIGHT, label="right side", **style)
    wrong = np.array([s.is_violation for s in trace])
    if wrong.any() and not evidence.slack.equality:
        shade: dict[str, Any] = {"color": WRONG, "alpha": 0.3, "linewidth": 0, "interpolate": True}
        axes.fill_between(rounds, left, right, where=wrong, label="too large", **shade)
    if evidence.outcome == REFUTED and evidence.slack.round is not None:
        at = (evidence.slack.round, evidence.slack.left)
        axes.plot(*at, "o", markersize=12, markerfacecolor="none", markeredgecolor=WRONG)
    values = np.concatenate([left, right])
    if 0.0 < 30.0 * values.min() < values.max():
        axes.set_yscale("log")
    if rounds.max() > 100 * max(1, rounds.min()):
        axes.set_xscale("log")
    elif few:
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel="round")
    axes.set_title(evidence.slack.where or "the two sides, by round", fontsize="medium")
    axes.legend(fontsize="small", loc="best")


def _draw_bars(axes: Any, slacks: list[Slack]) -> None:
    # The size of a pair is the larger absolute value of its sides, or 1 if both are 0 or infinite.
    finite = ([abs(v) for v in (s.left, s.right) if math.isfinite(v)] for s in slacks)
    sizes = [max(found, default=1.0) or 1.0 for found in finite]
    own = max(sizes) > 20.0 * min(sizes)  # These sizes are too different for one scale.
    units = sizes if own else [1.0] * len(slacks)
    sides = [v / unit for s, unit in zip(slacks, units, strict=True) for v in (s.left, s.right)]
    values = list(filter(math.isfinite, sides))
    low, high = min([0.0, *values]), max([0.0, *values])
    reach = (high - low) or 1.0
    for place, (slack, unit) in enumerate(zip(slacks, units, strict=True)):
        names = (_left_side(slacks), "right side") if place == 0 else (None, None)
        wrong = {"color": WRONG, "fontweight": "bold"} if slack.is_violation else {}
        for value, colour, at, label, style in (
            (slack.left, LEFT, place - 0.17, names[0], wrong),
            (slack.right, RIGHT, place + 0.17, names[1], {}),
        ):
            length = value / unit if math.isfinite(value) else math.copysign(1.15 * reach, value)
            axes.barh(at, length, height=0.3, color=colour, label=label, zorder=2)
            _write_value(axes, value, (length, at), style)
    axes.axvline(0.0, color="black", linewidth=0.8, zorder=3)
    axes.set_xlim(low - (0.32 * reach if low < 0.0 else 0.0), high + 0.32 * reach)
    spare = max(0.0, 3 - len(slacks)) / 2  # A single pair would fill the panel.
    axes.set_ylim(len(slacks) - 0.5 + spare, -0.5 - spare)
    _name_pairs(axes, slacks)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.get_major_locator().set_params(nbins=6)
    if own:
        axes.set(xticks=[], xlabel="each pair to its own scale")
        axes.spines["bottom"].set_visible(False)
    axes.legend(
        fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False
    )


def _write_value(axes: Any, value: float, tip: tuple[float, float], style: dict[str, str]) -> None:
    right = tip[0] >= 0
    axes.annotate(
        _plain(value),
        tip,
        (4 if right else -4, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="center",
        fontsize="small",
        **style,
    )


def _name_pairs(axes: Any, slacks: list[Slack]) -> None:
    pairs = [_name(slack, place) for place, slack in enumerate(slacks)]
    if len(slacks) == 1:
        axes.set_yticks([])
        axes.set_title(pairs[0], fontsize="medium")
        return
    if len({slack.equality for slack in slacks}) > 1:
        pairs = [f"{n} ({_relation(s)})" for n, s in zip(pairs, slacks, strict=True)]
    axes.set_yticks(range(len(slacks)), pairs, fontsize="small")
    axes.set_title("the two sides", fontsize="medium")


def _name(slack: Slack, place: int) -> str:
    name = slack.where or (f"inequality {place + 1}" if place else "the two sides")
    return f"{name}, round {slack.round}" if slack.round else name


def _relation(slack: Slack) -> str:
    return "=" if slack.equality else "≤"


def _left_side(slacks: list[Slack]) -> str:
    relations = {_relation(slack) for slack in slacks}
    return f"left side {relations.pop()}" if len(relations) == 1 else "left side"


def _plain(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.5g}".replace("-", "−")
