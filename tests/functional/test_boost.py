"""The run: its history, warm starts, interruption, early stopping, averages, memory, optima."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from relaxboost import functional as fn
from relaxboost._core import loop
from tests.functional import flat
from tests.processes import ctrl_c

ALGORITHMS = list(fn.ALGORITHMS)
PAPER = [name for name in ALGORITHMS if name != "refitted"]
THRESHOLD = fn.Repeated(threshold=0.5, most=4)


def data(n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)
    return X, y


def targets(loss, y):
    """Return targets for a loss, and options of `boost`."""
    if loss.task == "regression":
        return y, {}
    if loss.task == "ranking":
        return np.digitize(y, [-0.5, 0.5]), {"groups": np.arange(len(y)) // 10}
    return np.digitize(y, [0.0] if loss.task == "binary" else [-0.5, 0.5]), {}


LOSSES = [fn.Squared(), fn.Absolute(), fn.Hinge(), fn.MulticlassHinge(), fn.RankingHinge()]


def without_clock(history):
    return np.array([record[:-1] for record in history])


def assert_same(a, b, X):
    """Bit for bit, but for the time taken."""
    np.testing.assert_array_equal(without_clock(a.history), without_clock(b.history))
    assert [t.round for t in a.terms] == [t.round for t in b.terms]
    assert [t.coefficient for t in a.terms] == [t.coefficient for t in b.terms]
    np.testing.assert_array_equal(a.state["F"], b.state["F"])
    np.testing.assert_array_equal(a.state["total"], b.state["total"])
    np.testing.assert_array_equal(a.decision(X), b.decision(X))
    assert (a.chosen, a.rounds) == (b.chosen, b.rounds)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("algorithm", [*ALGORITHMS, THRESHOLD], ids=str)
def test_a_warm_start_is_an_uninterrupted_run(loss, algorithm):
    X, y = data()
    y, more = targets(loss, y)
    held = tuple(part[80:] for part in (X, y, *more.values()))
    more = {name: part[:80] for name, part in more.items()}
    options = {"algorithm": algorithm, "iterate": "average", "validation": held, **more}

    def boost(rounds, before=None):
        return flat.boost(
            X[:80], y[:80], loss, fn.RegressionStumps(),
            max_rounds=rounds, warm_start=before, **options,
        )  # fmt: skip

    whole, half = boost(9), boost(4)
    assert_same(boost(9, half), whole, X)
    assert_same(boost(9, boost(6, pickle.loads(pickle.dumps(half)))), whole, X)
    assert_same(boost(4), half, X)  # what was gone on with is as it was


@pytest.mark.parametrize("learner", [fn.Trees(2), fn.Networks(2, iterations=5)], ids=repr)
@pytest.mark.parametrize("algorithm", PAPER)
def test_a_warm_start_goes_on_with_the_random_numbers(learner, algorithm):
    X, y = data()

    def boost(rounds, before=None, seed=3):
        return flat.boost(
            X, y, fn.Squared(), learner,
            algorithm=algorithm, max_rounds=rounds, warm_start=before, seed=seed,
        )  # fmt: skip

    whole = boost(6)
    assert_same(boost(6, boost(2), seed=99), whole, X)
    assert_same(boost(6), whole, X)
    if isinstance(learner, fn.Networks):
        assert not np.array_equal(boost(6, seed=4).decision(X), whole.decision(X))


def test_patience_and_best_go_on_too():
    X, y = data(60)
    options = {"validation": (X[40:], y[40:]), "iterate": "best", "patience": 3}

    def boost(rounds, before=None):
        return flat.boost(
            X[:40], y[:40], fn.Squared(), fn.RegressionStumps(),
            algorithm="naive", step=1.0, max_rounds=rounds, warm_start=before, **options,
        )  # fmt: skip

    whole = boost(200)
    assert whole.status == "early stopping"
    assert whole.rounds < 200
    validation = [record.validation for record in whole.history]
    assert whole.chosen == int(np.argmin(validation)) == whole.rounds - 3
    np.testing.assert_allclose(
        validation[whole.chosen], np.mean((whole.decision(X[40:]) - y[40:]) ** 2) / 2, rtol=1e-12
    )
    before = boost(whole.rounds - 1)
    assert before.status == "max_rounds"
    assert_same(boost(200, before), whole, X)


def test_validation_weights_count():
    X, y = data()
    held = np.arange(80, 120)
    weights = np.arange(40.0)
    twice = np.repeat(held, np.arange(40))

    def risk(*validation):
        stopping = fn.Stopping(3, validation=validation)
        run = fn.boost(X[:80], fn.Squared().bind(y[:80]), fn.RegressionStumps(), stopping=stopping)
        return run.history[3].validation

    weighted = risk(X[held], y[held], None, weights)
    assert weighted == pytest.approx(risk(X[twice], y[twice]), rel=1e-12)
    assert weighted != risk(X[held], y[held])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_average_is_the_mean_of_the_iterates(loss, algorithm):
    X, y = data()
    y, more = targets(loss, y)
    seen = []
    run = flat.boost(
        X, y, loss, fn.RegressionStumps(), algorithm=algorithm, iterate="average", max_rounds=8,
        callback=lambda state: seen.append(state.F.copy()), **more,
    )  # fmt: skip
    mean = np.mean(seen[1:], axis=0)
    np.testing.assert_allclose(run.decision(X), mean, rtol=0, atol=1e-12 * np.abs(seen).max())
    risk = loss.bind(y, **more)
    assert run.value == pytest.approx(risk.value(mean), rel=1e-12)
    for t, F in run.staged(X):
        np.testing.assert_allclose(F, seen[t], rtol=0, atol=1e-12 * np.abs(seen).max())
        np.testing.assert_allclose(F, run.decision(X, t), rtol=0, atol=1e-12 * np.abs(seen).max())
    assert t == 8


def test_limits_end_a_run():
    X, y = data()

    def boost(**options):
        return flat.boost(X, y, fn.Squared(), fn.RegressionStumps(), max_rounds=30, **options)

    run = boost(algorithm="repeated", max_learners=12)
    assert (run.status, len(run.terms), run.rounds) == ("max_learners", 15, 5)
    run = boost(callback=lambda state: np.bool_(state.round == 7))
    assert (run.status, run.rounds) == ("callback", 7)
    assert boost(time_limit=1e-9).status == "time_limit"
    run = fn.boost(
        np.eye(2), fn.Absolute().bind([1.0, 1.0]), fn.FiniteSet(), algorithm=fn.Naive(step=1.0)
    )
    assert (run.status, run.rounds, run.value) == ("stationary", 2, 0.0)


def test_any_true_value_of_a_callback_ends_a_run_and_it_sees_every_state():
    X, y = data()
    seen = []

    def callback(state):
        seen.append(state.round)
        return [state.round] if state.round == 3 else 0

    for limit, status in (
        ({"max_rounds": 9}, "callback"),
        ({"max_rounds": 2}, "max_rounds"),
        ({"max_learners": 2}, "max_learners"),
    ):
        seen.clear()
        run = flat.boost(X, y, fn.Squared(), fn.RegressionStumps(), callback=callback, **limit)
        assert run.status == status
        assert seen == list(range(run.rounds + 1))


class Watch:
    """A clock that only its owner moves on, in place of the module `time`."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


