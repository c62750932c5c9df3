"""Plots of relaxations and solutions, which need the `plots` extra.

Each function draws on the given Axes or on a new figure, and returns the Axes or an array of them.
Curves differ in colour and in dashes or markers. Legends are below the Axes.
"""

from __future__ import annotations

import io
import os
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost._core.errors import InputError, brief, check_drawing
from relaxboost._core.files import check_output, write_atomically
from relaxboost.game.solution import Solution
from relaxboost.online.regrets import Regret
from relaxboost.relaxations import Relaxation
from relaxboost.solvers.comparison import MethodComparison

SUFFIXES = (".png", ".pdf", ".svg")
LEGEND_CHARACTERS = 150
"""The maximum length of a relaxation's repr in a legend, about four lines."""
_MARKERS = "os^Dv"
_DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (7, 1, 1, 1, 1, 1)))


def _style(index: int) -> dict[str, Any]:
    # The dashes distinguish the curves if a reader cannot see their colours.
    return {"color": f"C{index % 10}", "linestyle": _DASHES[index % len(_DASHES)]}


def _panels(axes: Any, count: int, size: tuple[float, float]) -> Any:
    """Return the caller's Axes as an array, or those of a new figure if `axes` is None."""
    if axes is None:
        check_drawing()
        from matplotlib.figure import Figure

        axes = Figure(figsize=size, layout="constrained").subplots(1, count)
    found = np.ravel(axes)
    if found.size != count:
        raise InputError(f"this plot needs {count} Axes, but axes has {found.size}")
    return found


def _legend(axes: Any, columns: int = 1) -> None:
    from matplotlib.transforms import offset_copy

    # The label of the axis is between the Axes and the legend, and its height is in points.
    below = offset_copy(axes.transAxes, axes.figure, y=-38.0, units="points")
    place = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "bbox_transform": below}
    style = {"fontsize": "small", "frameon": False, "handlelength": 3.2, "borderaxespad": 0.0}
    for text in axes.legend(ncols=columns, **style, **place).get_texts():
        # Names may contain dollar signs, between which matplotlib would read mathematics.
        text.set_parse_math(False)
        lines = text.get_text().split("\n")
        # An inch holds about 13 small letters.
        room = max(20, int(axes.bbox.width / axes.figure.dpi * 13))
        text.set_text("\n".join(textwrap.fill(line, room) for line in lines))


def check_plot(path: str | os.PathLike[str]) -> None:
    """Raise an error before any work if matplotlib is missing or `path` cannot be written."""
    check_drawing()
    check_output(path, SUFFIXES)


def overview(*solutions: Solution, title: str = "", axes: Any = None) -> Any:
    """Draw the margins and the gap of each solution, and return an array of two Axes.

    Parameters
    ----------
    *solutions : Solution
        The solutions to draw, each in its own colour.
    title : str
        The title of the picture.
    axes : two Axes, optional
        The matplotlib Axes to draw on. By default, a new figure is made.

    Examples
    --------
    >>> import relaxboost as rb
    >>> vote = rb.solve(rb.Game([[1, 0], [0, 1]]))
    >>> margins, gap = rb.views.plots.overview(vote, title="Two examples")
    >>> gap.get_xlabel()
    'round'
    """
    if not solutions or not all(isinstance(one, Solution) for one in solutions):
        raise InputError("overview needs at least one Solution, as returned by rb.solve")
    panels = _panels(axes, 2, (10.5, 4.6))
    _margins(panels[0], solutions)
    _gaps(panels[1], solutions)
    if title:
        panels[0].figure.suptitle(title)
    return panels


def portrait(
    *relaxations: Relaxation, margins: ArrayLike, beta: float = 0.05, axes: Any = None
) -> Any:
    """Draw f, f* and the optimal distribution d of relaxations, and return an array of three Axes.

    Parameters
    ----------
    *relaxations : Relaxation
        The relaxations to draw, each in its own colour.
    margins : array of shape (m,)
        The margins for which the distributions are optimal.
    beta : float
        The smoothing parameter of the distributions, > 0.
    axes : three Axes, optional
        The matplotlib Axes to draw on. By default, a new figure is made.
    """
    if not relaxations or not all(isinstance(f, Relaxation) for f in relaxations):
        raise InputError("portrait needs at least one relaxation, such as rb.Capped(k=5)")
    panels = _panels(axes, 3, (4.4 * 3, 4.4))
    draw_penalty(*relaxations, m=np.size(margins), axes=panels[0])
    draw_conjugate(*relaxations, m=np.size(margins), axes=panels[1])
    draw_distribution(*relaxations, margins=margins, beta=beta, axes=panels[2])
    return panels


