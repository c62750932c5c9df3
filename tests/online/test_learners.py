"""Learners against twins that follow the papers' displays, and the regret they are bound to."""

import itertools
import math

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost import InputError
from relaxboost.functional import Hinge, Logistic
from relaxboost.game.domains import FullSimplex, L1Ball, L2Ball, Simplex
from relaxboost.online import (
    Adaptive,
    Constant,
    Entropy,
    ExponentiatedGradient,
    GradientDescent,
    Growing,
    HedgedDescent,
    Horizon,
    MirrorDescent,
    MirrorSteps,
    OnlineLoss,
    SquaredL2,
    blocks,
)
from relaxboost.online.kernels import rounds, shares
from relaxboost.online.kernels.slopes import INNER, LOSS_CODES, loss_and_slope
from tests.functional.cases import POINTWISE

SETTINGS = [
    *itertools.product(["entropy"], [Simplex(2), FullSimplex(2), L1Ball(2)]),
    *itertools.product(["squared-l2"], [Simplex(2), FullSimplex(2), L1Ball(2), L2Ball(2)]),
]
SCHEDULES = ["growing", "adaptive", Horizon(40), Constant(0.7)]


def stream(loss, rows=40, size=5, seed=0):
    rng = np.random.default_rng(seed)
    H = rng.uniform(-1.0, 1.0, (rows, size)) / math.sqrt(size)
    y = H @ rng.normal(size=size) + rng.normal(size=rows)
    y = np.sign(y) if getattr(loss, "task", "") == "binary" else np.clip(y, -2.0, 2.0)
    return H, y


class Slow(OnlineLoss):
    """What no compiled round knows."""

    def __init__(self, loss):
        self.loss, self.task = loss, loss.task

    def __repr__(self):
        return repr(self.loss)

    def evaluate(self, w, h, y):
        value, slope = self.loss.pointwise(np.array([w @ h]), np.array([y]))
        return float(value[0]), slope[0] * h

    def lipschitz(self, reach, size, targets):
        from relaxboost.online import OfPrediction

        return OfPrediction(self.loss).lipschitz(reach, size, targets)


