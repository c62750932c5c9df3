"""Small problems with a known minimiser, for checks of the bounds in every round."""

import math
from collections.abc import Callable, Iterator
from itertools import combinations, islice, pairwise
from typing import TypeAlias

import numpy as np

from relaxboost.claims.fields import Rng, Sizes
from relaxboost.claims.language import *
from relaxboost.claims.sides import ASSUMED_ERROR
from relaxboost.functional.algorithms import Algorithm, Direction
from relaxboost.functional.learners import FiniteSet
from relaxboost.functional.measure import Empirical
from relaxboost.functional.rounds import BoostState, rounds


class Hypotheses(Matrix):
    """A field for a finite hypothesis class, as a matrix with the outputs of a hypothesis in each
    column.
    """

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        m, n = self._shape(sizes)
        kind = int(rng.integers(3))
        if kind == 0:
            return np.eye(m)[:, np.arange(n) % m]
        if kind == 1 and m == 2:  # These are half of the corners of a regular polygon.
            angles = np.pi * (np.arange(n) / n) + rng.choice([0.0, rng.uniform(0.0, np.pi)])
            return self._clipped(np.vstack([np.cos(angles), np.sin(angles)]))
        return self._clipped(rng.choice([-1.0, 1.0], (m, n)))


class Kinks:
    """The functional R[f] = Σ_k |<a_k, f − y>| + (λ/2)‖f − y‖², with the minimum R[y] = 0.

    The a_k are the rows of A, λ is `convexity`, and `at_zero` is the subgradient of |·| at 0.
    """

    def __init__(self, A: Array, y: Array, convexity: float = 0.0, at_zero: float = 0.0) -> None:
        self.A = A
        self.y = y
        self.convexity = convexity
        self.at_zero = at_zero
        self.measure = Empirical(y.size)

    def evaluate(self, F: Array) -> tuple[float, Array]:
        """Return R[f] and a subgradient of R at f. The subgradient is an element of L²(P̂)."""
        z = F - self.y
        values, slopes = self._pieces(self.A @ z / z.size)
        value = float(values.sum()) + self.convexity * self.measure.inner(z, z) / 2.0
        return value, slopes @ self.A + self.convexity * z

    def _pieces(self, along: Array) -> tuple[Array, Array]:
        # The summands of R, and their derivatives, are functions of <a_k, f − y>.
        return np.abs(along), np.where(along == 0.0, self.at_zero, np.sign(along))


class Bowl(Kinks):
    """The functional R[f] = Σ_k log cosh <a_k, f − y> + (λ/2)‖f − y‖², minimal at f* = y."""

    def __init__(self, A: Array, y: Array, convexity: float) -> None:
        super().__init__(A, y, convexity)
        # The second derivative of log cosh is in [0, 1]. So Λ = λ + ‖Σ_k a_k ⊗ a_k‖.
        self.smoothness = convexity + float(np.linalg.norm(A, 2)) ** 2 / y.size

    def _pieces(self, along: Array) -> tuple[Array, Array]:
        return np.logaddexp(along, -along) - math.log(2.0), np.tanh(along)


Step: TypeAlias = Callable[..., float]
"""The type of a step size: a function of the round t, the function f_{t−1} and the direction h_t.
"""


