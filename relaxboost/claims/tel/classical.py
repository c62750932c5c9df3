"""TEL, line 18: how the rate, the steps and the iterates compare with the classical ones."""

import math
from collections.abc import Iterator

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.tel.source import SOURCE
from relaxboost.claims.votes import RUNS, Vote, adaboost, reweighting, risk, weak_learnability

_SYMMETRIC = [[-1, 1, 1], [1, -1, 1], [1, 1, -1]]
_IDENTICAL = (
    "The rate will be identical to the classical rate Freund and Schapire (1997), and the step "
    "size is identical, meaning the iterate sequences are the same."
)

TURNING = RUNS.but(k=Whole(1, 6))
"""Games, and the turning one of 2k + 1 rows besides."""

EDGES = Space(gamma=Real(0.0, 1.0))


def turning(k: int) -> Array:
    """Return the matrix of 2k + 1 columns, each of k + 1 ones and k times −1, turned by one.

    All edges of the uniform weights are 1/(2k + 1), which is γ. Its rounds are nearly as bad as
    the theorem allows: 1 − γ²/2 − γ⁴/8 in the first, where exp(−γ²/2) is 1 − γ²/2 + γ⁴/8.
    """
    m = 2 * k + 1
    at = np.arange(m)
    return np.where((at[:, None] - at) % m <= k, 1.0, -1.0)


@SOURCE.claim("rate", space=TURNING.but(step=Choice("lecture", "classical")))
def rate(x: Instance) -> Slacks:
    given = (x.A, x.t, float(weak_learnability(x).lower))
    for A, t, gamma in (given, (turning(x.k), 1, 1.0 / (2 * x.k + 1))):
        total = 0.0
        for vote in adaboost(A, t, x.step):
            total += vote.edge**2
            found, bound = risk(A, vote.w), math.exp(-total / 2.0)
            yield at_most(found, bound, "L(−A w_t), exp(−Σ γ_i²/2)", vote.number)
            last = math.exp(-vote.number * gamma**2 / 2.0)
            yield at_most(bound, last, "exp(−Σ γ_i²/2), exp(−tγ²/2)", vote.number)


@rate.step(space=EDGES)
def _(x: Instance) -> Slacks:
    bound = math.exp(-(x.gamma**2) / 2.0)
    yield at_most(math.cosh(x.gamma) - x.gamma * math.sinh(x.gamma), bound, "cosh γ − γ sinh γ")
    yield at_most(math.sqrt(1.0 - x.gamma**2), bound, "sqrt(1 − γ²), exp(−γ²/2)")


@SOURCE.claim("rate-product", space=RUNS, counterexamples=[{"A": _SYMMETRIC, "t": 1}])
def rate_product(x: Instance, step: str = "lecture") -> Slacks:
    bound = 1.0
    for vote in adaboost(x.A, x.t, step):
        bound *= math.sqrt(max(0.0, 1.0 - vote.edge**2))
        if bound < 1e-6:  # the edge may be 1, and then the package's step 18.7 for infinity
            return
        yield at_most(risk(x.A, vote.w), bound, "L(−A w_t), Π sqrt(1 − γ_i²)", vote.number)


@rate_product.corrected()
def rate_exponential(x: Instance) -> Slacks:
    total = 0.0
    for vote in adaboost(x.A, x.t, "lecture"):
        total += vote.edge**2
        yield at_most(risk(x.A, vote.w), math.exp(-total / 2.0), "L, exp(−Σ γ_i²/2)", vote.number)


@rate_product.corrected()
def rate_product_classical(x: Instance) -> Slacks:
    yield from rate_product(x, "classical")


@rate_product_classical.step(space=Space(gamma=Real(0.0, 0.99), other=Real(-3, 3)))
def _(x: Instance) -> Slacks:
    least = math.sqrt(1.0 - x.gamma**2)
    for eta in (math.atanh(x.gamma), x.other, x.gamma):
        found = math.cosh(eta) - x.gamma * math.sinh(eta)
        yield at_least(found, least, "sqrt(1 − γ²), cosh η − γ sinh η")
    eta = math.atanh(x.gamma)
    yield equal(math.cosh(eta) - x.gamma * math.sinh(eta), least, "at artanh γ")


