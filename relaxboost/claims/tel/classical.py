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
    """Freund & Schapire, Thm 6 and Eq. 21, with their γ half the edge: exp(−2 Σ (γ_i/2)²).

    Proof. With the classical step L_t/L_{t−1} ≤ sqrt(1 − γ_t²), see TEL-rate-product, with the
    lecture's cosh γ_t − γ_t sinh γ_t, see TEL-T, 1 and 2. Both are at most exp(−γ_t²/2) (1).
    """
    given = (x.A, x.t, float(weak_learnability(x).lower))
    for A, t, gamma in (given, (turning(x.k), 1, 1.0 / (2 * x.k + 1))):
        total = 0.0
        for vote in adaboost(A, t, x.step):
            total += vote.edge**2
            found, bound = risk(A, vote.w), math.exp(-total / 2.0)
            yield at_most(found, bound, "L(−A w_t), exp(−Σ γ_i²/2)", vote.number)
            last = math.exp(-vote.number * gamma**2 / 2.0)
            yield at_most(bound, last, "exp(−Σ γ_i²/2), exp(−tγ²/2)", vote.number)


@rate.step(
    "Both factors of a round are at most an exponential.",
    "cosh γ − γ sinh γ ≤ exp(−γ²/2), sqrt(1 − γ²) ≤ exp(−γ²/2)",
    space=EDGES,
)
def _(x: Instance) -> Slacks:
    bound = math.exp(-(x.gamma**2) / 2.0)
    yield at_most(math.cosh(x.gamma) - x.gamma * math.sinh(x.gamma), bound, "cosh γ − γ sinh γ")
    yield at_most(math.sqrt(1.0 - x.gamma**2), bound, "sqrt(1 − γ²), exp(−γ²/2)")


@SOURCE.claim("rate-product", space=RUNS, counterexamples=[{"A": _SYMMETRIC, "t": 1}])
def rate_product(x: Instance, step: str = "lecture") -> Slacks:
    """With entries ±1 L_i/L_{i−1} = cosh η − γ_i sinh η, which is least at η = artanh γ_i.

    At η = γ it is more than that, sqrt(1 − γ²), though less than exp(−γ²/2).
    """
    bound = 1.0
    for vote in adaboost(x.A, x.t, step):
        bound *= math.sqrt(max(0.0, 1.0 - vote.edge**2))
        if bound < 1e-6:  # the edge may be 1, and then the package's step 18.7 for infinity
            return
        yield at_most(risk(x.A, vote.w), bound, "L(−A w_t), Π sqrt(1 − γ_i²)", vote.number)


@rate_product.corrected(
    "reading: the exponential that they bound it by, exp(−Σ γ_i²/2).",
    "L(−A w_t) ≤ exp(−Σ γ_i²/2), η = γ_i",
)
def rate_exponential(x: Instance) -> Slacks:
    """TEL-rate, where it is proved."""
    total = 0.0
    for vote in adaboost(x.A, x.t, "lecture"):
        total += vote.edge**2
        yield at_most(risk(x.A, vote.w), math.exp(-total / 2.0), "L, exp(−Σ γ_i²/2)", vote.number)


@rate_product.corrected(
    "reading: the product, with the step size of theirs.",
    "L(−A w_t) ≤ Π_i sqrt(1 − γ_i²), η = artanh γ_i",
)
def rate_product_classical(x: Instance) -> Slacks:
    """An equality for entries ±1.

    Proof. L_t/L_{t−1} ≤ cosh η − γ_t sinh η for every η (TEL-T, 1), which is sqrt(1 − γ_t²) at
    η = artanh γ_t (1).
    """
    yield from rate_product(x, "classical")


@rate_product_classical.step(
    "What the classical step gives.",
    "cosh η − γ sinh η = sqrt(1 − γ²) at η = artanh γ, and is no less elsewhere",
    space=Space(gamma=Real(0.0, 0.99), other=Real(-3, 3)),
)
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
    """The classical step is artanh γ_t = γ_t + γ_t³/3 + ...: longer in every round."""
    for vote, edge in _classical(x):
        yield equal(edge, vote.step, "‖Aᵀ∇L‖_∞/‖∇L‖_1, classical step", vote.number)


