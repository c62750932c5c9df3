"""The games of an estimator for a grid of settings, and the choice of the best setting."""

from __future__ import annotations

import math
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.compiled import is_interrupt
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Limits
from relaxboost._core.progress import bar
from relaxboost.estimators.choices import threads
from relaxboost.estimators.margin_columns import CutColumns
from relaxboost.estimators.margin_games import Examples, Voter, made
from relaxboost.estimators.margin_trees import Columns
from relaxboost.estimators.tables import Features
from relaxboost.game import Game, Solution
from relaxboost.solvers.automatic import Automatic
from relaxboost.solvers.solve import solve, solve_next
from relaxboost.solvers.warm_start import Relay

MAX_CUTS_OF_STORED_GAMES = 32
"""The maximum number of cuts per column for regression and ranking, whose games store a dense
matrix."""

Played = list[tuple[Voter, Solution]]
"""The votes and the solution of the game for each setting, for one class."""


@dataclass
class Games(ABC):
    """The rules that turn examples into games, and solutions into votes."""

    table: Features
    hypotheses: Any
    targets: list[int] = field(default_factory=lambda: [1])
    """The index of the class that stands for +1, for each game."""

    @property
    def has_unseen_votes(self) -> bool:
        """Whether `unseen_votes` returns held-out votes, so that no games are solved for folds."""
        return False

    @abstractmethod
    def columns(self, given: Examples, k: int) -> tuple[Columns, Any]:
        """Return the columns that the hypotheses of game k use, and their margin matrix."""

    @abstractmethod
    def games(self, given: Examples, k: int, grid: list[Any], matrix: Any) -> list[Game]:
        """Return a game for each setting in `grid`."""

    @abstractmethod
    def constant(self, part: Examples, k: int, is_varied: bool) -> float | None:
        """Return a constant vote if the examples are too uniform for a game, and None otherwise.

        The argument `is_varied` is True if at least one feature has two values.
        """

    def voter(
        self,
        columns: Columns,
        matrix: Any,
        s: Solution,
        given: Examples,
        setting: Any,
    ) -> Voter:
        """Return the weighted sum of hypotheses for a solution `s`."""
        hypotheses = map(matrix.hypothesis, s.support.tolist())
        members = zip(s.coefficients.tolist(), hypotheses, strict=True)
        return Voter.of(columns, list(members), given)

    def unseen_votes(self, played: list[Played]) -> Array:
        """Return the votes of the hypotheses trained without each example.

        The axes are settings, examples and, for more than two classes, classes.
        """
        raise NotImplementedError

    def begin(self, matrix: Any) -> Any:
        """Return the starting point of the first game, or None for the solver's default."""
        return None

    def gap(self, tol: float, grid: list[Any]) -> float:
        """Return the gap at which the solver stops, in the units of the game."""
        return tol

    def shortfall(self, k: int, s: Solution, tol: float) -> str:
        """Return why the solution `s` of game k is not good enough, or an empty string."""
        # `idle` is the largest possible gain of the objective over the weights w = 0.
        idle = s.upper - s.game.relaxation.relaxed_margin(np.zeros(s.game.m))[0]
        said = [] if s.status == "optimal" else [s.message]
        if idle <= tol:
            said.append("no weighted vote beats no vote: raise fraction, or add features")
        return "; ".join(said)

    def below(self, s: Solution) -> Vector:
        """Return the threshold γ of the solution `s` minus each margin."""
        return s.gamma - s.margins


class ScoreGames(Games):
    """The rules of regressors and rankers, which have one game per setting and no calibration."""

    @abstractmethod
    def aims(self, given: Examples) -> Vector:
        """Return a number for each example. Categories are ranked by the mean of this number."""

    def columns(self, given: Examples, k: int) -> tuple[CutColumns, Any]:
        columns = CutColumns.of(self.table, given.Z, self.aims(given), given.weights)
        E = columns(given.Z)
        matrix = made(self.hypotheses, E, np.ones(len(E)), MAX_CUTS_OF_STORED_GAMES)
        if getattr(matrix, "n", 0) is None:
            raise InputError(
                f"hypotheses returned {type(matrix).__name__}, which generates columns one by one, "
                "but this game needs all columns in advance; return stumps(...) or another "
                "matrix whose columns are known"
            )
        return columns, matrix


