"""What the golden files are about: names and constructors, in the order of the files.

Where a constructor is renamed, change the function here and keep the name beside it: the frozen
strings and files are found by the name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

import relaxboost as rb
from relaxboost import relaxations as rx
from tests.conformance.families import overweight, soft_cap

A = np.array([[0.75, -0.5, 0.25], [-0.25, 0.625, 0.5], [0.5, 0.25, -0.375], [0.125, 0.5, 1.0]])
"""The matrix of the games, whose entries are short in binary."""

M, N = A.shape
WEIGHTS = [1.0, 1.875, 2.75, 1.625]
PRIOR = [Fraction(i + 2, 14) for i in range(M)]
GROUPS = [0, 1, 0, 1]
SKEW = np.eye(M) + 0.5 * np.eye(M, k=1)
THIRD = Fraction(1, 3)
INF = math.inf


def half_capped(d: Any) -> Any:
    """Return the indicator of a cap at one half."""
    return 0.0, [d <= 0.5]


def half_square(x: Any) -> Any:
    """Return half the squared norm, its own conjugate."""
    return cp.sum_squares(x) / 2


@dataclass(frozen=True)
class OwnBall(rb.Relaxation):
    """A relaxation as users write them: a dataclass."""

    radius: float
    label: str = "own"

    def cvxpy_penalty(self, d: Any) -> Any:
        """Return the ball."""
        return 0.0, [cp.norm2(d) <= self.radius]


class OwnPrice(rb.Relaxation):
    """A relaxation as users write them: a class with attributes, an array among them."""

    def __init__(self, prices: Any) -> None:
        self.prices = np.asarray(prices, dtype=np.float64)
        self.kind = ("linear", 1, None, True)

    def cvxpy_penalty(self, d: Any) -> Any:
        """Return the price."""
        return self.prices @ d, []


SETS: list[tuple[str, Callable[[], Any]]] = [
    ("l1", rb.L1Ball),
    ("l1-large", lambda: rb.L1Ball(Fraction(5, 2))),
    ("simplex", rb.Simplex),
    ("l2", lambda: rb.L2Ball(0.7)),
    ("squared", lambda: rb.SquaredNorm(0.4)),
]
OTHER_SETS: list[tuple[str, Callable[[], Any]]] = [
    ("L1Ball(2)", lambda: rb.L1Ball(2)),
    ("L1Ball(0.1)", lambda: rb.L1Ball(0.1)),
    ("L1Ball(1/3)", lambda: rb.L1Ball(THIRD)),
    ("L1Ball(1.0)", lambda: rb.L1Ball(1.0)),
    ("L2Ball()", rb.L2Ball),
    ("L2Ball(1/3)", lambda: rb.L2Ball(THIRD)),
    ("SquaredNorm(3)", lambda: rb.SquaredNorm(3)),
    ("SquaredNorm(2/3)", lambda: rb.SquaredNorm(2 * THIRD)),
]

FAMILIES: list[tuple[str, Callable[[], Any]]] = [
    ("HardMargin", rb.HardMargin),
    ("Capped(1)", lambda: rb.Capped(1)),
    ("Capped(m)", lambda: rb.Capped(k=M)),
    ("Capped(2.5)", lambda: rb.Capped(2.5)),
    ("Capped(7/3)", lambda: rb.Capped(Fraction(7, 3))),
    ("Capped(fraction=0.4)", lambda: rb.Capped(fraction=0.4)),
    ("Caps", lambda: rb.Caps([Fraction(i % 3 + 1, M) for i in range(M)])),
    ("Caps, floats", lambda: rb.Caps([0.3, 0.5, 0, 1])),
    ("GroupCaps", lambda: rx.GroupCaps(GROUPS, Fraction(2, 3))),
    ("GroupCaps, some free", lambda: rx.GroupCaps([-1, 0, 1, -1], 0.25)),
    ("NormBall(1.5)", lambda: rb.NormBall(1.5, 0.8)),
    ("NormBall(2)", lambda: rb.NormBall(2, 0.65)),
    ("NormBall(2, weights)", lambda: rb.NormBall(2, 1.125, WEIGHTS)),
    ("NormBall(8)", lambda: rb.NormBall(8, 0.4)),
    ("NormBall(1)", lambda: rb.NormBall(1, 1)),
    ("NormBall(1, weights)", lambda: rb.NormBall(1, 1.5, WEIGHTS)),
    ("NormBall(inf)", lambda: rb.NormBall(INF, Fraction(2, 5))),
    ("NormBall(inf, weights)", lambda: rb.NormBall(INF, 1, WEIGHTS)),
    ("NormPenalty(1.5)", lambda: rb.NormPenalty(1.5, 0.3)),
    ("NormPenalty(2)", lambda: rb.NormPenalty(2, 0.3)),
    ("NormPenalty(3, weights)", lambda: rb.NormPenalty(3, 0.3, WEIGHTS)),
    ("NormPenalty(1)", lambda: rb.NormPenalty(1, 0.25)),
    ("NormPenalty(1, weights)", lambda: rb.NormPenalty(1, 0.5, WEIGHTS)),
    ("NormPenalty(inf)", lambda: rb.NormPenalty(INF, 0.5)),
    ("NormPenalty(inf, weights)", lambda: rb.NormPenalty(INF, 0.5, WEIGHTS)),
    ("GroupNormPenalty", lambda: rx.GroupNormPenalty(GROUPS, 0.4)),
    ("GroupNormBall", lambda: rx.GroupNormBall(GROUPS, 0.8)),
    ("GroupNormBall(3)", lambda: rx.GroupNormBall(GROUPS, 0.8, p=3)),
    ("MahalanobisPenalty", lambda: rx.MahalanobisPenalty(SKEW, 0.3)),
    ("MahalanobisBall", lambda: rx.MahalanobisBall(SKEW, 1.25)),
    ("ChiSquarePenalty", lambda: rx.ChiSquarePenalty(0.3)),
    ("ChiSquarePenalty(prior)", lambda: rx.ChiSquarePenalty(0.03, PRIOR)),
    ("ChiSquareBall", lambda: rx.ChiSquareBall(0.7)),
    ("ChiSquareBall(prior)", lambda: rx.ChiSquareBall(0.2, PRIOR)),
    ("HellingerPenalty", lambda: rx.HellingerPenalty(0.3)),
    ("HellingerPenalty(prior)", lambda: rx.HellingerPenalty(0.05, PRIOR)),
    ("HellingerBall", lambda: rx.HellingerBall(0.3)),
    ("HellingerBall(prior)", lambda: rx.HellingerBall(0.1, PRIOR)),
    ("PowerPenalty(3, prior)", lambda: rx.PowerPenalty(3, 0.3, PRIOR)),
    ("PowerPenalty(1.5)", lambda: rx.PowerPenalty(1.5, 0.3)),
    ("PowerBall(3)", lambda: rx.PowerBall(3, 0.3)),
    ("KLPenalty", lambda: rb.KLPenalty(0.1)),
    ("KLPenalty(prior)", lambda: rb.KLPenalty(0.02, PRIOR)),
    ("KLBall", lambda: rb.KLBall(0.3)),
    ("KLBall(prior)", lambda: rb.KLBall(0.1, PRIOR)),
    ("BinaryEntropy", lambda: rb.BinaryEntropy(2, 0.1)),
    ("BinaryEntropy(fraction)", lambda: rb.BinaryEntropy(fraction=0.625, weight=0.02)),
    ("c * f", lambda: 0.5 * rx.ChiSquarePenalty(0.3)),
    ("c * norm", lambda: Fraction(2, 3) * rb.NormPenalty(INF, 0.5)),
    ("f + g", lambda: rb.Capped(2) + rb.KLPenalty(0.1)),
    ("polyhedral f + g", lambda: rb.Capped(2) + rb.NormPenalty(INF, 0.5)),
    ("f + g + h", lambda: rb.NormPenalty(1, 0.25, WEIGHTS) + rb.NormPenalty(INF, 0.5) * 2 +
     rx.GroupCaps(GROUPS, 0.75)),
    ("f.shifted(d0)", lambda: rb.NormPenalty(2, 0.3).shifted(-0.125)),
    ("Capped.shifted(d0)", lambda: rb.Capped(2).shifted(0.03125)),
    ("f.scaled(c)", lambda: rb.NormPenalty(2, 0.3).scaled(2)),
    ("Custom", lambda: rb.Custom(f=soft_cap)),
    ("f_divergence", lambda: rb.f_divergence(overweight, weight=0.3)),
]  # fmt: skip
"""A game of each is certified over each set."""

PARAMETERS: list[tuple[str, Callable[[], Any]]] = [
    ("Capped(3)", lambda: rb.Capped(3)),
    ("Capped(3.0)", lambda: rb.Capped(3.0)),
    ("Capped(numpy 3)", lambda: rb.Capped(np.int64(3))),
    ("Capped(numpy 2.5)", lambda: rb.Capped(np.float64(2.5))),
    ("Capped(fraction=1/2)", lambda: rb.Capped(fraction=Fraction(1, 2))),
    ("Capped(fraction=1)", lambda: rb.Capped(fraction=1)),
    ("CVaR(fraction=0.4)", lambda: rb.CVaR(0.6)),
    ("Caps([0.3, 0.4, 0.5, 0.6])", lambda: rb.Caps([0.3, 0.4, 0.5, 0.6])),
    ("Caps(array)", lambda: rb.Caps(np.array([0.3, 0.4, 0.5, 0.6]))),
    ("Caps(whole numbers)", lambda: rb.Caps([1, 0, 1, 2])),
    ("GroupCaps(list)", lambda: rx.GroupCaps([0, 1, 2, 0], [0.5, THIRD, 1])),
    ("GroupCaps(dict)", lambda: rx.GroupCaps([5, 9, 5, -1], {5: 0.25, 9: Fraction(1, 5)})),
    ("GroupCaps(array)", lambda: rx.GroupCaps(np.array([0, 0, 1, 1]), np.array([0.5, 0.75]))),
    ("NormBall(2, 1)", lambda: rb.NormBall(2, 1)),
    ("NormBall(2.0, 0.75)", lambda: rb.NormBall(2.0, 0.75)),
    ("NormBall(3/2, 9/10)", lambda: rb.NormBall(Fraction(3, 2), Fraction(9, 10))),
    ("NormBall(inf, 1/3)", lambda: rb.NormBall(INF, THIRD)),
    ("NormBall(inf, 1)", lambda: rb.NormBall(INF, 1)),
    ("NormBall(2, 2, array)", lambda: rb.NormBall(2, 2, np.array(WEIGHTS))),
    ("NormPenalty(2, 1/7)", lambda: rb.NormPenalty(2, Fraction(1, 7))),
    ("NormPenalty(7/3, 2)", lambda: rb.NormPenalty(Fraction(7, 3), 2)),
    ("NormPenalty(1, 1/7)", lambda: rb.NormPenalty(1, Fraction(1, 7))),
    ("NormPenalty(inf, 2, fractions)", lambda: rb.NormPenalty(INF, 2, PRIOR)),
    ("GroupNormPenalty(1/3, 3/2)", lambda: rx.GroupNormPenalty(GROUPS, THIRD, p=1.5)),
    ("GroupNormPenalty(factors)", lambda: rx.GroupNormPenalty(GROUPS, 1, factors=[1, 0.5])),
    ("GroupNormBall(factors)", lambda: rx.GroupNormBall(GROUPS, 2, factors=[1, THIRD])),
    ("MahalanobisPenalty(list)", lambda: rx.MahalanobisPenalty([[1, 0, 2, 0], [0, 1, 0, 3]], 1)),
    ("MahalanobisBall(1/3)", lambda: rx.MahalanobisBall(SKEW / 8, THIRD)),
    ("ChiSquarePenalty(1)", lambda: rx.ChiSquarePenalty(1)),
    ("ChiSquarePenalty(1/3)", lambda: rx.ChiSquarePenalty(THIRD)),
    ("ChiSquareBall(2, array)", lambda: rx.ChiSquareBall(2, np.array([0.5, 0.25, 0.125, 0.125]))),
    ("HellingerPenalty(2, floats)", lambda: rx.HellingerPenalty(2, [0.1, 0.2, 0.3, 0.4])),
    ("HellingerBall(1/9)", lambda: rx.HellingerBall(Fraction(1, 9))),
    ("PowerPenalty(1/2, 1)", lambda: rx.PowerPenalty(0.5, 1)),
    ("PowerPenalty(2, 0.3)", lambda: rx.PowerPenalty(2, 0.3)),
    ("PowerPenalty(4/3, 0.3)", lambda: rx.PowerPenalty(Fraction(4, 3), 0.3)),
    ("PowerBall(2, 1/3, prior)", lambda: rx.PowerBall(2, THIRD, PRIOR)),
    ("PowerBall(0.5, 0.1)", lambda: rx.PowerBall(0.5, 0.1)),
    ("KLPenalty(1)", lambda: rb.KLPenalty(1)),
    ("KLPenalty(1/3, zero in prior)", lambda: rb.KLPenalty(THIRD, [0, 0.5, 0.25, 0.25])),
    ("KLBall(1/2)", lambda: rb.KLBall(Fraction(1, 2))),
    ("KLBall(1, array)", lambda: rb.KLBall(1, np.array([0.5, 0.25, 0.125, 0.125]))),
    ("BinaryEntropy(3/2, 1/3)", lambda: rb.BinaryEntropy(Fraction(3, 2), THIRD)),
    ("BinaryEntropy(3, 1)", lambda: rb.BinaryEntropy(k=3, weight=1)),
    ("2 * KLPenalty", lambda: 2 * rb.KLPenalty(0.1)),
    ("KLPenalty * 1/3", lambda: rb.KLPenalty(0.1) * THIRD),
    ("numpy * KLPenalty", lambda: np.float64(0.25) * rb.KLPenalty(0.1)),
    ("2 * (3 * f)", lambda: 2 * (3 * rb.NormPenalty(2, 0.3))),
    ("1 * f", lambda: 1 * rb.NormPenalty(2, 0.3)),
    ("2 * HardMargin", lambda: 2 * rb.HardMargin()),
    ("2 * Capped", lambda: 2 * rb.Capped(2)),
    ("2 * NormBall", lambda: 2 * rb.NormBall(2, 0.75)),
    ("HardMargin + f", lambda: rb.HardMargin() + rb.KLPenalty(0.1)),
    ("f + HardMargin", lambda: rb.KLPenalty(0.1) + rb.HardMargin()),
    ("Capped + Capped", lambda: rb.Capped(2) + rb.Capped(3)),
    ("Caps + Capped", lambda: rb.Caps([0.25, 0.5, 0.5, 1]) + rb.Capped(2)),
    ("Capped + Caps", lambda: rb.Capped(2) + rb.Caps([0.25, 0.5, 0.5, 1])),
    ("KLPenalty + KLPenalty", lambda: rb.KLPenalty(0.1) + rb.KLPenalty(0.2)),
    ("KLPenalty + KLPenalty(prior)", lambda: rb.KLPenalty(0.1) + rb.KLPenalty(0.2, PRIOR)),
    ("NormPenalty + NormPenalty", lambda: rb.NormPenalty(2, 0.1) + rb.NormPenalty(2, 0.2)),
    ("norms of two kinds", lambda: rb.NormPenalty(2, 0.1) + rb.NormPenalty(1, 0.2)),
    ("sum of a list", lambda: sum([rb.Capped(2), rb.KLPenalty(0.1), rb.NormPenalty(2, 0.3)])),
    ("a + (b + c)", lambda: rb.Capped(2) + (rb.KLPenalty(0.1) + rb.NormPenalty(2, 0.3))),
    ("Capped + 0.1 * KLPenalty", lambda: rb.Capped(2) + 0.1 * rb.KLPenalty(1)),
    ("3 * (f + g)", lambda: 3 * (rb.Capped(2) + rb.KLPenalty(0.1))),
    ("Capped(fraction) + f", lambda: rb.Capped(fraction=0.5) + rb.KLPenalty(0.1)),
    ("shifted by a vector", lambda: rb.NormPenalty(2, 0.3).shifted([0.1, 0, -0.1, 0.25])),
    ("shifted by an array", lambda: rb.NormBall(2, 0.75).shifted(np.array([0, 0.125, 0, 0]))),
    ("shifted twice", lambda: rb.NormPenalty(2, 0.3).shifted(0.1).shifted(-0.2)),
    ("scaled by 1/3", lambda: rb.NormPenalty(2, 0.3).scaled(THIRD)),
    ("scaled by -1", lambda: rb.NormPenalty(2, 0.3).scaled(-1)),
    ("scaled by 0.1", lambda: rb.Capped(2).scaled(0.1)),
    ("shifted, scaled", lambda: rb.NormPenalty(2, 0.3).shifted(0.1).scaled(2)),
    ("2 * shifted + g", lambda: 2 * rb.NormPenalty(2, 0.3).shifted(0.1) + rb.Capped(2)),
    ("Custom, conjugate", lambda: rb.Custom(conjugate=half_square)),
    ("Custom, constraints", lambda: rb.Custom(f=half_capped)),
    ("Custom, named", lambda: rb.Custom(f=half_square, name="half")),
    ("Custom + f", lambda: rb.Custom(f=half_square) + rb.Capped(2)),
    ("f_divergence, ball", lambda: rb.f_divergence(overweight, radius=0.5)),
    ("f_divergence, prior", lambda: rb.f_divergence(overweight, weight=1, prior=PRIOR)),
    ("own dataclass", lambda: OwnBall(0.75)),
    ("own class", lambda: OwnPrice([0.5, 0.25, 0, 1])),
    ("own + f", lambda: OwnBall(0.75, "other") + rb.KLPenalty(0.1)),
]  # fmt: skip
"""More parameters, of which only keys and digests are frozen."""

BY_CVXPY = ("Custom", "f_divergence")
"""Whose keys are digests of what cvxpy compiles, which another version may compile otherwise."""

X = np.array([[0.5, 3, -1], [1.5, 1, 0], [0.5, 2, 2], [-2.0, 1, 1], [3.25, 0, -0.0], [1, 1, 1]])
Y = np.array([1, -1, 1, 1, -1, -1])


def first_feature(X: Any, y: Any, d: Any) -> Any:
    """Return a hypothesis that looks at the first feature, whatever d is."""
    return lambda X: np.where(X[:, 0] > 1, 1.0, -1.0)


def sparse(kind: str) -> Any:
    """Return a sparse matrix with a duplicate and a stored zero."""
    from scipy import sparse

    rows, columns, values = [0, 3, 1, 1, 2], [0, 1, 2, 2, 0], [0.5, -1.0, 0.25, 0.25, 0.0]
    return getattr(sparse.coo_array((values, (rows, columns)), shape=(4, 3)), f"to{kind}")()


def tree() -> Any:
    """Return an estimator of scikit-learn."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=1, random_state=0)


