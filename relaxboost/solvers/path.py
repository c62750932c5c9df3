"""A grid of games with one matrix, each started from its neighbour's solution."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from relaxboost._core.compiled import is_interrupt
from relaxboost._core.errors import InputError
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.solvers.method import Method
from relaxboost.solvers.parametric_simplex.program import near_vertex
from relaxboost.solvers.solve import solve
from relaxboost.solvers.warm_start import Relay, ended_as


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
    solved from the largest k, whose optima have the fewest columns; where each has to be solved
    anew, every other one, and then those between, for which a mixture of both may do.

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
    order = list(range(len(listed)))
    caps = bool({"k", "fraction"} & set(grid))
    if caps:
        sizes = [float(getattr(game.relaxation, "k", 0)) for game in listed]
        order.sort(key=lambda place: -sizes[place])
    options = {"tol": tol, "method": method, "rtol": rtol, "time_limit": time_limit}
    return _Path(listed, order, caps, {**options, "verbose": verbose}).run()


class _Path:
    """Games in the order in which they are solved, and those that are."""

    def __init__(
        self, games: list[Game], order: list[int], caps: bool, options: dict[str, Any]
    ) -> None:
        self._games, self._waiting, self._caps, self._options = games, order, caps, options
        self._found: dict[int, Solution] = {}
        self._relay = Relay()
        self._stopped = False

    def run(self) -> list[Solution]:
        """Return all solutions, after Ctrl-C those of one round."""
        while self._waiting:
            try:
                self._advance()
            except (KeyboardInterrupt, SystemError) as error:
                if not is_interrupt(error):
                    raise
                self._stopped = True  # outside of the rounds of a run, which end well
        return [self._found[place] for place in range(len(self._games))]

    def _advance(self) -> None:
        """Solve the next game; or the one after it, then the next, by a mixture if that does."""
        before, relay = self._relay.solution, self._relay
        few = before is None or self._stopped or len(self._waiting) < 2
        if before is None or few or not self._caps or not _anew(before):
            relay.solution = self._solve(self._waiting[0])
            return
        between, place = self._waiting[:2]
        relay.solution = self._solve(place)
        part = _part(relay.solution.game, self._games[between], before.game)
        relay.beyond = before, part
        try:
            self._solve(between)
        finally:
            relay.beyond = None

    def _solve(self, place: int) -> Solution:
        limit = 1 if self._stopped else None
        found = solve(self._games[place], start=self._relay, max_rounds=limit, **self._options)
        if self._stopped and found.status == "max_rounds":
            found = replace(found, status="interrupted")
        self._found[place] = found
        self._waiting.remove(place)
        self._stopped = self._stopped or found.status == "interrupted"
        return found


def _part(near: Game, between: Game, far: Game) -> float:
    """Return how far a cap is from that of `near` to that of `far`, in 1/k."""
    a, x, b = (1.0 / float(getattr(game.relaxation, "k", 1)) for game in (near, between, far))
    return (x - a) / (b - a) if a != b else 0.0


def _anew(solution: Solution) -> bool:
    """Whether an interior point method found it, and its neighbours are not a walk away."""
    return ended_as(solution) == "interior" and not near_vertex(solution)


def _listed(games: Any, grid: dict[str, Iterable[Any]]) -> list[Game]:
    """Return the games of a path, checked."""
    if isinstance(games, Game):
        return _games_of_grid(games, grid)
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


def _games_of_grid(game: Game, grid: dict[str, Iterable[Any]]) -> list[Game]:
    """Return one game for each value of one parameter of the relaxation."""
    f: Any = game.relaxation
    known = [option.name for option in fields(f) if option.init]
    if len(grid) != 1 or next(iter(grid)) not in known:
        have = f"those of {type(f).__name__} are: {', '.join(known)}" if known else f"{f} has none"
        raise InputError(
            f"a path of one game needs one parameter of its relaxation and its values; {have}"
        )
    ((name, values),) = grid.items()
    is_number = getattr(values, "ndim", 1) == 0  # a number of NumPy, which claims to be iterable
    listed = list(values) if isinstance(values, Iterable) and not is_number else []
    if not listed:
        raise InputError(f"{name}= needs at least one value, as {name}=[5, 10], got {values!r}")
    # A cap is k or a fraction of m, and the other one is left open.
    either = {"k": None, "fraction": None} if {"k", "fraction"} <= set(known) else {}
    chosen = [replace(f, **{**either, name: value}) for value in listed]
    return [Game(game.matrix, relaxation, game.over) for relaxation in chosen]
