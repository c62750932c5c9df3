"""CSV: which bits are read, and which rows are refused."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from relaxboost import InputError
from relaxboost.online import stream
from relaxboost.online.streams.csv_parser import NOT_UTF8
from tests.command import run


def table(rows=3000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 3)) * 10.0 ** rng.integers(-12, 12, (rows, 3))
    y = np.where(X[:, 0] > 0.0, "yes", "no")
    return pd.DataFrame(X, columns=list("abc")).assign(city=rng.choice(["NA", "o, slo"], rows), y=y)


def test_it_reads_what_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr("relaxboost.online.streams.csv_rows.READ_BYTES", 20_000)
    table().to_csv(tmp_path / "a.csv", index=False)
    found = list(stream(tmp_path / "a.csv", "y", classes=("no", "yes"), drop=["city"]))
    np.testing.assert_array_equal(np.vstack([H for H, _ in found]), table()[list("abc")])
    y = np.concatenate([y for _, y in found])
    np.testing.assert_array_equal(y, np.where(table().y == "yes", 1.0, -1.0))
    framed = stream(table(), "y", classes=("no", "yes"), categories=())
    both = [framed, stream(tmp_path / "a.csv", "y", classes=("no", "yes"), categories=())]
    frame, file = (np.vstack([H for H, _ in one]) for one in both)
    np.testing.assert_array_equal(frame, file)


def test_rows_and_numbers_that_are_written_in_other_ways():
    file = io.BytesIO(b'a;b\r\n 2 ;.5\r\n\r\n-1e3;+4.\r\n"007";Inf')
    with pytest.raises(InputError, match="inf at row 2, feature 'b'"):
        list(stream(file, sep=";"))
    file = io.BytesIO(b'a;b\r\n 2 ;.5\r\n\r\n-1e3;+4.\r\n"007";1')
    H = np.vstack([H for H, _ in stream(file, sep=";")])
    np.testing.assert_array_equal(H, [[2.0, 0.5], [-1000.0, 4.0], [7.0, 1.0]])


def test_a_column_of_truth_values_is_a_column_of_words():
    text = b"y,a,b\n1,True,1\n0,True,0\n"
    with pytest.raises(InputError, match=r"column 'a' is not numeric \('True' at row 0\)"):
        list(stream(io.BytesIO(text), "y"))
    given = stream(io.BytesIO(text), "y", categories=())
    H = np.vstack([H for H, _ in given])
    assert given.columns[0] == "b"
    np.testing.assert_array_equal(H.sum(axis=1), [2.0, 1.0])


def test_a_column_whose_first_cells_are_blank_is_a_column_of_words():
    ((H, _),) = stream(io.BytesIO(b"y,a,b\n1, ,5\n"), "y", categories=())
    np.testing.assert_array_equal(H.sum(axis=1), [6.0])


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("y,a\n1,2\n1,red\n", {}, r"column 'a' is not numeric \('red' at row 1\); name it"),
        ("y,a\nyes,2\nno,3\n", {}, r"\('yes' at row 0; its labels are no, yes\); name the two"),
        ("y,a\n1,2\n1,2,3\n", {}, "cannot be read as CSV: row 1: Expected 2 columns, got 3"),
        ("y,a\n1,2,3\n1\n", {}, "cannot be read as CSV: row 0: Expected 2 columns, got 3"),
        ('y,a\n1,2\n"1,2"\n', {}, "cannot be read as CSV: row 1: Expected 2 columns, got 1"),
        ("y,a\n1,2\n1\n", {}, "cannot be read as CSV: row 1: Expected 2 columns, got 1"),
        ('y,a\n1,2\n\n1,"2\n1,2\n', {}, "row 1: a quoted cell has no closing quote"),
        ("y,a\n1,2\n\n\n1,NA\n", {}, "has nan at row 1, feature 'a'"),
        (f"y,a\n1,2\n1,{2**53 + 1}\n", {}, f"'a' has {2**53 + 1} at row 1, an integer that a d"),
        ("y,a\nyes,1\n\xe9,1\n", {"classes": ("yes", "no")}, "row 1: not in UTF-8; save the file"),
    ],
)
def test_it_refuses_the_same_rows(text, options, message, tmp_path):
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=message):
        list(stream(tmp_path / "a.csv", "y", **options))


def test_a_pipe_is_read_like_the_file(tmp_path, capsys, monkeypatch):
    path = tmp_path / "a.csv"
    table().to_csv(path, index=False)
    words = ["--label", "y", "--classes", "no,yes"]
    status, out, err = run(capsys, "online", "run", path, *words)
    assert status == 0, err
    assert "city=NA" in out
    piped = io.TextIOWrapper(io.BytesIO(path.read_bytes()))
    monkeypatch.setattr("sys.stdin", piped)
    status, again, err = run(capsys, "online", "run", "-", *words)
    assert status == 0, err
    loss = [line for line in out.splitlines() if line.startswith("loss:")]
    assert loss[0] in again
    assert NOT_UTF8 not in err
