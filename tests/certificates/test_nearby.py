"""Certificates of a modeller's polyhedral f: rounded and repaired, without exact programs."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.certificates.exact import evaluate
from relaxboost.certificates.exact.equations import Contradiction, Equations
from relaxboost.certificates.exact.feasible import NoPoint, feasible_point
from relaxboost.relaxations import ExactForm
from tests.certificates.judge import proves


def wasserstein(d):
    m = d.shape[0]
    return 0.0, [cp.sum(cp.abs(cp.cumsum(d - 1.0 / m))) <= 0.05 * m]


def flow(d):
    m = d.shape[0]
    F = cp.Variable(m - 1)
    moved = cp.diff(cp.hstack([0, F, 0])) == d - 1.0 / m
    return 0.0, [moved, cp.norm1(F) <= 0.05 * m]


def flow_without_the_last_equation(d):
    m = d.shape[0]
    F = cp.Variable(m - 1)
    moved = cp.diff(cp.hstack([0, F, 0]))[:-1] == (d - 1.0 / m)[:-1]
    return 0.0, [moved, cp.norm1(F) <= 0.05 * m]


def group_fair(d):
    m = d.shape[0]
    share = cp.Variable(4)
    rows = np.eye(4)[np.arange(m) % 4].T
    return 0.0, [rows @ d == share, d <= 20.0 / m * (rows.T @ share)]


def total_variation(d):
    return 0.3 * cp.max(d), [0.5 * cp.norm1(d - 1.0 / d.shape[0]) <= 0.3]


def moments(d):
    m = d.shape[0]
    features = np.random.default_rng(5).normal(size=(12, m))
    return cp.norm_inf(d), [features @ d == features @ np.full(m, 1.0 / m)]


def large_and_small(d):
    z = cp.Variable(2)
    tenth = d[: d.shape[0] // 2]
    return 1e4 * z[1], [1e4 * cp.sum(tenth) == z[0] + 7e3, z[1] >= 1e-4 * z[0], z[1] >= -0.1]


CUSTOMS = [
    wasserstein,
    flow_without_the_last_equation,
    group_fair,
    total_variation,
    moments,
    large_and_small,
]


def solved(f, m=40):
    A = np.clip(np.random.default_rng(1).uniform(-1.0, 1.0, (m, 25)) + 0.1, -1.0, 1.0)
    return rb.solve(rb.Game(A, rb.Custom(f)), 1e-7)


@pytest.mark.parametrize("f", CUSTOMS)
def test_no_exact_program_is_solved(f, monkeypatch):
    solution = solved(f)
    value = rb.exact_value(solution.game)

    def refuse(*_):
        raise AssertionError("an exact linear program was solved")

    monkeypatch.setattr(evaluate, "auxiliaries", refuse)
    monkeypatch.setattr(evaluate, "multipliers", refuse)
    certificate = rb.certify(solution, "exact")
    verdict = certificate.check()
    assert verdict, verdict.reason
    assert proves(certificate.document)
    assert certificate.lower <= value <= certificate.upper
    assert certificate.gap <= solution.gap + 1e-9 * (1.0 + abs(solution.lower))


def test_the_work_grows_as_the_program_does(monkeypatch):
    """Elimination of a sparse program fills little: its work is proportional to the entries."""
    work = []
    factorise = Equations._factorise

    def counted(self):
        entries = sum(map(len, self._rows.values()))
        factorise(self)
        work.append(self.operations / max(entries, 1))

    monkeypatch.setattr(Equations, "_factorise", counted)
    for m in (40, 80):
        rb.certify(solved(wasserstein, m), "exact")
    assert len(work) == 4  # of d and of w, for each of the two games
    assert max(work) <= 4.0


def test_equations_that_contradict_each_other_are_named():
    solution = solved(flow)
    with pytest.raises(rb.InputError, match=r"contradict each other.*Leave out an equation"):
        rb.certify(solution, "exact")
    certificate = rb.certify(solution)
    assert certificate.level == "numerical"
    assert "contradict each other" in certificate.reason
    assert "contradict each other" in certificate.check().reason


def test_inequalities_without_room_are_named():
    """0.1 + 0.2 > 0.3 in doubles, so that no exact point meets both caps."""

    def f(d):
        return 0.0, [d[0] <= 0.1, d[1] <= 0.2, cp.sum(d[2:]) <= 0.7 - 2.0**-53]

    with pytest.raises(rb.InputError, match=r"infinite at every exact point.*Relax the inequal"):
        rb.certify(solved(f), "exact")


def test_inequalities_that_hold_with_equality_are_solved_exactly():
    """Where inequalities leave no room there is no point inside, and exact programs decide."""

    def f(d):
        m = d.shape[0]
        z = cp.Variable(m)
        return cp.sum(z), [z >= m * d - 1.0, cp.sum(d[:4]) <= 0.25, cp.sum(d[:4]) >= 0.25, z >= 0.0]

    solution = solved(f)
    certificate = rb.certify(solution, "exact")
    assert certificate.check()
    assert certificate.lower <= rb.exact_value(solution.game) <= certificate.upper


@pytest.mark.parametrize("seed", range(6))
def test_corrections_solve_the_equations(seed):
    """Of sparse and dense systems, with redundant rows or without."""
    rng = np.random.default_rng(seed)
    count, size = 20, 50
    table = rng.integers(-3, 4, (count, size)) * (rng.random((count, size)) < (0.1, 1.0)[seed % 2])
    table[5] = 2 * table[3] - table[4]
    equations = Equations(
        [{int(j): int(row[j]) for j in np.flatnonzero(row)} for row in table], [True] * size
    )
    missing = (table @ rng.integers(-9, 10, size)).tolist()
    correction = equations.correction(missing)
    for row, right in zip(table.tolist(), missing, strict=True):
        assert sum((row[j] * x for j, x in correction.items()), Fraction(0)) == right
    missing[5] += 1
    with pytest.raises(Contradiction):
        equations.correction(missing)


def test_rows_that_are_equal_up_to_rounding_are_solved():
    """Doubles see rank 2 in 20 rows, which differ by parts of 1e-30 and are independent."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(1, 9, (2, 30)).tolist()
    rows = [
        {
            j: 10**30 * (a + k * b) + int(j == k)
            for j, (a, b) in enumerate(zip(first, second, strict=True))
        }
        for k in range(20)
    ]
    missing = [1, *[0] * 19]
    correction = Equations(rows, [True] * 30).correction(missing)
    for row, right in zip(rows, missing, strict=True):
        assert sum((row[j] * x for j, x in correction.items()), Fraction(0)) == right


def test_a_point_that_cannot_be_repaired_is_refused():
    """Both rows bound the same variable by 1, and the guesses are all far below."""
    rows = [{0: Fraction(1)}, {0: Fraction(1)}]
    box = ExactForm([], [Fraction(0)], [None], rows, [Fraction(1), None], [None, Fraction(2)])
    with pytest.raises(NoPoint):
        feasible_point(box, np.ones(1), lambda part: np.array([part]))
    (found,) = feasible_point(box, np.ones(1), lambda part: np.array([1.0 + part]))
    assert 1 <= found <= 2
