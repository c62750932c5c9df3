"""SS09, what the paper announces: nearly best columns (Sec. 5), the log-loss (Sec. 6)."""

import math

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09.runs import beta
from relaxboost.claims.ss09.smooth import CAPPED_RUNS, distribution, game, margin, smooth
from relaxboost.claims.ss09.source import SOURCE


@SOURCE.claim("remark-approximate", space=CAPPED_RUNS.but(delta=Real(0.0, 0.5))).checked(trials=60)
def nearly_best(x: Instance) -> Slacks:
    smoothing, w, t = beta(len(x.A), x.epsilon), np.zeros(x.A.shape[1]), 1
    rho = x.optimum(game(x))
    most = 8.0 / (smoothing * x.epsilon**2) + 1.0
    while True:
        u = x.A @ w
        d = distribution(u, x.k, smoothing)[0]
        edges = d @ x.A
        sizes = np.abs(edges)
        j = int(np.argmin(np.where(sizes >= sizes.max() - x.delta, sizes, np.inf)))
        v = np.sign(edges[j]) * x.A[:, j] - u
        gap, size = float(d @ v), float(np.max(np.abs(v)))
        error = rho - float(margin(u, x.k))
        yield at_most(error, gap + x.delta + 0.5 * x.epsilon, "ρ − F(Aw_t)", t)
        if gap <= x.epsilon or t > most:
            yield at_most(t, most, "rounds")
            return
        eta = min(1.0, smoothing * gap / size**2)
        w = (1.0 - eta) * w
        w[j] += eta * np.sign(edges[j])
        ahead = float(smooth(x.A @ w, x.k, smoothing)) - float(smooth(u, x.k, smoothing))
        yield at_least(ahead, smoothing * gap**2 / 8.0, "gain", t)
        t += 1


@nearly_best.step(space=CAPPED_RUNS.but(w=Weights()))
def _(x: Instance) -> Slacks:
    u, smoothing = x.A @ x.w, beta(len(x.A), x.epsilon)
    d = distribution(u, x.k, smoothing)[0]
    yield at_most(x.optimum(game(x)), float(np.max(np.abs(d @ x.A))), "ρ")
    most = float(margin(u, x.k)) + smoothing * math.log(len(u) / x.k)
    yield at_most(float(d @ u), most, "<d, Aw>")


@SOURCE.claim(
    "Sec6-log-loss", space=Space(sizes={"m": (1, 8)}, u=Vector("m", -4.0, 4.0), d=Distribution())
)
def log_loss(x: Instance) -> Slacks:
    weights = 1.0 / (1.0 + np.exp(x.u))
    loss = math.fsum(math.log((1.0 + math.exp(-u)) / 2.0) for u in x.u)
    yield equal(near(float(weights @ x.u) + _binary(weights)), near(-loss), "over the box")
    for d in (x.d, 1.0 - x.d):
        yield at_least(float(d @ x.u) + _binary(d), -loss, "another point of the box")
    gamma = _best(x.u)
    least = gamma - float(np.sum(np.logaddexp(0.0, gamma - x.u))) + len(x.u) * math.log(2.0)
    weights = 1.0 / (1.0 + np.exp(x.u - gamma))
    yield equal(near(float(weights @ x.u) + _binary(weights)), near(least), "over the simplex")
    yield at_least(float(x.d @ x.u) + _binary(x.d), near(least), "another distribution")


def _binary(d: Array) -> float:
    """Return Σ b(d_i)."""
    parts = (2.0 * np.concatenate([d, 1.0 - d])).tolist()
    return math.fsum(s / 2.0 * math.log(s) for s in parts if s > 0.0)


def _best(u: Array) -> float:
    """Return the γ with Σ 1/(1 + e^{u_i − γ}) = 1, by bisection; a large one for a single u."""
    low, high = float(np.min(u)) - 40.0, float(np.max(u)) + 40.0
    for _ in range(100):
        middle = (low + high) / 2.0
        if float((1.0 / (1.0 + np.exp(u - middle))).sum()) < 1.0:
            low = middle
        else:
            high = middle
    return low


@log_loss.step(
    space=Space(theta=Real(-6.0, 6.0), s=Real(0.0, 1.0)).including({"theta": 0, "s": "1/2"})
)
def _(x: Instance) -> Slacks:
    loss = math.log((1.0 + math.exp(x.theta)) / 2.0)
    yield at_most(x.theta * x.s - _binary(np.array([x.s])), loss, "at s")
    best = 1.0 / (1.0 + math.exp(-x.theta))
    yield equal(near(x.theta * best - _binary(np.array([best]))), near(loss), "at the best s")
