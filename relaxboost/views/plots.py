"""Pictures of relaxations and of solutions (needs the `plots` extra)."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost._core.errors import InputError, MissingDependencyError
from relaxboost._core.files import check_output, write_atomically
from relaxboost.game.solution import Solution
from relaxboost.online.regrets import Regret
from relaxboost.relaxations import Relaxation

SUFFIXES = (".png", ".pdf", ".svg")
_MARKERS = "os^Dv"


def check_plot(path: str | os.PathLike[str]) -> None:
    """Raise before any work if a picture cannot be drawn or `path` not be written."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingDependencyError("pictures need matplotlib; pip install matplotlib") from None
    check_output(path, SUFFIXES)


def overview(*solutions: Solution, title: str = "") -> Any:
    """Return a matplotlib figure: the margins of each solution, and its gap against the rounds.

    Parameters
    ----------
    *solutions : Solution
        One or more.
    title : str
    """
    if not solutions:
        raise InputError("overview needs at least one solution")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _margins(left, solutions)
    _gaps(right, solutions)
    if title:
        figure.suptitle(title)
    return figure


def portrait(*relaxations: Relaxation, margins: ArrayLike, beta: float = 0.05) -> Any:
    """Return a matplotlib figure of relaxations side by side: f, f* and the d that each prefers.

    Parameters
    ----------
    *relaxations : Relaxation
        One or more.
    margins : array of shape (m,)
        The margins to which the distributions answer; m is also the dimension of f and f*.
    beta : float
        Smoothing of the distributions, > 0.
    """
    if not relaxations or not all(isinstance(f, Relaxation) for f in relaxations):
        raise InputError("portrait needs one relaxation or more, such as rb.Capped(k=5)")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.4 * 3, 4.0), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    m = np.size(margins)
    draw_penalty(left, *relaxations, m=m)
    draw_conjugate(middle, *relaxations, m=m)
    draw_distribution(right, *relaxations, margins=margins, beta=beta)
    return figure


def draw_penalty(axes: Any, *relaxations: Relaxation, m: int) -> None:
    """Draw f along the line from the uniform distribution to all weight on one example.

    Where f becomes infinite the curve ends in a wall.
    """

    def price(f: Relaxation, weight: float) -> float:
        d = np.full(m, (1.0 - weight) / max(m - 1, 1))
        d[0] = weight
        return f.penalty(d)

    _curves(axes, relaxations, m, np.linspace(1.0 / m, 1.0, 201), price)
    axes.set(xlabel="weight of one example, the others alike", ylabel="f(d)")
    axes.set_title(f"the price f, for {m} examples", fontsize="medium")


def draw_conjugate(axes: Any, *relaxations: Relaxation, m: int, most: float = 1.0) -> None:
    """Draw f* at θ = (t, 0, ..., 0) for 0 <= t <= `most`; where infinite it ends in a wall."""
    axis = np.eye(m)[0]
    _curves(axes, relaxations, m, np.linspace(0.0, most, 101), lambda f, t: f.conjugate(t * axis))
    axes.set(xlabel="t", ylabel="f*(t, 0, ..., 0)")
    axes.set_title(f"the conjugate f*, for {m} examples", fontsize="medium")


def draw_distribution(
    axes: Any, *relaxations: Relaxation, margins: ArrayLike, beta: float = 0.05
) -> None:
    """Draw the distribution that each relaxation prefers at given margins, smoothed by `beta`."""
    u = np.sort(np.asarray(margins, dtype=np.float64))
    for index, given in enumerate(relaxations):
        d = given.resolve(u.size).distribution(u, beta)
        marker = _MARKERS[index % len(_MARKERS)]
        axes.plot(u, d, f"{marker}-", color=f"C{index}", markersize=4, label=repr(given))
    axes.axhline(1.0 / u.size, color="gray", linestyle=":", linewidth=1)
    axes.set(xlabel="margin of an example", ylabel="its weight (dotted: uniform)")
    axes.set_title(f"the distribution it prefers (β = {beta:g})", fontsize="medium")
    axes.legend(fontsize="small")


def draw_margins(axes: Any, margins: Mapping[str, ArrayLike]) -> None:
    """Draw, for each name, the share of examples with at most a given margin."""
    for index, (name, values) in enumerate(margins.items()):
        _step(axes, index, name, values)
    axes.legend(fontsize="small", loc="best")


def _step(axes: Any, index: int, name: str, margins: ArrayLike) -> None:
    u = np.sort(np.asarray(margins, dtype=np.float64))
    share = np.arange(1, u.size + 1) / u.size
    axes.step(u, share, where="post", color=f"C{index}", label=name)
    axes.set(xlabel="margin of an example", ylabel="share of examples at or below", ylim=(0, 1))


def _curves(
    axes: Any,
    relaxations: tuple[Relaxation, ...],
    m: int,
    grid: NDArray[np.float64],
    of: Callable[[Relaxation, float], float],
) -> None:
    """Draw one curve for each relaxation where it is finite, and a wall at each of its ends."""
    walls: list[tuple[float, float, dict[str, Any]]] = []
    for index, given in enumerate(relaxations):
        curve = partial(of, given.resolve(m))
        style = {"color": f"C{index}", "linewidth": 1.8, "zorder": 3 - 0.1 * index}
        found = _ends(curve, grid)
        x = np.union1d(grid, found)
        y = np.array([curve(at) for at in x])
        axes.plot(x[np.isfinite(y)], y[np.isfinite(y)], label=repr(given), **style)
        walls += [(at, curve(at), style) for at in found]
    low, high = axes.get_ylim()
    high += (high - low) * 0.1
    for at, bottom, style in walls:
        axes.plot([at, at], [bottom, high], **style)
        axes.annotate(" ∞", (at, high), va="top", color=style["color"], annotation_clip=False)
    axes.set_ylim(low, high)
    axes.legend(fontsize="small", loc="upper center" if walls else "best", framealpha=0.95)


