"""TEL: the algorithm of the lecture, and remarks on its gradient, direction and curvature."""

import math
from itertools import product

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.tel import SOURCE
from relaxboost.claims.votes import RUNS, gradient, reweighting, risk, weak_learnability
from relaxboost.game.domains import Simplex
from relaxboost.game.game import Game

POINTS = Space(
    sizes={"m": (1, 6), "n": (1, 4)}, A=Matrix(), w=Vector("n", -2, 2), h=Vector("n", -1, 1)
)


@SOURCE.claim("gradient", space=POINTS)
def gradient_as_printed(x: Instance) -> Slack:
    g = x.A.T @ reweighting(x.A, x.w)
    return at_least(risk(x.A, x.w + x.h), risk(x.A, x.w) + g @ x.h, "f(w) + <g, h>, f(w + h)")


@gradient_as_printed.corrected()
def gradient_corrected(x: Instance) -> Slacks:
    at = risk(x.A, x.w)
    g = -x.A.T @ reweighting(x.A, x.w)
    for size in (1.0, 1e-2):
        h = size * x.h
        yield at_least(risk(x.A, x.w + h), at + g @ h, "f(w) + <g, h>, f(w + h)")
        s = -(x.A @ h)
        most = float(reweighting(x.A, x.w) @ (s * s * np.exp(np.abs(s)))) / 2.0
        yield at_most(risk(x.A, x.w + h), at + g @ h + most, "f(w + h), the same and s² e^|s|/2")


@gradient_corrected.step(space=Space(s=Real(-3, 3)))
def _(x: Instance) -> Slacks:
    for s in (x.s, x.s / 30.0):
        yield at_least(math.exp(s), 1.0 + s, "1 + s, e^s")
        yield at_most(math.exp(s), 1.0 + s + s * s * math.exp(abs(s)) / 2.0, "1 + s + s² e^|s|/2")


@SOURCE.claim("algorithm", space=RUNS)
def algorithm(x: Instance, sign: float = 1.0) -> Slacks:
    gamma = float(weak_learnability(x).lower)
    w = np.zeros(x.A.shape[1])
    for t in range(1, x.t + 1):
        g = sign * x.A.T @ reweighting(x.A, w)
        j = int(np.argmax(np.abs(g)))
        w[j] -= abs(g[j]) / reweighting(x.A, w).sum() * np.sign(g[j])
        yield at_most(risk(x.A, w), math.exp(-t * gamma**2 / 2.0), "L(−A w_t)", t)


algorithm_corrected = algorithm.corrected()(lambda x: algorithm(x, -1.0))


CLASHES = POINTS.but({"m": (2, 7), "n": (1, 2)}, h=Vector("n", -2, 2), size=Real(0.01, 1, log=True))


@SOURCE.claim("strong-convexity", space=CLASHES).checked(trials=200)
def strong_convexity(x: Instance) -> Slacks:
    mu = _contradicted(x)
    m = len(x.A)
    radius = math.log(m) / mu
    w, v = (_within(x.A, x.size * each) for each in (x.w, x.h))
    modulus = math.exp(-radius) / m * float(np.linalg.svd(x.A, compute_uv=False)[-1]) ** 2
    yield at_most(np.abs(v).sum(), radius, "‖w‖_1 where f(w) ≤ 1, log(n)/μ")
    rise = risk(x.A, v) - risk(x.A, w) - float(gradient(x.A, w) @ (v - w))
    yield at_least(rise, modulus * float((v - w) @ (v - w)) / 2.0, "f(w') − f(w) − <∇f(w), w' − w>")


@strong_convexity.step()
def _(x: Instance) -> Slacks:
    mu = _contradicted(x)
    m = len(x.A)
    for w in (x.w, x.h):
        bound = math.exp(mu * float(np.abs(w).sum())) / m
        yield at_least(risk(x.A, w), bound, "exp(μ‖w‖_1)/n, f(w)")


def _contradicted(x: Instance) -> float:
    """Return μ, the minimum over vectors v with ‖v‖_1 = 1 of the largest entry of −Av.

    Skip instances with μ <= 0.01.
    """
    signs = product((1.0, -1.0), repeat=x.A.shape[1])  # Each orthant has a game over the simplex.
    games = (Game(x.A * np.array(each), over=Simplex()) for each in signs)
    mu = -max(float(x.optimum(game).lower) for game in games)
    assume(mu > 0.01)
    return mu


def _within(A: Array, w: Array) -> Array:
    while risk(A, w) > 1.0:
        w = w / 2.0 if float(np.abs(w).sum()) > 1e-9 else 0.0 * w
    return w
