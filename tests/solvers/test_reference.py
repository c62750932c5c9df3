"""References: three solvers or more on games of every shape, and solvers that talk rubbish."""

from __future__ import annotations

from importlib import import_module

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.game import programs
from relaxboost.solvers import SOLVERS, Corrective
from relaxboost.solvers.external import ask
from tests.twins import exact_game_value

ALL = tuple(solver for solver in SOLVERS if solver in cp.installed_solvers())
"""The solvers that are installed. ECOS has no wheel for Python 3.13 and later."""


def planted(rng, m, n):
    """A game with a positive margin: labels of a random vote, noisy copies as columns."""
    base = np.sign(rng.normal(size=(m, n)))
    return np.where(rng.random((m, n)) < 0.7, np.abs(base), base) * rng.uniform(0.5, 1, (m, n))


def shapes(rng):
    yield "1 x 1", np.array([[0.25]])
    yield "1 x 1 zero", np.array([[0.0]])
    yield "tall", planted(rng, 40, 3)
    yield "wide", planted(rng, 4, 60)
    yield "square", planted(rng, 30, 30)
    one = planted(rng, 20, 5)
    one[:, 2] = 1.0
    yield "single hypothesis", one
    opposite = planted(rng, 12, 6)
    yield "duplicate rows, opposite labels", np.vstack([opposite, -opposite[:1]])
    columns = planted(rng, 15, 6)
    yield "duplicate and zero columns", np.column_stack([columns, columns, 0 * columns, -columns])
    yield "signs", np.sign(rng.normal(size=(25, 12)))


def test_four_solvers_bracket_games_of_every_shape(rng):
    for name, A in shapes(rng):
        hard, capped = rb.Game(A), rb.Game(A, rb.Capped(max(1.0, 0.7 * A.shape[0])))
        for game in (hard, capped):
            references = [rb.reference(game, solver) for solver in ALL]
            boosters = [
                rb.solve(game, 1e-7),
                rb.solve(game, 0.02, Corrective(step="pairwise")),
                rb.solve(game, 0.05, "lpboost"),
            ]
            for reference in references:
                assert reference.status == "optimal", (name, reference.message)
                assert reference.gap <= 1e-6
            assert all(s.status == "optimal" for s in boosters), name
            assert rb.compare(*references, *boosters), name
            if game is hard:
                best_hard = references[0]
            elif name not in ("1 x 1", "1 x 1 zero", "single hypothesis"):
                assert references[0].lower > best_hard.upper + 1e-3, f"the cap must bind: {name}"


def test_known_optima(rng):
    cases = dict(shapes(rng))
    assert rb.reference(rb.Game(cases["1 x 1"])).lower == pytest.approx(0.25)
    zero = rb.reference(rb.Game(cases["duplicate rows, opposite labels"]))
    assert zero.lower == 0.0
    assert zero.upper <= 1e-6
    single = rb.reference(rb.Game(cases["single hypothesis"]))
    assert single.lower == pytest.approx(1.0, abs=1e-6)
    assert single.hypotheses(1) == [(pytest.approx(1.0, abs=1e-5), "h2")]
    for n in (2, 5, 20):
        assert rb.reference(rb.Game(np.eye(n))).lower == pytest.approx(1 / n, abs=1e-7)


def test_small_games_against_the_exact_optimum(rng):
    for _ in range(20):
        m, n = rng.integers(2, 6, 2)
        A = np.round(rng.uniform(-1, 1, (m, n)), 2)
        k = float(rng.uniform(1, m))
        exact = exact_game_value(A, k)
        for solver in ALL:
            reference = rb.reference(rb.Game(A, rb.Capped(k)), solver)
            assert reference.lower <= exact <= reference.upper
            assert reference.gap <= 1e-6


@pytest.mark.parametrize("radius", [0.001, 0.01])
def test_small_kl_balls_of_many_examples(radius, rng):
    # Clarabel fails on these games if the distribution is not scaled.
    solution = rb.reference(rb.Game(rng.uniform(-1, 1, (800, 60)), rb.KLBall(radius)))
    assert solution.status == "optimal"
    assert solution.gap <= 1e-6


@pytest.fixture(scope="module")
def dense():
    """Return a game whose dense optimum has 120 columns, what boosters find, its hard margin."""
    game = rb.Game(planted(np.random.default_rng(20091026), 250, 250), rb.Capped(75))
    boosters = [rb.solve(game, 1e-6), rb.solve(game, 0.01, Corrective(step="pairwise"))]
    return game, boosters, rb.solve(rb.Game(game.matrix), 1e-3)


