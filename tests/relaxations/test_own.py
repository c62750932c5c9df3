"""A relaxation of the user's own, on the base class's defaults alone: an l2 ball."""

from __future__ import annotations

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.relaxations import BinaryEntropy, Caps, GroupCaps, SpectralRisk
from relaxboost.relaxations.base import operands_of
from relaxboost.solvers import Corrective, ERLPBoost, LPBoost
from tests.conformance.samples import Ball


@pytest.fixture
def game(rng):
    A = np.clip(rng.uniform(-1, 1, (6, 8)) + 0.2, -1, 1)
    return rb.Game(A, Ball(0.5))


def test_reference_and_booster_agree_and_the_ball_binds(game):
    reference = rb.reference(game)
    assert reference.method == "reference (CLARABEL)"
    assert reference.gap <= 1e-6
    assert np.linalg.norm(reference.d) == pytest.approx(0.5, abs=1e-6)
    for method, inner in (
        ("auto", "interior"),
        (ERLPBoost(), "smoothed"),
        (Corrective(step="away"), "smoothed"),
    ):
        booster = rb.solve(game, tol=0.02, method=method)
        assert booster.status == "optimal"
        assert booster.history[-1].inner == inner
        assert rb.compare(reference, booster)


def test_default_repair_moves_to_the_ball(game):
    corner = game.repair_d(np.eye(6)[2])
    assert np.linalg.norm(corner) == pytest.approx(0.5, abs=1e-8)
    assert corner.sum() == pytest.approx(1.0, abs=1e-15)
    assert np.argmax(corner) == 2
    inside = np.full(6, 1 / 6)
    assert np.array_equal(game.repair_d(inside), inside)


def test_linear_methods_refuse_what_is_not_polyhedral(game):
    with pytest.raises(rb.InputError, match="not polyhedral"):
        rb.reference(game, solver="HIGHS")
    with pytest.raises(rb.InputError, match=r'use LPBoost\(program="conic"\)'):
        rb.solve(game, method=LPBoost(program="linear"))


def test_its_brackets_are_labelled_numerical(game):
    from relaxboost.views import report

    solution = rb.solve(game, tol=0.05)
    assert report.text(solution).startswith("bracketed, numerical:")
    assert report.data(solution)["strongest_level"] == "numerical"


WRONG = [
    ("penalty", lambda self, d: d, r"a number, f\(d\), and returned ndarray of shape \(6,\)"),
    ("relaxed_margin", lambda self, u: float(u.min()), r"a pair, F\(u\) .* and returned float"),
    ("relaxed_margin", lambda self, u: (float(u.min()), [1.0]), r"a pair, .* and returned tuple"),
    ("distribution", lambda self, u, beta: list(u), "an array d, and returned list"),
]


@pytest.mark.parametrize(("name", "method", "said"), WRONG)
def test_what_its_methods_return_is_looked_at_first(name, method, said):
    wrong = type("Wrong", (Ball,), {name: method})(0.5)
    for f in (wrong, 2 * wrong, rb.Capped(3) + wrong):
        with pytest.raises(rb.InputError, match=rf"Wrong\.{name}: for m = 6 .* return {said}$"):
            rb.Game(np.eye(6), f)


UNDER = [
    (rb.Capped, {"k": 3}),
    (Caps, {"caps": [0.5] * 6}),
    (GroupCaps, {"groups": [0, 0, 0, 1, 1, 1], "caps": {0: 0.6, 1: 0.7}}),
    (SpectralRisk, {"ks": [2, 3], "weights": [0.5, 0.5]}),
    (rb.NormBall, {"p": 2, "radius": 0.6}),
    (rb.Custom, {"f": lambda d: 0.0}),  # whose penalty its own `center` asks
]


@pytest.mark.parametrize(
    ("family", "options", "name", "method", "said"),
    [(*f, *w) for f in UNDER for w in WRONG],
)
def test_it_is_looked_at_under_every_family(family, options, name, method, said):
    wrong = type("Wrong", (family,), {name: method})(**options)
    for f in (wrong, 2 * wrong, rb.KLPenalty(0.1) + wrong):
        with pytest.raises(rb.InputError, match=rf"Wrong\.{name}: for m = 6 .* return {said}$"):
            rb.Game(np.eye(6), f)


