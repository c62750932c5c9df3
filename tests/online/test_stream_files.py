"""Streams of files: what is in memory at once, and where CSV is cut."""

from __future__ import annotations

import numpy as np
import pytest

from relaxboost import InputError
from relaxboost.online import stream
from relaxboost.online.streams import csv_rows
from relaxboost.online.streams.csv_parser import CsvParser

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_a_row_group_of_parquet_is_not_in_memory_at_once(tmp_path):
    X = np.random.default_rng(0).normal(size=(100_000, 20))
    table = pa.table({f"x{f}": X[:, f] for f in range(20)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=100_000, use_dictionary=False)
    del table
    before = pa.total_allocated_bytes()
    most, rows = 0, 0
    for H, _ in stream(tmp_path / "a.parquet"):
        np.testing.assert_array_equal(H, X[rows : rows + len(H)])
        most, rows = max(most, pa.total_allocated_bytes() - before), rows + len(H)
    assert rows == 100_000
    assert most < X.nbytes / 2


@pytest.mark.parametrize(("label", "text"), [("ja", "né,2"), ("1", "1,é2")])
def test_csv_that_is_not_in_utf8_says_so(label, text, tmp_path):
    (tmp_path / "a.csv").write_bytes(f"y,a\n{label},1\n{text}\n".encode("latin-1"))
    classes = None if label == "1" else ("ja", "né")
    with pytest.raises(InputError, match=r"a\.csv, row 1: not in UTF-8; save the file as UTF-8"):
        list(stream(tmp_path / "a.csv", "y", classes=classes))


PARSER = CsvParser(["a", "b"], ",")


class Pieces:
    def __init__(self, *pieces):
        self.left = list(pieces)

    def read1(self, size):
        return self.left.pop(0) if self.left else b""


def test_a_pipe_is_not_read_before_its_rows_are_wanted():
    class Waiting:
        def read1(self, size=-1):
            raise AssertionError

        readline = read1

    given = stream(Waiting(), "y")
    with pytest.raises(AssertionError):
        next(given.pages())


def test_csv_is_cut_after_rows_wherever_it_comes_in_two(rng):
    """Breaks, separators and doubled quotes within quotes end no row."""

    def field():
        body = "".join(rng.choice(["x", ",", "\n", '""'], rng.integers(0, 6)))
        return f'"{body}"' if rng.random() < 0.5 else 'a"b'

    for _ in range(200):
        rows = [f"{field()},{field()}\n".encode() for _ in range(3)]
        ends = {0, *np.cumsum([len(row) for row in rows]).tolist()}
        text = b"".join(rows)
        for cut in range(1, len(text)):
            got = list(csv_rows._complete_rows(Pieces(text[:cut], text[cut:]), PARSER))
            assert b"".join(got) == text
            assert ends.issuperset(np.cumsum([len(part) for part in got]).tolist())


def test_a_quote_that_never_closes_holds_back_rows_up_to_a_limit(monkeypatch):
    rows = b"1,2\n" * 10
    got = list(csv_rows._complete_rows(Pieces(rows, b'3,"4\n', rows, rows), PARSER))
    assert got == [rows, b'3,"4\n' + rows + rows]
    monkeypatch.setattr(csv_rows, "MAX_ROW_BYTES", 40)
    got = list(csv_rows._complete_rows(Pieces(rows, b'3,"4\n', rows, rows), PARSER))
    assert got == [rows, b'3,"4\n' + rows, rows]