@pytest.mark.parametrize("loss", POINTWISE, ids=lambda loss: loss.name)
@pytest.mark.parametrize("kind", [MirrorDescent, MirrorSteps])
def test_compiled_rounds_are_those_of_the_slow_twin(loss, kind):
    H, y = stream(loss)
    weight = np.random.default_rng(1).choice([0.0, 0.4, 1.0, 2.5], len(y))
    fast = [("entropy", over) for over in (Simplex(2), FullSimplex(2), L1Ball(2))]
    for (proxy, over), schedule in itertools.product([*fast, ("squared-l2", L2Ball(2))], SCHEDULES):
        options = {"over": over, "proxy": proxy, "schedule": schedule, "targets": 2.0}
        learner = kind(loss, **options).start(5)
        twin = kind(Slow(loss), **options).start(5)
        assert learner.compiled() is not None
        assert twin.compiled() is None
        got, want = learner.update(H, y, weight), twin.update(H, y, weight)
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13)
        for one, other in zip(learner.arrays(), twin.arrays(), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", POINTWISE, ids=lambda loss: loss.name)
def test_compiled_losses_are_those_of_pointwise(loss):
    code, parameter = LOSS_CODES[type(loss)]
    parameter = float(getattr(loss, parameter, 0.0))
    F = np.concatenate([np.linspace(-3.0, 3.0, 49), [-1e3, 1e3]])  # with all corners
    for y in (-1.0, 1.0):
        found = [loss_and_slope(code, parameter, f, y) for f in F]
        want = np.transpose(loss.pointwise(F, np.full(F.size, y)))
        np.testing.assert_allclose(found, want, rtol=1e-14)


def test_a_code_without_a_loss_has_no_value():
    codes = [code for code, _ in LOSS_CODES.values()]
    assert sorted(codes) == list(range(INNER))
    assert np.isnan([loss_and_slope(code, 1.0, 0.5, 1.0) for code in (-1, INNER + 1)]).all()


@pytest.mark.parametrize(("proxy", "over"), SETTINGS, ids=str)
def test_eq_11_in_words(proxy, over):
    """The w of least <Σ u_i, w> + β_t V(w), by cvxpy, and the plain average of the iterates."""
    loss = Logistic()
    H, y = stream(loss, rows=12)
    method = MirrorDescent(loss, over, proxy)
    learner, iterates, total = method.start(5), [], np.zeros(5)
    for i, (h, label) in enumerate(zip(H, y, strict=True)):
        w = cp.Variable(5)
        value, constraints = method.proxy.expression(w, over)
        beta = method.schedule.temperature(i, 0.0, learner.constants)
        limits = over.cvxpy_cost(w)[1]
        cp.Problem(cp.Minimize(total @ w + beta * value), [*constraints, *limits]).solve("CLARABEL")
        np.testing.assert_allclose(learner.w, w.value, atol=2e-4)
        assert total @ learner.w + beta * method.proxy.value(learner.w, over) <= (
            total @ w.value + beta * float(value.value) + 1e-6
        )
        iterates.append(learner.w)
        learner.update(h, label)
        total += loss.pointwise(np.array([iterates[-1] @ h]), np.array([label]))[1] * h
    np.testing.assert_allclose(learner.average, np.mean(iterates, axis=0), rtol=1e-12, atol=1e-15)


def test_the_displays_of_dekel():
    H, y = stream(Hinge(), rows=30)
    learner, w = GradientDescent("hinge", L2Ball(1.5), schedule=Horizon(30)).start(5), np.zeros(5)
    eta = 1.5 / math.sqrt(30)
    for h, label in zip(H, y, strict=True):
        learner.update(h, label)
        w = w + eta * label * h * (label * (w @ h) < 1.0)
        w /= max(1.0, np.linalg.norm(w) / 1.5)
        np.testing.assert_allclose(learner.w, w, rtol=1e-12, atol=1e-14)
    learner, p = ExponentiatedGradient("logistic", schedule=Horizon(30)).start(5), np.full(5, 0.2)
    lipschitz = 1.0 / (1.0 + math.exp(-1.0))
    eta = math.sqrt(2.0 * math.log(5) / 30) / lipschitz
    for h, label in zip(H, y, strict=True):
        learner.update(h, label)
        p = p * np.exp(eta * label * h / (1.0 + math.exp(label * (p @ h))))
        p /= p.sum()
        np.testing.assert_allclose(learner.w, p, rtol=1e-11)


@pytest.mark.parametrize("kind", [MirrorDescent, MirrorSteps])
@pytest.mark.parametrize("proxy_over", SETTINGS, ids=str)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_regret_is_at_most_its_bound(kind, proxy_over, schedule):
    """Against every vertex and many other w, at every moment, on an adversary's stream."""
    proxy, over = proxy_over
    learner = kind("hinge", over, proxy, schedule).start(4)
    rng = np.random.default_rng(3)
    signs = (2.0, -2.0) if isinstance(over, L1Ball | L2Ball) else (2.0,)
    w = [over.repair(c * np.eye(4)[j]) for j in range(4) for c in signs]
    w = np.vstack(w + [over.repair(rng.exponential(size=4)) for _ in range(9)])
    theirs = np.zeros(len(w))
    for _ in range(60):
        h = rng.choice([-0.5, 0.5], 4)
        label = -1.0 if learner.predict(h, average=False) > 0.0 else 1.0
        learner.update(h, label)
        theirs += np.maximum(0.0, 1.0 - label * (w @ h))
        bound = learner.regret_bound()
        assert (learner.loss - theirs <= bound + 1e-9).all()
        for each, loss in zip(w, theirs, strict=True):
            assert learner.loss - loss <= learner.regret_bound(each) + 1e-9
        assert bound < math.inf or (kind is MirrorSteps and proxy == "entropy")


def test_bounds_a_priori():
    H, y = stream(Hinge(), rows=50, size=7)
    for schedule, factor in (
        ("growing", 2.0 * math.sqrt(51)),
        (Horizon(50), math.sqrt(100)),
        ("adaptive", 2.0 * math.sqrt(51)),
    ):
        learner = MirrorDescent("hinge", Simplex(3), schedule=schedule).start(7)
        learner.update(H, y)
        L, alpha, largest = learner.constants
        assert (L, alpha) == (1.0, 1 / 3)
        assert largest == pytest.approx(3 * math.log(7))
        assert learner.regret_bound() <= L * math.sqrt(largest / alpha) * factor * (1 + 1e-12)


@pytest.mark.parametrize(
    "method",
    [
        MirrorDescent("logistic", L1Ball(3)),
        GradientDescent("hinge"),
        MirrorDescent(Slow(Hinge()), Simplex(1)),
        MirrorSteps("hinge", FullSimplex(1), schedule="adaptive"),
    ],
    ids=repr,
)
def test_a_block_is_its_rows_and_a_state_goes_on(method):
    H, y = stream(Hinge(), rows=60)
    weight = np.random.default_rng(2).choice([0.0, 1.0, 1.5], 60)
    whole, single = method.start(5), method.start(5)
    got = whole.update(H, y, weight)
    want = [single.update(h, label, s) for h, label, s in zip(H, y, weight, strict=True)]
    np.testing.assert_array_equal(got, want)
    first = method.start(5)
    first.update(H[:23], y[:23], weight[:23])
    second = method.restored(first.state())
    second.update(H[23:], y[23:], weight[23:])
    for one, two, three in zip(whole.arrays(), single.arrays(), second.arrays(), strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)


def test_whole_weights_are_copies():
    H, y = stream(Hinge())
    weight = np.random.default_rng(4).integers(0, 4, 40)
    one, other = (MirrorDescent("hinge", Simplex(1)).start(5) for _ in range(2))
    one.update(H, y, weight)
    other.update(np.repeat(H, weight, axis=0), np.repeat(y, weight))
    for a, b in zip(one.arrays(), other.arrays(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("method", "kernels"),
    [(MirrorDescent("hinge", L1Ball(1)), rounds), (HedgedDescent("logistic"), shares)],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_compiled_calls_are_short_and_change_no_bit(method, kernels, monkeypatch):
    H, y = stream(Hinge())
    weight = np.random.default_rng(5).choice([0.0, 0.4, 1.0, 3.0, 20.5, 32.0], 40)
    whole, parts = method.start(5), method.start(5)
    want = whole.update(H, y, weight)
    steps, one_call = [], kernels.rounds

    def call(given, rows, *others):
        steps.append(np.maximum(np.ceil(rows[2]), 1.0).sum())
        return one_call(given, rows, *others)

    monkeypatch.setattr(kernels, "rounds", call)
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 8)
    np.testing.assert_array_equal(parts.update(H, y, weight), want)
    for one, other in zip(whole.arrays(), parts.arrays(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert max(steps) == 8
    assert sum(steps) == np.maximum(np.ceil(weight), 1.0).sum()


def test_scaling_beta_and_gradients_changes_nothing():
    """JNTV05 Remark 4 says it might; weights depend on the ratio alone."""
    proxy, z = Entropy(), np.array([0.3, -1.0, 2.0])
    for over in Entropy.domains:
        np.testing.assert_allclose(
            proxy.mirror(8 * z, 8 * 0.7, over(2)), proxy.mirror(z, 0.7, over(2)), rtol=1e-15
        )


def test_far_dual_vectors():
    z = np.array([0.0, 1e300, -1e300, 5.0])
    for over in Entropy.domains:
        for beta in (1e-300, 1.0, 1e300):
            w = Entropy().mirror(z, beta, over(2))
            assert np.isfinite(w).all()
            assert np.abs(w).sum() <= 2.0 + 1e-12
    learner = MirrorDescent("inner", Simplex(1), schedule=Constant(1e-9)).start(3)
    learner.update(np.tile([1.0, -1.0, 0.0], (1000, 1)))
    np.testing.assert_allclose(learner.w, [0.0, 1.0, 0.0], atol=1e-300)


@pytest.mark.parametrize("kind", [L1Ball, FullSimplex, L2Ball])
def test_one_weight_learns_where_it_can_move(kind):
    method = MirrorDescent("hinge", kind(1), "squared-l2" if kind is L2Ball else "entropy")
    learner = method.start(1)
    learner.update(np.ones((50, 1)), np.ones(50))
    assert 0.0 < learner.average[0] < learner.w[0] <= 1.0
    assert learner.loss <= learner.regret_bound([1.0])


@pytest.mark.parametrize(
    ("w", "message"),
    [
        ([1.0], r"w must have shape \(2,\), got \(1,\)"),
        ([np.nan, 0.0], "w must have finite entries"),
        ([0.5, 0.6], r"w must be in Simplex\(\), because the bound holds only"),
        ([1.5, -0.5], "w must be in Simplex"),
    ],
)
def test_nothing_is_promised_against_other_weights(w, message):
    with pytest.raises(InputError, match=message):
        MirrorDescent("hinge", Simplex(1)).start(2).regret_bound(w)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MirrorDescent("hinge", L2Ball(1)).start(3), "is not a proxy on L2Ball"),
        (lambda: MirrorDescent("hinge", Simplex(1)).start(1), "needs M >= 2"),
        (lambda: MirrorDescent("nothing", Simplex(1)), "unknown loss 'nothing'"),
        (lambda: MirrorDescent("hinge", Simplex(1), proxy="none"), "unknown proxy"),
        (lambda: MirrorDescent("hinge", Simplex(1), schedule="none"), "unknown schedule"),
        (lambda: MirrorDescent("hinge", 3), "over must be a domain"),
        (lambda: MirrorDescent("hinge", Simplex), r"over must be .*; write Simplex\(\.\.\.\)"),
        (lambda: MirrorDescent("hinge", Simplex(1), bound=0.0), "bound must be a number > 0"),
        (lambda: MirrorDescent("squared", Simplex(1)).start(3), "needs a bound on the gradients"),
        (lambda: Simplex(0), "radius > 0"),
        (lambda: GradientDescent("hinge", proxy="entropy"), "requires the proxy .squared-l2."),
        (lambda: ExponentiatedGradient("hinge", proxy=SquaredL2()), "requires the proxy .entropy."),
        (lambda: Horizon(0), "rounds"),
        (lambda: Growing(-1.0), "beta"),
    ],
)
def test_bad_options(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_method_names_the_learner_that_has_a_missing_attribute():
    method = MirrorDescent("hinge", Simplex(1))
    for name in ("predict", "update", "w"):
        with pytest.raises(
            AttributeError, match=rf"its learners have '{name}'; start a learner: .*start\(M\)"
        ):
            getattr(method, name)
    with pytest.raises(AttributeError, match="object has no attribute 'nothing'"):
        getattr(method, "nothing")  # noqa: B009


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((2, 4)), [1, 1]), r"H must have shape \(3,\) or \(rows, 3\)"),
        (([[0, 0, 0], [0, 2, 0]], [1, 1]), "row 1 has size 2, beyond bound=1.0"),
        (([[0, 0, 0], [0, math.nan, 0]], [1, 1]), "row 1 has nan for base function 1"),
        (([[0, math.inf, 0]], [1]), "row 0 has inf for base function 1"),
        (([[0, 0, 0], [0, 1, 0]], [1, 0]), "must be -1 or \\+1; row 1 has 0"),
        (([[0, 0, 0], [0, 1, 0]], [1]), "there are 2 examples but 1 targets"),
        (([[0, 0, 0], [0, 1, 0]], [1, 1], [1, -1]), "weights must be finite and >= 0; row 1"),
        (("abc", [1]), "H must be an array of numbers"),
        (([np.ones((2, 2)), np.ones((2, 3))], [1, 1]), "H must be an array of numbers"),
    ],
)
def test_a_bad_row_changes_nothing(arguments, message):
    learner = MirrorDescent("hinge", Simplex(1)).start(3)
    learner.update([1.0, 0.5, -0.5], 1)
    before = learner.state()
    with pytest.raises(InputError, match=message):
        learner.update(*arguments)
    for name, value in learner.state().items():
        np.testing.assert_array_equal(value, before[name])