@pytest.mark.parametrize("solver", ["HIGHS", "CLARABEL", "SCS"])
def test_a_dense_optimum(solver, dense):
    """The cap binds: the hard margin is at most 0.5279, below the optimum of 0.5300."""
    game, boosters, hard = dense
    reference = rb.reference(game, solver)
    assert reference.gap <= 1e-6, reference.message
    assert rb.compare(reference, *boosters)
    assert reference.d.max() >= game.relaxation.cap * (1 - 1e-6)
    assert hard.upper < reference.lower


def test_breast_cancer_is_priced_in_columns(cancer, monkeypatch):
    """The whole array is never formed, and the bracket is one of the whole game.

    Of every third tumour; the demo and the README, which `tests/test_docs.py` runs, take them all.
    """
    stumps = rb.matrices.stumps(cancer.X[::3], cancer.y[::3])
    game = rb.Game(stumps, rb.Capped(19))
    booster = rb.solve(game, 1e-9)

    def refuse(self):
        raise AssertionError("the whole matrix was written down")

    handed, columns = [], type(stumps).columns
    monkeypatch.setattr(type(stumps), "toarray", refuse)
    monkeypatch.setattr(
        type(stumps),
        "columns",
        lambda self, which: handed.append(len(which)) or columns(self, which),
    )
    reference = rb.reference(game)
    # Columns with small edges are given up, so that four rounds hardly add to the first columns.
    assert len(handed) >= 4
    assert max(handed) < 1.1 * handed[0]
    assert reference.status == booster.status == "optimal"
    assert reference.lower <= booster.upper
    assert reference.upper >= booster.lower
    assert reference.gap <= 1e-6
    assert stumps.n > 5000
    assert f"of {stumps.n} columns, after pricing all" in reference.message


class TestRubbish:
    @pytest.fixture
    def game(self, rng):
        return rb.Game(planted(rng, 30, 20), rb.Capped(6))

    def test_a_loose_solver_says_optimal_and_is_caught(self, game):
        """SCS stopped early reports status optimal at a loose tolerance of its own."""
        loose = rb.reference(game, "SCS", eps_abs=0.3, eps_rel=0.3)
        tight = rb.reference(game, "HIGHS")
        assert "SCS says optimal" in loose.message
        assert loose.status == "inaccurate"
        assert "do not use the solver's value" in loose.message
        assert rb.compare(loose, tight)  # wide, and still true

    @pytest.mark.parametrize("kind", ["noise", "nan", "none", "value", "negative"])
    def test_a_lying_solver_is_caught(self, game, kind, monkeypatch, rng):
        honest = cp.Problem.solve

        def lie(problem, *args, **kwargs):
            honest(problem, *args, **kwargs)
            if kind == "value":  # right points, wrong value
                problem._value = problem._value + 0.5
                return
            for variable in problem.variables():
                fake = {
                    "noise": rng.normal(size=variable.shape),
                    "nan": np.full(variable.shape, np.nan),
                    "none": None,
                    "negative": -np.ones(variable.shape),
                }[kind]
                variable.save_value(fake)
            for constraint in problem.constraints:
                for dual in constraint.dual_variables:
                    dual.save_value(None if kind == "none" else np.full(dual.shape, np.nan))

        monkeypatch.setattr(cp.Problem, "solve", lie)
        lied = rb.reference(game, "CLARABEL")
        monkeypatch.undo()
        true = rb.reference(game, "HIGHS")
        assert "CLARABEL says optimal" in lied.message
        assert rb.compare(lied, true)
        if kind == "value":
            assert lied.status == "optimal"
            assert "is outside the bracket by more than tol" in lied.message
        else:
            assert lied.status == "inaccurate"
            assert lied.gap > 1e-6
        if kind in ("nan", "none"):
            assert "returned no usable point; w = 0 and the center prove" in lied.message
            assert lied.lower == 0.0

    def test_a_solver_that_gives_up_is_reported(self, game, monkeypatch):
        def give_up(problem, *args, **kwargs):
            raise cp.SolverError("out of luck\nmore")

        monkeypatch.setattr(cp.Problem, "solve", give_up)
        reference = rb.reference(game)
        assert reference.status == "inaccurate"
        assert "HIGHS says failed (out of luck)" in reference.message

    def test_too_few_iterations(self, game):
        reference = rb.reference(game, "CLARABEL", max_iter=2)
        assert reference.status == "inaccurate"
        assert rb.compare(reference, rb.reference(game))


def test_unknown_solvers_are_named_with_those_installed(monkeypatch):
    game = rb.Game(np.eye(2))
    message = "'GUROBY' is not available; installed solvers are .*HIGHS"
    with pytest.raises(rb.InputError, match=message):
        rb.reference(game, "GUROBY")
    monkeypatch.setattr(cp, "installed_solvers", lambda: ["CLARABEL", "HIGHS"])
    with pytest.raises(rb.InputError, match="ECOS: pip install ecos, SCS: pip install scs"):
        rb.reference(game, "ecos")


