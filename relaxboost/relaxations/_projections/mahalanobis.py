"""Newton's method for a distribution under ‖Qd‖_2, from the answer of a cone solver.

A cone solver leaves d with six to eight good digits. The optimality conditions of

    min <d, u> + β Σ d log d  over the simplex, under a bound ‖Qd‖ <= r or a price c ‖Qd‖, are

    u + λ Gd + β log d = γ,  Σ d = 1,  ‖Qd‖ = r or λ ‖Qd‖ = c,  with G = QᵀQ,

and a few Newton steps in (log d, γ, λ) make them hold to rounding. For β = 0 the unknowns are the
positive entries of d instead.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Matrix, Vector


def _constraint(
    Q: Matrix, d: Vector, multiplier: float, bound: float, ball: bool
) -> tuple[float, Vector, float]:
    """Return the residual of ‖Qd‖ = r or λ ‖Qd‖ = c, its gradient in d and its derivative in λ."""
    point = Q @ d
    size = float(np.linalg.norm(point))
    gradient = Q.T @ (point / size) if size > 0.0 else np.zeros(d.size)  # a subgradient at 0
    if ball:
        return size - bound, gradient, 0.0
    return multiplier * size - bound, multiplier * gradient, size


def sharpen(
    Q: Matrix, u: Vector, d: Vector, gamma: float, multiplier: float, bound: float, ball: bool
) -> tuple[Vector, float, float] | None:
    """Return (d, γ, λ) to rounding for β = 0, or None if the support given by `d` is wrong.

    `multiplier` is λ, `bound` r for a ball and c for a penalty.
    """
    support = np.flatnonzero(d > 1e-6 * d.max())
    part, x, count = Q[:, support], d[support] / d[support].sum(), support.size
    square = part.T @ part
    for _ in range(30):
        miss, gradient, along = _constraint(part, x, multiplier, bound, ball)
        gram = part.T @ (part @ x)
        residual = np.append(u[support] + multiplier * gram - gamma, [x.sum() - 1.0, miss])
        if np.max(np.abs(residual)) <= 4e-16:
            break
        system = np.zeros((count + 2, count + 2))
        system[:count, :count] = multiplier * square
        system[:count, count], system[count, :count] = -1.0, 1.0
        system[:count, count + 1], system[count + 1, :count] = gram, gradient
        system[count + 1, count + 1] = along
        if not np.isfinite(system).all():
            return None
        try:
            step = np.linalg.solve(system, -residual)
        except np.linalg.LinAlgError:
            step, *_ = np.linalg.lstsq(system, -residual, rcond=1e-13)
        x, gamma, multiplier = x + step[:count], gamma + step[count], multiplier + step[-1]
        if not (np.isfinite(x).all() and multiplier >= 0.0):
            return None
        if np.max(np.abs(step)) <= 1e-15 * max(1.0, multiplier):
            break
    whole = np.zeros(u.size)
    whole[support] = x
    slack = u + multiplier * (Q.T @ (Q @ whole)) - gamma
    good = x.min() >= 0.0 and np.max(np.abs(residual)) <= 1e-11 and slack.min() >= -1e-11
    return (whole, gamma, multiplier) if good else None


def sharpen_smoothed(
    Q: Matrix, u: Vector, beta: float, d: Vector, bound: float, ball: bool
) -> Vector | None:
    """Return d to rounding for β > 0, or None if Newton's method does not settle."""
    tiny = 1e-12 * d.max()
    y = np.log(np.maximum(d, tiny))
    known = d > 1e-5 * d.max()
    force = Q.T @ (Q @ d)
    # λ and γ by least squares from the entries the solver knows well.
    table = np.column_stack([np.ones(int(known.sum())), -force[known]])
    (gamma, multiplier), *_ = np.linalg.lstsq(table, u[known] + beta * y[known], rcond=None)
    multiplier = max(float(multiplier), 0.0)
    y = np.where(known, y, (gamma - u - multiplier * force) / beta)
    m, last = u.size, math.inf
    for _ in range(60):
        d = np.exp(np.minimum(y, 1.0))
        miss, gradient, along = _constraint(Q, d, multiplier, bound, ball)
        force = Q.T @ (Q @ d)
        residual = np.append(u + multiplier * force + beta * y - gamma, [d.sum() - 1.0, miss])
        error = float(np.max(np.abs(residual)))
        if error <= 1e-15 or (error <= 1e-12 and error >= 0.5 * last):
            return d / d.sum()
        last = error
        system = np.zeros((m + 2, m + 2))
        system[:m, :m] = multiplier * (Q.T @ (Q * d)) + beta * np.eye(m)
        system[:m, m], system[m, :m] = -1.0, d
        system[:m, m + 1], system[m + 1, :m] = force, gradient * d
        system[m + 1, m + 1] = along
        try:
            step = np.linalg.solve(system, -residual)
        except np.linalg.LinAlgError:
            return None
        longest = float(np.max(np.abs(step[:m]) * (d > 1e-12), initial=0.0))
        t = min(1.0, 1.0 / longest) if longest > 0.0 else 1.0
        if multiplier + t * step[-1] < 0.0:
            t *= 0.5 * multiplier / -(t * step[-1])
        y, gamma, multiplier = y + t * step[:m], gamma + t * step[m], multiplier + t * step[-1]
        if not np.isfinite(y).all():
            return None
    return None
