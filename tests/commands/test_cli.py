"""The command line, as a real process where that matters."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import click
import numpy as np
import pandas as pd
import pytest

import relaxboost as rb
from relaxboost.commands.cli import VERBS, cli, main
from relaxboost.commands.style import folded
from relaxboost.estimators import MarginBoostClassifier
from tests.command import refused
from tests.command import run as run_here
from tests.processes import ctrl_c, shown_on


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "relaxboost", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


@pytest.fixture
def printed(capsys):
    """Return a function that runs a command here, in this process, and returns what it prints."""

    def command(*arguments):
        main([*map(str, arguments)])
        return capsys.readouterr().out

    return command


@pytest.fixture
def csv(tmp_path, rng):
    X = np.round(rng.normal(size=(80, 3)), 2)
    y = np.where(X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=80) > 0, "good", "bad")
    path = tmp_path / "toy.csv"
    rows = [",".join([*map(str, x), label]) for x, label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(["height,width,depth,quality", *rows]) + "\n")
    return path


def test_solve_takes_a_part_of_the_value_and_a_checkpoint(csv, tmp_path, printed):
    file = tmp_path / "run.json"
    options = [
        "--label",
        "quality",
        "--fraction",
        "0.4",
        "--rtol",
        "0.05",
        "--checkpoint",
        str(file),
    ]
    lines = printed("solve", str(csv), *options).splitlines()
    assert "asked 1e-08 or 0.05 |rho|: gap reached" in lines[2]
    before = json.loads(file.read_text())
    again = json.loads(printed("solve", str(csv), *options, "--json"))
    assert (again["lower"], again["upper"]) == (before["lower"], before["upper"])
    assert "resumed after" in again["message"]


def test_solve_prints_bracket_names_and_margins(csv, capsys):
    result = run("solve", csv, "--label", "quality", "--fraction", "0.1", "--tol", "1e-6")
    assert result.returncode == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].startswith("data:       toy, 80 examples, 3 features; +1 is 'good' (")
    assert lines[1].endswith("decision stumps, Capped(k=8)")
    assert lines[2].startswith("certified:  ")
    assert "<= rho <=" in lines[2]
    assert lines[3].startswith("method:     auto (")
    fig1 = ("--method", "corrective", "--max-rounds", "1", "--time-limit", "20")
    limited = ("--label", "quality", "--fraction", "0.1", "--tol", "1e-6", *fig1)
    status, out, _ = run_here(capsys, "solve", csv, *limited)
    assert status == 1
    assert "method:     corrective (fig1), 1 round, " in out
    assert any(name in result.stdout for name in ("width <= ", "height > "))
    assert "median" in result.stdout


def test_other_sets_of_weights(csv, capsys):
    arguments = ["solve", str(csv), "--label", "quality", "--over", "l2", "--radius", "1/2"]
    main(arguments)
    assert "HardMargin(), over L2Ball(radius=0.5)" in capsys.readouterr().out
    main([*arguments[:4], "--over", "simplex", "--json"])
    assert json.loads(capsys.readouterr().out)["over"] == "Simplex()"
    main([*arguments[:4], "--over", "simplex", "--radius", "2", "--json"])
    assert json.loads(capsys.readouterr().out)["over"] == "Simplex(radius=2)"
    main([*arguments[:4], "--over", "full-simplex", "--radius", "1/3"])
    assert "over FullSimplex(radius=Fraction(1, 3))" in capsys.readouterr().out


def test_any_relaxation_by_its_expression(csv, capsys):
    given = "Capped(fraction=1/5) + 0.5*NormPenalty(2, 0.1)"
    main(["solve", str(csv), "--label", "quality", "--relaxation", given, "--json"])
    content = json.loads(capsys.readouterr().out)
    assert content["relaxation"] == "(Capped(k=16) + 0.5 * NormPenalty(2, 0.1))"
    assert content["upper"] - content["lower"] <= 1e-3


def test_json_is_the_library(csv, printed):
    options = ["--label", "quality", "--k", "7/2", "--tol", "1e-6", "--json"]
    content = json.loads(printed("solve", csv, *options))
    data = rb.matrices.datasets.read_csv(csv, "quality")
    game = rb.Game(rb.matrices.stumps(data.X, data.y, data.feature_names), rb.Capped(3.5))
    solution = rb.solve(game, 1e-6)
    assert content["lower"] == solution.lower
    assert content["upper"] == solution.upper
    assert content["status"] == "optimal"
    assert content["game_digest"] == game.digest
    assert content["relaxation"] == "Capped(k=3.5)"
    assert content["classes"] == {"-1": "bad", "+1": "good"}
    weights = {w["column"]: w["coefficient"] for w in content["weights"]}
    assert weights == dict(
        zip(solution.support.tolist(), solution.coefficients.tolist(), strict=True)
    )
    assert content["margin_quantiles"]["min"] == pytest.approx(solution.margins.min())


def test_numbers_mean_what_they_mean_in_python(csv, printed):
    data = rb.matrices.datasets.read_csv(csv, "quality")
    matrix = rb.matrices.stumps(data.X, data.y, data.feature_names)
    for options, relaxation in (
        (["--fraction", "0.07"], rb.Capped(fraction=0.07)),
        (["--k", "5.7"], rb.Capped(5.7)),
        (["--k", "57/10"], rb.Capped(Fraction(57, 10))),
    ):
        content = json.loads(printed("solve", csv, "--label", "quality", "--json", *options))
        assert content["game_digest"] == rb.Game(matrix, relaxation).digest


def test_breast_cancer_by_name(printed):
    out = printed("solve", "--dataset", "breast-cancer", "--k", "56", "--tol", "1e-6")
    bracket = re.search(r"(0\.\d+) <= rho <= (0\.\d+)", out)
    assert float(bracket[1]) <= 0.1686630021434 <= float(bracket[2]) <= float(bracket[1]) + 1.1e-6
    assert re.search(r"0\.0\d+  (worst|mean) [a-z ]+ (<=|>) [0-9.]+\n", out)


def test_plot_is_a_picture(csv, tmp_path, printed):
    for suffix, magic in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")):
        picture = tmp_path / f"out{suffix}"
        assert str(picture) in printed("solve", csv, "--label", "quality", "--plot", picture)
        assert picture.read_bytes().startswith(magic)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "out.pdf",
        "out.png",
        "out.svg",
        "toy.csv",
    ]


def test_a_gap_not_reached_is_status_one(csv, capsys):
    options = ["--label", "quality", "--method", "corrective", "--max-rounds", "3"]
    options += ["--time-limit", "20"]  # the method needs far more rounds than it gets
    with pytest.raises(SystemExit) as ended:
        main(["solve", str(csv), *options])
    assert ended.value.code == 1
    out = capsys.readouterr().out
    assert "max_rounds was reached at a gap of" in out
    assert "<= rho <=" in out


def test_missing_values_go_left_and_right(tmp_path, printed):
    path, proof = tmp_path / "gaps.csv", tmp_path / "proof.json"
    rows = ["age,town,none,ok", ",,,no", "NA,Rome,,no", "3,Rome,,yes", "5,Oslo,,yes", "4,?,,yes"]
    path.write_text("\n".join(rows))
    options = ("--method", "lpboost", "--certificate", proof)  # at a vertex
    out = printed("solve", path, "--label", "ok", *options)
    assert "5 examples, 3 features" in out
    assert "missing:    9 values, in age, town, none; some stumps send them left" in out
    assert "  1.0000  age is known\n" in out
    assert "Certificate(exact: 1 <= rho <= 1, gap 0)" in out
    assert "accepted, exact" in printed("check", proof)
    frame = pd.read_csv(path, na_values="?")
    y, X = frame.pop("ok"), frame.drop(columns="none")
    fitted = MarginBoostClassifier("hard", hypotheses="stumps", folds=None).fit(X, y)
    content = json.loads(printed("solve", path, "--label", "ok", "--json"))
    assert content["missing"] == {"age": 2, "town": 2, "none": 5}
    assert fitted.margin_ == pytest.approx([content["lower"], content["upper"]])
    path.write_text(path.read_text().replace(",,,no", "-1e308,,,no").replace("5,O", "1e308,O"))
    assert json.loads(printed("solve", path, "--label", "ok", "--json"))["lower"] > 0.9


def test_words_that_fit_anything_are_noted(tmp_path, printed):
    path = tmp_path / "days.csv"
    days = [f"2030-01-{n:02},{n % 3},{'no' if n % 7 else 'yes'}" for n in range(1, 29)]
    path.write_text("\n".join(["day,shift,late", *days]))
    out = printed("solve", path, "--label", "late", "--fraction", "0.5")
    assert "note:       most words in 'day' are distinct" in out
    path.write_text(path.read_text().replace("day,", "y,", 1))  # a feature of that name
    out = printed("solve", path, "--label", "late", "--fraction", "0.5")
    assert "note:       most words in 'y' are distinct" in out
    path.write_text(path.read_text().replace("2030-01-", ""))
    assert "are distinct" not in printed("solve", path, "--label", "late", "--fraction", "0.5")


def test_columns_are_left_out_before_they_are_read(tmp_path, printed, capsys):
    path = tmp_path / "days.csv"
    rows = [f'{n},C{n},{n % 3},"1,5",{"no" if n % 7 else "yes"}' for n in range(1, 29)]
    path.write_text("\n".join(["n,id,shift,price,late", *rows]))
    given = ["solve", str(path), "--label", "late", "--json"]
    once = json.loads(printed(*given, "--drop", "id, price"))
    twice = json.loads(printed(*given, "--drop", "id", "--drop", "price"))
    assert once["fit_all"] == twice["fit_all"] == []
    assert "id" in json.loads(printed(*given, "--drop", "price"))["fit_all"]
    assert once["lower"] == twice["lower"]
    for option, said in (
        (["--drop", "ids"], f"--drop ids names no column of {path}; did you mean id?"),
        (["--drop", "late"], "--drop late names no column"),
        (["--drop", "n,id,shift,price"], "no column besides the label 'late'"),
    ):
        with pytest.raises(SystemExit):
            main([*given, *option])
        assert said in " ".join(capsys.readouterr().err.split())
    with pytest.raises(SystemExit):
        main(["solve", "--dataset", "breast-cancer", "--drop", "x"])
    assert "leave --drop out" in capsys.readouterr().err


def test_lines_wrap_but_for_paths_and_commands_to_copy():
    path = "/".join(["folder"] * 30)
    assert path in folded(f"written:    the file {path}", 80).split()
    command = f"  check:       relaxboost claims check --file {path}"
    assert folded(command, 80) == command
    install = "pip install 'a[b]>=1' 'c<2,>=1'"
    assert f"\n  {install};" in folded(f"  {'words ' * 10}need it: {install}; again", 80)
    told = folded("relaxboost: " + "it is wrong; mend it " * 9, 80)
    assert max(map(len, told.splitlines())) <= 80


def test_an_old_name_of_a_method_is_answered_with_the_new_one(csv, capsys):
    main(["solve", str(csv), "--label", "quality", "--method", "combined", "--json"])
    out, err = capsys.readouterr()
    assert " ".join(err.split()).startswith("note: --method combined is now called --method auto;")
    assert json.loads(out)["method"].startswith("auto")


def test_the_help_names_every_method(capsys):
    main(["solve", "--help"])
    words = re.findall(r"[a-z-]+", capsys.readouterr().out.partition("--method")[2])
    missing = set(rb.solvers.METHODS) - set(words)
    assert not missing, f"the help of --method in commands/solve.py lacks {missing}"


def test_adaboost(csv, capsys):
    arguments = ["solve", str(csv), "--label", "quality", "--method", "adaboost"]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--step", "classical", "--max-rounds", "1000", "--tol", "1e-9"])
    assert ended.value.code == 1
    assert "method:     adaboost (classical), 1000 rounds" in capsys.readouterr().out
    main([*arguments[:-1], "adaboost-star", "--tol", "0.2"])
    assert "needs at most" not in capsys.readouterr().out


def test_ctrl_c_prints_the_best_bracket(csv):
    """On a terminal, once the progress bar counts rounds, Ctrl-C ends the run, not the answer."""
    import pty

    leader, follower = pty.openpty()
    options = ["--label", "quality", "--method", "corrective", "--tol", "1e-12"]
    process = subprocess.Popen(
        [sys.executable, "-m", "relaxboost", "solve", str(csv), *options],
        stdout=subprocess.PIPE,
        stderr=follower,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(follower)
    shown = b""
    while b"round" not in shown:
        shown += os.read(leader, 4096)
    with ThreadPoolExecutor(1) as pool:  # it is read on, lest the process wait for that
        rest = pool.submit(shown_on, leader)
        status, out, _ = ctrl_c(process)
    shown += rest.result()
    assert status == 1
    assert "interrupted at a gap of" in out
    assert "<= rho <=" in out
    assert b"Traceback" not in shown


def test_bad_input_in_a_real_process(tmp_path):
    result = run("solve", "missing.csv", "--labels", "y", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("relaxboost: No such option '--labels'")
    assert result.stderr.count("\n") == 1


def test_help_shows_a_working_example(printed):
    text = run("solve", "--help").stdout
    example = next(line for line in text.splitlines() if "--dataset breast-cancer --relax" in line)
    assert "<= rho <=" in printed(*example.split()[1:])
    assert "solve" in run("--help").stdout
    assert run("--version").stdout == f"relaxboost, version {rb.__version__}\n"


LOADED = """
import sys
from relaxboost.commands.cli import VERBS, cli, main
try:
    main(sys.argv[1].split())
