"""SS09, Fig. 2: the printed procedure, run in fractions and in floats."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.ss09 import SOURCE
from relaxboost.claims.ss09.exact import distribution, projected, projected_softmax, softmax
from relaxboost.relaxations._projections import by_sorting


def fig2(d0: Any, nu: Any) -> list[Any]:
    """Run the pseudo-code of Fig. 2 in fractions or in floats, and return d_t.

    Division by zero raises ZeroDivisionError.
    """
    # The pseudo-code lacks an ENDIF, so its first ENDFOR is read as ENDIF.
    u = sorted(d0, reverse=True)
    z = sum(u)
    xi = None
    for i in range(1, len(u) + 1):
        xi = (1 - nu * (i - 1)) / z
        if xi * u[i - 1] <= nu:
            break
        z = z - u[i - 1]
    smaller = np.minimum if isinstance(u[0], float) else min  # `np.minimum` returns nan for nan.
    return [smaller(nu, xi * weight) for weight in d0]


@SOURCE.claim(
    "F2", space=Space(sizes={"m": (1, 8)}, d0=Distribution(), nu=Real(0.02, 0.99))
).checked(trials=300)
def figure(x: Instance) -> Slacks:
    d0 = distribution(x.d0)
    nu = Fraction(x.nu)
    try:
        d = fig2(d0, nu)
    except ZeroDivisionError:
        yield equal(0, 1, "no mass, division by zero")
        return
    yield equal(sum(d), 1, "mass")
    if sum(d) == 1:
        for weight, right in zip(d, projected(d0, nu) or [], strict=True):
            yield equal(weight, right, "d_t and the solution of Eq. 14")


@figure.corrected()
def figure_feasible(x: Instance) -> Slacks:
    assume(Fraction(x.nu) * int(np.count_nonzero(x.d0)) >= 1)
    yield from figure(x)


@figure_feasible.step(
    space=Space(sizes={"m": (2, 8)}, theta=Vector("m", -3.0, 3.0), k=Whole(2, "m"))
)
def _(x: Instance) -> Slack:
    d0 = sorted(distribution(softmax(x.theta)), reverse=True)
    nu = Fraction(1, x.k)
    multiples = ((i, (1 - nu * i) / sum(d0[i:])) for i in range(x.k))
    first, xi = next((i, xi) for i, xi in multiples if xi * d0[i] <= nu)
    assume(first > 0)
    return at_least(xi * d0[first - 1], nu, "ξ d0_{i−1} and ν")


@SOURCE.claim(
    "F2-doubles", space=Space(sizes={"m": (2, 8)}, theta=Vector("m", -60.0, 0.0), k=Whole(2, "m"))
)
def doubles(x: Instance) -> Slacks:
    with np.errstate(all="ignore"):
        lost = fig2(list(softmax(np.array([0.0, -40.0, -41.0]))), 0.5)
    yield equal(math.fsum(lost), near(0.0), "mass of Fig. 2 for θ = (0, −40, −41)")
    yield from _accurate(by_sorting(-x.theta, 1.0, x.k), x)


def _accurate(d: Any, x: Instance) -> Slacks:
    mass = math.fsum(d)
    yield equal(math.inf if math.isnan(mass) else mass, near(1.0), "mass")
    if abs(mass - 1.0) <= 1e-9:
        for weight, right in zip(d, projected_softmax(x.theta, 1.0 / x.k), strict=True):
            yield equal(float(weight), near(right), "d_t and the solution of Eq. 14")
