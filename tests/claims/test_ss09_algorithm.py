"""SS09, Sec. 5 to 5.2: the known figures of claims."""

from itertools import permutations, product

import numpy as np
import pytest

from relaxboost.claims import get
from relaxboost.claims.ss09 import algorithm, rates, small, smooth
from relaxboost.claims.ss09.family import REGULARISERS
from relaxboost.claims.ss09.runs import fig1
from relaxboost.claims.votes import adaboost_by_hand, risk
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped, KLPenalty


def ratios(id):
    claim = get(id)
    found = (
        claim.examine(claim.stated, claim.space.from_json(written), "").slack
        for written in claim.counterexamples
    )
    return [slack.left / slack.right for slack in found]


def test_errors_of_theorem_9():
    assert ratios("SS09-T9") == pytest.approx([1.125, 1.0826, 1.0241], abs=1e-4)
    first = get("SS09-T9").check(trials=1).counterexample.slack
    assert (first.left, first.round) == (pytest.approx(27 / 80), 2)


def rounds_and_errors(x):
    """Return rounds and error/ε of Fig. 1 for every choice of j_t among the largest edges."""
    m, n = x.A.shape
    beta, rho = x.epsilon / (2.0 * np.log(m)), float(x.optimum(Game(x.A)).middle)
    found, waiting = [], [(1, np.zeros(n))]
    while waiting:
        t, w = waiting.pop()
        u = x.A @ w
        d = np.exp((u.min() - u) / beta)
        edges = d @ x.A / d.sum()
        for j in np.flatnonzero(np.abs(edges) >= np.abs(edges).max() - 1e-9):
            sign = np.sign(edges[j])
            v = sign * x.A[:, j] - u
            gap = float(d @ v / d.sum())
            if gap <= x.epsilon:
                found.append((t, (rho - u.min()) / x.epsilon))
                break
            eta = beta * gap / np.abs(v).max() ** 2
            moved = (1.0 - eta) * w
            moved[j] += eta * sign
            waiting.append((t + 1, moved))
    return [sorted({each[part] for each in found}) for part in (0, 1)]


def test_no_choice_among_tied_edges_saves_theorem_9():
    claim = get("SS09-T9")
    counts, errors = rounds_and_errors(claim.instance(claim.counterexamples[2]))
    assert (counts[0], counts[-1]) == (213, 256)
    assert errors[0] > 1.02


def test_errors_of_the_totally_corrective_update():
    """c + βW(1/e) and c + (β/2) log(m − 1), c the first column."""
    wide, three = (0.31 / (4 * np.log(m)) for m in (2, 3))
    first = 0.3 + 2 * wide * 0.3 / 1.3 * np.log(1 / 0.3)
    expected = [first / 0.31, (0.3 + three * np.log(2)) / 0.31]
    assert ratios("SS09-Eq13-accuracy") == pytest.approx(expected, abs=1e-5)
    assert expected == pytest.approx([1.1682, 1.1255], abs=1e-4)


def test_theorem_9_fails_for_each_f():
    """The rounds of the runs and the optima are of different origin: see `smooth.fig1_by_hand`."""
    claim = get("SS09-T9-family")
    assert {written["f"] for written in claim.counterexamples} == {*REGULARISERS}
    expected = [1.1840, 1.1828, 1.0820, 1.0153, 1.0283]
    assert ratios("SS09-T9-family") == pytest.approx(expected, abs=1e-4)


def test_errors_with_many_rows():
    assert ratios("SS09-T9-many-rows") == pytest.approx([1.2359, 1.3450], abs=1e-4)


def test_lambert():
    for y in (0.0, 0.1, 1.0, np.e, 100.0, 1e9):
        w = algorithm.lambert(y)
        assert w * np.exp(w) == pytest.approx(y, rel=1e-12)


def test_share_of_the_margin():
    """The figures of the note on Theorem 9."""
    A = np.array([[0.5, 0.9], [-0.7, 0.3]])
    gamma = 13 / 30
    for part, to_gap, share in ((2, 2, 0.4054), (3, 3, 0.6370), (2, 4, 0.6643)):
        found = fig1(Game(A), gamma / part, to_gap=gamma / to_gap)[-1]
        assert np.min(A @ found.w) / gamma == pytest.approx(share, abs=1e-4)


def test_decay_of_the_error():
    A = np.array(get("SS09-remark-one-over-gamma").counterexamples[1]["A"])
    assert risk(A, adaboost_by_hand(A, 1)[0]) == pytest.approx(0.9428, abs=1e-4)
    slack = get("SS09-remark-adaboost-error").check(trials=1).counterexample.slack
    assert (slack.left, slack.right) == pytest.approx((0.625, 0.6187), abs=1e-4)


