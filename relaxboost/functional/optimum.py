"""Bounds on the least risk over the span of a finite set of hypotheses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.blas import threads_for
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import roundoff
from relaxboost.functional.learners.finite import outputs_of
from relaxboost.functional.losses import Risk
from relaxboost.functional.losses.base import PointwiseRisk, check_risk
from relaxboost.game.programs import Model
from relaxboost.matrices.bulk import DenseBulk
from relaxboost.solvers.external import ask, check_solver
from relaxboost.solvers.interior_point.corner_losses import CornerLosses, LossIterate

SEPARATED_MARGIN = 50.0
"""The margin of separable examples if the risk has no minimiser. The loss at this margin, exp(−50),
is below the tolerance of every solver."""


@dataclass(frozen=True)
class LossOptimum:
    """Bounds on the least risk over the span of hypotheses, with the points that prove them.

    Attributes
    ----------
    alpha : array of shape (n,)
        The coefficients α of the n hypotheses h_j.
    F : array of shape (N,) or (N, K)
        The predictions H α on the training set.
    Z : array of the shape of F
        The dual point, orthogonal to all hypotheses, at which the conjugate R* of the risk R gives
        the lower bound.
    lower, upper : float
        The bounds −R*(Z) and R[F], widened for rounding errors.
    radius : float
        The lower bound holds for coefficients α with |α_j| ‖h_j‖ <= radius for every j, because
        <Z, h_j> is zero only up to rounding. The radius is at least ten times the largest |α_j|
        ‖h_j‖ of `alpha`. For a ranking, ‖h_j‖ is the norm of the pair differences. Coefficients
        with a larger ρ = max |α_j| ‖h_j‖ have the lower bound upper − (upper − lower) ρ / (0.9
        radius), by convexity.
    attained : bool
        Whether the risk has a minimiser on the span. The logistic loss, for example, has none on
        separable data, and `upper` is then near the infimum. For losses with `falling`, a linear
        program decides, with a tolerance of 1e-9. For a `CustomLoss`, its `attained` decides.
    level : {"rounded", "numerical"}
        "rounded" means that R and R* are formulas in doubles, and that the bounds are widened by a
        first-order estimate of the rounding errors (Higham's γ_k), which is not an exact proof.
        "numerical" means that a solver computes R*, as for `CustomLoss`.
    solver, status : str
        The solver that found the points, and its status. At the level "rounded", the bounds are
        valid even if the solver failed.
    """

    alpha: Array
    F: Array
    Z: Array
    lower: float
    upper: float
    radius: float
    attained: bool
    level: str
    solver: str
    status: str

    @property
    def gap(self) -> float:
        """The difference `upper` − `lower`."""
        return self.upper - self.lower


def optimum(risk: Risk, H: Any, *, solver: str | None = None) -> LossOptimum:
    """Compute lower and upper bounds on the least risk over the span of given hypotheses.

    A solver proposes coefficients α, and the risk R[H α] of their predictions H α is the upper
    bound.

    The lower bound is −R*(Z) for a dual point Z orthogonal to all hypotheses, by the Fenchel–Young
    inequality R[H α] >= <Z, H α> − R*(Z). Z comes from the solver's multipliers or from the
    subgradient of R at H α. Z = 0, which is also tried, gives the infimum of R over all functions.

    Parameters
    ----------
    risk : Risk
        A loss bound to data, such as ``Absolute().bind(y)``.
    H : array of shape (N, n), or (N, K, n)
        The outputs of n hypotheses on the training set, as for `FiniteSet`.
    solver : str, optional
        The name of a cvxpy solver. The default is the package's interior point method for losses
        with one corner (absolute, quantile, hinge, ranking), HIGHS for other piecewise linear
        risks, and CLARABEL otherwise. If the bounds are far apart, the next of these solvers and
        finally BFGS are tried.

    Returns
    -------
    LossOptimum
        The bounds and the points that prove them. If the solver fails, the bounds are far apart,
        and `status` gives the reason.

    Raises
    ------
    InputError
        If H does not match the risk, or if the solver is not installed or cannot solve the problem.

    Notes
    -----
    For a ranking risk, n numbers are stored for each pair of documents.
    """
    check_risk(risk)
    hypotheses = outputs_of(H, risk.zero().shape)
    # A ranking is solved as a hinge on the differences of its pairs.
    inner = risk
    flat = hypotheses.reshape(-1, hypotheses.shape[-1])
    found = risk.parts()
    if found is not None:
        D, inner = found
        wanted = (inner.zero().size, len(flat))
        if D.shape != wanted:
            raise InputError(
                f"parts of {risk!r} must return a matrix D and a risk Q. D must have shape "
                f"{wanted}: a row for each prediction of Q, and a column for each entry of the "
                f"predictions F. But D has shape {D.shape}"
            )
        flat = D @ flat
    space = _Space(inner, flat)
    best = space.bracket(solver, np.zeros(flat.shape[1]))
    # A dual point inside the domain proves a minimiser; otherwise a linear program decides.
    attained = risk.attained or space.is_interior(best.Z)
    if not attained and inner.margins() is not None:
        ray = _ray(space)
        attained = not ray.any()
        if ray.any():
            best = space.bracket(solver, ray)
    Z = best.Z
    if found is not None:
        # On the pairs Z is a flow, and its divergence is p Z on the documents.
        carried = (D.T @ (space.p * Z.ravel())).reshape(risk.zero().shape)
        # Transposed arrays divide all outputs of an example by its weight.
        p = risk.measure.p
        Z = np.divide(carried.T, p, out=risk.zero().T, where=p > 0.0).T
    return LossOptimum(
        alpha=best.alpha,
        F=hypotheses @ best.alpha,
        Z=Z,
        # Rounding errors must not reverse the bounds.
        lower=min(best.lower, best.upper),
        upper=best.upper,
        radius=best.radius,
        attained=attained,
        level="rounded" if inner.closed_form else "numerical",
        solver=best.solver,
        status=best.status,
    )


def corners(risk: Risk) -> CornerLosses | None:
    """Return the corner and the two slopes of each example's loss.

    If the losses are not piecewise linear with exactly one corner, the result is None.
    """
    # The conjugate of a loss with one corner is linear between the slopes. A convex function is
    # linear on an interval if its value at the midpoint is the mean of the values at the ends.
    if not isinstance(risk, PointwiseRisk):
        return None
    ends = risk.loss.domain(risk.y)
    if ends is None or not (np.isfinite(ends).all() and (ends[0] < ends[1]).all()):
        return None
    # The conjugates are computed at both ends of the domain and halfway.
    low, high = ends
    first, middle, last = (risk.loss.conjugates(z, risk.y) for z in (low, (low + high) / 2, high))
    size = 1.0 + np.abs(first) + np.abs(last)
    if not (np.isfinite(size).all() and (np.abs(first + last - 2.0 * middle) < 1e-12 * size).all()):
        return None
    return CornerLosses(risk.measure.p, low, high, (last - first) / (high - low))


class _Bracket(NamedTuple):
    alpha: Array
    Z: Array
    lower: float
    upper: float
    radius: float
    solver: str
    status: str


class _Space:
    """The problem of minimising R[H α] over the coefficients α.

    H has a column for each hypothesis, and a row for each output of each example.
    """

    def __init__(self, risk: Risk, H: Array) -> None:
        self.risk = risk
        self.H = H
        self.shape = risk.zero().shape
        self.p = np.repeat(risk.measure.p, H.shape[0] // risk.measure.size)
        self.lengths = np.sqrt(self.p @ H**2)
        self.scale = np.where(self.lengths > 0.0, self.lengths, 1.0)
        self.roundoff = roundoff(H.shape[0] + H.shape[1] + 64)

    def at(self, alpha: Array) -> Array:
        """Return the predictions for given coefficients, in the shape that the risk expects."""
        return (self.H @ alpha).reshape(self.shape)

    def bracket(self, solver: str | None, ray: Array) -> _Bracket:
        """Return the tightest bounds that a solver finds on the least risk.

        The array `ray` is 0, or a direction along which the risk always decreases.
        """
        # Some solvers report success far from the optimum. If the gap is large, the next one is
        # tried.
        found: list[_Bracket] = []
        for alpha, multipliers, name, status in self._answers(solver, ray):
            found.append(self._bounded(alpha, multipliers, name, status))
            if found[-1].upper - found[-1].lower <= 1e-8 * abs(found[-1].upper):
                return found[-1]
        # HiGHS solves piecewise linear risks, for which BFGS is not suitable.
        if found[-1].solver != "HIGHS":
            status += ", then BFGS"
            found.append(self._bounded(_by_bfgs(self, alpha), multipliers, name, status))
        return min(found, key=lambda one: one.upper - one.lower)

    def _answers(
        self, solver: str | None, ray: Array
    ) -> Iterator[tuple[Array, Array | None, str, str]]:
        given = corners(self.risk) if solver is None else None
        if given is not None:
            yield *self._interior_point(given), "interior point", "ended"
        yield _by_cvxpy(self, solver, ray)

    def _interior_point(self, given: CornerLosses) -> tuple[Array, Array]:
        H = self.H / self.scale
        root = np.sqrt(given.p)
        # The least-squares fit to the corners is a good start.
        fit = np.linalg.lstsq(root[:, None] * H, root * given.at, rcond=1e-12)[0]
        # A quadratic term makes the coefficient of a column of zeros unique.
        none = np.where(self.lengths > 0.0, 0.0, 1.0)
        run = LossIterate(DenseBulk(H), given, np.asarray(fit, np.float64), quadratic=none)
        # A smaller product of slacks and multipliers consists of rounding errors.
        goal = 1e-13 * run.product
        with threads_for(*H.shape):
            while run.product > goal and run.advance():
                pass
        return run.w / self.scale, run.slopes

    def _bounded(self, alpha: Array, multipliers: Array | None, name: str, status: str) -> _Bracket:
        F = self.at(alpha)
        value, gradient = self.risk.evaluate(F)
        # The bound should hold far beyond the coefficients that the solver found.
        radius = 10.0 * max(float((np.abs(alpha) * self.lengths).max()), 1.0)
        # If the risk has corners, the multipliers are usually the better dual point.
        starts = [gradient] if multipliers is None else [multipliers, gradient]
        lower, Z = self._bound(starts, radius, alpha, value)
        # The computed H α has rounding errors, which change R.
        upper = value + self.roundoff * abs(value) + self._rounding_in_risk(gradient, alpha)
        return _Bracket(alpha, Z, lower, upper, radius, name, status)

    def _rounding_in_risk(self, gradient: Array, alpha: Array) -> float:
        # At a corner of R, the subgradient bounds the change in one direction only, but
        # `gradient_bound` bounds it in both.
        error = self.roundoff * (np.abs(self.H) @ np.abs(alpha))
        first = float(self.p @ (np.abs(gradient.ravel()) * error))
        square = float(self.p @ error**2)
        if math.isfinite(self.risk.smoothness):
            return first + self.risk.smoothness / 2.0 * square
        if math.isfinite(self.risk.gradient_bound):
            return self.risk.gradient_bound * math.sqrt(square)
        return first

    def _bound(
        self, starts: list[Array], radius: float, alpha: Array, value: float
    ) -> tuple[float, Array]:
        at = np.abs(self.H) @ np.abs(alpha)
        best = (-math.inf, np.zeros(self.shape))
        for start in [np.zeros(self.shape), *starts]:
            tried: Array | None = None
            # A solver returns entries near the boundary of the domain that should be on it. How
            # near they are depends on the accuracy of the solver.
            for snap in (0.0, 1e-10, 1e-8, 1e-6, 1e-4):
                Z = self.risk.nearby(start, snap)
                if tried is not None and np.array_equal(Z, tried):
                    continue
                tried = Z
                for moved in (Z, self._orthogonal(Z)) if Z.any() else (Z,):
                    conjugate = self.risk.conjugate(moved)
                    size = np.abs(moved).ravel()
                    terms = abs(value) + abs(conjugate) + float(self.p @ (size * (at + size)))
                    # The bound is reduced for <Z, h> ≠ 0 within the radius, and for rounding.
                    charged = radius * self._edges_left(moved) + self.roundoff * terms
                    if -conjugate - charged > best[0]:
                        best = (-conjugate - charged, moved)
                if not (start.any() and self.risk.closed_form):
                    # Z = 0 has no entry near the boundary. Without a closed form each conjugate is
                    # a slow cone program.
                    break
        return best

    def is_interior(self, Z: Array) -> bool:
        """Return whether Z proves that the risk has a minimiser."""
        # A minimiser exists if a point near Z is orthogonal to all h and in the interior of the
        # domain of R* (Rockafellar 1970, Theorems 6.6 and 27.1(b)). <Z, h> is 0 up to rounding. The
        # correction that makes it exact must be small compared with `Risk.room`.
        room = self.risk.room(Z)
        if room is None or not (room.ravel()[self.p > 0.0] > 1e-11).all():
            return False  # Some entry of Z is on the boundary, up to rounding.
        shares = self._shares(Z, room)
        size = float(self.p @ np.abs(Z).ravel())
        return (
            float(np.abs(shares).max()) < 1e-3
            and self._edges_left(Z + room * shares) <= 1e-9 * size
        )

    def _edges_left(self, Z: Array) -> float:
        # The result is the sum of |<Z, h_j>|/‖h_j‖, plus a bound on its rounding error.
        carried = self.p * Z.ravel()
        sums = np.abs(carried @ self.H) + self.roundoff * (np.abs(carried) @ np.abs(self.H))
        seen = self.lengths > 0.0
        return float((sums[seen] / self.lengths[seen]).sum())

    def _orthogonal(self, Z: Array) -> Array:
        # The correction that makes <Z, h> = 0 has rounding errors, which the second one corrects.
        for _ in range(2):
            room = self.risk.room(Z)
            room = np.ones(self.shape) if room is None else room
            Z = self.risk.nearby(Z + room * self._shares(Z, room))
        return Z

    def _shares(self, Z: Array, room: Array) -> Array:
        # The change room · shares makes <Z, h> = 0 for all h. Of all such shares, the result has
        # the smallest norm of √p · shares. Entries of weight 0 or room 0 cannot change.
        seen = np.flatnonzero((self.p > 0.0) & (room.ravel() > 0.0))
        shares = np.zeros(self.H.shape[0])
        if not seen.size:
            return shares.reshape(self.shape)
        scaled = room.reshape(*self.shape, 1) * self.H.reshape(*self.shape, -1)
        if self.risk.centred:
            # Changes must sum to zero over the outputs.
            square = np.maximum((room**2).sum(axis=1), np.finfo(float).tiny)
            mean = np.einsum("nk,nkj->nj", room, scaled) / square[:, None]
            scaled = scaled - room[:, :, None] * mean[:, None, :]
        root = np.sqrt(self.p[seen])
        matrix = root[:, None] * scaled.reshape(self.H.shape)[seen]
        left = (self.p * Z.ravel()) @ self.H
        shares[seen] = np.linalg.lstsq(matrix.T, -left, rcond=1e-13)[0] / root
        return shares.reshape(self.shape)


def _by_bfgs(space: _Space, alpha: Array) -> Array:
    from scipy.optimize import minimize

    def risk(beta: Array) -> tuple[float, Array]:
        value, gradient = space.risk.evaluate(space.at(beta / space.scale))
        return value, ((space.p * gradient.ravel()) @ space.H) / space.scale

    size = abs(risk(alpha * space.scale)[0])
    options = {"gtol": 1e-10 * size, "maxiter": 1000}
    found = minimize(risk, alpha * space.scale, jac=True, method="BFGS", options=options)
    # BFGS may end at a worse point.
    points = [alpha, found.x / space.scale]
    return min(points, key=lambda point: space.risk.value(space.at(point)))


def _ray(space: _Space) -> Array:
    # The margins C H α form a cone. If Σ s is maximised over s <= C H α and 0 <= s <= 1, then s = 1
    # for the examples that can be separated, and s = 0 for the hard core of Telgarsky (2012), A
    # primal-dual convergence analysis of boosting. The risk decreases forever along this α.
    alpha = cp.Variable(space.H.shape[1], name="alpha")
    rows = space.risk.margins() @ (space.H / space.scale)
    s = cp.Variable(rows.shape[0], bounds=[0.0, 1.0])
    answer = ask(
        Model("primal", cp.Problem(cp.Maximize(cp.sum(s)), [s <= rows @ alpha]), alpha, ()),
        "HIGHS",
        {},
    )
    if answer.point is None or not (rows @ answer.point > 0.5).any():
        return np.zeros(space.H.shape[1])
    return np.asarray(answer.point / space.scale)


def _by_cvxpy(
    space: _Space, solver: str | None, ray: Array
) -> tuple[Array, Array | None, str, str]:
    beta = cp.Variable(space.H.shape[1], name="alpha")
    f = cp.Variable(space.H.shape[0], name="F")
    F = f if len(space.shape) == 1 else cp.reshape(f, space.shape, order="C")
    goal = space.risk.expression(F)
    curved = None if goal.is_pwl() else repr(getattr(space.risk, "loss", space))
    name = check_solver(solver, curved)
    equal = f == (space.H / space.scale) @ beta + SEPARATED_MARGIN * (space.H @ ray)
    # The objective is a sum, as terms of a mean would be near the tolerance of the solver.
    problem = cp.Problem(cp.Minimize(space.risk.measure.size * goal), [equal])
    sign = -1.0 / space.risk.measure.size
    answer = ask(Model("primal", problem, beta, ((equal, sign),)), name, {})
    Z = None
    if answer.other is not None and np.isfinite(answer.other).all():
        Z = np.divide(answer.other, space.p, out=np.zeros(len(space.p)), where=space.p > 0.0)
        Z = Z.reshape(space.shape)
    return _best_near(space, answer.point, ray), Z, name, answer.status


def _best_near(space: _Space, point: Array | None, ray: Array) -> Array:
    # Of several points near the solver's result, the one with the least risk is taken.
    tries = [np.zeros(space.H.shape[1])]
    if point is not None and np.isfinite(point).all():
        tries.append(point / space.scale + SEPARATED_MARGIN * ray)
        if ray.any():
            # The program does not determine directions that change separated margins only. The
            # shortest α with the margins of the other examples avoids them; then the ray is added.
            rows = space.risk.margins() @ (space.H / space.scale)
            core = rows[rows @ (space.scale * ray) <= 0.5]
            short = np.linalg.lstsq(core, core @ point, rcond=1e-10)[0]
            back = float(np.maximum(-(rows @ short), 0.0).max())
            tries.append(short / space.scale + (back + SEPARATED_MARGIN) * ray)
    return min(tries, key=lambda point: space.risk.value(space.at(point)))
