"""Online methods, and the learners that they start."""

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
    """The validated options of an online learner.

    Parameters
    ----------
    loss : str, PointwiseLoss or OnlineLoss
        The loss, such as "hinge", "logistic", "squared" or "inner". Labels are −1 and +1.
    over : Domain
        The domain of the weights.
    proxy : str or Proxy
        The proxy, a strongly convex function on `over`.
    schedule : str or Schedule
        The temperature schedule.
    bound : float
        A bound K in [1e-100, 1e100] on the dual norm of the base function values h: on |h_j|, or on
        ‖h‖_2 if the proxy is strongly convex in the l2 norm.
    targets : float
        A bound on |y|, by default inf. It is needed if the slopes of the loss depend on y.

    Raises
    ------
    InputError
        If the options are incompatible.
    """

    loss: Any
    over: Any
    proxy: Any
    schedule: Any
    bound: float = 1.0
    targets: float = math.inf

    greedy: ClassVar[bool] = False
    """Whether each step starts from the previous weights (Juditsky et al. 2005, Eq. 22) instead of
    the sum of the gradients."""

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
                f"{type(self).__name__} contains only options, and its learners have {name!r}; "
                "start a learner: learner = method.start(M) for M weights"
            )
            raise AttributeError(message, name=name, obj=self)

    def start(self, size: int) -> Learner:
        """Return a new learner with `size` weights.

        Raises
        ------
        InputError
            If the proxy does not fit the domain or the number of weights, or if the schedule needs
            a gradient bound and the loss has none.
        """
        return Learner(self, count("M", size))

    def restored(self, state: Mapping[str, Any]) -> Learner:
        """Restore a learner from a state that `Learner.state` returned.

        Later results are bitwise equal to those of the original learner.

        Raises
        ------
        InputError
            If the state belongs to another method.
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
    """An online learner, with weights that change with each example and regret bounds.

    `OnlineMethod.start` returns a learner. Example i is predicted with the weights w_{i−1}, before
    the learner learns from it.

    Attributes
    ----------
    method : OnlineMethod
        The method and its options.
    size : int
        The number M of weights.
    constants : Constants
        The gradient bound L, the modulus α and the range V_max of the proxy.
    origin : dict
        The base functions and columns of the stream; see `Stream.origin`.
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
        """The current weights, which predict the next example."""
        return self._w.copy()

    @property
    def average(self) -> Vector:
        """The weighted mean of the weights w_0, ..., w_{t−1} in all rounds so far."""
        # Before the first example there is no mean, so that the current weights are returned.
        return self._mean.copy() if self._sums[kernels.WEIGHT] else self.w

    @property
    def rounds(self) -> int:
        """The number of steps so far. An example of weight 2.5 takes three steps."""
        return int(self._sums[kernels.ROUNDS])

    @property
    def weight(self) -> float:
        """The total weight of the examples so far."""
        return float(self._sums[kernels.WEIGHT])

    @property
    def loss(self) -> float:
        """The cumulative weighted loss of the predictions so far."""
        return float(self._sums[kernels.LOSS])

    @property
    def beta(self) -> float:
        """The current temperature. Higher temperatures mean smaller steps."""
        return float(self._sums[kernels.BETA])

    @property
    def filled(self) -> float:
        """The norm of the average weights divided by the radius, or 0 unless the domain is a ball.

        If the ratio is close to 1, a larger radius may decrease the losses.
        """
        over = self.method.over
        if not isinstance(over, L1Ball | L2Ball):
            return 0.0
        order = 1 if isinstance(over, L1Ball) else 2
        return float(np.linalg.norm(self.average, order)) / float(over.radius)

    def predict(self, H: Any, average: bool = True) -> Any:
        """Return the prediction <w, h> for an example h, or for each row of a block.

        By default w is the average weights; if `average` is False, w is the current weights.

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

        Blocks and single rows give bitwise the same results.

        Parameters
        ----------
        H : array of shape (M,) or (rows, M)
            The base function values of one example, or of each row of a block, within the bound.
        y : number or array of shape (rows,)
            The targets. The loss "inner" has none.
        weight : number or array of shape (rows,), optional
            Example weights >= 0. An example of integer weight k counts as k consecutive copies. The
            fractional part of a weight gives a shorter step.

        Returns
        -------
        float or array of shape (rows,)
            The predictions <w_{i−1}, h_i>.

        Raises
        ------
        InputError
            If H does not have a column for each weight, if a value is not finite or beyond the
            bound, if the loss does not accept a target, or if a weight is negative. Errors leave
            the learner unchanged.
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
        """Return an upper bound on the regret, which holds for arbitrary examples.

        The regret is Σ l_i(w_{i−1}) − l_i(w), where l_i is the loss of example i. After t examples,
        the bound is β_t V(w) + Σ ‖u_i‖²/(2αβ_{i−1}), where V is the proxy, α its modulus, β_i the
        temperature after example i, and u_i the gradient of l_i. For greedy steps with varying
        temperatures, the largest Bregman divergence of the proxy replaces V(w); it is inf for the
        entropy.

        Parameters
        ----------
        w : array of shape (M,), optional
            The fixed weights to compare with. By default the bound holds for all weights of the
            domain.

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
        """Return the state as a dictionary for `OnlineMethod.restored`."""
        arrays = {name: a.copy() for name, a in zip("wzms", self.arrays(), strict=True)}
        origin = {"origin": dict(self.origin)} if self.origin else {}
        return {"method": repr(self.method), **origin, **arrays}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the learner to a file for `load`. An interruption leaves no partial file.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        write_state(check_output(path), self.state())

    def arrays(self) -> tuple[Vector, Vector, Vector, Vector]:
        """Return the weights, gradient sum, average weights and running totals, without copies."""
        return self._w, self._z, self._mean, self._sums

    def _check_width(self, H: Array) -> None:
        if H.ndim not in (1, 2) or H.shape[-1] != self.size:
            raise InputError(
                f"H must have shape ({self.size},) or (rows, {self.size}) for this learner, "
                f"got {H.shape}"
            )

    def _check_rows(self, H: Array) -> Vector:
        """Return the dual norm of each row of H. Invalid rows raise a RowError."""
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
        """Return the options for compiled code, or None if there are none."""
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
        """Take one step for an example with the loss `value` and the subgradient `u`.

        The argument `step` is the example weight, at most 1.
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
