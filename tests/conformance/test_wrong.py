"""Deliberately wrong relaxations, each caught by the check meant for it and by none before."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from relaxboost import Capped, Game, HardMargin, InputError, Relaxation, reference, solve
from relaxboost.relaxations.base import Traits, as_margins, onto_simplex
from relaxboost.testing import ConformanceError, check_relaxation, checks
from tests.conformance.samples import Ball, Entropy, Square

SIZES = (3,)
"""Every wrong relaxation except `Skew` is caught at this size."""


def wrong(base: type[Relaxation], **methods: Any) -> type[Any]:
    """Return the class `base` with some methods replaced; picklable, as it gets a global name."""
    name = f"{base.__name__}{len(globals())}"
    made = type(name, (base,), {**methods, "__module__": __name__, "__qualname__": name})
    globals()[name] = made
    return made


def mutating(f, u):
    result = HardMargin.relaxed_margin(f, u)
    u -= u.min()
    return result


def in_single(f, u):
    value, d = HardMargin.relaxed_margin(f, u)
    return value, d.astype(np.float32)


def nudged(f, u, beta):
    """Off by little enough that a cone solver would not tell."""
    return (1 - 1e-7) * HardMargin.distribution(f, u, beta) + 1e-7 / len(u)


def careless(f, u, beta):
    weights = np.exp((np.min(u) - u) / beta)
    return weights / weights.sum()


CENTER = {m: np.full(m, 1.0 / m) for m in SIZES}


@dataclass(frozen=True)
class Skew(Relaxation):
    """A norm on R² that shrinking one coordinate can raise."""

    def cvxpy_penalty(self, d):
        return cp.maximum(2 * cp.abs(d[0] - d[1]), cp.abs(cp.sum(d)) / 2), []

    traits = Traits(monotone=True)


@dataclass(frozen=True)
class Weighted(Relaxation):
    """A linear penalty that favours the first examples."""

    traits = Traits(symmetric=True)

    def cvxpy_penalty(self, d):
        return np.arange(d.shape[0]) @ d, []


@dataclass(frozen=True)
class Shifted(Relaxation):
    """f = 1/10 with minimum 0 claimed."""

    traits = Traits(zero_minimum=True)

    def cvxpy_penalty(self, d):
        return 0.1, []


class Nameless(Ball):
    """Compared by identity."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(frozen=True)
class Fussy(HardMargin):
    def resolve(self, m):
        if m == 3:
            raise InputError("not at m = 3")
        return self


def local_square():
    class LocalSquare(Square):
        """No module knows it."""

    return LocalSquare()


def two_caps(f, m):
    form = Capped.linear_form(f, m)
    return replace(form, upper=2.0 * form.upper)


