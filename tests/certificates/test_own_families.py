"""Families that a user writes: their certificates, and mistakes in their exact forms."""

from dataclasses import dataclass
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.relaxations import Bounds, Description, ExactForm, Traits, Witness


@dataclass(frozen=True)
class LineBall(rb.Relaxation, Description):
    """The Wasserstein-1 ball around the uniform distribution on a line with unit distances."""

    radius: Fraction

    @property
    def traits(self):
        return Traits(polyhedral=True)

    def cvxpy_penalty(self, d):
        m = d.shape[0]
        return 0.0, [cp.norm1(cp.cumsum(d)[:-1] - np.arange(1, m) / m) <= float(self.radius)]

    def exact_form(self, m):
        one = Fraction(1)
        rows = []
        for i in range(m - 1):  # z has what flows from i to i + 1, and what flows back
            row = {i: one, m + i: -one, 2 * m - 1 + i: one}
            rows.append(row | ({m + i - 1: one, 2 * m - 2 + i: -one} if i else {}))
        rows.append(dict.fromkeys(range(m, 3 * m - 2), one))
        shares = [Fraction(1, m)] * (m - 1)
        return ExactForm.free(m, 2 * (m - 1))._replace(
            rows=rows, row_lower=[*shares, None], row_upper=[*shares, self.radius]
        )


class TwiceTheBall(LineBall):
    """A ball whose exact form is that of twice the radius."""

    def exact_form(self, m):
        return LineBall(2 * self.radius).exact_form(m)


class InFloats(LineBall):
    def exact_form(self, m):
        form = super().exact_form(m)
        return form._replace(row_upper=[x and float(x) for x in form.row_upper])


class DenseRows(LineBall):
    def exact_form(self, m):
        form = super().exact_form(m)
        size = len(form.cost)
        return form._replace(rows=[[row.get(j, 0) for j in range(size)] for row in form.rows])


class ShortBounds(LineBall):
    def exact_form(self, m):
        form = super().exact_form(m)
        return form._replace(row_lower=form.row_lower[1:])


@dataclass(frozen=True)
class ProvedSquares(rb.Relaxation, Bounds):
    """f(d) = ‖d‖²/2, with proved bounds and no description."""

    def cvxpy_penalty(self, d):
        return cp.sum_squares(d) / 2, []

    def witness(self, u):
        return Witness(self.relaxed_margin(u)[0])

    def lower_bound(self, u, witness):
        x = np.maximum(witness.gamma - u, 0.0)
        return float(witness.gamma - x @ x / 2 - 1e-12)

    def penalty_bound(self, d, total):
        share = d / total[0]
        return float(share @ share / 2 + 1e-12), 0.0


def signs(m=12, n=6):
    return np.random.default_rng(7).choice([-1, 1], p=[0.4, 0.6], size=(m, n))


def test_an_exact_form_alone_gives_exact_certificates():
    game = rb.Game(signs(), LineBall(Fraction(1, 2)))
    found = rb.certify(rb.certificates.exact_optimum(game))
    assert found.level == "exact"
    assert found.lower == found.upper == rb.exact_value(game)


def test_an_exact_form_that_contradicts_the_other_methods_is_reported():
    with pytest.warns(UserWarning, match="exact_form describes another function"):
        rb.exact_value(rb.Game(signs(60, 30), TwiceTheBall(Fraction(1, 2))))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (InFloats, r"must be fractions, got 0\.\d+; write Fraction\(0\."),
        (DenseRows, "each row of an ExactForm must be a dict"),
        (ShortBounds, "`row_lower` and `row_upper` of the same length"),
    ],
)
def test_a_malformed_exact_form_is_an_input_error(kind, message):
    f = kind(Fraction(1, 2))
    with pytest.raises(rb.InputError, match=message):
        rb.solve(rb.Game(signs(), f), tol=1e-3)
    with pytest.raises(rb.testing.ConformanceError, match=message):
        rb.testing.check_relaxation(f, sizes=(3,), only="polyhedral")


def test_proved_bounds_without_a_description_have_numerical_certificates():
    game = rb.Game(signs(), ProvedSquares())
    assert game.level == "enclosed"
    found = rb.certify(rb.solve(game, tol=1e-3))
    assert found.level == "numerical"
    assert "no description that a checker could evaluate" in found.reason
    # The certificate is numerical already.
    assert "level=" not in found.reason
    assert "level=" not in found.check().reason
    with pytest.raises(rb.InputError, match=r"Write `exact_form` .* use .*level=.numerical"):
        rb.certify(rb.solve(game, tol=1e-3), "enclosed")


def test_numerical_certificates_say_why():
    f = rb.Custom(f=cp.sum_squares, name="squares")
    found = rb.certify(rb.solve(rb.Game(signs(), f), tol=1e-3))
    assert found.level == "numerical"
    assert found.reason.startswith("Custom(squares) is not piecewise linear and has no formulas")


def test_bounds_are_not_blamed_for_the_accuracy_of_a_solver():
    class Bounded(LineBall, Bounds):
        """Bounds of an exact linear program, while cvxpy evaluates f and F."""

        def witness(self, u):
            return Witness(float(self.relaxed_margin(u)[0]))

        def lower_bound(self, u, witness):
            size = np.abs(u).max()  # f is an indicator, so F(c u) = c F(u)
            game = rb.Game(u[:, None] / size, LineBall(self.radius), over=rb.Simplex(1))
            return size * (float(rb.exact_value(game)) - 1e-15)

        def penalty_bound(self, d, total):
            return 0.0, 2.0

    Bounded.__qualname__ = "Bounded"
    report = rb.testing.check_relaxation(
        Bounded(Fraction(1, 7)), sizes=(2,), only=["own_witness", "relaxed_margin"]
    )
    assert all(row.status == "passed" for row in report.rows)


def test_a_distribution_at_which_clarabel_needs_shorter_steps():
    # The constraint does not bind, but Clarabel fails at one of these margins with long steps.
    report = rb.testing.check_relaxation(LineBall(Fraction(3)), sizes=(3,), only="stability")
    assert [row.status for row in report.rows] == ["passed"]
