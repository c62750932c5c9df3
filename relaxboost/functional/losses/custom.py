"""User-defined losses, given as cvxpy expressions."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, brief
from relaxboost._core.lazy import cp
from relaxboost.functional.losses.base import Loss, MeanRisk, Risk
from relaxboost.functional.measure import Empirical

TASKS = ("regression", "binary", "multiclass")


class CustomLoss(Loss):
    """A user-defined convex loss, given as a cvxpy expression.

    cvxpy computes values and subgradients, and `bind` checks the subgradient inequality at points
    around 0 and y. The conjugate is a cone program, so that the bounds of `optimum` are *numerical*
    and rely on the solver. For closed forms, write a subclass of `PointwiseLoss`.

    Parameters
    ----------
    expression : callable
        A function of a cvxpy variable F of shape (N,), or (N, K) for several classes, and of the
        targets y of shape (N,): numbers, ±1 (+1 for the second label) or class indices. It returns
        the losses as a convex expression of shape (N,), finite everywhere and bounded below (which
        is not checked). Entry n may depend only on row n of F.
    task : {"regression", "binary", "multiclass"}
        The kind of targets.
    pointwise : callable, optional
        A NumPy function (F, y) -> (losses, subgradients), which is much faster than cvxpy. Losses
        have shape (N,), and subgradients the shape of F. `bind` compares the losses with the
        expression.
    strong_convexity, smoothness, gradient_bound : float
        The constants λ and Λ, and an upper bound on the gradient norm of one example, if known.
        They are not checked.
    attained : bool
        Whether the risk has a minimiser on every subspace, as for piecewise linear and piecewise
        quadratic losses.
    name : str, optional
        The name of the loss in error messages.

    Raises
    ------
    InputError
        If an argument is invalid. In `bind`, if the expression has the wrong shape, is not convex
        by cvxpy's rules or mixes examples, or if a subgradient is wrong.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from relaxboost.functional import CustomLoss
    >>> within = CustomLoss(lambda F, y: cp.pos(cp.abs(F - y) - 0.5), gradient_bound=1.0,
    ...                     attained=True, name="insensitive")
    >>> risk = within.bind([0.0, 1.0])
    >>> value, slopes = risk.evaluate(np.array([0.25, 3.0]))
    >>> float(round(value, 9)), slopes.tolist()
    (0.75, [0.0, 1.0])
    """

    def __init__(
        self,
        expression: Callable[[Any, Any], Any],
        task: str = "regression",
        *,
        pointwise: Callable[[Array, Any], tuple[Array, Array]] | None = None,
        strong_convexity: float = 0.0,
        smoothness: float = math.inf,
        gradient_bound: float = math.inf,
        attained: bool = False,
        name: str | None = None,
    ) -> None:
        functions: list[Any] = [expression] if pointwise is None else [expression, pointwise]
        if not all(map(callable, functions)):
            raise InputError(
                "CustomLoss needs functions of (F, y), such as lambda F, y: cp.abs(F - y), got "
                f"{expression!r} and {pointwise!r}"
            )
        if task not in TASKS:
            raise InputError(
                f"task must be one of {', '.join(TASKS)}, got {task!r}; for a ranking loss, write "
                "a subclass of Loss and a subclass of Risk"
            )
        if not 0.0 <= strong_convexity <= smoothness or not gradient_bound >= 0.0:
            raise InputError(
                "CustomLoss needs 0 <= strong_convexity <= smoothness and gradient_bound >= 0, got "
                f"{strong_convexity!r}, {smoothness!r} and {gradient_bound!r}"
            )
        self._expression = expression
        self._pointwise = pointwise
        self._name = name
        self.task = task  # type: ignore[misc]
        self.strong_convexity = float(strong_convexity)
        self.smoothness = float(smoothness)
        self.gradient_bound = float(gradient_bound)
        self.attained = bool(attained)

    def __repr__(self) -> str:
        shown = self._name or getattr(self._expression, "__qualname__", repr(self._expression))
        return f"CustomLoss({shown})"

    def _risk(self, y: Any, measure: Empirical, classes: Any, groups: Any) -> Risk:
        return CustomRisk(self, y, measure, classes)


class CustomRisk(MeanRisk):
    """The weighted mean of a `CustomLoss`."""

    closed_form = False

    def __init__(self, loss: CustomLoss, y: Any, measure: Empirical, classes: Any) -> None:
        super().__init__(loss, y, measure, classes)
        self.outputs = len(classes) if loss.task == "multiclass" else None
        self._variable = cp.Variable(self.zero().shape)
        self._losses = self._checked_expression(self._variable)
        self._conjugate: Any = None
        self._check()

    def evaluate(self, F: Array) -> tuple[float, Array]:
        values, slopes = self._losses_and_slopes(F)
        return self.measure.mean(values), slopes

    def expression(self, F: Any) -> Any:
        return self.measure.p @ self._checked_expression(F)

    def conjugate(self, Z: Array) -> float:
        # The value is inf if the cone program that defines the conjugate is unbounded.
        from relaxboost.relaxations.cone_solver import SOLVED, solve_problem

        # The weights are scaled to mean 1, so that the terms are large compared with the solver's
        # tolerances.
        share = self.measure.p * self.measure.size
        # cvxpy compiles the program once, with Z as a parameter.
        if self._conjugate is None:
            at = cp.Parameter(Z.shape)
            goal = cp.sum(cp.multiply(at, self._variable)) - share @ self._losses
            self._conjugate = at, cp.Problem(cp.Maximize(goal))
        at, problem = self._conjugate
        at.value = Z * share.reshape((-1,) + (1,) * (Z.ndim - 1))
        status, value = solve_problem(problem)
        if "unbounded" in status:
            return math.inf
        if status not in SOLVED:
            raise RuntimeError(
                f"Clarabel could not compute the conjugate of {self.loss!r}; it ended with status "
                f"{status}"
            )
        return value / self.measure.size

    def _checked_expression(self, F: Any) -> Any:
        shape = (self.measure.size,)
        try:
            given = self.loss._expression(F, self.y)
        # The code of a user may raise anything.
        except Exception as error:
            why = " ".join(str(error).split()).rstrip(".")
            raise InputError(
                f"{self.loss!r} failed on a cvxpy variable of shape {F.shape}: "
                f"{type(error).__name__}: {why}; use cvxpy's functions, such as cp.maximum instead "
                f"of np.maximum, and accept a y of shape {shape}"
            ) from error
        if not isinstance(given, cp.Expression) or given.shape != shape:
            got = f"shape {given.shape}" if hasattr(given, "shape") else repr(given)
            raise InputError(
                f"{self.loss!r} must return the loss of each example as a cvxpy expression of "
                f"shape {shape}, not their sum; got {got}"
            )
        if not given.is_convex():
            raise InputError(
                f"{self.loss!r} is not convex by cvxpy's rules (https://www.cvxpy.org/dcp): "
                + textwrap.shorten(str(given), 200, placeholder=" ...")
            )
        return given

    def _losses_and_slopes(self, F: Array) -> tuple[Array, Array]:
        if self.loss._pointwise is not None:
            given = self.loss._pointwise(F, self.y)
            if not isinstance(given, tuple | list) or len(given) != 2:
                raise InputError(
                    f"pointwise of {self.loss!r} must return a pair (losses, subgradients), such "
                    f"as (np.abs(F - y), np.sign(F - y)), but returned {brief(given)}"
                )
            values, slopes = given
            return np.asarray(values, dtype=np.float64), np.asarray(slopes, dtype=np.float64)
        self._variable.value = F
        with np.errstate(all="ignore"):
            values = np.asarray(self._losses.value, dtype=np.float64)
            found = self._losses.grad.get(self._variable)
        if found is None or not np.isfinite(values).all():
            raise InputError(f"{self.loss!r} is not finite at some F; it must be finite everywhere")
        entries = found.tocoo()
        # cvxpy counts the entries of F column by column.
        output, row = np.divmod(entries.row, self.measure.size)
        if ((row != entries.col) & (entries.data != 0.0)).any():
            raise InputError(
                f"{self.loss!r} mixes examples; entry n of the expression may depend only on F[n]"
            )
        # cvxpy leaves out entries that are 0.
        slopes = np.zeros((self.measure.size, self.outputs or 1))
        np.add.at(slopes, (row, output), entries.data)
        # cvxpy computes some gradients with exponentials that overflow.
        if not np.isfinite(slopes).all():
            raise InputError(
                f"cvxpy finds no finite subgradient of {self.loss!r} at some F; pass a function as "
                "pointwise=..., which returns the losses and the subgradients"
            )
        return values, slopes.reshape(F.shape)

    def _check(self) -> None:
        rng = np.random.default_rng(0)
        around = self.y if self.loss.task == "regression" else self.zero()
        # Near and far points around 0 and y meet most corners of a loss.
        points = [
            base + spread * rng.normal(size=self.zero().shape)
            for base in (self.zero(), around)
            for spread in (0.0, 1e-3, 1.0, 30.0)
        ]
        found = [self._losses_and_slopes(F) for F in points]
        for F, (values, slopes) in zip(points, found, strict=True):
            self._check_values(F, values, slopes)
        for F, (values, slopes) in zip(points, found, strict=True):
            # Every pair of points tests the subgradient inequality once in each direction.
            for G, (others, _) in zip(points, found, strict=True):
                rise = (slopes * (G - F)).reshape(len(values), -1).sum(axis=1)
                scale = 1.0 + np.abs(values) + np.abs(others) + np.abs(rise)
                wrong = np.flatnonzero(~(others - values - rise >= -1e-7 * scale))
                if wrong.size:
                    n = wrong[0]
                    raise InputError(
                        f"{self.loss!r} does not have the subgradient {slopes[n]} at F = {F[n]}, "
                        f"y = {self.y[n]}, because the loss {others[n]:g} at {G[n]} is below the "
                        "tangent; pass a correct function as pointwise=..."
                    )

    def _check_values(self, F: Array, values: Array, slopes: Array) -> None:
        if values.shape != (self.measure.size,) or slopes.shape != F.shape:
            raise InputError(
                f"pointwise of {self.loss!r} must return losses of shape "
                f"({self.measure.size},) and subgradients of shape {F.shape}, but returned "
                f"{values.shape} and {slopes.shape}"
            )
        self._variable.value = F
        stated = np.asarray(self._losses.value)
        if not (np.abs(values - stated) <= 1e-7 * (1.0 + np.abs(stated))).all():
            bad = int(np.argmax(np.abs(values - stated)))
            raise InputError(
                f"pointwise of {self.loss!r} returns the loss {values[bad]:g}, but the expression "
                f"has the value {stated[bad]:g}, at F = {F[bad]}, y = {self.y[bad]}; make both "
                "equal"
            )