class Slow(fn.RegressionStumps):
    """Takes a fiftieth of a second by its watch."""

    def __init__(self, watch):
        super().__init__()
        self.watch = watch

    def prepare(self, *given):
        pool = super().prepare(*given)
        nearest = pool.nearest

        def late(target):
            self.watch.now += 0.02
            return nearest(target)

        pool.nearest = late
        return pool


def test_the_time_limit_is_looked_at_within_a_round(monkeypatch):
    """Round t of "repeated" has t projections; the limit falls into the fifth."""
    X, y = data()
    risk = fn.Squared().bind(y)
    stopping = fn.Stopping(50, time_limit=0.25)
    watch = Watch()
    with monkeypatch.context() as patch:
        patch.setattr(loop, "time", watch)
        run = fn.boost(X, risk, Slow(watch), algorithm="repeated", stopping=stopping)
    assert (run.status, run.rounds) == ("time_limit", 4)
    assert watch.now == pytest.approx(0.26)
    given = {"X": X, "risk": risk, "learner": fn.RegressionStumps(), "algorithm": "repeated"}
    assert_same(run, fn.boost(**given, stopping=4), X)  # without the projections of round 5
    assert_same(fn.boost(**given, stopping=7, warm_start=run), fn.boost(**given, stopping=7), X)


def test_a_name_goes_on_with_the_options_of_the_run():
    X, y = data()
    risk = fn.Squared().bind(y)
    given = X, risk, fn.RegressionStumps()
    for algorithm in (fn.Residual(step=0.3, iterate="best"), fn.Repeated(threshold=0.5, scale=0.4)):
        half = fn.boost(*given, algorithm=algorithm, stopping=3)
        named = fn.boost(*given, algorithm=algorithm.name, stopping=6, warm_start=half)
        assert_same(named, fn.boost(*given, algorithm=algorithm, stopping=6), X)


