"""A run that starts from a solution or from points: never worse than they are, and quick."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.loop import Clock
from relaxboost.game.solution import Basis
from relaxboost.solvers import METHODS, Automatic, Corrective, ERLPBoost, LPBoost, MLPBoost
from relaxboost.solvers.restricted_master import RestrictedMaster
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart
from tests.conformance.families import FAMILIES
from tests.solvers.test_every_method import DOMAINS, RELAXATIONS, fits


def noisy(rng, m=60, n=25):
    return np.clip(rng.uniform(-1, 1, (m, n)) + 0.1, -1, 1)


@pytest.fixture(scope="module")
def matrix():
    return noisy(np.random.default_rng(4), 9, 7)


@pytest.mark.parametrize("relaxation", RELAXATIONS, ids=repr)
@pytest.mark.parametrize("over", DOMAINS, ids=repr)
@pytest.mark.parametrize("name", METHODS)
def test_every_method_starts_anywhere_and_is_never_worse(
    name, over, relaxation, matrix, truth_of, rng
):
    """From a random pair, and with both parts alone; what a method cannot use it keeps."""
    game = rb.Game(matrix, relaxation, over=over)
    method = METHODS[name]()
    if not fits(method, game):
        return
    if method.cold:
        with pytest.raises(rb.InputError, match="; leave start and"):
            rb.solve(game, 0.01, name, start=(None, np.ones(7)), max_rounds=3)
        return
    truth = truth_of(relaxation, over)
    good = truth.d, (truth.support, truth.coefficients)
    for d, w in (good, (None, good[1]), (good[0], None), (rng.random(9), rng.random(7))):
        found = rb.solve(game, 1e-2, name, start=(d, w), max_rounds=12)
        assert found.lower <= truth.upper + 1e-9
        assert found.upper >= truth.lower - 1e-9
        lower, upper = game.bracket(truth.d if d is None else d, good[1] if w is None else w)
        assert w is None or found.lower >= lower - 1e-12
        assert d is None or found.upper <= upper + 1e-12


LINEAR = [(name, make) for name, make in FAMILIES if make(30).resolve(30).linear_form(30)]


@pytest.mark.parametrize(("name", "make"), FAMILIES, ids=[name for name, _ in FAMILIES])
def test_from_its_own_solution_a_game_takes_no_round(rng, name, make):
    game = rb.Game(noisy(rng, 12, 6), make(12))
    first = rb.solve(game, 1e-2)
    again = rb.solve(game, 1.5 * max(first.gap, 1e-2), start=first)
    assert (again.rounds, again.history, again.status) == (0, (), "optimal")
    assert again.lower >= first.lower - 1e-12
    assert again.upper <= first.upper + 1e-12
    assert again.basis == first.basis


@pytest.mark.parametrize(("name", "make"), LINEAR, ids=[name for name, _ in LINEAR])
@pytest.mark.parametrize("over", [rb.L1Ball(), rb.Simplex()], ids=repr)
def test_a_linear_program_goes_on_from_its_basis(rng, name, make, over):
    """Of a game that differs little: same optimum as without, and hardly a pivot of its own."""
    A = noisy(rng, 30, 40)
    other = np.clip(A + rng.uniform(-1e-3, 1e-3, A.shape), -1, 1)
    method = LPBoost()
    first = rb.solve(rb.Game(A, make(30), over=over), 1e-7, method)
    # Only one d is feasible if the minimiser and the maximiser of a steep function are equal.
    steep = 100.0 * rng.normal(size=30)
    least, most = (make(30).resolve(30).distribution(u, 1.0) for u in (steep, -steep))
    if np.abs(least - most).max() < 1e-9 and over == rb.Simplex():  # the start is the best column
        assert (first.rounds, first.basis) == (1, None)
        return
    assert len(first.basis.sides) > 30 + len(first.basis.columns)
    game = rb.Game(other, make(30), over=over)
    cold, warm = (rb.solve(game, 1e-7, method, start=s) for s in (None, first))
    assert warm.status == cold.status == "optimal"
    assert warm.rounds <= max(3, cold.rounds // 2)
    assert rb.compare(warm, cold)


@pytest.mark.parametrize("method", [Corrective(), ERLPBoost(), LPBoost(), MLPBoost()], ids=repr)
def test_a_run_begins_with_the_weights_of_its_start(method, rng):
    game = rb.Game(noisy(rng), rb.Capped(7))
    good = rb.solve(game, 1e-3)
    start = WarmStart(w=(good.support, good.coefficients)).with_bounds(game)
    cold, warm = (method.start(game, Tolerance(1e-2), Clock()) for _ in range(2))
    warm.warmed(start)
    assert warm.active.u == pytest.approx(game.matrix.margins(*start.w), abs=1e-12)
    assert isinstance(method, LPBoost) or np.abs(warm.d - cold.d).max() > 1e-3  # before its program


def test_a_basis_of_another_form_or_of_nonsense_changes_no_optimum(rng):
    game = rb.Game(noisy(rng), rb.Capped(7))
    truth = rb.solve(game, 1e-8)
    start = rb.solve(rb.Game(noisy(rng), rb.Capped(9)), 1e-8, "lpboost")
    columns, sides = start.basis
    for basis in (
        None,
        Basis(()),
        Basis(columns),
        Basis(columns, sides[:-3]),
        Basis(columns, "B" * len(sides)),
        Basis(columns, "U" * len(sides)),
        Basis(columns[::-1], sides),
    ):
        object.__setattr__(start, "basis", basis)
        assert rb.compare(rb.solve(game, 1e-8, LPBoost(), start=start), truth)


def test_a_basis_keeps_the_active_constraints_alone(rng):
    """However often a run goes on from the last, columns do not pile up."""
    A = noisy(rng, 80, 400)
    last = None
    for k in np.linspace(3, 40, 30):
        last = rb.solve(rb.Game(A, rb.Capped(k)), 1e-7, LPBoost(), start=last)
        columns = last.basis.columns
        assert "B" not in last.basis.sides[-len(columns) :]
        assert set(last.support.tolist()) <= {j for j, _ in columns}
        assert len(columns) <= 80 + 1  # the basis of a program of m + 1 variables


def test_a_neighbour_takes_a_fraction_of_the_rounds(rng):
    matrix = noisy(rng, 300, 400)
    near = rb.solve(rb.Game(matrix, rb.Capped(30)), 1e-7)
    game = rb.Game(matrix, rb.Capped(31))
    cold, warm = rb.solve(game, 1e-7), rb.solve(game, 1e-7, start=near)
    assert rb.compare(cold, warm)
    assert warm.rounds < cold.rounds / 10


def test_a_start_from_far_away_is_kept_as_a_bracket(rng):
    """Steps from it would take longer than from nothing."""
    game = rb.Game(noisy(rng), rb.Capped(7))
    far = 1e-3 * np.arange(60.0) ** 4, -np.ones(25)
    cold, warm = rb.solve(game, 1e-6), rb.solve(game, 1e-6, start=far)
    assert warm.rounds == cold.rounds


def test_a_start_with_many_columns_walks(rng):
    signs = np.where(rng.random((500, 120)) < 0.1, 1.0, rng.choice([-1.0, 1.0], (500, 120)))
    near = rb.solve(rb.Game(signs, rb.Capped(160)), 1e-6, "interior-point")
    warm = rb.solve(rb.Game(signs, rb.Capped(165)), 1e-6, start=near)
    assert warm.status == "optimal"
    assert [r.inner for r in warm.history] == ["start", "walk"]
    assert near.basis is None


def test_a_start_with_few_columns_walks_too(rng):
    A = np.where(rng.random((400, 300)) < 0.5 + 0.4 * (np.arange(300) < 20), 1.0, -1.0)
    game = rb.Game(A, rb.Capped(160))
    near = rb.solve(rb.Game(game.matrix, rb.Capped(168)), 1e-6, "interior-point")
    assert near.support.size < 60
    warm = rb.solve(game, 1e-6, start=near)
    assert [r.inner for r in warm.history] == ["start", "walk"]
    assert rb.compare(warm, rb.solve(game, 1e-6))


def test_other_data_give_their_weights_only(rng):
    A = noisy(rng, 80, 30)
    first = rb.solve(rb.Game(A[:50], rb.Capped(5)), 1e-6)
    game = rb.Game(A, rb.Capped(8))
    warm = rb.solve(game, 1e-6, start=first, max_rounds=1)
    lower, _ = game.bracket(np.ones(80), (first.support, first.coefficients))
    assert warm.lower >= lower
    assert rb.compare(rb.solve(game, 1e-6, start=first), rb.solve(game, 1e-6))


def test_weights_come_in_every_form(rng):
    game = rb.Game(noisy(rng), rb.Capped(7))
    truth = rb.solve(game, 1e-3)
    forms = (
        truth.w,
        (truth.support, truth.coefficients),
        dict(zip(truth.support.tolist(), truth.coefficients.tolist(), strict=True)),
    )
    for w in forms:
        found = rb.solve(game, 1e-3, start=(truth.d, w))
        assert (found.rounds, found.lower, found.upper) == (0, truth.lower, truth.upper)
        assert found.message == f"the gap {truth.gap:.3g} is at most tol = 0.001"


def test_points_out_of_the_domain_are_moved_and_the_message_says_so(rng):
    game = rb.Game(noisy(rng), rb.Capped(7))
    votes = rng.integers(0, 9, 25)
    solution = rb.solve(game, 1e-3, start=(rng.random(60) ** 9, votes))
    assert "the w of start was moved into L1Ball(radius=1)" in solution.message
    assert "the d of start was moved to a d at which Capped(k=7) is finite" in solution.message
    same = rb.solve(game, 1e-3, start=(np.full(60, 1 / 60), votes / votes.sum()))
    assert "moved" not in same.message
    lists = rb.solve(game, 1e-3, start=[[1 / 60] * 60, tuple(votes / votes.sum())])
    assert (lists.lower, lists.upper, lists.message) == (same.lower, same.upper, same.message)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (3, "start must be a Solution or a pair"),
        ((None, None), "contains no point"),
        (([1.0], None), "d must have shape .60,., with one entry for each example, got .1,."),
        ((None, [1.0]), "w must have shape .25,., with one weight for .*, got .1,."),
        ((None, {25: 1.0}), "support contains columns outside 0..24"),
        ((None, {"a": 1.0}), "support must contain column numbers"),
        ((None, {3: np.nan}), "the first of them nan for column 3"),
        ((None, ([3, 4], [0.5, np.inf])), "the first of them inf for column 4"),
        ((np.r_[np.ones(59), np.nan], None), r"first d\[59\] = nan"),
        ((-np.ones(60), None), "no positive entry"),
        (([[1.0], *range(59)], None), r"d must be a vector of numbers, got"),
        ([0.5, 0.5], "start must be a Solution or a pair"),
    ],
)
def test_bad_starts_are_refused_with_the_entry(rng, start, message):
    game = rb.Game(noisy(rng), rb.Capped(7))
    with pytest.raises(rb.InputError, match=message):
        rb.solve(game, start=start)


def test_a_solution_with_other_hypotheses_is_refused(rng):
    A = noisy(rng)
    first = rb.solve(rb.Game(A[:, :20], rb.Capped(7)))
    with pytest.raises(rb.InputError, match="the weights of start belong to other hypotheses"):
        rb.solve(rb.Game(A, rb.Capped(7)), start=first)
    with pytest.raises(rb.InputError, match="cannot repair a w with no positive entry"):
        rb.solve(rb.Game(A, over=rb.Simplex()), start=(None, -np.ones(25)))


def test_a_hull_goes_on_from_its_distribution(rng):
    game = rb.Game(noisy(rng), rb.Capped(7), over=rb.L2Ball(1))
    near = rb.solve(rb.Game(game.matrix, rb.Capped(7.2), over=rb.L2Ball(1)), 1e-6)
    cold, warm = rb.solve(game, 1e-6), rb.solve(game, 1e-6, start=near)
    assert rb.compare(cold, warm)
    assert warm.rounds < cold.rounds


@pytest.mark.parametrize("method", [Automatic(), LPBoost(), Corrective(step="pairwise")])
def test_a_start_is_a_good_first_round(rng, method):
    game = rb.Game(noisy(rng), rb.Capped(7))
    first = rb.solve(game, 1e-2)
    warm = rb.solve(game, 1e-4, method, start=first, max_rounds=1)
    assert warm.gap <= first.gap + 1e-12


def test_a_solution_that_was_pickled_starts_as_well(rng):
    game = rb.Game(noisy(rng), rb.Capped(7))
    first = rb.solve(game, 1e-6)
    again = rb.solve(game, 1e-6, start=pickle.loads(pickle.dumps(first)))
    assert (again.rounds, again.lower, again.basis) == (0, first.lower, first.basis)


@pytest.mark.parametrize("rtol", [0.1, 0.03])
def test_rtol_is_a_part_of_the_value(rng, rtol):
    """Also where it is small, and tol says nothing; the bracket proves it."""
    game = rb.Game(np.clip(rng.uniform(-1, 1, (60, 25)) + 0.4, -1, 1) * 1e-3, rb.Capped(20))
    solution = rb.solve(game, 1e-8, Corrective(step="pairwise", beta=rtol * 1e-4), rtol=rtol)
    assert 1e-8 < solution.gap < 1e-4
    assert solution.gap <= rtol * min(abs(solution.lower), abs(solution.upper))
    size = f"times |rho|, and |rho| >= {solution.lower:.3g}"
    assert solution.message == f"the gap {solution.gap:.3g} is at most rtol = {rtol:g} {size}"
    assert not rb.solve(game, 1e-3).support.size
    assert rb.solve(game, rtol=rtol).tol == 1e-8


def test_rtol_measures_from_the_nearer_end_and_never_around_zero(rng):
    negative = rb.Game(-np.abs(noisy(rng)), over=rb.Simplex())
    solution = rb.solve(negative, rtol=0.05)
    assert solution.upper < 0.0
    assert solution.gap <= 0.05 * -solution.upper
    zero = rb.Game(np.vstack([np.eye(3), -np.eye(3)]))
    solution = rb.solve(zero, 1e-5, rtol=0.5)
    assert solution.message.startswith(f"the gap {solution.gap:.3g} is at most tol = 1e-05")
    limited = rb.solve(rb.Game(noisy(rng)), 1e-9, "corrective", rtol=1e-8, max_rounds=3)
    assert limited.message.endswith("tol = 1e-09, rtol = 1e-08")


@pytest.mark.parametrize("rtol", [0, -1, 1, 2.0, np.nan, "a"])
def test_rtol_out_of_range(rng, rtol):
    with pytest.raises(rb.InputError, match="rtol must be"):
        rb.solve(rb.Game(noisy(rng)), rtol=rtol)


def test_highs_is_never_given_more_columns_than_it_has(rng, monkeypatch):
    game = rb.Game(noisy(rng), rb.Capped(7))
    first, known = rb.solve(game, 1e-6, "lpboost"), []
    own = RestrictedMaster.add
    monkeypatch.setattr(
        RestrictedMaster, "add", lambda self, c: known.append(c.shape[1]) or own(self, c)
    )
    near = rb.Game(game.matrix, rb.Capped(12))
    warm = rb.solve(near, 1e-6, LPBoost(), start=first)
    assert len(first.basis.columns) > 4
    assert known[:4] == [1, 1, 2, 4]
    assert all(count <= max(1, sum(known[:i])) for i, count in enumerate(known))
    assert sum(known) >= len(first.basis.columns)
    assert rb.compare(warm, rb.solve(near, 1e-6))


@pytest.mark.parametrize(("name", "make"), LINEAR, ids=[name for name, _ in LINEAR])
def test_an_interior_point_goes_on_from_a_neighbour(rng, name, make):
    """Of the same family with one number larger or smaller, or of any other."""
    over = [rb.L1Ball(2), rb.Simplex(), rb.FullSimplex()][len(name) % 3]
    A, f = noisy(rng, 30, 12), make(30).resolve(30)
    others = [rb.Capped(3) if len(name) % 2 else rb.relaxations.SpectralRisk([3, 20], [0.5, 0.5])]
    options = {"weight", "alpha"} if name == "NormBall(inf)" else {"k", "radius", "weight", "alpha"}
    for option in options & set(getattr(f, "__dataclass_fields__", ())):
        value = float(getattr(f, option) or 0.0)
        others += [replace(f, **{option: x * value}) for x in (0.9, 1.05) if 1 <= x * value <= 30]
    first = rb.solve(rb.Game(A, f, over), 1e-6, "interior-point")
    for other in others:
        game = rb.Game(A, other, over)
        cold = rb.solve(game, 1e-6, "interior-point")
        warm = rb.solve(game, 1e-6, "interior-point", start=pickle.loads(pickle.dumps(first)))
        assert warm.status == cold.status == "optimal"
        assert rb.compare(warm, cold)
        assert warm.rounds <= cold.rounds + 3


def test_an_interior_point_that_cannot_go_on_from_another_game_begins_anew():
    first, second = (
        np.where(np.random.default_rng(seed).random((20, 5)) < 0.55, 1.0, -1.0) for seed in (0, 100)
    )
    start = rb.solve(rb.Game(first, rb.Capped(6)), 1e-3, "interior-point")
    found = rb.solve(rb.Game(second, rb.Capped(8)), 1e-6, "interior-point", start=start)
    assert found.status == "optimal"


def test_a_solution_without_a_positive_weight_starts_a_game_over_the_simplex():
    A = np.array([[-1.0, -0.5], [-0.5, -1.0]])
    start = rb.solve(rb.Game(A, rb.HardMargin()))
    assert start.coefficients.max() < 0.0
    found = rb.solve(rb.Game(A, rb.HardMargin(), over=rb.Simplex()), 1e-6, start=start)
    assert found.status == "optimal"
