"""The best weights in hindsight, against cvxpy, exact arithmetic and every feasible w."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.functional import PointwiseLoss
from relaxboost.functional.optimum import corners
from relaxboost.online import Inner, OfPrediction, OnlineLoss, hindsight
from relaxboost.online.comparators.cumulative import Cumulative
from relaxboost.online.comparators.newton import smooth
from relaxboost.online.comparators.replay import Replay
from tests.functional.cases import POINTWISE

DOMAINS = [rb.Simplex(2), rb.FullSimplex(2), rb.L1Ball(1.5), rb.L2Ball(0.75)]
LOSSES = {one.name: one for one in POINTWISE}
KINKED = [name for name, one in LOSSES.items() if corners(one.bind([0.0, 1.0])) is not None]
SMOOTH = [name for name in LOSSES if name not in KINKED]
NAMES = [*KINKED, *SMOOTH, "inner"]


def examples(name, m=60, M=6, seed=0):
    """Return (H, y, weight) with equal columns, an empty row and weights of zero."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(m, M))
    H[:, 1], H[2] = H[:, 0], 0.0
    y = H @ rng.normal(size=M) + 0.5 * rng.normal(size=m)
    if name == "inner" or LOSSES[name].task == "binary":
        y = np.where(y > 0.0, 1.0, -1.0)
    weight = rng.random(m) * 2.0
    weight[5] = 0.0
    return H, None if name == "inner" else y, weight


def cumulative(name, H, y, weight, w):
    """Return Σ s l(w), one example after the other: the slow twin."""
    loss = rb.online.losses.as_online_loss(name)
    targets = np.zeros(len(H)) if y is None else y
    return sum(s * loss.evaluate(w, h, t)[0] for h, t, s in zip(H, targets, weight, strict=True))


def modelled(name, over, H, y, weight):
    """Return the least cumulative loss by cvxpy and Clarabel."""
    w = cp.Variable(H.shape[1])
    loss = rb.online.losses.as_online_loss(name)
    each = H @ w if name == "inner" else loss.loss.atoms(H @ w, y)
    problem = cp.Problem(cp.Minimize(weight @ each), over.cvxpy_cost(w)[1])
    return problem.solve(solver="CLARABEL")


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("over", DOMAINS, ids=repr)
def test_the_bracket_is_narrow_and_holds_what_cvxpy_finds(name, over):
    H, y, weight = examples(name)
    found = hindsight(name, over, (H, y, weight), 1e-8)
    assert found.status == "optimal"
    assert found.lower <= found.upper
    assert found.gap <= 1e-8 * abs(found.lower)
    value = modelled(name, over, H, y, weight)
    assert found.lower - 1e-6 * abs(value) <= value <= found.upper + 1e-6 * abs(value)
    assert cumulative(name, H, y, weight, found.w) == pytest.approx(found.upper, rel=1e-9)
    assert np.array_equal(found.w, over.repair(found.w))


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize(
    ("shape", "over"), [((60, 6), rb.L2Ball(2)), ((7, 15), rb.L1Ball(2))], ids=str
)
def test_newtons_method_takes_few_rounds(name, shape, over):
    H, y, weight = examples(name, *shape, seed=9)
    found = hindsight(name, over, (H, y, weight), 1e-8)
    assert found.status == "optimal"
    assert found.rounds <= 12


@pytest.mark.parametrize("name", ["absolute", "squared"])
@pytest.mark.parametrize("over", DOMAINS, ids=repr)
def test_more_base_functions_than_examples(name, over):
    """Equations of the order of the examples find what those of the base functions do."""
    H, y, weight = examples(name, m=7, M=15, seed=8)
    y *= 9.0  # out of reach, so that the loss is not 0
    found = hindsight(name, over, (H, y, weight), 1e-8)
    padded = np.vstack([H, np.zeros((20, 15))]), np.append(y, np.zeros(20))
    other = hindsight(name, over, (*padded, np.append(weight, np.full(20, 1e-9))), 1e-8)
    assert found.status == other.status == "optimal"
    assert max(found.lower, other.lower) <= min(found.upper, other.upper)
    value = modelled(name, over, H, y, weight)
    assert found.lower - 1e-6 * value <= value <= found.upper + 1e-6 * value


