"""Claims of Rudin, Daubechies & Schapire (2004): the cycles of AdaBoost, and its margin."""

import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.measure import Vacuous
from relaxboost.claims.source import Source
from relaxboost.claims.votes import (
    RUNS,
    Cycle,
    Separable,
    adaboost,
    all_signs,
    cycle,
    risk,
    short_of_one,
    weak_learnability,
)
from relaxboost.game.game import Game

SOURCE = Source.read(Path(__file__).with_name("statements.toml"))

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def _signs(rows: str) -> list[list[int]]:
    return [[1 if sign == "+" else -1 for sign in row] for row in rows.split()]


EIGHT = _signs("-++++--+ -++--+++ +-+++-++ +-++-+++ +-+-+++- ++-++++- ++-+++-+ ++++--+-")
"""The margin matrix of the paper's example: AdaBoost converges to the margin 1/3 instead of 3/8."""
SEVEN = _signs("-++++-- +--+-+- +-+++++ -+-++-+ +++---+ -++--++ ++-++++")
"""A smaller margin matrix than that of the paper, found by a search for counterexamples. The margin
of AdaBoost converges to 0.2341, but the maximum margin is 1/4. In rounds 1 and 9 of a cycle of 58
rounds, the first of several tied columns is chosen."""

SIGNS = Space(sizes={"m": (4, 10), "n": (3, 8)}, A=Separable())
EDGES = Space(gamma=Real(-0.999, 0.999))
LOSSES = Space(sizes={"m": (1, 8)}, d=Distribution("m"), a=Vector("m"))


@SOURCE.claim("map", space=Space(sizes={"m": (4, 10), "n": (2, 6)}, A=Separable(), t=Whole(1, 20)))
def iterated_map(x: Instance) -> Slacks:
    for vote, following in pairwise(adaboost(x.A, x.t + 1, "classical")):
        edge = float(x.A[:, vote.column] @ vote.d)
        a = x.A[:, vote.column]
        if abs(edge) > 0.999:
            return
        after = vote.d / (1.0 + a * edge)
        largest = float(np.abs(x.A.T @ vote.d).max())
        yield equal(abs(edge), largest, "edge, largest edge", vote.number)
        yield equal(after.sum(), 1.0, "Σ d_{t+1}", vote.number)
        yield equal(a @ after, 0.0, "edge of the last column", vote.number)
        off = float(np.abs(after - following.d).max())
        yield equal(off, 0.0, "d_{t+1} of the map less AdaBoost's", vote.number)


@iterated_map.step(space=EDGES)
def factor(x: Instance) -> Slacks:
    for a in (1.0, -1.0):
        right = math.sqrt(1.0 - x.gamma**2) / (1.0 + a * x.gamma)
        yield equal(math.exp(-a * math.atanh(x.gamma)), right, "e^(−aη)")


@SOURCE.claim("cycle-3x3", space=Space(sizes={"m": (3, 3)}, d=Distribution("m"))).checked(
    trials=30, resolution=1e-6
)
def cycle_three(x: Instance) -> Slacks:
    assume(float(x.d.min()) > 1e-6)
    A = 1.0 - 2.0 * np.eye(3)
    found = cycle(A, x.d)
    assert found is not None
    yield equal(len(found.edges), 3, "length of the cycle")
    weights = np.array([(3.0 - math.sqrt(5.0)) / 4.0, (math.sqrt(5.0) - 1.0) / 4.0, 0.5])
    for d, edge in zip(found.d, found.edges, strict=True):
        yield equal(_near(float(edge)), GOLDEN, "edge, (√5 − 1)/2")
        off = float(np.abs(np.sort(d) - weights).max())
        yield equal(_near(off), 0.0, "sorted d, the three weights")
    rho = x.optimum(Game(A))
    yield equal(_margin(A, found.w), rho, "margin of the cycle, ρ")
    yield equal(rho, 1.0 / 3.0, "ρ, 1/3")


def _margin(A: Array, w: Array) -> Bracket:
    return _near(float((A @ w).min() / np.abs(w).sum()))


def _near(value: float) -> Bracket:
    # Numbers of a cycle, whose distributions have the accuracy 1e-9, have an accuracy of 1e-7.
    return Bracket(value - 1e-7, value + 1e-7)


def _cycle(x: Instance) -> Cycle:
    found = cycle(x.A, np.full(len(x.A), 1.0 / len(x.A)))
    if found is None:
        raise Vacuous
    return found


@SOURCE.claim("maximum-margin", space=SIGNS).checked(
    resolution=1e-6,
    every=Enumeration(
        "a game of order 7 found by the attack, and the one of order 8 of the paper",
        lambda: [{"A": SEVEN}, {"A": EIGHT}],
    ),
)
def maximum_margin(x: Instance) -> Slack:
    return at_most(_margin(x.A, _cycle(x).w) + 0.01, x.optimum(Game(x.A)), "margin + .01, ρ")


@SOURCE.claim("non-optimal", space=Space(m=Whole(4, 8))).checked(
    resolution=1e-6, every=Enumeration("m = 4, ..., 8", lambda: [{"m": m} for m in range(4, 9)])
)
def non_optimal(x: Instance) -> Slacks:
    A = 1.0 - 2.0 * np.eye(x.m)
    rho = x.optimum(Game(A))
    yield equal(rho, Fraction(x.m - 2, x.m), "ρ, 1 − 2/m")
    best, some = (cycle(B, np.full(x.m, 1.0 / x.m)) for B in (A, A[:, :3]))
    assert best is not None and some is not None  # noqa: PT018
    yield equal(_margin(A, best.w), rho, "margin of the best columns, ρ")
    yield equal(_margin(A[:, :3], some.w), 1.0 / 3.0, "margin of the first three, 1/3")
    yield at_least(float(some.edges.min()), 1.0 / 3.0, "1/3, edges of the first three")


