"""Temperatures β_i of mirror descent: how far the weights may follow the gradients so far."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, positive
from relaxboost._core.registry import Registry

SCHEDULES: Registry[Schedule] = Registry("schedule")
"""Schedules by name; a name stands for the schedule with its defaults."""


class Constants(NamedTuple):
    """What a schedule may know of the problem."""

    lipschitz: float
    """L, a bound of the gradients in the dual norm; inf if unknown."""
    modulus: float
    """α of the proxy."""
    largest: float
    """V*, the largest value of the proxy."""

    @property
    def balance(self) -> float:
        """√(αV*), what gradients are divided by."""
        return math.sqrt(self.modulus * self.largest)


class Schedule(ABC):
    """The sequence β_0 <= β_1 <= ...; β_i moves the weights after example i.

    A subclass should be immutable; a frozen dataclass is. One with a `name` of its own can be asked
    for by it, if it has defaults.
    """

    name: ClassVar[str] = ""
    steady: ClassVar[bool] = False
    """Whether all β_i are one."""
    needs_lipschitz: ClassVar[bool] = True
    """Whether it has to know L."""

    def __init_subclass__(cls) -> None:
        SCHEDULES.add(cls)

    @abstractmethod
    def temperature(self, i: int, squares: float, known: Constants) -> float:
        """Return β_i > 0, never less than the one before.

        Parameters
        ----------
        i : int
            Examples so far, >= 0.
        squares : float
            The sum of the squared dual norms of their gradients.
        known : Constants
        """

    def law(self, known: Constants) -> tuple[float, float, float, float] | None:
        """Return (b, p, q, r) with β_i = b √(p + q i + r squares), None if it is another.

        Compiled learners use it.
        """
        return None


class _Root(Schedule):
    """A schedule with a law."""

    def temperature(self, i: int, squares: float, known: Constants) -> float:
        b, p, q, r = self.law(known)
        return b * math.sqrt(p + q * i + r * squares)

    @abstractmethod
    def law(self, known: Constants) -> tuple[float, float, float, float]:
        """Return (b, p, q, r)."""


@dataclass(frozen=True)
class Growing(_Root):
    """β_i = β_0 √(i + 1): for any horizon, with expected excess risk 2L√(V*/α) √(t + 1)/t.

    Parameters
    ----------
    beta : float, optional
        β_0 > 0, by default L/√(αV*).

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
        """Unless β_0 is given."""
        return self.beta is None

    def law(self, known: Constants) -> tuple[float, float, float, float]:
        return self.beta or known.lipschitz / known.balance, 1.0, 1.0, 0.0


@dataclass(frozen=True)
class Horizon(_Root):
    """β_i = L √(t/(2αV*)) for t examples, known beforehand: excess risk L√(2V*/(αt)).

    With the proxies of GD and EG, 1/β is the step of DEK11's Theorems 1 and 3.

    Parameters
    ----------
    rounds : int
        t >= 1. More examples may come; the bound then is what `Learner.regret_bound` says.

    References
    ----------
    Juditsky et al. (2005), Eqs. 37 and 38; Dekel (2011), Thms 1 and 3.
    """

    rounds: int
    steady: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", count("rounds", self.rounds))

    def law(self, known: Constants) -> tuple[float, float, float, float]:
        return known.lipschitz * math.sqrt(self.rounds / 2.0) / known.balance, 1.0, 0.0, 0.0


@dataclass(frozen=True)
class Constant(_Root):
    """β_i = β, the inverse of a constant step.

    Parameters
    ----------
    beta : float
        Above 0.
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
    """β_i = √((L² + G_i)/(αV*)), G_i the sum of the squared norms of the gradients so far.

    For any horizon. Its regret is at most √(V*/α) (√(L² + G_t) + √G_t), since L² + G_{i−1} >= G_i
    and Σ g_i²/√G_i <= 2√G_t; never more than `Growing` promises, and less where gradients are.

    References
    ----------
    Auer, Cesa-Bianchi & Gentile (2002), Adaptive and self-confident on-line learning algorithms.
    """

    name: ClassVar[str] = "adaptive"

    def law(self, known: Constants) -> tuple[float, float, float, float]:
        return 1.0 / known.balance, known.lipschitz**2, 0.0, 1.0


def as_schedule(given: Any) -> Schedule:
    """Return the schedule that a learner was given, by name or as an object."""
    if isinstance(given, Schedule):
        return given
    if isinstance(given, str) and given in SCHEDULES:
        return SCHEDULES[given]()
    raise InputError(
        f"unknown schedule {given!r}; choose one of {', '.join(SCHEDULES)}, or an object such as "
        "Horizon(rounds) or Constant(beta)"
    )
