"""A relaxation of the user's own, on the base class's defaults alone: an l2 ball."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.relaxations import (
    BinaryEntropy,
    Caps,
    GroupCaps,
    SpectralRisk,
    Witness,
)
from relaxboost.relaxations.base import operands_of
from relaxboost.solvers import Corrective, ERLPBoost, LPBoost
from tests.certificates.test_own_families import ProvedSquares
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


def test_messages_cut_the_long_fields_of_a_relaxation(game):
    @dataclass(frozen=True)
    class WithPrior(Ball):
        prior: tuple[float, ...]

    f = WithPrior(0.5, (0.1,) * 1000)
    assert len(repr(f)) > 5000
    game = rb.Game(game.matrix, f)
    with pytest.raises(rb.InputError, match="not exact ones") as proof:
        rb.certify(game, "exact", d=np.full(6, 1 / 6), w=np.full(8, 1 / 8))
    with pytest.raises(rb.InputError, match="not polyhedral") as error:
        rb.solve(game, method=LPBoost(program="linear"))
    report = rb.testing.check_relaxation(f, sizes=(6,), only="center")
    texts = (*(str(e.value) for e in (proof, error)), str(report), repr(game), game._repr_html_())
    for text in texts:
        assert "WithPrior(radius=0.5, prior=(0.1" in text
        assert len(text) < 1000


WRONG = [
    ("penalty", lambda self, d: d, "penalty"),
    ("relaxed_margin", lambda self, u: float(u.min()), "own_witness"),
    ("relaxed_margin", lambda self, u: (float(u.min()), [1.0]), "own_witness"),
    ("distribution", lambda self, u, beta: list(u), "inputs_and_outputs"),
]
UNDER = [
    (Ball, {"radius": 0.5}),
    (rb.Capped, {"k": 3}),
    (Caps, {"caps": [0.5] * 6}),
    (GroupCaps, {"groups": [0, 0, 0, 1, 1, 1], "caps": {0: 0.6, 1: 0.7}}),
    (SpectralRisk, {"ks": [2, 3], "weights": [0.5, 0.5]}),
    (rb.NormBall, {"p": 2, "radius": 0.6}),
    (rb.Custom, {"f": lambda d: 0.0}),
]


@pytest.mark.parametrize(
    ("family", "options", "name", "method", "check"),
    [(*f, *w) for f in UNDER for w in WRONG],
)
def test_wrong_returns_are_found_by_check_relaxation(family, options, name, method, check):
    wrong = type("Wrong", (family,), {name: method, "resolve": lambda self, m: self})(**options)
    with pytest.raises(rb.testing.ConformanceError):
        rb.testing.check_relaxation(wrong, sizes=[6], only=check)


@pytest.mark.parametrize("level", ["numerical", "enclosed", "exact"])
@pytest.mark.parametrize(("family", "options"), UNDER[:5])
@pytest.mark.parametrize("returned", [np.zeros(6), None, "0", [0.0], 1j])
def test_a_penalty_that_is_no_number_is_refused(family, options, level, returned):
    methods = {"penalty": lambda self, d: returned, "level": level}
    wrong = type("Wrong", (family,), methods)(**options)
    for f in (wrong, 2 * wrong, rb.KLPenalty(0.1) + wrong):
        with pytest.raises(rb.InputError, match=r"Wrong\.penalty: for m = 6 .* a number, f\(d\)"):
            rb.Game(np.eye(6), f)


@pytest.mark.parametrize(
    ("family", "options"), [(Caps, {"caps": 0.5}), (BinaryEntropy, {"k": 3, "weight": 1})]
)
def test_a_class_that_its_family_would_leave_is_refused(family, options):
    """The game would be of the family's f."""
    left = type("Left", (family,), {"penalty": lambda self, d: 1.0})(**options)
    for f in (left, 2 * left, rb.KLPenalty(0.1) + left):
        with pytest.raises(
            rb.InputError, match=rf"^Left: for m = 6 .* a {family.__name__}, which would replace f"
        ):
            rb.Game(np.eye(6), f)


