"""Claims made for the tests of what shows them."""

from __future__ import annotations

import numpy as np

from relaxboost.claims import (
    Choice,
    Distribution,
    Matrix,
    Real,
    Source,
    Space,
    Whole,
    assume,
    at_least,
    at_most,
    equal,
)

MADE = Source("MADE", 'A. Nobody & B. <None> (1999), "Quotes" & stars: f*(u), *emphasis*')

_GAMES = Space(
    sizes={"m": (2, 5), "n": (1, 4)}, A=Matrix(), d=Distribution("m"), epsilon=Real(0.05, 0.5)
)


@MADE.claim(
    "trace",
    "Theorem 1 | rate",
    "The loss is <at most> its bound & `falls`.",
    formula="L_t ≤ e^{−t/30} [1](2) < ‖d‖_1",
    given="ε > 0 && ε < 1/2, f*(0) = 0 = g*(0).",
    space=_GAMES,
    counterexamples=[{"A": [["1/3", 1], [-1, 0]], "d": ["1/3", "2/3"], "epsilon": "1/10"}],
).checked(trials=12)
def trace(x):
    """It holds for *thirty* rounds only, `t <= 30`; f*(x) and g*(x) stay.

    <script>alert("no")</script>
    """
    for t in range(1, 61):
        bound = np.exp(-0.03 * t) * (1.2 + x.epsilon)
        yield at_most(np.exp(-0.02 * t), bound, "loss & <bound>", t)


@trace.corrected("It is at most 1.", "L_t ≤ 1")
def trace_corrected(x):
    """Since it falls."""
    for t in range(1, 61):
        yield at_most(np.exp(-0.02 * t), 1, "loss", t)


@MADE.claim("many", "p. 2", "Many hold.", formula="a ≤ |a|", space=_GAMES).checked(trials=10)
def many(x):
    """Entry by entry."""
    for factor in (1, 3, 1000):
        for entry in x.A.flat:
            yield at_most(factor * entry, factor * abs(entry) + x.epsilon)


@MADE.claim("equal", "p. 3", "The transpose.", formula="Σ A = Σ Aᵀ", space=_GAMES).checked(
    trials=10
)
def same(x):
    """Any order."""
    return equal(float(x.A.sum()), float(x.A.T.sum()), "sum")


@MADE.claim(
    "few",
    "p. 4",
    "The square is at most the number.",
    formula="t² ≤ t",
    space=Space(t=Real(-1, 1), k=Whole(1, 5), loss=Choice("hinge", "logit")),
    counterexamples=[{"t": "-1/2", "k": 1, "loss": "hinge"}],
).checked(trials=10)
def few(x):
    """Only in [0, 1]."""
    yield at_most(x.t**2, x.t, "square")
    yield at_most(x.t, float("inf"), "finite")
    yield at_least(x.t, -1, "range")


@MADE.claim(
    "large",
    "p. 5",
    "The mean is at most 2.",
    formula="mean(A) ≤ 2",
    space=Space(sizes={"m": (30, 40), "n": (20, 30)}, A=Matrix()),
).checked(trials=6)
def large(x):
    """By much."""
    return at_most(float(x.A.mean()), 2)


@MADE.claim("never", "p. 6", "Nothing.", formula="1 ≤ 0", space=_GAMES).checked(trials=3)
def never(x):
    """No instance is one."""
    assume(False)


MADE.unchecked("U1", "Sec. 9", "It is <nice> | `good`.", "a matter of *taste*: f*(x), g*(y)")
DRAWN = [claim for claim in MADE.claims.values() if claim is not never]
