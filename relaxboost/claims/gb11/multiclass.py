"""GB11, Theorem 2 and Appendix A: edges and multiclass weak learning for K = 3 classes."""

import math
from itertools import product

import numpy as np

from relaxboost.claims.fields import Rng, Sizes
from relaxboost.claims.gb11 import SOURCE
from relaxboost.claims.gb11.problems import edge
from relaxboost.claims.language import *
from relaxboost.claims.measure import Number
from relaxboost.game.domains import Simplex
from relaxboost.game.game import Game

K = 3
"""The number of classes in the checks of multiclass boosting."""


class Classes(Matrix):
    """A field for a matrix whose columns are classifiers with the outputs 1, 2 and 3."""

    def _clipped(self, value: Array) -> Array:
        return np.clip(np.round(value), 1.0, float(K)) + 0.0

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        m, n = self._shape(sizes)
        every = np.array(list(product(range(K), repeat=m)), dtype=np.float64).T + 1.0
        return every[:, np.arange(n) % every.shape[1]]


SETS = Space(sizes={"m": (1, 2), "n": (1, 9)}, C=Classes(1, K))
ROWS = Space(sizes={"k": (K, K)}, w=Vector("k", -3, 3))

_BASIS = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
"""An orthonormal basis of the vectors in R³ whose entries sum to 0."""


def outputs(C: Array) -> Array:
    """Return the output of each classifier for each example and each class.

    The shape is (examples, K, classifiers). The output is 1 for the class that the classifier
    predicts, and −1/(K − 1) for the other classes.
    """
    hit = C[:, None, :] == np.arange(1.0, K + 1.0)[None, :, None]
    return np.where(hit, 1.0, -1.0 / (K - 1.0))


def centred_edge(C: Array) -> float:
    """Return the edge of the classifiers for gradients whose K entries at each example sum to 0.

    It is the largest γ such that, for each gradient v, the outputs h of some classifier satisfy <v,
    h> >= γ‖v‖‖h‖. The columns of C are the classifiers.
    """
    H = np.einsum("jk,nkh->njh", _BASIS, outputs(C))
    return edge(H.reshape(-1, C.shape[1]), False)


def advantage(x: Instance) -> Number:
    """Return the largest δ for which multiclass weak learning holds for all weights and labels.

    For weights w and labels y, weak learning means that a classifier h satisfies
    Σ_n w_{n,h(n)} >= (1/K − δ/K) Σ w + δ Σ_n w_{n,y_n}.
    """
    # A constant may be added to each row of w. So w_{n,y} >= w_{nk} can be written as w_{n,y} =
    # Σ u_k/K and w_{nk} = w_{n,y} − u_k with u >= 0. With Σ w_{n,y_n} = 1 and d = u/K, the largest
    # δ is the value of a game. The adversary chooses an example and a class k ≠ y. The payoff of h
    # is 1 − K if h predicts k, and otherwise 1.
    size = len(x.C)
    least = []
    for y in product(range(K), repeat=size):
        wrong = [(n, k) for n, k in product(range(size), range(K)) if k != y[n]]
        rows = [np.where(x.C[n] == k + 1.0, 1.0 - K, 1.0) for n, k in wrong]
        value = x.optimum(Game(np.array(rows) / (K - 1.0), over=Simplex())).lower
        least.append(value * (K - 1))
    return min(least)


@SOURCE.claim("T2-all-gradients", space=SETS).checked(trials=25)
def every_gradient(x: Instance) -> Slack:
    assume(advantage(x) > 0)
    H = outputs(x.C)
    products = np.einsum("nk,nkh->h", np.ones(H.shape[:2]), H) / len(H)
    lengths = math.sqrt(K) * np.sqrt((H * H).sum(axis=(0, 1)) / len(H))
    return at_least(float((products / lengths).max()), 1e-9, "max <∇, h'>/(‖∇‖‖h'‖) at ∇ = 1")


@every_gradient.corrected()
def centred_gradients(x: Instance) -> Slack:
    delta = advantage(x)
    assume(delta > 0)
    right = float(delta) / ((K - 1.0) * math.sqrt(len(x.C)))
    return at_least(centred_edge(x.C), right, "δ/((K−1) sqrt(N)), γ")


@SOURCE.claim("T2-converse", space=SETS).checked(trials=40)
def multiclass_converse(x: Instance) -> Slack:
    gamma = centred_edge(x.C)
    assume(gamma > 0.0)
    return at_least(advantage(x), gamma, "γ, δ")


@centred_gradients.step(space=ROWS)
def _(x: Instance) -> Slacks:
    w = exactly(x.w) - sum(exactly(x.w)) / K
    top = max(w)
    squares = sum((top - one) ** 2 for one in w)
    yield equal(sum(one**2 for one in w), squares - K * top**2, "‖w‖², Σ u_k² − KM²")
    yield at_most(squares, (K * top) ** 2, "Σ u_k², (KM)²")


@multiclass_converse.step(space=ROWS)
def _(x: Instance) -> Slacks:
    w = exactly(x.w) - sum(exactly(x.w)) / K
    square = sum(one**2 for one in w)
    for one in w:
        yield at_least(square - one**2, one**2 / (K - 1), "w_k²/(K−1), Σ_{j≠k} w_j²")
