"""CSV without pyarrow: Python's module csv reads the same bits, and refuses the same rows."""

from __future__ import annotations

import io
import sys

import numpy as np
import pandas as pd
import pytest

from relaxboost import InputError
from relaxboost.online import stream
from relaxboost.online.streams import csv_parsers
from relaxboost.online.streams.csv_parsers import PlainParser, parser
from tests.command import run


@pytest.fixture
def without_pyarrow(monkeypatch):
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pyarrow", None)
        assert isinstance(parser(["a"], ","), PlainParser)
    # What was loaded with pyarrow does not work without it.
    monkeypatch.setattr("relaxboost.online.streams.csv_rows.parser", PlainParser)


def table(rows=3000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 3)) * 10.0 ** rng.integers(-12, 12, (rows, 3))
    y = np.where(X[:, 0] > 0.0, "yes", "no")
    return pd.DataFrame(X, columns=list("abc")).assign(city=rng.choice(["NA", "o, slo"], rows), y=y)


def test_it_reads_the_same_bits(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("relaxboost.online.streams.csv_rows.READ_BYTES", 20_000)
    table().to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "b.csv").write_text("a;b;y\n1;?;1\n\n 2 ;1e400;-1\n")

    def read():
        found = [stream(tmp_path / "a.csv", "y", classes=("no", "yes"), categories=())]
        found += [stream(tmp_path / "a.csv", "y", classes=("no", "yes"), drop=["city"])]
        rows = [
            (np.vstack([H for H, _ in one]), np.concatenate([y for _, y in one])) for one in found
        ]
        with pytest.raises(InputError, match="nan at row 0, feature 'b'"):
            list(stream(tmp_path / "b.csv", "y", sep=";"))
        return rows

    arrow = read()
    monkeypatch.setattr("relaxboost.online.streams.csv_rows.parser", PlainParser)
    for one, other in zip(arrow, read(), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])
    np.testing.assert_array_equal(arrow[1][0], table()[list("abc")])


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("y,a\n1,2\n1,red\n", {}, r"column 'a' is not numeric \('red' at row 1\); name it"),
        ("y,a\nyes,2\nno,3\n", {}, r"\('yes' at row 0; its labels are no, yes\); name the two"),
        ("y,a\n1,2\n1,2,3\n", {}, "cannot be read as CSV: row 1: Expected 2 columns, got 3"),
        ("y,a\n1,2\n1\n", {}, "cannot be read as CSV: row 1: Expected 2 columns, got 1"),
        ("y,a\n1,2\n\n\n1,NA\n", {}, "has nan at row 1, feature 'a'"),
        (f"y,a\n1,2\n1,{2**53 + 1}\n", {}, f"'a' has {2**53 + 1} at row 1, an integer that a d"),
        ("y,a\nyes,1\n\xe9,1\n", {"classes": ("yes", "no")}, "not in UTF-8; save the file as"),
    ],
)
def test_it_refuses_the_same_rows(text, options, message, tmp_path, without_pyarrow):
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=message):
        list(stream(tmp_path / "a.csv", "y", **options))


def test_the_command_line_needs_no_pyarrow(tmp_path, capsys, monkeypatch, without_pyarrow):
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
    assert csv_parsers.NOT_UTF8 not in err
