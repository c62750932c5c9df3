"""The function `compare_methods` runs several methods on one game and tabulates the results."""

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
    """The result of one method for a game. It is one row in the table of a `MethodComparison`."""

    method: str
    """The name of the method that solved the game, as in `Solution.method`."""
    status: str
    """A word that says how the run of the method ended, as in `Solution.status`."""
    rounds: int
    """The number of rounds of the run. In each round the weak learner searches once for the best
    hypothesis."""
    seconds: float
    """The CPU time of the run in seconds, summed over all threads. It includes the time spent on
    compiling functions."""
    lower: float
    """The certified lower bound on the value of the game that the method has found."""
    upper: float
    """The certified upper bound on the value of the game that the method has found."""
    gap: float
    """The difference upper − lower of the certified bounds on the value of the game."""
    guarantee: float
    """The number of rounds after which a theorem guarantees the requested gap. It is nan if no
    theorem guarantees the gap."""


@dataclass(frozen=True)
class MethodComparison:
    """The results of several methods for one game, as `compare_methods` returns them.

    ``print`` shows the results as a table, and `to_frame` returns them as a pandas DataFrame.
    `rb.views.plots.bounds_by_round` plots the bounds of each method against the rounds.
    """

    tol: float
    """The requested gap between the two bounds on the value of the game. It is the same for every
    method."""
    solutions: tuple[Solution, ...]
    """The solution that each method has found, in the order in which the methods were passed."""
    rows: tuple[MethodResult, ...]
    """The bounds, the rounds and the time of each method, in the same order as `solutions`."""

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

    The function `rb.compare` serves another purpose. It checks whether bounds on the value of one
    game from several sources can all be valid.

    Parameters
    ----------
    game : Game
        The game that every method solves.
    methods : sequence of str or Method
        The methods. A method is a name or an object, as in `solve`. Each method must accept the
        game.
    tol : float
        The requested gap between the upper and the lower bound on the value, > 0.
    max_rounds : int, optional
        The maximum number of rounds of each method.
    time_limit : float, optional
        The maximum number of seconds for each method. The default is one minute, because methods
        such as AdaBoost may never reach the requested gap.

    Returns
    -------
    MethodComparison
        The solution of each method. After Ctrl-C the function does not run the remaining methods.

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
