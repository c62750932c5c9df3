"""Losses for several classes, with one output for each class."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy.special import xlogy

from relaxboost._core.arrays import Array, Flags, Whole
from relaxboost._core.lazy import cp
from relaxboost.functional.losses.base import Loss, MeanRisk, Risk
from relaxboost.functional.losses.leaves import damped, roots, sums
from relaxboost.functional.losses.margins import HINGE_TEMPERATURE
from relaxboost.functional.measure import Empirical

Moves: TypeAlias = Callable[[int, Array, Whole, int], Array]
"""A function that returns a number for each leaf, which is added to the output of one class in the
leaf. The arguments are the class index, the example weights, the leaf of each example, and the
number of leaves."""


class MulticlassRisk(MeanRisk):
    """The weighted mean of a `MulticlassLoss`.

    The targets are class indices. The conjugate at Z is finite only if each row of Z sums to 0, up
    to rounding.
    """

    centred = True

    def __init__(self, loss: MulticlassLoss, y: Whole, measure: Empirical, classes: Any) -> None:
        super().__init__(loss, y, measure, classes)
        self.outputs = len(classes)

    def evaluate(self, F: Array) -> tuple[float, Array]:
        values, slopes = self.loss.rows(F, self.y)
        return self.measure.mean(values), slopes

    def refitted(self, F: Array, leaf: Whole, leaves: int) -> Array:
        # R decreases if `moves` changes the output of one class alone. By convexity, R also
        # decreases if the move of every class, divided by K, is added to its output.
        move = self.loss.moves(F, self.y)
        columns = [leaf] * F.shape[1] if leaf.ndim == 1 else leaf.T
        found = [move(k, self.measure.p, column, leaves) for k, column in enumerate(columns)]
        return np.stack(found, axis=1)

    def margins(self) -> Any:
        if not self.loss.falling:
            return None
        from scipy.sparse import csr_array

        classes = len(self.classes)
        # There is a row for each margin f_y − f_k, where k is a class other than the label.
        n, k = np.nonzero(np.arange(classes)[None, :] != self.y[:, None])
        heavy = self.measure.p[n] > 0.0
        n = n[heavy]
        k = k[heavy]
        rows = np.arange(len(n))
        entries = np.concatenate([np.ones(len(n)), -np.ones(len(n))])
        places = np.concatenate([n * classes + self.y[n], n * classes + k])
        shape = (len(n), len(self.y) * classes)
        return csr_array((entries, (np.concatenate([rows, rows]), places)), shape=shape)

    def nearby(self, Z: Array, snap: float = 0.0) -> Array:
        # Row n of the result is −e_y plus a probability distribution near Z_n + e_y.
        rows = np.arange(len(self.y))
        # The entries of the other classes are probabilities, and those below `snap` become 0.
        U = np.where(snap < Z, Z, 0.0)
        U[rows, self.y] = 0.0
        total = U.sum(axis=1, keepdims=True)
        # Probabilities whose sum exceeds 1 are divided by the sum.
        U /= np.where(total > 1.0 - snap, total, 1.0)
        U[rows, self.y] = -U.sum(axis=1)
        return U

    def room(self, Z: Array) -> Array:
        # The room of example n is the probability distribution Z_n + e_y.
        U = Z.copy()
        U[np.arange(len(self.y)), self.y] += 1.0
        return np.clip(U, 0.0, 1.0)


class MulticlassLoss(Loss, ABC):
    """A loss l(f, y) of the outputs f, one for each of K classes, and of the correct class y.

    Adding the same number to all outputs must not change the loss.

    Subclasses define `rows`, `atoms` and `conjugates`, as `MultinomialLogistic` does.
    """

    task: ClassVar[str] = "multiclass"
    two_classes: ClassVar[str] = ""
    """The name of the corresponding loss for two classes, which estimators replace by this loss if
    there are more than two classes."""

    @abstractmethod
    def rows(self, F: Array, y: Whole) -> tuple[Array, Array]:
        """Return the loss of each example, and a subgradient in its outputs.

        F contains a row of outputs for each example, and y the correct class indices. The losses
        have shape (N,), and the subgradients the shape of F.
        """

    def moves(self, F: Array, y: Whole) -> Moves:
        """Return a function that computes the leaf values of one class; see `Moves`.

        The values minimise the loss in each leaf. This default implementation works for any loss,
        but is slow.
        """

        def move(k: int, p: Array, leaf: Whole, leaves: int) -> Array:
            def slopes(v: Array) -> tuple[Array, None]:
                moved = F.copy()
                moved[:, k] += v
                return self.rows(moved, y)[1][:, k], None

            return roots(slopes, p, leaf, leaves)

        return move

    @abstractmethod
    def atoms(self, F: Any, y: Whole) -> Any:
        """Return the losses of N examples as a cvxpy expression of shape (N,).

        F is a cvxpy expression with a row of outputs for each example.
        """

    @abstractmethod
    def conjugates(self, Z: Array, y: Whole) -> Array:
        """Return the conjugate of each example's loss at its row z of Z.

        The conjugate is sup_f (<z, f> − l(f, y)), and may be inf.
        """

    def _risk(self, y: Whole, measure: Empirical, classes: Any, groups: Any) -> Risk:
        return MulticlassRisk(self, y, measure, classes)


@dataclass(frozen=True)
class MulticlassHinge(MulticlassLoss):
    """The multiclass hinge max_k (f_k + [k ≠ y]) − f_y for the correct class y.

    Here f_k is the output for class k, and [k ≠ y] is 1 if k ≠ y and otherwise 0. The loss is at
    least 1 if the class y does not have the largest output.

    The subgradient is e_k − e_y for the first class k that attains the maximum, and 0 if k = y. For
    example, at f = 0, k is the first class other than y.

    References
    ----------
    Crammer & Singer (2002), On the algorithmic implementation of multiclass kernel-based vector
    machines; GB11, Sec. 5.
    """

    name = "multiclass-hinge"
    two_classes = "hinge"
    gradient_bound = math.sqrt(2.0)

    def rows(self, F: Array, y: Whole) -> tuple[Array, Array]:
        rows = np.arange(len(y))
        raised = F + 1.0
        raised[rows, y] = F[rows, y]
        # If several classes attain the maximum, argmax returns the first.
        best = raised.argmax(axis=1)
        slopes = np.zeros(F.shape)
        slopes[rows, best] = 1.0
        slopes[rows, y] -= 1.0
        return raised[rows, best] - F[rows, y], slopes

    def softened(self, F: Array, y: Whole, slopes: Array) -> Array:
        # The softened hinge is τ log Σ exp((f_k + [k ≠ y])/τ) − f_y.
        return MultinomialLogistic().rows(_softer(F, y), y)[1]

    def moves(self, F: Array, y: Whole) -> Moves:
        move = MultinomialLogistic().moves(_softer(F, y), y)
        return lambda k, p, leaf, leaves: HINGE_TEMPERATURE * move(k, p, leaf, leaves)

    def atoms(self, F: Any, y: Whole) -> Any:
        label = _indicators(y, F.shape[1])
        return cp.max(F + (1.0 - label), axis=1) - cp.sum(cp.multiply(label, F), axis=1)

    def conjugates(self, Z: Array, y: Whole) -> Array:
        # The conjugate is z_y if Z_n + e_y is a probability distribution.
        return np.where(_distributions(Z, y), Z[np.arange(len(y)), y], np.inf)


@dataclass(frozen=True)
class MultinomialLogistic(MulticlassLoss):
    """The multinomial logistic loss log Σ exp(f_k) − f_y for the correct class y.

    Here f_k is the output for class k. The smoothness Λ is 1/2, because row k of the Hessian has
    the absolute sum 2 π_k (1 − π_k) for the softmax π, and gradient norms are below √2. If a sum of
    hypotheses separates the classes, the infimum 0 of the risk is not attained.

    References
    ----------
    Böhning (1992), Multinomial logistic regression algorithm (the bound of the Hessian).
    """

    name = "multinomial-logistic"
    two_classes = "logistic"
    likelihood = True
    smoothness = 0.5
    gradient_bound = math.sqrt(2.0)
    attained = False
    falling = True

    def rows(self, F: Array, y: Whole) -> tuple[Array, Array]:
        label = np.arange(len(y)), y
        slopes, others, log_top = _softmax(F)
        slopes[label] = -others[label]
        return (F.max(axis=1) - F[label]) - log_top, slopes

    def moves(self, F: Array, y: Whole) -> Moves:
        # These are damped Newton steps; see `leaves.damped`.
        shares, others, _ = _softmax(F)
        bends = shares * others
        slopes = np.where(_indicators(y, F.shape[1]) > 0.0, -others, shares)

        def move(k: int, p: Array, leaf: Whole, leaves: int) -> Array:
            g = sums(leaf, p * slopes[:, k], leaves)
            return damped(g, sums(leaf, p * bends[:, k], leaves))

        return move

    def atoms(self, F: Any, y: Whole) -> Any:
        label = _indicators(y, F.shape[1])
        return cp.log_sum_exp(F, axis=1) - cp.sum(cp.multiply(label, F), axis=1)

    def conjugates(self, Z: Array, y: Whole) -> Array:
        # The conjugate is Σ u_k log u_k if u = Z_n + e_y is a probability distribution.
        U = Z.copy()
        U[np.arange(len(y)), y] += 1.0
        U = np.maximum(U, 0.0)
        return np.where(_distributions(Z, y), xlogy(U, U).sum(axis=1), np.inf)


def _softmax(F: Array) -> tuple[Array, Array, Array]:
    """Return the softmax π of each row of F, 1 − π, and the log of the largest entry of π.

    Small numbers keep their relative accuracy, and nothing overflows.
    """
    top = np.arange(len(F)), F.argmax(axis=1)
    shares = np.exp(F - F[top][:, None])
    shares[top] = 0.0
    rest = shares.sum(axis=1)
    shares[top] = 1.0
    shares /= 1.0 + rest[:, None]
    others = 1.0 - shares
    others[top] = rest / (1.0 + rest)
    return shares, others, -np.log1p(rest)


def _softer(F: Array, y: Whole) -> Array:
    # At these outputs, τ times the multinomial logistic loss is the softened hinge at F.
    return (F - _indicators(y, F.shape[1])) / HINGE_TEMPERATURE


def _distributions(Z: Array, y: Whole) -> Flags:
    """Return for each row z of Z whether z + e_y is a distribution, up to rounding.

    Here e_y is the unit vector of the class y of the row.
    """
    rows = np.arange(len(y))
    others = Z.copy()
    others[rows, y] = 0.0
    # The sum of a row has a rounding error of a few units in the last place for each class.
    allowed = 4.0 * np.finfo(float).eps * Z.shape[1] * np.abs(Z).sum(axis=1)
    # The entry of the label is at least −1, and minus the sum of the others.
    own = Z[rows, y]
    return (
        (others >= 0.0).all(axis=1) & (own >= -1.0 - allowed) & (np.abs(Z.sum(axis=1)) <= allowed)
    )


def _indicators(y: Whole, classes: int) -> Array:
    return np.eye(classes)[y]
