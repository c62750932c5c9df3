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
"""A function that returns a number for each leaf of a tree. For the examples in the leaf, the
number is added to the output of a given class. The arguments are the index of the class, the
weights of the examples, the leaf of each example, and the number of leaves."""


class MulticlassRisk(MeanRisk):
    """The risk that is the weighted mean of a `MulticlassLoss` over examples.

    The targets are indices of classes. A loss does not change if the same number is added to all
    outputs of an example. Therefore the conjugate of the risk at an array Z is finite only if each
    row of Z sums to zero, up to rounding.
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
    """A loss l(f, y) of the outputs f, one for each of K classes, if y is the correct class.

    The loss does not change if the same number is added to all outputs.

    A subclass defines `rows`, `atoms` and `conjugates`, as `MultinomialLogistic` does.
    """

    task: ClassVar[str] = "multiclass"
    two_classes: ClassVar[str] = ""
    """The name of a loss for two classes. If a user passes this name to an estimator, and there are
    more than two classes, the estimator uses this multiclass loss."""

    @abstractmethod
    def rows(self, F: Array, y: Whole) -> tuple[Array, Array]:
        """Return the loss of each example, and a subgradient of this loss in the outputs.

        F contains a row of outputs for each example, and y the indices of the correct classes. The
        losses have shape (N,) for N examples, and the subgradients the shape of F.
        """

    def moves(self, F: Array, y: Whole) -> Moves:
        """Return a function that computes, for a given class, a number for each leaf of a tree.

        The number of a leaf is added to the outputs of its examples for this class. It minimises
        the weighted sum of their losses. This default implementation is slow, but works for any
        loss.
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
        """Return a cvxpy expression of shape (N,) that contains the loss of each of N examples.

        F is a cvxpy expression with a row of outputs for each example.
        """

    @abstractmethod
    def conjugates(self, Z: Array, y: Whole) -> Array:
        """Return the convex conjugate of each example's loss at the example's row z of Z.

        The conjugate is the supremum of <z, f> − l(f, y) over all outputs f, and may be inf.
        """

    def _risk(self, y: Whole, measure: Empirical, classes: Any, groups: Any) -> Risk:
        return MulticlassRisk(self, y, measure, classes)


@dataclass(frozen=True)
class MulticlassHinge(MulticlassLoss):
    """The multiclass hinge of the outputs f_k, one for each class k, if y is the correct class.

    The loss is the maximum over k of f_k + [k ≠ y] − f_y, where [k ≠ y] is 1 if k ≠ y and otherwise
    0. It is at least 1 if the class y does not have the largest output.

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
    """The multinomial logistic loss log Σ exp(f_k) − f_y of the outputs f_k, one for each class k,
    if y is the correct class.

    Its smoothness Λ is 1/2, and the norms of its gradients are below √2. The Hessian is
    diag(π) − ππᵀ for the softmax π of the outputs. The absolute values of row k of the Hessian sum
    to 2 π_k (1 − π_k), which is at most 1/2. If a sum of hypotheses separates the classes, the
    infimum 0 of the risk is not attained.

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
    """Return three arrays: the softmax π of each row of F, the differences 1 − π, and the logarithm
    of the largest entry of π in each row.

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
    """For each row z of Z, return whether z + e_y is a probability distribution, up to rounding.

    Here y is the class of the row, and e_y the unit vector with the entry 1 for this class.
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
