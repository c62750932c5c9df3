"""A class of base functions that grows: late entrants begin where the learner stands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from relaxboost._core.arrays import Vector, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import count
from relaxboost.game.domains import Domain, Simplex
from relaxboost.online.learner import Learner, OnlineMethod
from relaxboost.online.losses import OfPrediction
from relaxboost.online.proxies import Proxy


@dataclass(frozen=True)
class Arrival(Proxy):
    """λ Σ p_j log(p_j/q_j), p = w/λ, for a prior q_j proportional to 1/(j(j + 1)), j = 1, 2, ...

    As many weights as one likes can come later, and the ratios of the first stay. V* = 2λ log M.

    Parameters
    ----------
    expected : int
        At least 2: schedules have V* of at least so many weights.
    """

    expected: int = 16

    steep: ClassVar[bool] = True
    domains: ClassVar[tuple[type[Domain], ...]] = (Simplex,)

    def __post_init__(self) -> None:
        if count("expected", self.expected) < 2:
            raise InputError("expected must be at least 2; schedules have V* of so many weights")

    def check(self, domain: Domain, size: int) -> None:
        """Take a single weight too: more may come."""
        super().check(domain, max(size, 2))

    def modulus(self, domain: Any, size: int) -> float:
        return 1.0 / float(domain.radius)

    def largest(self, domain: Any, size: int) -> float:
        """Return 2λ log M, or that of as many as are expected."""
        return 2.0 * float(domain.radius) * math.log(max(size, self.expected))

    def value(self, w: Vector, domain: Any) -> float:
        radius = float(domain.radius)
        p = np.maximum(w, 0.0) / radius
        return max(0.0, radius * float((xlogy(p, p) - p * _logs(w.size)).sum()))

    def mirror(self, z: Vector, beta: float, domain: Any) -> Vector:
        """Return λ times the distribution proportional to q_j exp(−z_j/β)."""
        heights: Vector = _logs(z.size) - (z - z.min()) / beta
        weights: Vector = np.exp(heights - heights.max())
        return weights * (float(domain.radius) / float(weights.sum()))

    def gradient(self, w: Vector, domain: Any) -> Vector:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(w) - _logs(w.size))

    def expression(self, w: Any, domain: Any) -> tuple[Any, list[Any]]:
        return cp.sum(cp.rel_entr(w, float(domain.radius) * np.exp(_logs(w.shape[0])))), []


def _logs(size: int) -> Vector:
    """Return log q of a prior that sums to one over so many weights."""
    j = np.arange(1.0, size + 1.0)
    return math.log1p(1.0 / size) - np.log(j) - np.log1p(j)


@dataclass(frozen=True)
class GrowingClass(OnlineMethod):
    """Mirror descent (Eq. 11) over base functions that enter one after another.

    An entrant is charged, for the rounds that it missed, what the learner itself paid in them; so
    it neither gains nor loses by having been away, and it may enter at any time. This is EG with
    sleeping experts. Whatever comes, for each w of the simplex, every base function counted from
    its own entry,

        Σ_j (w_j/λ) Σ_{i from its entry} <u_i, w_{i−1} − λ e_j> <= β_t V(w) + Σ |u_i|²/(2αβ_{i−1}),

    V of `Arrival` over all that have entered: V = λ log(j(j + 1)M/(M + 1)) for the j-th alone.

    Parameters
    ----------
    loss, over, schedule, bound, targets
        See `OnlineMethod`; `over` is a `Simplex`.
    proxy : Arrival

    References
    ----------
    Freund, Schapire, Singer & Warmuth (1997), Using and combining predictors that specialize;
    Mourtada & Maillard (2017), Efficient tracking of a growing number of experts.
    """

    proxy: Any = Arrival()
    schedule: Any = "growing"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.proxy, Arrival):
            raise InputError(f"late entrants need proxy=Arrival(), got {self.proxy!r}")

    def start(self, size: int = 1) -> GrowingLearner:
        return GrowingLearner(self, count("M", size))

    def restored(self, state: Mapping[str, Any]) -> GrowingLearner:
        learner = super().restored(state)
        assert isinstance(learner, GrowingLearner)
        learner.missed, learner.paid = float(state["missed"]), np.array(state["paid"])
        return learner


class GrowingLearner(Learner):
    """A learner whose base functions may become more.

    Attributes
    ----------
    missed : float
        What an entrant is charged: Σ <u_i, w_{i−1}>/λ so far.
    paid : array of shape (M,)
        The loss of the learner before each base function entered; what it paid since is the rest.
    """

    def __init__(self, method: GrowingClass, size: int) -> None:
        super().__init__(method, size)
        self.missed, self.paid = 0.0, np.zeros(size)

    def admit(self, number: int = 1) -> None:
        """Let `number` more base functions in, the last columns of H from here on."""
        number = count("number", number)
        self.size += number
        self.paid = np.append(self.paid, np.full(number, self.loss))
        self._z = np.append(self._z, np.full(number, self.missed))
        self._mean = np.append(self._mean, np.zeros(number))
        self._w = self.method.proxy.mirror(self._z, self.beta, self.method.over)

    def demand(self, H: Any, y: Any) -> Vector:
        """Return the distribution over examples for which a weak learner is to find a new one.

        It is proportional to |φ'| at the present predictions, so that the base function with the
        largest edge lowers the loss most at first; uniform where every slope is zero.

        Parameters
        ----------
        H : array of shape (rows, M)
        y : array of shape (rows,)
            Labels −1 and +1.

        Raises
        ------
        InputError
            For a loss that is not one of margins, and data that `update` would not take.
        """
        loss = self.method.loss
        if not isinstance(loss, OfPrediction) or loss.task != "binary":
            raise InputError(
                f"a weak learner is asked for labels -1 and +1, and {loss!r} has none; choose "
                '"hinge" or "logistic", or admit base functions of your own'
            )
        rows = np.atleast_2d(doubles("H", H))
        self._check_width(rows)
        self._check_rows(rows)
        slopes = np.abs(loss.loss.pointwise(rows @ self._w, loss.checked(y, len(rows)))[1])
        total = float(slopes.sum())
        return slopes / total if total > 0.0 else np.full(len(rows), 1.0 / len(rows))

    def regret_bound(self, w: Any = None) -> float:
        """Return the bound of `GrowingClass` for w; by default for the worst of the simplex."""
        if w is not None:
            return super().regret_bound(w)
        worst = np.zeros(self.size)
        worst[-1] = float(self.method.over.radius)
        return super().regret_bound(worst)

    def state(self) -> dict[str, Any]:
        return super().state() | {"missed": self.missed, "paid": self.paid.copy()}

    def _step(self, h: Vector, y: float, step: float) -> None:
        """Learn, and note what those pay who are not there."""
        _, u = self.method.loss.evaluate(self._w, h, y)
        self.missed += step * float(u @ self._w) / float(self.method.over.radius)
        super()._step(h, y, step)
