"""The other player: identities between the sets, and the bracket for any pair."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from importlib import import_module

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import relaxboost as rb
from relaxboost._core.rounding import norm_above
from relaxboost.game.domains.euclidean import EuclideanSet
from tests.twins import exact_game_value

SETS = [
    rb.L1Ball(),
    rb.L1Ball(Fraction(7, 3)),
    rb.Simplex(),
    rb.Simplex(2.5),
    rb.FullSimplex(),
    rb.FullSimplex(Fraction(7, 3)),
    rb.L2Ball(2),
    rb.SquaredNorm(0.3),
]
anything = st.one_of(
    st.floats(-2, 2), st.floats(-1e300, 1e300), st.sampled_from([0.0, 1.0, 1 / 3, 5e-324])
)
entries = st.one_of(st.sampled_from([-1.0, 0.0, 1.0, 1 / 3, 1e-17]), st.floats(-1, 1, width=32))


def random_games(rng, count=4):
    for _ in range(count):
        m, n = rng.integers(1, 7, 2)
        A = np.clip(rng.uniform(-1, 1, (m, n)) + 0.2, -1, 1)
        for relaxation in (rb.HardMargin(), rb.Capped(rng.uniform(1, m))):
            yield A, relaxation


def optimum(A, relaxation, over):
    """The primal in its obvious form, of a general solver at tight tolerances."""
    d = cp.Variable(A.shape[0], nonneg=True)
    v = A.T @ d
    g = {
        rb.L1Ball: lambda: float(over.radius) * cp.norm_inf(v),
        rb.Simplex: lambda: float(over.radius) * cp.max(v),
        rb.FullSimplex: lambda: float(over.radius) * cp.pos(cp.max(v)),
        rb.L2Ball: lambda: float(over.radius) * cp.norm2(v),
        rb.SquaredNorm: lambda: cp.sum_squares(v) / (4 * float(over.weight)),
    }[type(over)]()
    cap = [] if isinstance(relaxation, rb.HardMargin) else [d <= 1 / float(relaxation.k)]
    problem = cp.Problem(cp.Minimize(g), [cp.sum(d) == 1, *cap])
    tight = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    return problem.solve(solver="CLARABEL", **tight)


@pytest.mark.parametrize("over", SETS, ids=repr)
def test_any_pair_brackets_the_optimum_and_references_agree(over, rng):
    for A, relaxation in random_games(rng, 3):
        game = rb.Game(A, relaxation, over=over)
        value = optimum(A, relaxation, over)
        for _ in range(20):
            d, w = rng.dirichlet(np.ones(game.m)), rng.normal(size=game.n)
            w[0] = abs(w[0])
            lower, upper = game.bracket(d, w)
            assert lower <= value + 1e-8
            assert upper >= value - 1e-8
        solvers = ["CLARABEL", "SCS", *(["HIGHS"] if over.linear else [])]
        references = [rb.reference(game, solver) for solver in solvers]
        assert rb.compare(*references)
        assert all(r.status == "optimal" for r in references)
        assert references[0].lower == pytest.approx(value, abs=1e-7)
        assert game.primal().solve(solver="CLARABEL") == pytest.approx(value, abs=1e-6)
        assert game.dual().solve(solver="CLARABEL") == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("over", SETS, ids=repr)
def test_multipliers_of_the_primal_are_the_weights(over, rng):
    """Strong duality at the pair that the primal alone gives."""
    from relaxboost.game import programs

    A = np.clip(rng.uniform(-1, 1, (5, 4)) + 0.4, -1, 1)
    game = rb.Game(A, rb.Capped(2), over=over)
    model = programs.primal(A, game.relaxation, over)
    model.problem.solve(solver="CLARABEL")
    w = sum(sign * constraint.dual_value for constraint, sign in model.coupling)
    lower, upper = game.bracket(model.variable.value, w)
    assert upper - lower < 1e-6


@settings(max_examples=120)
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=entries),
    st.data(),
)
def test_brackets_are_rigorous_for_polyhedral_sets(A, data):
    """Against exact rational optima: the l1 ball of any radius, and the simplex by [A, −A]."""
    m, n = A.shape
    d = data.draw(hnp.arrays(np.float64, m, elements=anything).filter(lambda d: (d > 0).any()))
    w = data.draw(hnp.arrays(np.float64, 2 * n, elements=anything))
    exact = exact_game_value(A)
    for radius in (Fraction(1, 3), 1, 0.1, 1e6):
        game = rb.Game(A, over=rb.L1Ball(radius))
        lower, upper = game.bracket(d, w[:n])
        assert Fraction(lower) <= exact * Fraction(radius) <= Fraction(upper)
        both = np.hstack([A, -A])
        for over in (rb.Simplex(radius), rb.FullSimplex(radius)):
            if over.holds_zero or (w > 0).any():
                lower, upper = rb.Game(both, over=over).bracket(d, w)
                assert Fraction(lower) <= exact * Fraction(radius) <= Fraction(upper)


@settings(max_examples=100)
@given(
    hnp.arrays(np.float64, st.integers(1, 4), elements=entries),
    hnp.arrays(np.float64, 4, elements=anything),
    st.sampled_from([Fraction(1, 3), 1, 0.1, 1e6]),
)
def test_brackets_are_rigorous_for_euclidean_sets(row, w, size):
    """One example: ρ = r ‖a‖_2 and ‖a‖_2² / (4 λ), compared by exact squares."""
    square = sum(Fraction(float(a)) ** 2 for a in row)
    lower, upper = rb.Game(row[None, :], over=rb.L2Ball(size)).bracket([1.0], w[: row.size])
    assert lower <= 0 or Fraction(lower) ** 2 <= Fraction(size) ** 2 * square
    assert Fraction(upper) ** 2 >= Fraction(size) ** 2 * square
    game = rb.Game(row[None, :], over=rb.SquaredNorm(size))
    best = row / (2.0 * float(size))
    for weights in (w[: row.size], best):
        lower, upper = game.bracket([1.0], weights)
        assert not math.isnan(lower)
        assert lower == -math.inf or Fraction(lower) <= square / (4 * Fraction(size))
        assert square / (4 * Fraction(size)) <= Fraction(upper)


def test_the_value_of_a_ball_scales_with_its_radius(rng):
    for A, _ in random_games(rng):
        one = rb.reference(rb.Game(A))
        other = rb.reference(rb.Game(A, over=rb.L1Ball(5)))
        assert other.lower == pytest.approx(5 * one.lower, abs=1e-8)
        one, other = (rb.reference(rb.Game(A / 2 - 0.5, over=rb.Simplex(r))) for r in (1, 5))
        assert other.lower == pytest.approx(5 * one.lower, abs=1e-8)


@pytest.mark.parametrize("radius", [1, Fraction(5, 3)])
def test_a_simplex_on_both_signs_is_the_l1_ball(radius, rng):
    for A, relaxation in random_games(rng):
        ball = rb.reference(rb.Game(A, relaxation, over=rb.L1Ball(radius)))
        for over in (rb.Simplex(radius), rb.FullSimplex(radius)):
            both = rb.reference(rb.Game(np.hstack([A, -A]), relaxation, over=over))
            assert both.lower == pytest.approx(ball.lower, abs=1e-8)


@pytest.mark.parametrize("make", [rb.L1Ball, rb.Simplex, rb.FullSimplex])
def test_values_are_rounded_up(make, rng):
    for size in (*rng.uniform(-1, 1, 40), 0.0, -1 / 3):
        over, size = make(Fraction(1, int(rng.integers(1, 99)))), float(size)
        if over.two_sided and size < 0.0:
            continue
        least = max(0.0, size) if over.holds_zero else size
        exact = over.radius * Fraction(least)
        assert exact <= Fraction(over.value_above(size)) <= exact + Fraction(1, 10**15)


def test_a_full_simplex_is_a_simplex_with_a_column_of_zeros(rng):
    values = []
    for A, relaxation in random_games(rng):
        A = np.clip(A - 0.4, -1, 1)
        full = rb.reference(rb.Game(A, relaxation, over=rb.FullSimplex(3)))
        zeros = np.hstack([A, np.zeros((len(A), 1))])
        simplex = rb.reference(rb.Game(zeros, relaxation, over=rb.Simplex(3)))
        assert full.lower == pytest.approx(simplex.lower, abs=1e-8)
        values.append(full.lower)
    assert min(values) >= -1e-8
    assert max(values) > 0.1


def test_w_is_zero_in_the_full_simplex_where_every_edge_is_negative():
    game = rb.Game(-np.eye(3), over=rb.FullSimplex(2))
    for solution in (rb.reference(game), rb.solve(game, 1e-9), rb.solve(game, 0.1, "corrective")):
        assert 0.0 <= solution.upper <= 1e-12
        assert solution.lower >= -1e-9
        assert solution.w.sum() <= 1e-9
    assert game.bracket(np.ones(3), [-1.0, -2.0, 0.0]) == (0.0, pytest.approx(0.0, abs=1e-14))


def test_the_value_over_the_simplex_may_be_negative():
    game = rb.Game(-np.ones((4, 3)), over=rb.Simplex())
    for solution in (rb.reference(game), rb.solve(game, 1e-9), rb.solve(game, 0.1, "corrective")):
        assert solution.lower <= -1.0 <= solution.upper
        assert solution.gap <= 1e-9
        assert solution.w.sum() == pytest.approx(1.0)
    assert game.bracket(np.ones(4), [0.2, 0.0, -5.0])[0] == pytest.approx(-1.0)


def test_the_l2_ball_is_a_support_vector_machine(rng):
    """min ‖w‖² subject to A w >= 1 has the value 1/ρ²; the penalty then gives ρ²/(4 λ)."""
    for _ in range(5):
        A = np.clip(rng.uniform(-1, 1, (6, 4)) + 0.4, -1, 1)
        w = cp.Variable(4)
        machine = cp.Problem(cp.Minimize(cp.sum_squares(w)), [A @ w >= 1])
        machine.solve(solver="CLARABEL")
        margin = 1 / math.sqrt(machine.value) if machine.status == "optimal" else 0.0
        ball = rb.reference(rb.Game(A, over=rb.L2Ball()))
        assert ball.lower == pytest.approx(margin, abs=1e-6)
        penalty = rb.reference(rb.Game(A, over=rb.SquaredNorm(0.2)))
        assert penalty.lower == pytest.approx(margin**2 / 0.8, abs=1e-6)


def test_one_example_one_hypothesis_and_copies():
    row = np.array([[0.3, -0.4, 0.0]])
    values = {rb.L1Ball(2): 0.8, rb.Simplex(): 0.3, rb.L2Ball(): 0.5, rb.SquaredNorm(1): 0.0625}
    for over, value in values.items():
        game = rb.Game(row, over=over)
        for solution in (rb.reference(game), rb.solve(game, 1e-6)):
            assert solution.lower == pytest.approx(value, abs=1e-6)
    copies = np.array([[0.5, 0.5], [0.5, 0.5]])
    assert rb.solve(rb.Game(copies, over=rb.L2Ball()), 1e-6).w == pytest.approx([0.5**0.5] * 2)
    column = np.array([[0.5], [-0.2]])
    for over, value in {rb.Simplex(): -0.2, rb.L2Ball(): 0.0, rb.SquaredNorm(1): 0.0}.items():
        assert rb.reference(rb.Game(column, over=over)).upper == pytest.approx(value, abs=1e-6)


def test_a_column_named_twice_has_the_sum_of_its_weights():
    game = rb.Game(np.array([[0.5, 0.2]]), over=rb.L2Ball())
    assert game.bracket([1.0], ([0, 0], [0.7, 0.7])) == game.bracket([1.0], [1.4, 0.0])
    penalty = rb.Game(np.array([[0.5, 0.2]]), over=rb.SquaredNorm(1))
    assert penalty.bracket([1.0], ([0, 0], [0.1, 0.1])) == penalty.bracket([1.0], [0.2, 0.0])


def test_identity_of_sets_and_games():
    A = np.array([[0.5, 0.9], [-0.7, 0.3]])
    assert rb.Game(A, over=rb.L1Ball(1)).digest == rb.Game(A).digest
    assert rb.Game(A, over=rb.L1Ball(1.0)).digest.startswith("ae28e3f4d34a17c7")
    digests = {rb.Game(A, over=over).digest for over in [*SETS, rb.L2Ball(1), rb.SquaredNorm(1)]}
    assert len(digests) == 10
    # As frozen when Simplex had no radius.
    assert rb.Simplex(1).key() == "simplex"
    assert rb.Simplex(1.0).describe() == {"kind": "simplex"}
    assert repr(rb.Simplex(Fraction(2, 2))) == "Simplex()"
    for over in SETS:
        assert pickle.loads(pickle.dumps(over)) == over
        assert eval(repr(over), {**vars(rb), "Fraction": Fraction, "L1Ball": rb.L1Ball}) == over
        copy = pickle.loads(pickle.dumps(rb.Game(A, over=over)))
        assert (copy.over, copy.digest) == (over, rb.Game(A, over=over).digest)
    assert repr(rb.Game(A)) == "Game(DenseMatrix(2 examples, 2 hypotheses), HardMargin())"
    assert repr(rb.Game(A, over=rb.Simplex())).endswith("HardMargin(), over=Simplex())")
    assert rb.L1Ball(0.5) == rb.L1Ball(Fraction(1, 2))
    assert rb.L2Ball(1) != rb.L1Ball(1)


@pytest.mark.parametrize("make", [rb.L1Ball, rb.Simplex, rb.FullSimplex, rb.L2Ball, rb.SquaredNorm])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, True, "1", None, 1e-200, 1e200])
def test_sizes_that_are_refused(make, value):
    with pytest.raises(rb.InputError, match=f"{make.__name__}.* (needs|to be)"):
        make(value)


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("l1", "over must be L1Ball"),
        (1.0, "compact set or a penalty that grows faster"),
        (rb.L2Ball, r"write L2Ball\(...\)"),
    ],
)
def test_things_that_are_not_outer_sets(over, message):
    with pytest.raises(rb.InputError, match=message):
        rb.Game(np.eye(2), over=over)


def test_a_plain_l1_penalty_is_refused_with_the_reason_and_the_remedy():
    with pytest.raises(
        rb.InputError, match=r"no finite upper bound.*L1Ball\(radius\).*SquaredNorm"
    ):
        rb.game.domains.L1Penalty(0.5)


@pytest.mark.parametrize("over", [rb.Simplex(), rb.L2Ball(), rb.SquaredNorm(1)], ids=repr)
def test_weak_learners_answer_for_the_l1_ball_only(over):
    def fit(X, y, d):
        return lambda X: np.ones(len(X))

    matrix = rb.matrices.oracle(fit, np.eye(3), [1, -1, 1], slack=0)
    with pytest.raises(rb.InputError, match=r"needs the edge of every column.*L1Ball\(radius\)"):
        rb.Game(matrix, over=over)
    ball = rb.solve(rb.Game(matrix, over=rb.L1Ball(3)), 0.1)
    assert ball.lower == pytest.approx(0.0, abs=0.1)


def test_what_the_simplex_cannot_repair():
    with pytest.raises(rb.InputError, match="no positive entry; start from a single column"):
        rb.Game(np.eye(2), over=rb.Simplex()).bracket([1, 1], [0, -1])


def test_a_linear_solver_for_a_curved_set():
    with pytest.raises(rb.InputError, match=r"over=L2Ball\(radius=1\) is not polyhedral"):
        rb.reference(rb.Game(np.eye(2), over=rb.L2Ball()), "HIGHS")


def test_columns_are_priced_in_over_the_simplex_and_large_balls(monkeypatch, rng):
    pair = import_module("relaxboost.solvers.reference")

    A = np.clip(rng.uniform(-1, 1, (20, 900)) - 0.3, -1, 1)
    for over in (rb.Simplex(), rb.L1Ball(10)):
        game = rb.Game(A, rb.Capped(4), over=over)
        whole = rb.reference(game)
        monkeypatch.setattr(pair, "MAX_WHOLE_ENTRIES", 1000)
        priced = rb.reference(game)
        monkeypatch.undo()
        assert "after pricing all" in priced.message
        assert priced.status == "optimal"
        assert rb.compare(whole, priced)


def test_many_columns_over_a_euclidean_set_are_turned(monkeypatch, rng):
    pair = import_module("relaxboost.solvers.reference")

    A = rng.uniform(-1, 1, (8, 50))
    for over in (rb.L2Ball(3), rb.SquaredNorm(0.1)):
        dense = rb.reference(rb.Game(A, over=over))
        assert dense.status == "optimal"
        assert np.count_nonzero(dense.w) == 50
        assert dense.lower == pytest.approx(optimum(A, rb.HardMargin(), over), abs=1e-6)
        assert rb.compare(dense, rb.reference(rb.Game(sp.csc_array(A), over=over)))
    monkeypatch.setattr(pair, "MAX_TABLEAU_ENTRIES", 10)
    with pytest.raises(rb.InputError, match=r"8 x 50 is too large .* use solve\(game\)"):
        rb.reference(rb.Game(A, over=rb.L2Ball()))


def test_the_norm_is_rounded_up(rng):
    for scale in (1e-320, 1e-160, 1.0, 1e150):
        for _ in range(50):
            x = rng.normal(size=7) * scale
            square = sum(Fraction(float(a)) ** 2 for a in x)
            bound = Fraction(norm_above(x)) ** 2
            assert bound >= square
            assert scale < 1e-300 or bound <= square * (1 + Fraction(1, 10**14))
    assert norm_above(np.zeros(3)) == norm_above(np.empty(0)) == 0.0


def test_dense_answers_attain_the_support_function(rng):
    matrix = rb.matrices.DenseMatrix(rng.uniform(-1, 1, (5, 4)))
    d = rng.dirichlet(np.ones(5))
    for over in (rb.L2Ball(2), rb.SquaredNorm(0.3)):
        assert isinstance(over, EuclideanSet)
        best = over.best(matrix, d)
        value = matrix.edges(d) @ best.w - over.cost(best.w)
        assert value == pytest.approx(over.value(best.edge), rel=1e-12)
