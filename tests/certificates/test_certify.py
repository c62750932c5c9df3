"""Certificates as they are made: within the bracket of the solution, and around the optimum."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import cvxpy as cp
import flint
import numpy as np
import pytest
from scipy import sparse

import relaxboost as rb
from relaxboost.certificates import Certificate, check, exact_value
from relaxboost.certificates.certificate import precisely
from relaxboost.certificates.exact.evaluate import ExactEvaluation
from relaxboost.certificates.parts import describe_witness
from relaxboost.certificates.proof import _accepted
from relaxboost.relaxations.bounds import level_of
from relaxboost.relaxations.power_divergences import BallWitness
from tests.certificates.judge import proves
from tests.conformance.families import FAMILIES
from tests.twins import exact_game_value

CHECKER = Path(rb.certificates.__file__).parent
SETS = {
    "l1": rb.L1Ball(),
    "simplex": rb.Simplex(),
    "full simplex": rb.FullSimplex(0.5),
    "l2": rb.L2Ball(0.7),
    "squared": rb.SquaredNorm(0.4),
}


def matrix(rng, m=7, n=5):
    return np.clip(rng.uniform(-1, 1, (m, n)) + 0.15, -1, 1)


def tied(rng, m=7, n=5):
    """Ties, and bounds that are exactly 0, where no rounding leaves room."""
    return rng.choice([-1.0, 0.0, 1.0], (m, n)) * rng.integers(0, 2)


PLACES = [(n, (n + i) % 5) for n in range(len(FAMILIES)) for i in (0, 3)]


@pytest.mark.parametrize(("name", "over"), [(FAMILIES[n][0], [*SETS][i]) for n, i in PLACES])
def test_the_floats_of_a_solution_hold_its_certificate(name, over, rng):
    """In a game of each family over two sets in turn; half of the games have ties."""
    place = list(dict(FAMILIES)).index(name) + list(SETS).index(over)
    A, options = (tied(rng), {"max_rounds": 2}) if place % 2 else (matrix(rng), {"tol": 1e-3})
    game = rb.Game(A, dict(FAMILIES)[name](7), over=SETS[over])
    held(game, rb.solve(game, **options))


def held(game, solution):
    certificate = rb.certify(solution)
    f = game.relaxation
    exact = f.exact_form(7) is not None and game.over.level == "exact"
    levels = ["numerical", "enclosed", "exact"]
    expected = min(level_of(f), game.over.level, key=levels.index)
    assert certificate.level == ("exact" if exact else expected)
    spare = 1e-9 if level_of(f) == "numerical" else 0.0  # of a bracket that proves nothing
    assert solution.lower - spare <= certificate.lower
    assert certificate.lower <= certificate.upper <= solution.upper + spare
    verdict = certificate.check()
    assert bool(verdict) == (certificate.level != "numerical"), verdict.reason
    assert bool(certificate.check(game)) == bool(verdict)
    if verdict:
        assert verdict == (True, certificate.level, certificate.lower, certificate.upper, "")
        assert certificate.gap <= solution.gap + spare
    else:
        assert verdict.level == "numerical"
        assert "proves nothing" in verdict.reason


FREE = [
    rb.relaxations.ChiSquareBall(5.0),
    rb.relaxations.PowerBall(1.5, 20),
    rb.relaxations.HellingerBall(50),
    rb.KLBall(5, [Fraction(1, 6)] * 6 + [0]),
]


@pytest.mark.parametrize("f", FREE, ids=repr)
def test_balls_that_do_not_bind_prove_the_least_margin(f, rng):
    """Their multiplier is 0; with 2^-200 in its place f* was steep, and the bound -3.5e25."""
    free = 0
    for trial in range(10):
        game = rb.Game(matrix(rng) if trial % 2 else tied(rng), f)
        solution = rb.solve(game, max_rounds=5)
        certificate = rb.certify(solution)
        assert solution.lower <= certificate.lower <= certificate.upper <= solution.upper
        assert certificate.check()
        assert proves(certificate.document)
        free += certificate.document["witness"]["multiplier"] == "0"
    assert free >= 3
    u = [Fraction(x) for x in (0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0)]
    for gamma, multiplier in ((0.25 + 2**-54, 2.0**-150), (0.3, 1e-30)):
        # A threshold an ulp too high with a tiny multiplier: what the margins in doubles allow.
        found = BallWitness(gamma, multiplier)
        with precisely("enclosed", 192) as real:
            described = f.describe(7)
            _, bound = check.relaxation(check.Fields(described, "f"), 7, real)
            written = describe_witness(f, described, found, u, ExactEvaluation(repr(f), exact=True))
            _, proved = _accepted(written, u, bound)
        assert 0.25 - 0.2 <= float(proved.lower()) <= 0.25


def test_a_certificate_far_wider_than_its_solution_is_an_error(rng):
    solution = rb.solve(rb.Game(matrix(rng), rb.KLPenalty(0.1)), tol=1e-3)
    wrong = replace(solution, witness=solution.witness._replace(gamma=-5.0))
    with pytest.raises(
        rb.InputError, match=r"prove lower = -4.9.*may be at most 1\.2e-06.*reference"
    ):
        rb.certify(wrong)
    with pytest.raises(rb.InputError, match=r"prove upper = .*Certify another"):
        rb.certify(replace(solution, upper=solution.upper - 1e-4))
    game, pair = solution.game, (solution.support, solution.coefficients)
    assert rb.certify(game, d=wrong.d, w=pair).check()  # as it is
    assert rb.certify(wrong, w=pair).check()  # which is another w, and finds its own witness


def test_no_certificate_excludes_the_optimum(rng):
    """500 small games; pairs that are random, from an interior-point and a careless solver."""
    for number in range(500):
        m, n = rng.integers(1, 6), rng.integers(1, 5)
        kind = number % 3
        A = rng.uniform(-1, 1, (m, n)) if kind else rng.integers(-1, 2, (m, n)).astype(float)
        if number % 7 == 0:
            A[rng.integers(m)] = -A[0]
        k = None if number % 4 == 0 else Fraction(int(rng.integers(8, 8 * m + 1)), 8)
        game = rb.Game(A, rb.HardMargin() if k is None else rb.Capped(k))
        exact = exact_game_value(A, k)
        if number % 100 == 1:
            pair = rb.reference(game, solver="SCS", eps=1e-2)
            certificate = rb.certify(pair)
        elif number % 10 == 1:
            certificate = rb.certify(rb.solve(game, tol=0.3))
        else:
            d = rng.dirichlet(np.full(m, 0.3))
            certificate = rb.certify(game, d=d, w=rng.normal(size=n) * 10.0 ** rng.integers(-3, 3))
        assert certificate.lower <= exact <= certificate.upper
        if number % 5 == 0:
            assert certificate.check()


@pytest.mark.parametrize(
    ("f", "point"),
    [
        (rb.Capped(7), [Fraction(1, 7)] * 7),
        (rb.Caps([Fraction(i + 1, 28) for i in range(7)]), [Fraction(i + 1, 28) for i in range(7)]),
        (
            rb.relaxations.GroupCaps([0, 0, 0, 1, 1, 1, 1], {0: Fraction(1, 3), 1: Fraction(2, 3)}),
            None,
        ),
        (rb.Capped(fraction=1), [Fraction(1, 7)] * 7),
    ],
)
def test_forced_points_are_met_exactly(f, point, rng):
    certificate = rb.certify(rb.solve(rb.Game(matrix(rng), f), tol=1e-9))
    assert certificate.level == "exact"
    assert certificate.check()
    numerators = list(map(int, certificate.document["d"]["numerators"]))
    d = [Fraction(x, int(certificate.document["d"]["denominator"])) for x in numerators]
    assert sum(d) == 1
    assert sum(d[:3]) == Fraction(1, 3) if point is None else d == point


def test_exact_points_are_kept():
    """Matching pennies, certified at a point: the bracket is a point too."""
    game = rb.Game(np.array([[1, -1], [-1, 1]]))
    half = Fraction(1, 2)
    certificate = rb.certify(game, d=[half, half], w=[Fraction(1, 3), Fraction(1, 3)])
    assert certificate.lower == certificate.upper == 0
    assert certificate.check()
    assert "exact: 0 <= rho <= 0" in repr(certificate)


def test_a_column_named_twice_has_both_weights():
    third = Fraction(1, 3)
    game = rb.Game(np.eye(3))
    certificate = rb.certify(game, d=[third] * 3, w=([0, 0, 1], [third / 2, third / 2, third]))
    assert certificate.w == {0: third, 1: third}
    assert certificate.d == [third] * 3


def test_files(tmp_path, rng):
    A = matrix(rng, 30, 8)
    game = rb.Game(A, rb.Capped(5) + rb.KLPenalty(0.1))
    certificate = rb.certify(rb.solve(game), inline=False)
    path = tmp_path / "c.json"
    certificate.save(path)
    again = Certificate.load(path)
    assert again.tobytes() == certificate.tobytes() == path.read_bytes()
    assert (again.lower, again.upper, again.digest) == (
        certificate.lower,
        certificate.upper,
        certificate.digest,
    )
    reason = rb.check_certificate(path).reason
    assert reason == (
        "the file is incomplete, because it lacks A; pass the argument A, a matrix or a Game, or "
        "make a file that contains it with certify(..., inline=True)"
    )
    assert rb.check_certificate(path, game)
    precision = flint.ctx.prec
    for given in (A, rb.matrices.DenseMatrix(A), game.matrix, A.astype(np.float64, order="F")):
        assert rb.check_certificate(path, given)
    assert flint.ctx.prec == precision
    lines = tmp_path / "A.csv"
    np.savetxt(lines, A, delimiter=",", fmt="%.17g")
    assert rb.check_certificate(path, lines)
    other = A.copy()
    other[3, 4] = np.nextafter(A[3, 4], 0)
    assert (
        rb.check_certificate(path, other).reason == "the SHA-256 of A differs from that in the file"
    )
    assert "A has 29 rows" in rb.check_certificate(path, A[1:]).reason
    assert rb.check_certificate(path, sparse.csr_array(A))
    with pytest.raises(rb.InputError, match="does not exist; check the path"):
        rb.check_certificate(tmp_path / "none.json")


@pytest.mark.parametrize("max_cuts", [None, 3])
@pytest.mark.parametrize("inline", [True, False])
def test_stumps_are_certified_by_their_recipe(max_cuts, inline, rng):
    X = rng.normal(size=(25, 3)).round(1)
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=25) > 0, 1.0, -1.0)
    matrix = rb.matrices.stumps(X, y, max_cuts=max_cuts)
    certificate = rb.certify(rb.solve(rb.Game(matrix, rb.Capped(4)), tol=1e-9), inline=inline)
    assert ("rows" in certificate.document["game"]) == inline
    assert certificate.document["game"]["stumps"]["max_cuts"] == max_cuts
    assert certificate.check(matrix)
    dense = rb.Game(matrix.toarray(), rb.Capped(4))
    assert certificate.lower <= Fraction(rb.reference(dense).upper)
    if not inline:
        assert not certificate.check(rb.matrices.stumps(X + 0.1, y, max_cuts=max_cuts))
        assert "it lacks the matrix with 1 or -1 and the features" in certificate.check().reason


def run_alone(folder, *arguments):
    """Run the copied checker by a Python that sees no package at all."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "check.py", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_checker_alone_accepts_and_rejects(tmp_path, rng):
    shutil.copy(CHECKER / "check.py", tmp_path)
    game = rb.Game(matrix(rng), rb.Capped(3))
    rb.certify(rb.solve(game)).save(tmp_path / "good.json")
    rb.certify(rb.solve(game), inline=False).save(tmp_path / "short.json")
    np.savetxt(tmp_path / "A.csv", game.matrix.toarray(), delimiter=",", fmt="%.17g")
    text = (tmp_path / "good.json").read_text()
    (tmp_path / "bad.json").write_text(text.replace('"upper": "', '"upper": "-'))
    found = run_alone(tmp_path, "good.json")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("accepted, exact: ")
    assert run_alone(tmp_path, "short.json", "--matrix", "A.csv").returncode == 0
    assert "lacks A; pass --matrix FILE, or make" in run_alone(tmp_path, "short.json").stdout
    (tmp_path / "deep.json").write_text("[" * 100_000)
    assert "brackets are nested too deeply\n" in run_alone(tmp_path, "deep.json").stdout
    for name in ("bad.json", "none.json", "A.csv", ".", "deep.json"):
        found = run_alone(tmp_path, name)
        assert (found.returncode, found.stderr) == (1, "")
        assert found.stdout.startswith("REJECTED: ")
    assert run_alone(tmp_path).returncode == run_alone(tmp_path, "a", "b", "c").returncode == 2
    rb.certify(rb.solve(rb.Game(matrix(rng), rb.KLPenalty(0.1)))).save(tmp_path / "balls.json")
    assert "needs check_enclosed.py in the folder" in run_alone(tmp_path, "balls.json").stdout
    shutil.copy(CHECKER / "check_enclosed.py", tmp_path)
    assert "pip install python-flint" in run_alone(tmp_path, "balls.json").stdout


