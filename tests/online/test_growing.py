"""Late entrants: as if they had slept from the start, and their regret counts from their entry."""

from __future__ import annotations

import math

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.online import Adaptive, Constant, Entropy, GrowingClass, MirrorDescent
from relaxboost.online.growing import Arrival
from relaxboost.testing import check_proxy

SCHEDULES = ("growing", "adaptive", Constant(0.7))


def test_the_prior_is_a_proxy():
    check_proxy(Arrival(2), [rb.Simplex(2.5)], sizes=(2, 4, 30), skip="symmetry")
    assert Arrival().value(np.array([0.0, 0.0, 2.0]), rb.Simplex(2)) == pytest.approx(
        4 * math.log(3)
    )


def stream(rng, rounds, most, chance=0.1):
    """Yield (number present, h, y): entries at random, the last of them good."""
    present = 1
    for _ in range(rounds):
        if present < most and rng.random() < chance:
            present += 1
        y = float(rng.choice([-1.0, 1.0]))
        h = np.where(rng.random(most) < np.linspace(0.5, 0.9, most), y, -y)
        yield present, h[:present], y


@pytest.mark.parametrize("loss", ["inner", "hinge", "logistic", "absolute"])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_entering_late_is_sleeping_before(loss, schedule, rng):
    """Against all base functions from the start, who are told the learner's mean while asleep."""
    most, over = 7, rb.Simplex(1.5)
    learner = GrowingClass(loss, over=over, schedule=schedule).start(1)
    twin = MirrorDescent("inner", over, Arrival(), schedule, bound=2.0).start(most)
    twin.constants = learner.constants  # of a class of one, for the same β
    twin._sums[:] = learner._sums
    rows = list(stream(rng, 60, most))
    for present, h, y in rows:
        if present > learner.size:
            learner.admit(present - learner.size)
        awake = twin.w[:present]
        w = awake * (1.5 / awake.sum())
        assert learner.w == pytest.approx(w, rel=1e-9)
        _, u = learner.method.loss.evaluate(w, h, y)
        twin.update(np.append(u, np.full(most - present, float(u @ w) / 1.5)))
        learner.update(h, None if loss == "inner" else y)
        assert learner.missed == pytest.approx(twin.loss / 1.5, abs=1e-9)
    assert learner.size == most
    comparator = over.repair(rng.random(most))
    assert learner.regret_bound(comparator) == pytest.approx(twin.regret_bound(comparator))


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
@pytest.mark.parametrize("adverse", [False, True])
def test_regret_from_the_entry_is_under_the_bound(schedule, adverse, rng):
    """Of every base function, in every round; adverse: what has most weight is wrong."""
    learner = GrowingClass("hinge", over=rb.Simplex(1), schedule=schedule).start(2)
    own = np.zeros(2)
    for present, h, y in stream(rng, 300, 9, 0.05):
        if present > learner.size:
            learner.admit(present - learner.size)
            own = np.append(own, np.zeros(learner.size - own.size))
        h = np.resize(h, learner.size)
        if adverse:
            h[int(np.argmax(learner.w))] = -y
        learner.update(h, y)
        own += np.maximum(0.0, 1.0 - y * h)
        regret = learner.loss - learner.paid - own
        bounds = [learner.regret_bound(e) for e in np.eye(learner.size)]
        assert (regret <= np.array(bounds) + 1e-9).all()
        assert learner.regret_bound() == pytest.approx(max(bounds))


def test_a_class_that_does_not_grow_is_mirror_descent():
    """With one prior for another: of two, the second begins with a quarter of the weight."""
    learner = GrowingClass("inner", over=rb.Simplex(1)).start(2)
    assert learner.w == pytest.approx([0.75, 0.25])
    grown = GrowingClass("inner", over=rb.Simplex(1)).start(1)
    grown.admit()
    assert grown.w == pytest.approx(learner.w)
    assert grown.average.sum() == pytest.approx(1.0)


def test_a_state_goes_on(rng):
    method = GrowingClass("logistic", over=rb.Simplex(2), schedule=Adaptive())
    whole, y = method.start(2), rng.choice([-1.0, 1.0], 40)
    H = rng.choice([-1.0, 1.0], (40, 3))
    whole.update(H[:20, :2], y[:20])
    rest = method.restored(whole.state())
    for learner in (whole, rest):
        learner.admit()
        learner.update(H[20:], y[20:])
    assert whole.w.tobytes() == rest.w.tobytes()
    assert whole.average.tobytes() == rest.average.tobytes()
    assert (whole.missed, whole.paid.tolist()) == (rest.missed, rest.paid.tolist())
    assert whole.paid[2] == rest.paid[2] > 0.0


def test_a_weak_learner_is_asked_where_the_loss_falls():
    learner = GrowingClass("hinge", over=rb.Simplex(2)).start(2)
    H, y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]), np.array([1.0, -1.0, 1.0])
    assert learner.demand(H, y) == pytest.approx([0.0, 0.5, 0.5])
    assert learner.demand(H[:1], y[:1]) == pytest.approx([1.0])  # nothing to learn: uniform


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GrowingClass("hinge", over=rb.L1Ball(1)).start(), r"use over=Simplex\(radius\)"),
        (lambda: GrowingClass("hinge", rb.Simplex(1), proxy=Entropy()), "need proxy=Arrival"),
        (lambda: Arrival(1), "expected must be at least 2"),
        (lambda: GrowingClass("hinge", rb.Simplex(1)).start(2).admit(0), "must be"),
        (lambda: GrowingClass("hinge", rb.Simplex(1)).start(2).update(np.ones(3), 1.0), "shape"),
        (
            lambda: GrowingClass("inner", rb.Simplex(1)).start(2).demand(np.ones((1, 2)), [1.0]),
            "asked for labels -1 and",
        ),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(rb.InputError, match=message):
        make()
