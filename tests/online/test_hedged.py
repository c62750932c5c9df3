"""HedgedDescent against a twin that follows its displays, its regret, and streams that drift."""

import math
import pickle

import numpy as np
import pytest
from scipy.special import logsumexp

import relaxboost as rb
from relaxboost import InputError
from relaxboost.functional import Absolute, Logistic, Squared
from relaxboost.online import HedgedDescent, MirrorDescent, batch, load, progressive, regret
from relaxboost.online.hedged import KINDS, MULTIPLES
from relaxboost.online.risks import promised
from relaxboost.online.streams.streaming import stream
from tests.functional.cases import POINTWISE

LOSSES = [one for one in POINTWISE if one.task != "binary" or math.isfinite(one.gradient_bound)]


def examples(loss, rows=60, size=5, seed=0):
    rng = np.random.default_rng(seed)
    H = rng.uniform(-1.0, 1.0, (rows, size)) / math.sqrt(size)
    H[rng.random(H.shape) < 0.3] = 0.0
    y = H @ rng.normal(size=size) + rng.normal(size=rows)
    return H, np.sign(y) if loss.task == "binary" else np.clip(y, -2.0, 2.0)


class Shifted(Absolute):
    """A loss for numbers with bounded slopes that does not depend on differences only."""

    of_differences = False


class Twin:
    """The displays of the docstring, one weight vector for each of the K learners."""

    def __init__(self, method, size):
        self.loss, self.limit = method.loss.loss, method.limit
        scale = 1.0 if self.loss.task == "binary" else method.targets
        steep = method.loss.lipschitz(self.limit, method.bound, method.targets)
        self.eta = MULTIPLES * scale / (steep * method.bound)
        self.W, self.sums = np.zeros((2, 16, size))
        self.losses, self.spent = np.zeros((2, 16))
        self.gap, self.variance, self.range, self.total, self.t = 0.0, 0.0, 0.0, 0.0, 0

    def learn(self, h, y, weight):
        best = self.losses - self.losses.min()
        rate = math.log(16) / self.gap if self.gap else math.inf
        p = np.exp(-rate * best) if self.gap else (best == 0.0).astype(float)
        p /= p.sum()
        F = self.W @ h
        inside = np.clip(F, -self.limit, self.limit)
        said = float(p @ inside)
        value, slope = self.loss.pointwise(inside, np.full(16, y))
        slope[slope * (F - inside) < 0.0] = 0.0
        self.total += weight * float(self.loss.pointwise(np.array([said]), np.array([y]))[0][0])
        value = weight * value
        after = best + value
        mixed = after.min()
        if self.gap:
            mixed = (logsumexp(-rate * best) - logsumexp(-rate * after)) / rate
        self.gap += max(float(p @ value) - mixed, 0.0)
        self.variance += float(p @ (value - p @ value) ** 2)
        self.range = max(self.range, float(np.ptp(value)))
        self.losses += value
        self.t += 1
        u = weight * slope[:, None] * h
        now = np.where(KINDS == 0, self.eta, self.eta / math.sqrt(self.t))
        self.spent += now * (u**2).sum(axis=1) / 2.0
        self.sums += u
        self.W -= now[:, None] * u
        averaged = -self.eta[:, None] / math.sqrt(self.t + 1) * self.sums
        self.W = np.where((KINDS == 2)[:, None], averaged, self.W)
        return said


class Own(Logistic):
    """A loss that no compiled round knows."""

    name = ""


@pytest.mark.parametrize("loss", [*LOSSES, Own()], ids=lambda loss: type(loss).__name__)
def test_rounds_are_those_of_the_twin(loss):
    H, y = examples(loss)
    weight = np.random.default_rng(1).choice([0.0, 0.4, 1.0], len(y))
    method = HedgedDescent(loss, targets=2.0)
    learner, twin = method.start(5), Twin(method, 5)
    said = learner.update(H, y, weight)
    want = [twin.learn(h, t, v) if v else math.nan for h, t, v in zip(H, y, weight, strict=True)]
    np.testing.assert_allclose(said[weight > 0], np.array(want)[weight > 0], rtol=1e-9, atol=1e-12)
    assert learner.loss == pytest.approx(twin.total, rel=1e-9)
    p = np.exp(-math.log(16) / twin.gap * (twin.losses - twin.losses.min()))
    np.testing.assert_allclose(learner.w, p / p.sum() @ twin.W, rtol=1e-8, atol=1e-10)
    h = H[3]
    inside = np.clip(twin.W @ h, -method.limit, method.limit)
    assert learner.predict(h, average=False) == pytest.approx(p / p.sum() @ inside, rel=1e-8)


