"""The methods of `solve`: immutable objects with options, each of which starts a run."""

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
"""The class of each method, by the name that `solve` accepts for it."""

STOPPING = ("certified", "smoothed")
"""The tests that may end a run: on the certified gap, or Fig. 1's own on the smoothed gap."""


@dataclass(frozen=True)
class Method(ABC):
    """A method for solving games: a frozen dataclass whose fields are its options.

    The options are checked when the object is made. A subclass with a `name` enters `METHODS`, and
    `solve` then accepts the name for an object with the default options. `solve` accepts an object
    of every subclass, also of one without a name.
    """

    name: ClassVar[str]
    """The name that `solve` accepts for the method."""
    endless: ClassVar[str] = ""
    """A sentence that says why a run may never reach `tol`, or "". Such a run needs a limit."""
    cold: ClassVar[str] = ""
    """A sentence that says why a run cannot start from given points, or ""."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # An abstract class has no name of its own, and does not enter the list.
        if "name" in vars(cls):
            METHODS[cls.name] = cls

    def chosen(self, game: Game, tol: float) -> Method:
        """Return the method for this game and gap, with a value for every option left open."""
        return self

    @abstractmethod
    def check(self, game: Game) -> None:
        """Raise an InputError if the method does not fit the game."""

    @abstractmethod
    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        """Return the booster, ready for its first round.

        Parameters
        ----------
        game : Game
            A game that `check` accepts.
        goal : Tolerance
            The requested accuracy. `solve` ends the run; the booster uses the goal only to choose
            its own accuracy.
        clock : Clock
            A round that may take long calls ``clock.check()``, which raises `TimeUp` after the time
            limit.
        """

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return the number of rounds after which a theorem guarantees the gap `tol`, or nan."""
        return math.nan

    @property
    def smoothed_test(self) -> bool:
        """Whether Fig. 1's own test ends the run, instead of the certified gap."""
        return False

    def choice(self, option: str, known: tuple[str, ...]) -> None:
        """Raise an InputError if the value of an option is not among the known ones."""
        value = getattr(self, option)
        if value not in known:
            raise InputError(f"unknown {option} {value!r}; choose one of {', '.join(known)}")


@dataclass(frozen=True)
class SmoothedMethod(Method):
    """A method that adds a strongly convex function, times a weight β, to the relaxation f.

    Parameters
    ----------
    beta : float, optional
        The weight β of the smoothing, > 0. By default it is tol / (2 R), where R <= log m is the
        range of the entropy over the distributions with finite f (`Relaxation.entropy_range`). With
        this β the smoothing changes the value by at most tol/2. If f is itself more strongly convex
        than that (`Relaxation.curvature`), nothing is added.
    smoothing : {"entropy", "binary-entropy"}
        The function that is added: Σ d log d as in SS09 Fig. 1, or Σ d log d + (1 − d) log(1 − d),
        which replaces the soft-max by the log-loss (SS09, Sec. 6). The second one adds
        (m − 1) log(m/(m − 1)) < 1 to R, and needs a relaxation with a method
        ``binary_distribution``: `HardMargin`, `Capped`, `CVaR`, `KLPenalty`.
    """

    beta: float | None = None
    smoothing: str = "entropy"

    def __post_init__(self) -> None:
        self.choice("smoothing", SMOOTHINGS)
        if self.beta is not None:
            # The dataclass is frozen, so the checked value is set through object.
            object.__setattr__(self, "beta", positive("beta", self.beta))

    def check(self, game: Game) -> None:
        """Raise an InputError if the relaxation does not support the smoothing."""
        if self.smoothing == "binary-entropy":
            BinaryEntropySmoother(game.relaxation)

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return the number of rounds after which theory guarantees the gap `tol`.

        The result is nan if the user chose β, or if the weak learner may miss the best hypothesis.
        """
        # The theorems assume the default β and the best hypothesis in every round.
        if game.matrix.slack or self.beta is not None:
            return math.nan
        spread = self._simplex_range(game.m)
        return game.over.rounds_bound(spread, game.n, tol, not self.smoothed_test)

    def smoother(self, game: Game, tol: float, whole: bool = False) -> tuple[float, Smoother, str]:
        """Return β, the smoother, and a suffix for the name of the run.

        Parameters
        ----------
        game : Game
        tol : float
            The requested gap. The smoothing may change the value by half of it.
        whole : bool
            Whether β is that of Fig. 1, which uses the range over the whole simplex.
        """
        m = game.m
        f = game.relaxation
        simplex = self._simplex_range(m)
        # If f excludes distributions, the entropy varies less than over the whole simplex.
        spread = simplex if whole else f.entropy_range(m) + simplex - math.log(m)
        beta = self.beta or default_beta(spread, tol)
        if self.smoothing == "binary-entropy":
            return beta, BinaryEntropySmoother(f), ", binary entropy"
        # A strongly convex f needs no smoothing, and without it the value does not change.
        curvature = f.curvature(m)
        if self.beta is None and not whole and curvature >= beta:
            return curvature, Unsmoothed(f), ", unsmoothed"
        return beta, f, ""

    def _simplex_range(self, m: int) -> float:
        """Return the range of the smoothing function over the simplex of m examples."""
        is_binary = self.smoothing == "binary-entropy"
        return math.log(m) + (BinaryEntropySmoother.added_range(m) if is_binary else 0.0)


def default_beta(spread: float, tol: float) -> float:
    """Return the β at which smoothing changes the value of a game by at most tol/2.

    `spread` is the range of the smoothing function over the feasible distributions.
    """
    # If there is only one distribution, smoothing changes nothing, and a large β permits the
    # longest steps. The limits keep β and 1/β finite.
    return min(max(tol / (2.0 * spread), 1e-300), 1e300) if spread > 0.0 else 1e100


RENAMED = {
    "totally-corrective": "lpboost",
    "combined": "auto",
    "taut-strings": "auto",
}
"""The names of methods in version 0.1, each with the present name of the method."""


def as_method(given: Any) -> Method:
    """Return the method that the user named or made.

    Raises
    ------
    InputError
        If `given` is neither a `Method` nor a known name.
    """
    if isinstance(given, Method):
        return given
    if isinstance(given, str) and given in RENAMED:
        name = RENAMED[given]
        # The warning shall point to the call of `solve`, two calls above this one.
        warnings.warn(
            f'method="{given}" is now called method="{name}"; version 0.3 will not accept the old '
            "name",
            FutureWarning,
            stacklevel=3,
        )
        return METHODS[name]()
    if isinstance(given, str) and given in METHODS:
        return METHODS[given]()
    known = ", ".join(f'"{name}"' for name in sorted(METHODS))
    # A class instead of an object is a likely slip, which deserves its own remedy.
    hint = f"; write {given.__name__}()" if isinstance(given, type) else ""
    raise InputError(
        f"unknown method {given!r}; choose one of {known}, or an object with options, "
        f'as in method=relaxboost.solvers.Corrective(step="pairwise"){hint}'
    )