def cancer(max_cuts: int | None = None) -> Any:
    """Return the stumps of the bundled data."""
    data = rb.matrices.datasets.breast_cancer()
    return rb.matrices.stumps(data.X, data.y, data.feature_names, max_cuts)


SIGNS = np.where(A > 0.25, 1, -1)
MATRICES: list[tuple[str, Callable[[], Any]]] = [
    ("float64", lambda: A),
    ("float64, columns first", lambda: np.asfortranarray(A)),
    ("float32", lambda: (A / 3).astype(np.float32)),
    ("float16", lambda: A.astype(np.float16)),
    ("thirds", lambda: A / 3),
    ("lists", A.tolist),
    ("int8", lambda: SIGNS.astype(np.int8)),
    ("int64", lambda: SIGNS),
    ("signs as floats", lambda: SIGNS.astype(float)),
    ("minus zero", lambda: np.array([[-0.0, 1.0], [0.0, -1.0]])),
    ("one by one", lambda: [[-0.5]]),
    ("sparse csc", lambda: sparse("csc")),
    ("sparse csr", lambda: sparse("csr")),
    ("sparse coo", lambda: sparse("coo")),
    ("stumps", lambda: rb.matrices.stumps(X, Y)),
    ("stumps, max_cuts", lambda: rb.matrices.stumps(X, Y, max_cuts=2)),
    ("stumps, names", lambda: rb.matrices.stumps(X, Y, ["a", "b", "c"])),
    ("breast cancer", cancer),
    ("breast cancer, max_cuts", lambda: cancer(62)),
    ("oracle, function", lambda: rb.matrices.oracle(first_feature, X, Y)),
    ("oracle, slack", lambda: rb.matrices.oracle(first_feature, X, Y, slack=0.25)),
    ("oracle, name", lambda: rb.matrices.oracle(first_feature, X, Y, name="first")),
    ("oracle, estimator", lambda: rb.matrices.oracle(tree(), X, Y)),
]

