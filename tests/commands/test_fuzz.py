"""Thousands of bad command lines: each ends with a status that is documented, and one line."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import shutil
import signal
import subprocess
import sys
import time

import click
import numpy as np
import pytest

from relaxboost.commands.cli import cli, main
from tests.processes import ctrl_c

SKIPPED = {"claims attack", "doctor"}
"""They take long whatever they are given, and read what other verbs here read too."""
FILES = {
    "fine.csv": "a,b,y\n1,2,1\n2,1,-1\n3,4,1\n5,1,-1\n",
    "blank.csv": "\n\n \n",
    "empty.csv": "",
    "header.csv": "a,b,y\n",
    "odd.csv": "a,b,y\n1_0,12345678901234567890123,1\n\u0661,3,-1\n",
    "quotes.csv": 'a,b,y\n"1,2,1\n2,1,-1\n',
    "long.csv": "a,b,y\n1,2,1,9,9\n2,1,-1\n",
    "twice.csv": "a,a,y\n1,2,1\n2,1,-1\n",
    "huge.csv": "a,b,y\n1e400,2,1\n-1e308,1,-1\n",
    "nul.csv": "a,b,y\n\0,2,1\n2,1,-1\n",
    "windows.csv": "\ufeffa,b,y\r\nTrue,x,1\r\n,,\r\nFalse,z z,-1\r\n",
    "lines.csv": 'a,b,y\r1,"x\ny",1\r2,z,-1\r',
    "german.csv": "a;b;y\n1,5;2;1\n2;1;-1\n",
    "index.csv": ",a,a b,\n0,1,2,1\n",
    "edges.csv": "from,to,length,dark\nA,B,1,0\nB,C,2,1\nC,A,1,0\nA,C,4,0\n",
    "trips.csv": "name,path\none,A C\ntwo,C A B\n",
    "odd_edges.csv": "from,to,length,edge\nA,B,1,x\nB,C,-2,x\nC,,1,\n",
    "odd_trips.csv": "trip,node\none,A\none,C\none,Z\ntwo,A\n",
    "deep.json": "[" * 3000 + "]" * 3000,
    "deep.toml": "game = " + "[" * 3000,
    "list.json": "[1, 2]",
    "object.json": json.dumps({"format": "relaxboost.planning.linear", "version": 1}),
    "cut.json": '{"level": "exact", "game"',
    "games.toml": '[[game]]\nname = "a"\ngenerator = "signs"\nrows = 3\ncolumns = 2\n',
    "many.toml": "[[game]]\nmatrix = 3\n",
}
WORDS = [
    *FILES,
    *("utf16.csv", "packed.csv", "binary.csv", ";", "\\t"),
    *("", " ", "-", "--", "x", "y", "nan", "inf", "-inf", "0", "-1", "1e-320", "1e400", "1/0"),
    *(
        "0.5",
        "3",
        "9" * 5000,
        "\u0661",
        "\udcff",
        "a,b",
        ",",
        "[",
        "Capped(k=2)",
        "Capped(",
        "hard",
    ),
    *("KLBall(1)+" * 60 + "KLBall(1)", "SpectralRisk([1e999])", "__import__('os')", "lambda: 0"),
    *(".", "/", "/dev/null", "missing/out.json", "out.png", "out.json", "SS09-none", "[a", "fig1"),
]


def verbs(group, path=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from verbs(command, (*path, name))
        else:
            yield (*path, name), command


VERBS = [each for each in verbs(cli) if " ".join(each[0]) not in SKIPPED]


BASES = [
    "solve fine.csv --label y --fraction 0.5 --certificate made.json",
    "solve fine.csv --label y --relaxation NormPenalty(2,0.1)+Capped(k=2) --json --rtol 0.1",
    "solve fine.csv --label y --over simplex --radius 2 --method corrective --step pairwise",
    "check proof.json",
    "certify proof.json --format vipr --out made.vipr",
    "online run fine.csv --label y --radius 2 --json",
    "online regret fine.csv --label y --over l1 --loss hinge --at 2",
    "solve windows.csv --label y --k 1 --model -",
    "certify proof.json --format lean --out -",
    "predict model.json fine.csv --json",
    "online run fine.csv --label y --method gradient-descent --schedule adaptive",
    "claims show SS09-T9",
    "claims list SS09* --json",
    "instances make games.toml --out made",
    "plan fit --edges edges.csv --trips trips.csv --tol 0.1",
    "plan fit --edges edges.csv --trips trips.csv --regulariser lasso --out made.json --json",
    "plan evaluate costs.json --edges edges.csv --trips trips.csv",
    "plan boost --edges edges.csv --trips trips.csv --rounds 3 --held-out trips.csv --out b.json",
    "plan evaluate boosted.json --edges edges.csv --trips trips.csv --json",
    "plan show costs.json --edges edges.csv --trips trips.csv --trip one --out out.svg",
]
"""Command lines that work, or nearly; one or two of their words are then changed."""


def command_line(rng):
    """Return a command line: one that works with words changed, or one of any options."""
    if rng.random() < 0.7:
        draws = rng.random() < 0.2  # the last one, whose pictures take long, is rare
        words = BASES[rng.integers(len(BASES) - 1 + draws)].split()
        for _ in range(rng.integers(0, 3)):
            at = rng.integers(1, len(words))
            words[at : at + 1] = [WORDS[rng.integers(len(WORDS))]]
    else:
        words = _any(rng)
    if words[:2] == ["claims", "check"]:  # without these all claims are checked
        words += ["SS09-L12", "--trials", "1", "--jobs", "1"]
    return words + ["--time-limit", "0.2"] * (words[0] == "solve")


def _any(rng):
    path, command = VERBS[rng.integers(len(VERBS))]
    words = [*path]
    for parameter in command.params:
        option = isinstance(parameter, click.Option)
        if rng.random() > (0.2 if option else 0.9):
            continue
        value = WORDS[rng.integers(len(WORDS))]
        if isinstance(parameter.type, click.Choice) and rng.random() < 0.8:
            value = str(rng.choice(parameter.type.choices))
        words += [parameter.opts[-1]] * option
        words += [] if option and parameter.is_flag else [value]
    return words


def spoiled(proof, rng):
    """Return a certificate with one character changed."""
    at = rng.integers(len(proof))
    return proof[:at] + chr(rng.integers(32, 127)) + proof[at + 1 :]


def ended(words):
    """Run a command line here; return its status."""
    try:
        main(words)
    except SystemExit as end:
        return end.code
    except BaseException as error:
        raise AssertionError(words) from error
    return 0


MADE = {
    "proof.json": "solve fine.csv --label y --certificate proof.json",
    "costs.json": "plan fit --edges edges.csv --trips trips.csv --out costs.json",
    "model.json": "solve fine.csv --label y --k 2 --model model.json",
    "boosted.json": "plan boost --edges edges.csv --trips trips.csv --rounds 3 --out boosted.json",
}
"""Files of the package itself, and the command lines that write them."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder of `FILES` and of what is `MADE`."""
    folder = tmp_path_factory.mktemp("made")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "binary.csv").write_bytes(bytes(range(256)))
    (folder / "utf16.csv").write_text(FILES["fine.csv"], encoding="utf-16")
    (folder / "packed.csv").write_bytes(gzip.compress(FILES["fine.csv"].encode())[:-9])
    with contextlib.chdir(folder):
        assert [ended(line.split()) for line in MADE.values()] == [0] * len(MADE)
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A copy of it, which is where commands run."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELAXBOOST_TRACEBACK", "1")  # so that a failure here shows where
    return tmp_path