@SOURCE.claim(
    "step-classical", printed=_IDENTICAL, space=RUNS, counterexamples=[{"A": _SYMMETRIC, "t": 1}]
)
def step_classical(x: Instance) -> Slacks:
    for vote, edge in _classical(x):
        yield equal(edge, vote.step, "‖Aᵀ∇L‖_∞/‖∇L‖_1, classical step", vote.number)


@step_classical.corrected()
def step_classical_corrected(x: Instance) -> Slacks:
    for vote, edge in _classical(x):
        yield equal(edge, math.tanh(vote.step), "the edge, tanh η_t", vote.number)
        yield at_most(edge, vote.step, "the edge, η_t", vote.number)


@step_classical_corrected.step(space=Space(gamma=Real(0.0, 0.99)))
def _(x: Instance) -> Slacks:
    eta = math.log((1.0 + x.gamma) / (1.0 - x.gamma)) / 2.0
    yield equal(math.tanh(eta), x.gamma, "tanh η, γ")
    yield at_most(math.tanh(eta), eta, "tanh η, η")


def _classical(x: Instance) -> Iterator[tuple[Vote, float]]:
    """Yield the rounds of the classical run with the edge recomputed, until an edge is 1."""
    for vote in adaboost(x.A, x.t, "classical"):
        phi = reweighting(x.A, vote.before)
        edge = float(np.abs(x.A.T @ phi).max() / phi.sum())
        if edge > 0.999:
            return
        yield vote, edge


@SOURCE.claim(
    "iterates", printed=_IDENTICAL, space=RUNS, counterexamples=[{"A": _SYMMETRIC, "t": 1}]
)
def iterates(x: Instance) -> Slacks:
    both = (adaboost(x.A, x.t, step) for step in ("lecture", "classical"))
    for one, other in zip(*both, strict=False):
        if max(one.edge, other.edge) > 0.999:
            return
        yield equal(risk(x.A, one.w), risk(x.A, other.w), "L(−A w_t)", one.number)


@iterates.corrected()
def iterates_corrected(x: Instance) -> Slacks:
    for step in ("lecture", "classical"):
        before = 1.0
        for vote in adaboost(x.A, x.t, step):
            found, gamma = risk(x.A, vote.w), vote.edge
            if before > 1e-9:
                bound = math.cosh(gamma) - gamma * math.sinh(gamma)
                yield at_most(found / before, bound, f"L_t/L_t−1, {step}", vote.number)
                yield at_most(bound, 1.0 - gamma**2 / 2.0, "the bound, 1 − γ_t²/2", vote.number)
            before = found


@iterates_corrected.step(space=EDGES)
def _(x: Instance) -> Slacks:
    # 1 − Z(γ) = γ sinh γ − 2 sinh²(γ/2), which keeps its digits
    drop = x.gamma * math.sinh(x.gamma) - 2.0 * math.sinh(x.gamma / 2.0) ** 2
    size = max(x.gamma**2, 1e-12)
    yield at_least(drop / size, x.gamma**2 / 2.0 / size, "1/2, (1 − Z)/γ²")
    yield at_most(drop / size, (x.gamma**2 / 2.0 + x.gamma**4 / 6.0) / size, "(1 − Z)/γ²")


@SOURCE.claim("columns", printed=_IDENTICAL, space=RUNS)
def columns(x: Instance) -> Slacks:
    for one, other in zip(_clear(x, "lecture"), _clear(x, "classical"), strict=False):
        left, right = (vote.sign * (vote.column + 1) for vote in (one, other))
        yield equal(left, right, "signed column, from 1", one.number)


@columns.corrected()
def columns_corrected(x: Instance) -> Slacks:
    yield from columns(x)[:1]


@columns_corrected.step()
def _(x: Instance) -> Slacks:
    for step in ("lecture", "classical"):
        for vote in adaboost(x.A, 1, step):
            yield equal(float(np.abs(vote.d - 1.0 / len(x.A)).max()), 0.0, "d_1 − 1/n", 1)


def _clear(x: Instance, step: str) -> Iterator[Vote]:
    """Yield the rounds of a run until the best column is not clearly the best any more."""
    for vote in adaboost(x.A, x.t, step):
        edges = np.sort(np.abs(x.A.T @ vote.d))
        if edges[-1] - (edges[-2] if edges.size > 1 else 0.0) < 1e-6:
            return
        yield vote
