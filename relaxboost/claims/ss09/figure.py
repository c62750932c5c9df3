"""SS09, Sec. 5: the problems that Fig. 1 solves, and its lines."""

import math
from fractions import Fraction

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.family import entropy, radius
from relaxboost.claims.ss09.runs import beta, fig1
from relaxboost.claims.ss09.smooth import (
    F_GIVEN,
    FAMILY_RUNS,
    Fig1Run,
    distribution,
    hat,
    within,
)
from relaxboost.claims.ss09.source import SOURCE
from relaxboost.claims.ss09.strong import dual
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped

_SOLVED = 1e-7
_NORMS = {"1": 1, "2": 2, "inf": np.inf}


@SOURCE.claim(
    "Eq5", space=Space(A=Matrix(), w=Weights(), nu=Real(0.2, 3.0), p=Choice("1", "2", "inf"))
)
def relaxed_margin(x: Instance) -> Slacks:
    u, power = x.A @ x.w, _NORMS[x.p]
    assume(x.nu * np.linalg.norm(np.ones(len(u)), power) > 1.0 + 1e-3)
    best = _largest(u, x.nu, power)
    yield equal(best, _least(u, x.nu, power), "both optima")
    ds = x.rng.dirichlet(np.full(len(u), 3.0), 30)
    for d in ds[np.linalg.norm(ds, dual(power), axis=1) <= x.nu]:
        yield at_most(best, float(d @ u), "weak duality")


def _largest(u: np.ndarray, nu: float, power: float) -> float:
    """Return max over γ of γ − ν‖[γ − u]_+‖, by bisection of the slope."""

    def slope(gamma: float) -> float:
        short = np.maximum(gamma - u, 0.0)
        if power == 2:
            size = float(np.linalg.norm(short))
            return 1.0 - nu * float(short.sum()) / size if size else 1.0
        return 1.0 - nu * float(np.linalg.norm(short > 0.0, power))

    low, high = float(np.min(u)), float(np.max(u)) + 1.0
    while slope(high) > 0.0:
        high += 2.0 * (high - low)
    for _ in range(200):
        middle = low + (high - low) / 2.0
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return max(g - nu * float(np.linalg.norm(np.maximum(g - u, 0.0), power)) for g in (low, high))


def _least(u: np.ndarray, nu: float, power: float) -> float:
    """Return min <d, u> over d in the simplex with ‖d‖_q ≤ ν, q dual to p."""
    ranked = np.sort(u)
    if power == 1:
        left, total = 1.0, 0.0
        for margin in ranked:
            share = min(nu, left)
            total, left = total + share * float(margin), left - share
        return total
    if power == np.inf or nu >= 1.0:  # ‖d‖_1 = 1, and ‖d‖_2 is at most that
        return float(ranked[0])
    values = []
    for count in range(1, len(u) + 1):  # the support: the best point of the sphere on it
        part = ranked[:count]
        spread = part - part.mean()
        radius = nu * nu - 1.0 / count
        if radius < 0.0:
            continue
        size = float(np.linalg.norm(spread))
        flat = size < 1e-12  # rounding left over from equal margins; any d on them will do
        d = 1.0 / count - (0.0 if flat else math.sqrt(radius) / size) * spread
        if np.all(d >= -1e-12):
            values.append(float(d @ part))
    return min(values)


@SOURCE.claim("Eq6", space=Space(A=Matrix(), k=Whole(1, "m"))).checked(resolution=1e-6)
def soft_margin(x: Instance) -> Slack:
    from scipy.optimize import linprog

    m, n = x.A.shape
    cost = np.concatenate([np.zeros(2 * n), np.full(m, 1.0 / x.k), [-1.0]])
    rows = np.hstack([-x.A, x.A, -np.eye(m), np.ones((m, 1))])
    ball = np.concatenate([np.ones(2 * n), np.zeros(m + 1)])
    bounds = [(0, None)] * (2 * n + m) + [(None, None)]
    found = linprog(cost, np.vstack([rows, ball]), np.append(np.zeros(m), 1.0), bounds=bounds)
    right = x.optimum(Game(x.A, Capped(x.k)))
    return equal(near(-found.fun, _SOLVED), right, "soft margin and edge")