@pytest.mark.parametrize("returned", [None, "0", [0.0], 1j])
def test_the_penalty_of_a_custom_subclass_is_looked_at_wherever_it_is_asked(returned):
    """Inside dom f where the uniform d is not, and under a shift, which binds it alone."""
    even = np.full(6, 1 / 6)
    wrong = {"penalty": lambda self, d: returned if np.ptp(d) else np.inf}
    inside = type("Wrong", (rb.Custom,), wrong)(lambda d: (0.0, [d[0] >= 0.5]))
    shifted = type("Wrong", (rb.Custom,), {"penalty": lambda self, d: returned})(lambda d: 0.0)
    assert inside.penalty(even) == np.inf
    for f in (inside, shifted.shifted(0.1), rb.Capped(3) + shifted.shifted(0.1)):
        with pytest.raises(
            rb.InputError, match=r"Wrong\.penalty: .* a number, f\(d\), and returned"
        ):
            rb.Game(np.eye(6), f)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("penalty", "a d of the simplex"),
        ("relaxed_margin", "margins of 0"),
        ("distribution", "margins of 0"),
    ],
)
@pytest.mark.parametrize(("family", "options"), [UNDER[0], UNDER[-1]])
def test_what_a_method_raises_says_where_it_was_asked(family, options, name, where):
    """The reader's own traceback shows no margins."""

    def raises(self, x, *beta):
        raise ZeroDivisionError(f"largest {x.max():.3g}")

    own = type("Own", (family,), {name: raises})(**options)
    for f in (own, 2 * own, rb.KLPenalty(0.1) + own):
        with pytest.raises(ZeroDivisionError, match=r"^largest 0") as caught:
            rb.Game(np.eye(6), f)
        (note,) = caught.value.__notes__
        assert note.startswith(f"relaxboost asked Own.{name} at {where}, ")


@pytest.mark.parametrize(
    ("family", "options"), [(Caps, {"caps": 0.5}), (BinaryEntropy, {"k": 3, "weight": 1})]
)
def test_a_class_that_its_family_would_leave_is_refused(family, options):
    """The game would be of the family's f."""
    left = type("Left", (family,), {"penalty": lambda self, d: 1.0})(**options)
    for f in (left, 2 * left, rb.KLPenalty(0.1) + left):
        with pytest.raises(
            rb.InputError, match=rf"^Left: for m = 6 .* a {family.__name__}, without the `penalty` "
        ):
            rb.Game(np.eye(6), f)


def test_a_class_that_changes_nothing_of_f_is_taken_for_its_family():
    class Part(rb.Capped):
        def __init__(self, part):
            super().__init__(fraction=part)

        def __repr__(self):
            return "Part"

    for f in (Part(0.5), type("Same", (Caps,), {})(0.5), type("B", (BinaryEntropy,), {})(3, 1)):
        for whole in (f, 2 * f, rb.KLPenalty(0.1) + f):
            assert rb.Game(np.eye(6), whole).m == 6
    assert rb.Game(np.eye(6), Part(0.5)).relaxation == rb.Capped(3)


@pytest.mark.parametrize(("family", "options"), [(rb.HardMargin, {}), (rb.Capped, {"k": 2})])
@pytest.mark.parametrize("name", ["penalty", "_distribution"])
def test_sums_and_multiples_keep_what_a_class_has_anew(family, options, name):
    """Two of a family are one by a rule of the family, which what is anew does not follow."""
    plain, anew = family(**options), getattr(family, name)
    own = type("Own", (family,), {name: anew})(**options)
    for f in (plain + own, own + plain, own + own):
        terms = [part for part in (f, *operands_of(f)) if type(part).__name__ == "Own"]
        assert len(terms) == (2 if f == own + own else 1)
    assert operands_of(2 * own) == (own,)


