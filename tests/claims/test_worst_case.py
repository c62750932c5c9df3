"""Worst cases over all instances: known ones, their proofs, and errors in them."""

from fractions import Fraction

import numpy as np
import pytest

from relaxboost._core.errors import InputError, SolverError
from relaxboost.claims import ConvexFunctional, Element, at_most, worst_case
from relaxboost.claims.worst_case import Expression, _Program, root


def descent(steps, smooth=1, strong=0, start="distance"):
    """Return the objective, requirements and functional of gradient descent with these steps."""
    R, f = ConvexFunctional(smooth=smooth, strong=strong), Element()
    best, least = R.minimum()
    value, g = R.at(f)
    first = (f - best) @ (f - best) if start == "distance" else value - least
    for step in steps:
        f = f - step * g
        value, g = R.at(f)
    return value - least, [first <= 1], R, f


class TestKnownOnes:
    @pytest.mark.parametrize("rounds", [1, 2, 4])
    def test_gradient_descent(self, rounds):
        """Drori & Teboulle (2014), Theorem 3.1: 1/(4N + 2) for the step 1/Λ."""
        objective, requirements, R, _ = descent([1] * rounds)
        found = worst_case(objective, requirements, [R])
        exact = Fraction(1, 4 * rounds + 2)
        assert 0 <= found.upper - exact <= 3e-6
        assert found.value == pytest.approx(float(exact), abs=1e-6)

    def test_gradient_descent_with_strong_convexity(self):
        objective, requirements, R, _ = descent([1, 1], strong=Fraction(1, 4), start="value")
        found = worst_case(objective, requirements, [R])
        assert 0 <= found.upper - Fraction(3, 4) ** 4 <= 3e-6

    def test_subgradient_steps_that_are_irrational(self):
        """The mean gap of T steps 1/√T is at most 1/√T from a distance of 1, for G = 1."""
        R, f = ConvexFunctional(), Element()
        best, least = R.minimum()
        requirements, total = [(f - best) @ (f - best) <= 1], 0
        for _ in range(2):
            value, g = R.at(f)
            requirements.append(g @ g <= 1)
            total, f = (value - least) + total, f - g * root(Fraction(1, 2))
        found = worst_case(total / 2, requirements, [R])
        assert 2**-0.5 <= found.upper <= 2**-0.5 + 3e-6


def test_the_worst_instance_attains_the_value():
    objective, requirements, R, _ = descent([1, 1])
    found = worst_case(objective, requirements, [R])
    start = R.known[1][0]
    assert np.linalg.norm(found.coordinates(start)) == pytest.approx(1.0, abs=1e-4)
    step = found.coordinates(R.known[2][0]) - found.coordinates(start)
    np.testing.assert_allclose(step, -found.coordinates(R.known[1][2]), atol=1e-4)
    assert at_most(found.bracket, 0.1).outcome(1e-5) == "tight"
    assert at_most(found.bracket, 0.099).outcome(1e-5) == "refuted"


class TestProofs:
    def program(self):
        objective, requirements, R, _ = descent([1, 1])
        given = [*requirements, *R.requirements()]
        program = _Program(objective.terms, given)
        return program, program.multipliers(0.1 + 1e-6)

    def test_it_is_an_identity_that_anyone_can_check(self):
        """Objective − Σ multiplier · requirement is the bound less a sum of squares."""
        objective, requirements, R, _ = descent([1, 1])
        found = worst_case(objective, requirements, [R])
        rest = objective
        for number, one in zip(found.multipliers, found.requirements, strict=True):
            assert number >= 0
            rest = rest - one.expression * number
        assert rest.terms[()] == found.upper
        assert not any(x for key, x in rest.terms.items() if len(key) == 1)
        names = sorted({i for key in rest.terms if len(key) == 2 for i in key})
        M = np.zeros((len(names), len(names)))
        for key, x in rest.terms.items():
            if len(key) == 2:
                i, j = map(names.index, key)
                M[i, j] = M[j, i] = float(x) / (1 if i == j else 2)
        assert np.linalg.eigvalsh(M).max() < 0.0

    def test_a_multiplier_that_is_negative_is_refused(self):
        program, numbers = self.program()
        program.proof(numbers)
        for i in np.flatnonzero(~program.free)[:3]:
            wrong = [*numbers]
            wrong[i] = Fraction(-1, 10**9)
            with pytest.raises((SolverError, AssertionError)):
                program.proof(wrong)

    def test_multipliers_that_prove_nothing_are_refused(self):
        program, numbers = self.program()
        with pytest.raises((SolverError, AssertionError)):
            program.proof([x / 2 for x in numbers])

    def test_a_bound_below_the_worst_case_has_no_proof(self):
        program, _ = self.program()
        with pytest.raises((SolverError, AssertionError)):
            program.proof(program.multipliers(0.1 - 1e-6))

    def test_brackets_widen_the_bound(self):
        """A coefficient in a bracket must be covered by the proof at both of its ends."""
        low, high = root(2).lower, root(2).upper
        assert low**2 < 2 < high**2
        assert high - low < Fraction(1, 1 << 100)
        R, f = ConvexFunctional(smooth=1), Element()
        best, least = R.minimum()
        value, _ = R.at(f)
        found = worst_case(value - least, [(f - best) @ (f - best) * root(2) <= 1], [R])
        assert found.upper >= 1 / (2 * high)


class TestErrors:
    def test_no_bound(self):
        R, f = ConvexFunctional(), Element()
        _, least = R.minimum()
        value, _ = R.at(f)
        with pytest.raises(InputError, match=r"bound all elements|must bound the objective"):
            worst_case(value - least, [f @ f <= 1], [R])

    def test_contradiction(self):
        f = Element()
        with pytest.raises(InputError, match="must not contradict each other"):
            worst_case(f @ f, [f @ f <= 1, f @ f >= 2])

    def test_constants_of_a_functional(self):
        with pytest.raises(InputError, match="strong < smooth"):
            ConvexFunctional(smooth=1, strong=1)

    def test_sums_of_elements_and_numbers(self):
        with pytest.raises(InputError, match="elements only"):
            Element() + 1
        assert isinstance(Element() @ Element() + 1, Expression)


@pytest.mark.parametrize("seed", range(3))
def test_no_quadratic_is_worse(seed):
    """A slow twin: gradient descent on random quadratics stays below the worst case."""
    objective, requirements, R, _ = descent([Fraction(3, 2), 1], strong=Fraction(1, 10))
    bound = float(worst_case(objective, requirements, [R]).upper)
    rng = np.random.default_rng(seed)
    for _ in range(200):
        eigenvalues, f = rng.uniform(0.1, 1.0, 3), rng.normal(size=3)
        f /= np.linalg.norm(f)
        for step in (1.5, 1.0):
            f = f - step * eigenvalues * f
        assert (eigenvalues * f * f).sum() / 2 <= bound
