"""What the margin estimators share: tables, games on one path, what is held out, proofs."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.compiled import is_interrupt
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, positive
from relaxboost.estimators.choices import threads
from relaxboost.estimators.margin_columns import CutColumns
from relaxboost.estimators.margin_games import Examples, Voter, made, proof
from relaxboost.estimators.tables import TableEstimator, read_weights
from relaxboost.game import Game, Solution
from relaxboost.relaxations import Capped
from relaxboost.solvers.solve import solve
from relaxboost.solvers.warm_start import Relay

FRACTIONS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""What "auto" chooses from; no fixed one is as good (docs/benchmarks.md)."""

CUTS = 32
"""How many cuts of a feature are in games that are written down."""

Played = list[tuple[Voter, Solution]]
"""What was played on one path: who votes, and the solution."""


@dataclass(eq=False, repr=False)
class MarginBoost(TableEstimator, ABC):
    """Games on one path over a grid, from the softest on; the best of the grid by held-out parts.

    The parameters are those of `MarginBoostClassifier`.
    """

    _: KW_ONLY
    hypotheses: Any = "stumps"
    tol: float = 1e-3
    folds: int | None = 5
    time_limit: float | None = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0
    takes_categories = True
    _chosen: ClassVar[str] = "fraction"
    """What the grid is of."""
    _calibrates: ClassVar[bool] = False
    """Whether votes are held out also where there is nothing to choose."""

    @abstractmethod
    def _matrix(self, given: Examples, k: int, grid: list[Any]) -> tuple[CutColumns, Any]:
        """Return what the hypotheses of a game look at, and their matrix."""

    @abstractmethod
    def _games(self, given: Examples, k: int, grid: list[Any], matrix: Any) -> list[Game]:
        """Return the games of a grid."""

    def _voter(
        self, columns: CutColumns, matrix: Any, s: Solution, given: Examples, setting: Any
    ) -> Voter:
        """Return what predicts, of a solution and its place in the grid."""
        hypotheses = map(matrix.hypothesis, s.support.tolist())
        members = zip(s.coefficients.tolist(), hypotheses, strict=True)
        return Voter.of(columns, list(members), given)

    @abstractmethod
    def _idle(self, part: Examples, k: int, varied: bool) -> float | None:
        """Return what is predicted where there is no game to play; None where there is one.

        There is none if no feature is `varied`.
        """

    @abstractmethod
    def _choose(self, held: Array, given: Examples, grid: list[Any]) -> int:
        """Return the place of the best of the grid, from votes held out."""

    def _targets(self) -> list[int]:
        """Return the classes that are +1 in a game; one game otherwise."""
        return [1]

    def _learn(self, given: Examples, grid: list[Any]) -> Array | None:
        """Choose, and solve the games down to the choice; return the votes of each held out.

        These are None where there were none, and of shape (stages, examples[, classes]).
        """
        self._stopped, held, best = False, None, 0
        if len(grid) > 1:
            held, whole = self._held_out(given, grid)
            best = self._choose(held, given, grid)
            if not whole:
                said = (
                    f"the {self._chosen} was chosen from unfinished games; raise time_limit or tol"
                )
                warnings.warn(said, ConvergenceWarning, 3)
        targets = self._targets()
        old = getattr(self, "_solutions", []) if self.warm_start else []
        starts = old if len(old) == len(targets) else [None] * len(targets)
        jobs = [(given, k, grid[: best + 1], at) for k, at in zip(targets, starts, strict=True)]
        played = list(self._run(type(self)._play, jobs))
        self._solutions: list[Solution] = [pairs[-1][1] for pairs in played]
        self._stopped |= any(s.status == "interrupted" for pairs in played for _, s in pairs)
        self._stages = [[voter for voter, _ in pairs] for pairs in zip(*played, strict=True)]
        self._certificates = None
        if held is None and self.folds is not None and not self._stopped and self._calibrates:
            held, _ = self._held_out(given, grid)
        if self._stopped:
            held, said = None, "interrupted, so that the votes are not calibrated"
            warnings.warn(said, ConvergenceWarning, 3)
        return None if held is None else held[: best + 1]

    def _shares(self, fraction: Any) -> list[Any]:
        """Return the soft margins of a fraction, or those to choose from, the softest first."""
        auto = self._auto("fraction", fraction)
        return [Capped(fraction=x) for x in (reversed(FRACTIONS) if auto else [fraction])]

    def _auto(self, name: str, value: Any) -> bool:
        """Return whether a parameter is to be chosen by folds, which must be there."""
        if isinstance(value, str) and value != "auto":
            raise InputError(f'{name} is a number or "auto", got {value!r}; give {name}=0.5, say')
        if isinstance(value, str) and self.folds is None:
            raise InputError(
                f'{name}="auto" needs folds to choose by, and folds is None; give {name}=0.5, say, '
                "or folds=5"
            )
        return isinstance(value, str)

    def _least(self, errors: list[float], settings: list[Any]) -> int:
        """Return the place of the least error, the softest of equals, and set what is told."""
        best = int(np.argmin(errors))
        self.cv_errors_ = dict(zip(settings, errors, strict=True))
        setattr(self, f"{self._chosen}_", settings[best])
        return best

    def _run(self, function: Callable[..., Any], jobs: list[Any]) -> Iterable[Any]:
        """Return what a method returns for each job, in order, in processes if asked."""
        if threads(self.n_jobs) == 1 or self.n_jobs is None or len(jobs) == 1:
            return (function(self, *job) for job in jobs)
        return Parallel(n_jobs=self.n_jobs)(delayed(function)(self, *job) for job in jobs)

    def _play(
        self, given: Examples, k: int, grid: list[Any], start: Solution | None = None
    ) -> Played:
        """Solve the games of a grid on one path, from a solution with as many hypotheses."""
        columns, matrix = self._matrix(given, k, grid)
        if not callable(getattr(matrix, "hypothesis", None)):
            raise InputError(
                f"hypotheses made {type(matrix).__name__}, which has no hypothesis(j) to predict "
                "by; return stumps(...), oracle(...) or a matrix with that method"
            )
        games = self._games(given, k, grid, matrix)
        if start is not None and (games[0].n is None or start.game.n != games[0].n):
            start = None
        relay, solutions = Relay(start), list[Solution]()
        for game in games:
            # After Ctrl-C what is left gets one round.
            limit = 1e-9 if self._stopped else self.time_limit
            relay.solution = solve(game, self._gap(grid), start=relay, time_limit=limit)
            self._stopped |= relay.solution.status == "interrupted"
            solutions.append(relay.solution)
            if self.verbose:
                s = relay.solution
                told = f"{s.lower:.4g} to {s.upper:.4g}, {s.status}, {s.seconds:.1f} s"
                print(f"{game.relaxation}, {game.m} rows: {told}", flush=True)
        if games[0].n is None:  # of hypotheses that were not found nothing is known
            found = matrix.columns(range(matrix.known))
            games = [Game(found, game.relaxation) for game in games]
            at = [(s.d, (s.support, s.coefficients)) for s in solutions]
            pairs = zip(games, at, strict=True)
            solutions = [solve(g, self.tol, start=x, time_limit=limit) for g, x in pairs]
        ends = zip(solutions, grid, strict=True)
        return [(self._voter(columns, matrix, s, given, setting), s) for s, setting in ends]

    def _gap(self, grid: list[Any]) -> float:
        """Return the gap at which the games of a grid end."""
        return self.tol

    def _fold(
        self, part: Examples, out: Array, k: int, grid: list[Any]
    ) -> tuple[Array | float | None, bool]:
        """Return votes on rows held out, None after Ctrl-C; and whether games were finished."""
        varied = any(np.unique(x).size > 1 for x in part.Z.T)
        idle = self._idle(part, k, varied)
        if idle is not None:
            return idle, True
        played = self._play(part, k, grid)
        if self._stopped:  # in a game, or before the next
            return None, False
        votes = np.array([voter(out) for voter, _ in played])
        return votes, all(s.status != "time_limit" for _, s in played)

    def _held_out(self, given: Examples, grid: list[Any]) -> tuple[Array, bool]:
        """Return votes on each example of games without it, (grid, examples[, classes]).

        And whether all games were finished; after Ctrl-C votes not yet known are 0.
        """
        targets, whole = self._targets(), True
        out = np.zeros((len(grid), given.codes.size, len(targets)))
        places = list(product(given.folds(self.folds or 5), range(len(targets))))
        jobs = [(part, given.Z[test], targets[k], grid) for (test, part), k in places]
        try:
            found = self._run(type(self)._fold, jobs)
            for ((test, _), k), (votes, done) in zip(places, found, strict=False):
                if votes is None:
                    self._stopped = True
                    break
                whole &= done
                out[:, test, k] = votes
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            self._stopped = True
        return (out[:, :, 0] if len(targets) == 1 else out), whole and not self._stopped

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Any, Vector]:
        """Return X as numbers, y and the weights, checked, with the table known."""
        positive("tol", self.tol)
        threads(self.n_jobs)
        if self.folds is not None and count("folds", self.folds) < 2:
            raise InputError("folds must be at least 2, to hold one out; or None")
        Z, y = self._read_pair(X, y)
        if self.for_labels is not None and len(Z) < 2:
            raise InputError("there is one sample only; give more")
        return Z, y, read_weights(sample_weight, len(Z))

    def _describe(self, rows: Whole, went: Whole) -> None:
        """Set what is told of the solutions, and warn of what they fail to say."""
        for k, s in zip(self._targets(), self._solutions, strict=True):
            if said := self._lacking(k, s):
                warnings.warn(said, ConvergenceWarning, 3)
        self.margin_ = self._each([np.array([s.lower, s.upper]) for s in self._solutions])
        self.support_ = self._each([s.support for s in self._solutions])
        self.hypotheses_ = self._each([voter.words() for voter in self._stages[-1]])
        short = np.max([self._short(s) for s in self._solutions], axis=0)[went]
        order = np.argsort(-short, kind="stable")
        self.hardest_ = rows[order[: np.count_nonzero(short > 0.0)]]

    def _lacking(self, k: int, s: Solution) -> str:
        """Return what a solution lacks, in words."""
        idle = s.upper - s.game.relaxation.relaxed_margin(np.zeros(s.game.m))[0]
        said = [] if s.status == "optimal" else [s.message]
        if idle <= self.tol:
            said.append("no vote beats none: raise fraction, or add features")
        return "; ".join(said)

    def _short(self, s: Solution) -> Vector:
        """Return how far below the threshold the margin of each example is."""
        return s.gamma - s.margins

    def _each(self, told: list[Any]) -> Any:
        """Return that of the only game; a list by class where there are several."""
        return told[0] if len(self._targets()) == 1 else told

    @property
    def certificate_(self) -> Any:
        """The `Certificate` of `margin_`, a list by class where there are more than two.

        It is made when first asked for. It holds the training data, equal examples once, so that a
        saved one can be checked alone; beyond 2 000 000 numbers only the SHA-256 of
        ``game_.matrix``, which the checker then needs.
        """
        solutions = self._played("certificate_")
        if self._certificates is None:
            self._certificates = self._each([proof(s) for s in solutions])
        return self._certificates

    @property
    def game_(self) -> Any:
        """The `Game` of `margin_`, or a list: equal examples once, features with nan twice."""
        return self._each([s.game for s in self._played("game_")])

    def _played(self, name: str) -> list[Solution]:
        check_is_fitted(self)
        if not hasattr(self, "_solutions"):
            raise AttributeError(
                f"a pickle keeps no training data, and so no {name}; ask for it before pickling"
            )
        return self._solutions

    @property
    def feature_importances_(self) -> Vector:
        """The share of each feature in the weights of the stumps, shape (d,)."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for voter in self._stages[-1]:
            for c, _, f in voter.cuts():
                total[f] += abs(c)
        return total / (total.sum() or 1.0)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k not in ("_solutions", "_certificates")}


class ScoreBoost(MarginBoost):
    """Of one game over hypotheses written down, whose votes are the prediction."""

    @abstractmethod
    def _aims(self, given: Examples) -> Vector:
        """Return numbers by which categories are put in order."""

    def _matrix(self, given: Examples, k: int, grid: list[Any]) -> tuple[CutColumns, Any]:
        columns = CutColumns.of(self._table, given.Z, self._aims(given), given.weights)
        E = columns(given.Z)
        matrix = made(self.hypotheses, E, np.ones(len(E)), CUTS)
        if getattr(matrix, "n", 0) is None:
            raise InputError(
                f"hypotheses made {type(matrix).__name__}, which finds its columns one by one, and "
                "this game is written down; return stumps(...) or another matrix of known columns"
            )
        return columns, matrix

    def predict(self, X: Any) -> Vector:
        """Return F(x) for rows X of shape (N, d)."""
        *_, last = self.staged_predict(X)
        return last

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield F(x) for each stage of the path that `fit` went, the softest first."""
        check_is_fitted(self)
        Z = self._read(X)
        return (voter(Z) for (voter,) in self._stages)

    def contributions(self, X: Any) -> Array:
        """Return the exact SHAP values of F, (N, d + 1); see `MarginBoostClassifier`."""
        check_is_fitted(self)
        return self._stages[-1][0].contributions(self._read(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
