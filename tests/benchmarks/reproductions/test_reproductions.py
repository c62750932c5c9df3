"""The figures run again on tiny data in the real formats: splits, results, resuming, findings."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.readers import read_fold, read_labelled
from benchmarks.reproductions import EXPERIMENTS, Effort, findings, reproduce
from benchmarks.reproductions.__main__ import main
from benchmarks.reproductions.curves import band, late_gain, reaches
from benchmarks.reproductions.experiments import SCALES, split
from benchmarks.reproductions.runs import Store, baseline, follow
from relaxboost._core.errors import InputError
from relaxboost.functional import (
    MulticlassHinge,
    RankingHinge,
    RegressionStumps,
    Residual,
    Stopping,
    boost,
)
from relaxboost.functional.algorithms import ALGORITHMS

FILES = ("png", "csv", "txt", "json")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Small sets in the real formats: letter, satimage and MQ2008."""
    rng = np.random.default_rng(3)
    folder = tmp_path_factory.mktemp("data")
    X = rng.integers(0, 16, (120, 16))
    y = np.where(rng.uniform(size=120) < 0.2, rng.integers(0, 3, 120), X[:, 0] // 6)
    rows = [",".join(["ABC"[k], *map(str, x)]) for x, k in zip(X, y, strict=True)]
    (folder / "letter-recognition.data").write_text("\n".join(rows) + "\n")
    X = rng.integers(30, 150, (90, 36))
    rows = [" ".join(map(str, [*x, 1 + 2 * (x[3] > 90)])) for x in X]
    (folder / "sat.trn").write_text("\n".join(rows[:60]) + "\n")
    (folder / "sat.tst").write_text("\n".join(rows[60:]) + "\n")
    for part in range(1, 6):
        X = rng.uniform(size=(40, 4)).round(4)
        grades = (2.9 * X[:, 1]).astype(int)
        rows = [
            f"{g} qid:{part}{n // 8} " + " ".join(f"{j}:{v}" for j, v in enumerate(x, start=1))
            for n, (g, x) in enumerate(zip(grades, X, strict=True))
        ]
        (folder / f"S{part}.txt").write_text("\n".join(rows) + "\n")
    return folder


def results(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def made(rows, **rest):
    return {"rows": [[n, loss, loss, loss, loss] for n, loss in rows], **rest}


def test_published_and_drawn_splits(data):
    letter = read_labelled("letter", data)
    first, other, again = split(letter, 0), split(letter, 1), split(letter, 1)
    assert (first.split, other.split) == ("published", "drawn")
    assert np.array_equal(first.train.X, letter.X[:96])
    assert np.array_equal(first.test.y, letter.y[96:])
    assert other.train.X.shape == first.train.X.shape
    both = np.concatenate([other.train.X, other.test.X])
    assert np.array_equal(np.sort(both, axis=0), np.sort(letter.X, axis=0))
    assert not np.array_equal(other.train.X, first.train.X)
    assert other.digest() == again.digest() != first.digest()
    unpublished = letter._replace(published=False)
    assert split(unpublished, 0).split == "drawn"


@pytest.mark.parametrize("algorithm", ["naive", "repeated", "residual"])
def test_a_run_is_that_of_boost(data, algorithm):
    """Losses and errors against the combined function, evaluated anew at some rounds."""
    experiment = EXPERIMENTS["gb11-fig3"]
    problem = split(read_labelled("letter", data), 1)
    run = follow(experiment, problem, algorithm, 4.0, 12)
    X, y = problem.train.X, problem.train.y
    whole = boost(
        X,
        MulticlassHinge().bind(y),
        RegressionStumps(),
        algorithm=ALGORITHMS[algorithm](step="1/sqrt(t)", scale=4.0),
        stopping=Stopping(12, max_learners=12),
    )
    assert [row[0] for row in run["rows"]] == (
        [0, 1, 3, 6, 10] if algorithm == "repeated" else list(range(13))
    )
    for t in (0, 2, 4):
        for place, (U, v) in enumerate([(X, y), (problem.test.X, problem.test.y)]):
            F = whole.decision(U, upto=t)
            risk = MulticlassHinge().bind(v, classes=whole.classes)
            error = np.mean(whole.classes[F.argmax(axis=1)] != v)
            assert run["rows"][t][1 + 2 * place] == pytest.approx(risk.value(F), abs=1e-12)
            assert run["rows"][t][2 + 2 * place] == pytest.approx(error)
    kept = [t.hypothesis for t in whole.terms][: int(run["rows"][-1][0])]
    assert run["splits"] == len({(h.feature, h.threshold) for h in kept})


def test_a_line_search_never_raises_the_training_loss(data):
    experiment, problem = EXPERIMENTS["gb11-fig3"], split(read_labelled("letter", data), 1)
    run = follow(experiment, problem, "naive", 1.0, 10, "line-search")
    losses = np.array([row[1] for row in run["rows"]])
    assert (np.diff(losses) <= 1e-12).all()
    assert losses[-1] < 0.9 * losses[0]


def test_a_ranking_run_counts_violated_pairs(data):
    problem = EXPERIMENTS["gb11-fig2"].problems("mq2008", data, 2, False)(1)
    train, test = read_fold("mq2008", data, 2)
    assert np.array_equal(problem.test.X, test.X)
    run = follow(EXPERIMENTS["gb11-fig2"], problem, "residual", 1.0, 8)
    whole = boost(
        train.X,
        RankingHinge().bind(train.y, groups=train.groups),
        EXPERIMENTS["gb11-fig2"].learner,
        algorithm=Residual(step="1/sqrt(t)"),
        stopping=8,
    )
    f = whole.decision(test.X)
    pairs = [
        f[i] <= f[j]
        for i in range(len(f))
        for j in range(len(f))
        if test.groups[i] == test.groups[j] and test.y[i] > test.y[j]
    ]
    assert run["rows"][-1][4] == pytest.approx(np.mean(pairs))
    assert run["rows"][0][4] == 1.0  # ties violate


def test_the_baseline_is_accurate_where_a_stump_is(data):
    problem = split(read_labelled("satimage", data), 0)
    found = baseline(problem, 20)
    assert found["stumps_a_round"] == 1
    assert found["at_rounds"] == found["at_learners"] > 0.9


def test_the_scale_is_that_of_least_mean_training_loss(data, tmp_path):
    outcome = reproduce(
        "gb11-fig3", data, tmp_path, sets=["letter"], effort=Effort(20, 2, baseline=False)
    )
    one = outcome.data["sets"]["letter"]
    means = {float(s): np.mean(list(row.values())) for s, row in one["grid"].items()}
    assert tuple(means) == SCALES
    assert one["scale"] == min(means, key=means.get)
    assert one["splits"] == ["published", "drawn"]
    with (tmp_path / "gb11-fig3.csv").open() as file:
        rows = list(csv.DictReader(file))
    last = [r for r in rows if (r["algorithm"], r["seed"]) == ("residual", "0")][-1]
    assert float(last["train_loss"]) == one["grid"][f"{one['scale']:g}"]["residual"]
    ends = [r for r in rows if r["algorithm"] == "naive" and r["learners"] == "20"]
    median = one["ends"]["naive"]["test_score"]["median"]
    assert median == pytest.approx(np.mean([float(r["test_error"]) for r in ends]))
    assert {path.name for path in outcome.files} == {f"gb11-fig3.{end}" for end in FILES}
    assert outcome.files[0].read_bytes().startswith(b"\x89PNG")
    for line in ("naive fails to converge", "repeated and residual train at similar rates"):
        assert line in outcome.text


def test_kept_results_are_used_only_for_the_same_work(tmp_path):
    store = Store(tmp_path)
    spec = {"figure": "f", "set": "s", "algorithm": "a", "scale": 1.0, "seed": 0}
    spec |= {"learners": 9, "quick": False, "data": "1"}
    assert store.get(spec, lambda: {"x": 1})["x"] == 1
    assert store.get(spec, lambda: {"x": 2})["x"] == 1
    assert store.get({**spec, "data": "2"}, lambda: {"x": 3})["x"] == 3
    (tmp_path / store.name(spec)).write_text('{"spec": ')
    assert store.get(spec, lambda: {"x": 4})["x"] == 4


STOPPED = """
import os, sys
from benchmarks.reproductions import runs
from benchmarks.reproductions.__main__ import main

honest, how, made = runs.write_atomically, int(sys.argv.pop(1)), []

def write(path, content):
    if len(made) == 4:
        os.kill(os.getpid(), how)
    made.append(honest(path, content))

runs.write_atomically = write
sys.exit(main(sys.argv[1:]))
"""
"""The command line, where a signal comes as the fifth result is to be kept."""


def command(data, out, how):
    return [
        *[sys.executable, "-c", STOPPED, str(int(how)), "gb11-fig3"],
        *["--data", str(data), "--sets", "letter", "--learners", "60", "--seeds", "2"],
        *["--out", str(out), "--no-baseline"],
    ]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_command_goes_on_to_the_same_files(data, tmp_path, how):
    out = tmp_path / "out"
    process = subprocess.run(command(data, out, how), capture_output=True, text=True, check=False)
    kept = results(out)
    assert len(kept) == 4
    assert not (out / "gb11-fig3.csv").exists()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert process.stderr.startswith(
            "benchmarks.reproductions: interrupted; finished runs are stored"
        )
    else:
        assert process.returncode == -signal.SIGKILL
    stamps = {name: (out / name).stat().st_mtime_ns for name in kept}
    again = {"sets": ["letter"], "effort": Effort(60, 2, baseline=False)}
    reproduce("gb11-fig3", data, out, **again)
    finished = {name for name in kept if name.endswith(".json")}
    assert finished
    assert all((out / name).stat().st_mtime_ns == stamps[name] for name in finished)
    whole = tmp_path / "whole"
    reproduce("gb11-fig3", data, whole, **again)
    after = {n: b for n, b in results(out).items() if not os.path.basename(n).startswith(".")}
    assert after == results(whole)
    assert len(after) == 15 + len(FILES)


def test_the_command_prints_text_and_data(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("RELAXBOOST_DATA", str(data))
    monkeypatch.chdir(tmp_path)
    arguments = ["gb11-fig2", "--learners", "15", "--seeds", "2"]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "mq2008: 120 + 40 rows" in text
    assert "the new algorithms have lower test disagreement than naive" in text
    assert (tmp_path / "gb11-fig2" / "gb11-fig2.txt").read_text() in text
    main([*arguments, "--json"])
    read = json.loads(capsys.readouterr().out)
    assert read == json.loads((tmp_path / "gb11-fig2" / "gb11-fig2.json").read_text())
    assert read["sets"]["mq2008"]["splits"] == ["fold 1", "fold 2"]
    main([arguments[0], "--quick", "--out", str(tmp_path / "q")])
    assert "QUICK: small parts of the data" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["gb11-fig3"], r"connect-4\.data .*archive\.ics\.uci\.edu/dataset/26"),
        (["gb11-fig2", "--sets", "mslr-web10k"], r"Fold1/train\.txt .*project/mslr"),
        (["gb11-fig3", "--sets", "iris"], "has no set 'iris'; there are connect4, letter"),
        (["gb11-fig2", "--seeds", "6"], "has 5 folds; got seeds=6"),
        (["gb11-fig9"], "no figure 'gb11-fig9'; there are gb11-fig1, gb11-fig2, gb11-fig3"),
        (["gb11-fig3", "--sets", "letter", "--out", "letter-recognition.data"], "cannot make"),
    ],
)
def test_bad_input_ends_with_status_2_before_work(data, monkeypatch, capsys, arguments, why):
    monkeypatch.chdir(data)
    assert main([*arguments, "--data", str(data)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(said)
    assert not (data / "gb11-fig3").exists()


def test_one_learner_has_no_second_half(data):
    with pytest.raises(InputError, match="learners must be at least 2"):
        reproduce("gb11-fig3", data, sets=["letter"], effort=Effort(learners=1))


def test_bands_are_medians_and_quartiles_and_ended_runs_stay():
    runs = [made([(0, 1.0), (1, 0.5), (2, 0.1)]), made([(0, 1.0), (1, 0.7)])]
    curve = band([*runs, made([(0, 1.0), (1, 0.9), (2, 0.8)])], "test_loss")
    assert curve.learners.tolist() == [0, 1, 2]
    assert curve.median.tolist() == [1.0, 0.7, 0.7]
    assert curve.low.tolist() == pytest.approx([1.0, 0.6, 0.4])
    assert curve.high.tolist() == pytest.approx([1.0, 0.8, 0.75])
    assert late_gain([made([(0, 1.0), (2, 0.5), (3, 0.6), (4, 0.3)])]) == pytest.approx(0.2)
    assert reaches(runs, 0.6) == 1.0
    assert reaches(runs, 0.01) is None


def line(loss_at_end, late=50, n=100, flat=False):
    """A run that falls evenly to its last loss, or is there from a tenth of it on."""
    share = np.minimum(np.arange(n + 1) / (n / 10 if flat else n), 1.0)
    losses = 1.0 + (loss_at_end - 1.0) * share
    return [made(list(enumerate(losses.tolist())), late_splits=late)]


def test_findings_follow_the_numbers():
    stuck = {"naive": line(0.9, 3, flat=True), "repeated": line(0.3), "residual": line(0.25)}
    fine = {"naive": line(0.4), "repeated": line(0.3), "residual": line(0.25)}
    grid = {1.0: {name: runs[0] for name, runs in stuck.items()}}
    found = {f.statement: f for f in findings.multiclass("letter", stuck, grid)}
    assert found["naive fails to converge"].agrees is True
    assert "naive ends at 0.900" in found["naive fails to converge"].numbers
    assert found["naive cycles through the same weak learners"].agrees is True
    assert found["repeated and residual train at similar rates"].agrees is True
    assert "naive is behind at its own best step as well" in found
    grid[4.0] = {**grid[1.0], "naive": line(0.2)[0]}
    said = {f.statement for f in findings.multiclass("letter", fine, grid)}
    assert any(s.startswith("at its own best step naive is not behind") for s in said)
    found = {f.statement: f for f in findings.multiclass("letter", fine, grid)}
    assert found["naive fails to converge"].agrees is False
    assert found["naive cycles through the same weak learners"].agrees is False
    slow = {**fine, "repeated": line(0.8)}
    rates = findings.multiclass("pendigits", slow, grid)[-1]
    assert rates.agrees is False
    assert "repeated ends at 0.800 after 100 learners, where residual is after 27" in rates.numbers
    assert findings.multiclass("pendigits", stuck, grid)[0].agrees is False
    first = findings.ranking("mq2008", {**fine, "residual": line(0.5)}, grid)[0]
    assert first.agrees is False
    assert "repeated is lower in 1, residual is lower in 0; so in 0 of 1 runs" in first.numbers
    assert findings.ranking("mq2008", fine, grid)[0].agrees is True
    # Medians .4 > .3 > .25, and the runs do not agree: naive is behind both others in 1 of 3.
    three = {
        "naive": line(0.2) + line(0.4) + line(0.5),
        "repeated": line(0.3) + line(0.3) + line(0.6),
        "residual": line(0.25) + line(0.1) + line(0.7),
    }
    mixed = findings.ranking("mq2008", three, grid)[0]
    assert mixed.agrees is False
    assert "naive ends at 0.400, repeated ends at 0.300, residual ends at 0.250" in mixed.numbers
    assert "in 1 of 3 runs" in mixed.numbers
