"""Cones of one kind and dimension, each with a slack s and a multiplier z.

The slack s is inside its cone, and the multiplier z inside the dual cone. Each cone adds dz + H ds
= r to Newton's equations, for the steps ds and dz and a right-hand side r. The scaling matrix H is
symmetric and satisfies H s = z.

For second-order cones, H is the scaling of Nesterov and Todd, a multiple of the identity plus two
outer products with the signs + and −. For exponential cones with the barrier F, H also maps −∇F*(z)
to −∇F(s), and is otherwise as near as possible to μ ∇²F(s) (Tunçel 2001; Dahl & Andersen 2022).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole


class Cones(ABC):
    """Cones of one kind and dimension, each with a slack s and a multiplier z.

    Row k of the arrays s and z belongs to cone k. The complementarity of a cone is s·z. On the
    central path with parameter μ, s·z is μ times the degree of the cone.

    Parameters
    ----------
    s : array of shape (number, dimension)
        The slacks start near these points. Each point s is moved until s − 0.05 · size · `axis` is
        inside the cone.
    least : float
        The smallest size of a slack. The size of a larger slack is its largest absolute entry.
    mult : array of shape (number,)
        The approximate size of the multiplier of each cone at the start.

    References
    ----------
    Dahl & Andersen (2022), A primal-dual interior-point algorithm for nonsymmetric exponential-cone
    optimization, Math. Program. 194; Domahidi, Chu & Boyd (2013), ECOS, for the scaling.
    """

    degree: float
    axis: Vector
    """A point inside every cone of this kind, with a largest absolute entry of about 1."""

    def __init__(self, s: Array, least: float, mult: Vector) -> None:
        s = s.copy()
        size = np.maximum(np.abs(s).max(axis=1, initial=0.0), least)
        # Points that are not well inside move along the axis, twice as far each time.
        shift = np.full(len(s), 0.1)
        while True:
            out = ~self.inside(s - 0.05 * size[:, None] * self.axis)
            if not out.any():
                break
            s[out] += (shift * size)[out, None] * self.axis
            shift *= 2.0
        self.s = s
        self.z = (mult * size)[:, None] * self.polar()

    @abstractmethod
    def inside(self, s: Array) -> NDArray[np.bool_]:
        """Return for each row of `s` whether it is inside its cone."""

    def dual_inside(self, z: Array) -> NDArray[np.bool_]:
        """Return for each row of `z` whether it is inside the dual cone."""
        return self.inside(z)

    @abstractmethod
    def polar(self) -> Array:
        """Return −∇F(s) for the slack s and the barrier function F of each cone."""

    @abstractmethod
    def scale(self) -> None:
        """Compute the symmetric scaling matrix H of each cone, with H s = z."""

    @abstractmethod
    def times(self, x: Array) -> Array:
        """Multiply each row of `x` by the scaling matrix of its cone."""

    @abstractmethod
    def target(self, centre: float, ds: Array | None, dz: Array | None) -> Array:
        """Return the right-hand side r of the equations Δz + H Δs = r of each cone.

        The step aims at the point of the central path with the parameter `centre`. With predictor
        steps `ds` and `dz`, r includes their second-order terms.
        """

    @property
    def product(self) -> float:
        """The sum over all cones of slack times multiplier."""
        return float(np.vdot(self.s, self.z))

    def longest(self, ds: Array, dz: Array) -> float:
        """Return the length, at most 1, of a step along `ds` and `dz` that stays inside all cones.

        The result is at most 0.1 % less than the largest possible length.
        """
        step = 1.0
        for x, dx, inside in ((self.s, ds, self.inside), (self.z, dz, self.dual_inside)):
            low = step if inside(x + step * dx).all() else 0.0
            # Halve the interval until both of its ends are within 0.1 % of each other.
            while step > 1.001 * low and step > float(np.finfo(np.float64).tiny):
                middle = 0.5 * (low + step)
                if inside(x + middle * dx).all():
                    low = middle
                else:
                    step = middle
            step = low
        return step

    @property
    def extra(self) -> int:
        """The number of auxiliary unknowns that `entries` adds for all cones."""
        return 0

    def places(self) -> tuple[Whole, Whole]:
        """Return the rows and columns of the numbers that `entries` returns.

        The indices of the slacks come first, cone by cone, and those of the auxiliary unknowns
        follow.
        """
        number, size = self.s.shape
        shape = (number, size, size)
        index = np.arange(number * size).reshape(number, size)
        rows = np.broadcast_to(index[:, :, None], shape)
        columns = np.broadcast_to(index[:, None, :], shape)
        return rows.ravel(), columns.ravel()

    def entries(self) -> Vector:
        """Return the entries of a sparse block-diagonal matrix for all scaling matrices.

        Eliminating any auxiliary unknowns from the matrix leaves the scaling matrices. The places
        of the entries never change.
        """
        return np.asarray(self.matrices().ravel())

    def matrices(self) -> Array:
        """Return the scaling matrices, of shape (number, dimension, dimension)."""
        number, size = self.s.shape
        columns = [self.times(np.tile(unit, (number, 1))) for unit in np.eye(size)]
        return np.stack(columns, axis=2)


def _det(x: Array) -> Array:
    # The result is x_0² − Σ_{i>0} x_i² for each row x, computed without cancellation.
    length = np.sqrt(np.square(x[:, 1:]).sum(axis=1))
    return np.asarray((x[:, 0] - length) * (x[:, 0] + length))


def _flip(x: Array) -> Array:
    flipped = -x
    flipped[:, 0] = x[:, 0]
    return flipped


class SecondOrderCones(Cones):
    """The cones s_0 >= ‖s_1‖ of vectors s = (s_0, s_1) with a number s_0.

    A cone of dimension 1 is a half line. The scaling matrix of a cone is H = (2 q qᵀ − J)/η², where
    J is diag(1, −1, …, −1). Each cone has a vector q with qᵀJ q = 1 and a number η.
    """

    degree = 1.0

    def __init__(self, s: Array, least: float, mult: Vector) -> None:
        self.axis = np.zeros(s.shape[1])
        self.axis[0] = 1.0
        super().__init__(s, least, mult)

    def inside(self, s: Array) -> NDArray[np.bool_]:
        return np.asarray((s[:, 0] > 0.0) & (_det(s) > 0.0))

    def polar(self) -> Array:
        return _flip(self.s) / _det(self.s)[:, None]

    def scale(self) -> None:
        # The scaling of Nesterov and Todd is a symmetric matrix W with W z = W⁻¹ s, and H is W⁻².
        s_size = np.sqrt(_det(self.s))[:, None]
        z_size = np.sqrt(_det(self.z))[:, None]
        s = self.s / s_size
        z = self.z / z_size
        half = np.sqrt(0.5 * (1.0 + (s * z).sum(axis=1)))[:, None]
        self._w = (s + _flip(z)) / (2.0 * half)
        self.q = _flip(self._w)
        self.eta = np.sqrt(s_size / z_size)
        self._lambda = self._scaled(self.z, self._w) * self.eta

    def times(self, x: Array) -> Array:
        inner = (self.q * x).sum(axis=1)[:, None]
        return np.asarray((2.0 * inner * self.q - _flip(x)) / np.square(self.eta))

    @property
    def _is_split(self) -> bool:
        # H as an array has size² entries, and the form with two outer products has 5 · size.
        return self.s.shape[1] > 3

    @property
    def extra(self) -> int:
        return 2 * len(self.s) if self._is_split else 0

    def places(self) -> tuple[Whole, Whole]:
        if not self._is_split:
            return super().places()
        number, size = self.s.shape
        slacks = np.arange(number * size)
        auxiliary = number * size + np.arange(self.extra)
        rows = np.repeat(auxiliary, size)
        columns = np.tile(slacks.reshape(number, 1, size), (1, 2, 1)).ravel()
        return (
            np.concatenate([slacks, rows, columns, auxiliary]),
            np.concatenate([slacks, columns, rows, auxiliary]),
        )

    def entries(self) -> Vector:
        if not self._is_split:
            return super().entries()
        number, size = self.s.shape
        # The matrix of a cone is [I/η², u, v; uᵀ, −1, 0; vᵀ, 0, 1].
        outer = self.rest().ravel()
        diagonal = np.repeat(1.0 / np.square(self.eta), size)
        return np.concatenate([diagonal, outer, outer, np.tile([-1.0, 1.0], number)])

    def rest(self) -> Array:
        """Return u and v of H = I/η² + u uᵀ − v vᵀ for each cone.

        The array has the shape (number, 2, dimension).
        """
        first = self.q[:, :1]
        length = np.sqrt(np.square(self.q[:, 1:]).sum(axis=1))[:, None]
        along = self.q[:, 1:] / np.maximum(length, 1e-300)
        # Products of sums have no cancellation, as differences of q_0 and |q_1| would.
        sum_ = first + length
        u = np.sqrt(length * sum_) * np.column_stack([np.ones_like(first), along])
        v = np.sqrt(length / sum_) * np.column_stack([np.ones_like(first), -along])
        return np.stack([u, v], axis=1) / self.eta[:, :, None]

    def _scaled(self, x: Array, w: Array) -> Array:
        # The result is the product of the matrix [w_0, w_1ᵀ; w_1, I + w_1 w_1ᵀ/(1 + w_0)] and the
        # row x of each cone.
        inner = (w[:, 1:] * x[:, 1:]).sum(axis=1)
        first = w[:, 0] * x[:, 0] + inner
        rest = x[:, 1:] + (x[:, 0] + inner / (1.0 + w[:, 0]))[:, None] * w[:, 1:]
        return np.column_stack([first, rest])

    def target(self, centre: float, ds: Array | None, dz: Array | None) -> Array:
        # Solve λ∘x = centre e − λ∘λ − (W⁻¹ds)∘(W dz) for x, with the Jordan product ∘. Then r is
        # W⁻¹x.
        at = self._lambda
        wanted = centre * self.axis - _jordan(at, at)
        if ds is not None and dz is not None:
            wanted = wanted - _jordan(self._scaled(ds, self.q), self._scaled(dz, self._w))
        first = (at * _flip(wanted)).sum(axis=1) / _det(at)
        rest = (wanted[:, 1:] - first[:, None] * at[:, 1:]) / at[:, :1]
        return self._scaled(np.column_stack([first, rest]), self.q) / self.eta


def _jordan(x: Array, y: Array) -> Array:
    # The Jordan product of (x_0, x_1) and (y_0, y_1) is (x·y, x_0 y_1 + y_0 x_1).
    first = (x * y).sum(axis=1)
    return np.column_stack([first, x[:, :1] * y[:, 1:] + y[:, :1] * x[:, 1:]])


class ExponentialCones(Cones):
    """The cones y exp(x/y) <= z with y > 0, where the slack is the vector s = (x, y, z).

    The barrier function is F(s) = −log(y log(z/y) − x) − log y − log z.
    """

    degree = 3.0
    axis = np.array([-1.051383, 1.258967, 0.556409]) / 1.26

    def inside(self, s: Array) -> NDArray[np.bool_]:
        good = (s[:, 1] > 0.0) & (s[:, 2] > 0.0)
        with np.errstate(all="ignore"):
            return np.asarray(good & (s[:, 1] * np.log(s[:, 2] / s[:, 1]) > s[:, 0]))

    def dual_inside(self, z: Array) -> NDArray[np.bool_]:
        # The dual cone consists of the (u, v, w) with u < 0 and −u exp(v/u) <= e w.
        good = (z[:, 0] < 0.0) & (z[:, 2] > 0.0)
        with np.errstate(all="ignore"):
            return np.asarray(good & (np.log(-z[:, 0] / z[:, 2]) + z[:, 1] / z[:, 0] < 1.0))

    def polar(self) -> Array:
        x, y, z = self.s.T
        psi = y * np.log(z / y) - x
        return np.column_stack(
            [-1.0 / psi, (np.log(z / y) - 1.0) / psi + 1 / y, y / psi / z + 1 / z]
        )

    def _dual_polar(self) -> Array:
        # The result is the point s with −∇F(s) = z for each multiplier z.
        from scipy.special import wrightomega

        u, v, w = self.z.T
        # Wright's omega function solves p + log(1 + p) = 1 − v/u − log(−u/w).
        p = wrightomega(2.0 - v / u - np.log(-u / w)) - 1.0
        y = -1.0 / (u * p)
        z = (1.0 + 1.0 / p) / w
        return np.column_stack([y * np.log(z / y) + 1.0 / u, y, z])

    def _hessian(self, s: Array) -> Array:
        # The result is ∇²F(s) for each row s.
        x, y, z = s.T
        psi = y * np.log(z / y) - x
        slope = np.column_stack([-np.ones_like(y), np.log(z / y) - 1.0, y / z]) / psi[:, None]
        H = slope[:, :, None] * slope[:, None, :]
        H[:, 1, 1] += 1.0 / (y * psi) + 1.0 / np.square(y)
        H[:, 1, 2] -= 1.0 / (z * psi)
        H[:, 2, 1] -= 1.0 / (z * psi)
        H[:, 2, 2] += y / (psi * np.square(z)) + 1.0 / np.square(z)
        return np.asarray(H)

    def scale(self) -> None:
        """Compute the scaling matrix H of each cone.

        Let z̃ = −∇F(s), and let s̃ be the point with −∇F(s̃) = z. H satisfies H s = z and H s̃ =
        z̃, and is otherwise nearest to μ∇²F(s) with μ = s·z/3.
        """
        s = self.s
        z = self.z
        hessian = self._hessian(s)
        # On the central path, s equals μ s̃ and z equals μ z̃.
        s_far = self._dual_polar()
        z_far = self.polar()
        dot = (s * z).sum(axis=1)
        mu = dot / 3.0
        mu_far = (s_far * z_far).sum(axis=1) / 3.0
        ds = s - mu[:, None] * s_far
        dz = z - mu[:, None] * z_far
        apart = (ds * dz).sum(axis=1)
        curved = np.einsum("kij,kj->ki", hessian, s_far) - mu_far[:, None] * z_far
        left = (curved * s_far).sum(axis=1)
        with np.errstate(all="ignore"):
            across = np.cross(s, s_far)
            across /= np.sqrt(np.square(across).sum(axis=1))[:, None]
            most = np.einsum("ki,kij,kj->k", across, hessian, across)
            most -= np.square((across * z_far).sum(axis=1)) / 3.0
            most -= np.square((across * curved).sum(axis=1)) / left
            # The first two terms meet both equations. The third one acts in the direction that is
            # orthogonal to s and s̃, where H is free.
            both = _outer(z) / dot[:, None, None] + _outer(dz) / apart[:, None, None]
            both += (mu * most)[:, None, None] * _outer(across)
            far = (np.abs(mu * mu_far - 1.0) > 1e-7) & (apart > 0.0) & (left > 1e-14) & (most > 0.0)
        # Near the central path the differences cancel, and both equations are nearly the same.
        self.H = np.where(far[:, None, None], both, mu[:, None, None] * hessian)

    def times(self, x: Array) -> Array:
        return np.einsum("kij,kj->ki", self.H, x)

    def target(self, centre: float, ds: Array | None, dz: Array | None) -> Array:
        """Return r = −centre ∇F(s) − z + ∇³F(s)[ds, ∇²F(s)⁻¹ dz]/2 for each cone.

        The last term is the correction by the predictor steps `ds` and `dz`, and 0 without them.
        """
        aim = centre * self.polar() - self.z
        if ds is None or dz is None:
            return aim
        hessian = self._hessian(self.s)
        # Rounding may leave a singular matrix without this.
        hessian[:, [0, 1, 2], [0, 1, 2]] *= 1.0 + 1e-13
        u = np.linalg.solve(hessian, dz[:, :, None])[:, :, 0]
        # A central difference of ∇²F replaces the third derivative. Its step is short in the norm
        # of ∇²F, so that both points are inside the cone.
        way = (1e-4 / (1e-300 + np.sqrt(np.abs((u * dz).sum(axis=1)))))[:, None]
        turned = self._hessian(self.s + way * u) - self._hessian(self.s - way * u)
        return np.asarray(aim + np.einsum("kij,kj->ki", turned, ds) / (4.0 * way))


def _outer(x: Array) -> Array:
    return np.asarray(x[:, :, None] * x[:, None, :])
