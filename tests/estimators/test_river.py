"""Mirror descent in river's interface, by river's own checks."""

import re
from pathlib import Path

import numpy as np
import pytest

import relaxboost as rb
from relaxboost import InputError

river = pytest.importorskip("river")

from river import checks, datasets, multiclass, preprocessing  # noqa: E402

from relaxboost.estimators.river import RiverClassifier, RiverRegressor  # noqa: E402


@pytest.mark.parametrize(
    "model", [RiverClassifier(features=40), RiverRegressor(proxy="squared-l2")], ids=str
)
def test_river_checks(model):
    checks.check_estimator(model)


def test_it_is_the_learner():
    rows = list(datasets.Phishing().take(100))
    model = RiverClassifier("hinge", radius=4, bound=2.0, features=9)
    learner = rb.online.MirrorDescent("hinge", rb.L1Ball(4), schedule="adaptive").start(10)
    for x, y in rows:
        h = np.append(np.array(list(x.values())) / 2.0, 1.0)
        assert model.predict_one(x) == (learner.predict(h, average=False) > 0.0)
        model.learn_one(x, y)
        learner.update(h, 1.0 if y else -1.0)
    np.testing.assert_array_equal(model.learner.w, learner.w)
    assert model.learner.regret_bound() == learner.regret_bound()


def test_the_default_has_no_radius():
    rows = list(datasets.Phishing().take(100))
    model = RiverClassifier(bound=2.0, features=9)
    learner = rb.online.HedgedDescent("logistic", bound=np.sqrt(10.0)).start(10)
    for x, y in rows:
        h = np.append(np.array(list(x.values())) / 2.0, 1.0)
        assert model.predict_proba_one(x)[True] == pytest.approx(
            1.0 / (1.0 + np.exp(-learner.predict(h, average=False)))
        )
        model.learn_one(x, y)
        learner.update(h, 1.0 if y else -1.0)
    regressor = RiverRegressor("squared", radius="auto", targets=2.0)
    regressor.learn_one({"a": 1.0}, 2.0)
    assert 0.0 < regressor.predict_one({"a": 1.0}) <= 2.0
    with pytest.raises(InputError, match="set a radius, such as radius=30"):
        RiverClassifier(proxy="entropy")


def test_features_may_come_late():
    """A feature that was absent is a base function that was 0."""
    late, early = RiverClassifier(features=2), RiverClassifier(features=2)
    for y in (True, False, True):
        late.learn_one({"a": 1.0}, y)
        early.learn_one({"a": 1.0, "b": 0.0}, y)
    late.learn_one({"b": 2.0, "a": 1.0}, True)
    early.learn_one({"a": 1.0, "b": 2.0}, True)
    np.testing.assert_array_equal(late.learner.w, early.learner.w)


def test_the_page_shows_what_it_prints(capsys):
    text = (Path(rb.__file__).parent.parent / "docs" / "online_learners.md").read_text()
    code, shown = re.search(r"```py\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL).groups()
    exec(code, {})
    assert capsys.readouterr().out == shown


def test_pipelines_and_several_classes():
    model = preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(RiverClassifier())
    right = 0
    for x, y in datasets.ImageSegments().take(300):
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    assert right > 180


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (
            {"a": 1.0, "b": 1.0, "c": 1.0},
            True,
            "feature 'c' is new, but all features=2 slots are in use",
        ),
        ({"a": float("nan")}, True, "feature 'a' is nan, which is not a finite number"),
        ({"a": "red"}, True, "feature 'a' is 'red'"),
        (
            {"a": 1.0},
            "spam",
            "labels must be the booleans False and True, got 'spam'; learn from y == 'spam'",
        ),
    ],
)
def test_bad_examples_leave_the_state_untouched(x, y, message):
    model = RiverClassifier(features=2)
    model.learn_one({"a": 1.0}, True)
    before = model.learner.state()
    with pytest.raises(InputError, match=message):
        model.learn_one(x, y)
    after = model.learner.state()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    model.learn_one({"a": 1.0, "b": -1.0}, False)  # "b" has still a place


def test_after_ctrl_c_weights_of_new_features_belong_to_them(monkeypatch):
    """The press comes after the update, before anything else."""
    model = RiverClassifier(features=3)
    model.learn_one({"a": 1.0}, True)
    update = type(model.learner).update

    def pressed(self, *rows):
        update(self, *rows)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(model.learner), "update", pressed)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one({"b": 3.0}, False)
    assert model.predict_proba_one({"b": 3.0})[True] < model.predict_proba_one({})[True]
    assert model.predict_proba_one({"c": 3.0}) == model.predict_proba_one({})


def test_parameters_are_checked_when_made():
    with pytest.raises(InputError, match="bound must be a positive number"):
        RiverClassifier(bound=0.0)
    with pytest.raises(InputError, match="pass targets="):
        RiverRegressor("squared")
    with pytest.raises(NotImplementedError, match="not a negative log-likelihood"):
        RiverClassifier("hinge").predict_proba_one({})