class SettingChoice(NamedTuple):
    """A grid of settings of one parameter, and the functions that choose among them."""

    name: str
    """The name of the parameter, "fraction" or "radius"."""
    grid: list[Any]
    """The settings for `Games.games`, such as relaxations, with the softest margin first."""
    values: list[Any]
    """The settings as the user passed them."""
    errors: Callable[[Array, Examples], list[float]]
    """A function that maps the held-out votes to the error of each setting."""
    losses: Callable[[Array, Examples], list[float]] | None = None
    """A function that maps the held-out votes to the loss of each setting. The setting with the
    least loss is chosen. If it is None, the setting with the least error is chosen."""

    @property
    def is_open(self) -> bool:
        """Whether there are several settings."""
        return len(self.grid) > 1


@dataclass
class WarmPath:
    """A solver for games that differ in one setting. Each game starts from the last solution."""

    rule: Games
    tol: float
    n_jobs: int | None
    verbose: int
    deadline: float = math.inf
    """The time by which the last game should end, in seconds since the epoch."""
    paths_left: int = 1
    """The number of jobs that have not started. A job solves the games of one class, on all
    examples or without one fold. The jobs share the remaining time."""
    is_stopped: bool = False
    """Whether the user pressed Ctrl-C during a game."""

    def solve(
        self, given: Examples, grid: list[Any], starts: list[Solution | None]
    ) -> list[Played]:
        """Solve the games of all settings for each class.

        The first game of each class starts from its entry in `starts`, a solution or None.
        """
        targets = zip(self.rule.targets, starts, strict=True)
        played = list(self._run(_play, [(given, k, grid, start) for k, start in targets]))
        # Another process works on a copy of this path, so that only the solutions are returned.
        self.is_stopped |= any(s.status == "interrupted" for pairs in played for _, s in pairs)
        return played

    def held_out(self, given: Examples, grid: list[Any], folds: int) -> tuple[Array, bool]:
        """Return the cross-validated votes, and whether all games were solved.

        The axes of the votes are settings, examples and, for more than two classes, classes. After
        Ctrl-C, votes that were not yet computed are 0.
        """
        targets = self.rule.targets
        out = np.zeros((len(grid), given.codes.size, len(targets)))
        places = list(product(given.folds(folds), range(len(targets))))
        jobs = [(part, given.Z[test], targets[k], grid) for (test, part), k in places]
        is_whole = True
        try:
            found = self._run(_fold, jobs)
            # After Ctrl-C in another process there are fewer results than folds and targets.
            for ((test, _), k), (votes, is_done) in zip(places, found, strict=False):
                if votes is None:
                    self.is_stopped = True
                    break
                is_whole &= is_done
                out[:, test, k] = votes
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            self.is_stopped = True
        votes = out[:, :, 0] if len(targets) == 1 else out
        return votes, is_whole and not self.is_stopped

    def _with_cause(self, s: Solution) -> Solution:
        # If the user set no time limit, a game can reach a time limit only because Ctrl-C set its
        # limit to the smallest positive number.
        if s.status != "time_limit" or math.isfinite(self.deadline):
            return s
        said = s.message.replace("time_limit was reached", "the run was interrupted")
        return replace(s, status="interrupted", message=said)

    def _run(self, function: Callable[..., Any], jobs: list[Any]) -> Iterator[Any]:
        first = self.paths_left
        self.paths_left -= len(jobs)
        # Each process gets the time of all paths that run at the same time.
        together = min(threads(self.n_jobs), len(jobs))
        shares = [together / max(first - i, together) for i in range(len(jobs))]
        calls = [(self, share, *job) for share, job in zip(shares, jobs, strict=True)]
        found: Iterable[Any]
        if together == 1:
            found = (function(*call) for call in calls)
        else:
            parallel = Parallel(n_jobs=self.n_jobs, return_as="generator")
            found = parallel(delayed(function)(*call) for call in calls)
        with bar("games", self.verbose > 0) as shown:
            for done, result in enumerate(found):
                shown(done + 1, len(jobs), "")
                yield result