@step_classical.corrected(
    "The step size is the hyperbolic tangent of the classical one, and shorter.",
    "γ_t = tanh η_t ≤ η_t",
)
def step_classical_corrected(x: Instance) -> Slacks:
    """The two agree to second order, where edges are small.

    Proof. tanh is the inverse of artanh, and tanh η ≤ η for η ≥ 0 (1).
    """
    for vote, edge in _classical(x):
        yield equal(edge, math.tanh(vote.step), "the edge, tanh η_t", vote.number)
        yield at_most(edge, vote.step, "the edge, η_t", vote.number)


@step_classical_corrected.step(
    "artanh γ = ½ log (1 + γ)/(1 − γ), and tanh η ≤ η.",
    "tanh(½ log (1 + γ)/(1 − γ)) = γ ≤ artanh γ",
    space=Space(gamma=Real(0.0, 0.99)),
)
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
    """Their steps differ, so that their losses do from round 1; after that even their columns.

    Only the first column is always the same.
    """
    both = (adaboost(x.A, x.t, step) for step in ("lecture", "classical"))
    for one, other in zip(*both, strict=False):
        if max(one.edge, other.edge) > 0.999:
            return
        yield equal(risk(x.A, one.w), risk(x.A, other.w), "L(−A w_t)", one.number)


@iterates.corrected(
    "The theorem holds for both sequences.",
    "L(−A w_t)/L(−A w_{t−1}) ≤ cosh γ_t − γ_t sinh γ_t ≤ 1 − γ_t²/2 for η = γ_t and η = artanh γ_t",
)
def iterates_corrected(x: Instance) -> Slacks:
    """Proof. L_t/L_{t−1} ≤ Z(η) = cosh η − γ_t sinh η (TEL-T, 1), which is least at artanh γ_t,
    where it is at most Z(γ_t) = cosh γ_t − γ_t sinh γ_t. That is at most 1 − γ_t²/2 (1), since
    (2k)! > (2k − 1)! term by term.

    With η in place of γ_t on the right it would be false for the classical step: 1/cosh η is
    .9428 in round 1 of the 3 x 3 game, cosh η − η sinh η = .9381.
    """
    for step in ("lecture", "classical"):
        before = 1.0
        for vote in adaboost(x.A, x.t, step):
            found, gamma = risk(x.A, vote.w), vote.edge
            if before > 1e-9:
                bound = math.cosh(gamma) - gamma * math.sinh(gamma)
                yield at_most(found / before, bound, f"L_t/L_t−1, {step}", vote.number)
                yield at_most(bound, 1.0 - gamma**2 / 2.0, "the bound, 1 − γ_t²/2", vote.number)
            before = found


@iterates_corrected.step(
    "The series of cosh γ − γ sinh γ is 1 − γ²/2 − γ⁴/8 − ....",
    "1 − γ²/2 − γ⁴/6 ≤ cosh γ − γ sinh γ ≤ 1 − γ²/2",
    space=EDGES,
)
def _(x: Instance) -> Slacks:
    # 1 − Z(γ) = γ sinh γ − 2 sinh²(γ/2), which keeps its digits
    drop = x.gamma * math.sinh(x.gamma) - 2.0 * math.sinh(x.gamma / 2.0) ** 2
    size = max(x.gamma**2, 1e-12)
    yield at_least(drop / size, x.gamma**2 / 2.0 / size, "1/2, (1 − Z)/γ²")
    yield at_most(drop / size, (x.gamma**2 / 2.0 + x.gamma**4 / 6.0) / size, "(1 − Z)/γ²")


@SOURCE.claim("columns", printed=_IDENTICAL, space=RUNS)
def columns(x: Instance) -> Slacks:
    """The edges of the two runs may be ordered differently from round 2 on: in the 2 x 2 game the
    shorter step leaves the column taken first, the second one, the best. In the 4 x 4 game they
    part in round 3.
    """
    for one, other in zip(_clear(x, "lecture"), _clear(x, "classical"), strict=False):
        left, right = (vote.sign * (vote.column + 1) for vote in (one, other))
        yield equal(left, right, "signed column, from 1", one.number)


@columns.corrected(
    "The two step sizes choose the same column in round 1.", "(j_1, r_1) is the same"
)
def columns_corrected(x: Instance) -> Slacks:
    """Proof. w_0 = 0 for both, so that both see the uniform weights (1); the choice does not look
    at the step.
    """
    yield from columns(x)[:1]


@columns_corrected.step("Both begin with the uniform weights.", "d_1 = (1/n, ..., 1/n)")
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
