"""Wrong variants of true statements about AdaBoost and AdaBoost*: each must be found out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxboost.claims import Choice, Matrix, Source, Space, Whole, at_least, at_most, equal
from relaxboost.claims.rds04.cycles import LONG, SIGNS, _cycle, _margin, upsilon
from relaxboost.claims.rw05.star import RUNS as STAR_RUNS
from relaxboost.claims.tel.algorithm import CLASHES, POINTS
from relaxboost.claims.tel.proof import PAIRS
from relaxboost.claims.tel.weak import WEIGHTED
from relaxboost.claims.votes import (
    RUNS,
    adaboost,
    adaboost_star,
    gradient,
    reweighting,
    risk,
    weak_learnability,
)
from relaxboost.game.game import Game

X = Source("X", "errors planted")


def planted(name, space, **options):
    return X.claim(name, "", name, formula="", space=space, **options)


@planted("the theorem with γ² for γ²/2", RUNS)
def twice_the_rate(x):
    gamma = float(weak_learnability(x).lower)
    for vote in adaboost(x.A, x.t, "lecture"):
        yield at_most(risk(x.A, vote.w), math.exp(-vote.number * gamma**2), round=vote.number)


@planted("the theorem a round early", RUNS)
def a_round_early(x):
    """Nearly tight for small edges only, so that this needs the attack."""
    gamma = float(weak_learnability(x).lower)
    for vote in adaboost(x.A, x.t, "lecture"):
        bound = math.exp(-(vote.number + 1) * gamma**2 / 2.0)
        yield at_most(risk(x.A, vote.w), bound, round=vote.number)


@planted("edges that do not decrease", RUNS)
def monotone_edges(x):
    last = 0.0
    for vote in adaboost(x.A, x.t, "lecture"):
        yield at_least(vote.edge, last, round=vote.number)
        last = vote.edge


@planted("one round with each rule's own step", RUNS)
def own_step(x):
    """cosh η − η sinh η with the classical η: less than 1/cosh η, what it attains."""
    before = 1.0
    for vote in adaboost(x.A, x.t, "classical"):
        bound = math.cosh(vote.step) - vote.step * math.sinh(vote.step)
        yield at_most(risk(x.A, vote.w) / before, bound, round=vote.number)
        before = risk(x.A, vote.w)


@planted("the lemma with half of L", PAIRS)
def half_smooth(x):
    change = np.abs(gradient(x.A, x.w) - gradient(x.A, x.v)).max()
    level = max(risk(x.A, x.w), risk(x.A, x.v))
    return at_most(change, level * np.abs(x.w - x.v).sum() / 2.0)


@planted("the lemma with ‖w − w'‖_2", PAIRS)
def smooth_in_l2(x):
    change = np.abs(gradient(x.A, x.w) - gradient(x.A, x.v)).max()
    level = max(risk(x.A, x.w), risk(x.A, x.v))
    return at_most(change, level * float(np.linalg.norm(x.w - x.v)))


@planted("the lemma with the lower of the two levels", PAIRS)
def lower_level(x):
    change = np.abs(gradient(x.A, x.w) - gradient(x.A, x.v)).max()
    level = min(risk(x.A, x.w), risk(x.A, x.v))
    return at_most(change, level * np.abs(x.w - x.v).sum())


@planted("the WLA for every φ, of any sign", WEIGHTED)
def any_sign(x):
    phi = x.phi - 0.5
    size = max(float(np.abs(phi).sum()), 1e-3)
    return at_least(np.abs(x.A.T @ phi).max() / size, x.optimum(Game(x.A)))


@planted("the WLA with sup for inf", WEIGHTED)
def sup_for_inf(x):
    size = max(float(np.abs(x.phi).sum()), 1e-3)
    d = x.phi / size
    return at_most(np.abs(x.A.T @ d).max(), x.optimum(Game(x.A)))


@planted("accuracy 1/2 + γ", WEIGHTED)
def too_accurate(x):
    gamma = float(weak_learnability(x).lower)
    d = np.array([float(p) for p in x.optima[-1].d])
    best = max(float(d @ (1.0 + r * a)) / 2.0 for a in x.A.T for r in (1.0, -1.0))
    return at_least(best, 0.5 + gamma)


@planted("the gradient without 1/n", POINTS)
def gradient_without_n(x):
    g = -x.A.T @ np.exp(-(x.A @ x.w))
    return at_least(risk(x.A, x.w + x.h), risk(x.A, x.w) + g @ x.h)


@planted("strong convexity without the clash", CLASHES)
def no_clash(x):
    modulus = float(np.linalg.svd(x.A, compute_uv=False)[-1]) ** 2 / len(x.A)
    rise = risk(x.A, x.h) - risk(x.A, x.w) - float(gradient(x.A, x.w) @ (x.h - x.w))
    return at_least(rise, modulus * float((x.h - x.w) @ (x.h - x.w)) / 2.0)


@planted("sparsity t − 1", Space(A=Matrix(), t=Whole(1, 6), step=Choice("lecture", "classical")))
def sparser(x):
    for vote in adaboost(x.A, x.t, x.step):
        yield at_most(int(np.count_nonzero(vote.w)), vote.number - 1, round=vote.number)


@planted("AdaBoost's margin without log m", LONG)
def no_logarithm(x):
    spent = gained = 0.0
    for vote in adaboost(x.A, x.t, "classical"):
        if vote.edge > 0.999:
            return
        spent += math.atanh(vote.edge)
        gained -= math.log1p(-(vote.edge**2)) / 2.0
        yield at_least(float((x.A @ vote.w).min()) / spent, gained / spent, round=vote.number)


@planted("AdaBoost's margin as the mean of the edges", SIGNS).checked(resolution=1e-6)
def mean_edge(x):
    found = _cycle(x)
    return at_least(_margin(x.A, found.w), float(found.edges.mean()))


@planted("the margin of a cycle is at most Υ(ρ)", SIGNS).checked(resolution=1e-6)
def no_more_than_upsilon(x):
    rho = float(x.optimum(Game(x.A)).lower)
    return at_most(_margin(x.A, _cycle(x).w), upsilon(rho))


@planted("AdaBoost* with tν² for tν²/2", STAR_RUNS)
def star_twice(x):
    least, spent = math.inf, 0.0
    for vote in adaboost_star(x.A, x.nu, x.t):
        least, spent = min(least, vote.edge), spent + vote.step
        bound = (least - x.nu) * spent + vote.number * x.nu**2 - math.log(len(x.A))
        yield at_least(float((x.A @ vote.w).min()), bound, round=vote.number)


@planted("AdaBoost* with the best edge so far", STAR_RUNS)
def star_largest(x):
    most = -math.inf
    for vote in adaboost_star(x.A, x.nu, x.t):
        most = max(most, vote.edge)
        if vote.edge > 0.999:
            return
        right = math.atanh(vote.edge) - math.atanh(most - x.nu)
        yield equal(vote.step, right, round=vote.number)


@planted("the risk is at most Π (1 − γ_s²)", RUNS)
def no_root(x):
    product = 1.0
    for vote in adaboost(x.A, x.t, "classical"):
        product *= max(0.0, 1.0 - vote.edge**2)
        yield at_most(risk(x.A, vote.w), product, round=vote.number)


@planted("‖∇L‖_1 = n L", PAIRS)
def norm_without_n(x):
    return equal(reweighting(x.A, x.w).sum(), len(x.A) * risk(x.A, x.w))


@pytest.mark.parametrize("claim", X.claims.values(), ids=lambda c: c.id)
def test_it_is_found_out(claim):
    verdict = claim.attack(budget=1500)
    assert verdict.status == "false as stated", str(verdict)
    found = verdict.counterexample
    assert found is not None
    assert found.slack.high < 0.0
    entries = sum(np.size(value) for value in found.instance.values())
    assert entries <= (30 if "A" in claim.space.fields and claim.space is not SIGNS else 64)
