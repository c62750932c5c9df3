"""Gradient descent without a radius or a step size: AdaHedge over 16 step sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Vector, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.game.domains import L2Ball
from relaxboost.online.kernels import shares
from relaxboost.online.kernels.slopes import LOSS_CODES
from relaxboost.online.learner import Learner, OnlineMethod
from relaxboost.online.losses import OfPrediction
from relaxboost.online.schedules import Constants

PREDICTION_LIMIT = 16.0
"""The limit R of predictions for labels, which are clipped to [−R, R]. The logistic loss of a
correct prediction R is 1e-7."""
KINDS = np.repeat([shares.CONSTANT, shares.FADING, shares.AVERAGED], [8, 4, 4])
"""The kind of steps of each of the 16 learners, as a code from `kernels.shares`."""
MULTIPLES = np.concatenate([8.0 * 2.0 ** -np.arange(8), *2 * [256.0 * 4.0 ** -np.arange(4)]])
"""The step sizes η of the 16 learners. A step of size 1 moves the prediction of the example by at
most 1 for labels, and by at most the bound on the targets for numbers.

The first eight learners have constant steps, which follow drift. The steps of the others are
larger, because they are divided by the square root of the number of examples.
"""


@dataclass(frozen=True)
class HedgedDescent(OnlineMethod):
    """Gradient descent with 16 step sizes, whose predictions AdaHedge averages.

    The method needs neither a radius nor a step size. Among its K = 16 learners, eight have
    constant steps η, four have steps η/√i for example i, and four use dual averaging with the steps
    η/√i. Predictions are clipped to [−R, R], where R is 16 for labels and `targets` for numbers,
    and averaged with AdaHedge's shares p_k. A learner whose prediction is outside [−R, R] learns
    only from examples that move the prediction towards this interval.

    For nonnegative losses, the regret after t examples, compared with weights w, is at most

        min over k of ‖w‖²/(2η_k) + Σ η_ki ‖u_ki‖²/2 + 2√(V log K) + S (4/3 log K + 2) + tε.

    * The minimum is over the learners k with constant steps or dual averaging, and η_k is the
      constant step, or η/√t for dual averaging.
    * The sum is over the examples i, where learner k has the step η_ki and the gradient u_ki.
    * S is the largest difference between the losses of two learners for the same example. V is the
      sum over the examples of the variance of the K losses under the shares p_k, at most S²t/4.
    * ε is the loss of a prediction ±R with the correct sign: 1.1e-7 for the logistic loss, and 0
      for losses that attain their minimum in [−R, R].

    `Learner.regret_bound` is smaller, because it uses the observed losses instead of V and S.

    Parameters
    ----------
    loss : str or PointwiseLoss
        A loss for labels with bounded slopes, or a loss for numbers that depends only on the
        residual <w, h> − y.
    over : Domain
        The domain of the weights with which `regret` and `regret_bound` compare. It does not change
        the learner.
    bound : float
        A bound on ‖h‖_2 for the base function values h, such as √M if they lie in [−1, 1]; see
        `BaseFunctions.bound_in`. Rows with a larger norm are rejected. A bound that is far too
        large makes all steps too small.
    targets : float
        A bound on |y|, required for numeric targets.

    Raises
    ------
    InputError
        If the loss is of neither kind, or if a loss for numbers lacks `targets`.

    Notes
    -----
    The proof has three parts. First, by convexity, the loss of the mean prediction is at most the
    mean of the K losses. Second, the terms with V and S bound the sum of these means minus the
    losses of learner k (de Rooij et al. 2014).

    Third, let learner k predict F, clipped to C, and let s be the slope of the loss at C. If F = C,
    or if s moves F towards the interval, the loss at C minus the loss of w is at most s (C −
    <w, h>) <= s (F − <w, h>). Otherwise the learner does not change, and its loss is at most ε. The
    sum of s (F − <w, h>) is the regret of gradient descent for linear losses, which the first two
    terms bound.

    References
    ----------
    Zhang, Lu & Zhou (2018), Adaptive online learning in dynamic environments, for Hedge over steps;
    de Rooij, van Erven, Grünwald & Koolen (2014), Follow the leader if you can, hedge if you must,
    Sec. 2, for AdaHedge; Zinkevich (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from relaxboost.online import HedgedDescent
    >>> learner = HedgedDescent("logistic", bound=2.0).start(2)
    >>> said = learner.update(np.ones((100, 2)), np.ones(100))
    >>> bool(said[-1] > said[1] > said[0] == 0.0)
    True
    """

    over: Any = field(default_factory=L2Ball)
    proxy: Any = field(default="squared-l2", init=False, repr=False)
    schedule: Any = field(default="growing", init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        loss = self.loss
        if not isinstance(loss, OfPrediction):
            raise InputError(
                f"HedgedDescent needs a PointwiseLoss, but {loss!r} is not one; use a method with "
                "a radius, such as radius=1"
            )
        # Beyond the limit, only losses of y − <w, h> and of labels surely pull inwards.
        is_bounded = math.isfinite(loss.loss.gradient_bound) or loss.task != "binary"
        if not is_bounded or not (loss.task == "binary" or loss.loss.of_differences):
            raise InputError(
                f"{loss!r} "
                f"{'is not a function of <w, h> − y' if is_bounded else 'has unbounded slopes'}; "
                "use a method with a radius, such as radius=1"
            )
        if loss.task != "binary" and math.isinf(self.targets):
            raise InputError(
                f"{loss!r} needs a bound on the targets; pass targets=, an upper bound on |y|"
            )

    @property
    def limit(self) -> float:
        """The limit R of the predictions, which are clipped to [−R, R]."""
        return PREDICTION_LIMIT if self.loss.task == "binary" else self.targets

    def start(self, size: int) -> Learner:
        return HedgedLearner(self, count("M", size))


class HedgedLearner(Learner):
    """The learner of `HedgedDescent`. Its weights `w` are AdaHedge's mean over K learners.

    The attribute `average` weights the iterate that predicts example i in proportion to i
    (Lacoste-Julien, Schmidt & Bach 2012), because some of the first steps are far too large.
    """

    def __init__(self, method: HedgedDescent, size: int) -> None:
        self.method: Any = method
        self.size = size
        self.origin: dict[str, str] = {}
        # Only the slopes at the limit are used, so that an overflow of the losses there does no
        # harm.
        with np.errstate(over="ignore"):
            lipschitz = method.loss.lipschitz(method.limit, method.bound, method.targets)
        # Gradients and weights are squared, so their squares must neither overflow nor vanish.
        if not all(1e-150 <= size <= 1e150 for size in (method.limit / method.bound, lipschitz)):
            raise InputError(
                f"with bound={method.bound:g} and targets up to {method.limit:g}, squares of "
                "gradients or weights overflow or underflow; scale the base functions and targets"
            )
        largest = float(method.over.radius) ** 2 / 2.0
        self.constants = Constants(lipschitz, 1.0, largest)
        # With this unit, steps fit losses and targets in any units.
        scale = 1.0 if method.loss.task == "binary" else method.targets
        self.steps: shares.Steps = (MULTIPLES * scale / (lipschitz * method.bound), KINDS)
        K = KINDS.size
        self._w: Vector = np.zeros(size)
        self._z: Array = np.zeros((size, K))
        self._mean: Vector = np.zeros(size)
        self._sums: Vector = np.zeros(shares.MIXABILITY + 1 + 2 * K)

    @property
    def filled(self) -> float:
        return 0.0  # The domain does not limit the weights, so that there is no radius.

    def predict(self, H: Any, average: bool = True) -> Any:
        if average:
            return super().predict(H)
        # Each row is predicted as if it were the next example, because the shares and the steps
        # depend on the number of examples.
        H = doubles("H", H)
        self._check_width(H)
        p = np.empty(KINDS.size)
        shares.weigh(self._sums, p)
        fading = np.where(KINDS == shares.AVERAGED, np.sqrt(self.rounds + 1.0), 1.0)
        return np.clip(H @ self._z / fading, -self.method.limit, self.method.limit) @ p

    def regret_bound(self, w: Any = None) -> float:
        # The bound is the loss of this learner minus the loss of learner k, plus ‖w‖²/(2η_k) + Σ
        # η_ki ‖u_ki‖²/2 + tε. The best k has constant steps or dual averaging.
        square = 2.0 * self.constants.largest
        if w is not None:
            w = doubles("w", w)
            if w.shape != (self.size,) or not np.isfinite(w).all():
                raise InputError(
                    f"w must have shape ({self.size},) and finite entries, got {w.shape}"
                )
            square = float(w @ w)
        losses, spent = self._sums[shares.MIXABILITY + 1 :].reshape(2, -1)
        steps = self.steps[0] / np.where(KINDS == shares.AVERAGED, math.sqrt(self.rounds or 1), 1.0)
        bounds = self.loss - losses + square / (2.0 * steps) + spent
        # A loss of y − <w, h> is at most its value at 0 if a slope points beyond the limit.
        R = self.method.limit if self.method.loss.task == "binary" else 0.0
        limit = np.array([-R, R])
        # ε is the loss of a correct prediction at the limit R.
        excess = float(self.method.loss.loss.pointwise(limit, np.sign(limit))[0].max())
        return float(bounds[KINDS != shares.FADING].min()) + self.weight * excess

    def move(self, value: float, u: Vector, step: float = 1.0) -> None:
        # Each of the K learners has its own gradient.
        raise InputError(
            "HedgedDescent learns from examples, not from single gradients; call update"
        )

    def compiled(self) -> None:
        return None  # The compiled rounds of mirror descent do not apply to this learner.

    def _learn(self, H: Array, sizes: Vector, y: Vector, weights: Vector) -> Vector:
        loss = self.method.loss.loss
        limit = self.method.limit
        if type(loss) in LOSS_CODES:
            code, parameter = LOSS_CODES[type(loss)]
            codes = code, float(getattr(loss, parameter, 0.0)), float(limit)
            return shares.rounds(H, (sizes, y, weights), self.arrays(), self.steps, codes)
        # Losses without a code are evaluated in Python.
        predictions = np.empty(len(H))
        F, p = np.empty((2, KINDS.size))
        for row, h in enumerate(H):
            shares.predict(self._z, self._sums, self.steps, h, F, p)
            predictions[row] = np.clip(F, -limit, limit) @ p
            left = float(weights[row])
            while left > 0.0:
                step = min(left, 1.0)
                left -= step
                # The last entry is the mean prediction.
                inside = np.clip(F, -limit, limit)
                values, slopes = loss.pointwise(
                    np.append(inside, inside @ p), np.full(F.size + 1, y[row])
                )
                slopes = np.where(slopes[:-1] * (F - inside) < 0.0, 0.0, slopes[:-1])
                mine = float(values[-1]), p, values[:-1].copy(), slopes
                shares.learn(self.arrays(), self.steps, (h, float(sizes[row]), step), mine)
                shares.predict(self._z, self._sums, self.steps, h, F, p)
        shares.weigh(self._sums, p)
        shares.mix(self._z, self._sums, self.steps, p, self._w)
        return predictions