def adversarial(rng, kind, rows, size):
    """Streams that are hard for a learner: noise, labels against it, and weights that jump."""
    H = rng.uniform(-1.0, 1.0, (rows, size)) / math.sqrt(size)
    if kind == "noise":
        return H, rng.choice([-1.0, 1.0], rows)
    if kind == "one row":
        return np.full((rows, size), 1.0 / math.sqrt(size)), np.where(
            np.arange(rows) % 9, 1.0, -1.0
        )
    w = rng.normal(size=size) * np.where(np.arange(rows) < rows // 2, 1.0, -1.0)[:, None]
    y = np.sign((H * w).sum(axis=1))
    return (H, y) if kind == "jump" else (np.where(rng.random((rows, 1)) < 0.05, H, 1e-3 * H), y)


@pytest.mark.parametrize("kind", ["noise", "one row", "jump", "rare", "against"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_regret_is_at_most_its_bounds(loss, kind):
    """Against weights of any size: the observed bound, and the bound of the theorem."""
    rng = np.random.default_rng(len(kind))
    rows, size = 300, 4
    H, y = adversarial(rng, kind, rows, size)
    method = HedgedDescent(loss, targets=1.0)
    learner, twin = method.start(size), Twin(method, size)
    for i in range(rows):
        if kind == "against":
            y[i] = -np.sign(learner.predict(H[i], average=False)) or 1.0
        learner.update(H[i], y[i])
        twin.learn(H[i], y[i], 1.0)
    S, V = twin.range, twin.variance
    hedge = 2.0 * math.sqrt(V * math.log(16)) + S * (4.0 / 3.0 * math.log(16) + 2.0)
    assert learner.loss - twin.losses.min() <= hedge
    assert S**2 * rows / 4.0 >= V
    signs = H.T @ (y * np.abs(y))
    for length in (0.0, 0.1, 1.0, 10.0, 1000.0):
        for direction in (signs, -signs, rng.normal(size=size)):
            w = length * direction / np.linalg.norm(direction)
            least = float(loss.pointwise(H @ w, y)[0].sum())
            observed = learner.regret_bound(w)
            assert learner.loss - least <= observed + 1e-9
            eta = twin.eta / np.where(KINDS == 2, math.sqrt(rows), 1.0)
            each = length**2 / (2.0 * eta) + twin.spent + hedge + rows * 1.2e-7
            assert observed <= each[KINDS != 1].min() + 1e-6
    for length in (3.0, 30.0, 700.0):
        parts = length**2 * math.sqrt(rows) / (2.0 * twin.eta) + twin.spent
        limit = 1.25 * math.sqrt(2.0) * learner.constants.lipschitz * length * math.sqrt(rows)
        assert parts[KINDS == 2].min() <= limit
    assert learner.regret_bound() == pytest.approx(learner.regret_bound(np.eye(4)[0]))


def test_a_learner_without_a_share_may_take_the_lead():
    """Small examples give one learner a lead while Δ is tiny; then labels go against the mean."""
    method = HedgedDescent("hinge")
    turns = 300
    learner, twin = method.start(turns + 1), Twin(method, turns + 1)

    def learn(j, size, y):
        h = size * np.eye(1, turns + 1, j)[0]
        learner.update(h, y)
        twin.learn(h, y, 1.0)

    for i in range(400):
        size = 1e-6 * 1.03 ** min(max(i - 60, 0), 312)
        learn(0, size, 1.0)
        learn(0, size, -1.0)
    for j in range(1, turns + 1):
        learn(j, 1.0, 1.0)
        said = float(learner.predict(np.eye(1, turns + 1, j)[0], average=False))
        learn(j, 1.0, -1.0 if said > 0.5 else 1.0)
    hedge = 2.0 * math.sqrt(twin.variance * math.log(16))
    hedge += twin.range * (4.0 / 3.0 * math.log(16) + 2.0)
    assert learner.loss - twin.losses.min() <= hedge
    # The weights w = 0 have the loss 1 for each example.
    assert learner.loss - learner.rounds <= twin.spent[KINDS != 1].min() + hedge


@pytest.mark.parametrize(
    ("loss", "bound", "targets"),
    [
        ("absolute", 1.0, 1e160),
        ("squared", 1.0, 1e160),
        ("squared", 1e-100, 1e-100),
        ("absolute", 1e100, 1e-80),
    ],
)
def test_ranges_that_doubles_cannot_square_are_refused(loss, bound, targets):
    method = HedgedDescent(loss, bound=bound, targets=targets)
    with pytest.raises(InputError, match="overflow or underflow; scale the base functions"):
        method.start(2)


def test_the_regret_grows_with_the_root_of_the_length():
    """Without a radius: the theorem with 2L‖w‖√t from the best of the steps that fade."""
    method = HedgedDescent("hinge")
    for rows in (400, 1600, 6400):
        rng = np.random.default_rng(rows)
        H, y = adversarial(rng, "noise", rows, 4)
        learner = method.start(4)
        learner.update(H, y)
        hedge = 17.0 * (math.sqrt(rows * math.log(16)) + 4.0 / 3.0 * math.log(16) + 2.0)
        for length in (0.1, 1.0, 10.0, 100.0):
            assert learner.regret_bound(np.eye(4)[0] * length) <= (
                2.5 * length * math.sqrt(rows) + hedge
            )


def test_a_block_is_its_rows_and_a_saved_learner_goes_on(tmp_path):
    H, y = examples(Logistic(), 300)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], 300)
    method = HedgedDescent("logistic")
    whole, parts = method.start(5), method.start(5)
    said = whole.update(H, y, weight)
    one_by_one = [parts.update(*row) for row in zip(H[:100], y, weight, strict=False)]
    np.testing.assert_array_equal(said[:100], one_by_one)
    parts.save(tmp_path / "m")
    parts = load(tmp_path / "m", method)
    assert parts.update(H[100:], y[100:], weight[100:])[-1] == said[-1]
    for one, other in zip(whole.arrays(), pickle.loads(pickle.dumps(parts)).arrays(), strict=True):
        np.testing.assert_array_equal(one, other)
    copies, twice = method.start(5), method.start(5)
    copies.update(np.repeat(H, 2, axis=0), np.repeat(y, 2))
    twice.update(H, y, np.full(300, 2.0))
    np.testing.assert_array_equal(copies.w, twice.w)
    path = tmp_path / "run"
    stopped = {"callback": lambda one: one.rows >= 100, "checkpoint": path}
    progressive(method, stream(H, y, page=50), **stopped)
    found = progressive(method, stream(H, y), checkpoint=path)
    np.testing.assert_array_equal(found.learner.w, progressive(method, stream(H, y)).learner.w)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_units_of_targets_change_nothing(loss):
    H, y = examples(Squared())
    one, other = (HedgedDescent(loss, targets=t).start(5) for t in (2.0, 2048.0))
    np.testing.assert_array_equal(1024.0 * one.update(H, y), other.update(H, 1024.0 * y))
    assert np.abs(other.update(1.0 * H, 1024.0 * y)).max() <= 2048.0 * (1.0 + 1e-12)


def test_it_follows_a_drift_as_the_best_constant_step_does():
    rng = np.random.default_rng(0)
    rows, size = 20_000, 10
    H = rng.uniform(-1.0, 1.0, (rows, size))
    angle = np.linspace(0.0, 6.0 * math.pi, rows)
    w = np.zeros((rows, size))
    w[:, 0], w[:, 1] = 6.0 * np.cos(angle), 6.0 * np.sin(angle)
    y = np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-(H * w).sum(axis=1))), 1.0, -1.0)
    steps, W, losses = 2.0 ** np.arange(-9, 3), np.zeros((size, 12)), np.zeros(12)
    for h, label in zip(H, y, strict=True):
        margin = label * (h @ W)
        losses += np.logaddexp(0.0, -margin)
        W += np.outer(h, steps * label / (1.0 + np.exp(margin)))
    learner = HedgedDescent("logistic", bound=math.sqrt(size)).start(size)
    learner.update(H, y)
    fixed = MirrorDescent("logistic", rb.L1Ball(1)).start(size)
    fixed.update(H, y)
    assert learner.loss <= 1.02 * losses.min()
    assert fixed.loss > 1.2 * losses.min()


