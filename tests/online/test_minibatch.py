"""Mini-batches against a twin of their definition."""

import itertools

import numpy as np
import pytest

from relaxboost import InputError, L1Ball, L2Ball, Simplex
from relaxboost.functional import Logistic
from relaxboost.online import (
    ExponentiatedGradient,
    GradientDescent,
    Horizon,
    MiniBatch,
    MirrorDescent,
    OfPrediction,
    OnlineLoss,
)

METHODS = [
    MirrorDescent("logistic", L1Ball(2)),
    GradientDescent("logistic", L2Ball(2), schedule=Horizon(9)),
    ExponentiatedGradient("hinge", schedule="adaptive"),
]


class Plain(OnlineLoss):
    """The logistic loss, of which nothing is known but values and subgradients."""

    task = "binary"

    def __repr__(self):
        return "Plain()"

    def evaluate(self, w, h, y):
        return OfPrediction(Logistic()).evaluate(w, h, y)

    def lipschitz(self, reach, size, targets):
        return size


def stream(rows=37):
    rng = np.random.default_rng(5)
    return rng.uniform(-0.4, 0.4, (rows, 4)), rng.choice([-1.0, 1.0], rows)


@pytest.mark.parametrize("method", [*METHODS, MirrorDescent(Plain(), Simplex(1))], ids=repr)
@pytest.mark.parametrize("rows", [1, 4, 50])
def test_steps_are_for_means(method, rows):
    """Each full batch is one example with the mean loss, at the weights that predicted it."""
    H, y = stream()
    learner, twin = MiniBatch(method, rows).start(4), method.start(4)
    predictions, wanted, w_by_row = learner.update(H, y), [], []
    for first in range(0, len(y), rows):
        block, labels = H[first : first + rows], y[first : first + rows]
        wanted += [float(twin.w @ h) for h in block]
        if len(labels) == rows:
            w_by_row += [twin.w] * rows
            pairs = [method.loss.evaluate(twin.w, h, t) for h, t in zip(block, labels, strict=True)]
            twin.move(np.mean([v for v, _ in pairs]), np.mean([u for _, u in pairs], axis=0))
    np.testing.assert_allclose(predictions, wanted, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(learner.w, twin.w, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(learner.average, twin.average, rtol=1e-12, atol=1e-14)
    full = len(y) // rows * rows
    assert learner.waiting == len(y) - full
    losses = [method.loss.evaluate(w, h, t)[0] for w, h, t in zip(w_by_row, H, y, strict=False)]
    assert learner.loss == pytest.approx(sum(losses), rel=1e-12, abs=1e-14)
    assert learner.predict(H[0]) == pytest.approx(float(learner.average @ H[0]))
    for w in np.vstack([np.eye(4), twin.average]):  # regret of full batches
        theirs = sum(method.loss.evaluate(w, h, t)[0] for h, t in zip(H[:full], y, strict=False))
        assert learner.loss - theirs <= learner.regret_bound() + 1e-9
        if full:
            assert learner.loss - theirs <= learner.regret_bound(w) + 1e-9


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_block_is_its_rows_and_a_state_goes_on(method):
    H, y = stream()
    kind = MiniBatch(method, 5)
    whole, single = kind.start(4), kind.start(4)
    got = whole.update(H, y)
    want = [single.update(h, label) for h, label in zip(H, y, strict=True)]
    np.testing.assert_array_equal(got, want)
    for cut in (5, 13):
        first = kind.start(4)
        first.update(H[:cut], y[:cut])
        second = kind.restored(first.state())
        second.update(H[cut:], y[cut:])
        for one, two in itertools.product([whole.state()], [single.state(), second.state()]):
            assert one.keys() == two.keys()
            for name in one:
                np.testing.assert_array_equal(one[name], two[name])


def test_bad_input():
    with pytest.raises(InputError, match="method must be one such as MirrorDescent"):
        MiniBatch("hinge", 3)
    with pytest.raises(InputError, match="rows"):
        MiniBatch(METHODS[0], 0)
    learner = MiniBatch(METHODS[0], 3).start(4)
    learner.update([0.1, 0.2, 0.3, 0.4], 1)
    with pytest.raises(InputError, match="row 1 has nan"):
        learner.update([[0.0] * 4, [np.nan] * 4], [1, 1])
    assert learner.waiting == 1
    with pytest.raises(InputError, match="this is the state of MiniBatch"):
        MiniBatch(METHODS[0], 4).restored(learner.state())
