"""A tiny boosting package with a bug: the largest mean of the k smallest margins of a vote.

    max over ||w||_1 <= 1 of the mean of the k smallest entries of A w

The linear program below is right. What is reported of its solution is not: where the k-th smallest
margin is shared, more than k examples enter the mean. On random data margins differ, and nothing
is noticed; at the optimum of a game they are shared more often than not. The environment variable
TINYBOOST_FIXED=1 puts it right, for the tests to show the difference.
"""

from __future__ import annotations

import os

import numpy as np
from scipy.optimize import linprog


def mean_of_worst(margins: np.ndarray, k: int) -> float:
    """Return the mean of the k smallest margins."""
    ordered = np.sort(margins)
    if os.environ.get("TINYBOOST_FIXED") == "1":
        return float(ordered[:k].mean())
    return float(margins[margins <= ordered[k - 1] + 1e-9].mean())  # the bug


def fit(A: np.ndarray, k: int) -> np.ndarray:
    """Return the weights w, by a linear program in the two signs of w, a threshold and hinges."""
    m, n = A.shape
    cost = np.concatenate([np.zeros(2 * n), [-1.0], np.full(m, 1.0 / k)])
    hinges = np.hstack([-A, A, np.ones((m, 1)), -np.eye(m)])  # threshold - (A w)_i <= hinge_i
    ball = np.concatenate([np.ones(2 * n), np.zeros(m + 1)])[None, :]
    found = linprog(
        cost,
        A_ub=np.vstack([hinges, ball]),
        b_ub=np.concatenate([np.zeros(m), [1.0]]),
        bounds=[(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * m,
    )
    return found.x[:n] - found.x[n : 2 * n]


def value(A: np.ndarray, k: int) -> float:
    """Return the largest mean of the k smallest margins."""
    return mean_of_worst(A @ fit(A, k), k)
