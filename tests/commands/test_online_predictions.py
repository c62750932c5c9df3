"""The predictions, weights and stretches that `relaxboost online run` reports."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from relaxboost.commands.online_predictions import PredictionsFile
from relaxboost.online import HedgedDescent, progressive
from tests.command import run

LABEL = ["--label", "y", "--classes", "no,yes"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A stream whose law turns in the middle, with words and a late checkpoint."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(2400, 2)).round(2), columns=["a", "b"])
    table["host"] = rng.choice(["x", "z"], 2400)
    turn = np.where(np.arange(2400) < 1200, 1.0, -1.0)
    table["y"] = np.where(table.a * turn > 0.0, "yes", "no")
    table.to_csv("d.csv", index=False)
    table[:1100].to_csv("early.csv", index=False)
    return table


def told(capsys, *arguments, status=0):
    """Return what a command prints, and its errors."""
    found, out, err = run(capsys, "online", *arguments)
    assert found == status, err
    return out, err


def test_predictions_are_those_that_count_as_wrong(data, capsys):
    out, _ = told(capsys, "run", "d.csv", *LABEL, "--predictions", "p.csv", "--json")
    said = pd.read_csv("p.csv")
    assert list(said.columns) == ["row", "prediction", "probability of yes"]
    assert said.row.tolist() == list(range(2400))
    content = json.loads(out)
    assert (said.prediction != data.y).sum() == content["mistakes"]
    p = np.where(data.y == "yes", said.iloc[:, 2], 1.0 - said.iloc[:, 2])
    assert -np.log(p).mean() == pytest.approx(content["mean_loss"], rel=1e-6)
    _, err = told(capsys, "run", "d.csv", *LABEL, "--predictions", "p.csv", status=2)
    assert err.endswith("p.csv already exists; pass another name to --predictions\n")


def test_predictions_of_numbers_and_scores(data, capsys):
    options = ["--drop", "host", "--loss"]
    numbers = ["--label", "b", "--targets", "9", "--drop", "host,y", "--loss", "squared"]
    told(capsys, "run", "d.csv", *numbers, "--predictions", "n.csv")
    assert pd.read_csv("n.csv").prediction.dtype == np.float64
    told(capsys, "run", "d.csv", *LABEL, *options, "hinge", "--predictions", "h.csv")
    assert pd.read_csv("h.csv").score.min() < 0.0


def test_a_resumed_run_has_the_predictions_of_an_uninterrupted_one(data, capsys):
    told(capsys, "run", "d.csv", *LABEL, "--predictions", "want.csv")
    resume = [*LABEL, "--save", "m", "--resume", "--predictions"]
    told(capsys, "run", "early.csv", *resume, "p.csv")
    with open("p.csv", "a") as file:  # a kill leaves predictions after the checkpoint
        file.write("1100,no,0.2\n11")
    _, err = told(capsys, "run", "d.csv", *resume, "other.csv", status=2)
    assert "other.csv does not exist, but the --save file was written after row 1100;" in err
    for text, has in (("row,prediction,probability of yes\n0,no,1\n", "1 prediction"), ("a\n", "")):
        with open("short.csv", "w") as file:
            file.write(text)
        _, err = told(capsys, "run", "d.csv", *resume, "short.csv", status=2)
        assert f"short.csv has {has or 'other columns'}, but the --save file" in err
    told(capsys, "run", "d.csv", *resume, "p.csv")
    with open("p.csv") as got, open("want.csv") as want:
        assert got.read() == want.read()


def test_a_run_that_stops_says_how_to_continue_with_its_predictions(data, capsys):
    learn = ["run", "d.csv", *LABEL, "--save", "m"]
    predicted = ["--predictions", "p.csv"]
    stop = ["--every", 100, "--time-limit", 1e-9]
    out, _ = told(capsys, *learn, *predicted, *stop, status=1)
    assert "saved:      m; the same command with --resume continues\n" in out
    out, err = told(capsys, *learn, "--resume", *predicted, *stop, status=1)
    assert "this run writes none" not in err
    _, err = told(capsys, *learn, "--resume")
    said = "relaxboost: the predictions before row 200 are in a file, and this run writes none; add"
    assert err.startswith(said + " --predictions with this file to continue it\n")
    out, err = told(capsys, *learn, "--resume")
    assert "saved:      m\n" in out + "\n"
    assert "predictions" not in err


def test_a_page_that_was_not_learned_leaves_no_predictions(tmp_path):
    method = HedgedDescent("logistic", bound=2.0)
    written = PredictionsFile(tmp_path / "p.csv", method.loss, {-1: "no", 1: "yes"}.get)
    H = np.ones((8, 1))
    found = progressive(method, (H, np.ones(8)), every=4, predictions=written)
    assert found.last.rows == 8
    written.close(4)  # as if Ctrl-C had come before the second page was learned
    assert len(pd.read_csv(tmp_path / "p.csv")) == 4


def test_the_weights_that_predict_come_first(data, capsys):
    out, _ = told(capsys, "run", "d.csv", *LABEL)
    lines = out[out.index("weights (the column now") :].splitlines()
    assert lines[1].split() == ["now", "average"]
    content = json.loads(told(capsys, "run", "d.csv", *LABEL, "--json")[0])
    now, average = content["current_weights"], content["weights"]
    for line, name in zip(lines[2:], sorted(now, key=lambda name: -abs(now[name])), strict=False):
        if name in ("a", "b"):
            assert line.split() == [f"{now[name]:.6g}", f"{average[name]:.6g}", name]
    assert now["a"] < -2.0
    assert lines[2].endswith(" a")


def test_the_last_stretch_shows_a_drift(data, capsys):
    out, _ = told(capsys, "run", "d.csv", *LABEL, "--every", 600, "--json")
    records = [json.loads(line) for line in out.splitlines() if line.startswith('{"rows"')]
    assert "last_rows" not in records[0]
    for before, record in pairwise(records):
        assert record["last_rows"] == 600
        assert record["last_mistakes"] == record["mistakes"] - before["mistakes"]
        total = before["rows"] * before["mean_loss"] + 600 * record["last_mean_loss"]
        assert total == pytest.approx(record["rows"] * record["mean_loss"])
    out, _ = told(capsys, "run", "d.csv", *LABEL, "--every", 600)
    share = records[2]["last_mistakes"] / 600
    said = f"^1800 examples: loss .* wrong; last 600: {records[2]['last_mean_loss']:.6g}, "
    assert re.search(said + f"{share:.2%} wrong$", out, re.MULTILINE)


def test_one_bound_of_the_regret_with_its_norm(data, capsys):
    text, _ = told(capsys, "run", "d.csv", *LABEL)
    one = json.loads(told(capsys, "run", "d.csv", *LABEL, "--json")[0])
    descent = ["run", "d.csv", *LABEL, "--json", "--method", "mirror-descent"]
    other = json.loads(told(capsys, *descent)[0])
    norm = np.linalg.norm(list(one["weights"].values()))
    assert one["regret_norm"] == pytest.approx(norm)
    assert f"at most {one['regret_bound']:.6g}: no fixed weights of a norm up to {norm:.3g}" in text
    assert (other["regret_over"], one["regret_over"]) == ("l1", "l2")
    assert one["method"].startswith("HedgedDescent(loss=Logistic(), bound=")
    assert "inf" not in one["method"]


@pytest.mark.parametrize(("value", "end"), [(999.0, "largest"), (-1e9, "smallest")])
def test_a_wild_value_in_the_first_rows_is_noted(value, end, data, capsys):
    wild = data.copy()
    wild.loc[5, "b"] = value
    wild["rare"] = np.where(np.arange(2400) == 7, 1.0, 0.0)  # no wild value
    wild.to_csv("wild.csv", index=False)
    _, err = told(capsys, "run", "wild.csv", *LABEL)
    shown = re.escape(f"{value:g}")
    said = f"999 of the first 1000 values of 'b' lie within .*; the {end} value is {shown}"
    assert re.search(said, err)
    assert err.count("\n") == 1
    for quiet in (["d.csv"], ["wild.csv", "--base", "stumps"]):
        assert told(capsys, "run", *quiet, *LABEL)[1] == ""


def test_messages_name_columns_of_the_table(data, capsys):
    told(capsys, "run", "d.csv", *LABEL, "--save", "m")
    renamed = data.rename(columns={"host": "server"})
    words = data.copy()
    words.loc[0, "host"] = "never"
    for table, said in (
        (renamed, "has a column 'server', but the learner has learned from a, b, host;"),
        (words, "has words at row 0, in host, that differ from those in the checkpoint m;"),
    ):
        table.to_csv("other.csv", index=False)
        _, err = told(capsys, "run", "other.csv", *LABEL, "--save", "m", "--resume", status=2)
        assert said in err
        assert "#" not in err
        assert "correct the stream" not in err


def test_a_missing_number_names_the_option_that_drops_its_column(data, capsys):
    gap = data.rename(columns={"b": "b b"})
    gap.loc[7, "b b"] = np.nan
    gap.to_csv("gap.csv", index=False)
    _, err = told(capsys, "run", "gap.csv", *LABEL, status=2)
    remedy = "fill it in, or leave the column out: --drop 'b b'\n"
    assert err.endswith(f"gap.csv has nan at row 7, column 'b b'; {remedy}")
