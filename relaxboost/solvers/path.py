"""The function `path`, which solves similar games with warm starts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from relaxboost._core.compiled import is_interrupt
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Limits
from relaxboost._core.parameters import is_given
from relaxboost._core.progress import check_verbose
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.solvers.method import Method, as_method
from relaxboost.solvers.solve import solve_next
from relaxboost.solvers.warm_start import Relay


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
    """Solve a game for several values of one parameter, or several games with one matrix.

    ``path(Game(A, Capped(k=1)), k=[5, 10, 20])`` solves the game for three values of `k`. Each run
    starts from the previous solution, so consecutive games should be similar. For `k` and
    `fraction`, the games are solved from the largest k to the smallest.

    Parameters
    ----------
    games : Game, or iterable of Game
        One game with a `grid`, or several games with the same hypotheses, in the order in which
        they are solved.
    tol, method, rtol
        As for `solve`.
    time_limit : float, optional
        The maximum number of seconds for each game.
    verbose : int
        As for `solve`.
    **grid : iterable
        One keyword argument, such as k=[5, 10]: a parameter of the relaxation, and its values.

    Returns
    -------
    list of Solution
        The solutions in the order of the games or values. After Ctrl-C each remaining game gets one
        round, and the bounds of this round.

    Raises
    ------
    InputError
        If no game or no value is passed, if the keyword is not a parameter of the relaxation, or
        if `solve` rejects an argument.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, 1], [-1, 1], [1, -1]], rb.Capped(k=2))
    >>> [round(vote.upper, 3) for vote in rb.path(game, k=[2, 2.5, 3], tol=1e-6)]
    [0.0, 0.2, 0.333]
    """
    listed = _listed(games, grid)
    # With few columns a solution is cheap, and the later ones start from a good set of columns.
    order = list(range(len(listed)))
    if {"k", "fraction"} & set(grid):
        sizes = [float(getattr(game.relaxation, "k", 0)) for game in listed]
        order.sort(key=lambda place: -sizes[place])
    solutions: dict[int, Solution] = {}
    check_verbose(verbose)
    chosen = as_method(method)
    relay = Relay()
    # After Ctrl-C the remaining games get one round each, so that every game has a bracket.
    max_rounds = None
    while len(solutions) < len(order):
        place = order[len(solutions)]
        try:
            limits = Limits(max_rounds, time_limit)
            found = solve_next(listed[place], tol, rtol, chosen, limits, relay, verbose)
        except (KeyboardInterrupt, SystemError) as error:
            # A run handles Ctrl-C itself; here it came before the run, which is then repeated.
            if not is_interrupt(error):
                raise
            max_rounds = 1
            continue
        # The limit of one round is due to Ctrl-C, so the status says so.
        if max_rounds and found.status == "max_rounds":
            found = replace(found, status="interrupted")
        if found.status == "interrupted":
            max_rounds = 1
        relay.solution = found
        solutions[place] = found
    return [solutions[place] for place in range(len(listed))]


def _listed(games: Any, grid: dict[str, Iterable[Any]]) -> list[Game]:
    if isinstance(games, Game):
        return _games_of_grid(games, grid)
    listed = list(games) if isinstance(games, Iterable) else [games]
    if not listed or not all(isinstance(game, Game) for game in listed):
        raise InputError(
            "path needs a Game with a grid, as in path(Game(A, Capped(k=1)), k=[5, 10]), or "
            "an iterable of at least one Game"
        )
    if grid:
        raise InputError(
            f"{next(iter(grid))}= is for a path of one game, but this path has several games; "
            f"leave {next(iter(grid))}= out"
        )
    # The weights of one game start the next, so their columns must mean the same.
    if len({game.n for game in listed}) > 1:
        raise InputError(
            "the games of a path must have the same hypotheses, but their numbers of hypotheses "
            "differ; use one matrix for all games"
        )
    return listed


def _games_of_grid(game: Game, grid: dict[str, Iterable[Any]]) -> list[Game]:
    f: Any = game.relaxation
    known = [option.name for option in fields(f) if option.init]
    if len(grid) != 1 or next(iter(grid)) not in known:
        names = f"the parameters of {type(f).__name__} are: {', '.join(known)}"
        raise InputError(
            "for a path of one game, pass exactly one parameter of the relaxation, with a list of "
            f"values; {names if known else f'{f} has no parameter'}"
        )
    ((name, values),) = grid.items()
    # A zero-dimensional NumPy array has __iter__, but cannot be iterated.
    is_number = getattr(values, "ndim", 1) == 0
    listed = list(values) if is_given(values, Iterable) and not is_number else []
    if not listed:
        raise InputError(f"{name}= needs at least one value, as in {name}=[5, 10], got {values!r}")
    # A cap is given by k or by a fraction of m, so the other parameter is reset.
    either = {"k": None, "fraction": None} if {"k", "fraction"} <= set(known) else {}
    chosen = [replace(f, **{**either, name: value}) for value in listed]
    return [Game(game.matrix, relaxation, game.over) for relaxation in chosen]
