"""The convex hull of the distributions found by fully corrective Frank–Wolfe."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost._core.rounding import UNIT
from relaxboost.game.game import Game


class Hull:
    """A convex hull of distributions d with a weight λ each, and their weighted mean.

    The hull stores the penalty f(d) of each distribution and the Gram matrix of the edges Aᵀd, so
    `optimise` does not read the margin matrix A.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self.used = 0
        """The number of stored distributions. The arrays may be longer."""
        self.weights = np.zeros(16)
        """The convex-combination weights of the stored distributions. The entries after the first
        `used` are 0."""
        self._costs = np.zeros(16)
        self._gram = np.zeros((16, 16))
        self._points = np.empty((game.m, 16), order="F")
        self._edges = np.empty((game.n or 0, 16), order="F")

    def start_at(self, d: Vector) -> None:
        """Add the distribution `d` with the weight 1, and set all other weights to 0."""
        self.include(d)
        self.weights[: self.used] = 0.0
        self.weights[self.used - 1] = 1.0

    def point(self) -> Vector:
        """Return the weighted mean of the distributions."""
        return np.asarray(self._points[:, : self.used] @ self.weights[: self.used])

    def optimise(self, support: tuple[float, float, float], goal: float) -> int:
        """Optimise the weights until the Frank–Wolfe gap is at most `goal`.

        `support` defines the smoothed support function of the domain of w; see `reweigh`. Return
        the number of pairwise steps.
        """
        return reweigh(self._gram, self._costs, self.weights, self.used, support, goal)

    def include(self, d: Vector) -> None:
        """Add the distribution `d` with the weight 0, unless the relaxation is infinite at `d`."""
        cost = self._game.relaxation.penalty(d)
        # A user-defined f may be infinite even at a distribution that f itself has repaired.
        if not math.isfinite(cost):
            return
        # Most distributions lose their weight again, so those are dropped before the arrays grow.
        if self.used == self.weights.size:
            self._make_room()
        slot = self.used
        edges = self._game.matrix.edges(d)
        self._points[:, slot] = d
        self._edges[:, slot] = edges
        self._costs[slot] = cost
        self.weights[slot] = 0.0
        self.used = slot + 1
        # One product with the known edges updates the Gram matrix; A is not needed.
        products = edges @ self._edges[:, : slot + 1]
        self._gram[slot, : slot + 1] = products
        self._gram[: slot + 1, slot] = products

    def _make_room(self) -> None:
        # If the distributions with weight fill more than half of the arrays, the length doubles.
        # A distribution without weight is the worst one for an earlier w only.
        keep = np.flatnonzero(self.weights)
        size = self.weights.size * (1 if 2 * keep.size <= self.weights.size else 2)
        gram = np.zeros((size, size))
        gram[: keep.size, : keep.size] = self._gram[np.ix_(keep, keep)]
        self._gram = gram
        self.weights = _widen(self.weights[None, :], keep, size)[0]
        self._costs = _widen(self._costs[None, :], keep, size)[0]
        self._points = _widen(self._points, keep, size)
        self._edges = _widen(self._edges, keep, size)
        self.used = keep.size


def _widen(array: NDArray[np.float64], keep: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    wider = np.zeros((array.shape[0], size), order="F")
    wider[:, : keep.size] = array[:, keep]
    return wider


def prepare_reweigh() -> None:
    """Compile `reweigh` by calling it with small arguments."""
    reweigh(np.eye(1), np.zeros(1), np.ones(1), 1, (1.0, 0.0, 1.0), 1.0)


@njit()
def reweigh(
    gram: NDArray[np.float64],
    costs: Vector,
    weights: Vector,
    used: int,
    support: tuple[float, float, float],
    goal: float,
) -> int:
    """Minimise <costs, λ> + G(λᵀ gram λ) over the weights λ in the simplex by pairwise steps.

    `weights` contains the first λ, and is overwritten by the last λ. `gram` is the Gram matrix of
    the edges of the distributions, and `costs` contains their penalties. Only the first `used`
    entries count. Return the number of steps.

    G maps the squared norm s of the edges to the smoothed support function of the domain of w. Its
    derivative is p(s)/2 with p(s) = top / sqrt(curve · s + base) and (top, curve, base) =
    `support`.

    The steps end when the Frank–Wolfe gap is at most `goal` or the rounding error of the gradient,
    or after 1000 (`used` + 1) steps.
    """
    top, curve, base = support
    products = (gram[:used, :used] * weights[:used]).sum(axis=1)
    largest_cost = np.abs(costs[:used]).max()
    # The largest entry of a Gram matrix is on its diagonal.
    largest_entry = np.diag(gram)[:used].max()
    # If the Gram matrix is ill-conditioned, more steps cost more than another round.
    most = 1000 * (used + 1)
    for step in range(most):
        square = 0.0
        for i in range(used):
            square += weights[i] * products[i]
        pull = top / np.sqrt(curve * max(square, 0.0) + base)
        best, worst, slope, gap = _find_pair(costs, pull, products, weights)
        # The gap is a difference of two entries of the gradient, and each is rounded twice. If the
        # gap is smaller, the steps follow the rounding errors and need not end.
        rounding = 4.0 * UNIT * (largest_cost + pull * largest_entry)
        if gap <= max(goal, rounding):
            return step
        # G is concave. So the quadratic function with the current p lies above the objective, and
        # the step to the minimum of this function never overshoots.
        bend = pull * (gram[best, best] - 2.0 * gram[best, worst] + gram[worst, worst])
        # The longest step takes all weight from `worst`. Then the weight is set to exactly 0, so
        # that the hull can drop the distribution.
        eta = weights[worst]
        if bend > 0.0 and slope < bend * eta:
            eta = slope / bend
            weights[worst] -= eta
        else:
            weights[worst] = 0.0
        weights[best] += eta
        # A step changes two weights, so two columns of the Gram matrix update the products.
        for i in range(used):
            products[i] += eta * (gram[i, best] - gram[i, worst])
    return most


@njit()
def _find_pair(
    costs: Vector, pull: float, products: Vector, weights: Vector
) -> tuple[int, int, float, float]:
    # The smallest entry of the gradient costs + pull · products is at `best`. The largest entry
    # among the distributions with positive weight is at `worst`. The Frank–Wolfe gap is the
    # weighted mean of all entries minus the smallest entry.
    entries = costs[: products.size] + pull * products
    shares = weights[: products.size]
    best = int(np.argmin(entries))
    worst = int(np.argmax(np.where(shares > 0.0, entries, -np.inf)))
    # The terms are differences, so rounding errors in the sum of the weights do not matter.
    gap = float((shares * (entries - entries[best])).sum())
    return best, worst, entries[worst] - entries[best], gap
