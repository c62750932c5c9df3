"""JNTV05, Sec. 4: Propositions 2 and 3, the steps of their proofs, Remark 4."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.claims import (
    Choice,
    Distribution,
    Instance,
    Real,
    Slack,
    Vector,
    assume,
    at_least,
    at_most,
    equal,
)
from relaxboost.claims.jntv05.formulas import (
    LAWS,
    VALUES,
    free_energy,
    gibbs,
    iterates,
    law,
    mirror_of,
    modulus,
)
from relaxboost.claims.jntv05.proxy import DUALS
from relaxboost.claims.jntv05.scheme import STREAMS
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.game.domains import Simplex
from relaxboost.online import Constant, MirrorDescent

TRACES = STREAMS.but(
    growth=Vector("t", 0, 1),
    theta=Distribution("n"),
    proxy=Choice("entropy", "squared"),
    shift=Real(-1, 1),
)
"""β_i − β_{i−1} in `growth`; `shift` is added to V, so that it is min V."""
_FLAT = {"growth": [1], "theta": ["1/2", "1/2"], "proxy": "entropy", "shift": -1}
_NOTHING = {"U": [[0, 0]], "gamma": [1], "radius": 1, "beta": 1, **_FLAT}


def _temperatures(x: Instance) -> Array:
    """Return β_0 ≤ β_1 ≤ ... ≤ β_t."""
    return x.beta + np.append(0.0, np.cumsum(x.growth))


@SOURCE.claim(
    "P2",
    "Proposition 2",
    "The regret of (11) is bounded for any proxy function.",
    formula="Σ γ_i (θ_{i−1} − θ)ᵀ∇A(θ_{i−1}) ≤ β_t V(θ) − β_0 V(θ_*) − Σ γ_i (θ_{i−1} − θ)ᵀξ_i + "
    "Σ γ_i² ‖u_i‖_∞²/(2αβ_{i−1})",
    printed="Σ_{i=1}^t γ_i(θ_{i−1} − θ)ᵀ∇A(θ_{i−1}) ≤ β_tV(θ) − β_0V(θ_*) − Σ_{i=1}^t "
    "γ_i(θ_{i−1} − θ)ᵀξ_i(θ_{i−1}) + Σ_{i=1}^t (γ_i²/(2αβ_{i−1}))‖u_i(θ_{i−1})‖_∞²",
    page="p. 16, Proposition 2, and p. 17, the end of its proof",
    given="u_i = ∇A + ξ_i, so that the terms in ξ_i make u_i of ∇A; V proxy by Definition 2, "
    "θ_0 = θ_*",
    space=TRACES,
    counterexamples=[_NOTHING],
).checked(trials=200)
def proposition_2(x: Instance) -> Slack:
    """A constant may be subtracted from a proxy: nothing in Definition 2 forbids V(θ_*) < 0. It
    takes c(β_t − β_0) from the right side. The proof has W_β fall as β grows, for which V ≥ 0.
    """
    return _regret(x, x.shift, x.shift)


@proposition_2.corrected("It is, if V ≥ 0.", "the same, V(θ_*) ≥ 0")
def proposition_2_corrected(x: Instance) -> Slack:
    """All proxies of the paper but ‖θ‖_p have minimum 0; that of (35) is positive."""
    return _regret(x, abs(x.shift), abs(x.shift))


@proposition_2.corrected(
    "For any proxy with β_t (V(θ) − V(θ_*)), which is less where V(θ_*) > 0.",
    "... ≤ β_t (V(θ) − V(θ_*)) + Σ γ_i² ‖u_i‖_∞²/(2αβ_{i−1})",
)
def proposition_2_sharper(x: Instance) -> Iterator[Slack]:
    """Apply it to V − V(θ_*), which has the same iterates. At the θ of least slack, which is θ_t,
    it is tight to first order for M = 2, u = (1, −1) and large β: λβ ln cosh (γ/β), λγ²/(2β).
    """
    yield _regret(x, 0.0, 0.0)
    yield _regret(x, 0.0, 0.0, last=True)


def _regret(
    x: Instance, shift: float, least: float, first: Array | None = None, last: bool = False
) -> Slack:
    """Measure Prop. 2 with V + `shift`, V(θ_*) = `least`, θ_0 = `first` or θ_*; at θ or at θ_t."""
    beta = _temperatures(x)
    found = iterates(x.U, x.gamma, beta, mirror_of(x.proxy, x.radius))
    theta = found[-1] if last else x.radius * x.theta
    if first is not None:
        found[0] = first
    left = float(x.gamma @ ((found[:-1] - theta) * x.U).sum(axis=1))
    alpha = modulus(x.proxy, theta.size, x.radius)
    squares = float((x.gamma**2 * np.abs(x.U).max(axis=1) ** 2 / beta[:-1]).sum()) / (2.0 * alpha)
    value = VALUES[x.proxy](theta, x.radius) + shift
    return at_most(left, beta[-1] * value - beta[0] * least + squares, "regret, its bound")


@SOURCE.claim(
    "P2-start",
    "Proposition 2; Sec. 3.2, initial values",
    "It is so from any θ_0 ∈ Θ.",
    formula="Proposition 2 with any θ_0 ∈ Θ and ζ_0 = 0",
    printed="Fix the initial values θ_0 ∈ Θ and ζ_0 = 0 ∈ R^M. … For any θ ∈ Θ and any integer t "
    "≥ 1 the following inequality holds",
    page="p. 11, Sec. 3.2; p. 15, Proposition 2",
    given="V ≥ 0; Secs. 3.2 and 3.4 fix θ_0 ∈ Θ and ζ_0 = 0",
    space=TRACES.but(first=Distribution("n")),
    counterexamples=[
        {**_NOTHING, "U": [[1, 0]], "beta": 2, "shift": 0, "growth": [0], "first": [1, 0]}
    ],
).checked(trials=100)
def any_start(x: Instance) -> Slack:
    """The proof has θ_{i−1} = −∇W_{β_{i−1}}(ζ_{i−1}) from i = 1 on. With large β the bound tends to
    β V(θ), which is 0 at θ_*, while θ_0 loses what it loses.
    """
    return _regret(x, 0.0, 0.0, x.radius * x.first)


@any_start.corrected(
    "From θ_0 = θ_* = −∇W_{β_0}(0).", "θ_0 = argmin V, else γ_1 (θ_0 − θ_*)ᵀu_1 more"
)
def any_start_corrected(x: Instance) -> Iterator[Slack]:
    """θ_0 is in the first term only, if gradients do not depend on it."""
    yield _regret(x, 0.0, 0.0)
    first, at = x.radius * x.first, np.full(x.first.size, x.radius / x.first.size)
    more = x.gamma[0] * float((first - at) @ x.U[0])
    slack, other = _regret(x, 0.0, 0.0, first), _regret(x, 0.0, 0.0)
    yield equal(slack.left - more, other.left, "regret from θ_0, less the term, and from θ_*")


@SOURCE.claim(
    "P2-proof",
    "Proof of Proposition 2, first displays",
    "W_β at ζ_i is bounded by its value, slope and the Lipschitz constant at ζ_{i−1}.",
    formula="W_β(ζ_i) = W_β(ζ_{i−1}) + ∫ (ζ_i − ζ_{i−1})ᵀ∇W_β ≤ W_β(ζ_{i−1}) + γ v_iᵀ∇W_β(ζ_{i−1}) "
    "+ γ²‖v_i‖_∞²/(2αβ)",
    printed="W_{β_{i−1}}(ζ_i) = W_{β_{i−1}}(ζ_{i−1}) + ∫_0^1 (ζ_i − ζ_{i−1})ᵀ∇W_{β_{i−1}}(τζ_i + "
    "(1 − τ)ζ_{i−1}) dτ; W_{β_{i−1}}(ζ_i) ≤ W_{β_{i−1}}(ζ_{i−1}) + γ_i "
    "v_iᵀ∇W_{β_{i−1}}(ζ_{i−1}) + γ_i²‖v_i‖_∞²/(2αβ_{i−1})",
    page="p. 16, proof of Proposition 2",
    space=DUALS.but(gamma=Real(0.1, 3)),
)
def descent_lemma(x: Instance) -> Iterator[Slack]:
    """Assumption (L) under the integral, ∫ τ dτ = 1/2. The integral by 20 Gauss points."""
    after = x.z + x.gamma * x.v
    nodes, shares = np.polynomial.legendre.leggauss(20)
    middles = x.z + np.multiply.outer((nodes + 1.0) / 2.0, after - x.z)
    slopes = -gibbs(middles, x.beta, x.radius) @ (after - x.z)
    before, found = (free_energy(z, x.beta, x.radius) for z in (x.z, after))
    if float(np.abs(after - x.z).max()) < 4.0 * x.beta:
        integral = before + float(shares @ slopes) / 2.0
        yield at_most(abs(found - integral), 1e-6, "W_β(ζ_i), the integral")
    linear = before - x.gamma * float(gibbs(x.z, x.beta, x.radius) @ x.v)
    square = x.radius * (x.gamma * float(np.abs(x.v).max())) ** 2 / (2.0 * x.beta)
    yield at_most(found, linear + square, "W_β(ζ_i), the bound")


@SOURCE.claim(
    "P2-falling",
    "Proof of Proposition 2",
    "For z fixed β ↦ W_β(z) is non-increasing.",
    formula="β' ≥ β ⇒ W_β'(z) ≤ W_β(z)",
    printed="for z fixed, β ↦ W_β(z) is a non-increasing function",
    page="p. 16, proof of Proposition 2",
    given="V any proxy by Definition 2: here the entropy and a constant",
    space=DUALS.but(more=Real(0, 2), shift=Real(-1, 1)),
    counterexamples=[
        {
            "z": [0, 0],
            "v": [0, 0],
            "theta": ["1/2", "1/2"],
            "radius": 1,
            "beta": 1,
            "more": 1,
            "shift": -1,
        }
    ],
)
def falling(x: Instance) -> Slack:
    """W_β(0) = −βV(θ_*) grows where V(θ_*) < 0."""
    return _falling(x, x.shift)


@falling.corrected("If V ≥ 0.", "the same, V ≥ 0")
def falling_corrected(x: Instance) -> Slack:
    """With V ≥ 0.

    Proof. W_β(z) is the supremum over θ of −zᵀθ − βV(θ), each of which falls with β by the step;
    so does the supremum.
    """
    return _falling(x, abs(x.shift))


@falling.step("It falls at each θ.", "−zᵀθ − β'V(θ) ≤ −zᵀθ − βV(θ)", correction=1)
def _(x: Instance) -> Slack:
    theta = x.radius * x.theta
    value = VALUES["entropy"](theta, x.radius) + abs(x.shift)
    linear = -float(x.z @ theta)
    return at_most(linear - (x.beta + x.more) * value, linear - x.beta * value, "at β', at β")


def _falling(x: Instance, shift: float) -> Slack:
    large = x.beta + x.more
    before, after = (free_energy(x.z, b, x.radius) - b * shift for b in (x.beta, large))
    return at_most(after, before, "W_β'(z), W_β(z)")


@SOURCE.claim(
    "P2-end",
    "Proof of Proposition 2, last displays",
    "W_{β_0}(0) = −β_0 V(θ_*), and βV(θ) ≥ −W_β(ζ) − ζᵀθ.",
    formula="W_β(0) = −βV(θ_*), −W_β(ζ) − ζᵀθ ≤ βV(θ)",
    printed="W_{β_0}(ζ_0) = W_{β_0}(0) = β_0 sup_{θ ∈ Θ} {−V(θ)} = −β_0V(θ_*) and βV(θ) ≥ "
    "−W_β(ζ) − ζᵀθ, for all ζ ∈ R^M",
    page="p. 17, proof of Proposition 2",
    space=DUALS,
)
def proof_end(x: Instance) -> Iterator[Slack]:
    """The definition of W_β; the entropy, from (9)."""
    zero = free_energy(0.0 * x.z, x.beta, x.radius)
    yield equal(zero, 0, "W_β(0), −βV(θ_*)")
    theta = x.radius * x.theta
    bound = x.beta * VALUES["entropy"](theta, x.radius)
    value = -free_energy(x.z, x.beta, x.radius) - float(x.z @ theta)
    yield at_most(value, bound, "−W_β(ζ) − ζᵀθ, βV(θ)")


EXPECTED = LAWS.but(
    gamma=Vector("t", 0.1, 2),
    growth=Vector("t", 0, 1),
    beta=Real(0.1, 3),
    proxy=Choice("entropy", "squared"),
    shift=Real(-1, 1),
    theta=Distribution("n"),
    sizes={"k": (1, 3), "n": (2, 4), "t": (1, 5)},
)
"""Laws, γ_i and β_i, and what is added to V."""


def _excess(x: Instance, shift: float) -> Iterator[Slack]:
    """Measure (25) at a few θ and (26) at the minimiser, with V + `shift`."""
    found, beta = law(x), _temperatures(x)
    P, means = found.samples(x.gamma, beta, mirror_of(x.proxy, x.radius))
    risk = float(P @ found.risk(means))
    alpha = modulus(x.proxy, x.theta.size, x.radius)
    noise = found.lipschitz**2 * float((x.gamma**2 / beta[:-1]).sum()) / (2.0 * alpha)
    for theta, name in ((x.radius * x.theta, "(25) at a θ"), (found.least()[0], "(26)")):
        value = beta[-1] * (VALUES[x.proxy](theta, x.radius) + shift) - beta[0] * shift
        bound = float(found.risk(theta)) + (value + noise) / float(x.gamma.sum())
        yield at_most(risk, bound, f"E A(θ̂_t), {name}")


@SOURCE.claim(
    "P3",
    "Proposition 3, Eqs. 25 and 26",
    "The expected risk is bounded for any proxy function.",
    formula="E A(θ̂_t) ≤ inf [A(θ) + (β_t V(θ) − β_0 V(θ_*))/Σ γ_i] + L² Σ γ_i²/(2αβ_{i−1})/Σ γ_i",
    printed="E A(θ̂_t) ≤ inf_{θ ∈ Θ} [A(θ) + (β_tV(θ) − β_0V(θ_*))/Σ_{i=1}^t γ_i] + "
    "L_φ²(λ)(Σ_{i=1}^t γ_i)⁻¹ Σ_{i=1}^t γ_i²/(2αβ_{i−1})",
    page="p. 17, Proposition 3, Eq. 25",
    given="θ_0 = θ_*; finite laws, all samples",
    space=EXPECTED,
    counterexamples=[
        {
            "H": [[0, 0]],
            "y": [1],
            "p": [1],
            "radius": 1,
            "loss": "hinge",
            "gamma": [1],
            "growth": [1],
            "beta": 1,
            "proxy": "entropy",
            "shift": -1,
            "theta": ["1/2", "1/2"],
        }
    ],
)
def proposition_3(x: Instance) -> Iterator[Slack]:
    """As Proposition 2: V may not be negative. At the counterexample A is constant."""
    yield from _excess(x, x.shift)


@proposition_3.corrected("It is, if V ≥ 0; and with β_t (V(θ) − V(θ_*)) for any V.", "V ≥ 0")
def proposition_3_corrected(x: Instance) -> Iterator[Slack]:
    """Proposition 2, convexity of A, E ‖u_i‖² ≤ L², and E ξ_i = 0 given θ_{i−1}."""
    yield from _excess(x, abs(x.shift))
    yield from _excess(x, 0.0)


@SOURCE.claim(
    "Eq27",
    "Eq. 27",
    "The risk of the average is at most the weighted mean of slopes.",
    formula="A(θ̂_t) − A(θ) ≤ Σ γ_i (θ_{i−1} − θ)ᵀ∇A(θ_{i−1})/Σ γ_i",
    printed="A(θ̂_t) − A(θ) ≤ Σ_{i=1}^t γ_i(θ_{i−1} − θ)ᵀ∇A(θ_{i−1})/Σ_{i=1}^t γ_i",
    page="p. 17, Eq. 27",
    given="for any points θ_{i−1}",
    space=EXPECTED,
)
def jensen(x: Instance) -> Slack:
    """For any points.

    Proof. The first step is Jensen's inequality for A with weights γ_i/Σ γ_i, the second the
    definition of a sub-gradient at each θ_{i−1}; multiplied by γ_i and summed up they are (27).
    """
    found = law(x)
    points = _points(x)
    theta, share = x.radius * x.theta, x.gamma / x.gamma.sum()
    slopes = np.einsum("k,tkn->tn", x.p, found.slopes(points))
    right = float(share @ ((points - theta) * slopes).sum(axis=1))
    return at_most(float(found.risk(share @ points) - found.risk(theta)), right, "A(θ̂) − A(θ)")


def _points(x: Instance) -> Array:
    points: Array = x.radius * x.rng.dirichlet(np.ones(x.theta.size), x.gamma.size)
    return points


@jensen.step("Jensen's inequality.", "A(Σ γ_i θ_{i−1}/Σ γ_i) ≤ Σ γ_i A(θ_{i−1})/Σ γ_i")
def _(x: Instance) -> Slack:
    found, points, share = law(x), _points(x), x.gamma / x.gamma.sum()
    mean = float(share @ found.risk(points))
    return at_most(float(found.risk(share @ points)), mean, "A of the mean, the mean of A")


@jensen.step("A sub-gradient.", "A(θ_{i−1}) − A(θ) ≤ (θ_{i−1} − θ)ᵀ∇A(θ_{i−1})")
def _(x: Instance) -> Iterator[Slack]:
    found, points, theta = law(x), _points(x), x.radius * x.theta
    slopes = np.einsum("k,tkn->tn", x.p, found.slopes(points))
    for point, slope in zip(points, slopes, strict=True):
        fall = float(found.risk(point) - found.risk(theta))
        yield at_most(fall, float((point - theta) @ slope), "A(θ_{i−1}) − A(θ)")


@SOURCE.claim(
    "noise",
    "Sec. 4, notation; proof of Proposition 3",
    "The noise ξ_i has mean 0 given θ_{i−1}, and E ‖u_i(θ_{i−1})‖_∞² ≤ L².",
    formula="E (θ_{i−1} − θ)ᵀξ_i(θ_{i−1}) = 0, E ‖u_i(θ_{i−1})‖_∞² ≤ L_φ(λ)²",
    printed="Conditioning on θ_{i−1} and then using both the definition of ξ_i(θ_{i−1}) and the "
    "independence between θ_{i−1} and (X_i, Y_i), we obtain …",
    page="p. 17, proof of Proposition 3",
    given="θ_{i−1} from the examples before, all samples enumerated",
    space=EXPECTED,
)
def noise(x: Instance) -> Iterator[Slack]:
    """Example i is independent of those before it."""
    found, beta = law(x), _temperatures(x)
    P, points = found.samples(x.gamma, beta, mirror_of(x.proxy, x.radius))
    u = found.slopes(points)
    xi = u - np.einsum("k,akn->an", x.p, u)[:, None, :]
    inner = ((points - x.radius * x.theta)[:, None, :] * xi).sum(axis=2)
    yield equal(float(P @ inner @ x.p), 0.0, "E (θ̂ − θ)ᵀξ")
    square = float(P @ np.abs(u).max(axis=2) ** 2 @ x.p)
    yield at_most(square, found.lipschitz**2, "E ‖u(θ̂)‖², L²")


@SOURCE.claim(
    "R4-bounds",
    "Remark 4",
    "Multiplying all β_i and γ_i by the same factor does not affect the upper bounds.",
    formula="the bounds of Propositions 2, divided by Σ γ_i, and 3 are the same",
    printed="simultaneous change of scale in the definition of the sequences (β_i) and (γ_i) "
    "(i.e. multiplying them by the same positive constant factor) does not affect the upper "
    "bounds in the previous propositions",
    page="p. 18, Remark 4",
    space=EXPECTED.but(factor=Real(0.1, 10, log=True)),
)
def scaled_bounds(x: Instance) -> Slack:
    """All terms of Proposition 2 are multiplied by the factor, as is Σ γ_i."""
    beta, found = _temperatures(x), law(x)
    alpha = modulus(x.proxy, x.theta.size, x.radius)
    value = VALUES[x.proxy](x.radius * x.theta, x.radius)

    def bound(gamma: Array, beta: Array) -> float:
        squares = found.lipschitz**2 * float((gamma**2 / beta[:-1]).sum()) / (2.0 * alpha)
        return (beta[-1] * value + squares) / float(gamma.sum())

    return equal(bound(x.gamma, beta), bound(x.factor * x.gamma, x.factor * beta), "the bounds")


_SCALED = STREAMS.but(factor=Real(0.1, 10, log=True))


@SOURCE.claim(
    "R4",
    "Remark 4",
    "Multiplying all β_i and γ_i by the same factor might affect the estimates.",
    formula="θ_i and θ̂_i of (11), (12) with cβ_i, cγ_i differ from those with β_i, γ_i",
    printed="simultaneous change of scale in the definition of the sequences (β_i) and (γ_i) … "
    "might affect the estimate sequences (θ_i) and (θ̂_i) of the algorithm (11)–(12)",
    page="p. 18, Remark 4",
    space=_SCALED,
    counterexamples=[{"U": [[1, 0]], "gamma": [1], "radius": 1, "beta": 1, "factor": 2}],
)
def scaled(x: Instance) -> Slack:
    """Never: the argmin of cζᵀθ + cβV(θ) is that of ζᵀθ + βV(θ), so by induction no u_i changes."""
    assume(abs(math.log(x.factor)) > 0.1)
    return at_least(_change(x), 1e-9, "change of the estimates, 0")


@scaled.corrected("It never does.", "the estimates are the same")
def scaled_corrected(x: Instance) -> Iterator[Slack]:
    """For any proxy. The package's learner with constant β: weights of examples are the γ_i.

    Proof. By induction no u_i changes, so that ζ_i becomes cζ_i. The argmin of cζᵀθ + cβV(θ) is
    that of ζᵀθ + βV(θ), which is the step, and (12) divides by Σ cγ_i.
    """
    yield equal(_change(x), 0.0, "change of the estimates, 0")
    shrunk = min(x.factor, 1.0 / x.factor)
    means = []
    for c in (1.0, shrunk):
        method = MirrorDescent("inner", over=Simplex(x.radius), schedule=Constant(c * x.beta))
        learner = method.start(x.U.shape[1])
        learner.update(x.U, weight=c * x.gamma)
        means.append(np.append(learner.w, learner.average))
    yield equal(float(np.abs(means[0] - means[1]).max()), 0.0, "change of the learner, 0")


@scaled.step("The factor cancels.", "∇W_{cβ}(cz) = ∇W_β(z)", correction=1)
def _(x: Instance) -> Iterator[Slack]:
    z = x.gamma @ x.U
    for proxy in ("entropy", "squared"):
        mirror = mirror_of(proxy, x.radius)
        change = mirror(x.factor * z, x.factor * x.beta) - mirror(z, x.beta)
        yield equal(float(np.abs(change).max()), 0.0, f"change of ∇W, {proxy}")


def _change(x: Instance) -> float:
    t = len(x.U)
    beta = x.beta * np.sqrt(np.arange(1.0, t + 2.0))
    found = []
    for c in (1.0, x.factor):
        theta = iterates(x.U, c * x.gamma, c * beta, mirror_of("entropy", x.radius))
        found.append(np.vstack([theta, x.gamma @ theta[:-1] / x.gamma.sum()]))
    return float(np.abs(found[0] - found[1]).max())
