"""Stumps of data on disk: the same game as in memory, however the source is cut."""

from __future__ import annotations

import copy
import gc
import math
import os
import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.matrices import chunked, stumps
from relaxboost.matrices.chunks import matrix as chunked_module
from relaxboost.matrices.chunks.passes import fixed_point
from tests.batches import Batches


@pytest.fixture
def made(rng):
    """Features of few levels, of many, constant, and with both zeros."""
    X = np.round(rng.normal(size=(600, 5)), 1)
    X[:, 1] = rng.normal(size=600)
    X[:, 2] = 3.5
    X[::3, 3] = -0.0
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=600) > 0, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize("max_cuts", [None, 7])
def test_it_is_the_same_game_as_in_memory(max_cuts, made, rng):
    X, y = made
    want = stumps(X, y, max_cuts=max_cuts)
    got = chunked(X, y, max_cuts=max_cuts, page=100)
    assert (got.m, got.n, got.digest()) == (want.m, want.n, want.digest())
    assert np.array_equal(got.toarray(), want.toarray())
    assert [got.describe(j, -1) for j in range(got.n)] == [
        want.describe(j, -1) for j in range(got.n)
    ]
    assert np.array_equal(got.hypothesis(3)(X) * y, got.column(3))
    d = rng.dirichlet(np.ones(600))
    assert got.edges(d) == pytest.approx(want.edges(d), abs=1e-15)
    assert got.best(d)[:2] == want.best(d)[:2]
    assert got.entries == want.entries


@pytest.mark.parametrize("method", ["interior-point", "auto"])
def test_it_is_solved_as_in_memory_is(method, made):
    X, y = made[0][:150], made[1][:150]
    games = [rb.Game(A, rb.Capped(20)) for A in (chunked(X, y, page=100), stumps(X, y))]
    one, two = (rb.solve(game, 1e-6, method) for game in games)
    assert max(one.lower, two.lower) <= min(one.upper, two.upper)
    assert one.status == "optimal"
    assert one.game.digest == two.game.digest


def test_codes_have_the_smallest_type(rng):
    y = np.tile([1.0, -1.0], 35_000)
    for levels, kind in ((256, "uint8"), (257, "uint16"), (65_536, "uint16"), (65_537, "uint32")):
        x = rng.permutation(np.arange(70_000) % levels)
        matrix = chunked(np.column_stack([x, x % 2]), y)
        assert matrix.n == levels
        assert matrix._codes.dtype == kind
        assert np.array_equal(matrix._codes[0], x)


@pytest.mark.parametrize("scale", [1.0, 1e-250, 1e300])
def test_edges_against_fractions(scale, rng):
    """The slow twin; the bound on what is lost is that of `fixed_point`."""
    X, y = rng.normal(size=(40, 2)), np.sign(rng.normal(size=40))
    d = scale * rng.dirichlet(np.full(40, 0.2))
    matrix = chunked(X, y)
    A = matrix.toarray().astype(int).tolist()
    exact = [sum(Fraction(d[i]) * A[i][j] for i in range(40)) for j in range(matrix.n)]
    size = sum(map(Fraction, d))
    for edge, want in zip(matrix.edges(d), exact, strict=True):
        assert abs(Fraction(edge) - want) <= 40 * size / 2**61 + abs(want) / 2**52
    best = matrix.best(d)
    assert best[:3] == max(
        ((j, -1 if e < 0 else 1, abs(e)) for j, e in enumerate(matrix.edges(d))),
        key=lambda found: found[2],
    )
    q, total, unit = fixed_point(y, d)
    assert total == sum(q.tolist())
    assert sum(map(abs, q.tolist())) < 2**61 + 20
    assert math.frexp(unit)[0] == 0.5


def test_a_d_without_weight_or_with_nan(made):
    X, y = made
    matrix = chunked(X, y)
    assert matrix.best(np.zeros(600)) == (0, 1, 0.0, 0.0)
    assert not matrix.edges(np.zeros(600)).any()
    for ask in (matrix.edges, matrix.best):
        with pytest.raises(rb.InputError, match="but has nan or infinite entries"):
            ask(np.full(600, np.nan))
        with pytest.raises(
            rb.InputError, match=r"d must have shape \(600,\), with one entry for each"
        ):
            ask(np.ones(599))


def answers(matrix, d):
    game = rb.Game(matrix, rb.Capped(60))
    solution = rb.solve(game, 1e-3, rb.solvers.Corrective(step="pairwise"), max_rounds=20)
    return (
        game.digest,
        matrix.edges(d).tobytes(),
        matrix.best(d),
        solution.d.tobytes(),
        solution.support.tobytes(),
        solution.coefficients.tobytes(),
        (solution.lower, solution.upper),
    )


