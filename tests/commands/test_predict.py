"""`relaxboost predict`: the votes of `solve --model`, and the files that it refuses."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

import relaxboost as rb
import tests.command
from relaxboost.commands.predict import described
from relaxboost.estimators.margin_columns import SubsetStumps
from relaxboost.matrices.datasets import read_table

ROWS = "age,town,none,flag,late\n1,Oslo,,0,no\n2,Rome,,1,yes\n,Oslo,,1,yes\n4,,,0,yes\n"
ROWS += "5,Bern,,1,no\n6,Rome,,0,no\n,Bern,,1,no\n8,Oslo,,0,yes\n"


@pytest.fixture
def run(capsys):
    return partial(tests.command.run, capsys)


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def model(tmp_path, csv, run):
    path = tmp_path / "model.json"
    status, out, _ = run("solve", csv, "--label", "late", "--k", 3, "--model", path)
    assert status == 0
    assert f"model:      {path}\n" in out
    return path


@pytest.mark.parametrize("relaxation", [rb.HardMargin(), rb.Capped(2), rb.KLPenalty(1)])
def test_scores_are_the_margins_of_the_training_set(relaxation, csv, tmp_path, run):
    features, y = read_table(csv, "late", words=True)
    solution = rb.solve(rb.Game(SubsetStumps(features, y.signs), relaxation))
    (tmp_path / "model.json").write_bytes(described(features, y, solution))
    found = json.loads(run("predict", tmp_path / "model.json", csv, "--json")[1])
    expected = y.signs * solution.margins
    np.testing.assert_allclose(found["scores"], expected, atol=1e-12)
    assert found["labels"] == ["yes" if score > 0 else "no" for score in found["scores"]]


def test_every_kind_of_stump_votes_on_new_rows(tmp_path, run):
    stumps = [
        {"feature": "a", "weight": 1.0, "missing": 0, "above": 2.5},
        {"feature": "a", "weight": -0.5, "missing": 1, "known": -1},
        {"feature": "b", "weight": 0.25, "missing": -1, "yes": ["x", "07"], "no": ["7"]},
    ]
    file, rows, out = tmp_path / "m.json", tmp_path / "new.csv", tmp_path / "out.csv"
    content = {"format": "relaxboost stumps 1", "classes": ["no", "yes"], "stumps": stumps}
    file.write_text(json.dumps(content))
    rows.write_text("b,c,a\n07,1,3\n7,,2.5\n,1,NA\n,,\nx,word,1e308\n")
    assert run("predict", file, rows, "--out", out) == (0, f"written:    {out}\n", "")
    found = pd.read_csv(out)
    assert found["score"].tolist() == [1.75, -0.75, -0.75, 1.75]
    # The blank line has no label, and lines say which row each label belongs to.
    assert found["line"].tolist() == [2, 3, 4, 6]
    assert found["label"].tolist() == ["yes", "no", "no", "yes"]
    assert run("predict", file, rows)[1] == out.read_text()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("age,town\n1,Oslo\n", "has no column 'flag'; it has age, town"),
        (
            "age,town,flag\n1,Oslo,0\n\n2,Paris,1\n",
            "line 4: town is 'Paris', which did not occur in training",
        ),
        ("age,town,flag\nold,Oslo,0\n", "age has words such as 'old', but the model needs numbers"),
        ("", "is empty"),
    ],
)
def test_rows_that_are_refused(rows, message, model, tmp_path, capsys):
    content = json.loads(model.read_text())
    content["stumps"] += [
        {"feature": "age", "weight": 0.1, "missing": 0, "above": 1.5},
        {"feature": "flag", "weight": 0.1, "missing": 0, "above": 0.5},
        {"feature": "town", "weight": 0.1, "missing": 0, "yes": ["Oslo"], "no": []},
    ]
    model.write_text(json.dumps(content))
    path = tmp_path / "new.csv"
    path.write_text(rows)
    tests.command.refused(capsys, message, "predict", model, path)


STUMP = {"feature": "a", "weight": 1.0, "missing": 0, "above": 2.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "its brackets are nested too deeply"),
        ("[1, 2]", "is not a stump model"),
        ("{", "is not a stump model"),
        (json.dumps({"format": "relaxboost checkpoint 1"}), "its format is 'relaxboost checkpoint"),
        ([{**STUMP, "weight": float("nan")}], "is damaged"),
        ([{**STUMP, "weight": 10**400}], "is damaged"),
        ([{**STUMP, "missing": 2}], "is damaged"),
        ([{**STUMP, "missing": []}], "is not a stump model"),
        ([{**STUMP, "yes": [], "no": []}], "is damaged"),
        ([{**STUMP, "feature": 3}], "is damaged"),
        ([{"feature": "a", "weight": 1, "missing": 0, "yes": [["x"]], "no": []}], "is damaged"),
        ([3], "is not a stump model"),
        ([{}], "is not a stump model"),
    ],
)
def test_models_that_are_refused(text, message, tmp_path, csv, capsys):
    content = {"format": "relaxboost stumps 1", "classes": ["0", "1"], "stumps": text}
    path = tmp_path / "model.json"
    path.write_text(text if isinstance(text, str) else json.dumps(content))
    tests.command.refused(capsys, message, "predict", path, csv)


def test_an_online_learner_is_refused_with_the_way_to_predict(tmp_path, csv, capsys):
    path = tmp_path / "m.npz"
    rb.online.MirrorDescent("hinge", rb.Simplex(1)).start(2).save(path)
    way = (
        f"online run STREAM --save {path} --resume --predictions FILE, and rows without labels with"
    )
    for said in (f"{path} is a saved online learner", way):
        tests.command.refused(capsys, said, "predict", path, csv)
    path.write_bytes(b"PK\x03\x04\xff")
    tests.command.refused(capsys, "(it is not a text file); pass a file", "predict", path, csv)


def test_a_bundled_set_has_no_columns_to_predict_from(tmp_path, capsys):
    words = ("solve", "--dataset", "breast-cancer", "--model", tmp_path / "model.json")
    tests.command.refused(
        capsys, "--model saves only stumps that were learned from a CSV file", *words
    )