except SystemExit:
    pass
print(*sorted({HEAVY} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("line", "heavy"),
    [
        ("--help", "numpy rich importlib.metadata"),
        ("solve --help", "numpy rich"),
        ("solve --dataset breast-cancer --k 56", "pandas sklearn cvxpy scipy.stats"),
    ],
)
def test_start_up_loads_only_what_is_used(line, heavy, printed):
    if "--help" not in line:
        printed(*line.split())  # compiles what is not in the cache
    script = LOADED.replace("HEAVY", ", ".join(map(repr, heavy.split())))
    command = [sys.executable, "-c", script, line]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


def test_the_list_of_verbs_says_what_their_help_says():
    context = click.Context(cli)
    for name, said in VERBS.items():
        assert said.split()[0] == cli.get_command(context, name).help.split()[0]
        assert len(said) <= 66  # a line of 80 columns
    assert cli.list_commands(context) == sorted(VERBS)
    assert cli.get_command(context, "nothing") is None


def test_missing_matplotlib_is_named_before_work(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    command = "solve --dataset breast-cancer --plot out.png"
    refused(capsys, "pip install 'matplotlib>=", *command.split())
    assert not os.path.exists("out.png")


@pytest.mark.parametrize("full", ["os.fsync", "tempfile.mkstemp"])
def test_what_a_full_disk_has_no_place_for_is_named(full, csv, tmp_path, monkeypatch, capsys):
    def refuse(*given, **options):
        raise OSError(28, "No space left on device", "a temporary name")

    monkeypatch.setattr(full, refuse)
    file = tmp_path / "proof.json"
    with pytest.raises(SystemExit) as ended:
        main(["solve", str(csv), "--label", "quality", "--k", "9", "--certificate", str(file)])
    said = f"relaxboost: cannot write {file}: No space left on device; free some disk space\n"
    assert (ended.value.code, capsys.readouterr().err) == (74, said)
    assert list(tmp_path.iterdir()) == [csv]


def test_small_weights_are_told_from_zero(csv, capsys):
    fig1 = ["--method", "corrective", "--tol", "1e-12", "--max-rounds", "9"]
    with pytest.raises(SystemExit, match="1"):
        main(["solve", str(csv), "--label", "quality", "--k", "9", *fig1])
    out = capsys.readouterr().out
    assert re.search(r"largest weights are\n +\d\.\de-\d\d  \w+ [<>]", out)
    assert re.search(r"quantile\n.*max\n +-?\d\.\de-\d\d ", out)


def test_a_game_too_large_for_a_certificate_is_refused_before_work(csv, capsys, monkeypatch):
    monkeypatch.setattr("relaxboost.certificates.check.MAX_MATRIX_ENTRIES", 10)
    with pytest.raises(SystemExit, match="2"):
        main(["solve", str(csv), "--label", "quality", "--k", "9", "--certificate", "big.json"])
    out, err = capsys.readouterr()
    assert out == ""
    assert "the checker reads matrices of at most 10 entries" in err
    assert err.endswith("; use fewer rows or columns, or leave out --certificate\n")


def test_a_folder_of_certificates_is_told_how_to_be_checked(tmp_path, capsys):
    said = "is a folder; name its files, or check a set of games"
    refused(capsys, said, "check", tmp_path)


def test_several_certificates_are_checked(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rb.certify(rb.solve(rb.Game([[1, 0], [0, 1]]))).save("one.json")
    document = json.loads((tmp_path / "one.json").read_text())
    (tmp_path / "two.json").write_text(json.dumps({**document, "upper": "-1"}))
    (tmp_path / "table.csv").write_text("a,b\n")
    status, out, err = run_here(capsys, "check", "one.json", "two.json")
    assert (status, err) == (1, "")
    accepted, game, rejected = out.splitlines()
    assert accepted.startswith("one.json: accepted, exact: 0.5")
    assert game.startswith("of the game with 2 examples and 2 hypotheses")
    assert rejected == "two.json: REJECTED: the upper bound is below what d proves"
    status, out, _ = run_here(capsys, "check", "one.json", "two.json", "--json")
    assert (status, [one["ok"] for one in json.loads(out)]) == (1, [True, False])
    assert run_here(capsys, "check", "one.json", "one.json")[0] == 0
    # One that is no certificate is named, also after others.
    refused(capsys, "table.csv is not a certificate", "check", "one.json", "table.csv")
