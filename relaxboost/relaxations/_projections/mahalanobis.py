"""Newton's method for the minimiser d under a ball or penalty of the norm ‖Qd‖_2.

It starts from the result of a cone solver, a d with six to eight correct digits. The optimality
conditions of

    min <d, u> + β Σ d log d  over the simplex, with ‖Qd‖ <= r (a ball) or c ‖Qd‖ added (a penalty),

are, with G = QᵀQ and the multiplier λ,

    u + λ Gd + β log d = γ,  Σ d = 1,  and ‖Qd‖ = r (ball) or λ ‖Qd‖ = c (penalty).

After a few Newton steps in (log d, γ, λ) these conditions hold up to rounding. For β = 0 the
unknowns are the positive entries of d instead of log d.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Matrix, Vector


class _State(NamedTuple):
    """The residuals of the optimality conditions at a point (d, γ, λ), and their derivatives."""

    residual: Vector
    """The residuals of stationarity, of Σd = 1, and of the norm condition, in this order."""
    force: Vector
    """The vector QᵀQd, the derivative of stationarity in λ."""
    gradient: Vector
    """The derivative of the norm condition in d."""
    rate: float
    """The derivative of the norm condition in λ."""

    def step(self, block: Matrix, mass: Vector, gradient: Vector) -> Vector | None:
        """Return Newton's step for (log d, γ, λ), or None if its equations overflow.

        For β = 0 the unknowns are the positive entries of d instead of log d. `block`, `mass` and
        `gradient` are the derivatives of stationarity, of Σd and of the norm condition.
        """
        n = mass.size
        system = np.zeros((n + 2, n + 2))
        system[:n, :n] = block
        system[:n, n] = -1.0
        system[:n, n + 1] = self.force
        system[n, :n] = mass
        system[n + 1, :n] = gradient
        system[n + 1, n + 1] = self.rate
        if not np.isfinite(system).all():
            return None
        try:
            return np.asarray(np.linalg.solve(system, -self.residual))
        except np.linalg.LinAlgError:
            # If Q has fewer independent rows than d has positive entries, d is not unique.
            return np.asarray(np.linalg.lstsq(system, -self.residual, rcond=1e-13)[0])


class NormLimit(NamedTuple):
    """The constraint ‖Qd‖ <= `bound` if `is_ball` is True, or else the penalty `bound` · ‖Qd‖."""

    Q: Matrix
    bound: float
    is_ball: bool

    def state(self, stationarity: Vector, d: Vector, gamma: float, multiplier: float) -> _State:
        """Return the residuals of the optimality conditions at (d, γ, λ), and their derivatives.

        `stationarity` is the vector u + β log d.
        """
        point = self.Q @ d
        size = float(np.linalg.norm(point))
        force = self.Q.T @ point
        # At Qd = 0, zero is a subgradient of the norm.
        gradient = force / size if size > 0.0 else np.zeros(d.size)
        miss = size - self.bound
        rate = 0.0
        if not self.is_ball:
            miss = multiplier * size - self.bound
            gradient = multiplier * gradient
            rate = size
        residual = np.append(stationarity + multiplier * force - gamma, [d.sum() - 1.0, miss])
        return _State(residual, force, gradient, rate)


def sharpen(
    norm: NormLimit, u: Vector, d: Vector, gamma: float, multiplier: float
) -> tuple[Vector, float, float] | None:
    """Solve the optimality conditions for (d, γ, λ) up to rounding, for β = 0.

    The result is None if Newton's method fails, or if the given d has another support than the
    solution.
    """
    # A cone solver returns small positive weights for entries of the minimiser that are 0.
    support = np.flatnonzero(d > 1e-6 * d.max())
    part = norm._replace(Q=norm.Q[:, support])
    gram = part.Q.T @ part.Q
    x = d[support] / d[support].sum()
    state = part.state(u[support], x, gamma, multiplier)
    for _ in range(30):
        if np.max(np.abs(state.residual)) <= 4e-16:
            break
        step = state.step(multiplier * gram, np.ones(x.size), state.gradient)
        if step is None:
            return None
        x = x + step[:-2]
        gamma += float(step[-2])
        multiplier += float(step[-1])
        if not (np.isfinite(step).all() and multiplier >= 0.0):
            return None
        state = part.state(u[support], x, gamma, multiplier)
        if np.max(np.abs(step)) <= 1e-15 * max(1.0, multiplier):
            break
    # The support is right if no weight is negative and no other margin is below γ.
    whole = np.zeros(u.size)
    whole[support] = x
    slack = u + multiplier * (norm.Q.T @ (norm.Q @ whole)) - gamma
    good = x.min() >= 0.0 and np.max(np.abs(state.residual)) <= 1e-11 and slack.min() >= -1e-11
    return (whole, gamma, multiplier) if good else None


def sharpen_smoothed(norm: NormLimit, u: Vector, beta: float, d: Vector) -> Vector | None:
    """Return the minimiser d up to rounding for β > 0, or None if Newton's method fails."""
    log_d = np.log(np.maximum(d, 1e-12 * d.max()))
    # The solver knows the large entries well. Least squares over them give γ and λ.
    known = d > 1e-5 * d.max()
    force = norm.Q.T @ (norm.Q @ d)
    table = np.column_stack([np.ones(int(known.sum())), -force[known]])
    (gamma, multiplier), *_ = np.linalg.lstsq(table, u[known] + beta * log_d[known], rcond=None)
    multiplier = max(float(multiplier), 0.0)
    log_d = np.where(known, log_d, (gamma - u - multiplier * force) / beta)
    last = math.inf
    for _ in range(60):
        d = np.exp(np.minimum(log_d, 1.0))
        state = norm.state(u + beta * log_d, d, gamma, multiplier)
        error = float(np.max(np.abs(state.residual)))
        if error <= 1e-15 or (error <= 1e-12 and error >= 0.5 * last):
            return d / d.sum()
        last = error
        block = multiplier * (norm.Q.T @ (norm.Q * d)) + beta * np.eye(u.size)
        step = state.step(block, d, state.gradient * d)
        if step is None:
            return None
        # No entry that matters changes by more than a factor e, and λ stays positive.
        longest = float(np.max(np.abs(step[:-2]) * (d > 1e-12), initial=0.0))
        t = min(1.0, 1.0 / longest) if longest > 0.0 else 1.0
        if multiplier + t * step[-1] < 0.0:
            t *= 0.5 * multiplier / -(t * step[-1])
        log_d = log_d + t * step[:-2]
        gamma = gamma + t * step[-2]
        multiplier = multiplier + t * step[-1]
        if not np.isfinite(log_d).all():
            return None
    return None
