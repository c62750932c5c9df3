"""Pipelines, models of XGBoost and LightGBM, and the package's own boosters, taken apart."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import relaxboost as rb
from relaxboost.estimators.ensembles import models
from relaxboost.functional import RegressionStumps
from tests.estimators.test_ensembles_refused import refused

FILES = Path(__file__).parent / "models"
SAID = json.loads((FILES / "said.json").read_text())
FORMS = ("sets.json", "sets.ubj", "three.json", "three.txt")
Z, WHAT = np.array(SAID["rows"]), np.array(SAID["y"])
QUIET = {"objective": "binary", "num_threads": 1, "num_leaves": 5, "seed": 1, "verbosity": -1}
QUIET |= {"min_data_in_leaf": 3, "deterministic": True, "min_data_per_group": 1}


def sample(m=120):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(m, 4)).round(2)
    X[:, 2] *= rng.random(m) < 0.5  # zeros
    X[:, 3] = rng.integers(0, 40, m)
    X[rng.random((m, 4)) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0]) + 2 * np.isin(X[:, 3] % 5, [1, 4]) + rng.normal(size=m) / 2
    return X, (score > 0.4).astype(int)


def strange(X):
    """Return rows with what training has not seen: categories, zeros, tiny and missing values."""
    rng = np.random.default_rng(8)
    more = np.where(rng.random(X.shape) < 0.3, rng.choice([0.0, 1e-36, -0.0, np.nan, 77], 1), X)
    more[:, 3] = rng.choice([-3, 0, 1, 7, 33, 64, 500, np.nan], len(X))
    return np.concatenate([X, more])


@pytest.mark.parametrize("file", sorted(FILES.glob("*.[ju][sb]*")), ids=lambda path: path.name)
def test_files_of_xgboost_say_what_it_said(file):
    if file.stem.startswith(("no-", "said", "three")):
        return
    (model,) = models.parse(file.read_bytes())
    said = np.array(SAID[file.stem])
    assert model(Z).sum(axis=1) + model.intercept == pytest.approx(said, abs=1e-6)
    report = rb.certify_ensemble(file, Z, WHAT, rb.Capped(fraction=0.3))
    assert report.kind == "XGBoost model"
    assert all(report.check())
    # Weights are the largest leaves, also of those that no row is in.
    leaves = [np.abs(tree.values).max() for tree in model.trees]
    assert report.scales[: len(leaves)] == pytest.approx(leaves)
    total = sum(leaves) + abs(model.intercept)
    assert report.decision(Z, reoptimised=False) * total == pytest.approx(said, abs=1e-6)
    assert 0 <= report.distance[0] <= report.distance[1]


def test_the_two_notations_of_xgboost_are_one():
    for name in ("dart", "sets"):
        (one,), (other,) = (
            models.parse((FILES / f"{name}.{end}").read_bytes()) for end in ("json", "ubj")
        )
        assert (one(Z) == other(Z)).all()
    assert any(tree.category.any() for tree in one.trees)
    text = (FILES / "sets.json").read_text()
    assert rb.certify_ensemble(text, Z, WHAT).kind == "XGBoost model"


@pytest.mark.parametrize("name", ["three.json", "three.txt"])
def test_files_of_several_classes_say_of_each_what_was_said(name):
    said = np.array(SAID[name.removesuffix(".json")])
    sums, y = models.parse((FILES / name).read_bytes()), np.arange(len(Z)) % 3
    for k, model in enumerate(sums):
        assert model(Z).sum(axis=1) + model.intercept == pytest.approx(said[:, k], abs=1e-6)
        report = rb.certify_ensemble(FILES / name, Z, y, rb.Capped(fraction=0.3), target=k)
        assert report.kind == f"{model.maker} model, {k} against the rest"
        assert all(report.check())
        assert report.names[:2] == ("tree 0", "tree 1")
        own = report.decision(Z, reoptimised=False)
        scale = np.abs(own).max() / np.abs(said[:, k]).max()
        assert own == pytest.approx(said[:, k] * scale, abs=1e-6)
        worst = np.sort(np.where(y == k, 1.0, -1.0) * own)[:12].mean()
        assert float(report.margin[0]) == pytest.approx(worst, abs=1e-9)
    refused(r"has 3 classes \(0, 1, 2\).*give target=", FILES / name, Z, y)
    refused("no class 'a'; give target= one of 0, 1, 2", FILES / name, Z, y, target="a")
    refused(r"not fitted on \(3\); it knows 0 and 1 and 2", FILES / name, Z, y + 1, target=1)


def test_classifiers_of_several_classes_and_their_boosters():
    X, y = sample()
    words = np.array(["no", "some", "yes"])[y + (np.nan_to_num(X[:, 1]) > 0)]
    for objective in ("multiclass", "multiclassova"):
        model = lgb.LGBMClassifier(n_estimators=4, objective=objective, n_jobs=1, verbosity=-1)
        model.fit(X, words)
        own = model.predict(X, raw_score=True)
        for k, word in enumerate(model.classes_):
            given = (rb.Capped(fraction=0.3),)
            report = rb.certify_ensemble(model, X, words, *given, target=word, tol=1e-3)
            codes = (words[:, None] == model.classes_) @ [0, 1, 2]
            same = rb.certify_ensemble(model.booster_, X, codes, *given, target=k, tol=1e-3)
            assert report.margin == same.margin
            ours = report.decision(X, reoptimised=False)
            assert ours * np.abs(own[:, k]).max() == pytest.approx(
                own[:, k] * np.abs(ours).max(), abs=1e-9
            )
    refused("3 classes.*give target=", model, X, words)
    refused("no class 'maybe'", model, X, words, target="maybe")


MODELS = {
    "plain": {},
    "rate": {"learning_rate": 0.7, "boost_from_average": False},
    "dart": {"boosting": "dart", "drop_rate": 0.6, "skip_drop": 0.0},
    "forest": {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6},
    "zeros": {"zero_as_missing": True},
    "no missing": {"use_missing": False},
    "sets": {"sets": [3], "max_cat_to_onehot": 1, "cat_smooth": 1},
    "one hot": {"sets": [3], "max_cat_to_onehot": 99},
    "zero sets": {"sets": [3], "zero_as_missing": True, "max_cat_to_onehot": 99},
    "stuck": {"min_gain_to_split": 1e9},
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_lightgbm_say_what_it_says(name, tmp_path):
    X, y = sample()
    options = QUIET | MODELS[name]
    sets = options.pop("sets", [])
    booster = lgb.train(options, lgb.Dataset(X, y, params=options, categorical_feature=sets), 6)
    text = booster.model_to_string()
    (model,), rows = models.parse(text.encode()), strange(X)
    own = booster.predict(rows, raw_score=True)
    assert model(rows).sum(axis=1) == pytest.approx(own, abs=1e-9)
    assert ("\ncat_threshold=" in text) == bool(sets)
    if name == "stuck":
        return
    booster.save_model(tmp_path / "model.txt")
    alive = rb.certify_ensemble(booster, X, y, rb.Capped(fraction=0.2))
    read = rb.certify_ensemble(str(tmp_path / "model.txt"), X, y, rb.Capped(fraction=0.2))
    assert alive.margin == read.margin
    assert (alive.kind, read.kind) == ("Booster", "LightGBM model")
    ours = read.decision(rows, reoptimised=False)
    assert ours * np.abs(own).max() == pytest.approx(own * np.abs(ours).max(), abs=1e-9)


def test_classifiers_of_lightgbm_frames_and_early_stopping():
    X, y = sample()
    frame = pd.DataFrame(X, columns=["a", "the b", "c", "d"])
    frame["job"] = pd.Categorical(
        np.where((np.arange(120) % 7 == 0) ^ y, "x", "y"), categories=["y", "x"]
    )
    options = {"n_estimators": 60, "n_jobs": 1, "verbosity": -1, "min_child_samples": 3}
    options |= {"learning_rate": 0.3, "cat_smooth": 1, "min_data_per_group": 1}
    stop = {
        "eval_X": frame[80:],
        "eval_y": y[80:],
        "callbacks": [lgb.early_stopping(2, verbose=False)],
    }
    model = lgb.LGBMClassifier(**options).fit(frame[:80], y[:80], **stop)
    report = rb.certify_ensemble(model, frame, y, rb.Capped(fraction=0.3))
    assert len(report.members.names) == model.best_iteration_ < 60
    assert report.classes == (0, 1)
    assert (report.predict(frame, reoptimised=False) == model.predict(frame)).all()
    text = model.booster_.model_to_string()
    again = rb.certify_ensemble(text, frame, y, rb.Capped(fraction=0.3))
    assert again.margin == report.margin
    own = again.decision(frame, reoptimised=False)
    gone = [frame.assign(job=frame["job"].cat.remove_categories(one)) for one in "xy"]
    assert any(np.ptp(again.decision(fewer, reoptimised=False) - own) for fewer in gone)
    refused("X has the columns the_b, a.*trained on a, the_b", text, frame[["the b", "a"]], y)
    refused("0 categorical columns, and the model knows .* 1", text, frame.assign(job=1), y)


def test_pipelines_are_their_last_step_on_what_the_others_make():
    X, y = sample()
    steps = SimpleImputer(), StandardScaler()
    for last in (
        AdaBoostClassifier(n_estimators=5, random_state=0),
        lgb.LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1),
        rb.estimators.FunctionalGradientClassifier(max_rounds=5),
    ):
        pipe = make_pipeline(*steps, last).fit(X, y)
        report = rb.certify_ensemble(pipe, X, y)
        assert report.kind == f"Pipeline to {type(last).__name__}"
        inside = rb.certify_ensemble(pipe[-1], pipe[:-1].transform(X), y)
        assert report.margin == inside.margin
        assert (report.predict(X, reoptimised=False) == pipe.predict(X)).mean() > 0.98  # ties
        assert pickle.loads(pickle.dumps(report)).decision(X) == pytest.approx(report.decision(X))
    refused("cannot predict on X.*features", pipe, X[:, :3], y)


@pytest.mark.parametrize("learner", ["stumps", "trees", RegressionStumps()])
def test_functional_boosters(learner):
    X, y = sample()
    X = np.nan_to_num(X)
    loss = None if isinstance(learner, str) else "multinomial-logistic"
    model = rb.estimators.FunctionalGradientClassifier(loss, learner, max_rounds=8, random_state=0)
    report = rb.certify_ensemble(model.fit(X, y), X, y)
    own, ours = model.decision_function(X), report.decision(X, reoptimised=False)
    assert ours / np.abs(ours).max() == pytest.approx(own / np.abs(own).max(), abs=1e-9)
    assert all(report.check())
    three = rb.estimators.FunctionalGradientClassifier(max_rounds=2).fit(X, np.arange(120) % 3)
    refused("has 3 classes.*give target=", three, X, np.arange(120) % 3)


def test_margin_boosters_are_at_no_distance_from_their_best():
    X, y = sample()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(job=np.where(X[:, 0] > 1, "x", "y"))
    model = rb.estimators.MarginBoostClassifier(fraction=0.3, folds=None, tol=1e-4).fit(frame, y)
    report = rb.certify_ensemble(model, frame, y, rb.Capped(fraction=0.3))
    assert float(report.distance[1]) <= 1e-4 + 1e-6
    # An ensemble is read with weights of sum 1, and those of the solver may have a little less.
    assert -1e-9 <= float(report.margin[0]) - model.margin_[0] <= 1e-4
    assert float(report.optimum.lower) <= model.margin_[1] + 1e-9
    own, ours = model.votes(frame), report.decision(frame, reoptimised=False)
    assert ours / np.abs(ours).max() == pytest.approx(own / np.abs(own).max(), abs=1e-12)
    assert len(report.names) == len(model.hypotheses_)


def test_models_that_are_refused(tmp_path):
    refused("is a gblinear", FILES / "no-linear.json", Z, WHAT)
    refused(
        r"was best in round 0 and has 2 rounds.*booster\[: 1\]", FILES / "no-stopped.json", Z, WHAT
    )
    refused("on a frame with categories", FILES / "no-names.json", Z, WHAT)
    refused("cannot be read: No such file", tmp_path / "gone.txt", Z, WHAT)
    refused("neither a model of LightGBM", b"binf\0\0", Z, WHAT)
    X, y = sample()
    for options, said in (
        ({"objective": "regression"}, "objective regression, and a margin needs classes"),
        ({"objective": "multiclass", "num_class": 2}, "an output for each of two classes.*binary"),
        ({"linear_tree": True}, "linear functions in its leaves"),
    ):
        data = lgb.Dataset(np.nan_to_num(X), y, params=QUIET | options)
        refused(said, lgb.train(QUIET | options, data, 1), X, y)
    text = lgb.train(QUIET, lgb.Dataset(X, y, params=QUIET), 2).model_to_string()
    refused("takes 4 features", text, X[:, :3], y)
    refused("is sparse.*toarray", text, __import__("scipy.sparse").sparse.csr_matrix(X), y)
    refused("labels have 3 values", text, X, np.arange(120) % 3)
    refused("X has the columns", FILES / "sets.json", pd.DataFrame(Z, columns=list("bacd")), WHAT)


def test_damaged_models_are_refused_and_never_run_for_ever():
    X, y = sample()
    text = lgb.train(QUIET, lgb.Dataset(X, y, params=QUIET), 2).model_to_string().encode()
    rng = np.random.default_rng(3)
    # Of each library and notation, of two classes and of three.
    for content in (text, *((FILES / f).read_bytes() for f in FORMS)):
        for _ in range(150):
            damaged = bytearray(
                content[: rng.integers(5, len(content))] if rng.random() < 0.2 else content
            )
            for place in rng.integers(0, len(damaged), 3):
                damaged[place] = rng.choice(list(b"0129-,[]{}$#=\xff "))
            try:
                for model in models.parse(bytes(damaged)):
                    model(Z)
            except rb.InputError:
                continue


def test_a_model_in_memory_is_asked_itself():
    """Stands in for XGBoost's classes, which the tests do not need."""

    class Booster:
        __module__ = "xgboost.core"

        def save_raw(self, form):
            return bytearray((FILES / f"dart.{form}").read_bytes())

        def inplace_predict(self, X, predict_type):
            assert predict_type == "margin"
            return np.array(SAID["dart"]) + self.off

    Booster.off = 0.0
    booster = Booster()
    report = rb.certify_ensemble(booster, Z, WHAT)
    assert report.kind == "Booster"
    Booster.off = 0.01
    refused("do not add up to its own decision on X", booster, Z, WHAT)
