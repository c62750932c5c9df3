"""Columns of words: how they are hashed, from every source, and learned without an encoder."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pandas as pd
import pytest

from relaxboost import InputError
from relaxboost.online import (
    Experts,
    HedgedDescent,
    LinearBasis,
    StumpBasis,
    WithIntercept,
    progressive,
    stream,
)
from relaxboost.online.streams.words import HASH_BUCKETS
from tests.command import run

pytest.importorskip("pyarrow")


def visits(rows=1500):
    rng = np.random.default_rng(0)
    cities = rng.choice(["paris", "rome", "oslo", "lima"], rows)
    cities[rows - 200 :] = rng.choice(["paris", "cairo"], 200)  # a word that comes late
    codes = rng.integers(0, 5, rows)
    age = rng.normal(size=rows).round(3)
    odds = np.isin(cities, ["paris", "oslo"]) * 4.0 - 2.0 + (codes == 3) * 3.0 + age
    bought = np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-odds)), "yes", "no")
    return pd.DataFrame({"city": cities, "age": age, "code": codes, "bought": bought})


OPTIONS = {"classes": ("no", "yes"), "categories": ["code"]}


def test_every_source_gives_the_same_features(tmp_path):
    table = visits()
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_parquet(tmp_path / "a.parquet", row_group_size=700)
    sources = [
        tmp_path / "a.csv",
        tmp_path / "a.parquet",
        table,
        table.astype({"city": "category"}),
        lambda: [table[:701], table[701:]],
        io.BytesIO((tmp_path / "a.csv").read_bytes()),
    ]
    found = []
    for source in sources:
        given = stream(source, "bought", **OPTIONS)
        found.append(np.vstack([H for H, _ in given]))
        assert given.columns[0] == "age"
        assert len(given.columns) == 1 + HASH_BUCKETS
    for X in found:
        np.testing.assert_array_equal(X, found[0])
    np.testing.assert_array_equal(found[0][:, 0], table.age)
    words = found[0][:, 1:]
    np.testing.assert_array_equal(words.sum(axis=1), 2.0)
    assert ((words == 0.0) | (words == 1.0)).all()
    # Equal words have equal features, and other words of another column have others.
    same = table.city.to_numpy()[:, None] == table.city.to_numpy()
    also = table.code.to_numpy()[:, None] == table.code.to_numpy()
    np.testing.assert_array_equal(words @ words.T, same.astype(float) + also)
    dropped = stream(tmp_path / "a.csv", "bought", drop=["age", "code"], classes=("no", "yes"),
                     categories=())  # fmt: skip
    np.testing.assert_array_equal(next(iter(dropped))[0].sum(axis=1), 1.0)


@pytest.mark.parametrize("make", [LinearBasis.spanning, StumpBasis.at_quantiles])
def test_base_functions_of_numbers_and_words(make):
    table = visits()
    given = stream(table, "bought", **OPTIONS)
    base = given.encoded(make, 500)
    inner = make(table[["age"]].to_numpy()[:500])
    H = np.vstack([H for H, _ in given.through(base)])
    np.testing.assert_array_equal(H[:, : inner.size(1)], inner.values(table[["age"]].to_numpy()))
    assert np.linalg.norm(H, axis=1).max() <= base.bound_in("l2", H.shape[1])
    assert base.bound_in("l2", H.shape[1]) == math.sqrt(inner.size(1) + 2)
    names = base.names(given.columns)
    assert len(names) == H.shape[1]
    assert names[inner.size(1) + H[0, inner.size(1) :].argmax()] in {
        f"city={table.city[0]}",
        f"code={table.code[0]}",
    }
    assert given.encoded(make, 500).digest() == base.digest()
    numbers = stream(table[["age", "bought"]], "bought", **{**OPTIONS, "categories": ()})
    assert numbers.encoded(make, 500).digest() == inner.digest()
    method = HedgedDescent("logistic", bound=base.bound_in("l2", H.shape[1]))
    found = progressive(method, given.through(base))
    assert found.last.mistakes < 0.3 * len(table)


def test_the_bound_on_numbers_beside_words_is_that_of_their_base_functions():
    given = stream(visits(), "bought", **OPTIONS)
    base = given.encoded(lambda X: Experts(90.0), 500)
    H = np.vstack([H for H, _ in given.through(base)])
    assert np.abs(H).max() > 1.0
    assert np.abs(H).max() <= base.bound == base.bound_in("l1", H.shape[1]) == 90.0
    norm = np.linalg.norm(H, axis=1).max()
    assert norm <= base.bound_in("l2", H.shape[1]) == math.sqrt(90.0**2 + 2)
    assert given.encoded(lambda X: Experts(0.5), 500).bound == 1.0
    unknown = given.encoded(lambda X: Experts(), 500)
    assert unknown.bound is None
    with pytest.raises(InputError, match="no known bound"):
        unknown.bound_in("l2", H.shape[1])


@pytest.mark.parametrize("base", ["linear", "stumps"])
def test_the_command_line_takes_words(base, tmp_path, capsys):
    path = tmp_path / "a.csv"
    table = visits()
    table.to_csv(path, index=False)
    words = ["online", "run", path, "--label", "bought", "--classes", "no,yes", "--base", base]

    def told(*options, status=0, given=words):
        found, out, err = run(capsys, *given, *options)
        assert found == status, err
        return json.loads(out) if status == 0 else err

    got = told("--categories", "code", "--json")
    assert {"age", "city=paris", "city=cairo", "code=3"} <= {
        name.split(" > ")[0] for name in got["weights"]
    }
    assert got["weights"]["city=paris"] > 0.3 > -0.3 > got["weights"]["city=rome"]
    assert got["error"] < 0.3 < told("--drop", "city,code", "--json")["error"]
    save = tmp_path / "m"
    table[:1200].to_csv(path, index=False)
    options = ["--categories", "code", "--save", save, "--resume", "--json"]
    told(*options)
    table.to_csv(path, index=False)
    resumed = told(*options)
    for name in ("rows", "mean_loss", "mistakes"):
        assert resumed[name] == got[name]
    for option in ("--categories", "--drop"):
        said = told(option, "town", status=2)
        assert f"{option} town names no column; {path} has city, age, code" in said


def test_a_function_of_several_words_is_named_so(tmp_path, capsys):
    words = [f"z{number}" for number in range(150)]
    table = pd.DataFrame({"zip": words * 2, "y": [1, -1] * 150})
    path = tmp_path / "a.csv"
    table.to_csv(path, index=False)
    names = json.loads(run(capsys, "online", "run", path, "--label", "y", "--json")[1])["weights"]
    seen = [name for name in names if name.startswith("zip=")]
    shared = [name for name in seen if name.endswith(" and others")]
    features = np.vstack([H for H, _ in stream(table, "y", categories=["zip"])])[:150]
    assert len(seen) == np.count_nonzero(features.sum(axis=0))
    assert len(shared) == np.count_nonzero(features.sum(axis=0) > 1.0) > 0
    note = f"note:       {len(shared)} of the 1024 columns for words stand for several words each"
    assert note in run(capsys, "online", "run", path, "--label", "y")[1]
    table[::30].to_csv(path, index=False)
    assert " and others" not in run(capsys, "online", "run", path, "--label", "y")[1]


@pytest.mark.parametrize("size", [40, 2**20])
def test_words_that_come_after_numbers_are_refused(size, tmp_path, monkeypatch):
    """Also in the first block that is read: one wrong cell must not change a whole column."""
    monkeypatch.setattr("relaxboost.online.streams.csv_rows.READ_BYTES", size)
    rows = "\n".join(["y,a", *["1,2"] * 30, "1,red", "-1,3"])
    (tmp_path / "a.csv").write_text(rows)
    message = (
        r"column 'a' is not numeric \('red' at row 30\); it had numbers before: correct the cell"
    )
    with pytest.raises(InputError, match=message):
        list(stream(tmp_path / "a.csv", "y", categories=()))
    assert len(np.vstack([H for H, _ in stream(tmp_path / "a.csv", "y", categories=["a"])])) == 32
    dates = pd.DataFrame({"y": [1.0], "day": pd.Timestamp("2020-02-01")})
    with pytest.raises(InputError, match="column 'day' is not numeric; drop or encode it"):
        list(stream(dates, "y", categories=()))
    for option in ({"drop": "a"}, {"categories": "a"}):
        with pytest.raises(InputError, match="must be a list of column names, got 'a'"):
            stream(tmp_path / "a.csv", "y", **option)


def test_an_intercept_is_as_large_as_the_bound_and_in_the_digest():
    given = stream(visits(), "bought", **OPTIONS)
    base = given.encoded(LinearBasis.spanning, 1000)
    made = WithIntercept(base)
    rows = np.vstack([H for H, _ in given.through(made)])
    assert rows.shape[1] == made.size(1 + HASH_BUCKETS) == base.size(1 + HASH_BUCKETS) + 1
    np.testing.assert_array_equal(rows[:, -1], 1.0)
    assert made.names(given.columns)[-1] == "(intercept)"
    # A number, two words and the intercept are at most 1 each.
    assert made.bound_in("l2", rows.shape[1]) == 2.0 >= np.linalg.norm(rows, axis=1).max()
    assert made.digest().startswith("words with intercept ")
    assert made.digest() != WithIntercept(StumpBasis([[0.5]])).digest()
    np.testing.assert_array_equal(WithIntercept(Experts(3.0)).values(np.ones((2, 1))), [[1, 3]] * 2)
    with pytest.raises(InputError, match="'experts' have no known bound"):
        WithIntercept(Experts())
