"""Online learners: the options of a method, and the weights that change with every example."""

from __future__ import annotations

import math
import os
from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Vector, doubles
from relaxboost._core.errors import InputError, RowError, class_hint
from relaxboost._core.files import check_output
from relaxboost._core.html import card
from relaxboost._core.parameters import count
from relaxboost.game.domains import Domain, FullSimplex, L1Ball, L2Ball, Simplex
from relaxboost.online.blocks import checked_weights, pieces
from relaxboost.online.kernels import rounds as kernels
from relaxboost.online.kernels.slopes import INNER, LOSS_CODES
from relaxboost.online.kernels.vectors import dual_norms
from relaxboost.online.losses import Inner, OfPrediction, as_online_loss
from relaxboost.online.proxies import Entropy, SquaredL2, as_proxy
from relaxboost.online.saving import check_method, write_state
from relaxboost.online.schedules import Constants, as_schedule

_DOMAINS: dict[tuple[type, type], int] = {
    (Entropy, Simplex): kernels.SIMPLEX,
    (Entropy, FullSimplex): kernels.FULL_SIMPLEX,
    (Entropy, L1Ball): kernels.L1_BALL,
    (SquaredL2, L2Ball): kernels.L2_BALL,
}
"""The pairs of a proxy and a domain for which online learning is compiled, with their codes."""


