"""Losses: subgradients, constants, conjugates and cvxpy expressions, each against the others."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost import functional as fn
from relaxboost.functional.losses.targets import decided
from tests.functional.cases import CASES, CUSTOM, bound, scores, targets

cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
CLOSED = {name: case for name, case in CASES.items() if case.loss is not CUSTOM}
closed = pytest.mark.parametrize("case", CLOSED.values(), ids=CLOSED)


def repeats(case):
    return 60 if case.loss is CUSTOM else 1_200


@cases
def test_subgradients_support_the_risk(case, rng):
    """R[g] >= R[f] + <∇, g − f>, at kinks and ties too."""
    for trial in range(repeats(case)):
        if trial % 30 == 0:
            risk = bound(case, rng, weighted=trial % 60 == 0)
        F, G = scores(risk, rng), scores(risk, rng)
        value, slopes = risk.evaluate(F)
        other = risk.value(G)
        line = value + risk.measure.inner(slopes, G - F)
        assert other >= line - 1e-11 * (1.0 + abs(other) + abs(value) + abs(line))
        assert risk.measure.norm(slopes) <= risk.gradient_bound * (1.0 + 1e-14)
        assert value == risk.value(F)


@cases
def test_values_are_those_of_the_expression(case, rng):
    for trial in range(repeats(case) // 3):
        if trial % 20 == 0:
            risk = bound(case, rng, weighted=trial % 40 == 0)
            F = cp.Variable(risk.zero().shape)
            expression = risk.expression(F)
            assert expression.is_convex()
        F.value = np.clip(scores(risk, rng), -30.0, 30.0)
        assert risk.value(F.value) == pytest.approx(float(expression.value), rel=1e-10, abs=1e-13)


@closed
def test_fenchel_and_young(case, rng):
    """R[F] + R*(Z) >= <Z, F>, with equality where Z is the subgradient at F."""
    for trial in range(80 if case.kind == "grades" else 2_000):
        if trial % 20 == 0:
            risk = bound(case, rng, weighted=trial % 40 == 0)
        F, G = scores(risk, rng), scores(risk, rng)
        value, Z = risk.evaluate(F)
        conjugate = risk.conjugate(Z)
        scale = 1.0 + value + abs(conjugate) + risk.measure.inner(np.abs(Z), np.abs(F))
        assert value + conjugate == pytest.approx(risk.measure.inner(Z, F), abs=1e-8 * scale)
        other = risk.measure.inner(Z, G)
        assert risk.value(G) + conjugate >= other - 1e-8 * (scale + abs(other))


def test_fenchel_and_young_for_a_loss_of_the_users(rng):
    risk = bound(CASES[repr(CUSTOM)], rng)
    for _ in range(5):
        F = scores(risk, rng)
        value, Z = risk.evaluate(F)
        Z = 0.9 * Z
        assert value + risk.conjugate(Z) >= risk.measure.inner(Z, F) - 1e-7
    # sup z f − max(|f − y| − 1/2, 0) = z y + |z|/2 on [−1, 1].
    Z = rng.uniform(-0.95, 0.95, len(risk.y))
    assert risk.conjugate(Z) == pytest.approx(risk.measure.p @ (Z * risk.y + np.abs(Z) / 2.0))
    assert risk.conjugate(np.full(len(risk.y), 1.5)) == np.inf


ONE_OUTPUT = [c.loss for c in CASES.values() if c.kind in ("numbers", "signs") and c.loss != CUSTOM]


@pytest.mark.parametrize("loss", ONE_OUTPUT, ids=repr)
def test_derivatives_are_limits_of_differences(loss):
    F = np.arange(-3.03, 3.0, 0.1)  # no kink is near these points
    step = 1e-4
    for label in loss.bind([0, 1]).y:
        y = np.full(F.size, label)
        (low, before), (high, after) = loss.pointwise(F - step, y), loss.pointwise(F + step, y)
        slopes, bends = loss.derivatives(F, y)
        assert slopes == pytest.approx((high - low) / (2.0 * step), rel=1e-6, abs=1e-8)
        if bends is not None:
            assert bends == pytest.approx((after - before) / (2.0 * step), rel=1e-6, abs=1e-8)


@closed
def test_a_loss_of_differences_says_so(case, rng):
    """Such a loss does not change if a number is added to both the prediction and the target."""
    if case.kind != "numbers":
        assert not case.loss.of_differences
        return
    y = rng.normal(size=20)
    F = rng.normal(size=20)
    moved = case.loss.pointwise(F + 2.5, y + 2.5)[0]
    assert np.allclose(moved, case.loss.pointwise(F, y)[0]) == case.loss.of_differences


@pytest.mark.parametrize("loss", ONE_OUTPUT, ids=repr)
def test_conjugates_are_suprema(loss):
    """Against a grid: attained inside it where finite, at its end where infinite."""
    grid = np.linspace(-12.0, 12.0, 4_801)
    for y in loss.bind([0, 1]).y:
        losses = loss.pointwise(grid, np.full(grid.size, y))[0]
        for z in np.linspace(-1.6, 1.6, 65):
            gains = z * grid - losses
            own = loss.conjugates(np.array([z]), np.array([y]))[0]
            if own < np.inf:
                assert gains.max() <= own + 1e-12
                assert own <= gains.max() + 2e-5
            else:
                assert max(gains[0], gains[-1]) >= gains.max() - 1e-12


def test_conjugates_of_several_classes():
    y = np.array([0, 1])
    quarters = 0.25 * np.log(0.25) * 2 + 0.5 * np.log(0.5)
    for loss, first in ((fn.MulticlassHinge(), -0.75), (fn.MultinomialLogistic(), quarters)):
        for z in ([0.5, 0.5, -1.0], [-1.1, 0.6, 0.5], [-0.5, 0.6, 0.1], [0.5, -0.5, 0.0]):
            assert loss.conjugates(np.array([z, z]), np.array([0, 0]))[0] == np.inf
        inside = np.array([[-0.75, 0.5, 0.25], [0.0, 0.0, 0.0]])
        found = loss.conjugates(inside, y)
        assert found == pytest.approx([first, 0.0])


SMOOTH = {
    name: case
    for name, case in CASES.items()
    if np.isfinite(getattr(case.loss, "smoothness", np.inf))
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smoothness_and_strong_convexity(name, rng):
    case = SMOOTH[name]
    for trial in range(2_000):
        if trial % 40 == 0:
            risk = bound(case, rng, weighted=trial % 80 == 0)
        F, G = scores(risk, rng), scores(risk, rng)
        (value, slopes), other = risk.evaluate(F), risk.value(G)
        line = value + risk.measure.inner(slopes, G - F)
        square = risk.measure.norm(G - F) ** 2
        slack = 1e-11 * (1.0 + value + other + abs(line) + square)
        assert other <= line + risk.smoothness / 2.0 * square + slack
        assert other >= line + risk.strong_convexity / 2.0 * square - slack
        turned = risk.measure.norm(risk.evaluate(G)[1] - slopes)
        assert turned <= risk.smoothness * np.sqrt(square) * (1.0 + 1e-12) + 1e-14


@pytest.mark.parametrize("name", SMOOTH)
def test_smoothness_is_tight(name):
    """Somewhere on a line of scores the gradient turns as fast as the constant allows."""
    case = SMOOTH[name]
    y = [0, 1, 1] if case.kind != "numbers" else [0.0, 0.0, 0.0]
    risk = case.loss.bind(y)

    def gradient(at):
        F = np.full(3, at)
        if case.kind == "signs":
            F = F * risk.y
        if case.kind == "places":
            F = np.column_stack([F, -F])
        return F, risk.evaluate(F)[1]

    shares = []
    for centre in np.linspace(-2.0, 2.0, 81):
        (low, before), (high, after) = gradient(centre - 1e-3), gradient(centre + 1e-3)
        shares.append(risk.measure.norm(after - before) / risk.measure.norm(high - low))
    assert max(shares) == pytest.approx(risk.smoothness, rel=1e-5)
    assert min(shares) >= risk.strong_convexity - 1e-9


@pytest.mark.parametrize(
    "name",
    [n for n, c in CASES.items() if getattr(c.loss, "gradient_bound", 0.0) < np.inf],
)
def test_gradient_bounds_are_tight(name, rng):
    case = CASES[name]
    most = 0.0
    for trial in range(300):
        if trial % 100 == 0:
            y, more = targets(case.kind, rng, 6)
            if case.kind == "grades":
                y = np.minimum(y, 1)  # of two grades, no document is on both sides
            risk = case.loss.bind(y, **more)
        if case.kind == "numbers":
            F = risk.y + (100.0 if trial % 2 else -100.0)
        elif case.kind == "signs":
            F = -100.0 * risk.y
        elif case.kind == "places":
            F = np.zeros((6, 3))
            F[np.arange(6), risk.y] = -100.0
            F[np.arange(6), (risk.y + 1) % 3] = 100.0
        else:
            F = np.zeros(6)
        most = max(most, risk.measure.norm(risk.evaluate(F)[1]) / risk.gradient_bound)
    assert most == pytest.approx(1.0, rel=1e-12)


@cases
def test_weights_are_repetitions(case, rng):
    for _ in range(3 if case.loss is CUSTOM else 100):
        y, more = targets(case.kind, rng, 10)
        weights = rng.integers(0, 4, 10)
        weights[:3] = 1, 2, 1
        rows = np.repeat(np.arange(10), weights)
        weighted = case.loss.bind(y, weights, **more)
        classes = weighted.classes
        again = {key: values[rows] for key, values in more.items()}
        repeated = case.loss.bind(y[rows], classes=classes, **again)
        F = scores(weighted, rng)
        value, slopes = weighted.evaluate(F)
        other, others = repeated.evaluate(F[rows])
        assert value == pytest.approx(other, rel=1e-12, abs=1e-12)
        assert slopes[rows] == pytest.approx(others, rel=1e-12, abs=1e-12)


def test_small_multinomial_losses_keep_their_relative_accuracy():
    values, slopes = fn.MultinomialLogistic().rows(np.array([[0.0, -50.0, -60.0]]), np.array([0]))
    small = np.exp(-50.0) + np.exp(-60.0)
    np.testing.assert_allclose([values[0], -slopes[0, 0]], small, rtol=1e-14)


class TestKinks:
    """The subgradients that the docstrings promise."""

    def test_numbers(self):
        at = np.array([2.0])
        for loss in (fn.Absolute(), fn.Quantile(0.1)):
            assert loss.pointwise(at, at)[1].tolist() == [0.0]
        assert fn.Quantile(0.1).pointwise(at, at + 1.0) == ([0.1], [-0.1])
        assert fn.Quantile(0.1).pointwise(at + 1.0, at) == ([0.9], [0.9])

    def test_margins(self):
        y = np.array([1.0, -1.0])
        assert np.abs(fn.Hinge().pointwise(y, y)[1]).tolist() == [0.0, 0.0]
        assert fn.Hinge().pointwise(0.5 * y, y)[1].tolist() == [-1.0, 1.0]
        assert fn.SmoothHinge(0.5).pointwise(0.5 * y, y)[0] == pytest.approx([0.25, 0.25])

    def test_the_first_class_of_a_tie(self):
        risk = fn.MulticlassHinge().bind(["b", "a", "c"])
        F = np.zeros((3, 3))
        assert risk.evaluate(F)[1].tolist() == [[1, -1, 0], [-1, 1, 0], [1, 0, -1]]
        F = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        # The margin of 1 of c is a tie with a, which is before it; that of a comes first.
        assert risk.evaluate(F)[1].tolist() == [[0, -1, 1], [0, 0, 0], [1, 0, -1]]

    def test_a_hinge_of_two_classes_is_the_hinge(self, rng):
        y = np.array([0, 1, 1, 0])
        f = rng.normal(size=4)
        several = fn.MulticlassHinge().bind(y).value(np.column_stack([-f / 2, f / 2]))
        assert several == pytest.approx(fn.Hinge().bind(y).value(f))

    def test_smooth_hinge_goes_to_the_hinge(self, rng):
        y, F = np.where(rng.random(50) < 0.5, 1.0, -1.0), rng.normal(size=50)
        below = fn.Hinge().pointwise(F, y)[0] - fn.SmoothHinge(1e-3).pointwise(F, y)[0]
        assert (below >= 0.0).all()
        assert below.max() <= 5e-4 + 1e-15

    def test_nothing_overflows(self):
        y, far = np.array([1.0, -1.0]), np.array([-1e6, 1e6])
        for loss in (fn.Logistic(), fn.Exponential()):
            risk = loss.bind(y)
            value, slopes = risk.evaluate(far)
            assert np.isfinite(value)
            assert np.isfinite(risk.measure.norm(slopes))
            assert risk.value(1.1 * far) >= value + risk.measure.inner(slopes, 0.1 * far) * 0.999
        risk = fn.MultinomialLogistic().bind([0, 1])
        assert risk.value(np.array([[-1e6, 1e6], [0.0, 0.0]])) == pytest.approx(1e6, rel=1e-5)


class TestLabels:
    @pytest.mark.parametrize(
        "y", [["no", "yes", "no"], [3, 7, 3], [False, True, False], [1.0, 2.0, 1.0]]
    )
    def test_any_two_labels(self, y):
        risk = fn.Logistic().bind(y)
        assert risk.y.tolist() == [-1.0, 1.0, -1.0]
        assert decided(np.array([-1.0, 0.5, 0.0]), risk.classes).tolist() == list(y)

    def test_several(self):
        risk = fn.MulticlassHinge().bind(np.array(["b", "c", "a"], dtype=object))
        assert risk.outputs == 3
        assert decided(np.eye(3), risk.classes).tolist() == ["a", "b", "c"]

    @pytest.mark.parametrize(
        ("loss", "y", "message"),
        [
            (
                fn.Squared(),
                ["a", "b"],
                r"needs numbers as targets, got labels such as 'a'; .*Hinge",
            ),
            (fn.Squared(), ["1", "2"], r"got labels such as '1'"),
            (fn.Huber(2.0), np.array([1, "b"], dtype=object), r"Huber\(delta=2.0\) needs numbers"),
            (fn.Absolute(), [[1.0], [2.0]], r"targets must have shape \(N,\), got \(2, 1\)"),
            (fn.Absolute(), [1.0, np.nan], r"targets must be finite; example 1 has nan"),
            (fn.Squared(), [], "there are no examples"),
            (fn.Hinge(), [], "there are no examples"),
            (fn.Hinge(), [1, 1], r"at least two classes, but all labels are 1"),
            (
                fn.MulticlassHinge(),
                [0, 0],
                r"at least two classes, but .*; add examples of another",
            ),
            (
                fn.Logistic(),
                [0, 1, 2],
                r"two classes, but the labels have 3 classes; use MulticlassHinge\(\) or",
            ),
            (
                fn.Logistic(),
                [0.5, 1.0],
                r"0.5, which is not an integer; for real targets use .*Squared",
            ),
            (
                fn.Logistic(),
                [0.0, np.nan],
                "labels must not contain missing values; example 1 has nan",
            ),
            (
                fn.MulticlassHinge(),
                ["a", None],
                "labels must not contain missing values; example 1 has none",
            ),
            (fn.MulticlassHinge(), np.array(["a", 1], dtype=object), "labels cannot be sorted"),
            (fn.MulticlassHinge(), [[0, 1]], r"labels must have shape \(N,\)"),
            (fn.RankingHinge(), ["a", "b"], "needs numbers as targets"),
        ],
    )
    def test_wrong_targets(self, loss, y, message):
        with pytest.raises(rb.InputError, match=message):
            loss.bind(y)

    def test_labels_not_seen_in_training(self):
        for loss, y in ((fn.Hinge(), ["a", "b"]), (fn.MultinomialLogistic(), ["a", "b", "c"])):
            classes = loss.bind(y).classes
            assert loss.bind(["b", "b"], classes=classes).measure.size == 2
            with pytest.raises(rb.InputError, match=r"label 'd' is not among the classes, which"):
                loss.bind(["a", "d"], classes=classes)

    def test_only_ranking_takes_groups(self):
        for loss in (fn.Squared(), fn.Hinge(), fn.MulticlassHinge(), CUSTOM):
            with pytest.raises(rb.InputError, match=r"is not a ranking loss.*RankingHinge"):
                loss.bind([0, 1], groups=[0, 0])

    @pytest.mark.parametrize(
        "make",
        [
            lambda: fn.Quantile(0.0),
            lambda: fn.Quantile(1.0),
            lambda: fn.Quantile("a"),
            lambda: fn.Huber(0.0),
            lambda: fn.Huber(np.inf),
            lambda: fn.SmoothHinge(-1.0),
            lambda: fn.RankingHinge("documents"),
        ],
    )
    def test_wrong_parameters(self, make):
        with pytest.raises(rb.InputError, match="must"):
            make()
