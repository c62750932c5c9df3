"""What an online learner is: options that do not change, and weights that every example moves."""

from __future__ import annotations

import math
import os
from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Vector, doubles
from relaxboost._core.errors import InputError, RowError
from relaxboost._core.files import check_output
from relaxboost._core.parameters import count
from relaxboost.game.domains import Domain, FullSimplex, L1Ball, L2Ball, Simplex
from relaxboost.online import kernels
from relaxboost.online.losses import Inner, OfPrediction, as_online_loss
from relaxboost.online.proxies import Entropy, SquaredL2, as_proxy
from relaxboost.online.saving import write_state
from relaxboost.online.schedules import Constants, as_schedule

_DOMAINS: dict[type, int] = {
    Simplex: kernels.SIMPLEX,
    FullSimplex: kernels.FULL_SIMPLEX,
    L1Ball: kernels.L1_BALL,
}

_OUTSIDE = 1e-7
"""How far from the domain a w may be by rounding, beside its largest entry."""
_MOST = 2.0**53
"""Copies are counted down; a double with more would never reach zero."""


@dataclass(frozen=True)
class OnlineMethod(ABC):
    """The options of a learner: a frozen dataclass, checked when it is made.

    Parameters
    ----------
    loss : str, PointwiseLoss or OnlineLoss
        "hinge", "logistic", "squared", ..., "inner"; labels of two classes are −1 and +1.
    over : Domain
        What the weights range over.
    proxy : str or Proxy
        Strongly convex on `over`.
    schedule : str or Schedule
        The temperatures β_i.
    bound : float
        K, in [1e-100, 1e100]: base functions have values in [−K, K]; for proxies in l2, ‖h‖_2 <= K.
    targets : float
        A bound of |y| > 0, where the slopes of the loss need one; by default inf.

    Raises
    ------
    InputError
        For options that do not go together.
    """

    loss: Any
    over: Any
    proxy: Any
    schedule: Any
    bound: float = 1.0
    targets: float = math.inf

    greedy: ClassVar[bool] = False
    """Whether a step begins at the weights before it (Eq. 22), not at all gradients (Eq. 11)."""

    def __post_init__(self) -> None:
        made = {
            "loss": as_online_loss(self.loss),
            "proxy": as_proxy(self.proxy),
            "schedule": as_schedule(self.schedule),
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)
        if not isinstance(self.over, Domain):
            raise InputError(f"over must be a domain such as Simplex(1), got {self.over!r}")
        for name in ("bound", "targets"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and value > 0.0):
                raise InputError(f"{name} must be a number > 0, got {value!r}")
            object.__setattr__(self, name, float(value))
        if not 1e-100 <= self.bound <= 1e100:
            raise InputError(
                f"bound must be in [1e-100, 1e100], got {self.bound:g}: base functions have values "
                "in [−bound, bound], and beyond doubles run out"
            )

    def start(self, size: int) -> Learner:
        """Return a learner of M = `size` weights that has seen nothing.

        Raises
        ------
        InputError
            Where the proxy does not fit the domain or M, or the schedule needs a bound of the
            gradients and the loss has none.
        """
        return Learner(self, count("M", size))

    def restored(self, state: Mapping[str, Any]) -> Learner:
        """Return the learner whose `Learner.state` this is; it goes on as if nothing had been.

        Raises
        ------
        InputError
            For a state of another method.
        """
        if str(state.get("method")) != repr(self):
            raise InputError(
                f"this is the state of {state.get('method')}, and not of {self!r}; restore it with "
                "the method that made it"
            )
        learner = self.start(np.size(state["w"]))
        for name, array in zip("wzms", learner.arrays(), strict=True):
            array[:] = state[name]
        learner.origin = dict(state.get("origin", {}))
        return learner


