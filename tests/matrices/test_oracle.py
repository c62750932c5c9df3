"""Weak learners behind the protocol: what they prove, and what they cannot break."""

from __future__ import annotations

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.matrices import oracle, stumps
from relaxboost.solvers import Corrective


class TestOracle:
    @pytest.fixture
    def data(self, rng):
        X = rng.normal(size=(40, 3))
        y = np.where(X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)
        return X, y

    @staticmethod
    def best_stump(X, y, d):
        matrix = stumps(X, y)
        best = matrix.best(d)
        stump = matrix.hypothesis(best.id)
        return lambda Z: best.sign * stump(Z)

    def test_an_exact_oracle_solves_the_same_game(self, data):
        X, y = data
        for relaxation in (rb.HardMargin(), rb.Capped(8)):
            whole = rb.solve(rb.Game(stumps(X, y), relaxation), tol=1e-9)
            found = rb.solve(
                rb.Game(oracle(self.best_stump, X, y, slack=0.0), relaxation), tol=1e-6
            )
            assert found.status == "optimal"
            assert found.gap <= 1e-6
            assert found.lower <= whole.upper
            assert whole.lower <= found.upper

    def test_declared_slack_is_added_to_the_upper_bound(self, data):
        X, y = data
        lazy = oracle(self.best_stump, X, y, slack=0.05)
        solution = rb.solve(rb.Game(lazy), tol=0.06, max_rounds=500)
        exact = rb.solve(rb.Game(stumps(X, y)), tol=1e-9)
        assert solution.lower <= exact.upper
        assert solution.upper >= exact.upper + 0.04

    def test_what_it_answers_is_what_steps_go_by(self, data):
        """They price the columns in use by themselves, and steps over its own do not differ."""
        X, y = data
        lazy, d = oracle(self.best_stump, X, y, slack=0.0), np.full(40, 1 / 40)
        assert lazy.priced(d, np.array([0])) == (lazy.best(d), None)
        for step in ("pairwise", "away"):
            method = rb.solvers.Corrective(step=step)
            one, other = (
                rb.solve(rb.Game(A, rb.Capped(8)), 0.01, method, max_rounds=60)
                for A in (lazy, stumps(X, y))
            )
            assert one.lower == pytest.approx(other.lower, abs=1e-9)
            assert one.upper == pytest.approx(other.upper, abs=1e-9)

    def test_unknown_slack_proves_no_upper_bound(self, data):
        X, y = data
        game = rb.Game(oracle(self.best_stump, X, y))
        with pytest.raises(
            rb.InputError, match=r"slack of this weak learner, inf, .* pass max_rounds or"
        ):
            rb.solve(game)
        solution = rb.solve(game, max_rounds=2_000)
        assert solution.upper == np.inf
        assert solution.status == "stalled"
        assert "the run could not reduce the gap below inf" in solution.message
        assert solution.lower > 0.0
        assert rb.solve(game, max_rounds=3).status == "max_rounds"
        assert "inf" in repr(solution)

    def test_a_scikit_learn_tree_is_a_weak_learner(self, data):
        from sklearn.tree import DecisionTreeClassifier

        X, y = data
        game = rb.Game(oracle(DecisionTreeClassifier(max_depth=2, random_state=0), X, y))
        solution = rb.solve(game, method=Corrective(step="pairwise"), max_rounds=25)
        assert solution.lower > 0.0
        assert game.n is None
        assert game.matrix.hypothesis(0).predict(X).shape == (40,)
        assert solution.margins.min() == pytest.approx(solution.lower, abs=1e-12)
        with pytest.raises(rb.InputError, match="no fixed length"):
            _ = solution.w
        with pytest.raises(rb.InputError, match="does not enumerate"):
            rb.reference(game)

    def test_an_earlier_column_may_be_the_better_answer(self, data):
        X, y = data
        answers = iter([lambda Z: y, lambda Z: np.where(Z[:, 0] > 0, 0.5, -0.5)])
        matrix = oracle(lambda X, y, d: next(answers), X, y, slack=0.75)
        d = np.full(40, 1 / 40)
        assert matrix.best(d) == (0, 1, pytest.approx(1.0), 0.75)
        second = matrix.best(d)  # finds less than column 0 offers
        assert second.id == 0
        assert second.edge + second.slack == pytest.approx(abs(matrix.edges(d)[1]) + 0.75)

    def test_a_learner_cannot_change_the_game_by_writing_to_its_arguments(self, data):
        X, y = data

        def greedy(X, y, d):
            hypothesis = self.best_stump(X, y, d.copy())
            d *= 0.5
            return hypothesis

        game = rb.Game(oracle(greedy, X, y, slack=0.0))
        exact = rb.solve(rb.Game(stumps(X, y)), 1e-9)
        solution = rb.solve(game, 1e-6)
        assert solution.lower <= exact.upper
        assert exact.lower <= solution.upper

        def vandal(X, y, d):
            y[:] = 1.0

        with pytest.raises(ValueError, match="read-only"):
            rb.solve(rb.Game(oracle(vandal, X, y, slack=0.0)))

    def test_columns_not_found_yet_cannot_be_used(self, data):
        game = rb.Game(oracle(self.best_stump, *data, slack=0.0))
        d = np.full(40, 1 / 40)
        for j in (0, 5, -1, 100):
            with pytest.raises(rb.InputError, match="support contains columns outside"):
                game.bracket(d, ([j], [1.0]))
            with pytest.raises(rb.InputError, match=f"there is no column {j}"):
                game.matrix.column(j)
        found = game.matrix.best(d)
        assert game.bracket(d, ([found.id], [float(found.sign)]))[0] == pytest.approx(-1.0)
        with pytest.raises(ValueError, match="read-only"):
            game.matrix.column(found.id)[0] = 1.0

    def test_digests_name_the_learner_and_comparisons_want_the_same_one(self, data):
        X, y = data
        one, two = (rb.Game(oracle(self.best_stump, X, y, slack=0.0)) for _ in range(2))
        assert one.digest == two.digest  # reproducible: no address of a function in it
        assert one.digest != rb.Game(oracle(self.best_stump, X, y, slack=0.0, name="b")).digest
        assert rb.compare(rb.solve(one, 0.1), rb.solve(one, 1e-6))
        with pytest.raises(rb.InputError, match="whether two weak learners are the same"):
            rb.compare(rb.solve(one, 0.1), rb.solve(two, 0.1))

    def test_a_gap_below_the_slack_needs_a_limit(self, data):
        game = rb.Game(oracle(self.best_stump, *data, slack=0.2))
        with pytest.raises(rb.InputError, match=r"learner, 0.2, is part of every upper bound"):
            rb.solve(game, 0.1)
        limited = rb.solve(game, 0.1, "corrective", max_rounds=50)
        assert limited.status == "max_rounds"
        assert np.isnan(limited.bound)

    def test_estimators_must_see_the_distribution(self, data):
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.tree import DecisionTreeClassifier

        with pytest.raises(rb.InputError, match="takes no sample_weight"):
            oracle(KNeighborsClassifier(), *data)
        with pytest.raises(rb.InputError, match=r"pass an instance, DecisionTreeClassifier"):
            oracle(DecisionTreeClassifier, *data)

    @pytest.mark.parametrize(
        ("fit", "message"),
        [
            (lambda X, y, d: lambda X: ["a"] * 40, "returned dtype <U1"),
            (lambda X, y, d: 3, "must return a function of X"),
            (lambda X, y, d: lambda X: np.ones(7), r"returned shape \(7,\) for 40 examples"),
            (lambda X, y, d: lambda X: np.full(40, 2.0), r"returned 2 for example 0"),
            (lambda X, y, d: lambda X: np.full(40, np.nan), "returned nan for example 0"),
        ],
    )
    def test_wrong_hypotheses(self, data, fit, message):
        with pytest.raises(rb.InputError, match=message):
            rb.solve(rb.Game(oracle(fit, *data, slack=0.0)), max_rounds=3)

    @pytest.mark.parametrize("fit", [lambda X, y: None, lambda X, y, d, more: None])
    def test_another_number_of_arguments_is_refused(self, data, fit):
        with pytest.raises(rb.InputError, match=r"must accept the call fit\(X, y, d\).* fails: "):
            oracle(fit, *data)

    @pytest.mark.parametrize("slack", [-0.1, np.nan, np.inf])
    def test_wrong_slack(self, data, slack):
        with pytest.raises(
            rb.InputError, match=r"slack \(None if nothing is known\) must be a positive number"
        ):
            oracle(self.best_stump, *data, slack=slack)
        with pytest.raises(rb.InputError, match="pass a function"):
            oracle(7, *data)