EXACT: list[tuple[str, Callable[[int], Any]]] = [
    ("HardMargin", lambda m: rb.HardMargin()),
    ("Capped(3/2)", lambda m: rb.Capped(Fraction(3, 2))),
    ("Capped(m)", rb.Capped),
    ("Capped(fraction=0.6)", lambda m: rb.Capped(fraction=0.6)),
    ("Caps", lambda m: rb.Caps([Fraction(i + 2, m + 2) for i in range(m)])),
    ("GroupCaps", lambda m: rx.GroupCaps([i % 2 for i in range(m)], Fraction(3, 5))),
    ("GroupCaps, some free", lambda m: rx.GroupCaps([i % 3 - 1 for i in range(m)], 0.25)),
    ("NormBall(1, weights)", lambda m: rb.NormBall(1, 1.5, [1 + i % 2 for i in range(m)])),
    ("NormBall(inf)", lambda m: rb.NormBall(INF, Fraction(2, 3))),
    ("NormBall(inf, weights)", lambda m: rb.NormBall(INF, 1, [1 + i % 2 for i in range(m)])),
    ("NormPenalty(1)", lambda m: rb.NormPenalty(1, THIRD)),
    ("NormPenalty(1, weights)", lambda m: rb.NormPenalty(1, THIRD, [1 + i for i in range(m)])),
    ("NormPenalty(inf)", lambda m: rb.NormPenalty(INF, THIRD)),
    ("NormPenalty(inf, weights)", lambda m: rb.NormPenalty(INF, 0.1, [1 + i for i in range(m)])),
    ("c * norm", lambda m: Fraction(2, 7) * rb.NormPenalty(INF, THIRD)),
    ("caps + norm", lambda m: rb.Capped(Fraction(3, 2)) + rb.NormPenalty(INF, THIRD)),
    ("norm + norm", lambda m: rb.NormPenalty(1, 0.25, [1 + i for i in range(m)])
     + rb.NormPenalty(INF, THIRD)),
    ("three", lambda m: rb.Capped(Fraction(4, 3)) + 3 * rb.NormPenalty(INF, THIRD)
     + rb.NormPenalty(1, 0.25, [1 + i for i in range(m)])),
]  # fmt: skip
"""Polyhedral relaxations of m examples, whose optima are fractions."""

