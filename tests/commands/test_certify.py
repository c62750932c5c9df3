"""`relaxboost certify`: certificates written for other checkers, and how it refuses."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import relaxboost as rb
import tests.command
from relaxboost.commands import predict
from relaxboost.commands.cli import main
from relaxboost.instances import sets
from relaxboost.planning import models
from relaxboost.solvers import checkpoint
from tests.certificates.certo_reader import read_certo
from tests.certificates.latex_reader import read_latex
from tests.certificates.lean_reader import read_lean
from tests.certificates.vipr_checker import read_vipr

A = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 0.5]])


def saved(folder, f=None, **options):
    game = rb.Game(A, f or rb.Capped(2))
    certificate = rb.certify(game, d=[0.5, 0.5, 0], w=[0.5, 0.5], **options)
    certificate.save(folder / "game.json")
    return certificate


@pytest.fixture
def run(capsys):
    return partial(tests.command.run, capsys, "certify")


def test_a_file_of_each_form(tmp_path, run):
    certificate = saved(tmp_path)
    for form, names, read in [
        ("vipr", ["game.lower.vipr", "game.upper.vipr"], read_vipr),
        ("lean", ["game.lean"], read_lean),
        ("latex", ["game.tex"], lambda text: read_latex(text) and certificate),
        ("mps", ["game.mps", "game.points.json"], lambda text: certificate),
        ("certo", ["game.certo.json"], lambda text: read_certo(text) and certificate),
    ]:
        written = [str(tmp_path / name) for name in names]
        assert run(tmp_path / "game.json", "--format", form) == (0, "\n".join(written) + "\n", "")
        for name in names:
            found = read((tmp_path / name).read_text())
            assert (found.lower, found.upper) == (certificate.lower, certificate.upper)


def test_what_a_solver_found_is_certified_in_short_fractions(tmp_path, run, capsys):
    """The doubles of an optimum are fractions up to rounding, and these prove more."""
    csv, file = tmp_path / "t.csv", tmp_path / "t.json"
    csv.write_text("a,b,y\n1,2,0\n2,5,1\n3,1,0\n4,4,1\n5,3,0\n2,2,1\n")
    given = ["--label", "y", "--k", "2", "--method", "lpboost"]
    main(["solve", str(csv), *given, "--certificate", str(file)])
    assert "1/3 <= rho <= 1/3, gap 0" in capsys.readouterr().out
    for form in ("latex", "lean"):
        assert run(file, "--format", form)[0] == 0
    assert read_latex((tmp_path / "t.tex").read_text())
    assert read_lean((tmp_path / "t.lean").read_text()).lower == Fraction(1, 3)
    rough = rb.solve(rb.Game(A, rb.Capped(2)), 0.5, "corrective", max_rounds=1)
    certificate = rb.certify(rough)
    assert rough.lower - 1e-9 <= certificate.lower < certificate.upper <= rough.upper + 1e-9
    certificate.save(file)
    status, _, error = run(file, "--format", "latex")
    assert (status, "or solve to a smaller tol" in error) == (2, True)


def test_a_pair_that_is_given_is_kept_though_short_fractions_are_near():
    found = rb.solve(rb.Game(A, rb.Capped(2)), 1e-9)
    assert rb.certify(found).document["d"] == {"denominator": "2", "numerators": ["1", "1", "0"]}
    away = Fraction(1, 10**12)
    kept = rb.certify(found, d=[Fraction(1, 2), Fraction(1, 2) - away, away])
    assert kept.document["d"]["denominator"] == str(10**12)
    assert kept.lower == 0 < kept.upper


def test_the_matrix_and_the_name_are_given(tmp_path, run):
    saved(tmp_path, inline=False)
    file, matrix, out = tmp_path / "game.json", tmp_path / "A.csv", tmp_path / "mine"
    np.savetxt(matrix, A, delimiter=",")
    status, _, error = run(file, "--format", "lean")
    assert status == 2
    assert error.startswith(
        "relaxboost: this certificate is not accepted, so it cannot be exported: "
    )
    assert "it lacks A; pass --matrix FILE, or make a file" in error
    options = ("--format", "lean", "--matrix", matrix, "--out", out, "--json")
    status, printed, _ = run(file, *options)
    assert status == 0
    assert json.loads(printed) == {"file": str(file), "written": [f"{out}.lean"]}
    read_lean((tmp_path / "mine.lean").read_text())


@pytest.mark.parametrize(
    ("form", "out", "names"),
    [
        ("lean", "x.lean", {"x.lean"}),
        ("latex", "x.tex", {"x.tex"}),
        ("vipr", "x.vipr", {"x.lower.vipr", "x.upper.vipr"}),
        ("lean", "x.1", {"x.1.lean"}),
        ("lean", ".lean", {".lean.lean"}),
        ("certo", "x.certo.json", {"x.certo.json"}),
        ("certo", "x", {"x.certo.json"}),
        ("mps", "x.mps", {"x.mps", "x.points.json"}),
    ],
)
def test_an_ending_is_written_once(form, out, names, tmp_path, run):
    saved(tmp_path)
    assert run(tmp_path / "game.json", "--format", form, "--out", tmp_path / out)[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == names | {"game.json"}


def test_bad_input_is_one_line_and_status_two(tmp_path, run):
    file = tmp_path / "game.json"
    assert "does not exist" in run(file, "--format", "vipr")[2]
    assert "is no file" in run(tmp_path, "--format", "vipr")[2]
    saved(tmp_path, rb.KLPenalty(0.1))
    assert "this one is level 'enclosed'" in run(file, "--format", "vipr")[2]
    good = saved(tmp_path).document
    for argument in ("pdf", ""):
        assert run(file, "--format", argument)[0] == 2
    assert run(file)[0] == 2
    assert run(file, "--format", "vipr", "--matrix", tmp_path / "none")[0] == 2
    status, printed, error = run(file, "--format", "vipr", "--out", tmp_path / "no" / "name")
    assert (status, printed, error.count("\n")) == (2, "", 1)
    for form, ending in (("vipr", "lower.vipr"), ("latex", "tex"), ("certo", "certo.json")):
        error = run(file, "--format", form, "--out", tmp_path / "no" / "name")[2]
        assert f"cannot write {tmp_path / 'no' / 'name'}.{ending}: folder" in error
    file.write_text(json.dumps({**good, "upper": "1/100"}))
    assert "not accepted" in run(file, "--format", "vipr")[2]
    file.write_text("{")
    assert run(file, "--format", "vipr")[0] == 2
    assert not [*tmp_path.glob("*.vipr")]


READERS = {
    predict.FORMAT: "predict",
    checkpoint.FORMAT: "solve --checkpoint",
    sets.FORMAT: "instances check",
    models.FORMAT: "plan evaluate",
    models.BOOSTED: "plan evaluate",
}


def test_other_files_of_the_package_are_named(tmp_path, capsys):
    table = tmp_path / "data.csv"
    table.write_text("a,b,y\n0.5,2,no\n1.5,1,yes\n3,4,no\n5,1,yes\n")
    stumps = tmp_path / "model.json"
    run = tmp_path / "run.json"
    made = ["solve", table, "--label", "y", "--k", 2, "--model", stumps, "--checkpoint", run]
    assert tests.command.run(capsys, *made)[0] == 0
    files = {predict.FORMAT: stumps, checkpoint.FORMAT: run}
    files[sets.FORMAT] = Path(sets.__file__).parent / "corner-cases" / "index.json"
    for name, reader in READERS.items():
        file = files.get(name, tmp_path / f"{name}.json")
        if name not in files:
            file.write_text(json.dumps({"format": name, "version": 1, "weights": [0.25]}))
        said = f"{file} is not a certificate: its format is {name!r}, which relaxboost {reader} "
        for command in (["check", file], ["certify", file, "--format", "vipr"]):
            status, _, error = tests.command.run(capsys, *command)
            assert (status, error) == (2, f"relaxboost: {said}reads\n")


def test_what_is_no_certificate_is_bad_input(tmp_path, capsys):
    picture = b"\x89PNG\r\n\x1a\n"
    for text in (
        b"",
        b"a,b",
        picture,
        b"[]",
        b"{}",
        b'{"level": "exact", "lower": "x", "upper": "1"}',
    ):
        (tmp_path / "game.json").write_bytes(text)
        for command in ("check", "certify"):
            options = ["--format=vipr"] * (command == "certify")
            status, _, said = tests.command.run(capsys, command, tmp_path / "game.json", *options)
            assert status == 2, text
            assert "game.json is not a certificate" in said
            assert ("because it is not JSON. Pass a file" in said) == (
                text in (b"", b"a,b", picture)
            )
    found = saved(tmp_path).document
    (tmp_path / "game.json").write_text(json.dumps({**found, "upper": "-1"}))
    status, said, _ = tests.command.run(capsys, "check", tmp_path / "game.json")
    assert (status, said) == (1, "REJECTED: the upper bound is below what d proves\n")
