"""What a method of `solve` is: an immutable object with its options, which starts a run."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import positive
from relaxboost.game.game import Game
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import SMOOTHINGS, BinaryEntropySmoother, Smoother, Unsmoothed
from relaxboost.solvers.stopping import Tolerance

METHODS: dict[str, type[Method]] = {}
"""The methods by the names that `solve` takes for them."""

STOPPING = ("certified", "smoothed")


@dataclass(frozen=True)
class Method(ABC):
    """A method for games: a frozen dataclass of its options, checked when it is made.

    A subclass with a `name` enters `METHODS`, so that `solve` takes the name for an object with
    the defaults. An object of any subclass can be handed to `solve`.
    """

    name: ClassVar[str]
    endless: ClassVar[str] = ""
    """Why a run may never get to tol, if that is so: it then needs a limit."""
    cold: ClassVar[str] = ""
    """Why a run cannot begin anywhere else, if that is so."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            METHODS[cls.name] = cls

    def chosen(self, game: Game, tol: float) -> Method:
        """Return the method that runs on this game, with what was left open filled in."""
        return self

    @abstractmethod
    def check(self, game: Game) -> None:
        """Raise an InputError where the method does not fit the game."""

    @abstractmethod
    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        """Return the booster, ready for its first round.

        Parameters
        ----------
        game : Game
            A game that `check` accepts.
        goal : Tolerance
            The requested gap, ``goal.tol``, and the relative one. The run itself is ended by
            `solve`; a booster needs the goal only to choose its own accuracy.
        clock : Clock
            A round that may take long calls ``clock.check()``, which raises `TimeUp` when the time
            limit has passed.
        """

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return how many rounds reach `tol` at most, nan where nobody knows, as by default."""
        return math.nan

    @property
    def smoothed_test(self) -> bool:
        """Whether Fig. 1's own test ends the run, in place of the certified gap."""
        return False

    def choice(self, option: str, known: tuple[str, ...]) -> None:
        """Raise an InputError unless the option is one of `known`."""
        value = getattr(self, option)
        if value not in known:
            raise InputError(f"unknown {option} {value!r}; choose one of {', '.join(known)}")


@dataclass(frozen=True)
class SmoothedMethod(Method):
    """A method that smooths: what is added to f, and how much of it.

    Parameters
    ----------
    beta : float, optional
        Weight of the smoothing, > 0. By default tol / (2 R) with R <= log m the range of the
        entropy over dom f (`Relaxation.entropy_range`), at which it costs tol/2. Where f is
        strongly convex by more than that (`Relaxation.curvature`), nothing is added.
    smoothing : {"entropy", "binary-entropy"}
        What is added to f, times β: Σ d log d as in SS09 Fig. 1, or Σ d log d + (1 − d) log(1 − d),
        which Sec. 6 suggests: the log-loss in place of soft-max. It adds
        (m − 1) log(m/(m − 1)) < 1 to R, and needs a relaxation with a method
        ``binary_distribution``: `HardMargin`, `Capped`, `CVaR`, `KLPenalty`.
    """

    beta: float | None = None
    smoothing: str = "entropy"

    def __post_init__(self) -> None:
        self.choice("smoothing", SMOOTHINGS)
        if self.beta is not None:
            object.__setattr__(self, "beta", positive("beta", self.beta))

    def check(self, game: Game) -> None:
        """Raise an InputError where the relaxation does not know the smoothing."""
        if self.smoothing == "binary-entropy":
            BinaryEntropySmoother(game.relaxation)

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return how many rounds reach `tol` at most, nan for a β chosen by hand."""
        if game.matrix.slack or self.beta is not None:
            return math.nan
        spread = self._simplex_range(game.m)
        return game.over.rounds_bound(spread, game.n, tol, not self.smoothed_test)

    def smoother(self, game: Game, tol: float, whole: bool = False) -> tuple[float, Smoother, str]:
        """Return β, what makes the distributions, and what to add to the name of the run.

        Parameters
        ----------
        game : Game
        tol : float
            The gap, half of which smoothing may cost.
        whole : bool
            Whether β is that of Fig. 1, for the range over the whole simplex.
        """
        m, relaxation = game.m, game.relaxation
        simplex = self._simplex_range(m)
        spread = simplex if whole else relaxation.entropy_range(m) + simplex - math.log(m)
        beta = self.beta or default_beta(spread, tol)
        if self.smoothing == "binary-entropy":
            return beta, BinaryEntropySmoother(relaxation), ", binary entropy"
        curvature = relaxation.curvature(m)
        if self.beta is None and not whole and curvature >= beta:
            return curvature, Unsmoothed(relaxation), ", unsmoothed"
        return beta, relaxation, ""

    def _simplex_range(self, m: int) -> float:
        """Return the range over the simplex of what β multiplies."""
        binary = self.smoothing == "binary-entropy"
        return math.log(m) + (BinaryEntropySmoother.added_range(m) if binary else 0.0)


def default_beta(spread: float, tol: float) -> float:
    """Return the β at which smoothing by a function of range `spread` costs tol/2."""
    # One distribution only (m = 1, or k = m): nothing is smoothed, and steps may be whole.
    return min(max(tol / (2.0 * spread), 1e-300), 1e300) if spread > 0.0 else 1e100


RENAMED = {
    "totally-corrective": "lpboost",
    "combined": "auto",
    "taut-strings": "auto",
}
"""Names of methods that version 0.1 had, and the names that do the same now."""


def as_method(given: Any) -> Method:
    """Return the method that `solve` was given, by name or as an object."""
    if isinstance(given, Method):
        return given
    if isinstance(given, str) and given in RENAMED:
        name = RENAMED[given]
        warnings.warn(
            f'method="{given}" is now called method="{name}"; the old name goes in version 0.3',
            FutureWarning,
            stacklevel=3,
        )
        return METHODS[name]()
    if isinstance(given, str) and given in METHODS:
        return METHODS[given]()
    known = ", ".join(f'"{name}"' for name in sorted(METHODS))
    hint = f"; write {given.__name__}()" if isinstance(given, type) else ""
    raise InputError(
        f"unknown method {given!r}; choose one of {known}, or an object with options, "
        f'as in method=relaxboost.solvers.Corrective(step="pairwise"){hint}'
    )
