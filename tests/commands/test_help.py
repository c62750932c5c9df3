"""Help: 80 columns, options in one style, and examples that run."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
import tempfile
from importlib import metadata

import click
import numpy as np
import pandas as pd
import pytest

from relaxboost._core.errors import requirements
from relaxboost.commands import doctor, style
from relaxboost.commands.cli import cli, main
from relaxboost.online.proxies import PROXIES
from tests.command import refused
from tests.commands.test_fuzz import ended, verbs

VERBS = list(verbs(cli))
GROUPS = [((name,), cli.get_command(None, name)) for name in cli.list_commands(None)]
GROUPS = [((), cli), *(one for one in GROUPS if isinstance(one[1], click.Group))]
EXAMPLES = [
    (" ".join(path), line.strip().removesuffix("\\"))
    for path, command in VERBS
    for line in command.epilog.split("\n")
    if line.startswith("  relaxboost ")
]
RUN = {"solve", "check", "certify", "claims list", "instances make", "instances check"}
RUN |= {"online run", "predict"}
"""Verbs whose examples take a moment; those of others take minutes, or data, and are read only."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that examples name."""
    folder, rng = tmp_path_factory.mktemp("examples"), np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 2)), 2)
    y = np.sign(X.sum(axis=1) + 0.3 * rng.normal(size=60)).astype(int)
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    for name in ("data.csv", "d.csv", "big.csv", "new.csv"):
        table.to_csv(folder / name, index=False)
    table.to_parquet(folder / "data.parquet")
    clicks = table.drop(columns="y").assign(clicked=np.where(y > 0, "yes", "no"))
    clicks.to_csv(folder / "clicks.csv", index=False)
    table[["a", "b"]].clip(-1, 1).to_csv(folder / "costs.csv", index=False)
    text = '[[game]]\ngenerator = "signs"\nrows = 3\ncolumns = 2\n'
    (folder / "games.toml").write_text(text)
    with contextlib.chdir(folder):
        main(["instances", "make", "games.toml", "-o", "games"])
        main(
            [
                "solve",
                "data.csv",
                "--label",
                "y",
                "--certificate",
                "margin.json",
                "--model",
                "model.json",
            ]
        )
    return folder


def test_every_verb_has_an_example():
    assert {verb for verb, _ in EXAMPLES} == {" ".join(path) for path, _ in VERBS}


def test_every_group_has_the_example_of_a_verb():
    assert len(GROUPS) == 5
    for (name,), group in GROUPS[1:]:
        words = shlex.split(group.epilog.splitlines()[-1])[1:]
        assert words[0] == name
        with group.get_command(None, words[1]).make_context(name, words[2:]):
            pass