@SOURCE.claim("Eq6-hard", space=Space(u=Vector("m", -1.0, 1.0), gamma=Real(-2.0, 2.0)))
def max_margin(x: Instance) -> Slacks:
    u = [Fraction(float(margin)) for margin in x.u]
    least = min(u)

    def value(gamma: Fraction) -> Fraction:
        return gamma - max(max(gamma - margin, Fraction(0)) for margin in u)

    yield equal(value(least), least, "γ = min u")
    yield at_most(value(Fraction(x.gamma)), least, "any γ")


@max_margin.step()
def _(x: Instance) -> Slack:
    left = x.gamma - max(max(x.gamma - margin, 0.0) for margin in x.u.tolist())
    return equal(left, min(x.gamma, float(np.min(x.u))), "γ − max [γ − u]_+")


@SOURCE.claim("F1-softmax", space=Space(A=Matrix(), w=Weights(), beta=Real(0.01, 2.0, log=True)))
def soft_max(x: Instance) -> Slacks:
    u, beta_ = x.A @ x.w, x.beta
    shares = np.exp(-(u - np.min(u)) / beta_)
    d = shares / shares.sum()
    value = float(u @ d + beta_ * entropy(d))
    conjugate = float(-beta_ * math.log(np.mean(np.exp(-(u - np.min(u)) / beta_))) + np.min(u))
    yield equal(value, conjugate, "value there and −(βh)*(−u)")
    for other in within(x.rng, len(u), 1, 20):
        above = float(u @ other + beta_ * entropy(other))
        apart = beta_ / 2.0 * float(np.abs(other - d).sum()) ** 2
        yield at_least(above, value + apart, "another d")
    ranked = d[np.argsort(u, kind="stable")]
    yield at_most(float(np.max(np.diff(ranked), initial=0.0)), 0.0, "weights, by growing margins")


@soft_max.step(
    space=Space(
        u=Vector("m", -1.0, 1.0), d=Distribution(), beta=Real(0.1, 2.0, log=True)
    ).including({"u": [0, 1], "d": ["1/2", "1/2"], "beta": 1})
)
def _(x: Instance) -> Slack:
    least = -x.beta * math.log(np.mean(np.exp(-x.u / x.beta)))
    log_d = -x.u / x.beta - np.logaddexp.reduce(-x.u / x.beta)
    apart = math.fsum(d * (math.log(d) - b) for d, b in zip(x.d, log_d, strict=True) if d > 0.0)
    return equal(float(x.u @ x.d + x.beta * entropy(x.d)), least + x.beta * apart, "value at d")


@SOURCE.claim("F1-norm", given="A in [−1, 1]^(m×n), m ≥ 2, ε > 0; " + F_GIVEN, space=FAMILY_RUNS)
def norm(x: Instance) -> Slacks:
    run = Fig1Run(x)
    for t, w in enumerate(run.w, 1):
        yield at_most(float(np.abs(w).sum()), 1.0, "norm", t)
    for t, step in enumerate(run.steps):
        moved = (1.0 - step) * run.w[t] + step * run.e[t]
        yield at_most(float(np.abs(run.w[t + 1] - moved).max()), 0.0, "update", t + 1)


@norm.step(
    space=Space(w=Weights(), j=Whole(1, "n"), eta=Real(0.0, 1.0)).including(
        {"w": [1, 0], "j": 1, "eta": "1/2"}
    )
)
def _(x: Instance) -> Slacks:
    for sign in (1.0, -1.0):
        moved = (1.0 - x.eta) * x.w
        moved[x.j - 1] += sign * x.eta
        bound = (1.0 - x.eta) * float(np.abs(x.w).sum()) + x.eta
        yield at_most(float(np.abs(moved).sum()), bound, "‖w_{t+1}‖_1")
        yield at_most(bound, 1.0, "its bound")


@SOURCE.claim("F1-d", given=F_GIVEN, space=FAMILY_RUNS).checked(trials=60)
def argmin(x: Instance) -> Slacks:
    run = Fig1Run(x)
    least = np.sum(run.d * run.u, axis=-1) + hat(run.d, x.k, run.beta, x.f)
    own = distribution(run.u, x.k, run.beta, x.f)
    others = within(x.rng, run.m, x.k, 200, x.f)
    cap, order = {"caps": (1.0 / x.k, np.inf), "Euclidean ball": (radius(x.k), 2)}.get(x.f, (1, 1))
    for t, now in enumerate(run.rounds[:60]):
        yield at_most(float(np.linalg.norm(now.d, order)), cap, "cap", now.number)
        yield equal(float(now.d.sum()), 1.0, "sum", now.number)
        yield at_most(float(np.abs(own[t] - now.d).max()), 0.0, "from Lagrange", now.number)
        above = others @ run.u[t] + hat(others, x.k, run.beta, x.f)
        apart = run.beta / 2.0 * np.abs(others - now.d).sum(axis=1) ** 2
        worst = int(np.argmin(above - apart))
        right = float(least[t] + apart[worst])
        yield at_least(float(above[worst]), right, "another d", now.number)