def test_a_class_that_resolves_to_its_family_says_so():
    """One that changes nothing is no exception; with a `resolve` of its own it is played."""

    class Part(rb.Capped):
        def __init__(self, part):
            super().__init__(fraction=part)

        def __repr__(self):
            return "Part"

    class Family(Part):
        def resolve(self, m):
            return super().resolve(m)

    with pytest.raises(rb.InputError, match=r"define a `resolve\(m\)` in Part"):
        rb.Game(np.eye(6), Part(0.5))
    for whole in (Family(0.5), 2 * Family(0.5), rb.KLPenalty(0.1) + Family(0.5)):
        assert rb.Game(np.eye(6), whole).m == 6
    assert rb.Game(np.eye(6), Family(0.5)).relaxation == rb.Capped(3)


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
        with pytest.raises(rb.InputError, match=r"Twice\.penalty: .* inherited `penalty_bound`"):
            rb.Game(np.eye(6), f)
    assert rb.solve(rb.Game(np.eye(6), Same(0.1)), 1e-4).status == "optimal"

    class Lower(Same):
        def penalty_bound(self, d, total):
            return 0.5 * super().penalty_bound(d, total)[0], 0.0

    with pytest.raises(rb.InputError, match=r"its own `penalty_bound` .*; correct one of the two"):
        rb.Game(np.eye(6), Lower(0.1))


def test_a_class_that_resolves_itself_stays():
    own = {"value": lambda self: 1.0, "resolve": lambda self, m: self}
    stays = type("Stays", (BinaryEntropy,), own)(k=3, weight=1)
    assert rb.Game(np.eye(6), stays).relaxation is stays


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


@dataclass(frozen=True)
class Squares(ProvedSquares):
    """‖d‖²/2 with formulas only, one of which each test replaces by a wrong one."""

    def penalty(self, d):
        return float(d @ d) / 2

    def witness(self, u):
        return Witness(float(u.mean()))


def changed(**methods):
    return type("Changed", (Squares,), {n: lambda self, *_, r=r: r for n, r in methods.items()})()


@pytest.mark.parametrize(
    ("name", "returned", "need"),
    [
        ("witness", 0.1, r"a witness, such as rb\.relaxations\.Witness\(gamma\)"),
        ("witness", None, "a witness"),
        ("lower_bound", None, "a number, or -inf"),
        ("lower_bound", math.nan, "a number, or -inf"),
        ("penalty_bound", 0.1, r"a pair \(value, distance\) of numbers"),
        ("penalty_bound", (math.nan, 0.0), r"a pair \(value, distance\)"),
        ("_distribution", None, "a NumPy vector of m numbers"),
        ("distribution", np.ones(3), "a NumPy vector of m numbers"),
        ("relaxed_margin", 0.5, r"a pair \(F\(u\), d\)"),
        ("relaxed_margin", (0.5, [1.0]), r"a pair \(F\(u\), d\)"),
        ("repair", None, "a NumPy vector"),
        ("repair", np.array([math.nan] * 6), "a NumPy vector"),
        ("center", None, "a NumPy vector"),
    ],
)
def test_a_formula_that_returns_another_type_is_refused(name, returned, need):
    wrong = changed(**{name: returned})
    for f in (wrong, 2 * wrong, rb.KLPenalty(0.1) + wrong):
        with pytest.raises(
            rb.InputError,
            match=rf"^Changed\.{name}: for m = 6 .* must return {need}.* but it returned .*; "
            r"rb\.testing\.check_relaxation\(f, sizes=\(6,\)\) examines",
        ):
            rb.Game(np.eye(6), f)
    assert rb.solve(rb.Game(np.eye(6), Squares()), tol=0.1).gap < 1


def test_a_cvxpy_penalty_without_constraints_is_refused_for_proved_bounds_too():
    with pytest.raises(rb.InputError, match=r"Changed\.cvxpy_penalty: .* must return a pair"):
        rb.Game(np.eye(6), changed(cvxpy_penalty=cp.Constant(0.0)))


@pytest.mark.parametrize("base", [rb.Relaxation, Squares])
def test_parameters_of_another_number_of_examples_name_the_class(base):
    class Mine(base):
        caps = (0.1,) * 60

        def cvxpy_penalty(self, d):
            return 0.0, [d <= np.array(self.caps)]

    with pytest.raises(rb.InputError, match=r"^Mine\.cvxpy_penalty failed .* per_example = "):
        rb.Game(np.eye(6), Mine())


def test_a_bound_that_is_nan_later_proves_nothing():
    class Later(Squares):
        def lower_bound(self, u, witness):
            return super().lower_bound(u, witness) if u[0] == -1.0 else math.nan

        def penalty_bound(self, d, total):
            value, distance = super().penalty_bound(d, total)
            return value, distance if d[0] < d[-1] else math.nan

    game = rb.Game(np.eye(6), Later())
    assert game.bracket(np.full(6, 1 / 6), np.full(6, 1 / 6)) == (-math.inf, math.inf)
