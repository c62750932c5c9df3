"""Worst cases over all instances: known ones, their proofs, and errors in them."""

import itertools
import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from relaxboost import claims
from relaxboost._core.errors import InputError, SolverError
from relaxboost.claims import (
    ConvexFunctional,
    Element,
    Instance,
    WorstCases,
    at_most,
    semidefinite,
    worst_case,
)
from relaxboost.claims.dek11 import descent as dekel
from relaxboost.claims.dek11 import worst as worst_regret
from relaxboost.claims.gb11 import repeated, worst
from relaxboost.claims.measure import Vacuous
from relaxboost.claims.semidefinite import Program
from relaxboost.claims.worst_case import Expression, root
from relaxboost.functional.algorithms import Residual


def instance(**values):
    return Instance(values, {})


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


def about_worst_cases(statement):
    """Return the step of a statement that is about worst cases."""
    (step,) = (step for step in statement.steps if isinstance(step.every, WorstCases))
    return step


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
        rows = [one.expression.terms for one in given]
        program = Program(objective.terms, rows, [one.equality for one in given])
        *_, optimal = program.solve()
        return program, lambda share: program.multipliers(optimal, 1.1, share)

    def test_it_is_an_identity_that_anyone_can_check(self):
        """Objective − Σ multiplier · requirement is the bound less a sum of squares."""
        objective, requirements, R, _ = descent([1, 1])
        found = worst_case(objective, requirements, [R])
        assert self.largest_square(objective, found) < 0.0

    def largest_square(self, objective, found):
        """Check the identity, and return the largest eigenvalue of what is minus the squares."""
        rest = objective
        for number, one in zip(found.multipliers, found.requirements, strict=True):
            assert one.equality or number >= 0
            rest = rest - one.expression * number
        assert rest.terms.get((), 0) == found.upper
        assert not any(x for key, x in rest.terms.items() if len(key) == 1)
        names = sorted({i for key in rest.terms if len(key) == 2 for i in key})
        M = np.zeros((len(names), len(names)))
        for key, x in rest.terms.items():
            if len(key) == 2:
                i, j = map(names.index, key)
                M[i, j] = M[j, i] = float(x) / (1 if i == j else 2)
        return np.linalg.eigvalsh(M).max()

    def test_the_margin_of_a_proof_is_far_above_the_errors_of_a_solver(self):
        """Five projections in turn: each leaves less than a fifth of the squared length."""
        rest, gamma = Element(), Fraction(9, 10)
        requirements, moves = [rest @ rest <= 1], Element({})
        for _ in range(5):
            p = Element()
            requirements += [p @ (rest - p) == 0, p @ p >= gamma**2 * (rest @ rest)]
            moves, rest = moves + p, rest - p
        objective = moves @ moves
        assert self.largest_square(objective, worst_case(objective, requirements)) < -1e-7

    def test_a_multiplier_that_is_negative_is_refused(self):
        program, multipliers = self.program()
        numbers = multipliers(1e-6)
        program.proof(numbers)
        for i in np.flatnonzero(~program.free)[:3]:
            wrong = [*numbers]
            wrong[i] = Fraction(-1, 10**9)
            with pytest.raises(SolverError):
                program.proof(wrong)

    def test_multipliers_that_prove_nothing_are_refused(self):
        program, multipliers = self.program()
        with pytest.raises(SolverError):
            program.proof([x / 2 for x in multipliers(1e-6)])

    def test_a_bound_below_the_worst_case_has_no_proof(self):
        program, multipliers = self.program()
        with pytest.raises(SolverError):
            program.proof(multipliers(-1e-6))

    @pytest.mark.parametrize("tolerance", [0.5, 1.0, 10.0])
    def test_the_bound_rises_by_at_most_a_large_tolerance(self, tolerance):
        objective, requirements, R, _ = descent([1, 1])
        found = worst_case(objective, requirements, [R], tolerance=tolerance)
        assert 0.1 <= found.upper <= 0.1 + 1.001 * tolerance

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

    def test_values_must_cancel(self):
        program, multipliers = self.program()
        numbers = multipliers(1e-6)
        for i in (1, len(numbers) - 1):
            with pytest.raises(SolverError, match="no exact proof"):
                program.proof([x + (j == i) for j, x in enumerate(numbers)])

    def test_multipliers_that_are_not_needed_stay_positive(self):
        """Those of values that the objective does not contain."""
        run, _ = worst.strongly(instance(T=2, gamma=Fraction(9, 10)), 3)
        (_, h), q = run.moves, math.sqrt(0.19)
        found = worst_case(h @ h, run.bounded(), [run.R])
        assert found.value == pytest.approx((1 + q) ** 2, abs=1e-5)
        assert min(found.multipliers[i] for i in range(-6, 0)) > 0

    def test_the_accuracy_of_the_solver_refutes_nothing(self):
        step = about_worst_cases(claims.get("GB11-T3-edge").corrections[0])
        for written in step.every.instances():
            found = step.examine(step.stated, step.space.from_json(written), "")
            assert found.outcome == "tight"