EXACT_MATRICES: list[tuple[str, Any]] = [
    ("four", A),
    ("identity", np.eye(3)),
    ("pennies", np.array([[1.0, -1.0], [-1.0, 1.0]])),
    ("ties", np.array([[1, 0], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0, 1.0]])),
    ("tenths", np.array([[0.1, -0.7], [0.3, 0.9], [-0.2, 0.6]])),
]


SOLVE = "--dataset breast-cancer --k 56 --tol 1e-6"
"""Options of `relaxboost solve` whose output is frozen."""


def without_times(text: str) -> str:
    """Return a text with each number of seconds replaced."""
    return re.sub(r"\d+(\.\d+)? (s|ms|seconds)\b", "TIME", text)


JUDGED_AGAIN: set[str] = {
    "TEL-bad-set",
    "SS09-D6",
    "SS09-remark-adaboost-loss",
    "SS09-remark-opposite",  # w = 0 has the margin 0
    "SS09-F2-doubles",  # the paper says nothing of floating point
    "RDS04-maximum-margin",  # the paper denies what was charged to it
    "GB11-subgradients-emp",  # examples may coincide
}
"""Claims whose verdict was found wrong since; each has its reason in its note."""

DECIDED_SINCE: set[str] = {
    "SS09-remark-one-over-gamma",
    "SS09-remark-approximate",
    "SS09-Sec6-log-loss",
    "GB11-efficiency",
}
"""Statements that were listed as not checkable, and are claims now."""
