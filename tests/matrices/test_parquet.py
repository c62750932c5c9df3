"""Stumps of Parquet files: the same as of the array in them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.matrices import chunked, stumps

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def made(rng):
    X = np.round(rng.normal(size=(600, 5)), 1)
    return X, np.where(X[:, 0] + rng.normal(size=600) > 0, 1, 0)


def write_parquet(folder, X, y, ends):
    cuts = [0, *ends, len(y)]
    for number, (a, b) in enumerate(pairwise(cuts)):
        columns = {f"x{f}": X[a:b, f] for f in range(X.shape[1])} | {"label": y[a:b]}
        pq.write_table(pa.table(columns), folder / f"part-{number:03}.parquet", row_group_size=50)
    return folder


@pytest.mark.parametrize("ends", [[], [0, 0, 1, 250, 250, 600], [33, 34, 599]])
def test_no_cut_into_files_and_groups_changes_a_bit(ends, made, rng, tmp_path):
    X, y = made
    want = chunked(X, y)
    d = rng.dirichlet(np.ones(600))
    for path in (write_parquet(tmp_path, X, y, ends), tmp_path / "part-000.parquet"):
        if path.is_dir() or not ends:
            got = chunked(path, "label", page=33)
            assert got.digest() == want.digest() == stumps(X, 2 * y - 1).digest()
            assert got.edges(d).tobytes() == want.edges(d).tobytes()
            assert got.describe(0) == want.describe(0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop_columns("x1"), r"part-001.parquet has no column 'x1', which the blocks"),
        (lambda t: t.append_column("z", t["x0"]), "part-001.parquet has a column 'z'"),
        (lambda t: t.drop_columns("label"), "part-001.parquet has no column 'label'"),
        (
            lambda t: t.set_column(1, "x1", pa.array(["a"] * len(t))),
            "part-001.parquet: column 'x1' is not numeric",
        ),
        (
            lambda t: t.set_column(1, "x1", pa.array([None, 1] * (len(t) // 2))),
            r"block 0 of .*part-001.parquet has nan at its row 0, feature 'x1'",
        ),
    ],
)
def test_a_parquet_file_unlike_the_others(change, message, made, tmp_path):
    path = write_parquet(tmp_path, *made, [300]) / "part-001.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    with pytest.raises(rb.InputError, match=message):
        chunked(tmp_path, "label", page=50)


def test_parquet_that_is_none(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"no")
    for path, message in (
        (tmp_path, "cannot be read as Parquet"),
        (tmp_path / "b", "b does not exist"),
    ):
        with pytest.raises(rb.InputError, match=message):
            chunked(path, "label")
    with pytest.raises(rb.InputError, match="y must be the name of the label column, got None"):
        chunked(tmp_path)