def upsilon(r: float) -> float:
    """Return Υ(r) = −log(1 − r²)/log((1 + r)/(1 − r)), or its limits 0 at r = 0 and 1 at r = 1."""
    if not 0.0 < r < 1.0:
        return min(max(r, 0.0), 1.0)
    return -math.log1p(-r * r) / (2.0 * math.atanh(r))


@SOURCE.claim("cycle-margin", space=SIGNS).checked(trials=80, resolution=1e-6)
def cycle_margin(x: Instance) -> Slacks:
    found = _cycle(x)
    rho = float(x.optimum(Game(x.A)).lower)
    total = float(np.arctanh(found.edges).sum())
    mean = float(np.log1p(-(found.edges**2)).sum()) / -2.0 / total
    least = np.min(found.d, axis=0)
    for i, margin in enumerate((x.A @ found.w / total).tolist()):
        if least[i] > 1e-2:
            yield equal(_near(margin), mean, f"example {i + 1} with d > 0: margin, mean of Υ")
        else:
            yield at_least(_near(margin), mean, f"example {i + 1}: mean of Υ, margin")
    yield at_least(_near(mean), upsilon(rho), "Υ(ρ), mean of Υ(γ_t)")
    yield at_least(upsilon(rho), rho / 2.0, "ρ/2, Υ(ρ)")


cycle_margin.step(space=EDGES)(factor.stated.check)


@SOURCE.claim(
    "margin-bound", space=Space(sizes={"m": (1, 8), "n": (1, 6)}, A=Matrix(), t=Whole(1, 60))
)
def margin_bound(x: Instance) -> Slacks:
    rho = float(x.optimum(Game(x.A)).lower)
    spent = gained = 0.0
    for vote in short_of_one(adaboost(x.A, x.t, "classical")):
        spent += math.atanh(vote.edge)
        gained -= math.log1p(-(vote.edge**2)) / 2.0
        bound = gained - math.log(len(x.A))
        least = float((x.A @ vote.w).min())
        yield at_least(least, bound, "−½ Σ log(1 − γ²) − log m, min (A w_t)_i", vote.number)
        if bound > 0.0:
            norm = float(np.abs(vote.w).sum())
            yield at_least(least / norm, bound / spent, "margin", vote.number)
        yield at_least(gained, upsilon(rho) * spent, "Υ(ρ) Σ η_s, −½ Σ log(1 − γ²)", vote.number)


@margin_bound.step(space=LOSSES)
def one_round(x: Instance) -> Slacks:
    for a in (x.a, np.where(x.a >= 0.0, 1.0, -1.0)):
        gamma = float(x.d @ a)
        if abs(gamma) <= 0.999:
            left = float(x.d @ np.exp(-math.atanh(gamma) * a))
            yield at_most(left, math.sqrt(1.0 - gamma**2), "Σ d_i e^(−ηa_i)")


@margin_bound.step(space=Space(r=Real(0, 0.999), s=Real(0, 0.999)))
def _(x: Instance) -> Slack:
    return at_most(upsilon(min(x.r, x.s)), upsilon(max(x.r, x.s)), "Υ(r), Υ(s)")


@SOURCE.claim(
    "half", space=Space(sizes={"m": (1, 6), "n": (1, 6)}, A=Matrix(), order=Whole(3, 400))
).checked(trials=60)
def half(x: Instance) -> Slacks:
    rho = float(weak_learnability(x).lower)
    assume(0.05 < rho < 0.999)
    assume(math.log(len(x.A)) / (upsilon(rho) - rho / 2.0) / rho < 4000.0)
    for A, value in ((x.A, rho), (1.0 - 2.0 * np.eye(x.order), 1.0 - 2.0 / x.order)):
        enough = math.log(len(A)) / (upsilon(value) - value / 2.0)
        yield at_most(enough / value, 12.0 * math.log(len(A)) / value**4, "rounds, 12 log(m)/ρ⁴")
        spent = 0.0
        for vote in short_of_one(adaboost(A, math.ceil(enough / value) + 1, "classical")):
            spent += math.atanh(vote.edge)
            if spent >= enough:
                found = float((A @ vote.w).min() / np.abs(vote.w).sum())
                yield at_least(found, value / 2.0, "ρ/2, margin", vote.number)
                break


@half.step(space=Space(r=Real(0.01, 0.99, log=True)))
def _(x: Instance) -> Slack:
    return at_least((upsilon(x.r) - x.r / 2.0) / x.r**3 + 1e-9, 1.0 / 12.0, "(Υ(r) − r/2)/r³")


@SOURCE.claim("training-error", space=RUNS)
def training_error(x: Instance) -> Slacks:
    product, total = 1.0, 0.0
    for vote in short_of_one(adaboost(x.A, x.t, "classical")):
        product *= math.sqrt(1.0 - vote.edge**2)
        total += vote.edge**2
        found = risk(x.A, vote.w)
        wrong = float(np.mean(x.A @ vote.w <= 0.0))
        yield at_most(wrong, found, "training error, L(−A w_t)", vote.number)
        yield at_most(found, product, "L(−A w_t), Π sqrt(1 − γ_s²)", vote.number)
        yield at_most(product, math.exp(-total / 2.0), "Π sqrt(1 − γ_s²), exp", vote.number)
        if all_signs(x.A):
            yield equal(found, product, "the same, entries ±1", vote.number)


training_error.step(space=LOSSES)(one_round.stated.check)
