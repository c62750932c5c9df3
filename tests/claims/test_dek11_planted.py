"""Wrong variants of the lecture's true statements: each must be found out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relaxboost.claims import Choice, Source, Space, assume, at_most
from relaxboost.claims.dek11 import descent, divergence, experts
from relaxboost.claims.dek11.derandomised import errors, vote_errors
from relaxboost.claims.dek11.recap import deviations
from relaxboost.claims.dek11.regret import STEPS as DESCENTS
from relaxboost.claims.dek11.runs import (
    LAWS,
    LINES,
    LOSSES,
    STREAMS,
    Samples,
    azuma,
    never_more,
    one,
    project,
)
from relaxboost.claims.dek11.validation import RUNS, Validated, later
from relaxboost.claims.fields import Real

X = Source("X", "errors planted")


def planted(name, space, **options):
    return X.claim(name, "", name, formula="", space=space, **options)


@planted("Eq. 1 for the last iterate in place of Q", LAWS)
def last_iterate(x):
    law = Samples(x)
    run = law.run()
    deviation = law.risk(run.w[:, -1]) - run.losses.mean(axis=1)
    return never_more(deviation, law.chances, azuma(law.c, law.m), "")


@planted("Eq. 1 with c/2", LAWS)
def half_the_range(x):
    law = Samples(x)
    return never_more(deviations(law, law.run()), law.chances, azuma(law.c / 2.0, law.m), "")


@planted("Theorem 1 with half of the bound", STREAMS)
def half_of_theorem_1(x):
    steep, eta = descent.step(x)
    run = one(x).descended(x.B, eta)
    regret = float((run.losses - one(x).of(project(x.w, x.B))[0]).sum())
    return at_most(regret, steep * x.B * math.sqrt(len(x.A)) / 2.0)


@planted("the regret for any step without B²/(2η)", DESCENTS)
def no_start(x):
    steep, _ = descent.step(x)
    run = one(x).descended(x.B, x.eta)
    regret = float((run.losses - one(x).of(project(x.B * x.w, x.B))[0]).sum())
    return at_most(regret, x.eta * steep**2 * len(x.A) / 2.0)


@planted("Hoeffding with the least loss of the sample for that of w*", LINES)
def chosen_afterwards(x):
    law = Samples(x)
    run = law.run()
    off = law.risk(law.best()) - run.losses.min(axis=1)
    return never_more(off, law.chances, azuma(law.c, law.m), "")


@planted("the vote at most as bad as Q", LAWS)
def vote_without_two(x):
    law = Samples(x)
    w = law.run().before
    return at_most(float((vote_errors(law, w, 1.0) - errors(law, w, 1.0)).max()), 0.0)


@planted("the logistic loss bounds the 0-1 loss", Space(u=Real(-3, 3), loss=Choice("logistic")))
def logistic_bounds(x):
    value = float(LOSSES[x.loss].pointwise(np.array([x.u]), np.array([1.0]))[0][0])
    return at_most(float(x.u <= 0.0), value)


@planted("the radius of m examples for all iterates", RUNS)
def one_radius(x):
    law = Samples(x)
    seen, risk, _ = later(law)
    worst = (2.0 * law.m * ((risk - seen) / law.c) ** 2).max(axis=1)
    return never_more(worst, law.chances, lambda t: 2.0 * law.m * np.exp(-t), "")


@planted("the chosen one is within one radius of the best", RUNS)
def within_one(x):
    assume(x.m >= 2)
    found = Validated(x)
    radius = found.law.c * np.sqrt(found.needed / found.law.m) / 2.0
    return at_most(float((found.over() - radius).max()), 0.0)


@planted("Theorem 3 without the 2", experts.STREAMS)
def no_two(x):
    m, n = x.A.shape
    run = experts.learned(x)
    return at_most(experts.linear_regret(run), experts.steep(x) * math.sqrt(m * math.log(n) / 2.0))


@planted("Z within half of ηλX", divergence.STEPS)
def half_of_z(x):
    Z, _ = divergence.exponents(x, one(x).exponentiated(x.eta))
    return at_most(float(np.abs(Z).max()) / x.eta, experts.steep(x) / 2.0)


@planted("the moment generating function with η²λ²X²/8", divergence.STEPS)
def eighth(x):
    """That of an interval of length ηλX."""
    run = one(x).exponentiated(x.eta)
    Z, mean = divergence.exponents(x, run)
    logs = np.log((run.before[0] * np.exp(Z - mean)).sum(axis=1))
    return at_most(float(logs.max()), (x.eta * experts.steep(x)) ** 2 / 8.0)


@pytest.mark.parametrize("claim", X.claims.values(), ids=lambda c: c.id)
def test_an_error_is_found_out(claim):
    verdict = claim.attack(budget=400)
    assert verdict.status == "false as stated", str(verdict)
    instance = verdict.counterexample.instance
    length = claim.space.complexity(claim.space.from_json(instance))
    assert length <= 60.0, instance