def _ends(curve: Callable[[float], float], grid: NDArray[np.float64]) -> list[float]:
    """Return the last points at which a curve is finite, by bisection between grid points."""
    finite = [bool(np.isfinite(curve(x))) for x in grid]
    found = []
    for i in np.flatnonzero(np.diff(finite)):
        inside, outside = (grid[i], grid[i + 1]) if finite[i] else (grid[i + 1], grid[i])
        for _ in range(30):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if np.isfinite(curve(middle)) else (inside, middle)
        found.append(float(inside))
    return found


def progress(histories: Mapping[str, Sequence[Any]], title: str = "") -> Any:
    """Return a matplotlib figure: the mean progressive loss of learners against examples.

    Below each curve a dashed one: what the mean loss of any fixed weights is at least, as the bound
    of the regret says.

    Parameters
    ----------
    histories : mapping
        From names to records of `online.progressive`.
    title : str
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, records in histories.items():
        rows = np.array([one.rows for one in records])
        mean = np.array([one.loss for one in records]) / rows
        line = axes.plot(rows, mean, "o" if rows.size == 1 else "-", label=name)[0]
        least = mean - np.array([one.bound for one in records]) / rows
        shown = least > min(0.0, float(mean.min()))  # early bounds say nothing
        axes.plot(rows[shown], least[shown], "--", color=line.get_color(), linewidth=1)
    axes.set(
        xlabel="examples", ylabel="mean loss (dashed: no fixed weights have less)", xscale="log"
    )
    axes.legend()
    if title:
        axes.set_title(title)
    return figure


def regret_curves(*regrets: Regret, title: str = "") -> Any:
    """Return a matplotlib figure of regret along the way: its bracket and the theorem's bounds.

    Parameters
    ----------
    *regrets : Regret
        One or more, made with ``at=``; one learner is one colour.
    title : str
    """
    if not regrets or not all(isinstance(one, Regret) for one in regrets):
        raise InputError("regret_curves needs one Regret or more, such as online.regret returns")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    axes = figure.subplots()
    for index, last in enumerate(regrets):
        points = [*last.along, last]
        style: dict[str, Any] = {"color": f"C{index}"}
        x = [one.examples for one in points]
        axes.fill_between(
            x, [one.lower for one in points], [one.upper for one in points], alpha=0.3, **style
        )
        middle = [(one.lower + one.upper) / 2.0 for one in points]
        marker = _MARKERS[index % len(_MARKERS)]
        axes.plot(x, middle, f"{marker}-", markersize=4, label=last.learner, **style)
        for line, bounds in ((":", "bound"), ("--", "bound_at")):
            y = [getattr(one, bounds) for one in points]
            if np.isfinite(y).all():
                axes.plot(x, y, line, linewidth=1, **style)
    above = min(one.lower for last in regrets for one in (*last.along, last)) > 0.0
    scale = "log" if above else "linear"
    axes.set(xscale=scale, yscale=scale, xlabel="examples", ylabel="regret")
    axes.set_title(
        title or "regret, and its bounds (dashed: against the best w, dotted: any)",
        fontsize="medium",
    )
    figure.legend(fontsize="x-small", loc="outside lower left")
    return figure


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure, or that of one or several axes, to `path` (.png, .pdf or .svg), in whole."""
    target = check_output(path, SUFFIXES)
    figures = {one.figure for one in np.ravel(figure)}
    if len(figures) != 1:
        raise InputError(f"axes must be of one figure, got those of {len(figures)}; save each")
    buffer = io.BytesIO()
    figures.pop().savefig(buffer, format=target.suffix[1:].lower(), dpi=150)
    write_atomically(target, buffer.getvalue())


def _name(solution: Solution) -> str:
    return f"{solution.game.relaxation}, {solution.method}"


def _margins(axes: Any, solutions: tuple[Solution, ...]) -> None:
    for index, solution in enumerate(solutions):
        _step(axes, index, _name(solution), solution.margins)
        axes.axvline(solution.lower, color=f"C{index}", linestyle=":", linewidth=1)
    axes.set_title("margins (dotted: lower bound on the value)", fontsize="medium")
    axes.legend(fontsize="small", loc="upper left")


def _gaps(axes: Any, solutions: tuple[Solution, ...]) -> None:
    for index, solution in enumerate(solutions):
        gaps = [(r.round, r.upper - r.lower) for r in solution.history]
        gaps = [(t, gap) for t, gap in gaps if 0.0 < gap < np.inf]
        if gaps:
            axes.plot(*zip(*gaps, strict=True), color=f"C{index}", label=_name(solution))
            axes.axhline(solution.tol, color=f"C{index}", linestyle=":", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="round", ylabel="upper − lower")
    axes.set_title("gap (dotted: asked for)", fontsize="medium")
    if axes.lines:
        axes.legend(fontsize="small", loc="lower left")