def test_regret_takes_it_and_batch_refuses_it():
    H, y = examples(Logistic(), 200)
    method = HedgedDescent("logistic", rb.L2Ball(3))
    found = regret(method, (H, y), at=[50])
    for one in (*found.along, found):
        assert one.lower <= one.upper <= one.bound_at <= one.bound
    with pytest.raises(InputError, match="whose clipped predictions have no single weight vector"):
        batch(method, (H, y))
    learner = method.start(5)
    iterates = [learner.w for h, label in zip(H, y, strict=True) if learner.update(h, label) < 99]
    want = np.average([np.zeros(5), *iterates[:-1]], axis=0, weights=np.arange(1, 201))
    np.testing.assert_allclose(learner.average, want, rtol=1e-9)
    assert promised(learner, 200) == math.inf


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_regret_holds_for_the_losses_of_the_predictions(loss):
    H, y = examples(loss, 400)
    method = HedgedDescent(loss, targets=2.0)
    found = regret(method, (H, y))
    F = method.start(5).update(H, y)
    total = math.fsum(loss.pointwise(F, y)[0])
    assert found.lower + found.comparator.upper <= total <= found.upper + found.comparator.lower
    assert found.upper + found.comparator.lower - total <= 1e-9 * total


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HedgedDescent("exponential"), "has unbounded slopes; use a"),
        (lambda: HedgedDescent(Shifted(), targets=1.0), "is not a function of <w, h> − y; use a"),
        (lambda: HedgedDescent("inner"), "needs a PointwiseLoss, but .* is not one; use a"),
        (lambda: HedgedDescent("squared"), "pass targets=, an upper bound on .y."),
        (
            lambda: HedgedDescent("hinge").start(2).regret_bound([1.0]),
            r"w must have shape \(2,\) and finite entries",
        ),
        (
            lambda: HedgedDescent("hinge").start(2).move(1.0, np.ones(2)),
            "learns from examples, not from",
        ),
        (lambda: HedgedDescent("hinge").start(2).update([3.0, 0.0], 1.0), "norm 3, beyond bound"),
        (lambda: HedgedDescent("hinge").start(2).predict([3.0], average=False), r"\(rows, 2\)"),
    ],
)
def test_bad_options(make, message):
    with pytest.raises(InputError, match=message):
        make()