def draw_penalty(*relaxations: Relaxation, m: int, axes: Any = None) -> Any:
    """Draw the penalty f of each relaxation along a line of distributions over m examples.

    The line passes through the center of f and ends with all weight on one example, the heaviest in
    the center. The other weights keep their proportions. The center is the uniform distribution
    unless f is infinite there. A vertical line marks each point where f becomes infinite.
    """

    def price(f: Relaxation) -> Callable[[float], float]:
        center = f.center(m)
        largest = int(np.argmax(center))
        others = np.delete(center, largest)
        # If m = 1, there are no other examples, and the sum is 0.
        others /= max(others.sum(), np.finfo(float).tiny)

        def at(weight: float) -> float:
            return f.penalty(np.insert((1.0 - weight) * others, largest, weight))

        return at

    (axes,) = _panels(axes, 1, (4.6, 4.4))
    _curves(axes, relaxations, m, np.linspace(1.0 / m, 1.0, 201), price)
    axes.set(xlabel="weight of one example, the others alike", ylabel="f(d)")
    axes.set_title(f"the price f, for {m} examples", fontsize="medium")
    return axes


def draw_conjugate(*relaxations: Relaxation, m: int, most: float = 1.0, axes: Any = None) -> Any:
    """Draw the conjugate f* of each relaxation at θ = (t, 0, ..., 0) for 0 <= t <= `most`.

    A vertical line marks each point where f* becomes infinite.
    """
    (axes,) = _panels(axes, 1, (4.6, 4.4))
    axis = np.eye(m)[0]
    grid = np.linspace(0.0, most, 101)
    _curves(axes, relaxations, m, grid, lambda f: lambda t: f.conjugate(t * axis))
    axes.set(xlabel="t", ylabel="f*(t, 0, ..., 0)")
    axes.set_title(f"the conjugate f*, for {m} examples", fontsize="medium")
    return axes


def draw_distribution(
    *relaxations: Relaxation, margins: ArrayLike, beta: float = 0.05, axes: Any = None
) -> Any:
    """Draw each relaxation's optimal distribution over the examples at given margins.

    An entropy term of weight `beta` smooths the distribution.
    """
    (axes,) = _panels(axes, 1, (4.6, 4.4))
    u = np.sort(np.asarray(margins, dtype=np.float64))
    for index, given in enumerate(relaxations):
        d = given.resolve(u.size).distribution(u, beta)
        marker = _MARKERS[index % len(_MARKERS)]
        axes.plot(u, d, marker=marker, markersize=4, label=_named(given), **_style(index))
    axes.axhline(1.0 / u.size, color="gray", linestyle=":", linewidth=1)
    axes.set(xlabel="margin of an example", ylabel="its weight (dotted: uniform)")
    axes.set_title(f"the distribution it prefers (β = {beta:g})", fontsize="medium")
    _legend(axes)
    return axes


def draw_margins(margins: Mapping[str, ArrayLike], axes: Any = None) -> Any:
    """Draw the cumulative distribution of margins, with one curve for each named array."""
    if not isinstance(margins, Mapping):
        raise InputError(
            "draw_margins needs a dictionary from names to arrays of margins, such as "
            f'{{"my vote": solution.margins}}, got {type(margins).__name__}'
        )
    (axes,) = _panels(axes, 1, (5.2, 4.4))
    for index, (name, values) in enumerate(margins.items()):
        _step(axes, index, name, values)
    _legend(axes)
    return axes


def _step(axes: Any, index: int, name: str, margins: ArrayLike) -> None:
    u = np.sort(np.asarray(margins, dtype=np.float64))
    share = np.arange(1, u.size + 1) / u.size
    axes.step(u, share, where="post", label=name, **_style(index))
    axes.set(xlabel="margin of an example", ylabel="share of examples at or below", ylim=(0, 1))


def _named(f: Relaxation) -> str:
    return brief(f, LEGEND_CHARACTERS)


def _curves(
    axes: Any,
    relaxations: tuple[Relaxation, ...],
    m: int,
    grid: NDArray[np.float64],
    of: Callable[[Relaxation], Callable[[float], float]],
) -> None:
    """Draw a curve for each relaxation where it is finite, with a vertical line at each end.

    The function `of` returns a relaxation's curve as a function of one number.
    """
    walls: list[tuple[float, float, dict[str, Any]]] = []
    for index, given in enumerate(relaxations):
        curve = of(given.resolve(m))
        style = _style(index) | {"linewidth": 1.8, "zorder": 3 - 0.1 * index}
        found = _ends(curve, grid)
        x = np.union1d(grid, found)
        y = np.array([curve(at) for at in x])
        drawn = np.isfinite(y)
        label = _named(given) if drawn.any() else f"{_named(given)}, infinite along this line"
        axes.plot(x[drawn], y[drawn], label=label, **style)
        walls += [(at, curve(at), style) for at in found]
    low, high = axes.get_ylim()
    high += (high - low) * 0.1
    for at, bottom, style in walls:
        axes.plot([at, at], [bottom, high], **style)
        axes.annotate(" ∞", (at, high), va="top", color=style["color"], annotation_clip=False)
    axes.set_ylim(low, high)
    _legend(axes)


