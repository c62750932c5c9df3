"""JNTV05, Sec. 4: Proposition 3, the steps of its proof, Remark 4."""

import math

import numpy as np

from relaxboost.claims.jntv05.formulas import LAWS, VALUES, iterates, law, mirror_of, modulus
from relaxboost.claims.jntv05.proofs import SIGN, temperatures
from relaxboost.claims.jntv05.scheme import STREAMS
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.game.domains import Simplex
from relaxboost.online import Constant, MirrorDescent

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


def _excess(x: Instance, shift: float) -> Slacks:
    """Measure (25) at a few θ and (26) at the minimiser, with V + `shift`."""
    found, beta = law(x), temperatures(x)
    P, means = found.samples(x.gamma, beta, mirror_of(x.proxy, x.radius))
    risk = float(P @ found.risk(means))
    alpha = modulus(x.proxy, x.theta.size, x.radius)
    noise = found.lipschitz**2 * float((x.gamma**2 / beta[:-1]).sum()) / (2.0 * alpha)
    for theta, name in ((x.radius * x.theta, "(25) at a θ"), (found.least()[0], "(26)")):
        value = beta[-1] * (VALUES[x.proxy](theta, x.radius) + shift) - beta[0] * shift
        bound = float(found.risk(theta)) + (value + noise) / float(x.gamma.sum())
        yield at_most(risk, bound, f"E A(θ̂_t), {name}")


@SOURCE.claim("P3", given=f"θ_0 = θ_*; finite laws, all samples; {SIGN}", space=EXPECTED)
def proposition_3(x: Instance) -> Slacks:
    """As Proposition 2: it fails if V may be negative. At the counterexample A is constant."""
    yield from _excess(x, x.shift)


@proposition_3.corrected(
    "reading: V : Θ → R_+. With β_t (V(θ) − V(θ_*)) it holds for any V.", "the same, V ≥ 0"
)
def proposition_3_corrected(x: Instance) -> Slacks:
    """Both for V ≥ 0 and for V − V(θ_*).

    Proof. (27), divided, bounds A(θ̂_t) − A(θ) by the left side of JNTV05-P2 as corrected, over
    Σ γ_i. In expectation the terms in ξ_i vanish by the first step, and E ‖u_i‖_∞² ≤ L² by the
    second. The θ is any one.
    """
    yield from _excess(x, abs(x.shift))
    yield from _excess(x, 0.0)


@proposition_3_corrected.step("The noise has mean 0.", "E (θ_{i−1} − θ)ᵀξ_i(θ_{i−1}) = 0")
def _(x: Instance) -> Slack:
    """θ_{i−1} is a function of the examples before i; here any point."""
    found, point = law(x), x.radius * x.rng.dirichlet(np.ones(x.theta.size))
    u = found.slopes(point[None, :])[0]
    inner = (u - x.p @ u) @ (point - x.radius * x.theta)
    return equal(float(x.p @ inner), 0.0, "E (θ_{i−1} − θ)ᵀξ")


@proposition_3_corrected.step("The squares.", "E ‖u_i(θ)‖_∞² ≤ L_φ(λ)²")
def _(x: Instance) -> Slack:
    found, point = law(x), x.radius * x.rng.dirichlet(np.ones(x.theta.size))
    square = float(x.p @ np.abs(found.slopes(point[None, :])[0]).max(axis=1) ** 2)
    return at_most(square, found.lipschitz**2, "E ‖u‖², L²")


@SOURCE.claim("Eq27", space=EXPECTED)
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
def _(x: Instance) -> Slacks:
    found, points, theta = law(x), _points(x), x.radius * x.theta
    slopes = np.einsum("k,tkn->tn", x.p, found.slopes(points))
    for point, slope in zip(points, slopes, strict=True):
        fall = float(found.risk(point) - found.risk(theta))
        yield at_most(fall, float((point - theta) @ slope), "A(θ_{i−1}) − A(θ)")


