"""Exact optima against closed forms, a slow exact twin, and both bounds by definition."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import hadamard

import relaxboost as rb
from relaxboost.certificates import NotClosed, exact_optimum, exact_value
from relaxboost.certificates.exact import start
from relaxboost.certificates.exact.optimum import _Search
from relaxboost.certificates.exact.program import ExactProgram
from relaxboost.certificates.exact.simplex import ExactSimplex, PivotLimits
from relaxboost.relaxations import ExactForm
from relaxboost.relaxations.bounds import level_of
from relaxboost.relaxations.description import Description
from tests.certificates.exactly import as_game, check_pair
from tests.conformance.families import FAMILIES
from tests.twins import exact_game_value


@pytest.mark.parametrize(
    ("A", "k", "value"),
    [
        (np.array([[1, -1], [-1, 1]]), None, 0),  # matching pennies
        (np.array([[1]]), None, 1),
        (np.array([[-1]]), None, 1),
        (np.array([[0]]), None, 0),
        (np.eye(7), None, Fraction(1, 7)),
        (np.eye(7), Fraction(7, 2), Fraction(1, 7)),
        (2 * np.eye(7) - 1, None, Fraction(5, 7)),
        (np.eye(3), 1, Fraction(1, 3)),
        (np.vstack([np.eye(4), -np.eye(4)]), None, 0),  # every row and its opposite
        (np.vstack([np.ones((2, 3)), -np.ones((1, 3))]), None, 0),
        # d = (c, c, 1 − 2c) at most c each: two thirds of the rows agree.
        (np.vstack([np.ones((2, 3)), -np.ones((1, 3))]), 3, Fraction(1, 3)),
        (np.vstack([np.ones((2, 3)), -np.ones((1, 3))]), Fraction(5, 2), Fraction(1, 5)),
        # One column: the value is the mean of the k smallest margins, or of the k largest.
        (np.array([[0.5], [1.0], [0.25], [0.75]]), 2, Fraction(3, 8)),
        (np.array([[0.5], [1.0], [0.25], [0.75]]), Fraction(3, 2), Fraction(1, 3)),
    ],
)
def test_known_games(A, k, value):
    found = exact_optimum(as_game(A, k))
    assert found.value == value
    assert exact_value(as_game(A, k)) == value
    check_pair(as_game(A, k), found)


@pytest.mark.parametrize("n", [4, 8, 32])
def test_hadamard(n):
    H = hadamard(n)
    assert exact_value(rb.Game(H)) == 1  # the first column is all ones
    assert exact_value(rb.Game(H * H[:, [n - 1]])) == 1  # now the last one is
    # The other columns sum to zero: the uniform d leaves no edge.
    assert exact_value(rb.Game(H[:, 1:])) == 0
    # Without the first row they sum to −1, and so do the rows: the uniform d has edges −1/(n − 1)
    # only, and w = −1/(n − 1) everywhere has margins 1/(n − 1) only.
    for f in (rb.HardMargin(), rb.Capped(k=2), rb.Capped(k=n - 1)):
        found = exact_optimum(rb.Game(H[1:, 1:], f))
        assert found.value == Fraction(1, n - 1)
        check_pair(rb.Game(H[1:, 1:], f), found)


def test_identity_with_caps():
    """The uniform d is optimal, whatever the cap and whoever plays w."""
    for n in (2, 5, 11):
        for k in (1, Fraction(3, 2), n):
            for over in (rb.L1Ball(), rb.Simplex(), rb.FullSimplex()):
                assert exact_value(rb.Game(np.eye(n), rb.Capped(k=k), over)) == Fraction(1, n)
    assert exact_value(rb.Game(np.eye(4), over=rb.L1Ball(Fraction(3, 7)))) == Fraction(3, 28)
    assert exact_value(rb.Game(-np.eye(4), over=rb.Simplex())) == Fraction(-1, 4)
    assert exact_value(rb.Game(-np.eye(4), over=rb.Simplex(Fraction(3, 7)))) == Fraction(-3, 28)
    assert exact_value(rb.Game(-np.eye(4), over=rb.FullSimplex(Fraction(3, 7)))) == 0
    # HiGHS takes costs from 1e20 for infinite, and returns no basis.
    for radius in (1e19, 1e20, 1e90):
        assert exact_value(rb.Game(np.eye(3), over=rb.Simplex(radius))) == Fraction(radius) / 3


def test_simplex_can_be_negative():
    game = rb.Game(np.array([[-1.0, -0.5], [-0.25, -1.0]]), over=rb.Simplex())
    found = exact_optimum(game)
    # d = (p, 1 − p) with equal edges: −p − (1 − p)/4 = −p/2 − (1 − p) at p = 3/5.
    assert found.d == [Fraction(3, 5), Fraction(2, 5)]
    assert found.value == Fraction(-7, 10)
    check_pair(game, found)


TINY = [5e-324, -5e-324, 1e-300, -1e-300, 1e-12, -1e-12]


def _signs(rng, m, n):
    return rng.choice([-1.0, 1.0], (m, n))


def _ternary(rng, m, n):
    return rng.choice([-1, 0, 1], (m, n)).astype(np.int8)


def _floats(rng, m, n):
    return rng.uniform(-1, 1, (m, n))


def _tiny(rng, m, n):
    return rng.choice([*TINY, 0.5, -0.25, 1.0], (m, n))


def _all_tiny(rng, m, n):
    return rng.choice(TINY[:4], (m, n))


def _nearly_equal(rng, m, n):
    """Entries that a solver's tolerances, 1e-9, cannot tell apart."""
    return rng.choice([-0.5, 0.5], (m, n)) + rng.choice([1e-12, 1e-16]) * rng.integers(
        -3, 4, (m, n)
    )


