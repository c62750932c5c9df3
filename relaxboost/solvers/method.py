"""The base classes of the methods of `solve`."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from relaxboost._core.errors import InputError, class_hint
from relaxboost._core.loop import Clock
from relaxboost._core.names import did_you_mean, known_names
from relaxboost._core.parameters import positive
from relaxboost._core.registry import Registry
from relaxboost.game.game import Game
from relaxboost.relaxations.base import projector
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import SMOOTHINGS, Projector, binary_projector, binary_range
from relaxboost.solvers.stopping import Tolerance

METHODS: Registry[Method] = Registry("method")
"""The registry of all methods, by the name that `solve` accepts."""

STOPPING = ("certified", "smoothed")
"""The stopping tests, which compare a gap with the requested one.

"certified" uses the certified gap, and "smoothed" the gap of the smoothed game (Shalev-Shwartz &
Singer 2009, Fig. 1).
"""


@dataclass(frozen=True)
class Method(ABC):
    """The base class of the methods of `solve`, which are frozen dataclasses of options.

    A subclass must define `start`. All other members are optional.

    A subclass with a `name` is added to `METHODS`, and `solve` accepts this unique name in place of
    an object with default options. Objects of subclasses without a name work too.

    Examples
    --------
    A user-defined method is a pair of classes: the options, and a run, which is a `Booster`. Here,
    d is the smoothed best answer to the mean of all columns so far (fictitious play, Fudenberg &
    Levine 1995).

    >>> from dataclasses import dataclass
    >>> import relaxboost as rb
    >>> class FictitiousPlayRun(rb.solvers.Booster):
    ...     inner = "fictitious"  # the kind of all rounds, as the history shows it
    ...
    ...     def __init__(self, game, beta):
    ...         self._f = game.relaxation
    ...         self._beta = beta
    ...         self._answers = 0
    ...         self.active = rb.solvers.starting_point(game)  # the weights w, with their margins
    ...         self.d = self._f.distribution(self.active.u, beta)
    ...
    ...     def advance(self, best):  # `best` is the best hypothesis for d
    ...         self._answers += 1
    ...         self.step = 1.0 / self._answers
    ...         direction, _ = self.active.direction(best)
    ...         self.active.move(best, self.step, self.active.u + self.step * direction)
    ...         self.d = self._f.distribution(self.active.u, self._beta)
    ...         return self  # None ends the run, after `self.end("the reason")`
    >>> @dataclass(frozen=True)
    ... class FictitiousPlay(rb.solvers.Method):
    ...     beta: float = 0.01
    ...
    ...     def start(self, game, goal, clock):
    ...         return FictitiousPlayRun(game, self.beta).named("fictitious play")
    >>> game = rb.Game([[1, -1, 0.5], [-0.5, 1, 0.2], [0.3, -0.2, 1]])
    >>> found = rb.solve(game, 0.1, FictitiousPlay(), max_rounds=2000)
    >>> bool(found.gap <= 0.1)
    True

    The bracket of the solution is computed from d and w, so it is valid for every booster.
    """

    name: ClassVar[str]
    """The name by which `solve` accepts this method, such as "lpboost"."""
    endless: ClassVar[str] = ""
    """The reason why runs may never reach the gap `tol`, a semicolon and a remedy.

    If it is not "", `solve` requires a limit on the rounds or the time. The message is the class
    name, this text and ", or pass max_rounds or time_limit".
    """
    cold: ClassVar[str] = ""
    """The reason why the method rejects the argument `start` of `solve`, or "" if it accepts
    `start`.

    An example is "always starts from the uniform distribution". The message is the class name and
    this text.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        METHODS.add(cls)

    def chosen(self, game: Game, tol: float) -> Method:
        """Return the method with every unset option chosen for the game and the gap `tol`."""
        return self

    def check(self, game: Game) -> None:
        """Raise an InputError if the method cannot solve the game. By default it can."""
        return

    def prepare(self) -> None:
        """Compile the kernels that only this method uses, by calls with small arguments.

        `solve` calls this method before the clock starts, so the time limit excludes compilation.
        By default there are no such kernels.
        """
        return

    @abstractmethod
    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        """Return the run of this method on a game, ready for its first round.

        Parameters
        ----------
        game : Game
            A game that `check` accepts.
        goal : Tolerance
            The requested accuracy. `solve` ends the run, so the booster uses it only to choose the
            accuracy of its own computations.
        clock : Clock
            The clock of the run. Long rounds call ``clock.check()``, which raises `TimeUp` after
            the time limit.
        """

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return a number of rounds after which a theorem guarantees a gap of at most `tol`.

        The result is nan if there is no such theorem.
        """
        return math.nan

    @property
    def smoothed_test(self) -> bool:
        """Whether the smoothed-gap test of Shalev-Shwartz & Singer (2009), Fig. 1, ends a run.

        The usual test compares the certified gap with the requested gap.
        """
        return False

    def choice(self, option: str, known: tuple[str, ...]) -> None:
        """Raise an InputError if the value of the field `option` is not in `known`."""
        value = getattr(self, option)
        if value not in known:
            raise InputError(f"unknown {option} {value!r}{known_names(value, known)}")


@dataclass(frozen=True)
class SmoothedMethod(Method):
    """A base class of methods that smooth the relaxation by a strongly convex function.

    Parameters
    ----------
    beta : float, optional
        The weight β of the added function, > 0. The default, tol / (2 R), changes the value of the
        game by at most tol/2. Here R <= log m is the range of the entropy over the distributions at
        which f is finite (`Bounds.entropy_range`). If f is strongly convex with a modulus of at
        least this β (`Relaxation.curvature`), nothing is added.
    smoothing : {"entropy", "binary-entropy"}
        The added function of the distribution d. "entropy" is Σ d log d, as in Fig. 1 of
        Shalev-Shwartz & Singer (2009, SS09). "binary-entropy" is Σ d log d + (1 − d) log(1 − d),
        which replaces the soft-max by the log-loss (SS09, Sec. 6). For m examples, the range R of
        this function is larger than that of "entropy" by (m − 1) log(m/(m − 1)) < 1. For
        "binary-entropy" the relaxation needs a method ``binary_distribution``: `HardMargin`,
        `Capped`, `CVaR` or `KLPenalty`.
    """

    beta: float | None = None
    smoothing: str = "entropy"

    def __post_init__(self) -> None:
        self.choice("smoothing", SMOOTHINGS)
        if self.beta is not None:
            # The dataclass is frozen, so the checked value is set through object.
            object.__setattr__(self, "beta", positive("beta", self.beta))

    def check(self, game: Game) -> None:
        """Raise an InputError if the relaxation does not suit the chosen smoothing."""
        if self.smoothing == "binary-entropy":
            binary_projector(game.relaxation, 1.0)

    def fig1_rounds_bound(self, game: Game, tol: float) -> float:
        """Return a proved bound on the rounds for a gap of `tol`.

        The bound is that of Shalev-Shwartz & Singer (2009), Fig. 1. The result is nan if the user
        chose the weight β of the smoothing, or if the weak learner may miss the best hypothesis.
        """
        # The theorems assume the default β and the best hypothesis in every round.
        if game.matrix.slack or self.beta is not None:
            return math.nan
        spread = self._simplex_range(game.m)
        return game.over.rounds_bound(spread, game.n, tol, not self.smoothed_test)

    def projector(
        self, game: Game, tol: float, whole: bool = False
    ) -> tuple[float, Projector, str]:
        """Return the weight β, the projector, and a suffix for the name of the run.

        β is the weight of the added function or, if nothing is added, the modulus of strong
        convexity of f. The projector maps margins to smoothed distributions. The suffix is
        ", binary entropy" for this function, ", unsmoothed" if nothing is added, and "" for the
        entropy.

        Parameters
        ----------
        game : Game
            The game that is solved.
        tol : float
            The requested gap. Smoothing may change the value by half of it.
        whole : bool
            Whether β follows from the range of the added function over all distributions, as in
            Shalev-Shwartz & Singer (2009), Fig. 1, instead of the distributions at which f is
            finite.
        """
        m = game.m
        f = game.relaxation
        simplex = self._simplex_range(m)
        # If f excludes distributions, the entropy varies less than over the whole simplex.
        spread = simplex if whole else game.entropy_range + simplex - math.log(m)
        beta = self.beta or default_beta(spread, tol)
        if self.smoothing == "binary-entropy":
            return beta, binary_projector(f, beta), ", binary entropy"
        # A strongly convex f needs no smoothing, because its F has a Lipschitz continuous gradient
        # (SS09 Lemma 18). Without smoothing the value does not change.
        curvature = f.curvature(m)
        if self.beta is None and not whole and curvature >= beta:
            return curvature, lambda u: f.relaxed_margin(u)[1], ", unsmoothed"
        return beta, projector(f, beta), ""

    def _simplex_range(self, m: int) -> float:
        is_binary = self.smoothing == "binary-entropy"
        return math.log(m) + (binary_range(m) if is_binary else 0.0)


def default_beta(spread: float, tol: float) -> float:
    """Return the smoothing weight β that changes the value of a game by at most tol/2.

    `spread` is the range of the smoothing function over the distributions at which f is finite.
    """
    # If there is only one distribution, smoothing changes nothing, and a large β allows the
    # longest steps. The limits keep β and 1/β finite.
    return min(max(tol / (2.0 * spread), 1e-300), 1e300) if spread > 0.0 else 1e100


RENAMED = {
    "totally-corrective": "lpboost",
    "combined": "auto",
    "taut-strings": "auto",
}
"""The current name of each method that was renamed since version 0.1."""

RENAMING = "{} is now called {}; version 0.3 will not accept the old name"
"""The warning about an old name of a method. The fields are the old and the new name."""


def as_method(given: Any, stacklevel: int = 3) -> Method:
    """Convert the argument `method` of `solve`, a name or an object, to a `Method`.

    An old name causes a warning. `stacklevel` selects its line, as in `warnings.warn`.

    Raises
    ------
    InputError
        If `given` is neither a `Method` nor a known name.
    """
    if isinstance(given, Method):
        return given
    if isinstance(given, str) and given in RENAMED:
        name = RENAMED[given]
        renaming = RENAMING.format(f'method="{given}"', f'method="{name}"')
        warnings.warn(renaming, FutureWarning, stacklevel)
        return METHODS[name]()
    if isinstance(given, str) and given in METHODS:
        return METHODS[given]()
    if isinstance(given, str) and (near := did_you_mean(given, METHODS, 0.6)):
        raise InputError(f"unknown method {given!r}{near}")
    known = ", ".join(f'"{name}"' for name in sorted(METHODS))
    raise InputError(
        f"unknown method {given!r}; choose one of {known}, or an object with options, "
        f'as in method=relaxboost.solvers.Corrective(step="pairwise"){class_hint(given, "")}'
    )