@pytest.mark.parametrize("line", BASES)
def test_lines_to_begin_with_work(line, folder, capsys):
    assert ended(line.split()) == 0, capsys.readouterr().err


@pytest.mark.parametrize("seed", [0, 1, 2, 41])
def test_bad_command_lines_end_with_a_documented_status(seed, folder, capsys, monkeypatch):
    made = {name: (folder / name).read_text() for name in MADE}
    rng = np.random.default_rng(seed)
    seen = []
    for _ in range(100):
        for name, text in made.items():
            (folder / name).write_text(spoiled(text, rng) if rng.random() < 0.5 else text)
        words = command_line(rng)
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FILES["fine.csv"].encode())))
        seen.append(status := ended(words))
        said = capsys.readouterr().err
        assert status in (0, 1, 2), (words, status, said)
        assert status != 2 or "Usage:" in said or len(said.splitlines()) == 1, (words, said)
    assert {0, 2} <= set(seen)  # some lines work and some do not


def test_full_disks_and_closed_outputs_are_told():
    command = [sys.executable, "-m", "relaxboost", "--help"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 74
    assert done.stderr.startswith("relaxboost: cannot write the output: ")
    assert len(done.stderr.splitlines()) == 1
    # Nobody reads the pipe.
    for words in ("claims list --json", "--help"):
        shell = f"{sys.executable} -m relaxboost {words} | true; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr) == ("74\n", "")
    for shell, status in (
        (f"{' '.join(command)} >&-", 0),
        (f"{command[0]} -m relaxboost so 2>/dev/full", 2),
    ):
        assert subprocess.run(shell, shell=True, check=False).returncode == status


def test_sigterm_ends_with_the_bracket_so_far(tmp_path):
    run = [sys.executable, "-m", "relaxboost", "solve", "--dataset", "breast-cancer"]
    file = tmp_path / "run.json"
    hard = [*run, "--method", "corrective", "--tol", "1e-9", "--checkpoint", str(file)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(hard, **options) as process:
        while not file.exists() and process.poll() is None:
            time.sleep(0.05)
        status, out, err = ctrl_c(process, how=signal.SIGTERM)
    assert status == 1
    assert "interrupted" in out, err
    assert "certified:" in out


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_early_end_is_told_in_one_line(how):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    early = f"{sys.executable} -X importtime -m relaxboost solve --dataset breast-cancer"
    with subprocess.Popen(early.split(), **options) as process:
        for line in process.stderr:
            if "click.core" in line:  # it loads the command line
                process.send_signal(how)
                break
        left = [line for line in process.stderr if not line.startswith("import time:")]
        process.wait(timeout=60)
    assert process.returncode == 130
    assert left == ["relaxboost: interrupted before there was anything to report\n"]


def test_errors_of_our_own_have_a_status_of_their_own(monkeypatch, capsys):
    def broken(self):
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr("relaxboost.commands.solve._Options.data", broken)
    monkeypatch.delenv("RELAXBOOST_TRACEBACK", raising=False)
    assert ended(["solve", "--dataset", "breast-cancer"]) == 70
    said = capsys.readouterr().err
    assert said.startswith("relaxboost: internal error, ZeroDivisionError at test_fuzz.py:")
    assert "please report it" in said
    assert len(said.splitlines()) == 1
