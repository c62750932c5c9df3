"""SS09, Sec. 5.1: the proof of Theorem 9, step by step and round by round."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.algorithm import lambert
from relaxboost.claims.ss09.family import entropy
from relaxboost.claims.ss09.runs import beta
from relaxboost.claims.ss09.smooth import (
    F_GIVEN,
    FAMILY_RUNS,
    F,
    Fig1Run,
    distribution,
    game,
    hat,
    least_gain,
    margin,
    primal,
    smooth,
    smoothed_game,
    within,
)
from relaxboost.claims.ss09.source import SOURCE

PAIRS = Space(
    sizes={"m": (2, 8), "n": (1, 6)},
    A=Matrix(),
    k=Whole(1, "m"),
    f=F,
    w=Weights(),
    epsilon=Real(0.05, 1.0, log=True),
)
_GIVEN = F_GIVEN + "; A in [−1, 1]^(m×n), m ≥ 2"


@SOURCE.claim(
    "Sec5.1-beta",
    space=Space(m=Whole(2, 100), epsilon=Real(0.01, 2.0, log=True)).including(
        {"m": 2, "epsilon": 1}
    ),
)
def beta_range(x: Instance) -> Slack:
    return at_most(beta(x.m, x.epsilon), 1.0, "β")


@beta_range.corrected()
def beta_range_below_one(x: Instance) -> Slack:
    assume(x.epsilon <= 1.0)
    return at_most(beta(x.m, x.epsilon), 1.0 / (2.0 * math.log(2.0)), "β")


@SOURCE.claim(
    "Sec5.1-entropy", space=Space(sizes={"m": (2, 12)}, d=Distribution(), epsilon=Real(0.01, 1.0))
)
def entropy_range(x: Instance) -> Slacks:
    m, h = len(x.d), float(entropy(x.d))
    yield at_least(h, 0.0, "h(d)")
    yield at_most(h, math.log(m), "h(d)")
    yield at_most(beta(m, x.epsilon) * h, 0.5 * x.epsilon, "βh(d)")


@entropy_range.step(
    space=Space(m=Whole(1, 20), share=Real(0.0, 1.0)).including({"m": 2, "share": 1})
)
def _(x: Instance) -> Slacks:
    s = x.m * x.share
    term = s * math.log(s) if s else 0.0
    yield at_least(term, s - 1.0, "s log s")
    yield at_most(term, s * math.log(x.m), "s log s")


@SOURCE.claim(
    "Eq7",
    given=F_GIVEN + "; m ≥ 2, β = ε/(2 log m)",
    space=Space(
        sizes={"m": (2, 8)},
        theta=Vector("m", -2.0, 2.0),
        k=Whole(1, "m"),
        f=F,
        epsilon=Real(0.01, 2.0, log=True),
    ),
).checked(trials=200)
def sandwich(x: Instance) -> Slacks:
    theta, m = x.theta, len(x.theta)
    rough = -float(margin(-theta, x.k, x.f))
    hat = -float(smooth(-theta, x.k, beta(m, x.epsilon), x.f))
    yield at_most(hat, rough, "f̂* ≤ f̃*")
    yield at_most(rough, hat + 0.5 * x.epsilon, "f̃* ≤ f̂* + ε/2")


@sandwich.step(
    space=Space(a=Vector("m"), share=Vector("m", 0.0, 1.0), c=Real(0.01, 1.0)).including(
        {"a": [1, 0], "share": [1, 0], "c": "1/2"}, {"a": [1, 0], "share": [0, 1], "c": "1/2"}
    )
)
def _(x: Instance) -> Slacks:
    less, most = float(np.max(x.a - x.c * x.share)), float(np.max(x.a))
    yield at_most(less, most, "the smaller function")
    yield at_most(most, less + x.c, "the larger one")


@SOURCE.claim("Eq7-maximiser", given=_GIVEN, space=FAMILY_RUNS).checked(trials=30)
def maximiser(x: Instance) -> Slacks:
    rho = x.optimum(game(x))
    most = x.optimum(smoothed_game(x))
    support, coefficients = x.optima[-1].w
    u = x.A[:, support] @ coefficients
    short = max(0.0, float(most.upper) - float(smooth(u, x.k, beta(len(u), x.epsilon), x.f)))
    share = 0.5
    yield at_most(rho - float(margin(u, x.k, x.f)), share * x.epsilon + short, "ρ − margin")
    attained = lambert((100_000 - 1) / math.e) / (2.0 * math.log(100_000))
    yield at_most(attained, share, "(ρ − margin)/ε of `Eq7-maximiser-worst`, 100 000 rows")


@SOURCE.claim(
    "Eq7-maximiser-worst",
    space=Space(
        m=Whole(2, 100_000), b=Real(-0.9, 1.0), epsilon=Real(0.05, 1.0, log=True)
    ).including({"m": 100_000, "b": 0, "epsilon": "1/10"}),
).checked(trials=30)
def maximiser_worst(x: Instance) -> Slacks:
    W, smoothing = lambert((x.m - 1) / math.e), beta(x.m, x.epsilon)
    c, s = (W - x.b) / (1.0 + W), smoothing * (1.0 + W) / (1.0 + x.b)
    assume(0.0 < c < 1.0 and s <= 1.0)
    A = np.ones((x.m, 2))
    A[:, 0], A[0, 1] = c, -x.b
    u = A @ np.array([1.0 - s, s])
    d = np.exp(-(u - u.min()) / smoothing)
    edges = d @ A / d.sum()
    yield equal(float(edges.max()), c, "largest edge and ρ")
    yield equal(float(edges.max() - d @ u / d.sum()), 0.0, "gap")
    yield equal(c - float(u.min()), smoothing * W, "error, βW")
    yield at_most(c - float(u.min()), 0.5 * x.epsilon, "error")


@SOURCE.claim("Eq8", given=_GIVEN, space=PAIRS).checked(trials=40)
def weak_duality(x: Instance) -> Slacks:
    m = len(x.A)
    smoothing = beta(m, x.epsilon)
    most = x.optimum(smoothed_game(x))
    u = x.A @ x.w
    ds = np.vstack([within(x.rng, m, x.k, 30, x.f), distribution(u, x.k, smoothing, x.f)])
    yield at_most(float(smooth(u, x.k, smoothing, x.f)), most, "D(w)")
    yield at_least(float(np.min(primal(x.A, ds, smoothing, x.k, x.f))), most, "P(d)")


@weak_duality.step(space=PAIRS)
def _(x: Instance) -> Slacks:
    u, smoothing = x.A @ x.w, beta(len(x.A), x.epsilon)
    for d in within(x.rng, len(u), x.k, 5, x.f):
        smoothed = float(d @ u + hat(d, x.k, smoothing, x.f))
        yield at_most(float(smooth(u, x.k, smoothing, x.f)), smoothed, "D(w)")
        yield at_most(float(d @ u), float(np.max(np.abs(d @ x.A))), "<d, Aw>")


@SOURCE.claim("L11", given=_GIVEN, space=FAMILY_RUNS).checked(trials=40)
def gap(x: Instance) -> Slacks:
    run = Fig1Run(x)
    most = x.optimum(smoothed_game(x))
    values = primal(run.A, run.d, run.beta, run.k, run.f)
    for t, now in enumerate(run.rounds):
        slope = float(run.slope[t])
        yield at_most(most - float(run.D[t]), slope, "ε_t", now.number)
        yield equal(float(values[t] - run.D[t]), slope, "P(d_t) − D(w_t)", now.number)


@gap.step(space=PAIRS)
def _(x: Instance) -> Slacks:
    u, smoothing = x.A @ x.w, beta(len(x.A), x.epsilon)
    d = distribution(u, x.k, smoothing, x.f)
    short = float(primal(x.A, d, smoothing, x.k, x.f)[0] - smooth(u, x.k, smoothing, x.f))
    yield equal(short, float(np.max(np.abs(d[0] @ x.A)) - d[0] @ u), "P(d) − D(w)")
    yield at_least(short, 0.0, "P(d) − D(w)")


@SOURCE.claim("L12", given=_GIVEN + "; ε_t ≤ 1, which always holds", space=FAMILY_RUNS).checked(
    trials=40
)
def gain(x: Instance) -> Slacks:
    run = Fig1Run(x)
    assume(len(run.rounds) > 1)
    most = x.optimum(smoothed_game(x))
    for t, step in enumerate(np.diff(run.D)):
        left = most - float(run.D[t])
        yield at_most(left, 1.0, "ε_t ≤ 1", t + 1)
        yield at_most(least_gain(left, run.beta), float(step), "βε_t²/8", t + 1)


@gain.step(space=Space(eta=Real(0.0, 1.0), beta=Real(0.01, 1.0, log=True), left=Real(0.0, 1.0)))
def _(x: Instance) -> Slacks:
    best = x.beta * x.left / 4.0
    most = best * x.left - 2.0 * best**2 / x.beta
    yield equal(most, x.beta * x.left**2 / 8.0, "at η'")
    yield at_most(x.eta * x.left - 2.0 * x.eta**2 / x.beta, most, "at η")
    yield at_most(best, 1.0, "η'")


@SOURCE.claim("Eq9", given=_GIVEN, space=FAMILY_RUNS).checked(trials=60)
def progress(x: Instance) -> Slacks:
    run = Fig1Run(x)
    for t, step in enumerate(run.steps):
        ahead = float(smooth(run.u[t] + step * run.v[t], run.k, run.beta, run.f))
        delta = float(run.D[t + 1] - run.D[t])
        yield equal(delta, ahead - float(run.D[t]), "Δ_t", t + 1)


@SOURCE.claim(
    "Eq10-smooth",
    given="d_1 = argmax_d <θ_1, d> − f̂(d); " + F_GIVEN,
    space=Space(
        sizes={"m": (2, 8)},
        one=Vector("m", -1.0, 1.0),
        two=Vector("m", -1.0, 1.0),
        k=Whole(1, "m"),
        f=F,
        beta=Real(0.02, 2.0, log=True),
    ),
).checked(trials=300)
def smoothness(x: Instance) -> Slack:
    d = distribution(-x.one, x.k, x.beta, x.f)[0]
    ends = smooth(np.array([-x.one, -(x.one + x.two)]), x.k, x.beta, x.f)
    change = ends[0] - ends[1]
    bound = float(d @ x.two) + float(np.max(np.abs(x.two))) ** 2 / (2.0 * x.beta)
    return at_most(float(change), bound, "f̂*(θ_1 + θ_2) − f̂*(θ_1)")


@SOURCE.claim(
    "Eq10",
    given=_GIVEN + "; v = A(e^{j_t} − w_t), η = η_t, η' = βε_t/4 ∈ [0, 1]",
    space=FAMILY_RUNS.including(
        {
            "A": [[1 if i == j else -1 for j in range(8)] for i in range(8)],
            "k": 1,
            "f": "caps",
            "epsilon": "1/10",
        }
    ),
).checked(trials=30)
def lower_bounds(x: Instance) -> Slacks:
    run = Fig1Run(x)
    assume(len(run.rounds) > 1)
    most = x.optimum(smoothed_game(x))
    for t, eta in enumerate(run.steps):
        delta, size = float(run.D[t + 1] - run.D[t]), float(np.max(np.abs(run.v[t])))
        slope, left = eta * float(run.slope[t]), most - float(run.D[t])
        ten = slope - eta**2 * size**2 / (2.0 * run.beta)
        eleven = slope - 2.0 * eta**2 / run.beta
        chain = float(np.abs(run.A).max() * (1.0 + np.abs(run.w[t]).sum()))
        yield at_most(size, chain, "‖A(e − w)‖_∞ ≤ max |A_ij| (1 + ‖w‖_1)", t + 1)
        yield at_most(chain, 2.0, "‖A(e − w)‖_∞ ≤ 2", t + 1)
        yield at_least(delta, ten, "Eq. 10", t + 1)
        yield at_least(ten, eleven, "Eq. 11", t + 1)
        yield at_least(eleven, left * float(eta) - 2.0 * eta**2 / run.beta, "Eq. 12", t + 1)
        yield at_most(left * (run.beta / 4.0), 1.0, "η'", t + 1)


@SOURCE.claim(
    "T9-proof",
    given=_GIVEN + "; the run goes on untested; 32 log(m)/ε² ≤ 1000",
    space=FAMILY_RUNS.including({"A": [[1], [1]], "k": 1, "f": "caps", "epsilon": "1/2"}),
).checked(trials=12)
def untested(x: Instance) -> Slacks:
    last = math.ceil(32.0 * math.log(len(x.A)) / x.epsilon**2)
    assume(last <= 1000)
    run = Fig1Run(x, max_rounds=last, stop=lambda now: False)
    most, rho = x.optimum(smoothed_game(x)), x.optimum(game(x))
    errors = margin(run.u, x.k, x.f)
    yield at_most(float(run.slope[0]), 1.0, "first gap", 1)
    for t in sorted({*range(1, min(last, 40)), *range(40, last, 10), last - 1, last}):
        now = min(t, len(run.D)) - 1  # a run ends where later rounds would change nothing
        suboptimal = most - float(run.D[now])
        yield at_most(suboptimal, 8.0 / (run.beta * (t + 1)), "ε_t", t)
        error = rho - float(errors[now])
        yield at_most(error, suboptimal + 0.5 * x.epsilon, "ρ − F(Aw_t)", t)
        if t + 1 >= 32.0 * math.log(run.m) / x.epsilon**2:
            yield at_most(suboptimal, 0.5 * x.epsilon, "ε_t at the end", t)
            yield at_most(error, x.epsilon, "ρ − F(Aw_t) at the end", t)