def _ends(curve: Callable[[float], float], grid: NDArray[np.float64]) -> list[float]:
    # Bisection between grid points finds the ends of the finite parts.
    finite = [bool(np.isfinite(curve(x))) for x in grid]
    found = []
    for i in np.flatnonzero(np.diff(finite)):
        inside, outside = (grid[i], grid[i + 1]) if finite[i] else (grid[i + 1], grid[i])
        for _ in range(30):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if np.isfinite(curve(middle)) else (inside, middle)
        found.append(float(inside))
    return found


def regret_curves(*regrets: Regret, title: str = "", axes: Any = None) -> Any:
    """Draw the regret of online learners against the number of examples, and return the Axes.

    The shaded area of a learner lies between its lower and upper bound. Thin lines show the
    theoretical upper bounds.

    Parameters
    ----------
    *regrets : Regret
        The results of `online.regret`, one for each learner. Its argument ``at`` sets the numbers
        of examples for which the regret is drawn.
    title : str
        The title of the picture.
    axes : Axes, optional
        The matplotlib Axes to draw on. By default, a new figure is made.
    """
    if not regrets or not all(isinstance(one, Regret) for one in regrets):
        raise InputError("regret_curves needs at least one Regret, as returned by online.regret")
    (axes,) = _panels(axes, 1, (7.5, 4.8))
    above = True
    for index, last in enumerate(regrets):
        points = [*last.along, last]
        style: dict[str, Any] = {"color": f"C{index}"}
        x, lower, upper, bound, bound_at = np.array(
            [(one.examples, one.lower, one.upper, one.bound, one.bound_at) for one in points]
        ).T
        above = above and bool((lower > 0.0).all())
        axes.fill_between(x, lower, upper, alpha=0.3, **style)
        marker = _MARKERS[index % len(_MARKERS)]
        axes.plot(x, (lower + upper) / 2.0, f"{marker}-", markersize=4, label=last.learner, **style)
        for line, y in ((":", bound), ("--", bound_at)):
            if np.isfinite(y).all():
                axes.plot(x, y, line, linewidth=1, **style)
    # A logarithm needs positive ends of the brackets.
    scale = "log" if above else "linear"
    axes.set(xscale=scale, yscale=scale, xlabel="examples", ylabel="regret")
    usual = "regret, and its bounds (dashed: against the best w, dotted: any)"
    axes.set_title(title or usual, fontsize="medium")
    _legend(axes)
    return axes


def bounds_by_round(comparison: MethodComparison, title: str = "", axes: Any = None) -> Any:
    """Draw the bounds of each method against the number of rounds, and return the Axes.

    Parameters
    ----------
    comparison : MethodComparison
        The result of `rb.solvers.compare_methods`. Both bounds of a method have the same colour.
    title : str
        The title of the picture.
    axes : Axes, optional
        The matplotlib Axes to draw on. By default, a new figure is made.
    """
    if not isinstance(comparison, MethodComparison):
        raise InputError(
            "bounds_by_round needs a result of solvers.compare_methods, "
            f"got {type(comparison).__name__}"
        )
    (axes,) = _panels(axes, 1, (7.5, 4.8))
    for index, solution in enumerate(comparison.solutions):
        rounds = [record.round for record in solution.history]
        marker = "o" if len(rounds) == 1 else ""
        for bound, label in (("upper", solution.method), ("lower", None)):
            values = [getattr(record, bound) for record in solution.history]
            axes.plot(rounds, values, label=label, marker=marker, **_style(index))
    axes.set(xlabel="round", ylabel="bounds on the value", xscale="log")
    axes.set_title(title)
    _legend(axes, columns=2)
    return axes


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure, or the figure of the given Axes, to a PNG, PDF or SVG file."""
    target = check_output(path, SUFFIXES)
    figures = {one.figure for one in np.ravel(figure)}
    if len(figures) != 1:
        raise InputError(
            f"axes must belong to one figure, got Axes of {len(figures)} figures; save each figure "
            "separately"
        )
    buffer = io.BytesIO()
    figures.pop().savefig(buffer, format=target.suffix[1:].lower(), dpi=150)
    write_atomically(target, buffer.getvalue())


def _margins(axes: Any, solutions: tuple[Solution, ...]) -> None:
    for index, solution in enumerate(solutions):
        _step(
            axes, index, f"{_named(solution.game.relaxation)}, {solution.method}", solution.margins
        )
        axes.axvline(solution.lower, linewidth=0.7, **_style(index))
    axes.set_title("margins (thin: lower bound on the value)", fontsize="medium")
    _legend(axes)


def _gaps(axes: Any, solutions: tuple[Solution, ...]) -> None:
    for index, solution in enumerate(solutions):
        gaps = [(r.round, r.upper - r.lower) for r in solution.history if r.round > 0]
        gaps = [(number, gap) for number, gap in gaps if 0.0 < gap < np.inf]
        if gaps:
            marker = "o" if len(gaps) == 1 else ""
            axes.plot(*zip(*gaps, strict=True), marker=marker, **_style(index))
            axes.axhline(solution.tol, linewidth=0.7, **_style(index))
    axes.set(xscale="log", yscale="log", xlabel="round", ylabel="upper − lower")
    axes.set_title("gap (thin: requested)", fontsize="medium")
