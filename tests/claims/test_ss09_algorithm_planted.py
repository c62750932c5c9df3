"""Wrong variants of true statements of SS09, Sec. 5: each must be found out."""

import math

import numpy as np
import pytest

from relaxboost.claims import Source, at_least, at_most, equal
from relaxboost.claims.ss09 import progress, rates
from relaxboost.claims.ss09.algorithm import lambert
from relaxboost.claims.ss09.runs import beta, fig1
from relaxboost.claims.ss09.smooth import (
    CAPPED_RUNS,
    Fig1Run,
    distribution,
    entropy,
    game,
    margin,
    smooth,
    smoothed_game,
    within,
)
from relaxboost.claims.votes import adaboost_by_hand, risk
from relaxboost.game.game import Game

X = Source("X", "errors planted")


def planted(name, space, **options):
    return X.claim(name, "", name, formula="", space=space, **options)


@planted("Lemma 12 with β ε_t²", CAPPED_RUNS)
def gain(x):
    run = Fig1Run(x, max_rounds=8)
    most = float(x.optimum(smoothed_game(x)).lower)
    for t in range(len(run.rounds) - 1):
        wanted = run.beta * max(0.0, most - float(run.D[t])) ** 2
        yield at_most(wanted, float(run.D[t + 1] - run.D[t]), round=t + 1)


@planted("Lemma 11 with half the gap", CAPPED_RUNS)
def half_gap(x):
    run = Fig1Run(x, max_rounds=5)
    most = x.optimum(smoothed_game(x))
    for t, value in enumerate(run.D):
        yield at_most(most - float(value), 0.5 * float(run.slope[t]), round=t + 1)


@planted("Lemma 11 with the next round's gap", CAPPED_RUNS)
def shifted_gap(x):
    run = Fig1Run(x, max_rounds=6)
    most = x.optimum(smoothed_game(x))
    for t, slope in enumerate(run.slope[1:], 1):
        yield at_most(most - float(run.D[t - 1]), float(slope), round=t)


@planted("Eq. 10 with the smaller norm", CAPPED_RUNS)
def norm_of_eq_10(x):
    run = Fig1Run(x, max_rounds=6)
    for t, eta in enumerate(run.steps):
        size = float(np.min(np.abs(run.v[t])))
        bound = eta * float(run.slope[t]) - eta**2 * size**2 / (2.0 * run.beta)
        yield at_least(float(run.D[t + 1] - run.D[t]), bound, round=t + 1)


@planted("Eq. 7 with the sign of ε/2 the other way", progress.sandwich.space)
def sandwich(x):
    rough = -float(margin(-x.theta, x.k))
    hat = -float(smooth(-x.theta, x.k, beta(len(x.theta), x.epsilon)))
    yield at_most(rough, hat - 0.5 * x.epsilon)


@planted("Eq. 7 with ε/4", progress.sandwich.space)
def quarter(x):
    rough = -float(margin(-x.theta, x.k))
    hat = -float(smooth(-x.theta, x.k, beta(len(x.theta), x.epsilon)))
    yield at_most(rough, hat + 0.25 * x.epsilon)


@planted("smoothness with the l2 norm halved", progress.smoothness.space)
def smoothness(x):
    d = distribution(-x.one, x.k, x.beta)[0]
    change = float(smooth(-x.one, x.k, x.beta) - smooth(-(x.one + x.two), x.k, x.beta))
    return at_most(change, float(d @ x.two) + np.sum(x.two**2) / (16.0 * x.beta))


@planted("d_t with the sign of the margins the other way", CAPPED_RUNS)
def sign(x):
    run = Fig1Run(x, max_rounds=4)
    others = within(x.rng, run.m, x.k, 50)
    for t, u in enumerate(run.u):
        d = distribution(-u, x.k, run.beta)[0]
        own = float(d @ u + run.beta * entropy(d))
        yield at_least(float(np.min(others @ u + run.beta * entropy(others))), own, round=t + 1)


@planted("one column less than rounds less one", CAPPED_RUNS)
def sparsity(x):
    for now in Fig1Run(x).rounds[1:]:
        yield at_most(int(np.count_nonzero(now.w)), now.number - 2, round=now.number)


@planted("the error at most gap + β W((m−1)/e)/2", CAPPED_RUNS)
def half_lambert(x):
    run = Fig1Run(x, max_rounds=20)
    rho = x.optimum(game(x))
    if x.k == 1:
        for t, error in enumerate(rho.middle - margin(run.u, 1)):
            bound = float(run.slope[t]) + run.beta * lambert((run.m - 1) / math.e) / 2.0
            yield at_most(float(error), bound, round=t + 1)


@planted("AdaBoost's loss at e^{−3γ²t/4}", rates.VOTES)
def loss(x):
    gamma = float(x.optimum(Game(x.A)).middle)
    for t, w in enumerate(adaboost_by_hand(x.A, x.rounds), 1):
        yield at_most(risk(x.A, w), math.exp(-0.75 * gamma**2 * t), round=t)


@planted("the test met in 1/ε rounds", CAPPED_RUNS)
def fewer_rounds(x):
    return at_most(len(fig1(game(x), x.epsilon)), math.log(len(x.A)) / x.epsilon)


@planted("Fenchel–Young without f̂", CAPPED_RUNS)
def no_penalty(x):
    run = Fig1Run(x, max_rounds=4)
    edges = np.max(np.abs(run.d @ run.A), axis=1)
    for t, slope in enumerate(run.slope):
        yield equal(float(edges[t] - run.D[t]), float(slope), round=t + 1)


@pytest.mark.parametrize("claim", X.claims.values(), ids=lambda claim: claim.id)
def test_planted_errors_are_found(claim):
    verdict = claim.check(trials=25)
    if verdict.status == "holds":
        verdict = claim.attack(budget=1500)
    assert verdict.status == "false as stated", verdict


@pytest.mark.parametrize("claim", [sandwich, quarter, no_penalty, shifted_gap], ids=lambda c: c.id)
def test_counterexamples_are_made_small(claim):
    found = claim.attack(budget=400).counterexample
    assert found.outcome == "refuted"
    values = claim.space.from_json(found.instance)
    assert claim.space.size(values, "m") == 2
    assert claim.space.complexity(values) < 20
