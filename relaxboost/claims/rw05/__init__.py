"""Claims of Rätsch & Warmuth (2005) on AdaBoost*, which attains the maximum margin."""

import math
from pathlib import Path

import numpy as np
from scipy.special import rel_entr

from relaxboost.claims.language import *
from relaxboost.claims.source import Source
from relaxboost.claims.votes import adaboost_star, all_signs
from relaxboost.game.game import Game
from relaxboost.solvers.boosters.adaboost_star import AdaBoostStar

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

GAMES = Space(sizes={"m": (2, 8), "n": (1, 6)}, A=Matrix(), nu=Real(0.05, 0.5, log=True))


@SOURCE.claim("T", space=GAMES).checked(trials=40)
def theorem(x: Instance) -> Slacks:
    steps = math.ceil(2.0 * math.log(len(x.A)) / x.nu**2)
    rho = x.optimum(Game(x.A))
    votes = adaboost_star(x.A, x.nu, steps)
    if votes:
        margin = float((x.A @ votes[-1].w).min() / max(np.abs(votes[-1].w).sum(), 1e-300))
        reached = max(margin, 0.0) if float(rho.upper) < x.nu else margin
        yield at_least(reached, rho - x.nu, "ρ − ν, margin", votes[-1].number)
    found = solve(Game(x.A), method="adaboost-star", tol=x.nu)
    w = np.zeros(x.A.shape[1])
    w[found.support] = found.coefficients
    yield at_least(float((x.A @ w).min()), rho - x.nu, "ρ − ν, margin of `solve`")
    yield at_most(found.rounds, steps + 2, "rounds of `solve`, T + 2")


@SOURCE.claim("adaptive", space=GAMES).checked(trials=40)
def adaptive(x: Instance) -> Slacks:
    rho = x.optimum(Game(x.A))
    m = len(x.A)
    found = solve(Game(x.A), method=AdaBoostStar(nu="adaptive"), tol=x.nu)
    yield at_least(found.lower, rho - x.nu, "ρ − ν, lower of `solve`")
    nu = x.nu * (1.0 - 1e-9)
    steps = 0.0
    stages = 0
    while nu <= 0.999:
        steps = steps + math.ceil(2.0 * math.log(m) / nu**2)
        stages = stages + 1
        nu = 2.0 * nu
    yield at_most(found.rounds, steps + stages, "rounds of `solve`, sum of the stages")
    most = 8.0 * math.log(m) / 3.0 / (x.nu * (1.0 - 1e-9)) ** 2 + stages
    yield at_most(steps, most, "steps of the stages, 8 log(m)/(3ν²) + stages")


@SOURCE.claim("invariant", space=GAMES.but(nu=Real(0.02, 0.5, log=True), t=Whole(1, 60)))
def invariant(x: Instance) -> Slacks:
    rho = float(x.optimum(Game(x.A)).lower)
    m = len(x.A)
    spent = 0.0
    lowest = math.inf
    for vote in adaboost_star(x.A, x.nu, x.t):
        u = x.A @ vote.before
        d = np.exp(u.min() - u)
        edge = float(np.abs(x.A.T @ (d / d.sum())).max())
        if edge > 0.999:
            return
        lowest = min(lowest, edge)
        level = lowest - x.nu
        after = x.A @ vote.w
        eta = math.atanh(edge) - math.atanh(level)
        yield equal(vote.step, eta, "η_t, artanh γ_t − artanh ρ_t", vote.number)
        yield at_least(vote.step, x.nu, "ν, η_t", vote.number)
        ratio = float(np.exp(u.min() - after).sum() / d.sum()) * math.exp(level * vote.step)
        bound = math.exp(-divergence(level, edge))
        yield at_most(ratio, bound, "L_t/L_{t−1} e^{ρη}, e^−KL", vote.number)
        spent += vote.step
        bound = level * spent + vote.number * x.nu**2 / 2.0 - math.log(m)
        yield at_least(float(after.min()), bound, "least (A w_t)_i", vote.number)
        yield at_least(level, rho - x.nu, "ρ − ν, ρ_t", vote.number)


def divergence(rho: float, gamma: float) -> float:
    """Return the relative entropy of two distributions on −1 and 1 with the means ρ and γ."""
    p, q = (np.array([1.0 + edge, 1.0 - edge]) / 2.0 for edge in (rho, gamma))
    return float(rel_entr(p, q).sum())


PAIRS = Space(
    sizes={"m": (1, 8)}, d=Distribution("m"), a=Vector("m"), rho=Real(-0.95, 0.95), nu=Real(0.02, 1)
)


@invariant.step(space=PAIRS)
def one_round(x: Instance) -> Slacks:
    gamma = float(x.d @ x.a)
    rho = min(x.rho, gamma - x.nu)
    assume(gamma < 0.99 and rho > -0.99)
    kl = divergence(rho, gamma)
    eta = math.atanh(gamma) - math.atanh(rho)
    left = math.exp(rho * eta) * float(x.d @ np.exp(-eta * x.a))
    yield at_most(left, math.exp(-kl), "Z e^(ρη), e^−KL")
    if all_signs(x.a):
        yield equal(left, math.exp(-kl), "the same, entries ±1")
    yield at_least(kl, (gamma - rho) ** 2 / 2.0, "(γ − ρ)²/2, KL")


theorem.step(space=PAIRS)(one_round.stated.check)