def test_a_state_of_another_learner_is_refused():
    state = MirrorDescent("hinge", Simplex(1)).start(3).state()
    for method, said in (
        (GradientDescent("hinge"), "saved with method=MirrorDescent, and this method has method="),
        (MirrorDescent("hinge", Simplex(2)), r"over=Simplex\(\), .*over=Simplex\(radius=2"),
        (MirrorDescent("hinge", Simplex(1), bound=2), "saved with bound=1.0, .*has bound=2.0$"),
    ):
        with pytest.raises(InputError, match=said):
            method.restored(state)
    with pytest.raises(InputError, match=r"saved with method=\(+, and this method has method=Grad"):
        GradientDescent("hinge").restored({**state, "method": "(" * 10_000})


def test_targets_beyond_what_was_declared():
    learner = MirrorDescent("squared", Simplex(1), targets=2.0).start(3)
    assert learner.constants.lipschitz == 3.0
    with pytest.raises(InputError, match=r"row 0 has the target 2\.5"):
        learner.update([1.0, 0.0, 0.0], 2.5)
    assert rb.online.MirrorDescent is MirrorDescent
    assert Adaptive().law(learner.constants)[3] == 1.0


@pytest.mark.parametrize("over", [Simplex(2), FullSimplex(2), L1Ball(2), L2Ball(2)], ids=repr)
def test_where_arrays_lie_changes_no_bit(over):
    """Compiled loops that both sum and write may sum in another order for arrays close together."""
    proxy = "squared-l2" if isinstance(over, L2Ball) else "entropy"
    for size in range(2, 40, 3):
        H, y = stream(Hinge(), rows=20, size=size)
        found = []
        for gap in (0, 1, 3, 8, 512):
            learner = MirrorDescent("hinge", over, proxy).start(size)
            block = np.zeros(4 * (size + gap))
            parts = [block[i * (size + gap) :][:size] for i in range(3)]
            parts[0][:] = learner.w
            learner._w, learner._z, learner._mean = parts
            learner.update(H, y)
            found.append(np.concatenate(learner.arrays()))
        np.testing.assert_array_equal(found, [found[0]] * len(found))


