"""From online to batch: every rule against all iterates stored, and its bounds on all samples."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest
from scipy.stats import chisquare

import relaxboost as rb
from relaxboost._core.errors import InputError
from relaxboost.online import (
    Assumptions,
    Constant,
    ExponentiatedGradient,
    GradientDescent,
    Horizon,
    MirrorDescent,
    Schedule,
    batch,
    batching,
    excess_risk_bound,
    expected_excess_bound,
    risk_bound,
    stream,
    validation_excess_bound,
    validation_radius,
)
from relaxboost.online.batching import reservoir
from tests.online.samples import examples

IID = Assumptions(iid_order=True, loss_range=2.0)
METHODS = {
    "dual averaging": MirrorDescent("hinge", rb.L1Ball(1)),
    "gradient descent": GradientDescent("hinge", bound=2.0, schedule=Horizon(30)),
    "exponentiated gradient": ExponentiatedGradient("logistic", schedule=Constant(2.0)),
}


def data(m, M=3, seed=0):
    rng = np.random.default_rng(seed)
    H = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=(m, M))
    return H, np.where(H[:, 0] + 0.3 * rng.normal(size=m) < 0.0, -1.0, 1.0)


def iterates(method, H, y):
    """Return w_0, ..., w_{m−1}, one row at a time."""
    learner, W = method.start(H.shape[1]), []
    for h, target in zip(H, y, strict=True):
        W.append(learner.w)
        learner.update(h, target)
    return np.array(W)


def losses(method, W, H, y):
    """Return l(w_i; z_k), row by row and weight by weight."""
    return np.array(
        [[method.loss.evaluate(w, h, t)[0] for h, t in zip(H, y, strict=True)] for w in W]
    )


def cuts(H, y, sizes):
    """Return the rows in blocks of these sizes, the rest in one."""
    ends = np.cumsum([0, *sizes, len(H)])
    return [(H[a:b], y[a:b]) for a, b in zip(ends, np.minimum(ends[1:], len(H)), strict=False)]


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_the_mean_in_one_pass_of_a_stream_read_once(method):
    H, y = data(30)
    W = iterates(method, H, y)
    found = batch(method, (block for block in cuts(H, y, [7, 1, 11])))
    np.testing.assert_allclose(found.w, W.mean(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(found.w, batch(method, (H, y)).w)
    own = losses(method, W, H, y).diagonal()
    assert found.loss == pytest.approx(own.mean())
    assert found.wrong == np.mean(y * (W * H).sum(axis=1) <= 0.0)
    np.testing.assert_array_equal(found.predict(H), H @ found.w)
    assert (found.examples, found.among, found.index) == (30, 30, None)


def test_a_hypothesis_is_printed_in_one_line():
    method, (H, y) = next(iter(METHODS.values())), data(30)
    mean = batch(method, (H, y))
    assert str(mean).startswith(f"mean of 30 iterates, mean loss on the way {mean.loss:.6g}, ")
    best = batch(method, (H, y), "validation", delta=0.5, loss_range=100.0)
    assert str(best).startswith(f"validation of 30 iterates: w_{best.index}, mean loss on the way ")
    assert str(best).endswith(f"later loss and radius {best.score:.6g}")


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_draw_is_the_iterate_of_its_index_however_the_stream_is_cut(method):
    H, y = data(30)
    W = iterates(method, H, y)
    seen = set()
    for seed in range(40):
        found = batch(method, iter(cuts(H, y, [4, 9])), "uniform", seed=seed)
        np.testing.assert_array_equal(found.w, W[found.index])
        assert batch(method, (H, y), "uniform", seed=seed).index == found.index
        seen.add(found.index)
    assert len(seen) > 15


@pytest.mark.parametrize("m", [1, 2, 3, 7, 40])
def test_draws_are_uniform(m):
    """The reservoir alone, for 6000 seeds; alone the first numbers of each would be 6000 draws."""
    last = []
    for seed in range(6000):
        for i in reservoir(seed):
            if i >= m:
                break
            held = i
        last.append(held)
    counts = np.bincount(last, minlength=m)
    assert counts.size == m
    assert m == 1 or chisquare(counts).pvalue > 1e-3


def test_the_reservoir_stays_with_probability_i_over_k():
    """P(second > k) = 1/k and P(third > k | second = i) = i/k, for the numbers that it yields."""
    ways = [list(islice(reservoir(seed), 3)) for seed in range(6000)]
    second, third = (np.array([way[at] + 1 for way in ways], dtype=float) for at in (1, 2))
    for k in (2, 3, 5, 20):
        assert np.mean(second > k) == pytest.approx(1.0 / k, abs=0.025)
    for i in (2, 3):
        assert np.mean(third[second == i] > 6) == pytest.approx(i / 6.0, abs=0.04)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_majority_is_the_vote_of_all_iterates(method):
    H, y = data(30)
    new, _ = data(12, seed=1)
    W = iterates(method, H, y)
    found = batch(method, cuts(H, y, [3, 20]), "majority")
    np.testing.assert_array_equal(found.predict(new), np.sign(new @ W.T).mean(axis=1))
    assert found.predict(new[0]) == np.sign(W @ new[0]).mean()
    assert found.w is None
    few = batch(method, (H, y), "majority", snapshots=4)
    np.testing.assert_array_equal(few.predict(new), np.sign(new @ W[[0, 7, 15, 22]].T).mean(axis=1))
    own = losses(method, W, H, y).diagonal()[[0, 7, 15, 22]]
    assert (few.loss, few.among) == (pytest.approx(own.mean()), 4)
    declared = batch(method, iter(cuts(H, y, [10])), "majority", snapshots=[0, 7, 15, 22])
    np.testing.assert_array_equal(declared.predict(new), few.predict(new))
    assert declared.wrong == few.wrong
    kept = pickle.loads(pickle.dumps(declared))
    np.testing.assert_array_equal(kept.predict(new), few.predict(new))
    np.testing.assert_array_equal(kept.voters, W[[0, 7, 15, 22]])


def by_definition(method, H, y, places, delta, c):
    """Return index and score of the least loss on later examples and radius."""
    W, m = iterates(method, H, y), len(H)
    table = losses(method, W, H, y)
    log = math.log(2.0 * len(places) / delta)
    scores = [table[i, i:].mean() + c * math.sqrt(log / (2.0 * (m - i))) for i in places]
    return places[int(np.argmin(scores))], min(scores), table.diagonal()[places].mean()


@pytest.mark.parametrize("rows", [1, 7, 1024])
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_validation_is_the_argmin_by_definition(method, rows, monkeypatch):
    """In passes of one iterate, of seven, of all."""
    monkeypatch.setattr(batching, "ROWS_PER_PIECE", rows)
    H, y = data(60, seed=3)
    W, c = iterates(method, H, y), 3.0
    for places, snapshots in (
        (list(range(60)), None),
        ([0, 20, 40], 3),
        ([5, 6, 58], np.array([5, 6, 58])),
    ):
        found = batch(method, (H, y), "validation", snapshots=snapshots, delta=0.9, loss_range=c)
        index, score, loss = by_definition(method, H, y, places, 0.9, c)
        assert (found.index, found.among) == (index, len(places))
        assert found.score == pytest.approx(score, rel=1e-12)
        assert found.loss == pytest.approx(loss)
        np.testing.assert_array_equal(found.w, W[index])
        assert found.risk_bound(0.9, IID) == found.score
    once = batch(
        method, iter([(H, y)]), "validation", snapshots=[5, 6, 58], delta=0.9, loss_range=c
    )
    assert once.index == found.index


def test_validation_leaves_the_start_where_it_pays():
    """Of 120 examples with a clear answer, one after a while is chosen, and not w_0."""
    H, y = np.tile([[1.0, -1.0], [0.5, -1.0]], (60, 1)), np.ones(120)
    method = ExponentiatedGradient("hinge", schedule=Constant(2.0))
    found = batch(method, (H, y), "validation", delta=0.5, loss_range=2.0)
    assert 0 < found.index < 60
    assert found.index == by_definition(method, H, y, list(range(120)), 0.5, 2.0)[0]


def test_ties_and_one_example():
    """All iterates are equal: a vote of 0 everywhere, and the first is chosen."""
    method = GradientDescent("hinge")
    H, y = np.zeros((5, 2)), np.ones(5)
    assert batch(method, (H, y), "validation", delta=0.5, loss_range=1.0).index == 0
    tied = batch(method, (H, y), "majority")
    assert tied.predict([1.0, 1.0]) == 0.0
    assert tied.wrong == 1.0
    one = H[:1] + 0.5, y[:1]
    for rule in ("mean", "uniform"):
        np.testing.assert_array_equal(batch(method, one, rule).w, [0.0, 0.0])
        assert batch(method, one, rule).loss == 1.0
    assert batch(method, one, "majority").predict([1.0, 0.0]) == 0.0
    chosen = batch(method, one, "validation", delta=0.5, loss_range=2.0)
    assert chosen.score == pytest.approx(1.0 + 2.0 * math.sqrt(math.log(4.0) / 2.0))


def test_costs_of_experts_have_no_targets():
    costs = np.abs(data(40)[0])
    method = ExponentiatedGradient("inner", schedule=Horizon(40))
    W = iterates(method, costs, np.zeros(40))
    np.testing.assert_allclose(batch(method, costs).w, W.mean(axis=0), rtol=1e-12)
    found = batch(method, [costs[:9], costs[9:]], "validation", delta=0.9, loss_range=1.0)
    assert found.index == by_definition(method, costs, np.zeros(40), list(range(40)), 0.9, 1.0)[0]
    assert found.wrong is None


COIN = examples([[1.0], [1.0], [-0.5]], [1, -1, 1], [0.5, 0.3, 0.2])


@pytest.mark.parametrize("delta", [0.9, 0.5, 0.2, 0.05])
def test_bounds_hold_on_all_samples(delta):
    method, t = GradientDescent("hinge", schedule=Horizon(6)), 6
    found = COIN.runs(method, t)
    bounds = np.array([risk_bound(loss / t, t, delta, IID) for loss in found.loss])
    bound = excess_risk_bound(math.sqrt(t), t, delta, IID)
    for risk in (found.risk, found.risk_of_mean):
        assert found.chance[risk > bounds + 1e-12].sum() <= delta
        assert found.chance[risk - found.least.lower > bound].sum() <= delta
        assert found.excess(risk)[1] <= expected_excess_bound(method, 1, t, IID)
    votes, chance = COIN.runs(method, 4), 0.0
    for sample, p in zip(votes.samples, votes.chance, strict=True):
        rows = list(sample)
        voted = batch(method, (COIN.H[rows], COIN.y[rows]), "majority", snapshots=4)
        wrong = voted.predict(COIN.H) * COIN.y <= 0.0
        chance += p * (COIN.p[wrong].sum() > voted.risk_bound(delta, IID))
    assert chance <= delta


def test_the_choice_of_validation_holds_on_all_samples():
    """Its score bounds its risk, and its risk is near the best of the first half."""
    method, t, delta = ExponentiatedGradient("hinge", schedule=Constant(1.0)), 5, 0.95
    law = examples([[1.0, -0.5], [-1.0, 0.5]], [1, 1], [0.7, 0.3])
    found = law.runs(method, t)
    below, near = 0.0, 0.0
    for sample, p in zip(found.samples, found.chance, strict=True):
        H, y = law.H[list(sample)], law.y[list(sample)]
        chosen = batch(method, (H, y), "validation", delta=delta, loss_range=2.0)
        risk = law.risks(method.loss, [chosen.w])[0]
        below += p * (risk > chosen.score)
        best = law.risks(method.loss, iterates(method, H, y)[: t // 2]).min()
        near += p * (risk > best + validation_excess_bound(t, t, delta, IID))
    assert below <= delta
    assert near <= delta
    assert below < 1.0


def test_the_bounds_are_their_formulas():
    assert risk_bound(0.5, 200, 0.05, IID) == 0.5 + 2 * math.sqrt(math.log(20) / 400)
    assert excess_risk_bound(20.0, 100, 0.1, IID) == pytest.approx(
        0.2 + 4 * math.sqrt(math.log(20) / 200)
    )
    assert validation_radius(50, 8, 0.1, IID) == 2 * math.sqrt(math.log(160) / 100)
    assert validation_excess_bound(100, 100, 0.05, IID) == pytest.approx(
        4 * math.sqrt(math.log(4000) / 100)
    )
    method = MirrorDescent("hinge", rb.Simplex(1), schedule=Horizon(50))
    expected = math.sqrt(2.0 * math.log(4) / 50)
    only_order = Assumptions(iid_order=True)
    assert expected_excess_bound(method, 4, 50, only_order) == pytest.approx(expected)
    H, y = data(30)
    found = batch(METHODS["gradient descent"], (H, y), "majority", snapshots=6)
    few = 2.0 * (found.wrong + math.sqrt(math.log(20) / 12))
    assert found.risk_bound(0.05, only_order) == pytest.approx(few)


SORTED = Assumptions(iid_order=False, loss_range=2.0)
UNBOUNDED = Assumptions(iid_order=True)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: risk_bound(0.5, 9, 0.1, SORTED), "order of the examples depends on their"),
        (lambda: excess_risk_bound(3.0, 9, 0.1, SORTED), "shuffle the examples first"),
        (lambda: validation_radius(9, 9, 0.1, SORTED), "shuffle the examples first"),
        (lambda: validation_excess_bound(9, 9, 0.1, SORTED), "shuffle the examples first"),
        (
            lambda: expected_excess_bound(METHODS["dual averaging"], 3, 9, SORTED),
            "shuffle the examples first",
        ),
        (lambda: risk_bound(0.5, 9, 0.1, None), "pass Assumptions"),
        (lambda: risk_bound(0.5, 9, 0.1, UNBOUNDED), "needs loss_range=c"),
        (lambda: risk_bound(3.0, 9, 0.1, IID), "got 3; check loss_range"),
        (lambda: risk_bound(0.5, 0, 0.1, IID), "m must be a whole number >= 1"),
        (lambda: risk_bound(0.5, 9, 1.0, IID), "delta must lie strictly between"),
        (lambda: Assumptions(iid_order="yes"), "must be True or False"),
        (lambda: Assumptions(iid_order=True, loss_range=-1.0), "loss_range"),
    ],
)
def test_bounds_are_refused_without_what_they_rest_on(ask, message):
    with pytest.raises(InputError, match=message):
        ask()


def test_what_was_learned_refuses_them_too():
    H, y = data(30)
    method = METHODS["gradient descent"]
    for rule in ("mean", "uniform", "majority"):
        with pytest.raises(InputError, match="shuffle the examples first"):
            batch(method, (H, y), rule).risk_bound(0.1, SORTED)
    chosen = batch(method, (H, y), "validation", delta=0.1, loss_range=3.0)
    with pytest.raises(InputError, match="shuffle the examples first"):
        chosen.risk_bound(0.1, SORTED)
    with pytest.raises(InputError, match=r"with delta=0\.1 and loss_range=3"):
        chosen.risk_bound(0.2, IID)
    with pytest.raises(InputError, match="call batch again"):
        chosen.risk_bound(0.1, Assumptions(iid_order=True, loss_range=3.5))


GD = METHODS["gradient descent"]
GOOD = data(6)
SURE = {"delta": 0.1, "loss_range": 3.0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: batch("hinge", GOOD), "method must be an OnlineMethod"),
        (lambda: batch(GD, GOOD, "best"), "rule must be one of mean, uniform"),
        (lambda: batch(GD, GOOD, snapshots=3), "'mean', which uses all iterates in one"),
        (lambda: batch(GD, GOOD, delta=0.1), "can be used only with the rule 'validation'; leave"),
        (lambda: batch(GD, GOOD, "validation"), "needs delta and loss_range"),
        (lambda: batch(GD, GOOD, "validation", delta=2.0, loss_range=1.0), "delta"),
        (lambda: batch(GD, iter([GOOD]), "majority"), "more than once"),
        (lambda: batch(GD, iter([GOOD]), "validation", snapshots=3, **SURE), "more than once"),
        (
            lambda: batch(GD, GOOD, "majority", snapshots=7),
            "exceeds the number of examples in the stream, 6",
        ),
        (
            lambda: batch(GD, GOOD, "majority", snapshots=[0, 6]),
            "iterate w_6 predicts none of them",
        ),
        (lambda: batch(GD, GOOD, "majority", snapshots=[2, 2]), "in increasing order"),
        (lambda: batch(GD, GOOD, "majority", snapshots=[]), "in increasing order"),
        (lambda: batch(GD, GOOD, "majority", snapshots=0), "snapshots"),
        (lambda: batch(GD, [], "mean"), "stream is empty"),
        (lambda: batch(GD, [], "validation", **SURE), "stream is empty"),
        (lambda: batch(GD, 3), "a stream must be arrays"),
        (lambda: batch(GD, [(*GOOD, np.ones(6))]), "without weights"),
        (
            lambda: batch(GD, [(GOOD[0], GOOD[1][:2])]),
            r"y must have shape \(6,\), one target per example",
        ),
        (
            lambda: batch(GD, GOOD, "validation", delta=0.1, loss_range=0.5),
            r"loss in row 0 is 1, outside \[0, 0.5\]",
        ),
        (
            lambda: batch(ExponentiatedGradient("inner"), GOOD[0], "majority"),
            "needs labels -1 and ",
        ),
        (lambda: batch(GD, GOOD, "majority").predict(np.ones(2)), r"H must have shape .* 3\)"),
        (lambda: batch(GD, GOOD).predict(np.ones(2)), r"H must have shape .* 3\)"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ((np.ones((1, 2)), [1.0]), "row 6 has 2 base functions, but the rows before have 3"),
        ((GOOD[0], 2.0 * GOOD[1]), "-1 or .1; row 6 has"),
        ((GOOD[0], None), "6 examples and 0|targets"),
        ((np.full((2, 3), np.nan), [1.0, 1.0]), "row 6 has nan"),
        ((np.full((2, 3), 9.0), [1.0, 1.0]), "row 6 has norm 15.*beyond bound"),
    ],
)
@pytest.mark.parametrize("rule", ["mean", "uniform", "majority", "few", "validation"])
def test_bad_rows_are_named_by_every_rule(block, message, rule):
    large = {"delta": 0.1, "loss_range": 1e9}
    options = {"validation": large, "few": {"snapshots": [0, 3]}}.get(rule, {})
    with pytest.raises(InputError, match=message):
        batch(GD, [GOOD, block], "majority" if rule == "few" else rule, **options)


def test_streams_are_read_as_their_arrays():
    H, y = data(30)
    again, once = stream(H, y, page=7), stream(zip(H, y, strict=True))
    assert not once.replayable
    np.testing.assert_array_equal(batch(GD, again).w, batch(GD, (H, y)).w)
    vote = batch(GD, again, "majority")
    np.testing.assert_array_equal(vote.predict(H), batch(GD, (H, y), "majority").predict(H))
    with pytest.raises(InputError, match="more than once"):
        batch(GD, once, "majority")
    assert batch(GD, once, "uniform", seed=3).index == batch(GD, (H, y), "uniform", seed=3).index


def test_a_stream_that_changes_is_found_out():
    for rule, options in (("majority", {}), ("validation", SURE)):
        left = iter([[GOOD], [GOOD, GOOD]])
        with pytest.raises(InputError, match="had 6 examples in the first pass, but has 12 now"):
            batch(GD, lambda left=left: next(left), rule, **options)


@dataclass(frozen=True)
class Warming(Schedule):
    """A schedule that stays cold where a gradient is less than L."""

    def temperature(self, i, squares, known):
        return 4.0 if i and squares >= i else 0.5


def test_a_schedule_of_ones_own_is_not_believed_to_meet_the_largest_gradients():
    said = Assumptions(iid_order=True)
    method = MirrorDescent("inner", rb.L2Ball(1), "squared-l2", schedule=Warming())
    colder = MirrorDescent("inner", rb.L2Ball(1), "squared-l2", schedule=Constant(0.5))
    learner = colder.start(1)
    learner.update(np.full((4, 1), 0.999))  # both have β = 1/2 here
    assert expected_excess_bound(method, 1, 4, said) >= learner.regret_bound() / 4