@pytest.mark.parametrize("tol", [0, -1e-3, float("nan"), float("inf")])
def test_wrong_tolerances(tol):
    with pytest.raises(rb.InputError, match="tol must be a positive number"):
        rb.reference(rb.Game(np.eye(2)), tol=tol)


def test_ctrl_c_keeps_the_bracket(rng, monkeypatch):
    pair = import_module("relaxboost.solvers.reference")

    game = rb.Game(planted(rng, 30, 20), rb.Capped(6))
    honest, asked = pair.ask, []

    def press(*arguments):
        asked.append(arguments)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return honest(*arguments)

    monkeypatch.setattr(pair, "ask", press)
    reference = rb.reference(game)
    assert reference.status == "interrupted"
    assert reference.gap < 1e-6  # the primal alone proved it
    assert "(primal)" in reference.message
    assert "(dual)" not in reference.message


def test_a_matrix_is_not_a_game():
    with pytest.raises(rb.InputError, match=r"reference needs a Game, got ndarray"):
        rb.reference(np.eye(2))
    solution = rb.reference(rb.Game(np.eye(2)))
    for call in (rb.reference, rb.solve, rb.certificates.exact_optimum):
        with pytest.raises(rb.InputError, match=r"a Game, got Solution; .* solution\.game"):
            call(solution)


def test_options_the_solver_does_not_know():
    with pytest.raises(rb.InputError, match=r"SCS does not accept these options: .*no_such_option"):
        rb.reference(rb.Game(np.eye(2)), "SCS", no_such_option=3)


def test_few_columns_of_many_examples_are_written_down_for_the_solver(rng, monkeypatch):
    """Too large for primal(), yet few columns: the solver gets them all the same."""
    from relaxboost.matrices import base

    monkeypatch.setattr(base, "MAX_DENSE_ENTRIES", 1_000)
    X = rng.integers(0, 6, (400, 2)).astype(float)
    game = rb.Game(rb.matrices.stumps(X, np.sign(rng.normal(size=400))), rb.Capped(200))
    with pytest.raises(rb.InputError, match="400 x 10 is more than"):
        game.primal()
    assert rb.reference(game).status == "optimal"


@pytest.mark.parametrize(
    "f", [rb.NormPenalty(2, 1), rb.KLPenalty(0.05), rb.Capped(4) + rb.KLPenalty(0.05)], ids=repr
)
@pytest.mark.parametrize("size", [1e7, 1e9])
def test_a_multiple_of_a_game_is_solved_as_the_game(f, size, rng):
    """c f over the ball of radius c is c times the game."""
    A = np.clip(rng.uniform(-1, 1, (20, 8)) + 0.1, -1, 1)
    unit = rb.reference(rb.Game(A, f))
    found = rb.reference(rb.Game(A, size * f, over=rb.L1Ball(size)), tol=1e-6 * size)
    assert found.status == "optimal", found.message
    assert found.lower <= size * unit.upper * (1 + 1e-12)
    assert found.upper >= size * unit.lower * (1 - 1e-12)
    plain = ask(programs.primal(A, f.resolve(20), rb.L1Ball(1)), "CLARABEL", {})
    model = programs.primal(A, (size * f).resolve(20), rb.L1Ball(size))
    priced = ask(model.priced(size), "CLARABEL", {})
    assert priced.value == pytest.approx(size * plain.value, abs=1e-5 * size)
    assert priced.other == pytest.approx(size * plain.other, abs=1e-2 * size)


def test_a_solver_that_fails_is_not_asked_for_ever(cancer_stumps, monkeypatch):
    calls = []

    def give_up(problem, *args, **kwargs):
        calls.append(1)
        raise cp.SolverError("out of luck")

    monkeypatch.setattr(cp.Problem, "solve", give_up)
    reference = rb.reference(rb.Game(cancer_stumps))
    assert len(calls) == 3
    assert reference.status == "inaccurate"


def test_weights_at_whose_margins_no_solver_answers_are_no_points(monkeypatch, rng):
    """The bracket is then that of the center, and the message says that it is wide."""
    from relaxboost._core.errors import SolverError

    game = rb.Game(rng.uniform(-1, 1, (6, 4)), rb.Custom(cp.sum_squares))
    own = type(game.relaxation).witness

    def silent(f, u):
        if np.any(u):
            raise SolverError("cvxpy ended with status solver_error")
        return own(f, u)

    monkeypatch.setattr(type(game.relaxation), "witness", silent)
    monkeypatch.setattr(type(game.relaxation), "near_witness", lambda f, u, proof: None)
    found = rb.reference(game, "CLARABEL")
    assert found.lower == pytest.approx(1 / 6, abs=1e-6)
    assert found.lower <= found.upper
    assert "wider than tol" in found.message