@pytest.mark.parametrize("name", ["hinge", "logistic", "inner"])
@pytest.mark.parametrize("over", DOMAINS, ids=repr)
def test_no_feasible_w_is_below_the_bracket(name, over):
    H, y, weight = examples(name, m=30, M=4, seed=1)
    found = hindsight(name, over, (H, y, weight), 1e-9)
    rng = np.random.default_rng(2)
    tries = [over.repair(rng.normal(size=4) + found.w) for _ in range(10)]
    tries += [over.repair(found.w + 1e-4 * rng.normal(size=4)) for _ in range(20)]
    for w in tries:
        assert cumulative(name, H, y, weight, w) >= found.lower


@pytest.mark.parametrize("name", [*KINKED, "inner"])
@pytest.mark.parametrize("over", DOMAINS, ids=repr)
def test_piecewise_linear_losses_have_certificates(name, over):
    H, y, weight = examples(name, m=12, M=3, seed=3)
    H *= 5.0  # entries beyond 1 are scaled by a power of two
    found = hindsight(name, over, (H, y, weight), 1e-9)
    proof = found.certificate()
    verdict = proof.check()
    assert verdict.ok
    assert verdict.level == ("enclosed" if isinstance(over, rb.L2Ball) else "exact")
    assert proof.lower <= proof.upper
    assert max(abs(proof.lower - found.lower), abs(proof.upper - found.upper)) < 1e-7
    assert (proof.lower, proof.upper) == (
        -proof.scale * verdict.upper,
        -proof.scale * verdict.lower,
    )
    # A solver that knows the game alone finds the same.
    solved = rb.solve(proof.game, 1e-5, max_rounds=20)
    assert -proof.scale * Fraction(solved.upper) <= proof.upper
    assert -proof.scale * Fraction(solved.lower) >= proof.lower


def test_an_exact_upper_bound_is_the_loss_in_fractions():
    H = np.array([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.25]])
    y, weight = np.array([1.0, -1.0, 1.0]), np.array([1.0, 2.0, 0.5])
    found = hindsight("hinge", rb.L1Ball(1), (H, y, weight), 1e-9)
    proof = found.certificate()
    w = rb.L1Ball(1).exact_weights(found.w.tolist())
    total = Fraction(0)
    for h, t, s in zip(H.tolist(), y.tolist(), weight.tolist(), strict=True):
        margin = Fraction(t) * sum(Fraction(a) * b for a, b in zip(h, w, strict=True))
        total += Fraction(s) * max(Fraction(0), 1 - margin)
    assert abs(proof.upper - total) < Fraction(1, 10**15)
    # By hand: with w = (-x, x - 1) margins are 2 - 3x, 3 - 5x/2 and 5x/4 - 1/4, so that x = 1/3.
    assert proof.lower <= Fraction(5, 12) <= proof.upper


@pytest.mark.parametrize("name", ["hinge", "squared", "inner"])
@pytest.mark.parametrize("over", DOMAINS, ids=repr)
def test_whole_weights_are_copies(name, over):
    H, y, _ = examples(name, m=20, M=3, seed=4)
    copies = np.arange(20) % 4
    heavy = hindsight(name, over, (H, y, copies.astype(float)))
    each = None if y is None else np.repeat(y, copies)
    alike = hindsight(name, over, (np.repeat(H, copies, axis=0), each))
    assert heavy.lower <= alike.upper
    assert alike.lower <= heavy.upper


@pytest.mark.parametrize("name", ["absolute", "logistic"])
def test_negated_columns_and_scales_change_nothing_over_the_l1_ball(name):
    H, y, weight = examples(name, seed=5)
    plain = hindsight(name, rb.L1Ball(2), (H, y, weight))
    signs = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    for other, radius in ((H * signs, 2), (H * 1024.0, Fraction(1, 512)), (H / 1e5, 200_000)):
        found = hindsight(name, rb.L1Ball(radius), (other, y, weight))
        assert max(found.lower, plain.lower) <= min(found.upper, plain.upper) * (1 + 1e-12)


def test_separable_data_have_a_loss_of_zero():
    H = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = hindsight("hinge", rb.L1Ball(5), (H, [1.0, -1.0]))
    assert found.status == "optimal"
    assert -1e-11 <= found.lower <= 0.0 <= found.upper <= 1e-11


