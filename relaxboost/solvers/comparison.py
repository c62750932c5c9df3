"""Comparison of several methods on one game."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Limits
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.solvers.method import Method, as_method
from relaxboost.solvers.solve import check_run, solve


class MethodResult(NamedTuple):
    """The result of one method: a row of a `MethodComparison`."""

    method: str
    """The name of the method, as in `Solution.method`."""
    status: str
    """The reason why the run ended, as in `Solution.status`."""
    rounds: int
    """The number of rounds, each with one search for the best hypothesis."""
    seconds: float
    """The CPU time in seconds of all threads, including compilation."""
    lower: float
    """The certified lower bound on the value of the game."""
    upper: float
    """The certified upper bound on the value of the game."""
    gap: float
    """The certified gap, upper − lower."""
    guarantee: float
    """The number of rounds after which a theorem guarantees the requested gap, or nan if no theorem
    does."""


@dataclass(frozen=True)
class MethodComparison:
    """The results of several methods for one game, returned by `compare_methods`.

    ``print`` shows the results as a table, and `to_frame` returns them as a pandas DataFrame.
    `rb.views.plots.bounds_by_round` plots the bounds of each method against the rounds.
    """

    tol: float
    """The requested gap, the same for every method."""
    solutions: tuple[Solution, ...]
    """The solution of each method, in the order of the methods."""
    rows: tuple[MethodResult, ...]
    """The bounds, rounds and time of each method, in the order of `solutions`."""

    def __str__(self) -> str:
        head = ("method", "status", "rounds", "CPU s", "lower", "upper", "gap", "guarantee")
        table = [head, *(_cells(row) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = []
        for row in table:
            cells = list(zip(row, widths, strict=True))
            # Words are aligned at the left, and numbers at the right.
            words = [cell.ljust(width) for cell, width in cells[:2]]
            numbers = [cell.rjust(width) for cell, width in cells[2:]]
            lines.append("  ".join(words + numbers))
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return the comparison as a pandas DataFrame with a row for each method.

        The columns are the fields of `MethodResult`, such as "method", "rounds" and "gap".
        """
        # pandas loads slowly, and only this method needs it.
        import pandas as pd

        return pd.DataFrame(self.rows, columns=list(MethodResult._fields))


def compare_methods(
    game: Game,
    methods: Sequence[str | Method],
    tol: float = 1e-3,
    *,
    max_rounds: int | None = None,
    time_limit: float | None = 60.0,
) -> MethodComparison:
    """Solve one game with several methods, one after another.

    To check whether bounds from several sources can all be valid, use `rb.compare`.

    Parameters
    ----------
    game : Game
        The game that every method solves.
    methods : sequence of str or Method
        The methods, as names or objects. Each method must accept the game.
    tol : float
        The requested gap upper − lower, > 0.
    max_rounds : int, optional
        The maximum number of rounds of each method.
    time_limit : float, optional
        The maximum number of seconds for each method. The default is one minute, because methods
        such as AdaBoost may never reach the requested gap.

    Returns
    -------
    MethodComparison
        The solution of each method. Ctrl-C skips the remaining methods.

    Raises
    ------
    InputError
        If no method is passed, or if `solve` raises an InputError for a method. The error is raised
        before the first method runs.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1], [-1, 1]], rb.Capped(2))
    >>> found = rb.solvers.compare_methods(game, ["softboost", "hedge"], 0.1)
    >>> [row.gap <= 0.1 for row in found.rows]
    [True, True]
    """
    # A string is a sequence too, but its letters are no methods.
    if isinstance(methods, str | Method) or not methods:
        raise InputError(
            f"methods must be a list of at least one method, got {methods!r:.60}; "
            'write ["softboost", "hedge"]'
        )
    chosen = [as_method(method) for method in methods]
    limits = Limits(max_rounds, time_limit)
    # All methods are checked before the first one takes any time.
    for method in chosen:
        check_run(game, tol, None, method, limits)
    solutions: list[Solution] = []
    rows: list[MethodResult] = []
    for method in chosen:
        # CPU seconds do not depend on what else runs on the machine.
        begun = time.process_time()
        found = solve(game, tol, method, max_rounds=max_rounds, time_limit=time_limit)
        seconds = time.process_time() - begun
        solutions.append(found)
        bounds = (found.lower, found.upper, found.gap, found.bound)
        rows.append(MethodResult(found.method, found.status, found.rounds, seconds, *bounds))
        # After Ctrl-C the user does not want the other methods to run.
        if found.status == "interrupted":
            break
    return MethodComparison(tol, tuple(solutions), tuple(rows))


def _cells(row: MethodResult) -> tuple[str, ...]:
    guarantee = "-" if math.isnan(row.guarantee) else f"{row.guarantee:.0f}"
    bounds = (f"{row.lower:.6f}", f"{row.upper:.6f}", f"{row.gap:.2g}")
    return (row.method, row.status, str(row.rounds), f"{row.seconds:.2f}", *bounds, guarantee)