class Descent:
    """A run of a boosting algorithm on a functional R with the minimiser f*.

    `states` contains the functions f_0, f_1, ..., and `gaps` the gaps R[f_t] − R[f*].
    """

    def __init__(
        self, risk: Kinks, H: Array, start: Array, algorithm: Algorithm, step: Step, last: int
    ) -> None:
        self.risk = risk
        pool = FiniteSet().prepare(H, risk.measure, None, "least-squares", np.random.default_rng(0))
        trace = rounds(risk, pool, algorithm, step, start)
        self.states: list[BoostState] = list(islice(trace, last + 1))
        self.gaps = np.array([state.value for state in self.states])

    def moves(self) -> Iterator[tuple[BoostState, BoostState, Direction]]:
        """Yield the function before each round, the function after it, and the added direction."""
        for before, after in pairwise(self.states):
            assert after.direction is not None
            yield before, after, after.direction

    @property
    def last(self) -> int:
        """The number of rounds. It is smaller than requested if a gradient is 0."""
        return len(self.states) - 1

    def norm(self, f: Array) -> float:
        """Return the L² norm of a function under the empirical distribution P̂ of the examples."""
        return self.risk.measure.norm(f)

    def gradients(self, upto: int) -> float:
        """Return the largest gradient norm G at f_0, ..., f_upto."""
        return max(self.norm(state.gradient) for state in self.states[: upto + 1])

    def gamma(self, upto: int) -> float:
        """Return the smallest edge |<v, h>|/(‖v‖‖h‖) of a projection in rounds 1, ..., upto."""
        # Vectors of rounding errors are included. Their edges are at least the edge of H too.
        made = [direction.edges for _, _, direction in islice(self.moves(), upto)]
        return min([1.0, *(abs(e) for edges in made for e in edges)])

    def radius(self, upto: int) -> float:
        """Return the largest norm F of f_0, ..., f_upto and the minimiser f*."""
        points = [state.F for state in self.states[: upto + 1]]
        return max(self.norm(f) for f in [*points, self.risk.y])

    def mean(self, upto: int, proof: bool) -> float:
        """Return the mean gap R[f_t] − R[f*] over f_1, ..., f_upto, or over f_0, ..., f_{upto−1} if
        `proof` is true.
        """
        return float(self.gaps[:upto].mean() if proof else self.gaps[1 : upto + 1].mean())


def spans(x: Instance) -> float:
    """Return the edge of the class H. Skip instances with an edge <= 0.05."""
    gamma = edge(x.H)
    assume(gamma > 0.05)
    return gamma


RUNS = Space(
    sizes={"m": (1, 3), "n": (1, 5), "k": (1, 3)},
    H=Hypotheses(),
    A=Matrix(-2.0, 2.0, axes=("k", "m")),
    y=Vector("m", -2.0, 2.0),
    f0=Vector("m", -2.0, 2.0),
    T=Whole(1, 25),
)
"""The runs of a boosting algorithm on the functional `Kinks`, with the hypothesis class H, the
matrix A and the minimiser y of the functional, the start f_0, and the number T of rounds."""
STRONG = RUNS.but(lam=Real(0.05, 4.0, log=True))


def edge(H: Array, scaled: bool = True) -> float:
    """Return the edge of a class: the largest γ >= 0 with max_h <v, h> >= γ‖v‖‖h‖ for every v.

    The hypotheses h are the columns of H, and also −h if `scaled` is true.
    """
    from scipy.optimize import linprog

    norms = np.sqrt((H * H).sum(axis=0))
    U = (H / np.where(norms > 0.0, norms, 1.0)).T[norms > 0.0]
    U = np.vstack([U, -U]) if scaled else U
    d = H.shape[0]
    if not len(U) or np.linalg.matrix_rank(U, tol=ASSUMED_ERROR) < d:
        return 0.0
    # The edge is the inverse of the largest norm in the polar set {v: <v, h> <= ‖h‖ for every h}.
    # This set is unbounded if some v ≠ 0 has <v, h> <= 0 for every h. The linear program searches
    # for such a v. Otherwise the norm is largest at a vertex, where d constraints are tight.
    least = linprog(U.sum(axis=0), A_ub=U, b_ub=np.zeros(len(U)), bounds=(-1.0, 1.0)).fun
    if least < -ASSUMED_ERROR:
        return 0.0
    longest = 0.0
    for chosen in combinations(range(len(U)), d):
        part = U[list(chosen)]
        if abs(np.linalg.det(part)) < ASSUMED_ERROR:
            continue
        v = np.linalg.solve(part, np.ones(d))
        if (U @ v <= 1.0 + ASSUMED_ERROR).all():
            longest = max(longest, math.sqrt(float(v @ v)))
    return min(1.0, 1.0 / longest)