@dataclass(frozen=True)
class Deadzone(PointwiseLoss):
    """max(0, |f − y| − 1/2): corners that only this class knows of."""

    task = "regression"

    def pointwise(self, F, y):
        r = F - y
        over = np.maximum(np.abs(r) - 0.5, 0.0)
        return over, np.where(over > 0.0, np.sign(r), 0.0)

    def atoms(self, F, y):
        return cp.pos(cp.abs(F - y) - 0.5)

    def conjugates(self, Z, y):
        raise AssertionError("a loss whose corners only it knows is asked for values and slopes")


class Steepest(OnlineLoss):
    """max_j |w_j − h_j|: no function of <w, h>."""

    def evaluate(self, w, h, y):
        j = int(np.argmax(np.abs(w - h)))
        return float(abs(w[j] - h[j])), np.sign(w[j] - h[j]) * np.eye(w.size)[j]

    def lipschitz(self, reach, size, targets):
        return 1.0


@pytest.mark.parametrize("over", DOMAINS, ids=repr)
def test_losses_of_ones_own_with_corners(over):
    H, y, weight = examples("absolute", m=25, M=3, seed=6)
    found = hindsight(Deadzone(), over, (H, y, weight), 1e-6)
    w = cp.Variable(3)
    goal = weight @ Deadzone().atoms(H @ w, y)
    value = cp.Problem(cp.Minimize(goal), over.cvxpy_cost(w)[1]).solve(solver="CLARABEL")
    assert found.status == "optimal"
    assert found.lower - 1e-5 <= value <= found.upper + 1e-5
    found = hindsight(Steepest(), over, (H, None, weight), 1e-6)
    far = [cp.norm_inf(w - h) for h in H]
    goal = weight @ cp.hstack(far)
    value = cp.Problem(cp.Minimize(goal), over.cvxpy_cost(w)[1]).solve(solver="CLARABEL")
    assert found.status == "optimal"
    assert found.lower - 1e-5 <= value <= found.upper + 1e-5


@pytest.mark.parametrize("name", ["hinge", "logistic", "inner"])
def test_a_stream_of_blocks_is_as_good_as_arrays(name):
    H, y, weight = examples(name)
    opened = []

    def again():
        opened.append(1)
        for start in range(0, 60, 7):
            part = slice(start, start + 7)
            yield H[part], None if y is None else y[part], weight[part]

    plain = hindsight(name, rb.Simplex(2), (H, y, weight))
    streamed = hindsight(name, rb.Simplex(2), again)
    listed = hindsight(name, rb.Simplex(2), list(again()))
    assert len(opened) > 2
    for other in (streamed, listed):
        assert max(other.lower, plain.lower) <= min(other.upper, plain.upper)
    part = hindsight(name, rb.Simplex(2), again, first=33)
    alone = hindsight(name, rb.Simplex(2), (H[:33], None if y is None else y[:33], weight[:33]))
    assert max(part.lower, alone.lower) <= min(part.upper, alone.upper)
    assert part.examples == 33


def test_a_start_nearby_saves_passes_and_time_limits_keep_the_bracket():
    H, y, weight = examples("logistic", m=400)
    cold = hindsight("logistic", rb.L1Ball(2), (H, y, weight))
    warm = hindsight("logistic", rb.L1Ball(2), (H, y, weight), start=cold)
    assert warm.rounds < cold.rounds
    cut = hindsight("logistic", rb.L1Ball(2), (H, y, weight), time_limit=1e-9)
    assert cut.status == "time_limit"
    assert cut.lower < cold.lower
    assert cold.upper < cut.upper


@pytest.mark.parametrize("name", ["hinge", "logistic"])
def test_ctrl_c_returns_the_best_bracket_so_far(name):
    H, y, weight = examples(name)
    opened = []

    def again():
        opened.append(1)
        if len(opened) == 12:
            raise KeyboardInterrupt
        yield H, y, weight

    best = hindsight(name, rb.L1Ball(2), (H, y, weight), 1e-10)
    found = hindsight(name, rb.L1Ball(2), again, 1e-10)
    assert found.status == "interrupted"
    assert found.lower <= best.upper
    assert best.lower <= found.upper
    assert found.gap > best.gap