def test_no_cut_of_the_source_changes_a_bit(made, rng, tmp_path):
    X, y = made
    d = rng.dirichlet(np.ones(600))
    np.save(tmp_path / "X.npy", X)
    empty = [0, 0, 1, 250, 250, 599, 600]  # empty blocks first, last and between
    cuts = [[], empty, sorted(rng.integers(0, 601, 9).tolist())]
    sources = [
        *((X, y, page) for page in (1, 7, 600, 10_000)),
        (np.asfortranarray(X), y, 64),
        (np.load(tmp_path / "X.npy", mmap_mode="r"), y, 64),
        *((Batches(X, y, ends), None, 50) for ends in cuts),
    ]
    first = answers(chunked(X, y), d)
    for source, label, page in sources:
        assert answers(chunked(source, label, page=page), d) == first


def test_no_number_of_threads_changes_a_bit(made, rng, monkeypatch):
    X, y = made
    d = rng.dirichlet(np.ones(600))
    matrix = chunked(X, y)
    want = answers(matrix, d)
    for threads in (1, 3, 16):
        with ThreadPoolExecutor(threads) as pool:
            monkeypatch.setattr(chunked_module, "thread_pool", lambda: (pool, threads))  # noqa: B023
            assert answers(matrix, d) == want


@pytest.mark.parametrize("inline", [True, False])
def test_a_certificate_of_it_holds_for_the_data_in_memory(inline, made):
    X, y = made[0][:30], made[1][:30]
    matrix = chunked(X, y, page=8)
    solution = rb.solve(rb.Game(matrix, rb.Capped(5)), 1e-6)
    certificate = rb.certify(solution, inline=inline)
    assert certificate.level == "exact"
    for A in (matrix, stumps(X, y)):
        assert certificate.check(A)
    few = chunked(X, y, max_cuts=3)
    with pytest.raises(rb.InputError, match="files of this matrix contain the bin"):
        few.data()


def test_labels_are_any_two_values(made):
    X, y = made
    want = chunked(X, y).digest()
    for label in (y > 0, np.where(y > 0, 7, 3), np.where(y > 0, "spam", "ham"), y.astype(int)):
        assert chunked(X, label).digest() == want
    assert chunked(X, np.ones(600)).digest() == stumps(X, np.ones(600)).digest()


def spoilt(made, row, column, value):
    X, y = made[0].copy(), made[1].copy()
    if column is None:
        y[row] = value
    else:
        X[row, column] = value
    return X, y


@pytest.mark.parametrize(
    ("row", "column", "value", "message"),
    [
        (0, 1, np.nan, "block 0 has nan at its row 0, feature 'x1'; drop the row or impute"),
        (599, 4, np.inf, "block 2 has inf at its row 99, feature 'x4'"),
        (505, None, 2.0, r"block 2 has another label 2.0 at its row 5; a margin needs two classes"),
        (300, None, np.nan, "block 1 has the label nan at its row 100"),
    ],
)
def test_bad_entries_are_named_by_block_and_row(row, column, value, message, made):
    X, y = spoilt(made, row, column, value)
    with pytest.raises(rb.InputError, match=message):
        chunked(Batches(X, y, [200, 500]))


class Odd(Batches):
    """An iterator whose third batch is not like the others."""

    def __init__(self, made, data, label=None):
        super().__init__(*made, [200, 500])
        rows = self.parts[2]
        self.parts[2] = (data(rows[0]), rows[1] if label is None else label(rows[1]))


@pytest.mark.parametrize(
    ("data", "label", "message"),
    [
        (lambda X: X[:, :4], None, "block 2 has 4 columns, but earlier blocks have 5"),
        (lambda X: X[:50], None, r"block 2 has data of shape \(50, 5\) and labels of shape \(100,"),
        (lambda X: X[0], None, "they must be"),
        (lambda X: X.astype(str), None, "block 2 has dtype <U32; features must be numbers"),
        (lambda X: X, lambda y: None, r"labels of shape \(\)"),
    ],
)
def test_a_block_of_another_shape(data, label, message, made):
    with pytest.raises(rb.InputError, match=message):
        chunked(Odd(made, data, label))


def test_frames_bring_names_and_must_keep_them(made):
    import pandas as pd

    X, y = made
    frame = pd.DataFrame(X, columns=list("abcde"))
    for made, first in (
        (chunked(Batches(frame, y, [200])), "a > "),
        (chunked(Batches(frame, y, [200]), feature_names=list("vwxyz")), "v > "),
        (chunked(Batches(pd.DataFrame(X), y, [200])), "0 > "),
    ):
        assert made.describe(0).startswith(first)
        assert made.digest() == stumps(X, y).digest()
    for columns, message in (
        ("abcdf", "block 2 has a column 'f', which the blocks before it do not have"),
        ("abced", "block 2 has its columns in another order"),
    ):

        def renamed(part, columns=columns):
            return part.set_axis(list(columns), axis=1)

        with pytest.raises(rb.InputError, match=message):
            chunked(Odd((frame, y), renamed))


def test_rows_are_counted_through_the_pages_of_a_block(made):
    X, y = spoilt(made, 505, 2, np.nan)
    with pytest.raises(rb.InputError, match="X has nan at its row 505, feature 'x2'"):
        chunked(X, y, page=100)
    X, y = spoilt(made, 505, None, 3.0)
    with pytest.raises(rb.InputError, match=r"X has another label 3\.0 at its row 505"):
        chunked(X, y, page=100)