def test_the_checker_runs_as_a_module(tmp_path, rng):
    path = tmp_path / "balls.json"
    rb.certify(rb.solve(rb.Game(matrix(rng), rb.KLPenalty(0.1)))).save(path)
    found = subprocess.run(
        [sys.executable, "-m", "relaxboost.certificates.check", str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.startswith("accepted, enclosed: ")
    assert found.stderr == ""


def test_the_checker_imports_nothing_of_the_package():
    for name in ("check.py", "check_enclosed.py"):
        lines = (CHECKER / name).read_text().splitlines()
        imported = [line for line in lines if line.strip().startswith(("import ", "from "))]
        assert imported
        assert not any("relaxboost" in line for line in imported)


def soft(d):
    return cp.sum_squares(d)


def other(game, f):
    return rb.solve(rb.Game(game.matrix, f))


def test_a_squared_norm_whose_best_weights_are_zero():
    """The slope of g at w = 0 is 0, so that d was moved to any point at which f is finite."""
    ball = rb.relaxations.TotalVariationBall(0.9)
    game = rb.Game([[1], [0], [1], [0]], 2 * ball, over=rb.SquaredNorm(1))
    certificate = rb.certify(rb.solve(game, 1e-5))
    assert certificate.check()
    assert abs(certificate.upper) <= 1e-6


def test_points_without_a_finite_bound(rng, monkeypatch):
    """The certificate could be neither printed nor loaded."""
    game = rb.Game(matrix(rng), rb.Custom(f=soft))
    solution = rb.solve(game)
    monkeypatch.setattr(rb.Game, "bracket", lambda game, d, w: (0.5, math.inf))
    with pytest.raises(
        rb.InputError, match=r"two finite bounds on the value, but the bounds are 0\.5 and inf"
    ):
        rb.certify(solution)


def of(game, f=None, over=None):
    return exact_value(rb.Game(game.matrix, f or rb.HardMargin(), over=over or rb.L1Ball()))


PENALTY = rb.NormPenalty(1, 1)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda g, s: rb.certify(s, "proved"), "level must be one of"),
        (lambda g, s: rb.certify(np.eye(2)), "Game with d and w, got a ndarray"),
        (lambda g, s: rb.certify(g, d=[Fraction(1)] * 7, w=[1.0] * 5), "sum is exactly 1"),
        (lambda g, s: rb.certify(g, d=[Fraction(1)], w=[1.0] * 5), "must have 7 Fractions"),
        (lambda g, s: rb.certify(s, w=[Fraction(1)] * 5), "no bounds .*: w is outside the set l1"),
        (lambda g, s: rb.certify(s, w=([7], [Fraction(1)])), "column 7, but .* has 5 columns"),
        (lambda g, s: rb.certify(g), "needs a solution, or a game together with both d and w"),
        (lambda g, s: rb.certify(g, d=[1.0] * 7), "both d and w"),
        (lambda g, s: rb.certify(g, d=[1.0] * 6, w=[1.0] * 5), "d must have shape"),
        (lambda g, s: rb.certify(other(g, rb.KLPenalty(1)), "exact"), "allows enclosed"),
        (lambda g, s: rb.certify(other(g, rb.Custom(f=soft)), "enclosed"), "no description"),
        (lambda g, s: of(g, rb.KLPenalty(0.1)), "not polyhedral.*Bracket it with reference"),
        (lambda g, s: of(g, rb.Capped(2) + rb.KLPenalty(0.1)), "not polyhedral.*reference"),
        (lambda g, s: of(g, rb.NormBall(2, 1).scaled(0.5)), "not polyhedral.*reference"),
        (lambda g, s: of(g, PENALTY.scaled(-1)), r"outside of d >= 0.*f.scaled\(c\) with c > 0"),
        (lambda g, s: of(g, PENALTY.shifted(-0.25)), r"Use f.shifted\(d0\) with d0 >= 0"),
        (lambda g, s: of(g, over=rb.L2Ball()), "over L2Ball.* need not be a fraction"),
        (lambda g, s: exact_value(np.eye(3)), "need a Game"),
        (lambda g, s: exact_value(g, time_limit=0), "time_limit must be a positive number"),
    ],
)  # fmt: skip
def test_wrong_arguments(call, reason, rng):
    game = rb.Game(matrix(rng))
    solution = rb.solve(game)
    with pytest.raises(rb.InputError, match=reason):
        call(game, solution)