INTERRUPTED = """
import pickle, sys, time
import numpy as np
from relaxboost import functional as fn

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20_000, 8)), rng.integers(0, 12, 20_000)


def tell(state):
    if state.round == 3:
        print("started", flush=True)


risk = fn.MulticlassHinge().bind(y)
algorithm = fn.ALGORITHMS[sys.argv[2]](iterate="average")


def boost(stopping, before=None):
    return fn.boost(X, risk, fn.RegressionStumps(), algorithm=algorithm, stopping=stopping,
                    warm_start=before)


run = boost(fn.Stopping(10**6, callback=tell))
again, ahead = boost(run.rounds), boost(run.rounds + 2, run)
whole = boost(run.rounds + 2)
same = all(
    np.array_equal(a.state["F"], b.state["F"]) and np.array_equal(a.decision(X), b.decision(X))
    and [r.average for r in a.history] == [r.average for r in b.history]
    for a, b in ((run, again), (ahead, whole))
)
print(run.status, run.rounds >= 3, len(run.history) == run.rounds + 1, same)
"""


@pytest.mark.parametrize(("algorithm", "wait"), [("residual", 0.05), ("repeated", 0.013)])
def test_ctrl_c_returns_the_run_so_far(tmp_path, algorithm, wait):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    process = subprocess.Popen(
        [sys.executable, str(script), str(wait), algorithm],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "started\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(wait)
    _, out, err = ctrl_c(process)
    assert out == "interrupted True True True\n", err


@pytest.mark.parametrize("where", ["nearest", "callback", "dispatcher"])
def test_interruption_anywhere_in_a_round(where):
    """Also as the SystemError that numba's dispatcher makes of it."""
    X, y = data()
    calls = []

    class Stopping(fn.RegressionStumps):
        def prepare(self, *given):
            pool = super().prepare(*given)
            nearest = pool.nearest

            def interrupted(target):
                calls.append(1)
                if where == "nearest" and len(calls) == 5:
                    raise KeyboardInterrupt
                if where == "dispatcher" and len(calls) == 5:
                    raise SystemError("returned a result") from KeyboardInterrupt()
                return nearest(target)

            pool.nearest = interrupted
            return pool

    def callback(state):
        if where == "callback" and state.round == 4:
            raise KeyboardInterrupt

    run = fn.boost(X, fn.Squared().bind(y), Stopping(), stopping=fn.Stopping(9, callback=callback))
    assert (run.status, run.rounds) == ("interrupted", 4)
    plain = fn.boost(X, fn.Squared().bind(y), fn.RegressionStumps(), stopping=4)
    assert_same(run, plain, X)


def test_other_system_errors_are_raised():
    X, y = data()

    def callback(state):
        raise SystemError("another")

    with pytest.raises(SystemError, match="another"):
        fn.boost(
            X, fn.Squared().bind(y), fn.RegressionStumps(), stopping=fn.Stopping(callback=callback)
        )


def test_memory_is_that_of_data_and_predictions():
    """40 000 documents of 20 queries have 40 million pairs; nothing is a multiple of rounds."""
    n = 40_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    grades = rng.integers(0, 5, n)

    def peak(rounds):
        tracemalloc.start()
        risk = fn.RankingHinge().bind(grades, groups=np.arange(n) % 20)
        mean = fn.Residual(iterate="average")
        fn.boost(X, risk, fn.RegressionStumps(), algorithm=mean, stopping=rounds)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(2)  # compilation
    few, many = peak(3), peak(30)
    assert few < 6 * X.nbytes + 20 * 8 * n
    assert many < few + 4 * 8 * n  # a prediction or two, whatever the number of rounds


@pytest.mark.parametrize("loss", [*LOSSES, fn.Logistic(), fn.Huber(0.5)], ids=repr)
@pytest.mark.parametrize("algorithm", PAPER)
def test_gaps_to_the_optimum_fall(loss, algorithm):
    rng = np.random.default_rng(5)
    n, hypotheses = 40, 6
    y, more = targets(loss, rng.normal(size=n))
    risk = loss.bind(y, **more)
    shape = (n,) if risk.outputs is None else (n, risk.outputs)
    H = rng.normal(size=(*shape, hypotheses))
    best = fn.optimum(risk, H)
    assert best.gap < 1e-6
    run = flat.boost(
        H, y, loss, fn.FiniteSet(), algorithm=algorithm, max_rounds=60, iterate="average",
        max_learners=600, **more,
    )  # fmt: skip
    gaps = np.array([record.value - best.lower for record in run.history])
    assert gaps.min() >= -1e-12
    averages = np.array([record.average - best.lower for record in run.history[1:]])
    assert averages.min() >= -1e-12
    least = np.minimum.accumulate(gaps)
    # The naive algorithm may be stuck where the risk is not smooth; the others are not.
    smooth = risk.smoothness < np.inf
    share = 0.5 if algorithm == "naive" and not smooth else 0.3
    assert least[-1] < share * gaps[0]
    if loss == fn.Squared() or (algorithm == "naive" and smooth):
        assert gaps[-1] < 1e-2 * gaps[0]
        if algorithm == "naive":  # Theorem 3: every round gains
            assert (np.diff(gaps) <= 1e-12).all()


@pytest.mark.parametrize(("algorithm", "reached"), [("repeated", True), ("residual", True),
                                                    ("naive", False)])  # fmt: skip
def test_the_naive_algorithm_is_stuck_where_the_others_are_not(algorithm, reached):
    """GB11, Sec. 4.1: 2|f(x1)| + |f(x2)| from (1.1, 5), with coordinates for hypotheses.

    From (1, 5) the first step ends where f(x1) = 0, and the subgradient 0 there lets it escape.
    """
    y, weights = np.array([-1.1, -5.0]), [2.0, 1.0]
    kind = fn.ALGORITHMS[algorithm]

    def boost(y, rounds):
        risk = fn.Absolute().bind(y, weights)
        made = kind(step="1/sqrt(t)")
        return fn.boost(np.eye(2), risk, fn.FiniteSet(), algorithm=made, stopping=rounds)

    run = boost(y, 60)
    lowest = 3.0 * min(record.value for record in run.history)
    assert (lowest < 1.0) == reached
    if not reached:
        assert lowest >= 5.0 - 1e-12  # f(x2) never moves
        run = boost([-1.0, -5.0], 400)
        assert 3.0 * min(record.value for record in run.history) < 0.01


@pytest.mark.parametrize("kind", [fn.Naive, fn.Repeated, fn.Residual])
def test_targets_beyond_the_reach_of_the_steps_cause_a_warning(kind):
    X, y = data()
    risk = fn.Absolute().bind(1000.0 + y)
    given = (X, risk, fn.RegressionStumps())
    with pytest.warns(UserWarning, match=r"is at most 40 after 100 rounds; pass algo") as caught:
        run = fn.boost(*given, algorithm=kind.name)
    assert caught[0].filename == __file__
    assert f"{kind.__name__}(scale=1000.0, iterate='average')" in str(caught[0].message)
    assert risk.measure.norm(run.decision(X)) <= 40.0
    fn.boost(*given, algorithm=kind.name, warm_start=run, stopping=101)  # only new runs warn
    fn.boost(*given, algorithm=kind(scale=1000.0), stopping=1)
    fn.boost(*given, algorithm=kind(step=1.0), stopping=1)
    fn.boost(*given, algorithm="refitted", stopping=1)


@pytest.mark.parametrize("iterate", ["last", "average"])
def test_a_result_worse_than_the_start_causes_a_warning(iterate):
    X, y = data()
    risk = fn.Absolute().bind(y)
    given = (X, risk, fn.RegressionStumps())
    long = fn.Residual(scale=1000.0, iterate=iterate)
    said = (
        r"rose from 0\.\d+ to \d+.*; pass algorithm=Residual\(scale=...\) .* below 1000, or anoth"
    )
    with pytest.warns(UserWarning, match=said) as caught:
        run = fn.boost(*given, algorithm=long, stopping=3)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert run.status == "max_rounds"
    assert run.value > run.history[0].value
    best = fn.Residual(scale=1000.0, iterate="best")
    assert fn.boost(*given, algorithm=best, stopping=3).chosen == 0  # the start is no worse


def test_a_rise_of_the_risk_by_rounding_causes_no_warning():
    risk = fn.Squared().bind(np.array([-1.3e-6, -2.5e-7]))
    run = fn.boost(np.ones((2, 1)), risk, fn.RegressionStumps(), algorithm="repeated", stopping=1)
    start = run.history[0].value
    assert run.value == pytest.approx(start, rel=1e-14)
