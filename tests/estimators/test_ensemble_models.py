"""Pipelines, models of XGBoost and LightGBM, and the package's own boosters, taken apart."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.ensemble import AdaBoostClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import relaxboost as rb
from relaxboost.functional import RegressionStumps
from tests.estimators.test_ensembles_refused import refused

FILES = Path(__file__).parent / "models"
SAID = json.loads((FILES / "said.json").read_text())
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


class Replayed:
    """Stands in for xgboost.Booster: it returns what XGBoost 3.2 returned for the rows `Z`."""

    __module__ = "xgboost.core"
    feature_types = None

    def __init__(self, name):
        self.name = name
        self.off = 0.0
        self.content = (FILES / f"{name}.json").read_bytes()
        self.learner = json.loads(self.content)["learner"]
        self.feature_names = self.learner["feature_names"] or None

    def save_raw(self, form):
        assert form == "json"
        return bytearray(self.content)

    def attr(self, name):
        return self.learner["attributes"].get(name)

    def num_boosted_rounds(self):
        return 2  # of no-stopped.json, the only one that is stopped

    def predict(self, rows, pred_leaf=False, output_margin=False):
        assert pred_leaf != output_margin
        assert np.array_equal(rows, Z, equal_nan=True)
        return np.array(SAID[f"{self.name} leaves" if pred_leaf else self.name]) + self.off


Replayed.__name__ = "Booster"


@pytest.fixture
def xgboost(monkeypatch):
    """The tests do not need XGBoost, whose predictions of leaves and scores are in said.json."""
    monkeypatch.setitem(sys.modules, "xgboost", SimpleNamespace(DMatrix=lambda X, **known: X))


@pytest.mark.usefixtures("xgboost")
@pytest.mark.parametrize("name", ["dart", "hinge", "logistic", "logitraw", "sets"])
def test_models_of_xgboost_say_what_it_said(name):
    booster = Replayed(name)
    report = rb.certify_ensemble(booster, Z, WHAT, rb.Capped(fraction=0.3))
    assert report.kind == "Booster"
    assert all(report.check())
    # The model adds its trees, each with its largest leaf as the scale, and the base score.
    total = report.all_scales.sum() + abs(report.intercept or 0.0)
    said = np.array(SAID[name])
    assert report.decision(Z, reoptimised=False) * total == pytest.approx(said, abs=1e-6)
    assert 0 <= report.distance[0] <= report.distance[1]
    model = booster.learner["gradient_booster"]
    largest = [
        np.abs(np.array(t["split_conditions"])[np.array(t["left_children"]) == -1]).max()
        for t in model.get("gbtree", model)["model"]["trees"]
    ]
    factors = model.get("weight_drop", np.ones(len(largest)))
    assert report.all_scales == pytest.approx(np.multiply(largest, factors), rel=1e-6)
    booster.off = 0.01
    refused("do not add up to its decision on X", booster, Z, WHAT)


@pytest.mark.usefixtures("xgboost")
@pytest.mark.parametrize("name", ["three", "three.txt"])
def test_boosters_of_several_classes_say_of_each_what_was_said(name):
    booster = lgb.Booster(model_file=FILES / name) if name.endswith("txt") else Replayed(name)
    said = np.array(SAID[name])
    y = np.arange(len(Z)) % 3
    for k in range(3):
        report = rb.certify_ensemble(booster, Z, y, rb.Capped(fraction=0.3), target=k)
        assert report.kind == f"Booster, {k} against the rest"
        assert all(report.check())
        assert report.names[:2] == ("tree 0", "tree 1")
        own = report.decision(Z, reoptimised=False)
        scale = np.abs(own).max() / np.abs(said[:, k]).max()
        assert own == pytest.approx(said[:, k] * scale, abs=1e-6)
        worst = np.sort(np.where(y == k, 1.0, -1.0) * own)[:12].mean()
        assert float(report.margin[0]) == pytest.approx(worst, abs=1e-9)
    refused(r"has 3 classes \(0, 1, 2\).*pass target=", booster, Z, y)
    refused("no class 'a'; pass one of 0, 1, 2 as target", booster, Z, y, target="a")
    refused(r"not fitted on \(3\); its labels are 0 and 1 and 2", booster, Z, y + 1, target=1)


@pytest.mark.parametrize("objective", ["multiclass", "multiclassova"])
def test_classifiers_of_several_classes_and_their_boosters(objective):
    X, y = sample()
    codes = y + (np.nan_to_num(X[:, 1]) > 0)
    words = np.array(["no", "some", "yes"])[codes]
    model = lgb.LGBMClassifier(n_estimators=4, objective=objective, n_jobs=1, verbosity=-1)
    own = model.fit(X, words).predict(X, raw_score=True)
    given = {"relaxation": rb.Capped(fraction=0.3), "tol": 1e-3}
    for k, word in enumerate(model.classes_):
        report = rb.certify_ensemble(model, X, words, target=word, **given)
        same = rb.certify_ensemble(model.booster_, X, codes, target=k, **given)
        assert report.margin == same.margin
        ours = report.decision(X, reoptimised=False)
        factor = np.abs(own[:, k]).max() / np.abs(ours).max()
        assert ours * factor == pytest.approx(own[:, k], abs=1e-9)


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
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_lightgbm_say_what_it_says(name):
    X, y = sample()
    options = QUIET | MODELS[name]
    sets = options.pop("sets", [])
    booster = lgb.train(options, lgb.Dataset(X, y, params=options, categorical_feature=sets), 6)
    rows = strange(X)
    own = booster.predict(rows, raw_score=True)
    assert ("\ncat_threshold=" in booster.model_to_string()) == bool(sets)
    report = rb.certify_ensemble(booster, X, y, rb.Capped(fraction=0.2))
    ours = report.decision(rows, reoptimised=False)
    assert ours * np.abs(own).max() == pytest.approx(own * np.abs(ours).max(), abs=1e-9)
    if name == "plain":
        X = np.nan_to_num(X)
        dense, sparse = (rb.certify_ensemble(booster, rows, y) for rows in (X, csr_matrix(X)))
        assert dense.margin == sparse.margin


def test_classifiers_of_lightgbm_frames_and_early_stopping():
    X, y = sample()
    frame = pd.DataFrame(X, columns=["a", "the b", "c", "d"])
    frame["job"] = pd.Categorical(
        np.where((np.arange(120) % 7 == 0) ^ y, "x", "y"), categories=["y", "x"]
    )
    options = {"n_estimators": 60, "n_jobs": 1, "verbosity": -1, "min_child_samples": 3}
    options |= {"learning_rate": 0.3, "cat_smooth": 1, "min_data_per_group": 1}
    stop = {"eval_X": frame[80:], "eval_y": y[80:]}
    stop["callbacks"] = [lgb.early_stopping(2, verbose=False)]
    model = lgb.LGBMClassifier(**options).fit(frame[:80], y[:80], **stop)
    report = rb.certify_ensemble(model, frame, y, rb.Capped(fraction=0.3))
    assert len(report.members.names) == model.best_iteration_ < 60
    assert report.classes == (0, 1)
    assert (report.predict(frame, reoptimised=False) == model.predict(frame)).all()
    booster = lgb.Booster(model_str=model.booster_.model_to_string())
    assert rb.certify_ensemble(booster, frame, y, rb.Capped(fraction=0.3)).margin == report.margin
    own = report.decision(frame, reoptimised=False)
    gone = [frame.assign(job=frame["job"].cat.remove_categories(one)) for one in "xy"]
    assert any(np.ptp(report.decision(fewer, reoptimised=False) - own) for fewer in gone)
    said = "not in the order of fit .a, the_b, c, d, job.; reorder them"
    refused(said, booster, frame[["the b", "a", "c", "d", "job"]], y)

    said = "cannot predict on X: .*categorical_feature do not match; prepare"
    refused(said, booster, frame.assign(job=1), y)


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
    refused("has 3 classes.*pass target=", three, X, np.arange(120) % 3)


def test_margin_boosters_are_at_no_distance_from_their_best():
    X, y = sample()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(job=np.where(X[:, 0] > 1, "x", "y"))
    model = rb.estimators.MarginBoostClassifier(
        hypotheses="stumps", fraction=0.3, folds=None, tol=1e-4
    ).fit(frame, y)
    report = rb.certify_ensemble(model, frame, y, rb.Capped(fraction=0.3))
    assert float(report.distance[1]) <= 1e-4 + 1e-6
    # An ensemble is read with weights of sum 1, and those of the solver may have a little less.
    assert -1e-9 <= float(report.margin[0]) - model.margin_[0] <= 1e-4
    assert float(report.optimum.lower) <= model.margin_[1] + 1e-9
    own, ours = model.votes(frame), report.decision(frame, reoptimised=False)
    assert ours / np.abs(ours).max() == pytest.approx(own / np.abs(own).max(), abs=1e-12)
    assert len(report.names) == len(model.hypotheses_)


@pytest.mark.usefixtures("xgboost")
def test_models_that_are_refused():
    refused("has the booster gblinear", Replayed("no-linear"), Z, WHAT)
    said = r"has 2 rounds, and round 0 was the best.*booster\[: 1\]"
    refused(said, Replayed("no-stopped"), Z, WHAT)
    refused(
        "not in the order of fit .a, b, c, d.",
        Replayed("sets"),
        pd.DataFrame(Z, columns=list("bacd")),
        WHAT,
    )
    for saved in ("model.txt", FILES / "three.txt", b"tree"):
        refused("load a saved model with lightgbm.Booster or xgboost.Booster", saved, Z, WHAT)
    X, y = sample()
    for options, said in (
        ({"objective": "regression"}, "objective regression, but a margin needs a classifier"),
        (
            {"objective": "multiclass", "num_class": 2},
            "one output for each of its two classes.*binary",
        ),
        ({"linear_tree": True}, "linear trees, whose leaf values"),
    ):
        data = lgb.Dataset(np.nan_to_num(X), y, params=QUIET | options)
        refused(said, lgb.train(QUIET | options, data, 1), X, y)
    model = lgb.LGBMClassifier(pred_early_stop=True, n_estimators=9, n_jobs=1, verbosity=-1)
    said = r"pred_early_stop=True. For rows.*set_params\(pred_early_stop=False\)"
    refused(said, model.fit(X, y), X, y)
    report = rb.certify_ensemble(model.set_params(pred_early_stop=False), X, y)
    assert report.margin == rb.certify_ensemble(model.booster_, X, y).margin
    booster = lgb.train(QUIET, lgb.Dataset(X, y, params=QUIET), 2)
    refused("expects 4 features", booster, X[:, :3], y)
    refused("labels have 3 values", booster, X, np.arange(120) % 3)
