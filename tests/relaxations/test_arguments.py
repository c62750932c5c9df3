"""Wrong arguments of every family are refused before work starts: the thing, the rule, the remedy.

Wrong arguments of the calculus and of `Custom` are tested with these.
"""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.relaxations import GroupCaps, SpectralRisk
from relaxboost.relaxations.base import fixed_m
from relaxboost.relaxations.bounds import bounds_of
from tests.conformance.families import FAMILIES

SKEW = [[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]]
HUGE = 10**400
"""No double holds it."""

SIZED = {
    "NormBall": (lambda x: rb.NormBall(2, x), "radius"),
    "NormBall(1)": (lambda x: rb.NormBall(1, x), "radius"),
    "NormBall(1, weights)": (lambda x: rb.NormBall(1, x, [1, 2]), "radius"),
    "NormBall(inf)": (lambda x: rb.NormBall(math.inf, x), "radius"),
    "NormBall(inf, weights)": (lambda x: rb.NormBall(math.inf, x, [1, 2]), "radius"),
    "NormPenalty": (lambda x: rb.NormPenalty(2, x), "weight"),
    "NormPenalty(1)": (lambda x: rb.NormPenalty(1, x), "weight"),
    "NormPenalty(inf)": (lambda x: rb.NormPenalty(math.inf, x), "weight"),
    "GroupNormPenalty": (lambda x: rb.relaxations.GroupNormPenalty([0, 1], x), "weight"),
    "GroupNormBall": (lambda x: rb.relaxations.GroupNormBall([0, 1], x), "radius"),
    "MahalanobisPenalty": (lambda x: rb.relaxations.MahalanobisPenalty(SKEW, x), "weight"),
    "MahalanobisBall": (lambda x: rb.relaxations.MahalanobisBall(SKEW, x), "radius"),
    "ChiSquarePenalty": (rb.relaxations.ChiSquarePenalty, "weight"),
    "ChiSquareBall": (rb.relaxations.ChiSquareBall, "radius"),
    "HellingerPenalty": (rb.relaxations.HellingerPenalty, "weight"),
    "HellingerBall": (rb.relaxations.HellingerBall, "radius"),
    "PowerPenalty": (lambda x: rb.relaxations.PowerPenalty(3, x), "weight"),
    "PowerBall": (lambda x: rb.relaxations.PowerBall(3, x), "radius"),
    "KLPenalty": (rb.KLPenalty, "weight"),
    "KLBall": (rb.KLBall, "radius"),
    "BinaryEntropy": (lambda x: rb.BinaryEntropy(2, x), "weight"),
}
"""Makers of what has a radius or a weight."""


@pytest.mark.parametrize("name", SIZED)
def test_sizes_are_positive_numbers(name):
    make, parameter = SIZED[name]
    owner = name.split("(")[0]
    for value in (0, -1, -0.5, Fraction(-1, 3)):
        with pytest.raises(rb.InputError, match=rf"{owner}.* needs .*{parameter}.*[><]") as caught:
            make(value)
        assert "\n" not in str(caught.value)
    for value in (math.nan, math.inf, -math.inf, "1", None, True, 1j, [1.0]):
        message = rf"{owner} needs {parameter} to be a finite real number, got"
        with pytest.raises(rb.InputError, match=message):
            make(value)
    for value in (HUGE, Fraction(1, HUGE)):
        with pytest.raises(rb.InputError, match=rf"{parameter} <= 1e100"):
            make(value)


@pytest.mark.parametrize(("kind", "size"), [(rb.NormBall, "radius"), (rb.NormPenalty, "weight")])
def test_omitted_arguments_of_norms_are_named(kind, size):
    for make in (kind, lambda: kind(3), lambda: kind(**{size: 1})):
        with pytest.raises(rb.InputError, match=rf"^{kind.__name__} needs p and {size}, as in"):
            make()
    f = kind(3, 0.9)
    assert pickle.loads(pickle.dumps(f)) == copy.copy(f) == f