def test_every_round_of_the_newtons_method_is_bracketed():
    """Estimates are not believed; the certified bounds of every round hold."""
    H, y, weight = examples("logistic", seed=7)
    loss = OfPrediction(rb.functional.Logistic())
    problem = Cumulative(loss, rb.FullSimplex(2), Replay((H, y, weight), loss))
    best = hindsight(loss, rb.FullSimplex(2), (H, y, weight), 1e-10)
    from relaxboost._core.loop import Clock

    states = list(smooth(problem, None, Clock()))
    assert len(states) > 3
    for state in states:
        assert problem.lower(state.at) <= best.upper
        assert problem.upper(problem.feasible(state.w)) >= best.lower


H = np.ones((3, 2))
BAD = [
    (lambda: iter([(H, [1, 1, 1])]), "can be read only once; pass arrays"),
    (lambda: (np.empty((0, 2)), []), "the stream is empty"),
    (lambda: (H, [1, 1, 0]), "must be -1 or \\+1; row 2 has 0"),
    (lambda: (np.array([[1.0, 0.0], [np.nan, 1.0]]), [1, 1]), "row 1 has nan for base function 0"),
    (lambda: (H, [1, 1, 1], [1, -2, 1]), "weights must be finite and >= 0; row 1 has -2"),
    (lambda: (H, [1, 1, 1], [0, 0, 0]), "all weights are zero"),
    (lambda: [(H, [1, 1, 1]), (np.ones((1, 3)), [1])], "row 3 of the stream has 3 base functions"),
    (lambda: 5, "a stream must be arrays"),
    (lambda: "d.csv", r"d.csv is a file; open the file with stream\(path, y\)"),
    (lambda: H, r"Hinge\(\) needs targets, but there are none"),
]


@pytest.mark.parametrize(("stream", "message"), BAD)
def test_streams_that_do_not_fit(stream, message):
    with pytest.raises(rb.InputError, match=message):
        hindsight("hinge", rb.Simplex(1), stream())


def test_other_arguments_that_do_not_fit():
    good = H, [1, -1, 1]
    with pytest.raises(rb.InputError, match="over must be a bounded domain"):
        hindsight("hinge", rb.SquaredNorm(1), good)
    with pytest.raises(rb.InputError, match="tol must be below 1"):
        hindsight("hinge", rb.Simplex(1), good, 2.0)
    with pytest.raises(rb.InputError, match=r"start must have shape \(2,\) and finite entries"):
        hindsight("hinge", rb.Simplex(1), good, start=np.ones(3))
    with pytest.raises(rb.InputError, match="has 3 examples, but 4 were requested"):
        hindsight("hinge", rb.Simplex(1), good, first=4)
    with pytest.raises(rb.InputError, match="is not piecewise linear"):
        hindsight("squared", rb.Simplex(1), good).certificate()
    with np.errstate(over="ignore"), pytest.raises(rb.InputError, match="the loss must be finite"):
        hindsight("squared", rb.Simplex(1), (H, [1e200, 1, 1]))


def test_a_stream_that_changes_is_found_out():
    sizes = iter([3, 3, 2])
    with pytest.raises(rb.InputError, match="had 3 examples when it was first read, but has 2 now"):
        hindsight("logistic", rb.Simplex(1), lambda: [(H[:k], np.ones(k)) for k in [next(sizes)]])


def test_inner_takes_one_look():
    costs = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.5]])
    found = hindsight(Inner(), rb.Simplex(1), (costs, None))
    assert found.w.tolist() == [0.0, 1.0]
    assert found.lower == pytest.approx(0.5, abs=1e-12)
    assert str(found).startswith("optimal: 0.")


@pytest.mark.parametrize("p", [0.060502843267540594, 0.5])
def test_rounding_may_put_a_lone_weight_on_the_sphere(p):
    """The inner method ends there, and the bracket stands."""
    best = hindsight("hinge", rb.L2Ball(1), ([[1.0], [1.0]], [1, 1], [p, 1.0 - p]), tol=1e-9)
    assert -1e-7 <= best.lower <= 0.0 <= best.upper <= 1e-7