@pytest.mark.parametrize("beta", [1e-300, 1e-200, 1e-160, 1e160, 1e290])
def test_balls_at_the_ends_of_doubles(beta):
    H = np.array([[0.6, 0.8], [0.6, -0.8], [1e-170, 0.0]])
    method = MirrorDescent("inner", L2Ball(2), "squared-l2", schedule=Constant(beta))
    fast, slow = method.start(2), method.start(2)
    slow.compiled = lambda: None
    for h in H:
        fast.update(h)
        slow.update(h)
        assert fast.w == pytest.approx(slow.w, rel=1e-12, abs=0.0)
        assert np.linalg.norm(fast.w) <= 2.0 * (1 + 1e-15)
    small = np.array([1e-170, 1e-170])
    assert np.linalg.norm(SquaredL2().mirror(small, 1e-200, L2Ball(2))) == pytest.approx(2.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: MirrorDescent("inner", Simplex(1), bound=1e-165),  # its square is 0, and so the sum
        lambda: MirrorDescent("inner", Simplex(1), bound=1e165),
        lambda: MirrorDescent("exponential", L1Ball(1e8), schedule=Constant(1.0)).start(3),
        lambda: MirrorDescent("exponential", L1Ball(1), "entropy", "adaptive", 1e6).start(3),
        lambda: MirrorDescent("squared", Simplex(1e-100), bound=1e-60, targets=1e-100).start(3),
        lambda: MirrorSteps("huber", L1Ball(1e100), "entropy", schedule=Growing(1e-290)).start(3),
    ],
)
def test_numbers_that_doubles_do_not_hold_are_refused(make):
    with pytest.raises(InputError, match=r"double|overflow"):
        make()


def test_weights_that_could_not_be_counted_down_are_refused():
    learner = MirrorDescent("inner", Simplex(1)).start(2)
    with pytest.raises(InputError, match="row 1 has 1e\\+17, more than"):
        learner.update([[1.0, 0.0], [1.0, 0.0]], weight=[1.0, 1e17])
    assert learner.rounds == 0
