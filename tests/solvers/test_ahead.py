"""Rounds that are made ahead are those of the slow twin, to the bit."""

from itertools import islice, zip_longest

import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.compiled import at_most
from relaxboost._core.loop import Clock
from relaxboost.matrices import DenseMatrix
from relaxboost.solvers import Corrective
from relaxboost.solvers.boosters.corrective import CorrectiveRun
from relaxboost.solvers.rounds import Rounds


def shown(state):
    """All numbers of a round."""
    numbers = state.lower, state.upper, state.smoothed_gap, state.step, state.active.used
    w = state.active.coefficients(state.active.snapshot())
    return [np.array(numbers), state.d, state.active.u, np.array(state.best, float), *w]


@pytest.mark.parametrize("step", ["fig1", "pairwise"])
@pytest.mark.parametrize("beta", [1e-9, 1e-3, 0.1, 50.0])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int8])
def test_rounds_made_ahead_are_those_of_the_slow_twin(rng, step, beta, kind):
    for m, n, radius in ((1, 3, 1), (30, 1, 1), (40, 12, 2.5), (300, 40, 1)):
        A = rng.integers(-1, 2, (m, n))
        A = A.astype(kind) if kind is np.int8 else (A * rng.random((m, n))).astype(kind)
        for relaxation in (rb.HardMargin(), rb.Capped(max(1.0, m / 4))):
            game = rb.Game(DenseMatrix(A), relaxation, rb.L1Ball(radius))
            ahead = Corrective(step=step, beta=beta).start(game, 1e-9, Clock())
            assert ahead._ahead is not None
            pairs = zip_longest(Rounds(game, CorrectiveRun(game, beta, step)), Rounds(game, ahead))
            for slow, fast in islice(pairs, 80):
                for one, other in zip(shown(slow), shown(fast), strict=True):
                    assert np.array_equal(one, other, equal_nan=True), slow.round


@pytest.mark.parametrize("step", ["fig1", "pairwise"])
def test_one_thread_makes_rounds_of_large_matrices_ahead(rng, step):
    A = rng.choice(np.array([-1, 1], np.int8), (2100, 1000))
    game = rb.Game(A, rb.Capped(700))
    with at_most(1):
        alone = Corrective(step=step, beta=1e-3).start(game, 1e-9, Clock())
    assert alone._ahead is not None
    shared = CorrectiveRun(game, 1e-3, step)
    for one, other in islice(zip(Rounds(game, alone), Rounds(game, shared), strict=True), 12):
        for a, b in zip(shown(one), shown(other), strict=True):
            assert np.array_equal(a, b, equal_nan=True)


def test_an_atom_that_is_best_and_worst_at_once_keeps_its_weight():
    """A column by itself is added in another order than the same one among those in use."""
    for m in range(64, 400, 7):
        A = (np.arange(m) % 10 > 2).astype(float)[:, None]
        game = rb.Game(A, rb.Capped(m / 3))
        run = Corrective(step="pairwise", beta=0.005).start(game, 1e-9, Clock())
        slow = CorrectiveRun(game, 0.005, "pairwise")
        for state, twin in islice(zip(Rounds(game, run), Rounds(game, slow), strict=True), 12):
            assert np.array_equal(state.active.u, twin.active.u)
            w = state.active.coefficients(state.active.snapshot())
            assert game.matrix.margins(*w) == pytest.approx(state.active.u, abs=1e-12)


def test_only_what_is_known_by_heart_is_made_ahead(rng):
    class Own(DenseMatrix):
        def best(self, d):
            return super().best(d)

    class OwnCap(rb.Capped):
        pass

    A = rng.choice([-1.0, 1.0], (30, 8))
    entropy = Corrective(smoothing="binary-entropy")
    for game, method in (
        (rb.Game(Own(A)), Corrective()),
        (rb.Game(A, over=rb.Simplex()), Corrective()),
        (rb.Game(A, rb.KLPenalty(0.1)), Corrective()),
        (rb.Game(A, OwnCap(3)), Corrective()),
        (rb.Game(A), Corrective(step="away")),
        (rb.Game(A), entropy),
    ):
        assert method.start(game, 0.1, Clock())._ahead is None