@SOURCE.claim("noise", space=EXPECTED)
def noise(x: Instance) -> Slacks:
    """Proof. Example i is independent of those before it, and so of θ_{i−1}. At each θ_{i−1} the
    noise has mean 0 (1), and the square of u_i the mean L² at most (2).
    """
    found, beta = law(x), temperatures(x)
    P, points = found.samples(x.gamma, beta, mirror_of(x.proxy, x.radius))
    u = found.slopes(points)
    xi = u - np.einsum("k,akn->an", x.p, u)[:, None, :]
    inner = ((points - x.radius * x.theta)[:, None, :] * xi).sum(axis=2)
    yield equal(float(P @ inner @ x.p), 0.0, "E (θ̂ − θ)ᵀξ")
    square = float(P @ np.abs(u).max(axis=2) ** 2 @ x.p)
    yield at_most(square, found.lipschitz**2, "E ‖u(θ̂)‖², L²")


for _step in proposition_3.corrections[0].steps:
    noise.step(_step.stated.words, _step.stated.formula)(_step.stated.check)


@SOURCE.claim("R4-bounds", space=EXPECTED.but(factor=Real(0.1, 10, log=True)))
def scaled_bounds(x: Instance) -> Slack:
    """All terms of Proposition 2 are multiplied by the factor, as is Σ γ_i."""
    beta, found = temperatures(x), law(x)
    alpha = modulus(x.proxy, x.theta.size, x.radius)
    value = VALUES[x.proxy](x.radius * x.theta, x.radius)

    def bound(gamma: Array, beta: Array) -> float:
        squares = found.lipschitz**2 * float((gamma**2 / beta[:-1]).sum()) / (2.0 * alpha)
        return (beta[-1] * value + squares) / float(gamma.sum())

    return equal(bound(x.gamma, beta), bound(x.factor * x.gamma, x.factor * beta), "the bounds")


_SCALED = STREAMS.but(factor=Real(0.1, 10, log=True))


@SOURCE.claim("R4", space=_SCALED)
def scaled(x: Instance) -> Slack:
    """Never: the argmin of cζᵀθ + cβV(θ) is that of ζᵀθ + βV(θ), so by induction no u_i changes.

    The sides count the estimates that change: one at least is what the remark has in mind.
    """
    assume(abs(math.log(x.factor)) > 0.1)
    changed = int((_changes(x) > 1e-9).sum())
    return at_least(changed, 1, "1, number of estimates that change")


@scaled.corrected(
    "The multiplication never affects the estimates.",
    "θ_i' = θ_i, θ̂_i' = θ̂_i for all i, c, streams",
)
def scaled_corrected(x: Instance) -> Slacks:
    """For any proxy. The package's learner with constant β: weights of examples are the γ_i.

    Proof. By induction no u_i changes, so that ζ_i becomes cζ_i. The argmin of cζᵀθ + cβV(θ) is
    that of ζᵀθ + βV(θ), which is the step, and (12) divides by Σ cγ_i.
    """
    yield equal(float(_changes(x).max()), 0.0, "change of the estimates, 0")
    shrunk = min(x.factor, 1.0 / x.factor)
    means = []
    for c in (1.0, shrunk):
        method = MirrorDescent("inner", over=Simplex(x.radius), schedule=Constant(c * x.beta))
        learner = method.start(x.U.shape[1])
        learner.update(x.U, weight=c * x.gamma)
        means.append(np.append(learner.w, learner.average))
    yield equal(float(np.abs(means[0] - means[1]).max()), 0.0, "change of the learner, 0")


@scaled_corrected.step("The factor cancels.", "∇W_{cβ}(cz) = ∇W_β(z)")
def _(x: Instance) -> Slacks:
    z = x.gamma @ x.U
    for proxy in ("entropy", "squared"):
        mirror = mirror_of(proxy, x.radius)
        change = mirror(x.factor * z, x.factor * x.beta) - mirror(z, x.beta)
        yield equal(float(np.abs(change).max()), 0.0, f"change of ∇W, {proxy}")


def _changes(x: Instance) -> Array:
    """Return by how much each estimate changes."""
    t = len(x.U)
    beta = x.beta * np.sqrt(np.arange(1.0, t + 2.0))
    found = []
    for c in (1.0, x.factor):
        theta = iterates(x.U, c * x.gamma, c * beta, mirror_of("entropy", x.radius))
        found.append(np.vstack([theta, x.gamma @ theta[:-1] / x.gamma.sum()]))
    return np.asarray(np.abs(found[0] - found[1]).max(axis=1))
