"""Regret as a bracket: against the learner's own trace, along the way, and drawn."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.online import (
    Constant,
    ExponentiatedGradient,
    GradientDescent,
    Growing,
    HedgedDescent,
    Horizon,
    MirrorDescent,
    hindsight,
    regret,
)
from relaxboost.views import plots

METHODS = [
    MirrorDescent("hinge", over=rb.Simplex(2), bound=2.0),
    MirrorDescent("absolute", over=rb.L1Ball(1), bound=2.0),
    GradientDescent("logistic", over=rb.L2Ball(1), bound=5.0),
    ExponentiatedGradient("inner", over=rb.Simplex(1), bound=2.0, schedule=Horizon(120)),
]


def examples(method, m=120, M=5, seed=0):
    rng = np.random.default_rng(seed)
    H = rng.uniform(-2.0, 2.0, size=(m, M))
    y = np.sign(H[:, 0] + rng.normal(size=m))
    return H, None if "Inner" in repr(method.loss) else y


def traced(method, H, y):
    """Return Σ l_i(w_{i−1}) for every i, with weights asked for one by one: the slow twin."""
    learner, total, sums = method.start(H.shape[1]), 0.0, []
    for i, h in enumerate(H):
        total += method.loss.evaluate(learner.w, h, 0.0 if y is None else y[i])[0]
        learner.update(h, None if y is None else y[i])
        sums.append(total)
    return sums


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method.loss).__name__)
def test_the_bracket_holds_the_regret_and_is_below_the_theorem(method):
    H, y = examples(method)
    found = regret(method, (H, y), at=[1, 7, 50])
    sums, whole = traced(method, H, y), [*found.along, found]
    assert [one.examples for one in whole] == [1, 7, 50, 120]
    for one in whole:
        k = one.examples
        best = hindsight(method.loss, method.over, (H[:k], None if y is None else y[:k]), 1e-9)
        assert one.lower <= sums[k - 1] - best.lower
        assert sums[k - 1] - best.upper <= one.upper
        assert one.gap <= 2e-6 * max(abs(best.upper), 1.0)
        # Any w is an honest comparator, the best one the hardest; so says the theorem too.
        assert one.upper <= one.bound + 1e-9
        assert one.lower <= one.bound_at + 1e-9
        assert one.bound_at <= one.bound + 1e-9


def test_a_learner_that_has_learned_is_taken_as_it_is():
    method = METHODS[0]
    H, y = examples(method)
    learner = method.start(5)
    learner.update(H, y)
    state = learner.state()
    found, fresh = regret(learner, (H, y)), regret(method, (H, y))
    assert (found.lower, found.upper, found.bound) == (fresh.lower, fresh.upper, fresh.bound)
    assert np.array_equal(learner.state()["s"], state["s"])
    unseen = method.start(5)
    assert regret(unseen, (H, y)).lower == fresh.lower
    assert unseen.rounds == 120
    with pytest.raises(rb.InputError, match="weight 120, but the stream has total weight 60"):
        regret(learner, (H[:60], y[:60]))
    with pytest.raises(rb.InputError, match="at= needs a new learner"):
        regret(learner, (H, y), at=[3])


def test_streams_of_blocks_and_weights_that_are_copies():
    method = METHODS[0]
    H, y = examples(method)

    def blocks():
        for start in range(0, 120, 13):
            yield H[start : start + 13], y[start : start + 13]

    plain, streamed = (regret(method, source, at=[20, 26]) for source in ((H, y), blocks))
    for one, other in zip([*plain.along, plain], [*streamed.along, streamed], strict=True):
        assert one.loss == other.loss
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    copies = np.arange(120) % 3
    heavy = regret(method, (H, y, copies))
    alike = regret(method, (np.repeat(H, copies, axis=0), np.repeat(y, copies)))
    assert heavy.loss == pytest.approx(alike.loss, rel=1e-12)
    assert max(heavy.lower, alike.lower) <= min(heavy.upper, alike.upper)


def test_a_stream_that_can_be_read_once_is_refused_before_anything_is_learned():
    method = METHODS[0]
    H, y = examples(method)
    learner = method.start(5)
    with pytest.raises(rb.InputError, match="can be read only once; pass arrays"):
        regret(learner, iter([(H, y)]))
    assert learner.rounds == 0
    with pytest.raises(rb.InputError, match="at contains 500, but the stream has only 120"):
        regret(method, (H, y), at=[500])
    with pytest.raises(rb.InputError, match=r"learner must be a Learner, or a method .* got str"):
        regret("hinge", (H, y))


def test_a_learner_without_a_bound_says_so():
    costs = np.random.default_rng(0).random((20, 3))
    for schedule, said in (
        ("growing", "no theorem bounds it"),
        (Horizon(20), "by theorem at most"),
    ):
        assert said in str(regret(ExponentiatedGradient("inner", schedule=schedule), costs))


def test_it_is_shown_in_a_line_as_data_and_drawn(capsys):
    method = METHODS[0]
    H, y = examples(method)
    found = regret(method, (H, y), at=[10, 40])
    found.show()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[-1] == str(found)
    assert "regret" in lines[-1]
    assert "after 120 examples" in lines[-1]
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [one["examples"] for one in data["along"]] == [10, 40]
    assert data["upper"] - data["lower"] == found.gap
    endless = regret(ExponentiatedGradient("inner", over=rb.Simplex(1), bound=2), (H, None))
    assert endless.bound == math.inf
    assert endless.to_dict()["bound"] is None
    axes = plots.regret_curves(found, endless)
    drawn = [line.get_ydata()[-1] for line in axes.get_lines()]
    assert drawn[:3] == [(found.lower + found.upper) / 2, found.bound, found.bound_at]
    assert len(drawn) == 4
    with pytest.raises(rb.InputError, match="regret_curves needs at least one Regret"):
        plots.regret_curves()


def test_the_rounding_of_a_steep_loss_is_in_the_bracket():
    # Predictions of 1e12 are wrong by 1e-4, and the loss by slopes of 1e6 times that.
    for seed in range(40):
        H = np.random.default_rng(seed).normal(size=(2, 2))
        H *= 0.999e6 / np.linalg.norm(H, axis=1, keepdims=True)
        steep = GradientDescent("squared", rb.L2Ball(1e6), bound=1e6, schedule=Constant(1.0))
        learner = steep.start(2)
        learner.update(H[0], 1e6)
        said = sum(Fraction(a) * Fraction(b) for a, b in zip(learner.w, H[1], strict=True))
        y = np.array([1e6, float(said) + 1.5e6])
        learner.update(H[1], y[1])
        loss = (Fraction(y[0]) ** 2 + (said - Fraction(y[1])) ** 2) / 2
        found = regret(learner, (H, y), tol=0.5)
        assert Fraction(found.lower) <= loss - Fraction(found.comparator.upper)
        assert Fraction(found.upper) >= loss - Fraction(found.comparator.lower)


@pytest.mark.parametrize("schedule", [Constant(1e-200), Growing(1e-200)])
@pytest.mark.parametrize("over", [rb.L2Ball(1), rb.Simplex()])
def test_bounds_hold_where_the_squares_of_gradients_underflow(over, schedule):
    is_ball = isinstance(over, rb.L2Ball)
    method = MirrorDescent("inner", over, "squared-l2" if is_ball else "entropy", schedule)
    fast, slow = method.start(2), method.start(2)
    slow.compiled = lambda: None
    # ‖u‖²/(2β) is 25e-340/2e-200 or 16e-340/2e-200. The other term of the bound is below 1e-199.
    for learner in (fast, slow):
        learner.update(np.array([[3e-170, 4e-170]]))
        known = 1.25e-139 if is_ball else 8e-140
        assert learner.regret_bound() == pytest.approx(known, rel=1e-12, abs=0.0)


def test_the_bound_of_hedged_descent_holds_where_squares_underflow():
    # The loss is 1e-5, and that of w = 1 is 1e-5 − 1e-170.
    learner = HedgedDescent("absolute", bound=1e-100, targets=1e-5).start(1)
    learner.update(np.array([[1e-170]]), np.array([1e-5]))
    assert learner.regret_bound() >= 1e-170
