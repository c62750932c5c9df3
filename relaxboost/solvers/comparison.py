"""`compare_methods`: several methods on one game, with their rounds, CPU seconds and brackets."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from relaxboost._core.errors import InputError
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.solvers.method import Method, as_method
from relaxboost.solvers.solve import solve

DEFAULT_SECONDS = 60.0
"""The time limit of each method, so that methods which need not reach tol end too."""


class MethodResult(NamedTuple):
    """One row of a `MethodComparison`."""

    method: str
    """The method, as `Solution.method` names it."""
    status: str
    """How the run ended, as in `Solution.status`."""
    rounds: int
    """Calls to the weak learner."""
    seconds: float
    """CPU seconds of this process, all threads together; compilation at a first call included."""
    lower: float
    upper: float
    gap: float
    """upper − lower."""
    guarantee: float
    """The rounds that a theorem grants for this tol at most (`Method.rounds_bound`), or nan."""


@dataclass(frozen=True)
class MethodComparison:
    """What several methods did on one game; made by `compare_methods`.

    Printing it shows the table, `to_frame` returns it as a pandas frame, and
    `rb.views.plots.bounds_by_round` draws both bounds of each method against rounds.
    """

    tol: float
    """The gap that was requested."""
    solutions: tuple[Solution, ...]
    """The solution of each method, in the order in which they were given."""
    rows: tuple[MethodResult, ...]
    """The row of each method, in the same order."""

    def __str__(self) -> str:
        head = ("method", "status", "rounds", "CPU s", "lower", "upper", "gap", "guarantee")
        table = [head, *(_shown(row) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        words = [[c.ljust(w) for c, w in zip(row[:2], widths[:2], strict=True)] for row in table]
        numbers = [[c.rjust(w) for c, w in zip(row[2:], widths[2:], strict=True)] for row in table]
        rows = zip(words, numbers, strict=True)
        return "\n".join("  ".join([*left, *right]) for left, right in rows)

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame, one column for each field of `MethodResult`."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=list(MethodResult._fields))


def compare_methods(
    game: Game,
    methods: Sequence[str | Method],
    tol: float = 1e-3,
    *,
    max_rounds: int | None = None,
    time_limit: float | None = DEFAULT_SECONDS,
) -> MethodComparison:
    """Solve one game with several methods, one after the other.

    `rb.compare` is something else: it says whether brackets of one game can all hold.

    Parameters
    ----------
    game : Game
    methods : sequence of str or Method
        As for `solve`. Each must fit the game.
    tol : float
        The gap to reach, > 0.
    max_rounds, time_limit : int, float (seconds), optional
        The limits of each method.

    Returns
    -------
    MethodComparison

    Raises
    ------
    InputError
        Before any run, if there is no method, or one does not fit the game.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1], [-1, 1]], rb.Capped(2))
    >>> found = rb.solvers.compare_methods(game, ["softboost", "hedge"], 0.1)
    >>> [row.gap <= 0.1 for row in found.rows]
    [True, True]
    """
    if isinstance(methods, str | Method) or not methods:
        raise InputError(
            f"methods must be a list of one method or more, got {methods!r:.60}; "
            'write ["softboost", "hedge"]'
        )
    chosen = [as_method(method) for method in methods]
    for method in chosen:
        method.chosen(game, tol).check(game)
    solutions: list[Solution] = []
    rows: list[MethodResult] = []
    for method in chosen:
        begun = time.process_time()
        found = solve(game, tol, method, max_rounds=max_rounds, time_limit=time_limit)
        seconds = time.process_time() - begun
        solutions.append(found)
        rows.append(
            MethodResult(
                found.method,
                found.status,
                found.rounds,
                seconds,
                found.lower,
                found.upper,
                found.gap,
                found.bound,
            )
        )
        if found.status == "interrupted":
            break
    return MethodComparison(tol, tuple(solutions), tuple(rows))


def _shown(row: MethodResult) -> tuple[str, ...]:
    """Return the cells of a row as text."""
    guarantee = "-" if math.isnan(row.guarantee) else f"{row.guarantee:.0f}"
    bounds = (f"{row.lower:.6f}", f"{row.upper:.6f}", f"{row.gap:.2g}")
    return (row.method, row.status, str(row.rounds), f"{row.seconds:.2f}", *bounds, guarantee)