def test_rounds_on_the_slowest_games():
    """Counted by a loop of its own, which finds what the package's Fig. 1 does."""
    claim = get("SS09-T9-rounds-worst")
    slack = claim.stated.measure(claim.instance({"m": 100, "epsilon": "1/10"}))[0]
    assert slack.left / slack.right == pytest.approx(0.1691, abs=1e-4)
    for m, epsilon in ((2, 0.1), (3, 0.1), (5, 0.2), (40, 0.2)):
        assert algorithm.slowest(m, epsilon) == len(fig1(Game(2.0 * np.eye(m) - 1.0), epsilon))


def test_objectives_are_those_of_the_package():
    rng = np.random.default_rng(0)
    for _ in range(50):
        m = int(rng.integers(2, 9))
        k, beta, u = int(rng.integers(1, m + 1)), float(rng.uniform(0.01, 1)), rng.uniform(-1, 1, m)
        d = smooth.distribution(u, k, beta)[0]
        assert d == pytest.approx(Capped(k).distribution(u, beta), abs=1e-12)
        assert smooth.margin(u, k) == pytest.approx(Capped(k).relaxed_margin(u)[0])
        penalty = KLPenalty(beta).penalty(d)
        assert beta * smooth.entropy(d) == pytest.approx(penalty, abs=1e-12)
    soft = -beta * np.log(np.mean(np.exp(-u / beta)))
    assert smooth.smooth(u, 1, beta) == pytest.approx(soft)


@pytest.mark.parametrize("name", REGULARISERS)
def test_other_f_are_those_of_the_package(name):
    """By hand and by the package's projections; cvxpy solves "first weight" to fewer digits."""
    own, rng = REGULARISERS[name], np.random.default_rng(1)
    digits = 1e-4 if name == "first weight" else 1e-11
    for _ in range(8):
        m = int(rng.integers(2, 9))
        k, beta = int(rng.integers(1, m + 1)), float(rng.uniform(0.02, 0.7))
        relaxation = own.relaxation(m, k).resolve(m)
        for u in (rng.uniform(-1, 1, m), np.round(rng.uniform(-1, 1, m))):
            d = own.distribution(u, k, beta)
            assert d == pytest.approx(relaxation.distribution(u, beta), abs=digits)
            margin = relaxation.relaxed_margin(u)[0]
            assert own.margin(u, k) == pytest.approx(margin, abs=min(digits, 1e-7))
            assert smooth.smooth(u, k, beta, name) >= own.margin(u, k) - 1e-12


@pytest.mark.parametrize("name", [name for name in REGULARISERS if name != "first weight"])
def test_runs_by_hand_are_those_of_the_package(name):
    A = [["7/10", "-9/10"], ["-3/5", "1/2"], ["1/5", "4/5"]]
    x = get("SS09-L11").instance({"A": A, "k": 2, "f": name, "epsilon": "1/10"})
    for one, other in zip(smooth.fig1_by_hand(x), fig1(smooth.game(x), 0.1), strict=True):
        assert one.w == pytest.approx(other.w, abs=1e-11)
        assert one.gap == pytest.approx(other.gap, abs=1e-11)
        assert (one.column, one.sign) == (other.column, other.sign)


def test_runs_stop_where_told():
    game = Game([[1.0, -0.5], [-0.5, 1.0]])
    assert len(fig1(game, 0.05, max_rounds=3)) == 3
    assert fig1(game, 0.5, to_gap=0.01)[-1].gap <= 0.01


def test_every_small_matrix_is_in_a_class_that_is_tried():
    """Columns may be exchanged and change their signs, and rows may be exchanged."""
    tried = [np.array(A) for A in small.matrices()]
    assert len(tried) == 221
    for m, n in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1)):
        reached = set()
        for A in (A for A in tried if A.shape == (m, n)):
            for rows, columns, signs in product(
                permutations(range(m)), permutations(range(n)), product((-1, 1), repeat=n)
            ):
                reached.add((A[list(rows)][:, list(columns)] * np.array(signs)).tobytes())
        assert len(reached) == 3 ** (m * n)


def test_adaboost_stops_at_a_perfect_column():
    assert adaboost_by_hand(np.ones((3, 1)), 5) == []
    A = 2.0 * np.eye(3)[::-1] * -1.0 + 1.0
    errors = [rates.error(A, w) for w in adaboost_by_hand(A, 3)]
    assert errors == [pytest.approx(1 / 3), pytest.approx(1 / 3), 0.0]