@dataclass(frozen=True)
class OnlineMethod(ABC):
    """The options of an online learner. They are checked when the method is created.

    Parameters
    ----------
    loss : str, PointwiseLoss or OnlineLoss
        The loss, such as "hinge", "logistic", "squared" or "inner". Labels of two classes are −1
        and +1.
    over : Domain
        The domain, which is the set of permitted weights.
    proxy : str or Proxy
        The proxy, a strongly convex function on `over`.
    schedule : str or Schedule
        The schedule of the temperatures β_i.
    bound : float
        A number K between 1e-100 and 1e100. The values h of the base functions must be in [−K, K].
        If the proxy is strongly convex in the l2 norm, ‖h‖_2 must be at most K instead.
    targets : float
        A bound on |y|, which is needed if the slopes of the loss depend on the targets. By default
        it is inf.

    Raises
    ------
    InputError
        If the options are incompatible with each other.
    """

    loss: Any
    over: Any
    proxy: Any
    schedule: Any
    bound: float = 1.0
    targets: float = math.inf

    greedy: ClassVar[bool] = False
    """Whether each step of the method starts from the previous weights (Juditsky et al. 2005, Eq.
    22). If False, the new weights are computed from the sum of the gradients."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", as_online_loss(self.loss))
        object.__setattr__(self, "proxy", as_proxy(self.proxy))
        object.__setattr__(self, "schedule", as_schedule(self.schedule))
        if not isinstance(self.over, Domain):
            hint = class_hint(self.over)
            raise InputError(f"over must be a domain such as Simplex(1), got {self.over!r}{hint}")
        # The repr of the method identifies saved states, and 1 and 1.0 must give the same repr.
        for name in ("bound", "targets"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and value > 0.0):
                raise InputError(f"{name} must be a number > 0, got {value!r}")
            object.__setattr__(self, name, float(value))
        if not 1e-100 <= self.bound <= 1e100:
            raise InputError(
                f"bound must be in [1e-100, 1e100], got {self.bound:g}; otherwise the squares of "
                "entries of a row can overflow or underflow"
            )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not hasattr(Learner, name):
                # This line raises the usual AttributeError.
                return object.__getattribute__(self, name)
            message = (
                f"{type(self).__name__} has only the options of the method; its learners have "
                f"{name!r}, as in learner = method.start(M) for M weights"
            )
            raise AttributeError(message, name=name, obj=self)

    def start(self, size: int) -> Learner:
        """Return a new learner with M = `size` weights, which has not learned from any example.

        Raises
        ------
        InputError
            If the proxy does not fit the domain or M, or if the schedule needs a bound on the
            gradients and the loss has none.
        """
        return Learner(self, count("M", size))

    def restored(self, state: Mapping[str, Any]) -> Learner:
        """Return a learner restored from a state that `Learner.state` returned.

        The later results are bitwise equal to those of the learner that had this state.

        Raises
        ------
        InputError
            If the state belongs to a learner of another method.
        """
        check_method(str(state.get("method")), repr(self))
        # All attributes except these arrays and `origin` follow from the method.
        learner = self.start(np.size(state["w"]))
        for name, array in zip("wzms", learner.arrays(), strict=True):
            given = np.asarray(state[name])
            if given.dtype.kind not in "iuf" or given.shape != array.shape:
                raise InputError(
                    f"the saved {name} must be an array of numbers of shape {array.shape}"
                )
            array[:] = given
        learner.origin = dict(state.get("origin", {}))
        if not all(isinstance(text, str) for pair in learner.origin.items() for text in pair):
            raise InputError("the saved origin must be a dictionary of strings")
        return learner


class Learner:
    """An online learner: weights that change with each example, and proved bounds on the regret.

    Learners are created by `OnlineMethod.start`. Example i is predicted with the weights w_{i−1},
    before the learner learns from it.

    Attributes
    ----------
    method : OnlineMethod
        The method of the learner, with its options.
    size : int
        The number M of weights.
    constants : Constants
        The gradient bound L, the modulus α and the range V_max of the proxy.
    origin : dict
        A description of the base functions and columns of the stream; see `Stream.origin`.
    """

    def __init__(self, method: OnlineMethod, size: int) -> None:
        self.method = method
        self.size = size
        self.origin: dict[str, str] = {}
        proxy = method.proxy
        over = method.over
        proxy.check(over, size)
        # ‖h‖ in the dual norm is at most `bound`, and ‖w‖ in the norm is at most the radius.
        reach = float(over.radius) * method.bound
        if proxy.norm == "l1" and isinstance(over, L2Ball):
            reach *= math.sqrt(size)
        lipschitz: float = method.loss.lipschitz(reach, method.bound, method.targets)
        self.constants = Constants(lipschitz, proxy.modulus(over, size), proxy.largest(over, size))
        if method.schedule.needs_lipschitz and not math.isfinite(lipschitz):
            raise InputError(
                f"{method.schedule!r} needs a bound on the gradients, but {method.loss!r} has "
                "none here; pass targets=, a bound on |y|, or schedule=Constant(beta)"
            )
        # The temperature of `Adaptive` contains the square of L, so that L is checked first.
        _check_gradients(method, lipschitz)
        self._w: Vector = proxy.start(over, size)
        self._z: Vector = np.zeros(size)
        # A greedy step starts at z = −∇V(w), which is 0 at first if the proxy is steep.
        if method.greedy and not proxy.steep:
            self._z = -proxy.gradient(self._w, over)
        self._mean: Vector = np.zeros(size)
        self._sums: Vector = np.zeros(6)
        self._sums[kernels.BETA] = self._temperature()
        _check_steps(method, self.beta, self.constants)

    def __repr__(self) -> str:
        return f"<learner of {self.size} weights after {self.rounds} rounds: {self.method!r}>"

    def _repr_html_(self) -> str:
        bound = self.regret_bound()
        facts: dict[str, Any] = {
            "rounds": self.rounds,
            "mean loss": self.loss / (self.weight or 1.0),
        }
        facts |= {"regret bound": bound} if math.isfinite(bound) else {}
        average = self.average
        facts["average weights"] = f"{self.size}, from {average.min():.3g} to {average.max():.3g}"
        return card(f"Learner, {self.method!r}", facts)

    @property
    def w(self) -> Vector:
        """The learner's current weights of the base functions, which predict the next example."""
        return self._w.copy()

    @property
    def average(self) -> Vector:
        """The weighted mean of the learner's weights in all rounds so far, w_0, ..., w_{t−1}."""
        # Before the first example there is no mean, so that the current weights are returned.
        return self._mean.copy() if self._sums[kernels.WEIGHT] else self.w

    @property
    def rounds(self) -> int:
        """The number of the learner's steps. An example of weight 2.5 takes three steps."""
        return int(self._sums[kernels.ROUNDS])

    @property
    def weight(self) -> float:
        """The total weight of all examples from which the learner has learned."""
        return float(self._sums[kernels.WEIGHT])

    @property
    def loss(self) -> float:
        """The cumulative loss of the learner, which is the weighted sum of its losses so far."""
        return float(self._sums[kernels.LOSS])

    @property
    def beta(self) -> float:
        """The learner's current temperature. The higher it is, the less the weights change."""
        return float(self._sums[kernels.BETA])

    @property
    def filled(self) -> float:
        """The norm of the learner's average weights divided by the radius, if the domain is a ball.

        For other domains, the result is 0. If the ratio is close to 1, a larger radius may lead to
        smaller losses.
        """
        over = self.method.over
        if not isinstance(over, L1Ball | L2Ball):
            return 0.0
        order = 1 if isinstance(over, L1Ball) else 2
        return float(np.linalg.norm(self.average, order)) / float(over.radius)

    def predict(self, H: Any, average: bool = True) -> Any:
        """Return the prediction <w, h> for an example h, or for each row of a block of examples.

        By default w is the average of the weights. If `average` is False, the current weights are
        used.

        Raises
        ------
        InputError
            If H does not have a column for each weight.
        """
        H = doubles("H", H)
        self._check_width(H)
        return H @ (self.average if average else self._w)

    def update(self, H: Any, y: Any = None, weight: Any = None) -> Any:
        """Predict each example with the current weights, then learn from it.

        The result for a block of rows is bitwise the same as for single rows.

        Parameters
        ----------
        H : array of shape (M,) or (rows, M)
            The values of the M base functions for one example, or for each row of a block. They
            must be within the declared bound.
        y : number or array of shape (rows,)
            The targets. The loss "inner" has none.
        weight : number or array of shape (rows,), optional
            The weights >= 0 of the examples. An example of integer weight k is treated as k
            consecutive copies. The fractional part of a weight leads to a shorter step.

        Returns
        -------
        float or array of shape (rows,)
            The predictions <w_{i−1}, h_i>.

        Raises
        ------
        InputError
            If H does not have a column for each weight, if a value is not finite or beyond the
            bound, if the loss does not accept a target, or if a weight is negative. The learner is
            then unchanged.
        """
        given = doubles("H", H)
        self._check_width(given)
        rows = np.ascontiguousarray(np.atleast_2d(given))
        sizes = self._check_rows(rows)
        targets = self.method.loss.checked(y, len(rows))
        limit = self.method.targets
        if (np.abs(targets) > limit).any():
            row = int(np.argmax(np.abs(targets) > limit))
            raise RowError("", row, f" has the target {targets[row]:g}, beyond targets={limit!r}")
        predictions = np.empty(len(rows))
        done = 0
        # Ctrl-C acts between two calls of compiled rounds, so that these must be short.
        for a, b, weights in pieces(checked_weights(weight, len(rows))):
            found = self._learn(rows[a:b], sizes[a:b], targets[a:b], weights)
            # The prediction of a heavy row is that before its first step.
            if b > done:
                predictions[a:b] = found
                done = b
        return float(predictions[0]) if given.ndim == 1 else predictions

    def regret_bound(self, w: Any = None) -> float:
        """Return an upper bound on the regret of the learner, which holds for arbitrary examples.

        The regret is Σ l_i(w_{i−1}) − l_i(w), where l_i is the loss of example i, w_{i−1} are the
        weights that predict it, and w are fixed weights. After t examples, the bound is β_t V(w) +
        Σ ‖u_i‖²/(2αβ_{i−1}). Here V is the proxy, α its modulus, β_i the temperature after example
        i, and u_i the gradient of l_i. For greedy steps with varying temperatures, V(w) is replaced
        by the largest Bregman divergence of the proxy, which is inf for the entropy, for example.

        Parameters
        ----------
        w : array of shape (M,), optional
            The weights with which the learner is compared. By default the bound holds for all
            weights of the domain.

        Raises
        ------
        InputError
            If w has the wrong length, or is not in the domain.

        References
        ----------
        Juditsky et al. (2005), Prop. 2; Beck & Teboulle (2003); Zinkevich (2003).
        """
        method = self.method
        value = self.constants.largest
        if w is not None:
            value = method.proxy.value(self._checked_point(w), method.over)
        # With changing steps, the divergences of greedy steps do not telescope.
        if method.greedy and not method.schedule.steady:
            value = method.proxy.spread(method.over, self.size)
        return float(self.beta * value + self._sums[kernels.SPENT])

    def _checked_point(self, given: Any) -> Array:
        w = doubles("w", given)
        over = self.method.over
        if w.shape != (self.size,):
            raise InputError(f"w must have shape ({self.size},), got {w.shape}")
        if not np.isfinite(w).all():
            raise InputError("w must have finite entries, but it contains nan or inf")
        # A point of the domain is its own projection.
        near = over.repair(w)
        # Weights that a solver computed satisfy the constraints to about 1e-8.
        if np.abs(near - w).max() > 1e-7 * max(1.0, float(np.abs(near).max())):
            raise InputError(f"w must be in {over!r}, because the bound holds only there")
        return w

    def state(self) -> dict[str, Any]:
        """Return the state of the learner as a dictionary, for `OnlineMethod.restored`."""
        arrays = {name: a.copy() for name, a in zip("wzms", self.arrays(), strict=True)}
        origin = {"origin": dict(self.origin)} if self.origin else {}
        return {"method": repr(self.method), **origin, **arrays}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to a file for `load`. An interruption leaves no partial file behind.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        write_state(check_output(path), self.state())

    def arrays(self) -> tuple[Vector, Vector, Vector, Vector]:
        """Return the weights, the sum of the gradients, the average weights and the running totals
        of the learner, without copying these arrays."""
        return self._w, self._z, self._mean, self._sums

    def _check_width(self, H: Array) -> None:
        if H.ndim not in (1, 2) or H.shape[-1] != self.size:
            raise InputError(
                f"H must have shape ({self.size},) or (rows, {self.size}) for this learner, "
                f"got {H.shape}"
            )

    def _check_rows(self, H: Array) -> Vector:
        """Return the dual norm of each row of H, or raise a RowError for the first invalid row."""
        is_euclidean = self.method.proxy.norm == "l2"
        sizes: Vector = dual_norms(H, is_euclidean)
        # The comparison is False for nan, so that nan is rejected too.
        wrong = ~(sizes <= self.method.bound)
        if wrong.any():
            row = int(np.argmax(wrong))
            found = (
                f" has {'norm' if is_euclidean else 'size'} {sizes[row]:g}, beyond bound="
                f"{self.method.bound!r}; scale the base functions, or declare a larger bound"
            )
            if not np.isfinite(H[row]).all():
                column = int(np.argmin(np.isfinite(H[row])))
                found = f" has {H[row, column]} for base function {column}; drop or impute it"
            raise RowError("", row, found)
        return sizes

    def compiled(self) -> kernels.Codes | None:
        """Return the options as numbers for compiled code, or None if there is no such code."""
        method = self.method
        loss = method.loss
        law = method.schedule.law(self.constants)
        # A subclass may override methods, so only the exact types count.
        domain = _DOMAINS.get((type(method.proxy), type(method.over)))
        if domain is None or law is None:
            return None
        if type(loss) is Inner:
            code = INNER
            parameter = 0.0
        elif type(loss) is OfPrediction and type(loss.loss) in LOSS_CODES:
            code, name = LOSS_CODES[type(loss.loss)]
            parameter = float(getattr(loss.loss, name, 0.0))
        else:
            return None
        numbers = (parameter, float(method.over.radius), self.constants.modulus)
        return np.array(law), (code, domain, method.greedy), numbers

    def _learn(self, H: Array, sizes: Vector, y: Vector, weights: Vector) -> Vector:
        codes = self.compiled()
        if codes is not None:
            return kernels.rounds(H, (sizes, y, weights), self.arrays(), codes)
        # Other losses, proxies and schedules learn in Python.
        predictions = np.empty(len(H))
        for row, h in enumerate(H):
            predictions[row] = float(self._w @ h)
            # Every unit of weight is a step, as if the row were repeated.
            left = float(weights[row])
            while left > 0.0:
                step = min(left, 1.0)
                left -= step
                value, u = self.method.loss.evaluate(self._w, h, float(y[row]))
                self.move(value, u, step)
        return predictions

    def move(self, value: float, u: Vector, step: float = 1.0) -> None:
        """Take one step, given the loss `value` of an example and its subgradient `u` in w.

        The argument `step` is the weight of the example, which is at most 1.
        """
        method = self.method
        sums = self._sums
        norm = float(dual_norms(np.array([u], dtype=np.float64), method.proxy.norm == "l2")[0])
        # The average contains the weights before the step (Juditsky et al. 2005, Eq. 12).
        sums[kernels.WEIGHT] += step
        self._mean += step / sums[kernels.WEIGHT] * (self._w - self._mean)
        before = self.beta
        sums[kernels.LOSS] += step * value
        # The regret bound collects ‖u‖²/(2αβ) with the temperature before the step (Prop. 2). The
        # square of this quotient underflows only if ‖u‖²/(2αβ) does, but ‖u‖² may underflow before.
        spent = step * norm / math.sqrt(2.0 * self.constants.modulus * before)
        sums[kernels.SQUARES] += step * norm * (step * norm)
        sums[kernels.SPENT] += spent * spent
        sums[kernels.ROUNDS] += 1.0
        sums[kernels.BETA] = self._temperature()
        if method.greedy:
            self._z += step / before * u
            self._w[:] = method.proxy.mirror(self._z, 1.0, method.over)
            # The gradient of a steep proxy at the new weights is already −z.
            if not method.proxy.steep:
                self._z[:] = -method.proxy.gradient(self._w, method.over)
        else:
            self._z += step * u
            self._w[:] = method.proxy.mirror(self._z, self.beta, method.over)

    def _temperature(self) -> float:
        rounds = int(self._sums[kernels.ROUNDS])
        squares = float(self._sums[kernels.SQUARES])
        return float(self.method.schedule.temperature(rounds, squares, self.constants))


def _check_gradients(method: OnlineMethod, L: float) -> None:
    # Squares of gradients are summed, so they must neither overflow nor vanish. Without a bound on
    # the targets, the gradients of a regression loss have no bound.
    is_unknown = math.isinf(L) and method.loss.task != "binary"
    if not (is_unknown or 1e-150 <= L <= 1e150):
        raise InputError(
            f"{method.loss!r} has gradients up to {L:g} over {method.over!r}, and their squares "
            "overflow or underflow; change the radius, or scale the base functions and the bound"
        )


def _check_steps(method: OnlineMethod, beta: float, known: Constants) -> None:
    L = known.lipschitz
    step = L / beta if beta > 0.0 and math.isfinite(L) else 0.0
    if not (1e-300 <= beta * known.modulus <= 1e300 and step <= 1e300):
        raise InputError(
            f"{method.schedule!r} starts at β = {beta:g}. For gradients up to {L:g} and a proxy of "
            f"modulus {known.modulus:g}, a step overflows or underflows; change the schedule"
        )
