"""Pictures of a solution (needs the `plots` extra)."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from relaxboost.errors import InputError, MissingDependencyError
from relaxboost.files import check_output, write_atomically
from relaxboost.solution import Solution

SUFFIXES = (".png", ".pdf", ".svg")


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


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write `figure` to `path` (.png, .pdf or .svg), whole or not at all."""
    target = check_output(path, SUFFIXES)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=target.suffix[1:].lower(), dpi=150)
    write_atomically(target, buffer.getvalue())


def _name(solution: Solution) -> str:
    return f"{solution.game.relaxation}, {solution.method}"


def _margins(axes: Any, solutions: tuple[Solution, ...]) -> None:
    for index, solution in enumerate(solutions):
        margins = np.sort(solution.margins)
        share = np.arange(1, margins.size + 1) / margins.size
        axes.step(margins, share, where="post", color=f"C{index}", label=_name(solution))
        axes.axvline(solution.lower, color=f"C{index}", linestyle=":", linewidth=1)
    axes.set(xlabel="margin of an example", ylabel="share of examples at or below", ylim=(0, 1))
    axes.set_title("margins (dotted: lower bound on the value)", fontsize="medium")
    axes.legend(fontsize="small", loc="upper left")


def _gaps(axes: Any, solutions: tuple[Solution, ...]) -> None:
    drawn = False
    for index, solution in enumerate(solutions):
        gaps = [(r.round, r.upper - r.lower) for r in solution.history]
        gaps = [(t, gap) for t, gap in gaps if 0.0 < gap < np.inf]
        if gaps:
            axes.plot(*zip(*gaps, strict=True), color=f"C{index}", label=_name(solution))
            axes.axhline(solution.tol, color=f"C{index}", linestyle=":", linewidth=1)
            drawn = True
    axes.set(xscale="log", yscale="log", xlabel="round", ylabel="upper − lower")
    axes.set_title("gap (dotted: asked for)", fontsize="medium")
    if drawn:
        axes.legend(fontsize="small", loc="lower left")
