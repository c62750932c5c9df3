"""GB11, Sec. 4.1, the example at its end: R[f] = 2|f(x_1)| + |f(x_2)|."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from relaxboost.claims import Instance, Real, Slack, Space, Whole, at_least, at_most, equal
from relaxboost.claims.gb11.problems import Descent, Kinks
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.functional.algorithms import Algorithm, Naive, Repeated, Residual

_A = np.array([[4.0, 0.0], [0.0, 2.0]])
"""R[f] = |<a_1, f>| + |<a_2, f>| with <., .> a mean, so that gradients in L²(P̂) are ±(4, 2)."""
H = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])

STARTS = Space(a=Real(-3, 3), b=Real(-6, 6), T=Whole(1, 60))


def run(a: float, b: float, algorithm: Algorithm, last: int, at_zero: float) -> Descent:
    """Run with η_t = 1/(2 sqrt(t)), which is 1/sqrt(t) for the inner product Σ f(x_n) g(x_n)."""
    risk = Kinks(_A, np.zeros(2), at_zero=at_zero)
    return Descent(risk, H, np.array([a, b]), algorithm, lambda t: 0.5 / math.sqrt(t), last)


@SOURCE.claim(
    "example-select",
    "Sec. 4.1, example",
    "Algorithm 1 will always select h with h(x_2) = 0.",
    formula="h_t(x_2) = 0 for every t",
    given="R[f] = 2|f(x_1)| + |f(x_2)|, H = {±e_1, ±e_2}; the subgradient 0 of |·| at 0",
    space=STARTS,
    counterexamples=[{"a": 2, "b": 5, "T": 2}],
)
def select(x: Instance, at_zero: float = 0.0) -> Iterator[Slack]:
    """Not where f(x_1) = 0 and the subgradient chosen there is 0: then x_2 is corrected.

    From (2, 5) the first step leads to (0, 5). From (1, 5) the run is at R = 5 for thousands of
    rounds (in doubles until f(x_1) is 0 by rounding, at t = 3610).
    """
    for _, after, direction in run(x.a, x.b, Naive(), x.T, at_zero).moves():
        moved = abs(float(direction.values[1]))
        yield equal(moved, 0, "step at x_2, subtracted over η", after.round)


@select.corrected(
    "It will if the subgradient taken at f(x_1) = 0 is not 0.", "|g| > 1/2 for the g of |·| at 0"
)
def select_corrected(x: Instance) -> Iterator[Slack]:
    """|<∇, e_1>| is twice |<∇, e_2>|. Taken at 0 is that of +0."""
    yield from select(x, 1.0)


@SOURCE.claim(
    "example-stuck",
    "Sec. 4.1, example",
    "The final function is perfect on x_1 and unchanged on x_2.",
    formula="|f_T(x_1)| ≤ max(|f_0(x_1)| − 2 Σ η_t, 2η_{s}), s ≤ T the last change of sign; "
    "f_T(x_2) = f_0(x_2), R[f_T] ≥ |f_0(x_2)|",
    given="the subgradient 1 of |·| at 0, η_t = 1/sqrt(t)",
    space=STARTS,
)
def stuck(x: Instance) -> Iterator[Slack]:
    """|f(x_1)| falls by 2η_t until it changes sign, and is then at most 2η_t: at R = 5 from (1, 5).

    It ends within 2η_s of the last change of sign s, and those go on for ever as Σ η = ∞.
    """
    states = run(x.a, x.b, Naive(), x.T, 1.0).states
    bound = abs(x.a)
    for state in states[1:]:
        eta = 1.0 / math.sqrt(state.round)
        bound = max(bound - 2.0 * eta, 2.0 * eta)
        yield at_most(abs(float(state.F[0])), bound, "|f_t(x_1)|", state.round)
        yield equal(float(state.F[1]), x.b, "f_t(x_2), f_0(x_2)", state.round)
        yield at_least(state.value, abs(x.b), "R[f_t]", state.round)


@SOURCE.claim(
    "example-others",
    "Sec. 4.2",
    "Algorithms 2 and 3 overcome this obstacle.",
    formula="R[f_T] ≤ .0159 (Algorithm 2), R[f_T] ≤ .1740 (Algorithm 3), T = 4000, from (1, 5)",
    given="η_t = 1/sqrt(t), the subgradient 0 of |·| at 0",
    space=Space(b=Real(5, 5)),
).checked(trials=1)
def others(x: Instance) -> Iterator[Slack]:
    """Algorithm 1 is at R >= 5 with the subgradient 1 at 0. The last iterate of .0158 and .1739."""
    pairs: list[tuple[Algorithm, float]] = [(Repeated(), 0.0159), (Residual(), 0.1740)]
    for algorithm, most in pairs:
        last = run(1.0, x.b, algorithm, 4000, 0.0).states[-1].value
        yield at_most(last, most, f"R[f_4000] of {type(algorithm).__name__}")
    naive = run(1.0, x.b, Naive(), 400, 1.0).states[-1].value
    yield at_least(naive, x.b, "R[f_400] of Algorithm 1")
