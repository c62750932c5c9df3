"""Labelled data: CSV files good and bad, labels of any two values."""

from __future__ import annotations

import numpy as np
import pytest

from relaxboost import InputError
from relaxboost.datasets import breast_cancer, labels, read_csv


def test_breast_cancer():
    data = breast_cancer()
    assert data.X.shape == (569, 30)
    assert data.classes == ("malignant", "benign")
    assert (data.y == 1).sum() == 357
    assert data.feature_names[20] == "worst radius"


@pytest.mark.parametrize(
    ("given", "classes"),
    [
        ([1, 0, 1], ("0", "1")),
        ([-1, 1, 1], ("-1", "1")),
        ([2.5, 7.0, 7.0], ("2.5", "7.0")),
        (["b", "g", "b"], ("b", "g")),
        ([True, False, True], ("False", "True")),
        (np.array(["yes", "no", "yes"], dtype=object), ("no", "yes")),
    ],
)
def test_any_two_labels(given, classes):
    y, names = labels(given)
    assert names == classes
    values = sorted({str(v) for v in np.asarray(given).tolist()})
    assert y.tolist() == [1.0 if str(v) == values[1] else -1.0 for v in np.asarray(given).tolist()]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 1, 1], r"labels have 1 value \(1\); a margin needs two classes$"),
        ([1, 2, 3], r"labels have 3 values \(1, 2, 3\); .*; keep two, or set one class against"),
        (list("abcdefgh"), r"8 values \(a, b, c, d, e, f, ...\)"),
        ([1.0, np.nan, 0.0], "label of row 2 is missing"),
        (np.array(["a", None, "b"], dtype=object), "label of row 2 is missing"),
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
    "header only": ("a,y\n", "has a header and no rows"),
    "no label column": ("a,b\n1,2\n", "has no column 'y'; it has a, b"),
    "label only": ("y\n1\n0\n", "has no column besides the label 'y'"),
    "text feature": ("a,sex,city,y\n1,m,x,0\n2,f,z,1\n", "columns 'sex', 'city' are not numeric"),
    "one text feature": (
        "a,sex,y\n1,m,0\n2,f,1\n",
        r"column 'sex' is not numeric \(for instance 'm'\); write plain numbers, encode",
    ),
    "missing": (
        "a,b,y\n1,2,0\n3,,1\n,,1\n",
        "value at row 2, column 'b' is missing, and 2 more; impute or drop",
    ),
    "infinite": ("a,b,y\n1,2,0\n3,inf,1\n", "value at row 2, column 'b' is infinite"),
    "missing label": ("a,y\n1,0\n2,\n3,1\n", "label of row 2 is missing"),
    "three classes": ("a,y\n1,0\n2,1\n3,2\n", "labels have 3 values"),
    "one class": ("a,y\n1,0\n2,0\n", "labels have 1 value"),
    "ragged": ("a,y\n1,0\n2,1,5,6\n", "cannot be read as CSV"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(case, tmp_path):
    text, message = BAD[case]
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_csv(path, "y")


def test_unreadable_files(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_csv(tmp_path / "nothing.csv", "y")
    with pytest.raises(InputError, match="cannot be read as CSV"):
        read_csv(tmp_path, "y")
    binary = tmp_path / "picture.csv"
    binary.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe\x00\x80")
    with pytest.raises(InputError, match="cannot be read as CSV"):
        read_csv(binary, "y")
