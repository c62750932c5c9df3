"""Labelled data: CSV files good and bad, labels of any two values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import relaxboost as rb
from relaxboost import InputError
from relaxboost.matrices import stumps
from relaxboost.matrices.datasets import breast_cancer, labels, read_csv, read_table
from relaxboost.matrices.labelled import rounded_integer


def test_breast_cancer():
    data = breast_cancer()
    assert data.X.shape == (569, 30)
    assert data.classes == ("malignant", "benign")
    assert (data.y == 1).sum() == 357
    given = load_breast_cancer()  # which our reader does without
    assert (given.data == data.X).all()
    assert list(data.feature_names) == given.feature_names.tolist()


@pytest.mark.parametrize(
    ("given", "classes"),
    [
        ([1, 0, 1], (0, 1)),
        ([-1, 1, 1], (-1, 1)),
        ([2.5, 7.0, 7.0], (2.5, 7.0)),
        (["b", "g", "b"], ("b", "g")),
        (["-1", "+1"], ("-1", "+1")),
        (np.array([10, 9], dtype=object), (9, 10)),
        (["10", "9"], ("9", "10")),
        (["NA", "b"], ("NA", "b")),
        ([True, False, True], (False, True)),
        (np.array(["yes", "no", "yes"], dtype=object), ("no", "yes")),
    ],
)
def test_any_two_labels(given, classes):
    y, names = labels(given)
    assert names == classes
    assert list(map(type, names)) == list(map(type, classes))
    y_given = np.asarray(given)
    assert y.tolist() == [1.0 if v == classes[1] else -1.0 for v in y_given.tolist()]


@pytest.mark.parametrize("given", [[3, 8, 8], [2.5, -1.0], ["no", "yes"], [True, False]])
def test_what_an_error_recommends_scores_fully(given):
    """Labels that a margin matrix refuses are mapped as its message says, and back."""
    y = np.array(given)
    X = np.arange(y.size, dtype=float)[:, None]
    with pytest.raises(
        InputError, match=r"datasets.labels\(y\).signs, which maps.*decided\(scores\)"
    ):
        stumps(X, y)
    made = labels(y)
    stumps(X, made.signs)
    predicted = made.decided(made.signs)
    assert predicted.dtype == y.dtype
    assert np.mean(predicted == y) == 1.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [1, 1, 1],
            r"labels have 1 value .*; a margin needs two classes; add examples of another class$",
        ),
        ([1, 2, 3], r"labels have 3 values \(1, 2, 3\); .*; keep two, or set one class against"),
        (list("abcdefgh"), r"8 values \(a, b, c, d, e, f, ...\)"),
        ([1.0, np.nan, 0.0], "label of row 2 is missing"),
        (np.array(["a", None, "b"], dtype=object), "label of row 2 is missing"),
        (["a", float("nan"), "a"], "label of row 2 is missing"),
        ([1, "1", "b"], r"labels have 3 values \(1, 1, b\)"),
        ([], "non-empty vector"),
        ([[1, 0]], "non-empty vector"),
    ],
)
def test_wrong_labels(given, message):
    with pytest.raises(InputError, match=message):
        labels(given)


def test_read_csv(tmp_path):
    path = tmp_path / "wine.csv"
    path.write_text('age, "sugar, g",old,kind\n1,2.5,True,red\n3,-4e2,False,white\n5,0,True,red\n')
    data = read_csv(path, "kind")
    assert data.name == "wine"
    assert data.X.tolist() == [[1, 2.5, 1], [3, -400, 0], [5, 0, 1]]
    assert data.y.tolist() == [-1, 1, -1]
    assert data.feature_names == ("age", "sugar, g", "old")
    assert data.classes == ("red", "white")


BAD = {
    "empty": ("", "is empty"),
    "header only": ("a,y\n", "has a header but no rows"),
    "no label column": ("a,b\n1,2\n", "has no column 'y'; it has a, b"),
    "label only": ("y\n1\n0\n", "has no column besides the label 'y'"),
    "text feature": ("a,sex,city,y\n1,m,x,0\n2,f,z,1\n", "column 'sex' is not numeric"),
    "one text feature": (
        "a,sex,y\n1,m,0\n2,f,1\n",
        r"column 'sex' is not numeric \(for instance 'm'\); write plain numbers, encode",
    ),
    "missing": (
        "a,b,y\n1,2,0\n3,,1\n,,1\n",
        "value at line 3, column 'b' is missing, and 2 more; impute it, or drop the row",
    ),
    "infinite": (
        "a,b,y\n1,2,0\n3,inf,1\n",
        "column 'b' is infinite; write a number, or leave it empty",
    ),
    "missing label": ("a,y\n1,0\n2,\n3,1\n", "label at line 3 is missing"),
    "three classes": ("a,y\n1,0\n2,1\n3,2\n", "labels have 3 values"),
    "one class": ("a,y\n1,0\n2,0\n", "labels have 1 value"),
    "semicolons": ("a;y\n1;0\n2;1\n", "one column, 'a;y'; if ';' separates columns, give sep=';'"),
    "tabs": ("a\ty\n1\t0\n2\t1\n", r"separates columns, give sep='.t'"),
    "no name": ("a,,y\n0,1,0\n1,2,1\n", "column 2 has no name; name it"),
    "two labels": ("a,y,y\n1,0,0\n2,1,1\n", "two columns are named 'y'"),
    "all rows longer": ("a,y\n1,0,7\n2,1,7\n", "data.csv, line 2: more entries than the header"),
    "rows shorter": ("a,b,y\n1,2,0\n3\n", "value at line 3, column 'b' is missing"),
    "thousands": ('a,y\n"1,200",0\n"3,100",1\n', r"for instance '1,200'\); write plain numbers"),
    "decimal commas": ("a;y\n1,5;0\n2;1\n", r"'1,5'\); write plain numbers, such as 1.5, not 1,5"),
    "question marks": ("a,y\n1,0\n?,1\n", "value at line 3, column 'a' is missing"),
    "ragged": ("a,y\n1,0\n\n2,1,5,6\n", "data.csv, line 4: more entries than"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(case, tmp_path):
    text, message = BAD[case]
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_csv(path, "y", ";" if case == "decimal commas" else ",")


def test_decimal_commas_are_no_categories(tmp_path):
    (tmp_path / "a.csv").write_text("a;y\n1,5;0\n2,5;1\n")
    with pytest.raises(InputError, match=r"such as 1\.5, not 1,5"):
        read_table(tmp_path / "a.csv", "y", ";", words=True)


def test_forms_of_good_files(tmp_path):
    want = None
    for number, content in enumerate(
        (
            b"a,b,y\n1,2,NA\n3,4,b\n",
            b"\xef\xbb\xbfa,b,y\r\n1,2,NA\r\n3,4,b\r\n",
            b"a , b , y\n1, 2,NA\n\n3, 4,b\n",
            b",a,b,y\n0,1,2,NA\n1,3,4,b\n",  # as pandas writes it
            b'"a","b","y"\n"1","2","NA"\n"3","4","b"\n',
        )
    ):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(content)
        data = read_csv(path, "y")
        assert data.classes == ("NA", "b")
        want = want or (data.X.tolist(), data.y.tolist(), data.feature_names)
        assert (data.X.tolist(), data.y.tolist(), data.feature_names) == want


def test_blank_rows_change_no_label(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,10\n\n2,9\n,\n\n")
    assert read_csv(tmp_path / "a.csv", "y").classes == ("9", "10")


OTHERS = {
    "a zip archive or a workbook; unpack it": b"PK\x03\x04 and more",
    "packed by bzip2; unpack it": b"BZh91AY",
    "packed by xz; unpack it": b"\xfd7zXZ\x00",
    "an array of NumPy; write it as CSV": b"\x93NUMPY\x01\x00",
    "JSON; write it as CSV": b'[{"a": 1}]',
    "starts with '# by me'.*delete the lines above": b"# by me\na,y\n1,2\n",
    "if ' ' separates columns, give sep=' '": b"a y\n1 2\n",
    "empty; use a file with a header row and data rows": b"\n\n",
    "drop one; if that is a row, write the names": b"1,1,no\n2,3,yes\n",
    "if that is a row, write the names of the columns": b"1,2.5,no\n2,3,yes\n",
}


@pytest.mark.parametrize("said", OTHERS)
def test_what_is_no_csv_is_told_as_what_it_is(said, tmp_path):
    (tmp_path / "a.csv").write_bytes(OTHERS[said])
    with pytest.raises(InputError, match=said):
        read_csv(tmp_path / "a.csv", "y")


def test_unreadable_files(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_csv(tmp_path / "nothing.csv", "y")
    with pytest.raises(InputError, match="is no file"):
        read_csv(tmp_path, "y")
    binary = tmp_path / "picture.csv"
    binary.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe\x00\x80")
    with pytest.raises(InputError, match="line 1: not in UTF-8"):
        read_csv(binary, "y")


WHOLE = [2**53, 2**53 + 2, 2**60, -(2**63), 0, -1, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**62 + 1]


def test_integers_that_doubles_round_are_told_from_those_that_they_do_not():
    for x in WHOLE:
        exact = int(float(x)) == x
        assert (rounded_integer(np.array([[5, x]])) is None) == exact
    for x in (2**64 - 1, 2**63 + 1, 2**64 - 2**11):
        at = rounded_integer(np.array([x], dtype=np.uint64))
        assert (at is None) == (int(float(x)) == x)


def test_integers_that_doubles_would_make_equal_are_refused_by_name(tmp_path):
    ids, y = np.array([[2**53], [2**53 + 1], [2**53 + 2]]), np.array([-1, 1, -1])
    said = (
        "9007199254740993.* an integer that a double cannot represent exactly; drop the column, or"
    )
    file = tmp_path / "ids.csv"
    file.write_text("id,y\n" + "".join(f"{x},{s}\n" for (x,), s in zip(ids, y, strict=True)))
    for read in (
        lambda: rb.matrices.stumps(ids, y),
        lambda: rb.matrices.chunked(ids, y),
        lambda: rb.online.stream(ids, y).head(2),
        lambda: rb.estimators.MarginBoostClassifier(fraction=0.5, folds=None).fit(ids, y),
        lambda: rb.estimators.MarginBoostClassifier(fraction=0.5, folds=None).fit(
            pd.DataFrame({"id": ids[:, 0]}), y
        ),
        lambda: rb.matrices.datasets.read_csv(file, "y"),
    ):
        with pytest.raises(rb.InputError, match=said):
            read()
    with pytest.raises(rb.InputError, match="line 3, column 'id'"):
        rb.matrices.datasets.read_csv(file, "y")
    assert rb.matrices.stumps(ids - ids[0], y).n == 2
