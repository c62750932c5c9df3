"""The base classes of the methods of `solve`. A method is an immutable object with options."""

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
"""The registry of all methods: a dictionary from the name that `solve` accepts to the class."""

STOPPING = ("certified", "smoothed")
"""The tests that may end a run. "certified" compares the certified gap with the requested gap.
"smoothed" compares the gap of the smoothed game with the requested gap, as Shalev-Shwartz & Singer
(2009), Fig. 1, do."""


@dataclass(frozen=True)
class Method(ABC):
    """The base class of the methods of `solve`. A method is a frozen dataclass of its options.

    A subclass must write `start`. All other members are optional.

    If a subclass has a `name`, the class is added to `METHODS`. `solve` then accepts the name in
    place of an object with the default options. Two methods cannot have the same name. `solve` also
    accepts objects of subclasses without a name.

    Examples
    --------
    A user-defined method is a pair of classes: the options, and a run, which is a `Booster`. In
    this example, d is the smoothed best answer to the mean of all columns that the weak learner has
    returned so far (fictitious play, Fudenberg & Levine 1995).

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
    """The name by which `solve` accepts this method with default options, such as "lpboost"."""
    endless: ClassVar[str] = ""
    """The reason why the runs of this method may never reach the gap `tol`, followed by a semicolon
    and a remedy. It is "" if runs always reach the gap. Otherwise `solve` requires a limit on the
    rounds or the time. The error message consists of the name of the class, this text, and ", or
    pass max_rounds or time_limit"."""
    cold: ClassVar[str] = ""
    """The reason why the method rejects the argument `start` of `solve`, for example "always starts
    from the uniform distribution". The error message begins with the name of the class and this
    text. It is "" if the method accepts `start`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        METHODS.add(cls)

    def chosen(self, game: Game, tol: float) -> Method:
        """Return the method with a value for every option that the user has not set.

        The method chooses these values for the game and the requested gap `tol`. It returns itself
        or a copy.
        """
        return self

    def check(self, game: Game) -> None:
        """Raise an InputError if the method cannot solve the given game.

        By default a method can solve every game.
        """
        return

    def prepare(self) -> None:
        """Call the compiled functions that only this method uses, with small arguments.

        `solve` calls this method before the clock starts, so that the time limit excludes
        compilation. By default there are no such functions.
        """
        return

    @abstractmethod
    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        """Return the run of this method on a game, as a booster that is ready for its first round.

        Parameters
        ----------
        game : Game
            A game that `check` accepts.
        goal : Tolerance
            The requested accuracy. `solve` decides when the run ends. The booster uses the goal
            only to choose the accuracy of its own computations.
        clock : Clock
            The clock of the run. A round that may take a long time calls ``clock.check()``, which
            raises `TimeUp` after the time limit.
        """

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return a number of rounds after which a theorem guarantees a gap of at most `tol`.

        The result is nan if no theorem gives such a number.
        """
        return math.nan

    @property
    def smoothed_test(self) -> bool:
        """Whether the stopping test of Shalev-Shwartz & Singer (2009), Fig. 1, ends a run.

        This test compares the gap of the smoothed game with the requested gap. The usual test
        compares the gap between certified bounds with the requested gap.
        """
        return False

    def choice(self, option: str, known: tuple[str, ...]) -> None:
        """Raise an InputError if an option of the method has a value that is not in `known`.

        `option` is the name of the field.
        """
        value = getattr(self, option)
        if value not in known:
            raise InputError(f"unknown {option} {value!r}{known_names(value, known)}")


@dataclass(frozen=True)
class SmoothedMethod(Method):
    """A base class of methods that add a strongly convex function, times a weight β, to the
    relaxation.

    Parameters
    ----------
    beta : float, optional
        The weight β of the added function, > 0. The default is tol / (2 R). Here R <= log m is the
        range of the entropy over the distributions at which f is finite
        (`Bounds.entropy_range`). With this β the added function changes the value of the game
        by at most tol/2. If f is strongly convex with a modulus of at least this β
        (`Relaxation.curvature`), nothing is added.
    smoothing : {"entropy", "binary-entropy"}
        The function of the distribution d that is added. "entropy" is Σ d log d, as in Fig. 1 of
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
        """Raise an InputError if the relaxation cannot be combined with the chosen smoothing."""
        if self.smoothing == "binary-entropy":
            binary_projector(game.relaxation, 1.0)

    def fig1_rounds_bound(self, game: Game, tol: float) -> float:
        """Return a proved bound on the number of rounds that the method needs for a gap of `tol`.

        The bound is that of Shalev-Shwartz & Singer (2009) for the algorithm of Fig. 1. The result
        is nan if the user chose the weight β of the smoothing, or if the weak learner may miss the
        best hypothesis.
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

        β is the weight of the function that is added to the relaxation f. If nothing is added, β is
        the modulus of strong convexity of f instead. The projector is the function that maps
        margins to smoothed distributions. The suffix is ", binary entropy" for this function,
        ", unsmoothed" if nothing is added, and "" for the entropy.

        Parameters
        ----------
        game : Game
            The game that is solved.
        tol : float
            The requested gap. The smoothing may change the value of the game by half this gap.
        whole : bool
            Whether β is computed from the range of the added function over all distributions, as in
            Shalev-Shwartz & Singer (2009), Fig. 1. By default β is computed from its range over the
            distributions at which f is finite.
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
    """Return the weight β with which smoothing changes the value of a game by at most tol/2.

    Smoothing adds a function to the relaxation f, multiplied by β. `spread` is the range of this
    function over the distributions at which f is finite.
    """
    # If there is only one distribution, smoothing changes nothing, and a large β allows the
    # longest steps. The limits keep β and 1/β finite.
    return min(max(tol / (2.0 * spread), 1e-300), 1e300) if spread > 0.0 else 1e100


RENAMED = {
    "totally-corrective": "lpboost",
    "combined": "auto",
    "taut-strings": "auto",
}
"""A dictionary from the name of a method in version 0.1 to its current name, for all renamed
methods."""

RENAMING = "{} is now called {}; version 0.3 will not accept the old name"
"""The warning about an old name of a method, with a gap for the old name and the new name each."""


def as_method(given: Any, stacklevel: int = 3) -> Method:
    """Return the `Method` for the argument `method` of `solve`, which is a `Method` or a name.

    The function warns if `given` is an old name. The argument `stacklevel` of `warnings.warn`
    selects the line to which the warning refers.

    Raises
    ------
    InputError
        If `given` is neither an object of the class `Method` nor a known name.
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