WRONG = [
    ("resolve", "refuses a size", Fussy),
    ("identity", "a copy is unequal", lambda: Nameless(0.8)),
    ("identity", "not picklable", local_square),
    ("inputs_and_outputs", "changes u", wrong(HardMargin, relaxed_margin=mutating)),
    ("inputs_and_outputs", "shares its center", wrong(HardMargin, center=lambda f, m: CENTER[m])),
    ("inputs_and_outputs", "float32", wrong(HardMargin, relaxed_margin=in_single)),
    ("wrong_arguments", "takes any beta", wrong(HardMargin, distribution=careless)),
    ("center", "infeasible", wrong(Capped, center=lambda f, m: np.eye(m)[0])),
    ("repair", "leaves the domain", wrong(Capped, repair=lambda f, d: onto_simplex(d, "f"))),
    (
        "penalty",
        "negative entries are free",
        wrong(Capped, penalty=lambda f, d: 0.0 if np.max(d) <= f.cap * (1 + 1e-12) else math.inf),
    ),
    ("penalty", "another weight", wrong(Square, penalty=lambda f, d: float(d @ d))),
    (
        "conjugate",
        "twice too large",
        wrong(Capped, conjugate=lambda f, theta: 2.0 * Capped.conjugate(f, theta)),
    ),
    ("conjugate", "finite everywhere", wrong(HardMargin, conjugate=lambda f, theta: 0.0)),
    (
        "cvxpy_conjugate",
        "the norm is the wrong one",
        wrong(Capped, cvxpy_conjugate=lambda f, x: (cp.norm2(x) * f.cap, [])),
    ),
    (
        "fenchel_young",
        "too low by 1e-7",
        wrong(Capped, conjugate=lambda f, theta: Capped.conjugate(f, theta) - 1e-7),
    ),
    (
        "relaxed_margin",
        "d does not attain it",
        wrong(
            Capped, relaxed_margin=lambda f, u: (Capped.relaxed_margin(f, u)[0], f.center(u.size))
        ),
    ),
    (
        "relaxed_margin",
        "attained but not least",
        wrong(
            Capped, relaxed_margin=lambda f, u: (float(as_margins(u, f).mean()), f.center(u.size))
        ),
    ),
    (
        "cvxpy_relaxed_margin",
        "no cap",
        wrong(Capped, cvxpy_relaxed_margin=lambda f, u, gamma: (gamma, [u >= gamma])),
    ),
    (
        "own_witness",
        "too high by 1e-6",
        wrong(Capped, lower_bound=lambda f, u, w: Capped.lower_bound(f, u, w) + 1e-6),
    ),
    (
        "own_witness",
        "too high by 1e-12",
        wrong(Capped, lower_bound=lambda f, u, w: Capped.lower_bound(f, u, w) + 1e-12),
    ),
    (
        "own_witness",
        "loose",
        wrong(Capped, lower_bound=lambda f, u, w: Capped.lower_bound(f, u, w) - 1e-6),
    ),
    ("every_witness", "believes it", wrong(HardMargin, lower_bound=lambda f, u, w: w.gamma)),
    (
        "every_witness",
        "believes numbers",
        wrong(
            HardMargin,
            lower_bound=lambda f, u, w: w.gamma if math.isfinite(w.gamma) else -math.inf,
        ),
    ),
    (
        "every_witness",
        "nan comes back",
        wrong(
            HardMargin,
            lower_bound=lambda f, u, w: -math.inf if u.min() < w.gamma else w.gamma,
        ),
    ),
    (
        "entropy_range",
        "half of it",
        wrong(Capped, entropy_range=lambda f, m: Capped.entropy_range(f, m) / 2),
    ),
    ("penalty_bound", "never infeasible", wrong(Capped, penalty_bound=lambda f, d, s: (0.0, 0.0))),
    ("polyhedral", "another cap", wrong(Capped, linear_form=two_caps)),
    ("polyhedral", "no program", wrong(Capped, linear_form=lambda f, m: None)),
    ("curvature", "too large", lambda: Square(1.5)),
    ("curvature", "too large", wrong(Entropy, curvature=lambda f, m: 1.02 * f.eta)),
    ("curvature", "not there", wrong(Square, curvature=lambda f, m: 0.0)),
    ("monotone", "a skew norm", Skew),
    ("symmetric", "weighted", Weighted),
    ("zero_minimum", "shifted", Shifted),
    (
        "zero_in_core",
        "0 on the boundary",
        wrong(Entropy, traits=Traits(smooth=True, zero_in_core=True)),
    ),
    (
        "distribution",
        "ignores f",
        wrong(Capped, distribution=lambda f, u, beta: HardMargin().distribution(u, beta)),
    ),
    (
        "distribution",
        "half of beta",
        wrong(HardMargin, distribution=lambda f, u, beta: HardMargin().distribution(u, beta / 2)),
    ),
    ("first_order", "nudged", wrong(HardMargin, distribution=nudged)),
    (
        "small_beta",
        "beta has a floor",
        wrong(
            HardMargin,
            distribution=lambda f, u, beta: HardMargin().distribution(
                u, max(beta, 1e-3) if beta > 0 else 0
            ),
        ),
    ),
    (
        "large_beta",
        "beta has a ceiling",
        wrong(
            HardMargin,
            distribution=lambda f, u, beta: HardMargin().distribution(
                u, min(beta, 20.0) if beta < math.inf else beta
            ),
        ),
    ),
]


def make(kind: Any, m: int) -> Relaxation:
    return kind(max(m / 2, 1)) if isinstance(kind, type) and issubclass(kind, Capped) else kind()


@pytest.mark.parametrize(
    ("check", "kind"), [pytest.param(c, k, id=f"{c}: {why}") for c, why, k in WRONG]
)
def test_the_check_meant_for_it_catches_it(check, kind):
    sizes = (2,) if kind is Skew else SIZES
    before = takewhile(lambda name: name != check, checks())
    with pytest.raises(ConformanceError) as caught:
        check_relaxation(lambda m: make(kind, m), sizes=sizes, only=[*before, check])
    assert caught.value.check == check, caught.value
    assert check in str(caught.value)


@dataclass(frozen=True, eq=False)
class WrongThroughout(Relaxation):
    """Its penalty disagrees with its cvxpy form, and every trait it claims is wrong."""

    traits = Traits(monotone=True, symmetric=True, zero_minimum=True, zero_in_core=True)

    def cvxpy_penalty(self, d):
        return cp.sum(cp.square(d - 0.7)) + np.arange(d.shape[0]) @ d, [d >= 0]

    def penalty(self, d):
        return 0.3 * float(d @ d) if np.min(d) >= 0 else math.inf


def test_an_infinite_center_names_its_remedy():
    kind = wrong(Capped, center=lambda f, m: np.eye(m)[0])
    with pytest.raises(ConformanceError, match=r"finite at center\(m\); override `center` if"):
        check_relaxation(lambda m: make(kind, m), sizes=(4,), only="center")


def test_all_faults_are_reported_mathematics_first():
    with pytest.raises(ConformanceError) as caught:
        check_relaxation(WrongThroughout(), sizes=(1, 2))
    error = caught.value
    assert error.check == "penalty"
    others = [other.check for other in error.others]
    traits = {"monotone", "symmetric", "zero_minimum", "zero_in_core"}
    assert traits <= set(others)
    assert others[-1] == "identity"
    assert all(f"{other!r} with m = " in str(error) for other in others)
    with pytest.raises(ConformanceError) as alone:
        check_relaxation(WrongThroughout(), sizes=(2,), only="symmetric")
    assert alone.value.others == ()


def test_crossing_bounds_name_the_suite(rng):
    game = Game(np.round(rng.uniform(-1, 1, (4, 3)), 2), WrongThroughout())
    for found in (solve(game, tol=1e-3), reference(game)):
        assert found.lower > found.upper
        assert "rb.testing.check_relaxation(f)" in found.message
