"""A residual that cancels the gradient: Algorithm 3 goes on, as nothing says it is at a minimum."""

from __future__ import annotations

from itertools import islice

import numpy as np

from relaxboost.functional import Empirical, FiniteSet, Residual, rounds


class Ridge:
    """R[f] = max(f(x_1) + f(x_2), −f(x_2)), with the second piece taken where they tie."""

    measure = Empirical(2)

    def evaluate(self, F):
        a, b = F[0] + F[1], -F[1]
        return max(a, b), 2.0 * np.array([1.0, 1.0] if a > b else [0.0, -1.0])


def test_a_round_in_which_the_residual_cancels_the_gradient_is_no_end():
    pool = FiniteSet().prepare(np.eye(2), Ridge.measure, None, "least-squares", None)
    start = np.array([1.0, 0.0])
    trace = list(islice(rounds(Ridge(), pool, Residual(), lambda t, F, d: 0.5 / t, start), 20))
    assert len(trace) == 20
    assert not trace[2].direction.parts
    assert np.array_equal(trace[1].F, trace[2].F)
    assert trace[-1].value < trace[2].value