SMALLEST = {
    "NormBall(2)": (rb.NormBall(2, 0.4), r"NormBall\(2, 0.4\) does not meet .* at least 0\.5$"),
    "NormBall(1.5)": (rb.NormBall(1.5, 0.5), "at least 0.62996052"),
    "NormBall(8)": (rb.NormBall(8, 0.2), "at least 0.29730177"),
    "NormBall(1)": (rb.NormBall(1, 0.9), "at least 1$"),
    "NormBall(inf)": (rb.NormBall(math.inf, 0.2), r"sum to 1 only if 1/k is at least 1/m = 0\.25$"),
    "NormBall(2, weights)": (rb.NormBall(2, 0.4, [1, 2, 3, 4]), "at least 0.83811635"),
    "NormBall(1, weights)": (rb.NormBall(1, 1.5, [2, 3, 4, 5]), "at least 2$"),
    "GroupNormBall": (rb.relaxations.GroupNormBall([0, 0, 1, 1], 0.5), "at least 0.70710678"),
    "GroupNormBall(3)": (
        rb.relaxations.GroupNormBall([0, 0, 1, 1], 0.5, p=3),
        "at least 0.62996052",
    ),
    "MahalanobisBall": (rb.relaxations.MahalanobisBall(SKEW, 0.4), r"does not meet .* at least 1$"),
    "f.shifted": (rb.NormBall(2, 1).shifted(1), r"\+inf on the whole simplex"),
    "f.scaled": (rb.NormBall(2, 0.5).scaled(3), r"\+inf on the whole simplex"),
    "Caps": (rb.Caps(0.2), r"on a game with m = 4 .* sum to 0\.8: raise some"),
    "Capped": (rb.Capped(5), "needs 1 <= k <= m, but this game has m = 4 examples"),
    "BinaryEntropy": (rb.BinaryEntropy(5), "needs 1 <= k <= m, but this game has m = 4 examples"),
}
"""Relaxations that leave nothing of the simplex of four examples, and what is said of them."""


@pytest.mark.parametrize("name", SMALLEST)
def test_what_misses_the_simplex_names_the_smallest_size_that_meets_it(name):
    f, message = SMALLEST[name]
    with pytest.raises(rb.InputError, match=message):
        rb.Game(np.eye(4), f)


def test_the_smallest_size_is_accepted_however_it_was_rounded():
    a = np.array([1.0, 2.0, 3.0, 4.0])
    for f in (
        rb.NormBall(2, 0.5),
        rb.NormBall(1.5, 4 ** (1 / 1.5 - 1)),
        rb.NormBall(1, 1),
        rb.NormBall(math.inf, 1 / 4),
        rb.NormBall(math.inf, float(1 / (1 / a).sum()), a),
        rb.NormBall(2, float((a**-2).sum() ** -0.5), a),
        rb.relaxations.GroupNormBall([0, 0, 1, 1], 0.5**0.5),
        rb.relaxations.MahalanobisBall(SKEW, 1),
    ):
        assert rb.Game(np.eye(4), f).m == 4
    with pytest.raises(rb.InputError, match=r"the radius must be at least 0\.48$"):
        rb.NormBall(math.inf, 0.1, a)


WEIGHTED = {
    "NormBall(2)": lambda a: rb.NormBall(2, 1, a),
    "NormBall(1)": lambda a: rb.NormBall(1, 1, a),
    "NormBall(inf)": lambda a: rb.NormBall(math.inf, 1, a),
    "NormPenalty(2)": lambda a: rb.NormPenalty(2, 1, a),
    "NormPenalty(1)": lambda a: rb.NormPenalty(1, 1, a),
    "NormPenalty(inf)": lambda a: rb.NormPenalty(math.inf, 1, a),
}


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 0, 1, 1], "weights > 0, but entry 1 is 0"),
        ([1, 1, -2, 1], "weights > 0, but entry 2 is -2"),
        ([1, math.nan, 1, 1], "every entry of weights to be a finite real number, got nan"),
        ([1, math.inf, 1, 1], "every entry of weights to be a finite real number, got inf"),
        ([1, Fraction(1, HUGE), 1, 1], "every entry of weights <= 1e100, got about 1e-400"),
        ([], "weights to have at least one entry"),
        (3, "weights to be a vector of numbers, got 3"),
        ("ab", "weights to be a vector of numbers, got 'ab'"),
        (np.ones((2, 2)), r"weights to be a vector, got shape \(2, 2\)"),
        ([1, 1], "has 2 (entries in weights|caps), but this game has m = 4 examples; pass one"),
    ],
)
def test_weights_of_norms(name, weights, message):
    with pytest.raises(rb.InputError, match=message):
        rb.Game(np.eye(4), WEIGHTED[name](weights))