def _duplicated(rng, m, n):
    block = rng.choice([-1.0, 0.5, 1.0], (max(1, m // 2), max(1, n // 2)))
    A = np.vstack([block, block, block])
    return np.hstack([A, -A, A])[:m, :n]


@pytest.mark.parametrize(
    "make", [_signs, _ternary, _floats, _tiny, _all_tiny, _nearly_equal, _duplicated]
)
def test_random_games_against_the_slow_twin(rng, make):
    pivots = 0
    for trial in range(30):
        A = make(rng, int(rng.integers(1, 9)), int(rng.integers(1, 7)))
        m = A.shape[0]
        k = None if trial % 2 else Fraction(int(rng.integers(8, 8 * m + 1)), 8)
        game = as_game(A, k)
        found = exact_optimum(game)
        assert found.value == exact_game_value(A, k), (trial, A, k)
        check_pair(game, found)
        pivots += found.pivots
    if make in (_tiny, _all_tiny, _nearly_equal):
        assert pivots > 0, "HiGHS's bases are expected to be wrong here"


def test_more_columns_than_the_solver_gets(rng, monkeypatch):
    """Columns are priced in, by the solver and, beyond its tolerance, exactly."""
    monkeypatch.setattr(start, "MAX_ENTRIES_AT_ONCE", 0)
    monkeypatch.setattr(start, "BATCH_COLUMNS", 3)
    for make in (_signs, _floats, _nearly_equal):
        for trial in range(10):
            A = make(rng, 7, 25)
            k = None if trial % 2 else Fraction(5, 2)
            found = exact_optimum(as_game(A, k))
            assert found.value == exact_game_value(A, k)
            check_pair(as_game(A, k), found)


POLYHEDRAL = [
    *[
        (name, make)
        for name, make in FAMILIES
        if make(3).resolve(3).linear_form(3) is not None and "Custom" not in name
    ],
    ("scaled", lambda m: Fraction(2, 3) * rb.NormPenalty(math.inf, Fraction(1, 3))),
    ("scaled caps", lambda m: Fraction(2, 3) * rb.Capped(k=Fraction(m + 2, 3))),
    ("sum of three", lambda m: rb.Capped(k=Fraction(m + 2, 3)) + _penalties(m)),
    ("shifted", lambda m: _penalties(m).shifted([0.1 * i for i in range(m)])),
    ("shifted by a number", lambda m: rb.NormBall(1, 3).shifted(0.5 / m)),
    ("shifted caps", lambda m: _loose(m).shifted(0.25 / m)),
    ("dilated", lambda m: _penalties(m).scaled(Fraction(1, 3))),
    ("dilated caps", lambda m: rb.Capped(k=1).scaled(Fraction(m + 1, m + 2))),
    ("dilated group caps", lambda m: rb.relaxations.GroupCaps([0] * (m - 1) + [1], 1).scaled(0.5)),
    (
        "shifted sum of dilated",
        lambda m: (rb.NormPenalty(1, 0.3).scaled(2) + _loose(m)).shifted(0.125 / m),
    ),
]


def _loose(m):
    return rb.Caps([Fraction(3, m + 1)] * m)


def _penalties(m):
    weights = [Fraction(i % 5 + 1, 7) for i in range(m)]
    return rb.NormPenalty(1, Fraction(1, 3), weights) + rb.NormPenalty(math.inf, 0.5, weights)


@pytest.mark.parametrize(("name", "make"), POLYHEDRAL, ids=[name for name, _ in POLYHEDRAL])
@pytest.mark.parametrize(
    "over",
    [rb.L1Ball(Fraction(3, 7)), rb.Simplex(Fraction(7, 3)), rb.FullSimplex(Fraction(5, 3))],
    ids=str,
)
def test_every_polyhedral_relaxation(rng, name, make, over):
    for m, n in ((1, 2), (2, 3), (5, 4), (12, 6)):
        A = _signs(rng, m, n) if m == 5 else _floats(rng, m, n)
        game = rb.Game(A, make(m), over)
        found = exact_optimum(game)
        check_pair(game, found)
        certificate = rb.certify(found, "exact")  # by its own γ and x, which leave no gap
        assert certificate.lower == certificate.upper == found.value
        if m == 2:
            assert "theorem optimal" in certificate.export("lean")[".lean"]
        # The pair proves the value, and the reference shows that the form is that of f.
        if m == 5 and over == rb.Simplex(Fraction(7, 3)):
            ref = rb.reference(game)
            slack = 1e-7 if level_of(game.relaxation) == "numerical" else 0
            assert ref.lower - slack <= found.value <= ref.upper + slack


def test_any_basis_leads_to_the_optimum(rng):
    """Also one that is infeasible on both sides, or none at all."""
    for name, make in POLYHEDRAL:
        game = rb.Game(_floats(rng, 6, 4), make(6), rb.L1Ball() if len(name) % 2 else rb.Simplex())
        value = exact_value(game)
        for _ in range(3):
            program = ExactProgram(game)
            program.add((j, s) for j in range(4) for s in ((1, -1) if program.two_sided else (1,)))
            status = rng.integers(0, 4, program.size + program.height).tolist()
            limits = PivotLimits(10_000, 60.0)
            simplex = ExactSimplex(program, status, limits, lambda *_: None)
            point, _ = simplex.optimise()
            assert _Search(program, limits)._cost(point) == value, name


@pytest.mark.parametrize("sign", [1, -1])
def test_a_free_auxiliary_moves_in_both_directions(sign, rng):
    """f(d) = -d_0 as the least sign * z with -sign * z <= d_0, from bases where z is not basic."""
    zero, one = Fraction(0), Fraction(1)
    game = rb.Game(_floats(rng, 4, 3), over=rb.Simplex())
    tilted = ExactForm([-one, *[zero] * 3], [zero] * 4, [None] * 4, [], [], [])
    rows = [{4: Fraction(-sign), 0: -one}]
    free = ExactForm(
        [*[zero] * 4, Fraction(sign)], [*[zero] * 4, None], [None] * 5, rows, [None], [zero]
    )
    values = set()
    for form in (tilted, *[free] * 6):
        program = ExactProgram(game, form)
        program.add((j, 1) for j in range(3))
        status = rng.integers(0, 4, program.size + program.height)
        status[4] = 3 if form is free else status[4]
        limits = PivotLimits(10_000, 60.0)
        point, _ = ExactSimplex(program, status.tolist(), limits, lambda *_: None).optimise()
        values.add(_Search(program, limits)._cost(point))
    assert len(values) == 1


def test_forms_are_the_linear_forms_of_the_relaxations(rng):
    """f(d) from the exact form, minimised over z by a solver, is f(d)."""
    from scipy.optimize import linprog

    for name, make in POLYHEDRAL:
        f = make(5).resolve(5)
        form = f.exact_form(5)
        for _ in range(3):
            d = rng.dirichlet(np.ones(5))
            table = np.zeros((len(form.rows), len(form.cost)))
            for row, sparse in zip(table, form.rows, strict=True):
                for j, x in sparse.items():
                    row[j] = x
            bounds = [(row, b) for row, b in zip(table, form.row_upper, strict=True)]
            bounds += [
                (-row, None if b is None else -b)
                for row, b in zip(table, form.row_lower, strict=True)
            ]
            kept = [(row, float(b)) for row, b in bounds if b is not None]
            box = list(zip(form.lower, form.upper, strict=True))
            inside = all(
                (b is None or b <= x) and (t is None or x <= t)
                for x, (b, t) in zip(d, box[:5], strict=True)
            )
            answer = linprog(
                [float(c) for c in form.cost],
                A_ub=np.array([row for row, _ in kept]) if kept else None,
                b_ub=np.array([b for _, b in kept]) if kept else None,
                bounds=[(x, x) for x in d] + [tuple(map(_number, b)) for b in box[5:]],
            )
            value = f.penalty(d)
            if not inside or answer.status == 2:
                assert value == math.inf, name
            else:
                assert answer.fun + float(form.constant) == pytest.approx(value, abs=1e-9), name


def _number(bound):
    return None if bound is None else float(bound)


def test_parameters_are_exact():
    """1/3 is not its double: a cap of one third leaves one distribution."""
    A = np.array([[1.0], [1.0], [-1.0]])
    assert exact_value(rb.Game(A, rb.Caps([Fraction(1, 3)] * 3))) == Fraction(1, 3)
    assert rb.Caps([Fraction(1, 3)] * 3).exact_form(3).upper == [Fraction(1, 3)] * 3
    assert rb.NormPenalty(1, 0.1).exact_form(1).cost == [Fraction(0.1)]
    assert rb.NormPenalty(1, Fraction(1, 10)).exact_form(1).cost == [Fraction(1, 10)]
    assert rb.NormBall(1, 2).shifted(0.1).exact_form(2).row_upper == [2 - 2 * Fraction(0.1)]


def test_entries_that_differ_by_less_than_the_tolerance():
    """The value is the larger of two columns, 1e-12 and even 2^-53 apart."""
    for step in (1e-12, 2.0**-53):
        A = np.array([[0.5, 0.5 + step], [0.5, 0.5 + step]])
        found = exact_optimum(rb.Game(A))
        assert found.value == Fraction(0.5 + step)
        assert found.support == [1]


def test_breast_cancer(cancer_stumps):
    game = rb.Game(cancer_stumps)
    found = exact_optimum(game)
    assert float(found.value) == pytest.approx(0.14293828781, abs=5e-12)
    w = (np.array(found.support), np.array([float(c) for c in found.w]))
    lower, upper = game.bracket([float(x) for x in found.d], w)
    assert lower <= found.value <= upper
    assert upper - lower < 1e-12
    margins = [
        sum(int(a) * c for a, c in zip(row, found.w, strict=True))
        for row in cancer_stumps.columns(found.support)
    ]
    assert min(margins) == found.value  # with the upper bound above, by Theorem 3
    booster = rb.solve(game, tol=1e-9)
    assert booster.status == "optimal"
    assert booster.lower <= found.value <= booster.upper


def test_sparse_matrices(rng):
    from scipy.sparse import csr_array

    A = rng.uniform(-1, 1, (12, 9)) * (rng.random((12, 9)) < 0.4)
    assert exact_value(rb.Game(csr_array(A))) == exact_game_value(A)


def test_limits_leave_a_bracket(rng):
    A = _all_tiny(rng, 8, 6)
    game = as_game(A)
    whole = exact_optimum(game)
    assert whole.pivots > 1
    for pivots in range(1, whole.pivots):
        found = exact_optimum(game, max_pivots=pivots)
        assert found.value is None
        assert found.d == found.w == found.x == []
        with pytest.raises(rb.InputError, match=r"it reached a limit.*Increase time_limit"):
            rb.certify(found)
        assert found.lower <= whole.value <= found.upper
        with pytest.raises(NotClosed, match="Increase time_limit or max_pivots") as caught:
            exact_value(game, max_pivots=pivots)
        assert (caught.value.lower, caught.value.upper) == (found.lower, found.upper)
    found = exact_optimum(as_game(_floats(rng, 30, 20)), time_limit=1e-9)
    assert found.value is None
    assert found.lower <= exact_value(as_game(A)) + 1
    ref = rb.reference(as_game(A))
    assert ref.lower <= whole.value <= ref.upper


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(rb._core.MissingDependencyError, match="pip install 'python-flint>="):
        exact_value(rb.Game(np.eye(3)))


class _Own(rb.Relaxation, Description):
    """Examples cost their number: f(d) = Σ i d_i / 10."""

    def cvxpy_penalty(self, d):
        return np.arange(d.shape[0]) / 10 @ d, []

    def linear_form(self, m):
        return rb.relaxations.LinearForm(np.arange(m) / 10, np.zeros(m), np.full(m, np.inf))


class _Exact(_Own):
    def exact_form(self, m):
        zero = Fraction(0)
        cost = [Fraction(i, 10) for i in range(m)]
        return ExactForm(cost, [zero] * m, [None] * m, [], [], [])


class _Unbounded(_Own):
    """An auxiliary without a lower bound earns 1."""

    def exact_form(self, m):
        zero = [Fraction(0)] * m
        return ExactForm([*zero, Fraction(1)], [*zero, None], [None] * (m + 1), [], [], [])


def test_relaxations_of_your_own():
    with pytest.raises(
        rb.InputError, match=r"no finite minimum .*\. Bound its auxiliary variables"
    ):
        exact_value(rb.Game(np.eye(2), _Unbounded()))
    with pytest.raises(rb.InputError, match="Define a method exact_form"):
        exact_value(rb.Game(np.eye(2), _Own()))
    # d = (p, 1 − p): max(p, 1 − p) + (1 − p)/10 is least at p = 1/2.
    assert exact_value(rb.Game(np.eye(2), _Exact())) == Fraction(11, 20)
