"""What `relaxboost online` says of a resumed run, of its bounds, and of odd streams."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

import tests.command

LABEL = ["--label", "y", "--classes", "no,yes"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(300, 2)).round(2)
    table = pd.DataFrame(X, columns=["a", "b"])
    table["y"] = np.where(X[:, 0] > 0.0, "yes", "no")
    table.to_csv("d.csv", index=False)
    return table


def told(capsys, *arguments, status=0):
    """Return what a command prints, and its errors."""
    found, out, err = tests.command.run(capsys, "online", *arguments)
    assert found == status, err
    return out, err


@pytest.mark.parametrize(
    ("saved", "resumed", "said"),
    [
        ([], ["--base", "stumps"], "with --base linear, and this run has --base stumps;"),
        (["--base", "stumps"], [], "with --base stumps, and this run has --base linear;"),
        (
            ["--base", "stumps", "--cuts", 3],
            ["--base", "stumps"],
            "with 7 base functions, and this run has 17, because of --base or --cuts;",
        ),
        (
            [],
            ["--radius", 5],
            "--method hedged-descent, and this run has --method mirror-descent, because of --radi",
        ),
        (["--radius", 5], ["--radius", 6], "--over l1 --radius 5, and .* --over l1 --radius 6"),
        (["--radius", 5], ["--radius", 5, "--loss", "smooth-hinge"], "has --loss smooth-hinge;"),
        (["--horizon", 9], ["--horizon", 8], "with --horizon 9, and this run has --horizon 8;"),
        ([], ["--no-intercept"], "saved with an intercept, and this run has --no-intercept; use"),
        ([], ["--bound", 3], r"with --bound 1.7\d+, and this run has --bound 3.0;"),
        (
            [],
            ["--method", "mirror-steps"],
            "--method hedged-descent, and this run has --method mirror-steps; use the same options",
        ),
    ],
)
def test_a_resume_with_other_options_names_them(saved, resumed, said, data, capsys):
    told(capsys, "run", "d.csv", *LABEL, "--save", "m", *saved)
    _, err = told(capsys, "run", "d.csv", *LABEL, "--save", "m", "--resume", *resumed, status=2)
    assert re.search(said, err)


def test_a_resume_says_its_row_or_that_there_is_nothing_to_resume(data, capsys):
    data[:200].to_csv("early.csv", index=False)
    resume = [*LABEL, "--base", "experts", "--bound", 9, "--resume", "--save"]
    _, err = told(capsys, "run", "early.csv", *resume, "m")
    assert err == "relaxboost: nothing to resume at m: the run starts at row 0\n"
    _, err = told(capsys, "run", "d.csv", *resume, "m")
    assert err == "relaxboost: resumes m at row 200\n"
    assert told(capsys, "run", "d.csv", *resume, "mistyped", "--quiet") == ("", "")


@pytest.mark.parametrize("options", [[], ["--method", "gradient-descent", "--radius", 9]])
def test_rare_labels_are_learned_by_an_intercept(options, tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.normal(size=4000).round(3)
    odds = np.exp(2.5 - x)
    y = np.where(rng.random(4000) * (1.0 + odds) < 1.0, "yes", "no")
    pd.DataFrame({"x": x, "y": y}).to_csv(tmp_path / "rare.csv", index=False)
    run = ["run", tmp_path / "rare.csv", *LABEL, "--json", *options]
    found = json.loads(told(capsys, *run)[0])
    assert found["error"] < 0.13
    assert found["weights"]["(intercept)"] < -1.0
    without = json.loads(told(capsys, *run, "--no-intercept")[0])
    assert list(without["weights"]) == ["x"]
    assert without["error"] > 0.25


def test_the_bound_of_the_regret_names_its_weights_and_says_only_news(data, capsys):
    options = ["--loss", "hinge", "--base", "experts", "--bound", 9, "--radius"]
    out, _ = told(capsys, "run", "d.csv", *LABEL, *options, 0.5)
    said = r"^regret: .*: no fixed weights in the set --over l1 --radius 0.5 have a mean loss below"
    assert re.search(said + r" 0\.\d+$", out, re.MULTILINE)
    # No loss of labels is below 0, so that a bound of 0 or less says nothing.
    out, _ = told(capsys, "run", "d.csv", *LABEL, *options, 20)
    assert re.search(r"^regret:     at most [\d.]+$", out, re.MULTILINE)
    data[["a", "b"]].to_csv("costs.csv", index=False)
    out, _ = told(capsys, "run", "costs.csv", "--loss", "inner", "--bound", 9)
    assert "have a mean loss below -" in out


def test_a_stream_of_one_class_is_noted_also_after_a_resume(data, capsys):
    data["y"] = "no"
    data.to_csv("one.csv", index=False)
    data[:200].to_csv("early.csv", index=False)
    save = ["--save", "m", "--resume", "--base", "experts", "--bound", 9]
    said = "note:       all labels are 'no'; add examples of the other class\n"
    for name, options in (("early.csv", save), ("one.csv", save), ("one.csv", [])):
        assert said in told(capsys, "run", name, *LABEL, *options)[0]
    assert "all labels" not in told(capsys, "run", "d.csv", *LABEL)[0]


def test_numbers_whose_squares_overflow_are_noted(data, capsys):
    data.loc[7, "b"] = 1e308
    data.to_csv("huge.csv", index=False)
    said = "relaxboost: 'b' has numbers whose squares overflow; if such a number marks "
    for base in ("linear", "stumps"):
        assert said in told(capsys, "run", "huge.csv", *LABEL, "--base", base)[1]
    assert said not in told(capsys, "run", "d.csv", *LABEL)[1]


def test_the_regret_of_hedged_descent_is_bracketed(data, capsys):
    run = ["run", "d.csv", *LABEL, "--json"]
    for options in ([], ["--radius", "auto"]):
        method = json.loads(told(capsys, *run, *options)[0])["method"]
        assert method.startswith("HedgedDescent(")
    # Only methods with a radius know this loss.
    found = json.loads(told(capsys, *run, "--loss", "exponential")[0])
    assert found["method"].startswith("MirrorDescent(")
    out, _ = told(capsys, "regret", "d.csv", *LABEL, "--radius", "auto", "--tol", 1e-3)
    assert "learner: HedgedDescent(" in out
    assert "by theorem at most" in out
