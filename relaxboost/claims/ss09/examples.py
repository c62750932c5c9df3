"""SS09, Sec. 4.2, Examples 1 and 2: the duality theorem for bounds on a norm of the distribution,
and for penalties.

The theorem equates the edge side, a minimum over distributions, with the margin side, a maximum
over weights w and thresholds γ. Some of the norms ‖Qd‖_p are not orthant-monotonic. For such a
norm, the margin side is not a concave program, because the dual norm can decrease if an entry of
the losses [γ − Aw]_+ increases. It is concave if the set of examples with a positive loss is fixed.
So the check solves a convex program for each such set. The best solution is the global maximum.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.lazy import cp
from relaxboost.claims.language import *
from relaxboost.claims.sides import avg_min, optimal_value
from relaxboost.claims.ss09 import SOURCE

MONOTONE = ("max", "sum", "Euclidean")
"""The orthant-monotonic norms, which never increase if an entry of a vector is set to zero."""
NORMS = (*MONOTONE, "paired", "ellipsoid")
"""The names of all norms. The last two couple the entries 1 and 2, 3 and 4, and so on. "paired" is
the maximum over these pairs of 2|d_i − d_{i+1}| and |d_i + d_{i+1}|/2. "ellipsoid" is √(d·Md).
The blocks of M are [[1, c], [c, 1]]."""

_ORDER = {"max": math.inf, "sum": 1.0, "Euclidean": 2.0, "paired": math.inf, "ellipsoid": 2.0}


class Norm:
    """The norm ‖Qd‖_p with a name in `NORMS`, and its dual ‖Q^{−T}θ‖_q with 1/p + 1/q = 1."""

    def __init__(self, name: str, m: int, c: float = 0.0) -> None:
        self.order = _ORDER[name]
        self.dual_order = {1.0: math.inf, math.inf: 1.0}.get(self.order, self.order)
        self.Q = np.eye(m)
        pair = {
            "paired": np.array([[2.0, -2.0], [0.5, 0.5]]),
            "ellipsoid": np.array([[1.0, c], [0.0, math.sqrt(1.0 - c * c)]]),
        }.get(name, np.eye(2))
        for i in range(0, m - 1, 2):
            self.Q[i : i + 2, i : i + 2] = pair
        self.dual_Q = np.linalg.inv(self.Q).T

    def size(self, d: Array) -> float:
        """Return the norm ‖Qd‖_p of a vector d."""
        return float(np.linalg.norm(self.Q @ d, self.order))

    def dual(self, theta: Array) -> float:
        """Return the dual norm ‖Q^{−T}θ‖_q of a vector θ."""
        return float(np.linalg.norm(self.dual_Q @ theta, self.dual_order))


def norm(x: Instance) -> Norm:
    """Return the norm defined by the fields of an instance."""
    return Norm(x.norm, len(x.A), x.c)


def hinge_side(x: Instance, penalty: bool) -> float:
    """Return the margin side of Theorem 7: the maximum of γ − f*([γ − Aw]_+) over ‖w‖_1 ≤ 1 and γ.

    If `penalty` is true, f is the penalty ν‖d‖. Otherwise it is the indicator of ‖d‖ ≤ ν.
    """
    if penalty and x.nu < 0.0:
        return -math.inf  # No vector has a negative norm.
    sets = itertools.product((True, False), repeat=len(x.A))
    return max(_margin_side(x, penalty, np.array(losing)) for losing in sets)


def _margin_side(x: Instance, penalty: bool, losing: NDArray[np.bool_]) -> float:
    # Only the examples in `losing` may have a positive loss, so that the program is convex.
    w = cp.Variable(x.A.shape[1])
    gamma = cp.Variable()
    short = gamma - x.A @ w
    # Rows are selected, since cvxpy 1.9 bounds a multiple of x.A @ w by 0 in a program for HiGHS.
    loss = cp.norm(norm(x).dual_Q[:, losing] @ short[losing], norm(x).dual_order)
    where = [cp.norm1(w) <= 1, short[losing] >= 0, short[~losing] <= 0]
    goal = gamma if penalty else gamma - x.nu * loss
    problem = cp.Problem(cp.Maximize(goal), [*where, loss <= x.nu] if penalty else where)
    return optimal_value(problem, norm(x).order != 2.0, -math.inf)


def edge_side(x: Instance, penalty: bool) -> float:
    """Return the edge side of Theorem 7: the minimum of ‖dᵀA‖_∞ + f(d) over distributions d.

    If `penalty` is true, f is the penalty ν‖d‖. Otherwise it is the indicator of ‖d‖ ≤ ν.
    """
    if penalty and x.nu < 0.0:  # The least value at a vertex is an upper bound.
        vertices = np.eye(len(x.A))
        return min(float(np.abs(x.A.T @ d).max()) + x.nu * norm(x).size(d) for d in vertices)
    d = cp.Variable(len(x.A), nonneg=True)
    size = cp.norm(norm(x).Q @ d, norm(x).order)
    edge = cp.norm_inf(x.A.T @ d)
    where = [cp.sum(d) == 1] if penalty else [cp.sum(d) == 1, size <= x.nu]
    problem = cp.Problem(cp.Minimize(edge + x.nu * size if penalty else edge), where)
    return optimal_value(problem, norm(x).order != 2.0, math.inf)


GAMES = Space(
    sizes={"m": (1, 3), "n": (1, 2)},
    A=Matrix(),
    norm=Choice(*NORMS),
    c=Real(-0.9, 0.9),
    nu=Real(0.2, 1.5),
)


@SOURCE.claim("E1", space=GAMES).checked(trials=40, resolution=1e-6)
def norm_ball(x: Instance) -> Slack:
    center = np.full(len(x.A), 1.0 / len(x.A))
    assume(1.02 * norm(x).size(center) <= x.nu)  # The ball must meet the simplex.
    return equal(solved(hinge_side(x, False)), solved(edge_side(x, False)), x.norm)


@norm_ball.corrected()
def monotone_norm_ball(x: Instance) -> Slack:
    assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))
    return norm_ball(x)[0]


@SOURCE.claim("E2", space=GAMES.but(nu=Real(-0.2, 1.5))).checked(trials=40, resolution=1e-6)
def norm_penalty(x: Instance) -> Slack:
    return equal(solved(hinge_side(x, True)), solved(edge_side(x, True)), x.norm)


@norm_penalty.corrected()
def monotone_norm_penalty(x: Instance) -> Slack:
    assume(x.nu >= 0.0 and x.norm in MONOTONE)
    return norm_penalty(x)[0]


ENTRY = Space(
    sizes={"m": (1, 4)},
    theta=Vector("m"),
    i=Whole(1, "m"),
    alpha=Real(0.0, 1.0),
    norm=Choice(*NORMS),
    c=Real(-0.9, 0.9),
).including({"theta": [1, -1], "i": 2, "alpha": 1, "norm": "paired", "c": 0})


def _without_entry(x: Instance) -> Slack:
    assume(x.norm in MONOTONE or (x.norm == "ellipsoid" and x.c == 0.0))
    dual = Norm(x.norm, len(x.theta), x.c).dual
    less = np.array(x.theta)
    less[x.i - 1] *= 1.0 - x.alpha
    return at_most(dual(less), dual(x.theta), x.norm)


monotone_norm_ball.step(space=ENTRY)(_without_entry)
monotone_norm_penalty.step(space=ENTRY)(_without_entry)


@SOURCE.claim(
    "E1-soft-margin", space=Space(u=Vector("m"), k=Whole(1, "m"), gamma=Real(-2.0, 2.0))
).checked(trials=200)
def soft_margin(x: Instance) -> Slacks:
    u = exactly(x.u)
    k = x.k
    yield equal(max(_soft(u, k, v) for v in u), avg_min(u, k), "greatest soft margin and average")
    yield at_most(_soft(u, k, Fraction(x.gamma)), avg_min(u, k), "the γ drawn")


def _soft(u: Exact, k: int, gamma: Fraction) -> Fraction:
    return gamma - sum((max(gamma - v, Fraction(0)) for v in u), Fraction(0)) / k


@soft_margin.step()
def _(x: Instance) -> Slack:
    u = exactly(x.u)
    gamma = Fraction(x.gamma)
    losses = sum(max(gamma - v, Fraction(0)) for v in u)
    return at_least(losses, sum(gamma - v for v in sorted(u)[: x.k]))