PRIORS = {
    "ChiSquarePenalty": lambda p: rb.relaxations.ChiSquarePenalty(1, p),
    "ChiSquareBall": lambda p: rb.relaxations.ChiSquareBall(1, p),
    "HellingerPenalty": lambda p: rb.relaxations.HellingerPenalty(1, p),
    "HellingerBall": lambda p: rb.relaxations.HellingerBall(1, p),
    "PowerPenalty": lambda p: rb.relaxations.PowerPenalty(3, 1, p),
    "PowerBall": lambda p: rb.relaxations.PowerBall(3, 1, p),
}
"""KL is in `test_kl`: it alone may have a prior with zeros."""


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.25, 0.125, 0.12], r"priors must sum to one within 1e-09, but these sum to 0\.995"),
        ([0.5, 0.5, 0.5, -0.5], r"needs prior\[3\] >= 0, got -0\.5"),
        ([0.5, 0.5, 0, 0], r"prior > 0, but prior\[2\] is 0; leave that example out, or use KL"),
        ([0.5, 0.5, math.nan, 0], "every entry of prior to be a finite real number, got nan"),
        ([0.5, 0.5], "2 entries in prior, but this game has m = 4 examples; pass one"),
        ([], "priors must sum to one"),
        (1, "prior to be a vector of numbers, got 1"),
    ],
)
def test_priors(name, prior, message):
    with pytest.raises(rb.InputError, match=message):
        rb.Game(np.eye(4), PRIORS[name](prior))


@pytest.mark.parametrize("name", ["PowerPenalty", "PowerBall"])
def test_a_prior_whose_powers_overflow(name):
    """The weights of examples were nan."""
    f = getattr(rb.relaxations, name)(20, 1, [1.0, 1e-17])
    with pytest.raises(rb.InputError, match=r"order 20 has powers of prior\[1\] = 1e-17 that over"):
        rb.Game(np.eye(2), f)


NORMS = {"NormBall": rb.NormBall, "NormPenalty": rb.NormPenalty}
GROUPS = {
    "GroupNormPenalty": rb.relaxations.GroupNormPenalty,
    "GroupNormBall": rb.relaxations.GroupNormBall,
}
QUADRATIC = {
    "MahalanobisPenalty": rb.relaxations.MahalanobisPenalty,
    "MahalanobisBall": rb.relaxations.MahalanobisBall,
}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize(
    ("p", "message"),
    [
        (0.5, "needs 1 <= p <= inf, got p = 0.5, which does not define a norm"),
        (-1, "needs 1 <= p <= inf, got p = -1"),
        (math.nan, "p to be a finite real number, got nan"),
        (-math.inf, "p to be a finite real number, got -inf"),
        ("2", "p to be a (finite real number|number, or math.inf), got '2'"),
        (True, "p to be a finite real number, got True"),
        (1.000001, r"needs 1\.00001 <= p <= 10001, or p = 1 or inf; use p = 1$"),
        (1e5, r"needs 1\.00001 <= p <= 10001, or p = 1 or inf; use p = math\.inf$"),
        (HUGE, r"use p = math\.inf$"),
    ],
)
def test_orders_of_norms(name, p, message):
    with pytest.raises(rb.InputError, match=f"{name} .*{message}"):
        NORMS[name](p, 1)


