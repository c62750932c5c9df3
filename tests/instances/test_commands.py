"""`relaxboost check`, `relaxboost instances` and `relaxboost solve --certificate`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.instances.spec import read_spec
from tests.command import run
from tests.instances.conftest import SPEC
from tests.processes import on_a_terminal


@pytest.fixture
def call(capsys):
    """Run a command in this process; return its status and what it printed."""
    return partial(run, capsys)


@pytest.fixture
def csv(tmp_path, rng):
    X = np.round(rng.normal(size=(12, 2)), 1)
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=12) > 0, "good", "bad")
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    (tmp_path / "toy.csv").write_text("\n".join(["a,b,quality", *lines]) + "\n")
    return tmp_path / "toy.csv"


def test_check(call, made, own):
    path = made / "games" / "identity-3.json"
    status, out, err = call("check", path)
    assert (status, err) == (0, "")
    first, game = out.splitlines()
    assert first == "accepted, exact: 0.333333333333 <= rho <= 0.333333333334"
    assert game == "of the game with 3 examples and 3 hypotheses, hard-margin() over l1(size=1)"
    out = call("check", made / "games" / "matching-pennies.json")[1]
    assert out.startswith("accepted, exact: 0.000000000000 <= rho <= 0.000000000000, rho = 0\n")
    status, out, _ = call("check", path, "--json")
    content = json.loads(out)
    assert (status, content["ok"], content["level"]) == (0, True, "exact")
    assert Fraction(content["lower"]) <= Fraction(1, 3) <= Fraction(content["upper"])
    spoiled = own / "games" / "identity-3.json"
    spoiled.write_text(spoiled.read_text().replace('"lower": "', '"lower": "1'))
    assert call("check", spoiled)[:2] == (1, "REJECTED: the lower bound is above what w proves\n")
    status, out, _ = call("check", spoiled, "--json")
    assert (status, json.loads(out)["ok"]) == (1, False)
    assert json.loads(out)["reason"] == "the lower bound is above what w proves"
    spoiled.write_text("no certificate")
    assert call("check", spoiled)[0] == 2
    status, out, err = call("check", own / "nothing.json")
    assert (status, out) == (2, "")
    assert err.endswith("nothing.json does not exist; check the path\n")
    assert call("check", own)[0] == 2


def test_check_with_a_matrix(call, tmp_path):
    game = rb.Game([[0.5, -1], [0.25, 1], [-0.125, 0.5]])
    rb.certify(rb.reference(game), inline=False).save(tmp_path / "c.json")
    (tmp_path / "A.csv").write_text("0.5,-1\n0.25,1\n-0.125,0.5\n")
    (tmp_path / "B.csv").write_text("0.5,-1\n0.25,1\n-0.125,0.75\n")
    assert call("check", tmp_path / "c.json", "--matrix", tmp_path / "A.csv")[0] == 0
    status, out, _ = call("check", tmp_path / "c.json", "--matrix", tmp_path / "B.csv")
    assert (status, out) == (1, "REJECTED: the SHA-256 of A differs from that in the file\n")
    status, out, _ = call("check", tmp_path / "c.json")
    assert (status, out) == (
        1,
        "REJECTED: the file is incomplete, because it lacks A; pass --matrix FILE, or make a file "
        "that contains it with certify(..., inline=True)\n",
    )
    assert call("check", tmp_path / "c.json", "--matrix", tmp_path / "C.csv")[0] == 2


@pytest.mark.parametrize("relaxation", ["hard", "KLPenalty(0.1)"])
def test_solve_writes_a_certificate(call, csv, tmp_path, relaxation):
    path = tmp_path / "out.json"
    options = ["--label", "quality", "--relaxation", relaxation, "--tol", "1e-6"]
    status, out, _ = call("solve", csv, *options, "--certificate", path)
    level = "exact" if relaxation == "hard" else "enclosed"
    assert status == 0
    assert f"proof:      {path}, Certificate({level}: " in out
    assert call("check", path)[1].startswith(f"accepted, {level}: ")
    first = path.read_bytes()
    status, out, _ = call("solve", csv, *options, "--certificate", path, "--json")
    content, verdict = json.loads(out), rb.check_certificate(path)
    assert path.read_bytes() == first
    assert content["lower"] <= verdict.lower <= verdict.upper <= content["upper"]


def test_a_certificate_that_cannot_be_written_is_said_before_work(call, csv, monkeypatch):
    monkeypatch.setattr("relaxboost.solvers.solve", None)
    common = ["solve", csv, "--label", "quality", "--certificate"]
    status, _, err = call(*common, "no/out.json")
    assert status == 2
    assert "folder no does not exist; create it" in err
    status, _, err = call(*common, "out.txt")
    assert status == 2
    assert "use a name that ends in .json" in err
    monkeypatch.setitem(sys.modules, "flint", None)
    status, _, err = call(*common, "out.json", "--relaxation", "KLPenalty(1)")
    assert status == 2
    assert "pip install 'python-flint>=0.7'" in err
    status, _, err = call(*common, "out.json", "--over", "l2")
    assert status == 2


def test_make_and_check(call, tmp_path, made):
    spec = tmp_path / "games.toml"
    spec.write_text(SPEC)
    status, out, err = call("instances", "make", spec, "-o", tmp_path / "games")
    assert (status, err) == (0, "")  # no progress bar: this is no terminal
    assert out == (
        f"{tmp_path / 'games'}: 17 games, 17 made, 0 kept; times are in games.log next to it\n"
    )
    status, out, err = call("instances", "make", spec, "-o", tmp_path / "games", "--json")
    content = json.loads(out)
    assert (status, err, content["made"], len(content["kept"])) == (0, "", [], 17)
    status, out, err = call("instances", "check", tmp_path / "games")
    lines = out.splitlines()
    assert (status, err, len(lines)) == (0, "", 19)
    assert lines[0].split() == ["name", "level", "lower", "upper", "gap"]
    assert any(line.split()[:2] == ["identity-3", "exact"] for line in lines)
    assert lines[-1].endswith("games: 17 games, all accepted")
    shutil.copy(made / "games" / "identity-3.json", tmp_path / "games" / "another.json")
    status, out, _ = call("instances", "check", tmp_path / "games")
    assert status == 1
    assert "REJECTED: another.json is not in the index" in out
    (tmp_path / "games" / "another.json").unlink()
    (tmp_path / "games" / "identity-3.json").write_text("{}")
    status, out, _ = call("instances", "check", tmp_path / "games")
    assert status == 1
    assert "identity-3.json differs from the file that the index describes" in out
    assert out.endswith("games: 17 games, 1 rejected\n")
    status, out, _ = call("instances", "check", tmp_path / "games", "--json")
    content = json.loads(out)
    assert (status, content["ok"]) == (1, False)
    assert [row["name"] for row in content["games"] if not row["ok"]] == ["identity-3"]


def test_a_wide_gap_is_status_one(call, tmp_path):
    (tmp_path / "one.toml").write_text(
        '[[game]]\ngenerator = "uniform"\nrows = 5\ncolumns = 4\nrelaxations = "KLPenalty(0.1)"\n'
        "tol = 1e-30\n"
    )
    status, out, _ = call("instances", "make", tmp_path / "one.toml", "-o", tmp_path / "one")
    assert status == 1
    assert "uniform-5x4-000.klpenalty-0.1: the gap is wider than tol" in out


def test_bad_input_is_one_line_and_status_two(call, tmp_path):
    status, out, err = call("instances", "make", tmp_path / "none.toml", "-o", tmp_path / "out")
    assert (status, out) == (2, "")
    assert err == f"relaxboost: {tmp_path / 'none.toml'} does not exist; check the path\n"
    status, out, err = call("instances", "check", tmp_path / "none")
    assert (status, out) == (2, "")
    assert err.endswith("none is not a folder. Make a set with `relaxboost instances make` first\n")
    assert call("instances", "make", tmp_path / "none.toml")[0] == 2  # no -o
    assert call("instances")[0] == 2


def test_interrupted(call, tmp_path, monkeypatch):
    (tmp_path / "games.toml").write_text(SPEC)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("relaxboost.instances.making._solution", interrupted)
    status, _, err = call("instances", "make", tmp_path / "games.toml", "-o", tmp_path / "out")
    assert status == 130
    assert err == (
        "relaxboost: interrupted; finished results are stored, and the same command continues\n"
    )


def test_the_progress_bar_is_for_terminals(made):
    import pty

    command = [sys.executable, "-m", "relaxboost", "instances", "check", str(made / "games")]
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert piped.stderr == ""
    leader, follower = pty.openpty()
    env = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, text=True, env=env)
    os.close(follower)
    out, shown = on_a_terminal(process, leader)
    assert out == piped.stdout
    assert b"checking" in shown
    assert b"17/17" in shown


def test_help_shows_a_working_specification(call, tmp_path):
    status, out, _ = call("instances", "make", "--help")
    assert status == 0
    lines = out.split("A specification:\n")[1].split("Example:")[0].splitlines()
    (tmp_path / "games.toml").write_text("\n".join(line.strip() for line in lines))
    read_spec(tmp_path / "games.toml")
    assert "relaxboost instances make games.toml -o games" in out
    assert "relaxboost check margin.json" in call("check", "--help")[1]
    assert {"solve", "check", "instances"} <= set(call("--help")[1].split())
