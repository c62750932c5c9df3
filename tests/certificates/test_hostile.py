"""Files that were made to mislead the checker, or to keep it busy."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.certificates import Certificate, check
from tests.certificates.tampering import matrix_digest, with_digest
from tests.command import run as run_command


@pytest.fixture
def verdict(tmp_path):
    def run(document, A=None):
        path = tmp_path / "certificate.json"
        path.write_text(json.dumps(document))
        return rb.check_certificate(path, A)

    return run


@pytest.fixture
def simple():
    """The certificate of two ones, whose value is one."""
    game = rb.Game(np.ones((2, 1)))
    return rb.certify(game, d=[Fraction(1), Fraction(0)], w=[Fraction(1)]).document


def test_the_matrix_given_counts(verdict, simple):
    assert verdict(simple, np.ones((2, 1)))
    assert (
        verdict(simple, -np.ones((2, 1))).reason == "the SHA-256 of A differs from that in the file"
    )
    with pytest.raises(rb.InputError, match="no such file does not exist; check"):
        verdict(simple, "no such file")
    with pytest.raises(rb.InputError, match="must be a matrix of numbers"):
        verdict(simple, [["a"]])


def test_stumps_are_those_of_the_data(verdict):
    X, y = np.arange(6.0)[:, None], np.array([-1, -1, 1, 1, 1, 1.0])
    matrix = rb.matrices.stumps(X, y, max_cuts=2)
    document = rb.certify(rb.solve(rb.Game(matrix)), inline=True).document
    assert verdict(document)
    for recipe in ({"max_cuts": 2, "cuts": [[1, 4]]}, {"max_cuts": "2"}, {"max_cuts": 0}, {}):
        other = copy.deepcopy(document)
        other["game"]["stumps"] = recipe
        assert not verdict(with_digest(other), matrix)


@pytest.mark.parametrize("levels", [2, 3, 5, 8, 17, 40])
def test_the_checker_cuts_where_the_matrix_does(levels, verdict, rng):
    X = rng.integers(0, levels, (60, 2)).astype(float)
    X[:2] = [[0, 1], [1, 0]]
    y = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    for max_cuts in (None, 1, 2, 3, 4, 6, 7, 13, 20):
        game = rb.Game(rb.matrices.stumps(X, y, max_cuts=max_cuts), rb.Capped(9))
        certificate = rb.certify(game, d=np.ones(60), w=rng.normal(size=game.n))
        found = verdict(certificate.document, game.matrix)
        assert found, (max_cuts, found.reason)


def test_features_of_any_size(verdict):
    X, y = np.array([[1e308, -1e308], [1e308, 1e308], [-1e308, 1e308]]), np.array([1, -1, 1.0])
    game = rb.Game(rb.matrices.stumps(X, y))
    assert verdict(rb.certify(rb.solve(game)).document, game.matrix)


def test_the_checker_keeps_nothing(verdict):
    certificate = rb.certify(rb.solve(rb.Game([[1e-60, 0.3], [0.1, -1e-70]])))
    upper = certificate.upper
    big = {"format": "relaxboost certificate", "version": 1, "level": "exact", "digest": "x"}
    assert not verdict({**big, "game": {"m": 2**25, "n": 1}, "d": "x"})
    assert certificate.upper == upper
    enclosed = rb.certify(rb.solve(rb.Game(np.eye(2), rb.KLPenalty(1))))
    assert verdict(enclosed.document)
    foreign = {**enclosed.document, "level": "exact"}
    del foreign["precision"]
    assert "this level does not support the relaxation" in verdict(with_digest(foreign)).reason
    circle = rb.certify(rb.solve(rb.Game(np.eye(2), over=rb.L2Ball())))
    foreign = {**circle.document, "level": "exact"}
    del foreign["precision"]
    assert verdict(with_digest(foreign)).reason == "this level does not support the domain 'l2'"


def test_bounds_of_any_length_are_printed(tmp_path, simple, capsys):
    path = tmp_path / "c.json"
    for upper in (str(10**400), "1" + "0" * 5000, f"{10**4000}/{10**4000 - 1}"):
        path.write_text(json.dumps(with_digest({**simple, "upper": upper})))
        assert check.main([str(path)]) == 0
        assert capsys.readouterr().out.startswith("accepted, exact: 1 <= rho <= ")


def test_numbers_beyond_doubles_are_multiplied(verdict, simple):
    """Of a polyhedral f(d) = min -z over 0 <= z <= 10^400."""
    most = str(10**400)
    f = {
        "kind": "polyhedral", "auxiliaries": 1, "constant": "0",
        "cost": {"denominator": "1", "numerators": ["0", "0", "-1"]},
        "lower": "0", "upper": {"denominator": "1", "numerators": ["1", "1", most]},
        "columns": [], "coefficients": "0", "row_lower": "0", "row_upper": "0",
    }  # fmt: skip
    simple["game"]["relaxation"] = f
    simple |= {"auxiliaries": {"z": most}, "witness": {"gamma": "1", "multipliers": "0"}}
    simple["lower"] = simple["upper"] = str(1 - 10**400)
    assert verdict(with_digest(simple)).lower == 1 - 10**400
    f["upper"]["numerators"][2] = None
    assert verdict(with_digest(simple)).reason == "a multiplier has no bound on its side"


def test_reasons_can_be_printed_everywhere(tmp_path, simple):
    (tmp_path / "c.json").write_text(json.dumps(with_digest({**simple, "ρ": "1"})))
    command = [sys.executable, check.__file__, tmp_path / "c.json"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=ascii_only)
    assert found.stdout == "REJECTED: the document has unknown fields: ['\\u03c1']\n"
    assert (found.returncode, found.stderr) == (1, "")


def test_what_is_printed_holds(tmp_path, capsys):
    c = Fraction(1, 10) - Fraction(1, 10**45)
    game = rb.Game([[0.0]], rb.NormPenalty(1, c))
    certificate = rb.certify(game, d=[Fraction(1)], w=[Fraction(0)])
    certificate.save(tmp_path / "c.json")
    assert check.main([str(tmp_path / "c.json")]) == 0
    low, high = capsys.readouterr().out.split(": ")[1].split(" <= rho <= ")
    assert Fraction(float(low)) <= c <= Fraction(float(high))
    thirds = rb.certify(rb.Game(np.eye(3)), d=[Fraction(1, 3)] * 3, w=[Fraction(1, 3)] * 3)
    assert "exact: 1/3 <= rho <= 1/3" in repr(thirds)
    near = rb.certify(rb.Game(np.eye(3)), d=[Fraction(1, 3)] * 3, w=[0.3333, 0.3333, 0.3333])
    low, high = repr(near).split("exact: ")[1].split(", gap")[0].split(" <= rho <= ")
    assert float(low) < 1 / 3 < float(high)


TWO = ["2,1", "1,1"]
RISING = {"kind": "spectral", "spectrum": {"denominator": "4", "numerators": ["1", "4"]}}
FREE = {"kind": "caps", "caps": "1", "groups": [0, -1]}
GROUPS = rb.relaxations.GroupNormPenalty([0, 0], 0.5)
ELLIPSOID = rb.relaxations.MahalanobisPenalty(np.eye(2), 1)


@pytest.mark.parametrize(
    ("f", "changes", "reason"),
    [
        (None, {("game", "over"): {"kind": "simplex", "sum": "17"}}, "unknown fields"),
        (
            None,
            {("game", "over"): {"kind": "l1", "size": "1", "note": "x"}},
            "unknown fields",
        ),
        (None, {("columns",): [0, 0], ("w",): "1/2"}, "'columns' must be distinct columns of A"),
        (None, {("columns",): [-1]}, "'columns' must be distinct columns of A"),
        (
            None,
            {("game", "rows"): TWO, ("game", "sha256"): matrix_digest(TWO)},
            "A must have 2 columns of numbers in [-1, 1]",
        ),
        (None, {("game", "relaxation"): RISING}, "the spectrum is negative or increases"),
        (
            None,
            {("game", "relaxation"): FREE, ("witness",): {"gamma": "2"}},
            "x is not 0 where there is no cap",
        ),
        (GROUPS, {("game", "relaxation", "groups"): [-1, -1]}, "an example is in no group"),
        (ELLIPSOID, {("game", "relaxation", "matrix"): []}, "'matrix' is empty"),
    ],
)
def test_a_field_that_the_format_forbids_is_named(f, changes, reason, verdict):
    game = rb.Game(np.ones((2, 2)), f or rb.HardMargin())
    document = rb.certify(rb.solve(game)).document
    assert verdict(document)
    other = copy.deepcopy(document)
    for (*path, name), value in changes.items():
        node = other
        for key in path:
            node = node[key]
        node[name] = value
    assert reason in verdict(with_digest(other)).reason


def busy():
    """Small files that ask for much work."""
    rows, one = ["1"] * 2000, {"kind": "l1", "size": "1"}
    base = {
        "format": "relaxboost certificate", "version": 1, "level": "exact", "d": "1/2000",
        "columns": [0], "w": "1", "lower": "0", "upper": "1",
        "witness": {"gamma": "1", "floor": "0"},
        "game": {"m": 2000, "n": 1, "rows": rows, "sha256": matrix_digest(rows), "over": one,
                 "relaxation": {"kind": "hard-margin"}},
    }  # fmt: skip
    yield {**base, "d": f"1/{2**24}", "game": {**base["game"], "m": 2**24, "rows": ["1", "1"]}}
    entropy = {"kind": "binary-entropy", "k": "1", "weight": "1"}
    nested, witness = entropy, {"gamma": "0"}
    for _ in range(101):
        nested = {"kind": "sum", "first": entropy, "second": nested}
        witness = {"v": "0", "first": {"gamma": "0"}, "second": witness}
    game = {**base["game"], "relaxation": nested}
    yield {**base, "level": "enclosed", "precision": 1024, "game": game, "witness": witness}
    long = {"denominator": "9" * 20_000, "numerators": ["1"] * 2000}
    yield {**base, "d": long}
    data = [f"{(-1) ** i},{i}" for i in range(12_000)]
    stumps = {**base["game"], "m": 12_000, "n": 11_999, "rows": data, "stumps": {"max_cuts": None}}
    yield {**base, "game": stumps}

    # Digits that multiply: 400 denominators of 400 digits, which took minutes; and in Q.
    rows = ["1"] * 400
    primes = [str(10**400 + 2 * i + 1) for i in range(400)]
    small = {**base["game"], "m": 400, "rows": rows, "sha256": matrix_digest(rows)}
    yield {
        **base,
        "game": small,
        "d": {"denominator": "1", "numerators": [f"1/{p}" for p in primes]},
    }
    matrix = [{"denominator": p, "numerators": ["1"] * 400} for p in primes]
    f = {"kind": "ellipsoid", "radius": "2", "matrix": matrix}
    balls = {**base, "level": "enclosed", "precision": 53, "d": "1/400"}
    yield {
        **balls,
        "game": {**small, "relaxation": f},
        "witness": {"gamma": "0", "x": "0", "v": "0"},
    }
    # Long numbers in d make long edges, and one dilation of f lengthens what the next one gets.
    rows = [",".join(["0.1", "0.3"] * 1250), ",".join(["0.7"] * 2500)]
    parts = {"denominator": "7" * 19_999, "numerators": ["3" * 19_998 + "1", "4" * 19_998 + "6"]}
    wide = {"m": 2, "n": 2500, "rows": rows, "sha256": matrix_digest(rows)}
    yield {**base, "d": parts, "game": {**base["game"], **wide}}
    f = entropy
    for _ in range(9):
        f = {"kind": "dilated", "factor": "7" * 19_999 + "/" + "3" * 19_998 + "1", "of": f}
    rows = ["1"] * 24
    small = {**base["game"], "m": 24, "rows": rows, "sha256": matrix_digest(rows), "relaxation": f}
    yield {**balls, "game": small, "d": "1/24", "witness": {"gamma": "0", "x": "7/" + "9" * 19_999}}
    # A few bytes that stand for millions of variables.
    f = {
        "kind": "polyhedral",
        "auxiliaries": 2**22,
        "constant": "0",
        "cost": "1",
        "lower": None,
        "upper": None,
        "columns": [],
        "coefficients": "0",
        "row_lower": "0",
        "row_upper": "0",
    }
    yield {**base, "game": {**base["game"], "relaxation": f}, "auxiliaries": {"z": "0"}}


@pytest.mark.parametrize(
    "document",
    list(busy()),
    ids=["m", "sums", "digits", "stumps", "denominators", "ellipsoid", "edges", "dilated", "z"],
)
def test_small_files_are_rejected_soon(document, verdict):
    start = time.process_time()
    assert not verdict(with_digest(document))
    assert time.process_time() - start < 2


def test_numerators_are_integers(verdict, simple):
    thirds = {"denominator": "1", "numerators": ["1/1", "0"]}
    found = verdict(with_digest({**simple, "d": thirds}))
    assert found.reason == "a numerator of 'd' is not an integer"


def test_what_is_no_file_is_not_read(tmp_path, simple):
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / "c.json"
    path.write_text(json.dumps(simple))
    for bad in ("/dev/zero", tmp_path / "pipe", tmp_path, tmp_path / "none"):
        assert check.verdict(str(bad))[3] == f"there is no file {bad}"
        assert "o file" in check.verdict(str(path), str(bad))[3].replace("such ", "")
        for call in (rb.check_certificate, Certificate.load):
            with pytest.raises(rb.InputError, match=r"no file|not exist"):
                call(bad)
        with pytest.raises(rb.InputError, match=r"no file|not exist"):
            rb.check_certificate(path, bad)


def test_a_binary_file_is_no_text(tmp_path, simple, capsys):
    path, matrix = tmp_path / "c.json", tmp_path / "A.npy"
    path.write_text(json.dumps(simple))
    np.save(matrix, np.eye(2))
    said = (
        f"unreadable: the matrix {matrix} is not a text file; write each row as a line of numbers"
    )
    reason = rb.check_certificate(path, matrix).reason
    assert reason == f"{said} separated by commas, or pass the array as A"
    assert rb.check_certificate(matrix).reason == f"unreadable: {matrix} is not a text file"
    status, printed, _ = run_command(capsys, "check", path, "--matrix", matrix)
    assert (status, printed) == (1, f"REJECTED: {said} separated by commas\n")


def test_a_file_that_is_too_large_is_not_read(tmp_path, simple, monkeypatch):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(simple))
    monkeypatch.setattr(check, "MAX_BYTES", 10)
    assert check.verdict(str(path))[3] == f"{path} has more than 10 bytes"


@pytest.mark.parametrize(
    "change",
    [
        {"lower": "1e400"},
        {"upper": "nan"},
        {"lower": None},
        {"level": "exact", "lower": "1e9999999"},
    ],
)
def test_numbers_beyond_doubles_have_a_verdict(change, tmp_path, verdict):
    game = rb.Game(np.eye(2), rb.Capped(1))
    document = rb.certify(rb.solve(game), level="numerical").document
    assert not verdict({**document, **change})
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**document, **change}))
    with pytest.raises(rb.InputError, match="is not a certificate"):
        Certificate.load(path)


def test_huge_bounds_are_shown(tmp_path, simple):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(with_digest({**simple, "upper": str(10**400)})))
    assert "inf" in repr(Certificate.load(path))
    assert rb.check_certificate(path)


def test_the_matrix_given_is_not_rounded(verdict, simple):
    for A in (np.ones((2, 1), np.longdouble), np.full((2, 1), 2**53 + 1)):
        if A.dtype.itemsize > 8 or A.dtype.kind == "i":
            with pytest.raises(rb.InputError, match="would be rounded to floats"):
                verdict(simple, A)
    with pytest.raises(rb.InputError, match="must be a matrix of numbers"):
        verdict(simple, np.ma.masked_equal(np.ones((2, 1)), 1))
    assert verdict(simple, np.ones((2, 1), np.float16))


def test_certificates_of_forced_entropies_and_tiny_entries(verdict, rng):
    for m in (3, 7):
        game = rb.Game(rng.uniform(-1, 1, (m, 2)), rb.BinaryEntropy(m))
        assert verdict(rb.certify(rb.solve(game)).document)
    A = rng.choice([1.0, -1.0, 1e-80, -1e-80], (3000, 2))
    game = rb.Game(A, rb.Capped(10))
    assert verdict(rb.certify(rb.solve(game)).document)


def extreme(rng, m, n):
    return rng.uniform(-1, 1, (m, n)) * 10.0 ** rng.uniform(-300, 0, (m, n))


@pytest.mark.parametrize("f", [rb.HardMargin(), rb.Capped(3), rb.KLPenalty(0.1)], ids=repr)
@pytest.mark.parametrize("kind", ["tiny", "mixed", "float32"])
def test_extreme_entries_are_certified_and_accepted(f, kind, verdict, rng):
    A = extreme(rng, 20, 1000)
    if kind == "mixed":
        A = rng.choice([1e-300, -5e-324, 1.0, -1.0, 0.3], A.shape)
    game = rb.Game(A.astype(np.float32) if kind == "float32" else A, f)
    certificate = rb.certify(game, d=extreme(rng, 20, 1)[:, 0] ** 2, w=extreme(rng, 1000, 1)[:, 0])
    assert verdict(certificate.document)


def test_an_optimum_with_fractions_too_long_is_shortened(monkeypatch, verdict):
    A = np.abs(extreme(np.random.default_rng(1), 12, 9)) + np.eye(12, 9) / 2
    best = rb.certificates.exact_optimum(rb.Game(np.minimum(A, 1)))
    assert max(x.denominator for x in best.d) > 10**900
    assert rb.certify(best).gap == 0
    monkeypatch.setattr(check, "MAX_WORK", 15_000)  # in place of a thousand times as many rows
    certificate = rb.certify(best)
    assert verdict(certificate.document)
    assert certificate.lower <= best.value <= certificate.upper
    assert 0 < certificate.gap < 1e-15
    pair = {"d": best.d, "w": (best.support, best.w)}  # exactly these were asked for
    with pytest.raises(
        rb.InputError, match=r"limits of the checker: .*more work.*d and w as floats"
    ):
        rb.certify(best.game, **pair)


def test_what_the_checker_would_not_read_is_an_error(monkeypatch, verdict):
    wide = rb.matrices.stumps(np.arange(9000.0)[:, None], np.ones(9000))
    with pytest.raises(rb.InputError, match=r"at most 67108864 entries.*fewer columns"):
        rb.certify(rb.Game(wide), d=np.ones(9000), w=np.ones(8999))
    f = rb.KLPenalty(1)
    for _ in range(7):
        f += rb.NormPenalty(1, 0.1)
    game, pair = rb.Game(np.eye(2), f), {"d": [0.5, 0.5], "w": [0.5, 0.5]}
    assert verdict(rb.certify(game, **pair).document)
    for _ in range(20):
        f += rb.NormPenalty(1, 0.1)
    with pytest.raises(rb.InputError, match="objects are nested more than 20 deep"):
        rb.certify(rb.Game(np.eye(2), f), **pair)
    # As little as a certificate takes, wherever A is written, is what the checker admits.
    game = rb.Game(np.random.default_rng(0).uniform(-1, 1, (60, 4)), rb.Capped(9))
    pair = {"d": np.ones(60), "w": np.ones(4)}
    document = rb.certify(game, **pair).document
    seen = set()
    for units in range(5000, 6500, 100):
        monkeypatch.setattr(check, "MAX_WORK", units)
        accepted = bool(verdict(document))
        seen.add(accepted)
        try:
            rb.certify(game, **pair)
        except rb.InputError:
            assert not accepted
        else:
            assert accepted
    assert seen == {True, False}


def test_files_that_are_no_certificates(tmp_path):
    path = tmp_path / "c.json"
    for text in ("", "[]", '{"level": "exact", "lower": "x", "upper": "1"}', "{" * 10**5):
        path.write_text(text)
        with pytest.raises(rb.InputError, match="is not a certificate"):
            Certificate.load(path)