def test_iterators_that_break_the_rules(made):
    X, y = made
    with pytest.raises(rb.InputError, match="provides 'weight', which chunked does not support"):
        chunked(Batches(X, y, [9], weight=y))
    silent = Batches(X, y, [9])
    silent.next = lambda input_data: True
    with pytest.raises(
        rb.InputError, match=r"next\(\) provided no data for block 0 and returned True"
    ):
        chunked(silent)
    forgetful = Batches(X, y, [9])
    given = forgetful.next
    forgetful.next = lambda input_data: given(input_data) and None
    with pytest.raises(rb.InputError, match="provided data for block 0 and returned None"):
        chunked(forgetful)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ([[1.0], [2.0]], {"y": [1, -1]}, "a NumPy array or memory map, .* got list"),
        (np.ones(3), {"y": np.ones(3)}, "they must be"),
        (np.ones((3, 1)), {"y": np.ones(2)}, r"X has data of shape \(3, 1\) and labels .* \(2,\)"),
        (np.ones((3, 1)), {}, r"labels of shape \(\); they must be"),
        (np.ones((3, 0)), {"y": np.ones(3)}, r"they must be \(rows, features\)"),
        (np.ones((2, 1)), {"y": np.array([1, -1])}, "X has only constant features"),
        (np.eye(2), {"y": np.array([5, 5])}, "labels have 1 value"),
        (np.eye(2), {"y": np.array([1, -1]), "max_cuts": 0}, "max_cuts must be"),
        (np.eye(2), {"y": np.array([1, -1]), "page": 0}, "page must be a whole number >= 1"),
        (
            np.eye(2),
            {"y": np.array([1, -1]), "feature_names": ["a"]},
            "feature_names has 1 names, but the source has 2",
        ),
        (np.eye(2), {"y": np.array([1, -1]), "directory": "/nowhere"}, "directory /nowhere is not"),
        (Batches(np.eye(2), np.ones(2), []), {"y": np.ones(2)}, "leave y out"),
        (Batches(np.ones((0, 2)), np.ones(0), []), {}, "the source has no rows"),
    ],
)
def test_wrong_sources(source, options, message, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(rb.InputError, match=message):
        chunked(source, **options)
    assert not list(tmp_path.iterdir())  # nothing is left of a failure


def test_a_source_is_read_once_and_may_change_afterwards(made, rng):
    """A second pass over a source that changed would mix two data sets; there is none."""
    X, y = made
    batches = Batches(X.copy(), y, [100])
    matrix = chunked(batches)
    assert batches.resets == 1
    d = rng.dirichlet(np.ones(600))
    want, edges = matrix.digest(), matrix.edges(d).tobytes()
    batches.parts[0][0][:] = 0.0
    assert (matrix.digest(), matrix.edges(d).tobytes()) == (want, edges)
    assert want == stumps(X, y).digest()


def test_pages_that_changed_or_went_are_refused(made, tmp_path):
    matrix = chunked(*made, directory=tmp_path)
    letter = pickle.dumps(matrix)
    assert len(letter) < 2_000  # no data travels
    twins = [pickle.loads(letter), copy.deepcopy(matrix)]
    d = np.full(600, 1 / 600)
    for twin in twins:
        assert twin.digest() == matrix.digest()
        assert twin.best(d) == matrix.best(d)
    codes = matrix._pages.folder / "codes"
    content = bytearray(codes.read_bytes())
    content[77] ^= 1
    codes.write_bytes(content)
    with pytest.raises(rb.InputError, match="have changed since they were written"):
        pickle.loads(letter)
    del matrix
    gc.collect()
    with pytest.raises(rb.InputError, match=r"cannot be read \(No such file"):
        pickle.loads(letter)


def test_the_files_go_with_the_matrix_and_not_with_a_fork(made, tmp_path):
    one, two = (chunked(*made, directory=tmp_path) for _ in range(2))
    folders = sorted(tmp_path.iterdir())
    assert folders == sorted([one._pages.folder, two._pages.folder])
    assert sorted(p.name for p in folders[0].iterdir()) == ["codes", "cuts", "signs"]
    pid = os.fork()
    if pid == 0:
        del one, two
        gc.collect()
        os._exit(0)
    os.waitpid(pid, 0)
    assert sorted(tmp_path.iterdir()) == folders
    del one, two
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_it_never_holds_the_data_twice_nor_once(rng, tmp_path):
    """A feature at a time: the peak of all arrays is far below the data."""
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float64, (20_000, 100))
    X[:] = rng.normal(size=X.shape)
    y = np.sign(rng.normal(size=20_000))
    d = np.full(20_000, 1 / 20_000)
    chunked(X[:500], y[:500]).best(d[:500])  # compiled code is not the data
    tracemalloc.start()
    try:
        matrix = chunked(X, y, page=1_000)
        matrix.best(d)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert matrix.n == 1_999_900
    assert peak < X.nbytes / 4