@pytest.mark.parametrize("name", NORMS)
def test_weights_whose_powers_no_double_holds(name):
    for p, end in ((1.001, "1"), (700, "math.inf")):
        message = f"weights from 0.5 to 3 has powers of order .* use p = {end}, or weights closer"
        with pytest.raises(rb.InputError, match=message):
            NORMS[name](p, 1, [0.5, 1, 3])


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        ([0, 2, 0, 2], {}, "each of the labels 0, 1, ..., max"),
        ([0, -1, 0, 0], {}, "one integer for each example"),
        ([0.5, 1, 0, 0], {}, "one integer for each example"),
        ([0, math.nan, 0, 0], {}, "every entry of groups to be a finite real number"),
        ([], {}, "groups to have at least one entry"),
        (3, {}, "groups to be a vector of numbers"),
        (np.zeros((2, 2), int), {}, r"groups to be a vector, got shape \(2, 2\)"),
        (
            [0, 1],
            {},
            "has 2 entries in groups, but this game has m = 4 examples; pass one",
        ),
        ([0, 0, 1, 1], {"p": 1}, "needs 1 < p < inf for the groups, got p = 1"),
        ([0, 0, 1, 1], {"p": math.inf}, "p to be a finite real number, got inf"),
        ([0, 0, 1, 1], {"p": HUGE}, r"needs 1\.00001 <= p <= 10001$"),
        ([0, 0, 1, 1], {"factors": [1]}, "a factor > 0 for each of the 2 groups"),
        ([0, 0, 1, 1], {"factors": [1, 0]}, "a factor > 0 for each of the 2 groups"),
        ([0, 0, 1, 1], {"factors": [1, math.nan]}, "every entry of factors to be a finite"),
    ],
)
def test_groups(name, groups, options, message):
    with pytest.raises(rb.InputError, match=message):
        rb.Game(np.eye(4), GROUPS[name](groups, 1, **options))


@pytest.mark.parametrize("name", QUADRATIC)
@pytest.mark.parametrize(
    ("Q", "message"),
    [
        (np.eye(3), "has 3 entries in a row of Q, but this game has m = 4 examples; pass one"),
        (np.ones(4), "Q to be a matrix of numbers with m columns"),
        (np.zeros((0, 4)), "Q to be a matrix of numbers with m columns"),
        (np.eye(4) * 1j, "Q to be a matrix of numbers with m columns"),
        (None, "Q to be a matrix of numbers with m columns"),
        ([[1, 2], [3]], "Q to be a matrix of numbers: "),
        (np.full((4, 4), math.nan), "finite entries of Q"),
        (np.eye(4) * 1e200, "entries of Q in .-1e100, 1e100.; rescale Q and the (weight|radius)"),
    ],
)
def test_matrices_of_norms(name, Q, message):
    with pytest.raises(rb.InputError, match=message):
        rb.Game(np.eye(4), QUADRATIC[name](Q, 1))


@pytest.mark.parametrize("order", [0, -1, 1, 1.0001, 0.01, 21, math.nan, "2"])
def test_orders_of_divergences(order):
    for make in (rb.relaxations.PowerPenalty, rb.relaxations.PowerBall):
        number = isinstance(order, str) or math.isnan(order)
        message = (
            "finite real number" if number else r"an order in \[0.05, 20\] that differs from 1"
        )
        with pytest.raises(rb.InputError, match=message):
            make(order, 1)