def test_a_value_without_a_subgradient():
    """Of a point that is compared with the others only."""
    values = []
    for known in (True, False):
        R, f, g, best = ConvexFunctional(), Element(), Element(), Element()
        before = R.at(f, g)[0]
        least = R.at(best)[0] if known else R.value(best)
        bounds = [g @ g <= 1, (f - best) @ (f - best) <= 1, f @ f <= 1]
        bounds += [R.known[1][2] @ R.known[1][2] <= 1] if known else []
        values.append(worst_case(before - least, bounds, [R]).value)
    assert values == pytest.approx([1.0, 1.0], abs=1e-6)
    with pytest.raises(InputError, match="has a gradient at every element"):
        ConvexFunctional(smooth=1).value(Element())


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
        with pytest.raises(InputError, match="added to an Element"):
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


class TestClaims:
    """The worst cases of statements of papers."""

    def test_they_hold(self):
        """In the first case of each; a check takes all."""
        statements = [s for claim in claims.all() for s in claim.statements]
        steps = [[one for one in s.steps if isinstance(one.every, WorstCases)] for s in statements]
        assert sum(map(bool, steps)) >= 15
        for step in itertools.chain(*steps):
            written = next(iter(step.every.instances()))
            found = step.examine(step.stated, step.space.from_json(written), "")
            assert found.outcome in ("holds", "tight"), step.id

    def test_lengths_of_projections(self):
        """What projections that rotate what is left by arccos c give; c = q at last."""
        half = Fraction(1, 2)
        for t, c2 in ((1, Fraction(3, 4)), (2, Fraction(1, 3)), (3, Fraction(4, 7)), (6, 0.75)):
            angle = t * math.acos(math.sqrt(c2))
            exact = 1 - 2 * c2 ** (t / 2) * math.cos(angle) + c2**t
            if t == 1:
                exact = 1.0
            assert worst._longest(t, half, 2).value == pytest.approx(exact, abs=1e-6)

    @pytest.mark.parametrize("rounds", [1, 3, 5])
    def test_subgradient_descent(self, rounds):
        """Without projections: (1 + 1/2 + ... + 1/T)/(2T)."""
        exact = sum(Fraction(1, t) for t in range(1, rounds + 1)) / (2 * rounds)
        found = worst._strong_mean(3, rounds, Fraction(1), True)
        assert 0 <= found.upper - exact <= 3e-6

    def test_no_run_of_the_package_is_worse(self):
        """Runs with edges of at least 1/2, scaled to λ = G = 1 or to G = 1."""
        compared = 0
        for id, algorithm in (("GB11-T4", 2), ("GB11-T6", 3), ("GB11-T5", 2), ("GB11-T7", 3)):
            claim, strong = claims.get(id), id in ("GB11-T4", "GB11-T6")
            for _, values in claim.instances(25, 3):
                x, method = claim.make(values), Residual() if algorithm == 3 else None
                try:
                    if strong:
                        run = repeated.strongly(x, method, 4.0 - algorithm)
                    else:
                        run = repeated.weakly(x, method)
                except Vacuous:
                    continue
                for t, proof in itertools.product((1, 2), (True, False)):
                    if t > run.last or run.gamma(t) < 0.5:
                        continue
                    G = run.gradients(t - proof) if strong else run.gradients(t)
                    scale = x.lam / G**2 if strong else 1.0 / G**2
                    if strong:
                        most = worst._strong_mean(algorithm, t, Fraction(1, 2), proof)
                    elif run.radius(t) <= 2.0 * G:
                        key = (algorithm, t, Fraction(1, 2), Fraction(2), proof)
                        most = worst._weak_mean(*key)
                    else:
                        continue
                    assert scale * run.mean(t, proof) <= float(most.upper) + 1e-9
                    compared += 1
        assert compared > 100

    def test_no_stream_is_worse(self):
        claim = claims.get("DEK11-T1")
        for _, values in claim.instances(30, 1):
            x = claim.make(values)
            if len(x.A) <= 4:
                steep, _ = dekel.step(x)
                found = float(dekel.learned(x).linear()[0])
                far = x.B * float(np.linalg.norm(dekel.learned(x).slopes.sum(axis=(0, 1))))
                most = float(worst_regret._regret(len(x.A)).upper)
                assert (found + far) / (steep * x.B) <= most + 1e-9


def interpolated(points, slopes, strong):
    """Return the largest values of a convex functional with these subgradients, 0 at the last.

    A value is at most another less what the tangent rises from there: shortest paths.
    """
    size = len(points)
    away = points[:, None] - points[None, :]
    rise = np.einsum("ik,ijk->ij", slopes, away) - strong / 2.0 * (away**2).sum(axis=2)
    values = np.append(np.full(size - 1, np.inf), 0.0)
    for _ in range(size):
        values = np.minimum(values, (values[None, :] + rise).min(axis=1))
    assert values[-1] > -1e-4
    return values


