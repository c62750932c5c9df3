"""Wrong variants of true statements about AdaBoost and AdaBoost*: each must be found out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxboost.claims import Source, at_least, at_most, equal
from relaxboost.claims.rds04.cycles import LONG, SIGNS, _cycle, _margin, upsilon
from relaxboost.claims.rw05.star import RUNS as STAR_RUNS
from relaxboost.claims.votes import (
    adaboost,
    adaboost_star,
)
from relaxboost.game.game import Game

X = Source("X", "errors planted")


def planted(name, space, **options):
    return X.claim(name, "", name, formula="", space=space, **options)


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


@pytest.mark.parametrize("claim", X.claims.values(), ids=lambda c: c.id)
def test_it_is_found_out(claim):
    verdict = claim.attack(budget=1500)
    assert verdict.status == "false as stated", str(verdict)
    found = verdict.counterexample
    assert found is not None
    assert found.slack.high < 0.0
    entries = sum(np.size(value) for value in found.instance.values())
    assert entries <= (30 if "A" in claim.space.fields and claim.space is not SIGNS else 64)
