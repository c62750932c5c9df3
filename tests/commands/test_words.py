"""Messages name options, as the user typed them, and no name controls the terminal."""

from __future__ import annotations

import json
import re

import pytest

from relaxboost._core.names import printable
from tests.command import refused, run

TABLE = "a,b,y\n1,2,1\n2,1,-1\n3,4,1\n5,1,-1\n"
ESCAPE = "\x1b]0;owned\x07\x9b31m\u202e"
"""Sequences that set the title and the colour of a terminal, and turn the direction of text."""

SOLVE = "solve d.csv --label y"
ONLINE = "online run d.csv --label y"
FIT = "plan fit --edges e.csv --trips t.csv"
OPTIONS = [
    (f"{SOLVE} --k 0", "--k 0 needs k >= 1"),
    (f"{SOLVE} --k 9", "--k 9 needs 1 <= k <= m, but this game has m = 4"),
    (f"{SOLVE} --k 2 --k 2", "--k is passed twice; pass it only once"),
    (f"{ONLINE} --radius 1 --radius=2", "--radius is passed twice; pass it only once"),
    (f"{SOLVE} --k nan", "--k must be a finite real number, got nan"),
    (f"{SOLVE} --fraction 2", "--fraction 2 needs 0 < fraction <= 1"),
    (f"{SOLVE} --fraction 0.01", "--fraction 0.01 gives k = 0.04 on this game"),
    (f"{SOLVE} --radius 0", "--radius must be > 0, got 0"),
    (f"{SOLVE} --radius nan --over l2", "--radius must be a finite real number"),
    (f"{SOLVE} --radius 1e300 --over simplex", "--radius needs 1e-100 <= radius <= 1e100"),
    (f"{SOLVE} --tol 0", "--tol must be a positive number, got 0.0"),
    (f"{SOLVE} --rtol 2", "--rtol must be below 1, got 2; pass the gap as a fraction of the"),
    (f"{SOLVE} --rtol 2", "for example --rtol 0.01"),
    (f"{SOLVE} --max-rounds -1", "--max-rounds must be a whole number >= 1, got -1"),
    (f"{SOLVE} --time-limit inf", "--time-limit must be a positive number, got inf"),
    (f"{SOLVE} --sep ,,", "--sep must be one character, or \\t for a tab, got ',,'"),
    (f"{SOLVE} --sep ;", "if ',' separates columns, give --sep ','"),
    (f"{SOLVE} --method corrective --step big", "--step 'big' is unknown; choose one of fig1"),
    (
        f"{SOLVE} --method adaboost",
        "use --method adaboost-star, or pass --max-rounds or --time-limit",
    ),
    (f"{SOLVE} --method totalboost --k 2", "this game has Capped(k=2); use --method softboost"),
    (f"{SOLVE} --report a.html", "solve does not write HTML pages; read the printed report"),
    (f"{ONLINE} --radius 0", "--radius must be > 0, got 0.0"),
    (f"{ONLINE} --bound nan", "--bound must be a number > 0, got nan"),
    (f"{ONLINE} --bound 1e-9", "beyond --bound 1e-09"),
    (f"{ONLINE} --targets 0 --loss squared", "--targets must be a number > 0, got 0.0"),
    (f"{ONLINE} --targets 1e-9 --loss squared", "beyond --targets 1e-09"),
    (f"{ONLINE} --time-limit 0", "--time-limit must be a positive number"),
    (f"{ONLINE} --loss nope", "--loss 'nope' is unknown; choose one of logistic"),
    (f"{ONLINE} --method gradient-descent --proxy tilted", "use --method mirror-steps"),
    (f"{ONLINE.replace('run', 'regret')} --tol 0", "--tol must be a positive number"),
    (f"{FIT} --strength 0", "--strength must be a positive number, got 0.0"),
    (f"{FIT} --strength nan --regulariser lasso", "--strength must be a positive number"),
    (f"{FIT} --strength -1 --regulariser radius", "--strength must be a positive number"),
    (f"{FIT} --tol nan", "--tol must be a positive number, got nan"),
    (f"{FIT} --time-limit 0", "--time-limit must be a positive number"),
    (f"{FIT} --loss distance --reach 0", "--reach must be a positive number"),
    (f"{FIT} --parallel x", "--parallel and --gaps must be features"),
    (f"{FIT.replace('fit', 'boost')} --time-limit nan", "--time-limit must be a positive number"),
    ("solve", "pass either a CSV file or --dataset"),
    ("solve d.csv --dataset breast-cancer", "pass either a CSV file or --dataset"),
    ("solve d.csv", "a CSV needs --label, the name of its label column; the columns are a, b"),
    ("solve d.csv --label price", "has no column 'price'; it has a, b"),
    ("solve d.csv --label max_rounds", "no column 'max_rounds'"),
    ("solve nothing.csv --label y", "nothing.csv does not exist; check the path"),
    ("solve no/time_limit.csv --label y", "no/time_limit.csv does not exist"),
    ("solve --dataset iris", "no data set 'iris'; bundled: breast-cancer"),
    ("forecast d.csv", "there is no command 'forecast'; choose one of "),
    (f"{SOLVE} --labels y", "No such option '--labels'"),
    (f"{SOLVE} --labels y", "; did you mean --label?"),
    (f"{SOLVE} --zzz y", "; see relaxboost solve --help"),
    (f"{SOLVE} --over L1", "--over 'L1' is unknown; did you mean l1?"),
    ("certify d.json --format leen", "--format 'leen' is unknown; did you mean lean?"),
    ("slove d.csv", "there is no command 'slove'; did you mean solve?"),
    ("claims chekc", "No such command 'chekc'"),
    ("claims list --source ss09", "no source 'ss09'; did you mean SS09?"),
    ("solve d.csv --label Y", "d.csv has no column 'Y'; did you mean y?"),
    (f"{SOLVE} --drop A", "--drop A names no column of d.csv; did you mean a?"),
    (f"{SOLVE} --relaxation KLpenalty", "is called KLpenalty; did you mean KLPenalty?"),
    (f"{SOLVE} --method corrective --step pairwse", "unknown; did you mean pairwise?"),
    ("solve --dataset breast_cancer", "did you mean breast-cancer?"),
    ("solve r.csv --label x", "for real targets use relaxboost.estimators.MarginBoostRegressor"),
    ("solve r.csv --label n", "the labels are numbers with 12 distinct values, but a margin needs"),
    ("solve r.csv --label c", "the labels have 3 values (0, 1, 2); a margin needs two"),
    ("online run d.csv --label Y", "d.csv has no column 'Y'; did you mean y?"),
    ("online run d.csv --label y --loss hinje", "--loss 'hinje' is unknown; did you mean hinge"),
    (f"{SOLVE} --k many", "'many' is not a number"),
    ("solve --dataset breast-cancer --relaxation hard --k 2", "apply only to --relaxation capped"),
    ("solve --dataset breast-cancer --relaxation capped", "needs either --k or --fraction"),
    (f"{SOLVE} --k 2 --fraction 0.5", "--k and --fraction set the same parameter; pass only one"),
    (f"{SOLVE} --relaxation capped(k=2)", "no relaxation is called capped; did you mean Capped?"),
    ("solve d.csv --relaxation KLPenalty(0.1) --k 2", "apply only to --relaxation capped"),
    ("solve d.csv --relaxation soft", "no relaxation is called soft; known: Bin"),
    ("solve d.csv --relaxation NormPenalty(2)", "missing a required argument: 'weight'"),
    ("solve d.csv --relaxation Capped(k=open('x'))", "cannot read \"open('x')\""),
    ("solve d.csv --relaxation Capped(k=0)+HardMargin()", "needs k >= 1"),
    (f"{SOLVE} --method best", "--method 'best' is unknown; "),
    (f"{SOLVE} --method lpbost", "--method 'lpbost' is unknown; did you mean lpboost"),
    (f"{SOLVE} --method lp", "--method 'lp' is unknown; choose one of adaboost, "),
    (f"{SOLVE} --step away", "--step away needs --method adaboost or corrective"),
    (f"{SOLVE} --plot a.txt", "ends in .png, .pdf, .svg"),
    (f"{SOLVE} --plot no/a.png", "folder no does not exist"),
    # The user typed Capped here, and no --k.
    (f"{SOLVE} --relaxation Capped(k=0)", "Capped(k=0) needs k >= 1"),
    ("reproduce gb11-fig1", "run python -m benchmarks.reproductions there with the same options"),
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(TABLE)
    (tmp_path / "e.csv").write_text("u,v,km,dark\nA,B,1,0\nB,C,2,1\nC,A,1,0\nA,C,4,0\n")
    rows = (f"{n / 7},{n},{n % 3},{n % 2}" for n in range(12))
    (tmp_path / "r.csv").write_text("\n".join(["x,n,c,y", *rows]))
    (tmp_path / "t.csv").write_text("name,path\none,A C\ntwo,C A B\n")
    return tmp_path


@pytest.mark.parametrize(("line", "said"), OPTIONS)
def test_messages_are_in_the_words_of_the_command_line(line, said, files, capsys):
    if line.startswith("online"):
        pytest.importorskip("pyarrow")
    refused(capsys, said, *line.split(" "))
    assert {path.name for path in files.iterdir()} == {"d.csv", "e.csv", "r.csv", "t.csv"}


def test_only_controls_are_escaped():
    kept = "größe 身長\u3000\xa0\u2009 می\u200cشود 👩\u200d🔬 √x ≤ 1\n"
    assert printable(kept) == kept
    assert printable("\x1b\r\t\x9b\u202e\ud800") == r"\x1b\r\t\x9b\u202e\ud800"


@pytest.mark.parametrize(
    "line",
    [
        "solve d.csv --label y",
        "solve d.csv --label none",
        "solve d.csv --label y --relaxation hard --json",
        "online run d.csv --label y",
        "online run d.csv --label none",
        "plan fit --edges e.csv --trips t.csv --strength 0.1",
        "plan fit --edges e.csv --trips t.csv --features none",
        "plan boost --edges e.csv --trips t.csv --rounds 2 --json",
    ],
)
def test_names_of_columns_do_not_control_the_terminal(line, files, capsys):
    if line.startswith("online"):
        pytest.importorskip("pyarrow")
    for name, column in (("d.csv", "a"), ("d.csv", "b"), ("e.csv", "dark")):
        text = (files / name).read_text()
        (files / name).write_text(text.replace(column, column + ESCAPE, 1))
    _, *printed = run(capsys, *line.split())
    text = "".join(printed)
    assert "owned" in text
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f]", text)
    if "--json" in line:
        assert json.dumps(ESCAPE)[1:-1] in json.dumps(json.loads(printed[0]))
    else:
        assert r"\x1b]0;owned\x07\x9b31m\u202e" in text