@SOURCE.claim("F1-j", given=F_GIVEN, space=FAMILY_RUNS)
def column(x: Instance) -> Slacks:
    run = Fig1Run(x)
    edges = np.max(np.abs(run.d @ run.A), axis=-1)
    chosen = np.sum(run.d * (run.e @ run.A.T), axis=-1)
    for t, (edge, own, slope) in enumerate(zip(edges, chosen, run.slope, strict=True), 1):
        yield at_most(float(edge), float(own), "edge", t)
        if t < len(run.rounds):
            yield at_least(float(slope), run.epsilon, "gap before the last round", t)
        else:
            yield at_most(float(slope), run.epsilon, "gap in the last round", t)


@SOURCE.claim("F1-eta", given=F_GIVEN, space=FAMILY_RUNS)
def step(x: Instance) -> Slacks:
    run = Fig1Run(x)
    size = np.max(np.abs(run.v), axis=-1)
    for t, eta in enumerate(run.steps):
        near = np.clip(eta * np.array([0.9, 0.99, 1.01, 1.1]), 0.0, 1.0)
        others = np.concatenate([np.linspace(0.0, 1.0, 41), near])
        bend = size[t] ** 2 / (2.0 * run.beta)
        own = float(eta * run.slope[t] - eta**2 * bend)
        best = float(np.max(others * run.slope[t] - others**2 * bend))
        yield at_least(own, best, "bound elsewhere and at η_t", t + 1)


@step.step(space=Space(s=Real(-1.0, 2.0), b=Real(0.1, 2.0), eta=Real(0.0, 1.0)))
def _(x: Instance) -> Slack:
    best = max(0.0, min(1.0, x.s / x.b))
    left = x.s * x.eta - x.b * x.eta**2 / 2.0
    return at_most(left, x.s * best - x.b * best**2 / 2.0, "at η and at η'")


@SOURCE.claim(
    "F1-clip",
    given="gap > ε, m ≥ 2 (the text clips, and does not say that it matters); " + F_GIVEN,
    space=FAMILY_RUNS,
)
def clipping(x: Instance) -> Slacks:
    run = Fig1Run(x)
    assume(len(run.rounds) > 1)
    size = np.max(np.abs(run.v), axis=-1)
    for t, now in enumerate(run.rounds[:-1]):
        eta = run.beta * float(run.slope[t]) / float(size[t]) ** 2
        yield at_least(eta, 0.0, "above 0", now.number)
        yield at_most(eta, 1.0 / (2.0 * math.log(run.m)), "below 1", now.number)


@clipping.step(
    space=Space(d=Distribution(), v=Vector("m", -2.0, 2.0)).including({"d": [1, 0], "v": [2, 0]})
)
def _(x: Instance) -> Slack:
    return at_most(float(x.d @ x.v), float(np.max(np.abs(x.v))), "gap")


@SOURCE.claim(
    "F1-beta",
    space=Space(sizes={"m": (1, 3), "n": (1, 4)}, A=Matrix(), epsilon=Real(0.05, 0.5, log=True)),
).checked(trials=60)
def smoothing(x: Instance) -> Slacks:
    m = len(x.A)
    yield at_most(len(fig1(Game(x.A), x.epsilon)), 32.0 * math.log(m) / x.epsilon**2, "rounds")
    yield equal(2.0 * beta(m, x.epsilon) * math.log(m), x.epsilon, "2β log m")


@smoothing.corrected()
def smoothing_guarded(x: Instance) -> Slacks:
    assume(x.epsilon <= 1.0)
    m = len(x.A)
    trace = fig1(Game(x.A), x.epsilon)
    yield at_most(len(trace), 32.0 * math.log(m) / x.epsilon**2 if m > 1 else 2, "rounds")
    if m > 1:
        yield equal(2.0 * beta(m, x.epsilon) * math.log(m), x.epsilon, "2β log m")
    else:
        yield at_most(float(np.abs(x.A).max()) - float(x.A[0] @ trace[-1].w), x.epsilon, "error")