WRONG = [
    (lambda: rb.KLBall(0), "KLBall needs radius > 0, got 0"),
    (lambda: rb.KLPenalty(1, (0.5, 0.4)), "priors must sum to one"),
    (lambda: rb.KLBall(1, ()), "priors must sum to one"),
    (lambda: rb.KLBall(1, (1.5, -0.5)), r"needs prior\[1\] >= 0"),
    (lambda: rb.KLBall(1, (math.nan, 1)), "every entry of prior to be a finite"),
    (lambda: rb.KLBall(1, "ab"), "vector of numbers"),
    (lambda: rb.KLBall(1, 0.5), "vector of numbers"),
    (lambda: rb.Game(np.eye(3), rb.KLBall(1, (0.5, 0.5))), "2 entries in prior, .* m = 3"),
    (lambda: rb.Caps([0.3, 0.3, 0.3]), r"these 3 caps sum to 0\.9: raise some"),
    (lambda: rb.Caps([1 / 3] * 3), r"sum to 1 - 5\.55e-17: .* or pass a Fraction"),
    (lambda: rb.Caps(0.1).resolve(9), r"on a game with m = 9 .* these 9 caps sum to 0\.9"),
    (lambda: rb.Caps([1, -0.5]), r"caps\[1\] to be >= 0, got -0\.5"),
    (lambda: rb.Caps([1, math.nan]), r"caps\[1\] \(1 or more is no cap\) to be a finite"),
    (lambda: rb.Caps([1, math.inf]), "finite real number, got inf"),
    (lambda: rb.Caps("abc"), "finite real number, got 'abc'"),
    (lambda: rb.Caps([[1, 2]]), "finite real number"),
    (lambda: rb.Caps([True, 1]), "finite real number"),
    (lambda: rb.Caps([]), "one cap for each example, but got none"),
    (lambda: rb.Caps([1, 1]).resolve(3), r"has 2 caps, but this game has m = 3 examples; pass"),
    (
        lambda: GroupCaps([0, 1], 0.25),
        "without a free example needs caps .* sum to 0.5",
    ),
    (
        lambda: GroupCaps([0, 1], [1]),
        "no cap for group 1; pass caps for the groups 0, 1",
    ),
    (lambda: GroupCaps([0, 1], {0: 1}), "no cap for group 1"),
    (lambda: GroupCaps([0, -1], {0: 1, -1: 0.5}), "no cap for -1, the label"),
    (lambda: GroupCaps([0, -2], 1), r"groups\[1\] to be an integer >= 0, or -1"),
    (lambda: GroupCaps([0.0, 1.0], 1), r"groups\[0\] to be an integer"),
    (lambda: GroupCaps(["a", "b"], 1), r"got 'a'; np\.unique\(groups, return_inverse=True\)\[1\]"),
    (lambda: GroupCaps([True, 1], 1), r"groups\[0\] to be an integer"),
    (lambda: GroupCaps(3, 1), "a vector of labels"),
    (lambda: GroupCaps([], 1), "a vector of labels"),
    (lambda: GroupCaps([0, 1], [1, -1]), "the cap of group 1 to be >= 0"),
    (lambda: GroupCaps([0, 1], [1, math.nan]), "the cap of group 1 .* finite"),
    (
        lambda: GroupCaps([0, 1], 1).resolve(3),
        "2 entries in groups, but this game has m = 3",
    ),
    (rb.Capped, "needs either k or fraction"),
    (lambda: rb.Capped(k=2, fraction=0.5), "needs either k or fraction"),
    (lambda: rb.Capped(0.99), r"Capped\(k=0.99\) needs k >= 1"),
    (lambda: rb.Capped(-3), "needs k >= 1"),
    (lambda: rb.Capped(math.nan), "finite real number"),
    (lambda: rb.Capped(math.inf), "finite real number"),
    (lambda: rb.Capped("3"), "finite real number"),
    (lambda: rb.Capped(True), "finite real number"),
    (lambda: rb.Capped(2 + 1j), "finite real number"),
    (lambda: rb.Capped(fraction=0), "0 < fraction <= 1"),
    (lambda: rb.Capped(fraction=1.5), "0 < fraction <= 1"),
    (
        lambda: rb.Capped(80).resolve(50),
        r"Capped\(k=80\) needs 1 <= k <= m, but this game has m = 50",
    ),
    (lambda: rb.Capped(2).resolve(1), "has m = 1 example: weights of at most 1/k sum to 1"),
    (
        lambda: rb.Capped(fraction=0.01).resolve(50),
        r"k = 0.5 .* use a fraction of at least 1/m = 0.02",
    ),
    (lambda: rb.Capped(fraction=0.5).cap, "has no k before the number of examples"),
    (rb.BinaryEntropy, "needs either k or fraction"),
    (lambda: rb.BinaryEntropy(2, 1, 0.5), "needs either k or fraction"),
    (lambda: rb.BinaryEntropy(0.5), r"BinaryEntropy\(k=0.5\) needs k >= 1"),
    (lambda: rb.BinaryEntropy("2"), "finite real number"),
    (lambda: rb.BinaryEntropy(fraction=0), "0 < fraction <= 1"),
    (lambda: rb.BinaryEntropy(fraction=0.01).resolve(50), "use a fraction of at least"),
    (lambda: rb.BinaryEntropy(fraction=0.5).penalty(np.ones(2)), "has no k before the number"),
    (
        lambda: SpectralRisk.from_spectrum([0.25, 0.75]),
        r"sigma\[1\] = 0.75 exceeds.*sorted",
    ),
    (lambda: SpectralRisk.from_spectrum([1.5, -0.5]), "weights >= 0"),
    (lambda: SpectralRisk.from_spectrum([0.5, 0.4]), "sum to 0.9; divide"),
    (lambda: SpectralRisk.from_spectrum([]), "at least one entry"),
    (lambda: SpectralRisk.from_spectrum([[1.0]]), "finite real number|vector"),
    (lambda: SpectralRisk.from_spectrum(np.eye(2)), "vector"),
    (lambda: SpectralRisk.from_spectrum("gini"), "vector"),
    (lambda: SpectralRisk.from_spectrum([1, math.nan]), "finite"),
    (
        lambda: SpectralRisk.from_spectrum([0.5, 0.5]).resolve(3),
        "2 weights.*m = 3.*gini",
    ),
    (
        lambda: SpectralRisk.from_spectrum(lambda t: 2 * (1 - t)).resolve(3),
        "a density",
    ),
    (
        lambda: SpectralRisk.from_spectrum(lambda t: t * t).resolve(3),
        "concave.*weight 1",
    ),
    (
        lambda: SpectralRisk.from_spectrum(lambda t: 4 * t - 3 * t * t).resolve(9),
        "decrease",
    ),
    (
        lambda: SpectralRisk.from_spectrum(lambda t: None).resolve(3),
        r"phi\(0/3\).*finite",
    ),
    (lambda: SpectralRisk.exponential(0), "1e-09 <= c"),
    (lambda: SpectralRisk.exponential("1"), "finite real number"),
    (lambda: SpectralRisk.extremile(0.5), "1 <= r"),
    (lambda: SpectralRisk.power(1.5), "r <= 1.*mean"),
    (lambda: SpectralRisk.power(0), "1e-09 <= r"),
    (lambda: SpectralRisk.mean_cvar(1.5, 0.1), "weight <= 1"),
    (lambda: SpectralRisk.mean_cvar(0.5, 0), "fraction <= 1"),
]
"""Makers with arguments that only one family takes, and the error that each one raises."""


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_arguments_of_one_family(make, message):
    with pytest.raises(rb.InputError, match=message):
        make()


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in FAMILIES])
def test_margins_are_a_vector_of_finite_numbers(make):
    f = make(6).resolve(6)
    wrong = {
        "vector, got shape": (np.ones((6, 6)), [], 1.0, None),
        "nan or infinite": ([1, 2, 3, 4, 5, x] for x in (math.nan, math.inf, -math.inf)),
        "numbers": ("abcdef", np.ones(6) * 1j, [[1, 2], 3, 4, 5, 6, 7]),
    }
    for message, margins in wrong.items():
        for u in margins:
            for method in (
                f.relaxed_margin,
                bounds_of(f).witness,
                lambda u: f.distribution(u, 0.1),
            ):
                with pytest.raises(rb.InputError, match=message):
                    method(u)
    for beta in (0, -1, math.nan, math.inf, "x", None):
        with pytest.raises(rb.InputError, match=r"beta|numbers"):
            f.distribution(np.zeros(6), beta)
    with pytest.raises(rb.InputError, match="nan or infinite"):
        f.repair(np.full(6, math.nan))
    if fixed_m(f) is not None:
        with pytest.raises(
            rb.InputError, match="has parameters for m = 6 examples, but u has 3 entries"
        ):
            f.relaxed_margin(np.zeros(3))


def test_margins_whose_squares_overflow_are_margins():
    u = np.array([1e200, -1e200, 5e199])
    assert rb.HardMargin().relaxed_margin(u)[0] == -1e200
    assert rb.Capped(2).relaxed_margin(u)[0] == pytest.approx(-0.25e200)
    with pytest.raises(rb.InputError, match="needs finite margins u"):
        rb.Capped(2).relaxed_margin(np.array([1e200, -math.inf, math.inf]))
