"""Small problems with a known minimiser, on which the bounds can be checked in every round."""

import math
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from typing import TypeAlias

import numpy as np

from relaxboost.claims.fields import Rng, Sizes
from relaxboost.claims.gb11.edges import edge
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Algorithm, Direction
from relaxboost.functional.learners import FiniteSet
from relaxboost.functional.measure import Empirical
from relaxboost.functional.rounds import BoostState, rounds


class Hypotheses(Matrix):
    """A finite class, the outputs of each hypothesis a column."""

    def structured(self, rng: Rng, sizes: Sizes) -> Array:
        """Return the class of unit vectors, a regular polygon in the plane, or a sign matrix."""
        m, n = self._shape(sizes)
        kind = int(rng.integers(3))
        if kind == 0:
            return np.eye(m)[:, np.arange(n) % m]
        if kind == 1 and m == 2:
            angles = np.pi * (np.arange(n) / n) + rng.choice([0.0, rng.uniform(0.0, np.pi)])
            return self._clipped(np.vstack([np.cos(angles), np.sin(angles)]))
        return self._clipped(rng.choice([-1.0, 1.0], (m, n)))


class Kinks:
    """R[f] = Σ_k |<a_k, f − y>| + (λ/2)‖f − y‖², least at f* = y, where it is 0.

    The a_k are the rows of A, λ >= 0 is `convexity`, and `at_zero` in [−1, 1] is the subgradient of
    |·| that is taken at 0.
    """

    def __init__(self, A: Array, y: Array, convexity: float = 0.0, at_zero: float = 0.0) -> None:
        self.A, self.y, self.convexity, self.at_zero = A, y, convexity, at_zero
        self.measure = Empirical(y.size)

    def evaluate(self, F: Array) -> tuple[float, Array]:
        """Return R[f] and a subgradient, both in L²(P̂)."""
        z = F - self.y
        values, slopes = self._pieces(self.A @ z / z.size)
        value = float(values.sum()) + self.convexity * self.measure.inner(z, z) / 2.0
        return value, slopes @ self.A + self.convexity * z

    def _pieces(self, along: Array) -> tuple[Array, Array]:
        """Return the terms of Σ_k for <a_k, f − y>, and their derivatives."""
        return np.abs(along), np.where(along == 0.0, self.at_zero, np.sign(along))


class Bowl(Kinks):
    """R[f] = Σ_k log cosh <a_k, f − y> + (λ/2)‖f − y‖², least at f* = y.

    It is λ-strongly convex, and Λ-smooth for Λ = λ + ‖Σ_k a_k ⊗ a_k‖, as log cosh'' is in [0, 1].
    """

    def __init__(self, A: Array, y: Array, convexity: float) -> None:
        super().__init__(A, y, convexity)
        self.smoothness = convexity + float(np.linalg.norm(A, 2)) ** 2 / y.size

    def _pieces(self, along: Array) -> tuple[Array, Array]:
        return np.logaddexp(along, -along) - math.log(2.0), np.tanh(along)


Step: TypeAlias = Callable[..., float]
"""Returns η_t for t, f_{t−1} and h_t."""


class Descent:
    """A run with its `states` f_0, f_1, ... and `gaps` R[f_t] − R[f*]; `step` returns η_t."""

    def __init__(
        self, risk: Kinks, H: Array, start: Array, algorithm: Algorithm, step: Step, last: int
    ) -> None:
        self.risk = risk
        pool = FiniteSet().prepare(H, risk.measure, None, "least-squares", np.random.default_rng(0))
        trace = rounds(risk, pool, algorithm, step, start)
        self.states: list[BoostState] = list(islice(trace, last + 1))
        self.gaps = np.array([state.value for state in self.states])

    def moves(self) -> Iterator[tuple[BoostState, BoostState, Direction]]:
        """Yield the states before and after each round, and the direction taken."""
        for before, after in pairwise(self.states):
            assert after.direction is not None
            yield before, after, after.direction

    @property
    def last(self) -> int:
        """The number of rounds, less than asked for where a gradient vanished."""
        return len(self.states) - 1

    def norm(self, f: Array) -> float:
        """Return ‖f‖."""
        return self.risk.measure.norm(f)

    def gradients(self, upto: int) -> float:
        """Return G, the largest gradient norm at f_0..f_upto."""
        return max(self.norm(state.gradient) for state in self.states[: upto + 1])

    def gamma(self, upto: int) -> float:
        """Return the least edge at the vectors projected in rounds 1..upto.

        Vectors of rounding errors are included: their edges are no less than that of H.
        """
        made = [direction.edges for _, _, direction in islice(self.moves(), upto)]
        return min([1.0, *(abs(e) for edges in made for e in edges)])

    def radius(self, upto: int, centre: Array | None = None) -> float:
        """Return F, the largest norm of f_0..f_upto and f*, or distance to `centre`."""
        at = np.zeros_like(self.risk.y) if centre is None else centre
        points = [state.F for state in self.states[: upto + 1]]
        return max(self.norm(f - at) for f in [*points, self.risk.y])

    def mean(self, upto: int, proof: bool) -> float:
        """Return the average gap of f_0..f_{upto−1} ("proof index") or f_1..f_upto."""
        return float(self.gaps[:upto].mean() if proof else self.gaps[1 : upto + 1].mean())


def spans(x: Instance) -> float:
    """Return the edge of x.H with all multiples, and leave x out unless it is above 0.05."""
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
"""The data of a run: H, pieces A, the minimiser y, the start, and the rounds."""
STRONG = RUNS.but(lam=Real(0.05, 4.0, log=True))