@pytest.mark.parametrize(
    "f",
    [
        rb.Capped(3).shifted(0.01),
        rb.NormPenalty(2, 0.3).shifted(-0.02),
        rb.NormPenalty(2, 0.3).scaled(2),
        rb.NormBall(2, 0.9).scaled(0.5).scaled(0.5),
    ],
)
def test_shifted_relaxations_can_be_enclosed_on_request(f, rng):
    solution = rb.reference(rb.Game(matrix(rng), f, over=rb.L2Ball(2)))
    assert rb.certify(solution).level == "numerical"
    certificate = rb.certify(solution, "enclosed")
    assert certificate.check()
    assert certificate.gap <= 1e-6


def test_a_certificate_of_another_game_is_not_accepted(tmp_path):
    A = np.array([[1, -1, 1], [-1, 1, 1], [1, 1, -1], [0, 0, 0]])
    path = tmp_path / "proof.json"
    rb.certify(rb.solve(rb.Game(A, rb.Capped(4)))).save(path)
    assert rb.check_certificate(path, rb.Game(A, rb.Capped(fraction=1)))
    assert rb.check_certificate(path, A)
    other = rb.check_certificate(path, rb.Game(A, rb.HardMargin()))
    assert not other
    assert other.reason.startswith("the relaxation in the certificate, caps(caps=1/4), is not that")
    simplex = rb.check_certificate(path, rb.Game(A, rb.Capped(4), over=rb.Simplex(1)))
    assert "the domain in the certificate, l1(size=1), is not that of the game" in simplex.reason


@pytest.mark.parametrize(
    ("over", "size"),
    [
        (rb.L1Ball(1e-100), 1e-100),
        (rb.Simplex(1e-25), 1e-25),
        (rb.FullSimplex(1e-50), 1e-50),
        (rb.L2Ball(1e-100), 1e-100),
        (rb.SquaredNorm(1e100), 1e-100),
    ],
)
def test_tiny_weights_keep_their_digits(over, size):
    game = rb.Game([[1.0, 0.75, 0.5], [0.25, 0.5, 0.75]], over=over)
    d = np.array([0.5, 0.5])
    w = size * np.array([0.5, 0.25, 0.25])
    lower, _ = game.bracket(d, w)
    assert lower > 0.05 * size
    assert float(rb.certify(game, d=d, w=w).lower) == pytest.approx(lower, rel=1e-12, abs=0.0)