class Learner:
    """Weights that every example moves, their average, and what the theory says of them.

    Made by `OnlineMethod.start`. Example i is predicted with the weights w_{i−1} and then learned
    from.

    Attributes
    ----------
    method : OnlineMethod
    size : int
        M.
    constants : Constants
        L, α and V*.
    origin : dict
        What streams it has learned from, if from any: their base functions and columns.
    """

    def __init__(self, method: OnlineMethod, size: int) -> None:
        self.method, self.size = method, size
        self.origin: dict[str, str] = {}
        proxy, over = method.proxy, method.over
        proxy.check(over, size)
        self.constants = Constants(
            _lipschitz(method, size), proxy.modulus(over, size), proxy.largest(over, size)
        )
        if method.schedule.needs_lipschitz and not math.isfinite(self.constants.lipschitz):
            raise InputError(
                f"{method.schedule!r} needs a bound of the gradients, and {method.loss!r} has none "
                "here; give targets=, a bound of |y|, or schedule=Constant(beta)"
            )
        _check_steepness(method, self.constants.lipschitz)
        self._w: Vector = proxy.start(over, size)
        self._z: Vector = np.zeros(size)
        if method.greedy and not proxy.steep:
            self._z = -proxy.gradient(self._w, over)
        self._mean: Vector = np.zeros(size)
        self._sums: Vector = np.zeros(6)
        self._sums[kernels.BETA] = self._temperature()
        _check_temperature(method, self.beta, self.constants)
        self._codes = _compiled(method, self.constants)

    @property
    def w(self) -> Vector:
        """The weights that predict the next example, shape (M,)."""
        return self._w.copy()

    @property
    def average(self) -> Vector:
        """The mean of w_0, ..., w_{t−1} by weight of the examples (Eq. 12); before them, w_0."""
        return self._mean.copy() if self._sums[kernels.WEIGHT] else self.w

    @property
    def rounds(self) -> int:
        """Steps so far: examples, each copy of weighted ones."""
        return int(self._sums[kernels.ROUNDS])

    @property
    def weight(self) -> float:
        """The total weight of the examples so far."""
        return float(self._sums[kernels.WEIGHT])

    @property
    def loss(self) -> float:
        """Σ l_i(w_{i−1}) so far, by weight."""
        return float(self._sums[kernels.LOSS])

    @property
    def beta(self) -> float:
        """β_t."""
        return float(self._sums[kernels.BETA])

    def predict(self, H: Any, average: bool = True) -> Any:
        """Return <w, h> for an example (a number) or for rows of them, by default of the average.

        Raises
        ------
        InputError
            For another width.
        """
        H = doubles("H", H)
        self._check_width(H)
        return H @ (self.average if average else self._w)

    def update(self, H: Any, y: Any = None, weight: Any = None) -> Any:
        """Predict each example with the weights at hand, then learn from it.

        A block of rows gives the same bits as its rows one by one.

        Parameters
        ----------
        H : array of shape (M,) or (rows, M)
            The values of the base functions, within the bound declared.
        y : number or array of shape (rows,)
            Targets; none for the loss "inner".
        weight : number or array of shape (rows,), optional
            At least 0. A whole weight means so many copies one after another, and what is left of
            it a shorter step.

        Returns
        -------
        float or array of shape (rows,)
            <w_{i−1}, h_i>.

        Raises
        ------
        InputError
            For another width, values that are not finite or beyond the bound, targets that the
            loss does not take, negative weights. Nothing has been learned then.
        """
        given = doubles("H", H)
        examples = self.checked(given, y, weight)
        learn = self._compiled_rounds if self._codes is not None else self._rounds
        predictions = learn(*examples)
        return float(predictions[0]) if given.ndim == 1 else predictions

    def update_late(self, H: Any, y: Any, ahead: Any, told: Any) -> Array:
        """Predict the rows of `ahead` in turn, after each of the last ones learn from a row of H.

        Labels that arrive late are learned from so. There are no more rows in H than ahead; `told`
        are the targets of those ahead, for their losses alone.

        Returns
        -------
        array of shape (rows of ahead, 2)
            <w, h> and Q(w, (h, y)) of the rows ahead, with w as it was at each.
        """
        ahead, _, told, _ = self.checked(doubles("ahead", ahead), told)
        rows, sizes, targets, weights = self.checked(doubles("H", H), y)
        if len(rows) > len(ahead):
            raise InputError(f"{len(rows)} rows are learned from after {len(ahead)} ahead of them")
        codes = self.compiled()
        if codes is not None:
            given = (sizes, targets, weights)
            out: Array = kernels.late(rows, given, (ahead, told), self.arrays(), codes)
            return out
        out = np.empty((len(ahead), 2))
        for i, (h, target) in enumerate(zip(ahead, told.tolist(), strict=True)):
            out[i] = self._w @ h, self.method.loss.evaluate(self._w, h, target)[0]
            k = i - (len(ahead) - len(rows))
            if k >= 0:
                one = slice(k, k + 1)
                self._rounds(rows[one], sizes[one], targets[one], weights[one])
        return out

    def checked(
        self, H: Array, y: Any = None, weight: Any = None
    ) -> tuple[Array, Vector, Vector, Vector]:
        """Return the rows of examples, their dual norms, targets and weights; raise as `update`."""
        self._check_width(H)
        rows = np.ascontiguousarray(np.atleast_2d(H))
        sizes = self._check_rows(rows)
        targets = self.method.loss.checked(y, len(rows))
        self._check_targets(targets)
        return rows, sizes, targets, _weights(weight, len(rows))

    def regret_bound(self, w: Any = None) -> float:
        """Return a bound of Σ l_i(w_{i−1}) − l_i(w) that holds for any examples.

        For Eq. 11 it is β_t V(w) + Σ ‖u_i‖²/(2αβ_{i−1}), as Prop. 2 has it with the gradients seen.
        Greedy steps have the same with β_{t−1}, if β is constant; else the largest Bregman
        divergence stands for V(w), and there may be no bound (inf).

        Parameters
        ----------
        w : array of shape (M,), optional
            In the domain; by default the worst of it.

        Raises
        ------
        InputError
            For a w of another length, or outside the domain, against which nothing is proved.

        References
        ----------
        Juditsky et al. (2005), Prop. 2; Beck & Teboulle (2003); Zinkevich (2003).
        """
        method = self.method
        value = self.constants.largest
        if w is not None:
            value = method.proxy.value(self._point(w), method.over)
        if method.greedy and not method.schedule.steady:
            value = method.proxy.spread(method.over, self.size)
        return float(self.beta * value + self._sums[kernels.SPENT])

    def _point(self, given: Any) -> Array:
        """Return a w of the domain, but for roundings, or raise."""
        w, over = doubles("w", given), self.method.over
        if w.shape != (self.size,):
            raise InputError(f"w has shape {w.shape}, and this learner has {self.size} weights")
        if not np.isfinite(w).all():
            raise InputError("w has nan or infinite entries; weights are finite numbers")
        near = over.repair(w)
        if np.abs(near - w).max() > _OUTSIDE * max(1.0, float(np.abs(near).max())):
            raise InputError(f"w is not in {over!r}, and the bound is for weights that are")
        return w

    def state(self) -> dict[str, Any]:
        """Return all that a run goes on from: the method's name and four small arrays."""
        arrays = {name: a.copy() for name, a in zip("wzms", self.arrays(), strict=True)}
        origin = {"origin": dict(self.origin)} if self.origin else {}
        return {"method": repr(self.method), **origin, **arrays}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, whole or not at all; `load` reads it.

        Raises
        ------
        InputError
            For a place where no file can be written.
        """
        write_state(check_output(path), self.state())

    def arrays(self) -> tuple[Vector, Vector, Vector, Vector]:
        """Return w, z, the mean and the sums themselves."""
        return self._w, self._z, self._mean, self._sums

    def _check_width(self, H: Array) -> None:
        if H.ndim not in (1, 2) or H.shape[-1] != self.size:
            raise InputError(
                f"this learner has {self.size} weights, and the examples have shape {H.shape}; it "
                "takes (M,) or (rows, M)"
            )

    def _check_targets(self, y: Vector) -> None:
        limit = self.method.targets
        if (np.abs(y) > limit).any():
            row = int(np.argmax(np.abs(y) > limit))
            raise RowError("", row, f" has the target {y[row]:g}, beyond targets={limit!r}")

    def _check_rows(self, H: Array) -> Vector:
        """Return the dual norms of the rows, or raise for the first one beyond the bound."""
        sizes: Vector = kernels.dual_norms(H, self.method.proxy.norm == "l2")
        wrong = ~(sizes <= self.method.bound)
        if wrong.any():
            row = int(np.argmax(wrong))
            if not np.isfinite(H[row]).all():
                column = int(np.argmin(np.isfinite(H[row])))
                said = f" has {H[row, column]} for base function {column}; drop or impute it"
                raise RowError("", row, said)
            norm = "norm" if self.method.proxy.norm == "l2" else "size"
            said = (
                f" has {norm} {sizes[row]:g}, beyond bound={self.method.bound!r}; scale the base "
                "functions, or declare a larger bound"
            )
            raise RowError("", row, said)
        return sizes

    def compiled(self) -> kernels.Codes | None:
        """Return how the compiled rounds know this method, None where they do not."""
        if self._codes is None:
            return None
        loss, parameter, domain = self._codes
        law = np.array(self.method.schedule.law(self.constants))
        numbers = (parameter, float(self.method.over.radius), self.constants.modulus)
        return law, (loss, domain, self.method.greedy), numbers

    def _compiled_rounds(self, H: Array, sizes: Vector, y: Vector, weights: Vector) -> Vector:
        predictions: Vector = kernels.rounds(H, (sizes, y, weights), self.arrays(), self.compiled())
        return predictions

    def _rounds(self, H: Array, sizes: Vector, y: Vector, weights: Vector) -> Vector:
        """Learn from rows one by one with any loss, proxy and schedule."""
        predictions = np.empty(len(H))
        for row, h in enumerate(H):
            predictions[row] = float(self._w @ h)
            left = float(weights[row])
            while left > 0.0:
                step = min(left, 1.0)
                left -= step
                self._step(h, float(y[row]), step)
        return predictions

    def _step(self, h: Vector, y: float, step: float) -> None:
        """Learn from one example of weight `step` <= 1."""
        value, u = self.method.loss.evaluate(self._w, h, y)
        self.move(value, u, step)

    def move(self, value: float, u: Vector, step: float = 1.0) -> None:
        """Take a step for a loss that has this value and subgradient at w, with a weight <= 1."""
        method, sums = self.method, self._sums
        norm = float(np.linalg.norm(u) if method.proxy.norm == "l2" else np.abs(u).max())
        sums[kernels.WEIGHT] += step
        self._mean += step / sums[kernels.WEIGHT] * (self._w - self._mean)
        before = self.beta
        sums[kernels.LOSS] += step * value
        square = step * norm * (step * norm)
        sums[kernels.SQUARES] += square
        sums[kernels.SPENT] += square / (2.0 * self.constants.modulus * before)
        sums[kernels.ROUNDS] += 1.0
        sums[kernels.BETA] = self._temperature()
        if method.greedy:
            self._z += step / before * u
            self._w[:] = method.proxy.mirror(self._z, 1.0, method.over)
            if not method.proxy.steep:
                self._z[:] = -method.proxy.gradient(self._w, method.over)
        else:
            self._z += step * u
            self._w[:] = method.proxy.mirror(self._z, self.beta, method.over)

    def _temperature(self) -> float:
        sums = self._sums
        beta = self.method.schedule.temperature(
            int(sums[kernels.ROUNDS]), float(sums[kernels.SQUARES]), self.constants
        )
        return float(beta)


def _lipschitz(method: OnlineMethod, size: int) -> float:
    """Return L: over the domain, |<w, h>| is at most the largest norm of w times the bound."""
    over, loss = method.over, method.loss
    reach = float(over.radius) * method.bound
    if method.proxy.norm == "l1" and isinstance(over, L2Ball):
        reach *= math.sqrt(size)
    bound: float = loss.lipschitz(reach, method.bound, method.targets)
    return bound


def _check_steepness(method: OnlineMethod, lipschitz: float) -> None:
    """Raise for gradients whose squares no double holds; without targets they may be bounded."""
    unknown = math.isinf(lipschitz) and method.loss.task != "binary"
    if not (unknown or 1e-150 <= lipschitz <= 1e150):
        raise InputError(
            f"{method.loss!r} has gradients up to {lipschitz:g} over {method.over!r}, and squares "
            "of these no double holds; change the radius, or the bound and the base functions"
        )


def _check_temperature(method: OnlineMethod, beta: float, known: Constants) -> None:
    """Raise where a step, or what it adds to the bound of the regret, is no double."""
    step = known.lipschitz / beta if beta > 0.0 and math.isfinite(known.lipschitz) else 0.0
    if not (1e-300 <= beta * known.modulus <= 1e300 and step <= 1e300):
        raise InputError(
            f"{method.schedule!r} begins at {beta:g}, which doubles do not hold beside gradients "
            f"of {known.lipschitz:g} and the modulus {known.modulus:g} of the proxy"
        )


def _compiled(method: OnlineMethod, known: Constants) -> tuple[int, float, int] | None:
    """Return (loss, its parameter, domain) for the compiled rounds, None where they do not know."""
    proxy, loss, over = method.proxy, method.loss, method.over
    domain = _DOMAINS.get(type(over)) if type(proxy) is Entropy else None
    if type(proxy) is SquaredL2 and type(over) is L2Ball:
        domain = kernels.L2_BALL
    if domain is None or method.schedule.law(known) is None:
        return None
    if type(loss) is Inner:
        return kernels.INNER, 0.0, domain
    if type(loss) is not OfPrediction or type(loss.loss) not in kernels.LOSS_CODES:
        return None
    code, parameter = kernels.LOSS_CODES[type(loss.loss)]
    return code, float(getattr(loss.loss, parameter, 0.0)), domain


def _weights(weight: Any, rows: int) -> Vector:
    """Return the weights of a block, or raise for negative ones or none that is positive."""
    if weight is None:
        return np.ones(rows)
    weights = np.array(np.broadcast_to(doubles("weight", weight), (rows,)))
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise RowError("weights must be finite and >= 0; ", row, f" has {weights[row]:g}")
    if (weights > _MOST).any():
        row = int(np.argmax(weights > _MOST))
        said = f" has {weights[row]:g}, more than {_MOST:g} copies; divide all of them"
        raise RowError("a whole weight is so many examples; ", row, said)
    return weights