def played(run, found, strong, algorithm, steps):
    """Run an algorithm on the worst functional, the largest of its tangents; return its gaps.

    The weak learner returns the directions of the worst instance, with their edges.
    """
    best = np.zeros_like(found.coordinates(run.points[0]))
    points = np.array([*map(found.coordinates, run.points[: len(run.values)]), best])
    slopes = np.array([*map(found.coordinates, run.gradients), best])
    values = interpolated(points, slopes, strong)
    f, rest, gaps, edges = points[0], best, [], []
    for t in range(len(run.values)):
        away = f - points
        tangents = values + (slopes * away).sum(axis=1) + strong / 2.0 * (away**2).sum(axis=1)
        gaps.append(tangents.max())
        assert tangents[t] >= tangents.max() - 1e-3  # its slope is a subgradient
        rest = (rest if algorithm == 3 else best) + slopes[t] + strong * away[t]
        h = best
        for part in run.parts[t] if t < len(steps) else ():
            d = found.coordinates(part)
            p = d * (d @ rest) / (d @ d)
            edges.append(np.linalg.norm(p) / np.linalg.norm(rest))
            h, rest = h + p, rest - p
        f = f - h * (steps[t] if t < len(steps) else 0.0)
    return np.array(gaps), min(edges)


class TestAttained:
    """The algorithm itself has the worst value on the worst instance, in coordinates."""

    @pytest.mark.parametrize(
        ("algorithm", "T", "proof"), [(2, 2, False), (2, 3, True), (3, 3, True), (3, 2, False)]
    )
    def test_strong_convexity(self, algorithm, T, proof):
        x = instance(T=T, gamma=Fraction(1, 2))
        run, least = worst.strongly(x, algorithm, not proof)
        found = worst_case(run.mean(least, proof), run.bounded(), [run.R])
        steps = [(4.0 - algorithm) / t for t in range(1, T + 1)]
        gaps, gamma = played(run, found, 1.0, algorithm, steps)
        assert gamma >= 0.5 - 1e-3
        mean = (gaps[:T] if proof else gaps[1:]).mean()
        assert mean == pytest.approx(found.value, abs=2e-3)

    @pytest.mark.parametrize(("algorithm", "T"), [(2, 2), (3, 3)])
    def test_convexity(self, algorithm, T):
        R = ConvexFunctional()
        _, least = R.minimum()
        steps = [root(Fraction(1, t)) for t in range(1, T + 1)]
        run = worst.Run(algorithm, Fraction(9, 10), steps, R)
        near = [f @ f <= 1 for f in run.points]
        found = worst_case(run.mean(least, False), [*run.bounded(), *near], [R])
        lengths = [1.0 / math.sqrt(t) for t in range(1, T + 1)]
        gaps, gamma = played(run, found, 0.0, algorithm, lengths)
        assert gamma >= 0.9 - 1e-3
        assert gaps[1:].mean() == pytest.approx(found.value, abs=2e-3)

    @pytest.mark.parametrize("m", [2, 3])
    def test_online(self, m):
        stream = worst_regret.AnyStream(m, root(Fraction(1, m)))
        found = worst_case(stream.regret, stream.requirements)
        slopes = [found.coordinates(g) for g in stream.slopes]
        best, w, regret = found.coordinates(stream.best), 0.0 * slopes[0], 0.0
        for g in slopes:
            regret += g @ (w - best)
            w = w - g / math.sqrt(m)
            w = w / max(1.0, np.linalg.norm(w))
        assert np.linalg.norm(best) <= 1.0 + 1e-6
        assert regret == pytest.approx(found.value, abs=1e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda f: f * f, r"The inner product of two elements is f @ g"),
        (lambda f: f * math.nan, "must be a finite number, got nan"),
        (lambda f: f @ f < 1, "write <= or >= instead of < or >"),
        (lambda f: worst_case(f @ f, f @ f <= 1), "requirements must be a list"),
        (
            lambda f: worst_case(f @ f, [f @ f <= 1], ConvexFunctional()),
            "functionals must be a list",
        ),
        (lambda f: ConvexFunctional(smooth=math.nan), "must be a finite number, got nan"),
    ],
)
def test_wrong_programs_are_rejected_with_the_remedy(make, message):
    with pytest.raises(InputError, match=message):
        make(Element())


def test_a_failure_of_the_solver_is_an_error_of_the_package(monkeypatch):
    def fail(*args, **options):
        raise cp.SolverError("Solver 'CLARABEL' failed")

    monkeypatch.setattr(cp.Problem, "solve", fail)
    with pytest.raises(SolverError, match="the solver Clarabel failed on the worst case"):
        semidefinite._solve(cp.Problem(cp.Minimize(cp.Variable())))