@pytest.mark.parametrize(("verb", "line"), EXAMPLES)
def test_examples_run(verb, line, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    words = shlex.split(line)[1:]
    if verb in RUN:
        assert ended(words) == 0, capsys.readouterr().err
        assert capsys.readouterr().out
        return
    path = verb.split()
    command = dict(VERBS)[tuple(path)]
    if "\\" not in command.epilog:  # the line is whole
        with command.make_context(verb, words[len(path) :]):
            pass


@pytest.mark.parametrize(("path", "command"), [*GROUPS, *VERBS])
def test_help_fits_a_terminal_and_options_are_of_one_style(path, command, capsys):
    main([*path, "--help"])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "...\n" not in printed.partition("Commands:")[2], "click has cut a sentence"
    if not isinstance(command, click.Group):
        assert {"quiet", "as_json"} <= {one.name for one in command.params}
        outputs = [one for one in command.params if isinstance(one.type, style.OutputFile)]
        assert all("overwritten" in f"{command.help} {one.help}" for one in outputs)


def test_standard_input_takes_csv_and_parquet_with_words(folder, capsys, tmp_path):
    table = pd.read_csv(folder / "data.csv").assign(colour=["red", "blue", "grey"] * 20)
    table.to_parquet(tmp_path / "words.parquet")
    table.to_csv(tmp_path / "words.csv", index=False, sep=";")
    options = ["--label", "y", "--k", "6", "--json"]
    command = [sys.executable, "-m", "relaxboost", "solve", "-", *options]
    data = (tmp_path / "words.parquet").read_bytes()
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    main(["solve", str(tmp_path / "words.csv"), "--sep", ";", *options])
    ours, theirs = json.loads(capsys.readouterr().out), json.loads(done.stdout)
    assert ours["game_digest"] == theirs["game_digest"]
    assert theirs["data"] == "standard input"
    names = " ".join(one["hypothesis"] for one in ours["weights"])
    assert "colour in {" in names


@pytest.mark.parametrize(
    ("words", "name", "status", "said"),
    [
        ("check - --json", "margin.json", 0, '"file": "standard input"'),
        ("check -", "games.toml", 2, "relaxboost: standard input is not a certificate"),
        (
            "certify - --format vipr",
            "margin.json",
            2,
            "from standard input has no name for its files",
        ),
        ("online run - --label y --radius 2", "data.csv", 0, "data:       standard input, 60"),
        (
            "plan fit --edges - --trips margin.json",
            "games.toml",
            2,
            "standard input is JSON; write",
        ),
    ],
)
def test_standard_input_of_other_verbs(
    words, name, status, said, folder, monkeypatch, capsys, tmp_path
):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    given = io.BytesIO((folder / name).read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
    assert ended(words.split()) == status
    assert said in "".join(capsys.readouterr())
    assert not list(tmp_path.iterdir())  # where standard input was kept


def test_standard_output_takes_one_file_and_the_rest_goes_to_standard_error(
    folder, monkeypatch, capsysbinary
):
    monkeypatch.chdir(folder)
    line = "solve data.csv --label y --k 6 --certificate -"
    assert ended(line.split()) == 0
    out, err = capsysbinary.readouterr()
    assert b"proof:      standard output, " in err
    assert b"certified:" in err
    (folder / "piped.json").write_bytes(out)
    assert ended(["check", "piped.json", "--quiet"]) == 0
    assert ended(["certify", "piped.json", "--format", "lean", "--out", "-"]) == 0
    assert capsysbinary.readouterr().out.count(b"\n") > 9
    for more in ("--json", "--model -"):
        assert ended(f"{line} {more}".split()) == 2
        assert b"only one result can go to standard output" in capsysbinary.readouterr().err


@pytest.mark.parametrize(
    "line", ["claims list SS09-T*", "claims show SS09-T9", "solve data.csv --label y --k 6"]
)
def test_lines_fit_a_terminal_and_are_whole_in_a_pipe(line, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "60")
    piped = None
    for terminal in (False, True):
        monkeypatch.setattr(sys.stdout, "isatty", lambda terminal=terminal: terminal)
        assert ended(line.split()) == 0
        out = re.sub(r"\d+\.\d+\s+s\b", "", capsys.readouterr().out)  # without the seconds
        assert (max(map(len, out.splitlines()[:9])) <= 60) == terminal
        piped = piped or out.split()
    assert out.split() == piped


def test_what_is_read_once_and_what_a_shell_makes_a_pipe_of(folder):
    run = f"{sys.executable} -m relaxboost"
    shell = f"{run} check <(cat margin.json) && {run} check - --matrix - <margin.json"
    done = subprocess.run(
        ["bash", "-c", shell], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout[:8]) == (2, "accepted")
    assert "standard input can be read only once" in done.stderr


def test_standard_input_is_named_on_windows_too(monkeypatch):
    monkeypatch.setattr(style.os, "sep", "\\")
    said = style.spoken_input(r"C:\tmp\relaxboost-1\standard input is empty")
    assert said == "standard input is empty"


def test_quiet_prints_nothing_but_data(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    main(["solve", "data.csv", "--label", "y", "--quiet"])
    assert capsys.readouterr() == ("", "")
    main(["solve", "data.csv", "--label", "y", "--quiet", "--json"])
    assert json.loads(capsys.readouterr().out)["status"] == "optimal"
    refused(capsys, "none.csv does not exist", "solve", "none.csv", "--label", "y", "--quiet")


def test_where_nothing_is_learned_the_hint_is_no_remedy_that_was_given(tmp_path, capsys):
    path = tmp_path / "flat.csv"
    path.write_text("a,y\n1,0\n1,1\n2,0\n2,1\n")
    main(["solve", str(path), "--label", "y"])
    assert "a cap (--k, --fraction)" in capsys.readouterr().out
    main(["solve", str(path), "--label", "y", "--fraction", "0.5"])
    said = capsys.readouterr().out
    assert "none: no vote" in said
    assert "--fraction" not in said
    assert "a larger k" in said


def test_a_run_that_stopped_early_does_not_say_that_there_is_no_vote(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert ended(shlex.split("solve data.csv --label y --fraction .2 --max-rounds 1")) == 1
    said = capsys.readouterr().out
    assert "0.0000 <= rho" in said
    assert "none: no vote was found before the run ended, but one may reach up to 0." in said
    assert "allow more rounds or time" in said


def test_doctor_knows_extras_that_there_are():
    extras = metadata.metadata("relaxboost").get_all("Provides-Extra")
    assert {*doctor.FEATURES} - {"pyarrow"} < {*extras}  # which is a part of dask's


def test_doctor_names_what_is_missing_and_how_it_is_had_here(monkeypatch, capsys):
    absent = {"flint", "ecos", "pyarrow"}
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name in absent else name)
    main(["doctor", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert set(found["missing"]) == {"exact", "ecos", "pyarrow"}
    assert re.search(r"pip install 'pyarrow>=[\d.]+'$", found["missing"]["pyarrow"]["install"])
    assert "ECOS" not in found["solvers"]  # what was never asked for does not fail
    assert all(requirements(extra) for extra in {*doctor.FEATURES} - {"pyarrow"})
    assert found["missing"]["exact"]["install"].startswith(sys.executable)
    assert "'python-flint>=0.7'" in found["missing"]["exact"]["install"]
    assert {name for name, one in found["solvers"].items() if one["works"]} >= {"auto", "CLARABEL"}
    assert found["libraries"]["numpy"] == np.__version__
    monkeypatch.setattr(doctor.rb, "reference", lambda game, name: 1 / 0)
    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert "CLARABEL  FAILS: division by zero" in said
    assert "exact optima" in said


@pytest.mark.parametrize(
    ("words", "found"), [("relaxboost so", "solve"), ("relaxboost solve --fra", "--fraction")]
)
def test_shells_complete_verbs_and_options(words, found, monkeypatch, capsys):
    monkeypatch.setenv("_RELAXBOOST_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out.split() == [f"plain,{found}"]


@pytest.mark.parametrize("verb", ["run", "regret"])
def test_the_names_of_proxies_are_listed(verb):
    *names, last = sorted(PROXIES)
    options = dict(VERBS)["online", verb].params
    [option] = [one for one in options if one.name == "proxy"]
    assert f"{', '.join(names)} or {last}" in option.help