def _play(
    path: WarmPath,
    share: float,
    given: Examples,
    k: int,
    grid: list[Any],
    start: Solution | None = None,
) -> Played:
    """Solve the games of all settings with warm starts.

    The games may use the fraction `share` of the time until the deadline.
    """
    now = time.time()
    end = now + share * (path.deadline - now)
    columns, matrix = path.rule.columns(given, k)
    if not callable(getattr(matrix, "hypothesis", None)):
        raise InputError(
            f"hypotheses returned {type(matrix).__name__}, which has no method hypothesis(j) for "
            "predictions; return stumps(...), oracle(...) or a matrix that has it"
        )
    games = path.rule.games(given, k, grid, matrix)
    # A solution refers to hypotheses by their indices, which have another meaning if the number of
    # hypotheses differs.
    if start is not None and (games[0].n is None or start.game.n != games[0].n):
        start = None
    # The optimum of a soft margin is near that of the next softer one.
    relay = Relay(start)
    solutions = list[Solution]()
    limit: float | None = None
    for i, game in enumerate(games):
        # After Ctrl-C, or if no time is left, each remaining game ends after one round, with valid
        # bounds. A time limit must be positive.
        left = 0.0 if path.is_stopped else (end - time.time()) / (len(games) - i)
        limit = max(left, sys.float_info.min) if math.isfinite(left) else None
        points = path.rule.begin(matrix) if relay.solution is None else None
        gap = path.rule.gap(path.tol, grid)
        if points:
            relay.solution = solve(game, gap, start=points, time_limit=limit)
        else:
            limits = Limits(time_limit=limit)
            relay.solution = solve_next(game, gap, None, Automatic(), limits, relay)
        path.is_stopped |= relay.solution.status == "interrupted"
        solutions.append(relay.solution)
    if games[0].n is None:
        solutions = _over_known(matrix, games, solutions, path.tol, limit)
    solutions = list(map(path._with_cause, solutions))
    return [
        (path.rule.voter(columns, matrix, s, given, setting), s)
        for s, setting in zip(solutions, grid, strict=True)
    ]


def _over_known(
    matrix: Any, games: list[Game], solutions: list[Solution], tol: float, limit: float | None
) -> list[Solution]:
    # The hypotheses are those that a weak learner has found. The bounds do not account for other
    # hypotheses.
    found = matrix.columns(range(matrix.known))
    return [
        solve(
            Game(found, game.relaxation),
            tol,
            start=(s.d, (s.support, s.coefficients)),
            time_limit=limit,
        )
        for game, s in zip(games, solutions, strict=True)
    ]


def _fold(
    path: WarmPath, share: float, part: Examples, out: Array, k: int, grid: list[Any]
) -> tuple[Array | float | None, bool]:
    """Return the votes on the held-out rows of a fold, and whether all games were solved."""
    is_varied = any(np.unique(x).size > 1 for x in part.Z.T)
    # A part of the examples may have a single class, or only equal rows.
    constant = path.rule.constant(part, k, is_varied)
    if constant is not None:
        return constant, True
    played = _play(path, share, part, k, grid)
    if path.is_stopped:  # The user has pressed Ctrl-C.
        return None, False
    votes = np.array([voter(out) for voter, _ in played])
    return votes, all(s.status != "time_limit" for _, s in played)
