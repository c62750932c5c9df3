"""The margin estimators on tables: missing values, categories, names, pipelines."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import relaxboost as rb
from relaxboost.estimators import MarginBoostClassifier
from relaxboost.estimators.margin_columns import CutColumns, Features
from tests.estimators.test_margin import mixed

TEXT = pd.DataFrame({"a": ["p", "q"] * 3, "b": range(6)})

StumpBoost = partial(MarginBoostClassifier, hypotheses="stumps")


def test_frames_with_gaps_and_categories():
    X, y = mixed()
    fitted = StumpBoost(fraction=0.1, folds=3).fit(X, y)
    assert fitted.feature_names_in_.tolist() == list(X.columns)
    said = [words for _, words in fitted.hypotheses_]
    assert any(
        words.startswith(("job in {smith, tailor}", "job in {cook, clerk}")) for words in said
    )
    assert any("missing" in words or "known" in words for words in said)
    assert not any(words.startswith("same") for words in said)
    assert fitted.score(X, y) > 0.85
    # A category that was declared, and a gap where training had none, count nothing.
    new = X[:2].copy()
    new["size"] = pd.Categorical(["xl", None], categories=["s", "m", "xl"])
    assert np.isfinite(fitted.decision_function(new)).all()
    with pytest.warns(UserWarning, match="feature names"):
        assert np.array_equal(fitted.votes(X.to_numpy(dtype=object)), fitted.votes(X))


def test_words_say_what_hypotheses_do():
    """Each sentence, read by hand, gives the votes."""
    X, y = mixed()
    X["job"] = X["job"].fillna("cook")
    fitted = StumpBoost(fraction=0.3, folds=None).fit(X, y)
    votes = np.zeros(len(X))
    for weight, words in fitted.hypotheses_:
        name, rest = words.split(" ", 1)
        x, missing = X[name], X[name].isna()
        if rest.startswith("in {"):
            true = x.astype(str).isin(rest[4:].split("}")[0].split(", "))
        elif rest in ("is missing", "is known"):
            true = missing == (rest == "is missing")
        else:
            sign, threshold, *more = rest.split(" ")
            known = x.astype(float).to_numpy(dtype=float, na_value=np.nan)
            true = known > float(threshold) if sign == ">" else known <= float(threshold)
            true = true | missing if more == ["or", "missing"] else true & ~missing
        votes += weight * np.where(true.to_numpy(dtype=bool), 1, -1)
    assert votes == pytest.approx(fitted.votes(X), abs=1e-9)


def test_missing_values_go_where_the_edge_is():
    """A gap on one side in training is a gap on that side later, and nowhere where half is."""
    X = np.array([[0.0], [1], [2], [np.nan], [10], [11], [12], [np.nan]])
    right = StumpBoost("hard", folds=None).fit(X[:7], [0, 0, 0, 1, 1, 1, 1])
    votes = right.votes([[np.nan], [0.0], [99.0]])
    assert votes == pytest.approx([1.0, -1.0, 1.0], abs=0.01)  # up to the tolerance of the fit
    assert [w for _, w in right.hypotheses_] == ["x0 > 6 or missing"]
    left = StumpBoost("hard", folds=None).fit(X[:7], [0, 0, 0, 0, 1, 1, 1])
    votes = left.votes([[np.nan], [0.0], [99.0]])
    assert votes == pytest.approx([-1.0, -1.0, 1.0], abs=0.01)
    assert [w for _, w in left.hypotheses_] == ["x0 > 6"]
    columns = CutColumns.of(Features(("x",), (None,)), X, np.ones(8), np.ones(8))
    low, high = columns(np.array([[np.nan], [0.0], [99.0], [-99.0], [12.0]])).T
    for cut in (0.5, 1.5, 6.0, 10.5):  # half of each
        assert ((low > cut) * 1 + (high > cut) - 1).tolist() == [0, -1, 1, -1, 1]


def test_categories_never_seen_are_refused():
    fitted = StumpBoost(fraction=0.1, folds=None).fit(TEXT, [0, 1] * 3)
    with pytest.raises(rb.InputError, match="feature 'a' has the category 'z'"):
        fitted.predict(TEXT.assign(a="z"))
    with pytest.raises(rb.InputError, match="feature 'b' must contain numbers, but has dtype"):
        fitted.predict(TEXT.assign(b="z"))
    with pytest.raises(rb.InputError, match="feature 'a' contains a list"):
        fitted.predict(TEXT.assign(a=[["z"]] * 6))
    known, names = TEXT.copy(), ["a"]  # as the message says
    known[names] = known.assign(a=[*TEXT["a"][:-1], "z"])[names].astype("category")
    fitted.fit(known[:-1], [0, 1, 0, 1, 0]).predict(known)


def test_a_column_of_ids_is_noted_with_its_remedy():
    X, y = TEXT.loc[[0, 1] * 8].reset_index(drop=True), [0, 1] * 8
    alone = StumpBoost(fraction=0.1, folds=None).fit(X, y)  # without a warning
    ids = X.assign(id=[f"C{n}" for n in range(16)])
    said = "most words in 'id' are distinct, .*; drop the column, or encode its strings as numbers"
    with pytest.warns(UserWarning, match=said) as caught:
        fitted = clone(alone).fit(ids, y)
    assert caught[0].filename == __file__  # the line of the call
    with pytest.raises(rb.InputError, match=r"'id' has .*'C99', .* drop the column and fit again"):
        fitted.predict(ids.assign(id="C99"))
    with pytest.raises(rb.InputError, match=r"'a' has .*'z', .* declare the categories"):
        fitted.predict(ids.assign(a="z"))


def test_columns_without_names_are_those_of_an_array():
    X = pd.DataFrame([[1.0, 4], [2, 3], [3, 2], [4, 1]]).drop(columns=0)
    fitted = StumpBoost("hard", folds=None).fit(X, [0, 0, 1, 1])
    ((weight, name),) = fitted.hypotheses_
    assert (weight, name) == (pytest.approx(1.0, abs=0.01), "x1 <= 2.5")


def test_numbers_of_any_kind_are_no_categories():
    """As databases give them."""
    numbers = [Decimal("1.5"), 2, None, True, Fraction(7, 2), 4.0]
    X = pd.DataFrame({"a": pd.Series(numbers, dtype=object)})
    fitted = StumpBoost("hard", folds=None).fit(X, [0, 0, 0, 0, 1, 1])
    ((weight, name),) = fitted.hypotheses_
    assert (weight, name) == (pytest.approx(1.0, abs=0.01), "a > 2.75")
    assert fitted.predict(X.assign(a=Decimal("9.99"))).tolist() == [1] * 6
    with pytest.raises(rb.InputError, match=r"feature 'a' must contain numbers, .*: int too large"):
        fitted.fit(X.assign(a=pd.Series([10**400, 1] * 3, dtype=object)), [0, 1] * 3)


@pytest.mark.parametrize("empty", [np.full(6, np.nan), pd.Categorical([None] * 6, ["u", "v"])])
def test_a_column_without_values_in_training_adds_nothing(empty):
    """Parts of cross-validation have such columns."""
    alone = StumpBoost(fraction=0.1, folds=None).fit(TEXT, [0, 1] * 3)
    fitted = clone(alone).fit(TEXT.assign(c=empty), [0, 1] * 3)
    assert fitted.hypotheses_ == alone.hypotheses_
    assert fitted.margin_.tolist() == alone.margin_.tolist()
    known = TEXT.assign(c=["u"] * 6 if hasattr(empty, "codes") else 7.0)
    assert fitted.decision_function(known).tolist() == alone.decision_function(TEXT).tolist()
    assert fitted.contributions(known)[:, -2].tolist() == [0.0] * 6
    words = pd.Series([None] * 6, dtype="string")
    fitted.fit(TEXT.assign(c=words), [0, 1] * 3)
    with pytest.raises(rb.InputError, match=r"'c' has the category 'u', .* declare the categories"):
        fitted.predict(TEXT.assign(c="u"))
