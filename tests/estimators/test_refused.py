"""Wrong arguments of all estimators: each error names the thing, the rule and the remedy."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import relaxboost as rb
from relaxboost import estimators as es
from relaxboost import functional as fn
from relaxboost.estimators.tables import TableEstimator
from relaxboost.online.streams.bases import Experts, StumpBasis

FC = partial(es.FunctionalGradientClassifier, max_rounds=2)
FR = partial(es.FunctionalGradientRegressor, max_rounds=2)
FK = partial(es.FunctionalGradientRanker, max_rounds=2)
BAND = partial(es.QuantileBandRegressor, max_rounds=2)
MC, MR = es.MirrorDescentClassifier, es.MirrorDescentRegressor
MB = partial(es.MarginBoostClassifier, folds=None)
MBR, MBK = es.MarginBoostRegressor, es.MarginBoostRanker
ALL = {
    "functional classifier": FC(),
    "functional regressor": FR(),
    "functional ranker": FK(),
    "band": BAND(),
    "online classifier": MC(),
    "online regressor": MR(),
    "margin classifier": MB("hard"),
    "margin classifier by folds": es.MarginBoostClassifier(hypotheses="stumps", folds=2),
    "margin regressor": MBR(radius=1.0, folds=None),
    "margin ranker": MBK(fraction=0.5, folds=None),
}
TAKE_CATEGORIES = [name for name in ALL if name.startswith("margin")]
TAKE_LABELS = [name for name in ALL if "classifier" in name]

X = np.random.default_rng(0).normal(size=(60, 3)).round(2)
Y = (X[:, 0] > 0).astype(int)
G = np.repeat(np.arange(12), 5)
WORDS = pd.DataFrame({"age": X[:, 1], "job": np.where(Y, "cook", "smith")})
SMALL, TWO = np.arange(12.0).reshape(6, 2) % 5, np.array([0, 1, 0, 1, 1, 0])
TEXT = pd.DataFrame({"a": ["p", "q"] * 3, "b": range(6)})
FAR = np.repeat([-1e308, 0.0, 1e308], [1, 58, 1])
FOUND = partial(rb.matrices.oracle, DecisionTreeClassifier(max_depth=1), slack=0.0)


def fit(estimator, X=X, y=Y, weights=None):
    more = {} if weights is None else {"sample_weight": weights}
    if "Ranker" in type(estimator).__name__:
        more["groups"] = G
    return estimator.fit(X, y, **more)


def with_value(value):
    """Return the table with a value in row 2, feature 1."""
    changed = X.astype(object) if isinstance(value, str) else X.copy()
    changed[2, 1] = value
    return changed


TABLES = {
    "sparse": (csr_array(X), "X is sparse, but .* only dense tables; pass X.toarray()"),
    "sparse matrix": (csr_matrix(X), "X is sparse"),
    "equal names": (
        pd.DataFrame(X, columns=["a", "b", "a"]),
        "X has 2 columns with the name 'a', but names must differ; rename or drop",
    ),
    "a column": (
        WORDS["age"],
        r"X is a single column, 'age', and not a table; pass X.to_frame\(\)",
    ),
    "infinity": (with_value(np.inf), "contains infinity at row 2, feature 1; drop the row"),
    "a word in an array": (with_value("red"), "feature 1 contains 'red', but .*encode the"),
    "a rounded integer": (
        np.full((60, 3), 2**53 + 1),
        "feature 0 has 9007199254740993, an integer that a double cannot represent exactly; drop",
    ),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", ALL)
def test_tables_that_no_estimator_takes(name, table):
    given, said = TABLES[table]
    with pytest.raises(rb.InputError, match=said):
        fit(ALL[name], given)
    fitted = fit(ALL[name])
    if table != "a rounded integer":
        with pytest.raises(ValueError, match=f"({said}|feature names should match|X has)"):
            fitted.predict(given)


@pytest.mark.parametrize("kind", ["words", "categories", "objects", "dates"])
@pytest.mark.parametrize("name", [name for name in ALL if name not in TAKE_CATEGORIES])
def test_frames_with_categories_are_refused_by_column(name, kind):
    # Online estimators hash words.
    if name.startswith("online") and kind != "dates":
        assert fit(ALL[name], WORDS).predict(WORDS).shape == (60,)
        return
    job = {
        "words": WORDS["job"],
        "categories": WORDS["job"].astype("category"),
        "objects": WORDS["job"].astype(object),
        "dates": pd.Timestamp("2020-02-01"),
    }[kind]
    value = "datetime|Timestamp" if kind == "dates" else "'smith'|'cook'"
    said = (
        f"feature 'job' contains .*({value}).* accepts only numbers; encode .* or use MarginBoost"
    )
    with pytest.raises(rb.InputError, match=said):
        fit(ALL[name], WORDS.assign(job=job))


@pytest.mark.parametrize("name", TAKE_CATEGORIES)
def test_frames_with_categories_are_taken(name):
    fitted = fit(ALL[name], WORDS)
    assert fitted.predict(WORDS).shape == (60,)
    weights = dict(zip(WORDS.columns, fitted.feature_importances_.tolist(), strict=True))
    assert max(weights, key=weights.__getitem__) == "job"


@pytest.mark.parametrize("name", [name for name in ALL if name not in TAKE_LABELS])
def test_labels_are_no_numbers(name):
    y = np.where(Y, "p", "q")
    remedy = "numeric grades" if "ranker" in name else "for labels use .*Classifier"
    said = f"y contains '[pq]' at row 0, but .* needs numbers; .*{remedy}"
    for given in (y, y.tolist(), pd.Series(y)):
        with pytest.raises(rb.InputError, match=said):
            fit(ALL[name], X, given)


@pytest.mark.parametrize("name", [name for name in ALL if name not in TAKE_CATEGORIES])
def test_missing_values_are_refused_by_row_and_feature(name):
    said = "contains NaN at row 2, feature 1(;|, and learner='stumps').*(drop|fill)"
    with pytest.raises(rb.InputError, match=said):
        fit(ALL[name], with_value(np.nan))
    assert not ALL[name].__sklearn_tags__().input_tags.allow_nan


WEIGHTS = {
    "negative": (np.where(Y, -1.0, 1.0), "sample_weight is -1 at row .*leave the row out"),
    "infinite": (np.full(60, np.inf), "sample_weight is inf at row 0, but must be finite"),
    "zero": (np.zeros(60), "at least one nonzero number; leave sample_weight out"),
    "short": (
        np.ones(59),
        r"must have shape \(60,\), with one number for each row of X, got \(59,\)",
    ),
    "words": (["a"] * 60, "sample_weight must be an array of numbers: at .0. it has 'a'"),
}


@pytest.mark.parametrize("name", ALL)
def test_a_fit_without_y(name):
    with pytest.raises(rb.InputError, match=r"requires y to be passed.* is None; pass y, with an"):
        fit(ALL[name], X, None)


@pytest.mark.parametrize("name", ALL)
def test_an_error_or_ctrl_c_leaves_the_last_fit_whole(name, monkeypatch):
    """The press comes when X, y have been read; before the mend its features were kept."""
    read = TableEstimator._read_pair

    def pressed(self, *data, **options):
        read(self, *data, **options)
        raise KeyboardInterrupt

    new, fitted = clone(ALL[name]), fit(clone(ALL[name]))
    states = [dict(vars(one)) for one in (new, fitted)]
    monkeypatch.setattr(TableEstimator, "_read_pair", pressed)
    for one, before in zip((new, fitted), states, strict=True):
        with pytest.raises(KeyboardInterrupt):
            fit(one, X[:, :2])
        assert vars(one) == before
    with pytest.raises(NotFittedError):
        new.predict(X)
    fitted.predict(X)
    if name.startswith("online"):
        more = {"classes": [0, 1]} if name in TAKE_LABELS else {}
        with pytest.raises(KeyboardInterrupt):
            new.partial_fit(X, Y, **more)
        assert vars(new) == states[0]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", [name for name in ALL if name != "band"])
def test_weights_that_do_not_fit(name, weights):
    given, said = WEIGHTS[weights]
    with pytest.raises(rb.InputError, match=said):
        fit(ALL[name], X, Y, given)


REFUSED = {
    # Parameters: the estimator, and the message.
    "loss": (FC("log"), "loss must be one of .*logistic.*hinge"),
    "class of a loss": (FC(fn.Hinge), "loss must be one of .* or a Loss"),
    "function as a loss": (FC(lambda F, y: F), "got .*; wrap a function in .*CustomLoss"),
    "loss of numbers": (
        FC(fn.Squared()),
        r"loss=Squared\(\) is for regression, but this estimator classifies; use one of logistic",
    ),
    "loss of labels": (FR(fn.Hinge()), "is for binary, but this estimator does regression; use"),
    "loss of a ranker": (FK(fn.Hinge()), "this estimator ranks; use one of ranking-hinge"),
    "learner": (FC(learner="forest"), "learner must be one of .*trees, a WeakLearner or a scikit"),
    "share": (
        FC(n_iter_no_change=2, validation_fraction=1.0),
        "validation_fraction must lie strictly between 0 and 1, got 1.0",
    ),
    "patience": (FC(n_iter_no_change=0), "n_iter_no_change must be a whole number >= 1, got 0"),
    "scale": (FR(scale="large"), "scale must be a positive number, got 'large'"),
    "threads": (FR(n_jobs=0), "n_jobs must be a whole number >= 1, got 0"),
    "monotone": (FR(learner=fn.Trees(monotone={10: 1})), "monotone .*10"),
    "categorical": (FR(learner=fn.Trees(categorical=[10])), "categorical .*10"),
    "class weight": (
        FC(class_weight={0: 0.0, 1: 1.0}),
        "class 0 has no example with a positive weigh",
    ),
    "coverage": (BAND(1.0), "coverage must lie strictly between 0 and 1"),
    "calibration": (BAND(calibration_fraction=1.0), "must lie strictly between 0 and 1"),
    "no leaves": (BAND(learner="networks"), "algorithm='refitted' needs leaves to refit"),
    "online radius": (MC(radius=0), "radius > 0"),
    "over": (MC(over="cube", radius=1), "over must be one of ball, simplex"),
    "basis": (MC(basis="trees"), "basis must be one of linear, stumps"),
    "no bound": (MC(basis=Experts()), "'experts' have no known bound"),
    "width of a basis": (
        MC(basis=StumpBasis([[0.0]])),
        "X has 3 features, but basis='stumps' needs 1",
    ),
    "online loss": (MC("squared"), "loss must be one of"),
    "passes": (MC(passes=0), "passes must be"),
    "simplex": (MC(proxy="squared-l2", over="simplex", radius=-1), "radius > 0"),
    "schedule": (MC(schedule="fast", radius=1), "unknown schedule"),
    "loss of an online regressor": (MR("hinge"), "loss must be one of"),
    "targets": (MR(targets=3), "targets must be a pair"),
    "order of targets": (MR(targets=(2, 1)), "low <= high"),
    "radius": (MBR(radius=-1), "radius must be a positive"),
    "open radius": (MBR(folds=None), "pass a number such as radius=0.5"),
    "no fraction": (
        MBR(fraction=0),
        "^fraction=0 must be a number .* use fraction=0.5, for example",
    ),
    "name of hypotheses": (MBR(hypotheses="trees"), "matrix, got 'trees'"),
    "hypotheses one by one": (MBR(hypotheses=FOUND), "one by one"),
    "hypotheses of pairs": (MBK(hypotheses=FOUND), "one by one"),
    "open fraction": (MBK(folds=None), "chooses by cross-validation"),
    "open fraction of labels": (MB(), "chooses by cross-validation"),
    "word for a fraction": (MB(fraction="aut"), "got 'aut'; use fraction=0.5, for example$"),
    "processes": (MB("hard", n_jobs=0), "n_jobs must be a whole number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_parameters_that_do_not_fit(case):
    estimator, said = REFUSED[case]
    with pytest.raises(rb.InputError, match=said):
        fit(estimator)


HALF = {"y_val": Y}
DATA = {
    # The call, and the message.
    "two classes": (
        lambda: FC("exponential").fit(*load_iris(return_X_y=True)),
        "loss='exponential' is for two classes, but y has 3 classes; use 'hinge' or 'logistic'",
    ),
    "one class": (
        lambda: FC().fit(X, 0 * Y),
        "y has only one class, 0; add examples of another class",
    ),
    "one class online": (lambda: MC().fit(X, ["up"] * 60), "only one class, 'up'"),
    "no classes": (lambda: MC().partial_fit(X, Y), "needs classes=, a list of all possible labels"),
    "constant features": (
        lambda: MC(basis="stumps").partial_fit(X[:1], Y[:1], classes=[0, 1]),
        "constant in n_samples = 1; start with more",
    ),
    "too few to hold out": (
        lambda: FC(n_iter_no_change=2).fit(X[:3], ["a", "a", "b"]),
        "validation_fraction=0.1 of 3 examples cannot be held out: .*leave n_iter_no_change out",
    ),
    "no groups": (lambda: FK().fit(X, Y), "a ranker needs groups, the query id of each"),
    "width of X_val": (lambda: FC().fit(X, Y, X_val=X[:, :2], **HALF), "X has 2 features, but"),
    "classes of y_val": (
        lambda: FC().fit(X, Y, X_val=X[:3], y_val=[0, 1, 2]),
        r"label 2 is not among the classes, which are \[0, 1\]",
    ),
    "half a validation set": (lambda: FR().fit(X, Y, X_val=X), "X_val and y_val belong together"),
    "length of y_val": (lambda: FR().fit(X, Y, X_val=X, y_val=Y[:9]), "inconsistent numbers"),
    "words in y_val": (
        lambda: FR().fit(X, Y, X_val=X, y_val=["a"] * 60),
        "y contains 'a' at row 0",
    ),
    "words in X_val": (lambda: FC().fit(X, Y, X_val=with_value("a"), **HALF), "feature 1 contains"),
    "weights alone": (
        lambda: FR().fit(X, Y, sample_weight_val=[-1.0]),
        "sample_weight_val needs X_val and y_val",
    ),
    "groups_val alone": (lambda: FK().fit(X, Y, G, groups_val=[0]), "groups_val needs X_val"),
    "no groups_val": (lambda: FK().fit(X, Y, G, X_val=X, **HALF), "a ranker needs groups"),
    "a class without weight": (
        lambda: FC().fit(X, Y, 1.0 - Y),
        "class 1 has no example with a positive weight; leave its examples out",
    ),
    "far targets": (lambda: MBR().fit(X, FAR), "y ranges from -1e[+]308 to 1e[+]308"),
    "equal grades": (lambda: MBK().fit(X, 0 * Y, G), "no query has documents of positive"),
    "length of groups": (lambda: MBK().fit(X, Y, G[1:]), "inconsistent numbers"),
    "kinds of groups": (lambda: MBK().fit(X, Y, [None, "a"] * 30), "ids of the same type"),
    "one row": (lambda: MBR().fit(X[:1], Y[:1]), "X has only one sample; pass at least two"),
    "quantile": (lambda: FR(quantile=1.0).fit(X, Y), "quantile must lie strictly between 0 and 1"),
    "no level": (
        lambda: FR("quantile").fit(X, Y),
        r"loss='quantile' needs a quantile level; .*functional\.Quantile\(0\.9\)",
    ),
    "quantile and loss": (
        lambda: FR("absolute", quantile=0.5).fit(X, Y),
        "loss='absolute'; leave quantile or loss out",
    ),
}


@pytest.mark.parametrize("case", DATA)
def test_data_that_do_not_fit(case):
    call, said = DATA[case]
    with pytest.raises(ValueError, match=said):
        call()


@pytest.mark.parametrize(
    ("options", "data", "said"),
    [
        ({"fraction": 0}, (SMALL, TWO), "0 < fraction <= 1"),
        (
            {"fraction": 1.5},
            (SMALL, TWO),
            "^fraction=1.5 must be a number with 0 < fraction <= 1",
        ),
        ({"tol": 0}, (SMALL, TWO), "tol must be a positive number"),
        ({"folds": 1}, (SMALL, TWO), "folds must be at least 2, or None"),
        ({"relaxation": "soft"}, (SMALL, TWO), "relaxation must be"),
        (
            {"relaxation": 0.5},
            (SMALL, TWO),
            "got 0.5; pass the share of the lowest margins as fraction=",
        ),
        (
            {"relaxation": rb.Capped(k=7)},
            (SMALL, TWO),
            "needs 1 <= k <= 6, the sum of the weights .*; use a share .*rb",
        ),
        (
            {"relaxation": rb.Capped(k=5)},
            (SMALL, TWO, np.full(6, 0.4 / 6)),
            "k <= 0.4, the sum of the weights .sample_weight",
        ),
        (
            {"relaxation": rb.Capped(k=2)},
            (SMALL, TWO, np.full(6, 1 / 6)),
            "k <= 1, the sum of the weights .sample_weight",
        ),
        (
            {"relaxation": rb.NormBall(2, 1)},
            (SMALL, TWO, [1, 2, 1, 1, 1, 1]),
            "does not support example weights",
        ),
        ({"hypotheses": "trees"}, (SMALL, TWO), "hypotheses must be"),
        ({"hypotheses": lambda X, y: np.ones((6, 1))}, (SMALL, TWO), "no method hypothesis"),
        ({"hypotheses": LogisticRegression}, (SMALL, TWO), "instance"),
        ({"relaxation": rb.Caps([0.5] * 6)}, (SMALL, TWO), "no examples can be held out"),
        ({}, (SMALL, np.zeros(6)), "only one class, 0"),
        ({}, (SMALL, np.array(["b", None] * 3, dtype=object)), "none may be missing"),
        ({}, (SMALL, TWO, TWO), "class 0 has no example with a positive weight"),
        ({}, (np.ones((6, 2)), TWO), "X has only constant features"),
        ({}, (np.full((6, 2), np.nan), TWO), "X has only constant features"),
        ({}, (TEXT.assign(c=pd.Timestamp("2020")), TWO), "'c' has dtype"),
        (
            {},
            (TEXT.assign(c=[[1]] * 6), TWO),
            "'c' contains a list, .*; split the column into several",
        ),
    ],
)
def test_a_margin_classifier_refuses_before_any_game(options, data, said, monkeypatch):
    monkeypatch.setattr("relaxboost.estimators.margin_paths.solve", None)
    with pytest.raises(rb.InputError, match=said):
        es.MarginBoostClassifier(**options).fit(*data)
