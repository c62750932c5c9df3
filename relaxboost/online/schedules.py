"""Temperature schedules of mirror descent. Higher temperatures mean smaller steps."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from relaxboost._core.errors import InputError
from relaxboost._core.names import known_names
from relaxboost._core.parameters import count, positive
from relaxboost._core.registry import Registry

SCHEDULES: Registry[Schedule] = Registry("schedule")
"""The temperature schedules by name."""


class Constants(NamedTuple):
    """The constants of an online learning problem, on which a schedule may depend."""

    lipschitz: float
    """A bound L on the dual norm of the gradients, or inf if none is known."""
    modulus: float
    """The modulus α of strong convexity of the proxy."""
    largest: float
    """The maximum V_max of the proxy over the domain."""

    @property
    def balance(self) -> float:
        """The number √(αV_max), by which "growing" and "adaptive" divide L."""
        return math.sqrt(self.modulus * self.largest)


class Schedule(ABC):
    """A schedule of temperatures β_0 <= β_1 <= ..., where β_i is used after example i.

    Subclasses should be frozen dataclasses. If they define a `name` and have only default
    parameters, users can select them by name.
    """

    name: ClassVar[str] = ""
    steady: ClassVar[bool] = False
    """Whether all temperatures are equal."""
    needs_lipschitz: ClassVar[bool] = True
    """Whether the temperatures depend on the gradient bound L."""

    def __init_subclass__(cls) -> None:
        SCHEDULES.add(cls)

    @abstractmethod
    def temperature(self, i: int, squares: float, known: Constants) -> float:
        """Return the temperature β_i > 0 after i examples, at least β_{i−1}.

        Parameters
        ----------
        i : int
            The number of examples so far.
        squares : float
            The sum of the squared dual norms of the gradients so far.
        known : Constants
            The constants of the learning problem.
        """

    def law(self, known: Constants) -> tuple[float, float, float, float] | None:
        """Return the numbers b, p, q and r for which β_i = b √(p + q i + r squares).

        Here `squares` is the sum of the squared gradient norms. If the temperatures have another
        formula, the result is None, and learners cannot use compiled code.
        """
        return None


class _Root(Schedule):
    """A schedule with the formula of `Schedule.law`."""

    def temperature(self, i: int, squares: float, known: Constants) -> float:
        # The compiled rounds evaluate the same formula.
        b, p, q, r = self.law(known)
        return b * math.sqrt(p + q * i + r * squares)

    @abstractmethod
    def law(self, known: Constants) -> tuple[float, float, float, float]: ...


@dataclass(frozen=True)
class Growing(_Root):
    """The schedule β_i = β_0 √(i + 1), for an unknown number of examples.

    With the default β_0, the expected excess risk of `MirrorDescent` after t examples is at most
    2L√(V_max/α) √(t + 1)/t, where L, V_max and α are the `Constants`.

    Parameters
    ----------
    beta : float, optional
        The temperature β_0 > 0, by default L/√(αV_max).

    References
    ----------
    Juditsky et al. (2005), Eqs. 17 and 18, Thm 2.
    """

    beta: float | None = None
    name: ClassVar[str] = "growing"

    def __post_init__(self) -> None:
        if self.beta is not None:
            object.__setattr__(self, "beta", positive("beta", self.beta))

    @property
    def needs_lipschitz(self) -> bool:  # type: ignore[override]
        """Whether the schedule needs L, which it does unless `beta` is set."""
        return self.beta is None

    def law(self, known: Constants) -> tuple[float, float, float, float]:
        return self.beta or known.lipschitz / known.balance, 1.0, 1.0, 0.0


@dataclass(frozen=True)
class Horizon(_Root):
    """The constant schedule β_i = L √(t/(2αV_max)) for a known number t of examples.

    The expected excess risk after t examples is at most L√(2V_max/(αt)), where L, V_max and α are
    the `Constants`. For `GradientDescent`, and for `ExponentiatedGradient` over the unit simplex,
    1/β is the step of Theorems 1 and 3 of Dekel (2011).

    Parameters
    ----------
    rounds : int
        The number t >= 1 of examples. `Learner.regret_bound` stays valid for more examples.

    References
    ----------
    Juditsky et al. (2005), Eqs. 37 and 38; Dekel (2011), Thms 1 and 3.
    """

    rounds: int
    steady: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", count("rounds", self.rounds))

    def law(self, known: Constants) -> tuple[float, float, float, float]:
        # This β minimises βV_max + tL²/(2αβ), the bound on the regret after t examples.
        return known.lipschitz * math.sqrt(self.rounds / 2.0) / known.balance, 1.0, 0.0, 0.0


@dataclass(frozen=True)
class Constant(_Root):
    """The constant schedule β_i = β, with the step 1/β.

    Parameters
    ----------
    beta : float
        The constant temperature β > 0.
    """

    beta: float
    steady: ClassVar[bool] = True
    needs_lipschitz: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", positive("beta", self.beta))

    def law(self, known: Constants) -> tuple[float, float, float, float]:
        return self.beta, 1.0, 0.0, 0.0


@dataclass(frozen=True)
class Adaptive(_Root):
    """The schedule β_i = √((L² + G_i)/(αV_max)), for an unknown number of examples.

    G_i is the sum of the squared norms of the first i gradients, and L, V_max and α are the
    `Constants`. The regret of `MirrorDescent` is at most √(V_max/α) (√(L² + G_t) + √G_t), which
    never exceeds the bound of `Growing`, and is smaller if gradients are smaller than L. The bound
    does not hold for greedy steps.

    References
    ----------
    Auer, Cesa-Bianchi & Gentile (2002), Adaptive and self-confident on-line learning algorithms.
    """

    name: ClassVar[str] = "adaptive"

    def law(self, known: Constants) -> tuple[float, float, float, float]:
        # L² in the root makes β_i large enough for the gradient of the next example.
        return 1.0 / known.balance, known.lipschitz**2, 0.0, 1.0


def as_schedule(given: Any) -> Schedule:
    """Return the schedule for a name or an object."""
    if isinstance(given, Schedule):
        return given
    if isinstance(given, str) and given in SCHEDULES:
        return SCHEDULES[given]()
    objects = "pass an object such as Horizon(rounds) or Constant(beta), or one of"
    raise InputError(f"unknown schedule {given!r}{known_names(given, SCHEDULES, objects)}")