def test_a_simplex_of_one_column_that_fits_exactly():
    # The master program answered w = −1e-9, which no simplex holds.
    for tol in (1e-3, 1e-6, 1e-9):
        data = np.array([[0.000702963690619577]]), np.array([0.00702964]), [0.5]
        found = hindsight("huber", rb.Simplex(10), data, tol=tol)
        assert found.lower <= 0.5 * (10 * data[0][0, 0] - data[1][0]) ** 2 / 2 <= found.upper
        assert found.w == pytest.approx([10.0])


def test_barriers_beyond_doubles_end_the_interior_point_method():
    H = np.array([[1.5044988764238367, 0.9257582042187157], [0.4866326652700842, -1.0734564228]])
    for tol in (1e-3, 1e-6, 1e-9):
        found = hindsight("hinge", rb.Simplex(1e8), (H, [1.0, -1.0], [1e8, 0.0]), tol=tol)
        assert found.lower <= 0.0 <= found.upper


@pytest.mark.parametrize("M", [2, 3])
def test_columns_that_are_alike_and_fit_exactly(M):
    """Every w has loss 0, and the directions of Newton's equations vanish in doubles."""
    found = hindsight("hinge", rb.Simplex(1.1), (np.ones((1, M)), [1.0], [1.0]), 1e-9)
    assert found.lower <= 0.0 <= found.upper <= 1e-9


def test_a_run_whose_complementarity_underflows_ends():
    # The weight −1e-8 on the sphere has loss 0, and every step reduces the complementarity.
    found = hindsight(rb.functional.Quantile(0.99), rb.L2Ball(1e-8), ([[100.0]], [-1e-6]), 1e-9)
    assert found.lower <= 0.0 <= found.upper <= 1e-15
    assert found.w == pytest.approx([-1e-8])


@pytest.mark.parametrize("radius", [18, 20, 25, 100])
def test_a_minimum_inside_a_large_domain_is_found(radius):
    """A small gap of Newton's model does not imply a decrease if the minimum is inside."""
    H = np.array([[1, 1, 0, 0, 1, 0, 1], [1, 0, 0, 0, -1, 1, 1], [0, 1, -1, 1, 1, -1, 0]])
    H = np.vstack([H, [[-1, 0, -1, -1, 1, 0, 0], [0, 0, -1, -1, -1, 0, 0], [1, -1, 0, 0, 1, 1, 1]]])
    found = hindsight("exponential", rb.FullSimplex(radius), (H, [1, -1, -1, 1, 1, 1]), tol=1e-6)
    assert found.status == "optimal"
    assert found.lower <= 3.0 * np.sqrt(3.0) <= found.upper
    # The loss of the first weights is about exp(radius / 8), and is no excuse for a wide bracket.
    assert found.gap <= 1e-6 * found.upper


def test_a_bad_start_does_not_make_the_bracket_wide():
    H = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    found = hindsight("exponential", rb.L1Ball(40), (H, [1, -1, 1]), start=[0.0, 40.0])
    assert found.status == "optimal"
    assert found.gap <= 1e-6 * found.upper


@pytest.mark.parametrize("over", DOMAINS, ids=repr)
def test_targets_of_zero_can_fit_exactly(over):
    found = hindsight("squared", over, ([[1.0, -2.0], [0.5, -1.0]], [0.0, 0.0]))
    assert found.status == "optimal"
    assert -1e-9 <= found.lower <= 0.0 <= found.upper <= 1e-9


class Logarithm(Deadzone):
    """−log f: infinite at the prediction 0, which is not in the simplex."""

    def pointwise(self, F, y):
        return -np.log(F), -1.0 / F


def test_a_loss_may_be_infinite_outside_of_its_domain():
    found = hindsight(Logarithm(), rb.Simplex(1), ([[2.4, 1.8], [1.6, 2.2]], [0.0, 0.0]))
    assert found.status == "optimal"
    # By hand: (1.8 + 0.6 w) (2.2 - 0.6 w) is largest at w = 1/3, where both factors are 2.
    assert found.lower <= -2.0 * np.log(2.0) <= found.upper
    assert found.gap <= 1e-6 * -found.upper


def test_newtons_matrix_beyond_doubles_ends_the_method():
    data = np.array([[0.0, -1e5]]), np.array([0.0015])
    found = hindsight("squared", rb.L2Ball(100), data)
    assert found.lower <= 0.0 <= found.upper <= 1e-9
