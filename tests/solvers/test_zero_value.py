"""Games with ρ = 0 end by a d without edges; where there is none, the run goes on."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import relaxboost as rb
from relaxboost._core.loop import Clock
from relaxboost.solvers.boosters.starting_points import active_set
from relaxboost.solvers.zero_value import ZeroValueRun, unfit
from tests.solvers.test_interior import inners


def signs(m, n, lean=0.0, seed=0):
    return np.where(np.random.default_rng(seed).random((m, n)) < 0.5 + lean, 1.0, -1.0)


def forms():
    """Yield games whose columns are balanced by some d, one for each storage, and hard ones."""
    A, rng = signs(300, 40), np.random.default_rng(3)
    for kind in (np.float64, np.float32, np.int8):
        yield rb.Game(A.astype(kind), rb.Capped(30))
    yield rb.Game(sparse.csr_array(A * (rng.random(A.shape) < 0.1)), rb.Capped(100))
    X, y = rng.integers(0, 3, (200, 6)), np.where(rng.random(200) < 0.5, 1.0, -1.0)
    yield rb.Game(rb.matrices.stumps(X.astype(float), y), rb.Capped(60))
    yield rb.Game(np.hstack([A, A, 0.0 * A[:, :2]]), rb.HardMargin())  # equal and empty columns
    yield rb.Game(A, rb.Caps(rng.uniform(0.005, 0.02, 300)), over=rb.L1Ball(7))
    # Few directions, and more columns than single precision keeps apart.
    low = rng.normal(size=(300, 20)) * np.arange(1, 21) ** -1.5 @ rng.normal(size=(20, 130))
    yield rb.Game(low / np.abs(low).max(), rb.HardMargin())


@pytest.mark.parametrize("game", list(forms()), ids=lambda g: f"{g.matrix!r} {g.relaxation!r:.12}")
def test_a_game_of_value_zero_ends_by_a_balanced_d(game):
    found = rb.solve(game, 1e-9)
    assert inners(found) == ["start", "balance"]
    assert found.status == "optimal"
    assert found.lower == 0.0
    assert np.abs(game.matrix.edges(found.d)).max() <= 1e-9
    assert rb.compare(found, rb.solve(game, 1e-5, "interior-point"))


def test_columns_that_nearly_depend_on_each_other_leave_the_answer_right(rng):
    """In two of them all examples are alike. Conjugate gradients may give up; the run may not."""
    base = signs(400, 10, seed=2)
    A = 0.9 * np.hstack([base, base + 1e-3 * rng.normal(size=base.shape), base[:, :2]])
    game = rb.Game(A, rb.Capped(40))
    found = rb.solve(game, 1e-9)
    assert inners(found)[:2] == ["start", "balance"]
    assert found.status == "optimal"
    assert rb.compare(found, rb.reference(game))


def test_where_the_value_is_not_zero_the_run_goes_on():
    game = rb.Game(signs(200, 120), rb.Capped(60))
    found = rb.solve(game, 1e-7)
    assert inners(found)[:2] == ["start", "balance"]
    assert inners(found)[2:]
    assert found.status == "optimal"
    assert found.lower > 0.0
    assert rb.compare(found, rb.solve(game, 1e-7, "interior-point"))


@pytest.mark.parametrize(
    ("A", "f"),
    [
        ([[1.0], [1.0]], rb.HardMargin()),  # a singular system without a solution
        ([[1.0], [-1.0], [0.5]], rb.Capped(3)),  # nothing strictly between its bounds
    ],
)
def test_a_step_that_cannot_be_made_leaves_the_run_to_go_on(A, f):
    game = rb.Game(np.array(A), f)
    assert not unfit(game)
    run = ZeroValueRun(game, Clock(), active_set(game))
    assert None in [run.advance(None) for _ in range(4)]
    assert rb.compare(rb.solve(game, 1e-7), rb.reference(game))


def test_a_step_that_leaves_no_example_any_weight_is_not_taken():
    """Sixteen kinds of rows of five columns, by how often each comes."""
    rows = (
        "+++++ ----- ++++- ----+ ---+- +--+- --+++ ++--- --++- ++--+ --+-+ ++-+- ++-++ +++-- ---+-"
    )
    A = np.array(
        [[1.0 if sign == "+" else -1.0 for sign in row] for row in f"{rows} +++-+".split()]
    )
    often = [2, 17, 16, 6, 1, 1, 6, 11, 45, 14, 3, 3, 4, 1, 102, 28]
    game = rb.Game(A, rb.Caps([Fraction(count, 104) for count in often]))
    assert not unfit(game)
    assert rb.compare(rb.solve(game, 1e-6), rb.reference(game))


def test_it_looks_at_games_of_bounds_alone():
    A = signs(30, 4)
    assert not unfit(rb.Game(A, rb.Capped(3)))
    assert unfit(rb.Game(A.T, rb.Capped(2)))
    assert unfit(rb.Game(A, rb.Capped(3), over=rb.Simplex()))
    for f in (
        rb.KLPenalty(0.1),
        rb.NormPenalty(np.inf, 1.0),
        rb.Capped(3) + rb.NormPenalty(1, 1.0),
    ):
        assert unfit(rb.Game(A, f))


def test_a_sparse_matrix_of_zeros_is_looked_at():
    found = rb.solve(rb.Game(sparse.csc_array((30, 5)), rb.Capped(k=3)), 1e-6)
    assert found.status == "optimal"
    assert found.upper < 1e-9