def test_a_property_anew_that_the_family_keeps_is_one_as_well():
    half = type("Half", (rb.Capped,), {"cap": property(lambda self: 0.5)})
    for f in (rb.Capped(4) + half(4), half(4) + rb.Capped(4)):
        assert [type(part).__name__ for part in operands_of(f)].count("Half") == 1
    with pytest.raises(rb.InputError, match="without the `cap` of Half"):
        rb.Game(np.eye(6), half(fraction=0.5))


def test_sums_add_what_a_class_has_anew_and_sums_of_families_fold():
    class More(rb.Capped):
        def penalty(self, d):
            return 1.0 + super().penalty(d)

        def penalty_bound(self, d, total):
            value, distance = super().penalty_bound(d, total)
            return 1.0 + value, distance

    d = np.full(6, 1 / 6)
    for f in (rb.Capped(3) + More(2), More(3) + rb.Capped(2), 0.5 * (More(3) + More(2))):
        assert rb.Game(np.eye(6), f).relaxation.penalty(d) == 1.0
    same = type("Same", (rb.Capped,), {"__repr__": lambda self: "Same"})(3)
    assert rb.Capped(2) + same is same
    assert rb.HardMargin() + More(2) == More(2)


def test_sums_with_another_entropy_are_not_those_of_the_family(rng):
    class Tenfold(rb.KLPenalty):
        def penalty(self, d):
            return 10 * super().penalty(d)

        def cvxpy_penalty(self, d):
            value, constraints = super().cvxpy_penalty(d)
            return 10 * value, constraints

    u = rng.uniform(-1, 1, 6)
    for first in (rb.Capped(3), rb.NormPenalty(2, 1)):
        found, right = (first + f for f in (Tenfold(1), rb.KLPenalty(10)))
        assert found.relaxed_margin(u)[0] == pytest.approx(right.relaxed_margin(u)[0], abs=1e-6)


def test_a_penalty_anew_beside_the_bound_of_its_family_is_refused():
    """Brackets were of the family's f: [.006, .017] for a ρ of .034."""

    class Twice(rb.KLPenalty):
        def penalty(self, d):
            return 2 * super().penalty(d)

    class Same(rb.KLPenalty):
        def penalty(self, d):
            return super().penalty(d)

    for f in (Twice(0.1), rb.Capped(2) + Twice(0.1)):
        with pytest.raises(rb.InputError, match=r"Twice\.penalty: .* `penalty_bound` that it"):
            rb.Game(np.eye(6), f)
    assert rb.solve(rb.Game(np.eye(6), Same(0.1)), 1e-4).status == "optimal"


def test_a_class_that_resolves_itself_stays():
    own = {"value": lambda self: 1.0, "resolve": lambda self, m: self}
    stays = type("Stays", (BinaryEntropy,), own)(k=3, weight=1)
    assert rb.Game(np.eye(6), stays).relaxation is stays


def test_methods_of_any_make_and_those_that_raise_are_no_reason_to_refuse():
    def beyond(self, u, beta):
        raise NotImplementedError

    bare = eval("lambda self, d: 0.0", {})  # of no module
    for name, method in (
        ("penalty", bare),
        ("penalty", property(lambda self: lambda d: np.True_)),
        ("penalty", staticmethod(np.frompyfunc(lambda d: 0.0, 1, 1))),
        ("distribution", beyond),
    ):
        odd = type("Odd", (Ball,), {name: method})(0.5)
        if isinstance(method, staticmethod):
            with pytest.raises(rb.InputError, match=r"Odd\.penalty: .* of shape \(6,\)"):
                rb.Game(np.eye(6), odd)
        else:
            assert rb.Game(np.eye(6), odd).m == 6


@pytest.mark.parametrize(("more", "status"), [(0.01, "stalled"), (-0.01, "inaccurate")])
def test_where_its_methods_disagree_the_message_says_what_finds_it(game, more, status):
    class Off(Ball):
        def penalty(self, d):
            return more + super().penalty(d)

    found = rb.solve(rb.Game(game.matrix, Off(0.5)), 1e-4, time_limit=20)
    assert found.status == status
    assert "the relaxation f is user-defined: rb.testing.check_relaxation(f) finds" in found.message
    with pytest.raises(rb.testing.ConformanceError):
        rb.testing.check_relaxation(Off(0.5), sizes=[6])
