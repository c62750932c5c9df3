"""A grid of games with one matrix, each started from its neighbour's solution."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.solvers.method import Method
from relaxboost.solvers.solving import solve
from relaxboost.solvers.starts import Relay


def path(
    games: Game | Iterable[Game],
    tol: float | None = None,
    method: str | Method = "auto",
    *,
    rtol: float | None = None,
    time_limit: float | None = None,
    verbose: int = 0,
    **grid: Iterable[Any],
) -> list[Solution]:
    """Solve a game for a grid of one parameter of its relaxation, or any games with one matrix.

    ``path(Game(A, Capped(k=1)), k=[5, 10, 20])`` is three caps. Each game starts from the solution
    of the one before, so that they are to be in an order in which neighbours are alike. Caps are
    solved from the largest k, whose optima have the fewest columns.

    Parameters
    ----------
    games : Game, or iterable of Game
        A game with a `grid`, else games with as many hypotheses each, solved in this order.
    tol, method, rtol, verbose
        As for `solve`.
    time_limit : float, optional
        Seconds for each game.
    **grid : iterable
        One keyword, a parameter of the relaxation of the game, and its values.

    Returns
    -------
    list of Solution
        In the order given. After Ctrl-C those that were not reached have the bracket of one round.

    Raises
    ------
    InputError
        For no game or no value, another keyword than a parameter, or what `solve` refuses.
    """
    listed = _listed(games, grid)
    order = np.arange(len(listed))
    if {"k", "fraction"} & set(grid):
        sizes = [float(getattr(game.relaxation, "k", 0)) for game in listed]
        order = np.argsort(-np.array(sizes), kind="stable")
    found: list[Any] = [None] * len(listed)
    relay = Relay()
    for place in order.tolist():
        interrupted = relay.solution is not None and relay.solution.status == "interrupted"
        last = solve(
            listed[place],
            tol,
            method,
            rtol=rtol,
            start=relay,
            time_limit=time_limit,
            max_rounds=1 if interrupted else None,
            verbose=verbose,
        )
        if interrupted and last.status == "max_rounds":
            last = replace(last, status="interrupted")
        relay.solution = found[place] = last
    return found


def _listed(games: Any, grid: dict[str, Iterable[Any]]) -> list[Game]:
    """Return the games of a path, checked."""
    if not isinstance(games, Game):
        listed = list(games) if isinstance(games, Iterable) else [games]
        if not listed or not all(isinstance(game, Game) for game in listed):
            raise InputError(
                "path needs a Game with a grid, as in path(Game(A, Capped(k=1)), k=[5, 10]), or "
                "an iterable of games, at least one"
            )
        if grid:
            raise InputError(f"{next(iter(grid))}= is for a path of one game; leave it out")
        if len({game.n for game in listed}) > 1:
            raise InputError("the games of a path need the same hypotheses, and their n differ")
        return listed
    f: Any = games.relaxation
    known = [option.name for option in fields(f) if option.init]
    if len(grid) != 1 or next(iter(grid)) not in known:
        have = f"those of {type(f).__name__} are: {', '.join(known)}" if known else f"{f} has none"
        raise InputError(
            f"a path of one game needs one parameter of its relaxation and its values; {have}"
        )
    ((name, values),) = grid.items()
    # A cap is k or a fraction of m, and the other is left open.
    either = {"k": None, "fraction": None} if {"k", "fraction"} <= set(known) else {}
    chosen = [replace(f, **{**either, name: value}) for value in values]
    if not chosen:
        raise InputError(f"{name}= has no value; give at least one")
    return [Game(games.matrix, relaxation, games.over) for relaxation in chosen]
