"""Wrong proxies, schedules and losses: each is caught by the check that is meant for it."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from relaxboost import InputError
from relaxboost.functional.losses import LOSSES
from relaxboost.functional.losses.base import PointwiseLoss
from relaxboost.game.domains import FullSimplex, L1Ball, L2Ball, Simplex
from relaxboost.online import (
    Constant,
    Entropy,
    Growing,
    Horizon,
    Inner,
    PNorm,
    Power,
    Schedule,
    SquaredL2,
    Tilted,
)
from relaxboost.online.losses import as_online_loss
from relaxboost.online.schedules import SCHEDULES
from relaxboost.testing import ConformanceError, check_proxy, proxy_checks
from tests.testing.learning import check_online_loss, check_schedule

SIMPLEX, BALL = Simplex(2), L1Ball(2)


def wrong(base, **methods):
    """Return a proxy like `base` but for some methods, each of which is given the true one."""

    def replaced(name, method):
        def answer(self, *given):
            return method(getattr(base, name), self, *given)

        return answer

    bodies = {name: replaced(name, method) for name, method in methods.items()}
    name = f"{base.__name__}{len(globals())}"
    kind = type(name, (base,), {"name": "", "__module__": __name__, **bodies})
    globals()[name] = kind  # where pickle finds it
    return kind()


def scaled(factor):
    return lambda true, *given: factor * true(*given)


def shifted(true, *given):
    return true(*given) + 0.1


def changing(true, self, z, *given):
    z -= z.min()
    return true(self, z, *given)


KEPT = np.zeros(5)


def shared(true, *given):
    KEPT[:] = true(*given)
    return KEPT


def naive(true, self, z, beta, domain):
    """Overflows."""
    p = np.exp(-z / beta)
    return float(domain.radius) * p / p.sum()


def floored(true, *given):
    w = np.maximum(true(*given), 1e-3)
    return w * (2.0 / w.sum())


def favoured(true, self, z, beta, domain):
    return true(self, z - np.linspace(0.0, 1.0, z.size) * beta, beta, domain)


def warmer(factor):
    return lambda true, self, z, beta, domain: true(self, z, factor * beta, domain)


def of_other_sign(true, self, z, *given):
    return true(self, -z, *given)


def clipped(true, self, z, beta, domain):
    return true(self, np.maximum(z, -beta), beta, domain)


def at_least_one(true, self, z, beta, domain):
    return true(self, z, max(beta, 1.0), domain)


def forgetful(true, *given):
    """The parts need not add up to the radius."""
    value, constraints = true(*given)
    return value, constraints[:1]


class L1Square(SquaredL2):
    norm = "l1"


FULL, EUCLID = FullSimplex(2), L2Ball(2)
WRONG = [
    ("minimum", "V shifted", wrong(Entropy, value=shifted), SIMPLEX),
    ("minimum", "V is nan", wrong(Entropy, value=scaled(math.nan)), SIMPLEX),
    ("minimum", "V negative", wrong(Entropy, value=lambda t, *g: t(*g) - 0.1), BALL),
    ("minimum", "start elsewhere", wrong(SquaredL2, start=lambda *_: 2 * np.eye(5)[0]), FULL),
    ("minimum", "start outside", wrong(SquaredL2, start=lambda *_: np.zeros(5)), SIMPLEX),
    ("largest", "too small", wrong(Entropy, largest=scaled(0.99)), SIMPLEX),
    ("largest", "too large", wrong(SquaredL2, largest=scaled(1.01)), BALL),
    ("largest", "too small", wrong(SquaredL2, largest=scaled(0.9)), EUCLID),
    *(
        ("strong_convexity", "2% too much", wrong(kind, modulus=scaled(1.02)), over)
        for kind, over in [
            *((Entropy, over) for over in (SIMPLEX, FULL, BALL)),
            (SquaredL2, EUCLID),
            (Power, FULL),
            (Tilted, SIMPLEX),
        ]
    ),
    ("strong_convexity", "the wrong norm", L1Square(), SIMPLEX),
    ("strong_convexity", "none", wrong(Entropy, modulus=lambda *_: 0.0), SIMPLEX),
    ("modulus_attained", "half", wrong(Entropy, modulus=scaled(0.5)), SIMPLEX),
    ("gradient", "another weight", wrong(Entropy, gradient=scaled(1.1)), SIMPLEX),
    ("gradient", "spread too small", wrong(SquaredL2, spread=scaled(0.9)), BALL),
    ("mirror", "of wrong sign", wrong(Entropy, mirror=of_other_sign), BALL),
    ("mirror", "off the domain", wrong(Entropy, mirror=scaled(1.01)), SIMPLEX),
    ("mirror", "twice β", wrong(Entropy, mirror=warmer(2.0)), SIMPLEX),
    ("mirror", "never below 1e-3", wrong(Entropy, mirror=floored), SIMPLEX),
    ("optimality", "2% warmer", wrong(SquaredL2, mirror=warmer(1.02)), FULL),
    ("optimality", "2% warmer", wrong(SquaredL2, mirror=warmer(1.02)), EUCLID),
    ("extreme", "overflows", wrong(Entropy, mirror=naive), SIMPLEX),
    ("conjugate", "shifted", wrong(Entropy, conjugate=shifted), SIMPLEX),
    ("conjugate", "of other sign", wrong(SquaredL2, conjugate=scaled(-1.0)), EUCLID),
    ("lipschitz", "a third of β", wrong(Entropy, mirror=warmer(1 / 3)), SIMPLEX),
    ("duality", "another gradient", wrong(Entropy, gradient=scaled(1.1)), BALL),
    ("duality", "never below 1e-3", wrong(SquaredL2, mirror=warmer(1.001)), SIMPLEX),
    (
        "expression",
        "1% more",
        wrong(SquaredL2, expression=lambda *g: (1.01 * g[0](*g[1:])[0], [])),
        FULL,
    ),
    ("expression", "no total", wrong(Entropy, expression=forgetful), BALL),
    ("scaling", "β has a floor", wrong(Entropy, mirror=at_least_one), FULL),
    ("scaling", "z is clipped", wrong(Entropy, mirror=clipped), SIMPLEX),
    ("symmetry", "the last is favoured", wrong(Entropy, mirror=favoured), SIMPLEX),
    ("interface", "changes z", wrong(Entropy, mirror=changing), SIMPLEX),
    ("interface", "shares its answer", wrong(Entropy, mirror=shared), SIMPLEX),
    ("interface", "takes any domain", wrong(Entropy, check=lambda *_: None), SIMPLEX),
]


@pytest.mark.parametrize(
    ("check", "proxy", "over"), [pytest.param(c, p, d, id=f"{c}: {why}") for c, why, p, d in WRONG]
)
def test_the_check_meant_for_it_catches_it(check, proxy, over):
    with pytest.raises(ConformanceError) as caught:
        check_proxy(proxy, [over], sizes=(5,), only=check)
    assert caught.value.check == check
    assert repr(over) in str(caught.value)


def test_every_check_has_a_proxy_that_fails_it():
    assert {row[0] for row in WRONG} == set(proxy_checks())
    for promise in proxy_checks().values():
        assert promise.endswith(".")
        assert "\n" not in promise


def test_all_faults_are_reported_and_the_first_is_nearest_to_the_cause():
    with pytest.raises(ConformanceError) as caught:
        check_proxy(wrong(Entropy, value=shifted, mirror=of_other_sign), [BALL], sizes=(3, 5))
    assert caught.value.check == "minimum"
    assert {"largest", "mirror"} <= {other.check for other in caught.value.others}


def test_nothing_is_left_out_in_silence():
    report = check_proxy(
        PNorm(),
        [SIMPLEX],
        sizes=(2, 3),
        only=("mirror", "symmetry"),
        skip="symmetry",
        inadmissible=[2],
    )
    assert [(r.check, r.m, r.status) for r in report.rows] == [
        ("mirror", 2, "inadmissible"),
        ("symmetry", 2, "inadmissible"),
        ("mirror", 3, "passed"),
        ("symmetry", 3, "skipped"),
    ]
    assert "Simplex(radius=2)" in str(report)
    for sizes, inadmissible in (((2,), ()), ((3,), (3,))):
        with pytest.raises(ConformanceError, match="exactly for the sizes"):
            check_proxy(PNorm(), [SIMPLEX], sizes=sizes, inadmissible=inadmissible)


def test_what_cannot_be_checked_is_refused():
    with pytest.raises(InputError, match=r"write Entropy\(\)"):
        check_proxy(Entropy)
    with pytest.raises(InputError, match="no check is called 'nonsense'"):
        check_proxy(Entropy(), only="nonsense")


# Schedules and losses -----------------------------------------------------------------------


class Steps(Schedule):
    """β_i = f(i, squares), and what else is said of it."""

    def __init__(self, f, law=None, steady=False):
        self.f, self._law, self.steady = f, law, steady

    def temperature(self, i, squares, known):
        return self.f(i, squares)

    def law(self, known):
        return self._law


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        (Steps(lambda i, squares: i), "positive"),
        (Steps(lambda i, squares: 1.0 / (i + 1.0)), "β_i >="),
        (Steps(lambda i, squares: math.sqrt(1.0 + i), (1.0, 1.0, 0.5, 0.0)), "law"),
        (Steps(lambda i, squares: 1.0 + squares, steady=True), "steady"),
    ],
)
def test_wrong_schedules_are_caught(schedule, said):
    with pytest.raises(AssertionError, match=said):
        check_schedule(schedule)


@pytest.mark.parametrize(
    "schedule",
    [Growing(2.0), Horizon(50), Constant(0.3), *(kind() for kind in SCHEDULES.values())],
)
def test_the_schedules_of_the_package(schedule):
    check_schedule(schedule)


@dataclass(frozen=True)
class Bent(Inner):
    """<w, h> and something of w."""

    bend: float = 0.0
    slope: float = 0.0
    bound: float = 1.0

    def evaluate(self, w, h, y):
        value, u = super().evaluate(w, h, y)
        return value + self.bend * float(w @ w) / 2.0, u + (self.bend + self.slope) * w

    def lipschitz(self, reach, size, targets):
        return self.bound * size


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (Bent(bend=-1.0, bound=math.inf), "Q\\(x\\) >="),
        (Bent(slope=0.1, bound=math.inf), "Q\\(x\\) >="),
        (Bent(bend=1.0), "lipschitz"),
        (Bent(bound=0.99), "lipschitz"),
        (Bent(bend=math.nan), "finite"),
    ],
)
def test_wrong_losses_are_caught(loss, said):
    with pytest.raises(AssertionError, match=said):
        check_online_loss(loss)


@pytest.mark.parametrize(
    "name", ["inner", *(n for n, k in LOSSES.items() if issubclass(k, PointwiseLoss))]
)
def test_the_losses_of_the_package(name):
    check_online_loss(as_online_loss(name))
