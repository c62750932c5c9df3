"""Every matrix is the same matrix: best, column, products, digest against the dense array."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import relaxboost as rb
from relaxboost._core.compiled import at_most
from relaxboost._core.rounding import roundoff
from relaxboost.matrices import DenseMatrix, SparseMatrix, as_matrix, kernels, stumps
from relaxboost.matrices.bulk import DenseBulk
from relaxboost.matrices.pairs import PairMatrix


def brute_best(A, d):
    edges = [sum(A[i, j] * d[i] for i in range(len(d))) for j in range(A.shape[1])]
    return int(np.argmax(np.abs(edges))), edges


def forms(A):
    yield DenseMatrix(A)
    yield DenseMatrix(np.asfortranarray(A))
    yield DenseMatrix(A[::-1][::-1])
    yield DenseMatrix(A.tolist())
    for make in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        yield SparseMatrix(make(A))
    if np.array_equal(A, np.round(A)):
        yield DenseMatrix(A.astype(np.int8))
        yield DenseMatrix(A.astype(np.int64))
        yield SparseMatrix(sp.csr_array(A.astype(np.int64)))
    if np.array_equal(A, A.astype(np.float32)):
        yield DenseMatrix(A.astype(np.float32))


@pytest.mark.parametrize("kind", ["signs", "reals", "sparse", "float32"])
def test_all_forms_agree(kind, rng):
    A = {
        "signs": np.sign(rng.normal(size=(23, 11))),
        "reals": rng.uniform(-1, 1, (23, 11)),
        "sparse": rng.uniform(-1, 1, (23, 11)) * (rng.random((23, 11)) < 0.2),
        "float32": rng.uniform(-1, 1, (23, 11)).astype(np.float32).astype(np.float64),
    }[kind]
    d = rng.dirichlet(np.ones(23))
    j, edges = brute_best(A, d)
    digests = set()
    for matrix in forms(A):
        assert (matrix.m, matrix.n) == A.shape
        best = matrix.best(d)
        assert best.id == j
        assert best.sign * best.edge == pytest.approx(edges[j], abs=1e-15)
        assert best.edge >= 0.0
        assert best.slack == 0.0
        assert matrix.edges(d) == pytest.approx(edges, abs=1e-15)
        same, some = matrix.priced(d, np.array([7, 0, 7, 10]))
        assert same == best
        assert np.array_equal(some, matrix.edges(d)[[7, 0, 7, 10]])
        assert np.array_equal(matrix.toarray(), A)
        assert np.array_equal(matrix.column(3), A[:, 3])
        assert matrix.margins([2, 5], np.array([0.25, -0.5])) == pytest.approx(
            0.25 * A[:, 2] - 0.5 * A[:, 5], abs=1e-15
        )
        digests.add(matrix.digest())
    assert len(digests) == 1
    assert DenseMatrix(-A).digest() not in digests


def test_margins_are_sums_of_columns_to_the_bit(rng):
    X, y = rng.normal(size=(60, 3)), rng.choice([-1.0, 1.0], 60)
    signs = np.where(rng.random((60, 9)) < 0.5, 1, -1)
    real = rng.uniform(-1, 1, (60, 9))
    for matrix in (stumps(X, y), *map(DenseMatrix, (signs, real, real.astype(np.float32)))):
        support, c = np.array([7, 0, 3]), rng.normal(size=3)
        u = np.zeros(60)
        for j, one in zip(support, c, strict=True):
            kernels.add_scaled(u, matrix.column(int(j)), float(one))
        assert np.array_equal(matrix.margins(support, c), u)
        assert not matrix.margins([], np.empty(0)).any()
        with pytest.raises(rb.InputError, match="there is no column -1"):
            matrix.margins([0, -1], np.ones(2))
        with pytest.raises(
            ValueError, match="support has 2 columns and coefficients has 1 entries"
        ):
            matrix.margins([0, 1], np.ones(1))


@pytest.mark.parametrize("sizes", [(-1, 0), (-12, 0)], ids=["alike", "wide"])
def test_margins_of_many_stumps_are_rounded_no_more_than_sums_of_columns(rng, sizes):
    """By levels, with most of the columns of one feature, and named in any order, one twice."""
    X, y = rng.normal(size=(400, 3)), rng.choice([-1.0, 1.0], 400)
    X[:, 1] = X[:, 1].round()
    matrix = stumps(X, y)
    support = np.append(rng.permutation(matrix.n)[:700], 3)
    c = rng.choice([-1.0, 1.0], support.size) * 10.0 ** rng.uniform(*sizes, support.size)
    u = matrix.margins(support, c)
    columns = matrix.columns(support)
    exact = [math.fsum(row) for row in columns * c]
    most = roundoff(support.size + 1) * math.fsum(np.abs(c))
    assert 0.0 < np.abs(u - exact).max() <= most


def test_negative_zero_and_storage_do_not_change_the_digest():
    assert DenseMatrix([[0.0, 1.0]]).digest() == DenseMatrix([[-0.0, 1.0]]).digest()
    assert DenseMatrix([[0.0], [1.0]]).digest() != DenseMatrix([[0.0, 1.0]]).digest()
    assert DenseMatrix([[0.0], [1.0]]).digest() != DenseMatrix([[1.0], [0.0]]).digest()


def test_ties_go_to_the_lowest_index():
    A = np.array([[0.5, -1.0, 1.0, 1.0], [0.5, -1.0, 1.0, 1.0]])
    for matrix in forms(A):
        assert matrix.best(np.array([0.5, 0.5]))[:2] == (1, -1)


def test_the_matrix_is_a_copy():
    A = np.ones((2, 2))
    game = rb.Game(A)
    digest = game.digest
    A[0, 0] = -1.0
    assert game.bracket([1, 1], [1, 0]) == rb.Game(np.ones((2, 2))).bracket([1, 1], [1, 0])
    assert game.matrix.digest() == DenseMatrix(np.ones((2, 2))).digest()
    assert game.digest == digest
    with pytest.raises(ValueError, match="read-only"):
        game.matrix.column(0)[0] = 0.0


@pytest.mark.parametrize("kind", [np.int8, np.float32, np.float64])
def test_sums_are_the_same_wherever_a_column_stands(kind, rng):
    """Also for counts that no block of columns divides, and for any number of threads."""
    A = rng.choice(np.array([-1, 0, 1], kind), (2_100, 1_003))
    A[:, 7:] = A[:, :1]
    d, w = rng.dirichlet(np.ones(2_100)), rng.normal(size=1_003)
    w[::3] = 0.0
    matrix, H = DenseMatrix(A), np.asfortranarray(A)
    results = []
    for threads in (1, 2):
        with at_most(threads):
            results.append(matrix.edges(d))
    assert np.array_equal(*results)
    assert np.unique(results[0][7:]).tolist() == [results[0][0]]
    assert np.abs(results[0] - d @ A.astype(np.float64)).max() <= 1e-15
    for used in (1, 5, 8, 9, 1_003):
        assert np.array_equal(kernels.dots(H, used, d), results[0][:used])
        u = A[:, :used].astype(np.float64) @ w[:used]
        assert np.abs(kernels.combine(H, used, w) - u).max() <= 1e-12
    assert not kernels.combine(H, 9, np.zeros(9)).any()


def test_the_largest_has_either_sign(rng):
    for size in (1e308, 1.0, 5e-324):
        for m in (1, 2, 70):
            for v in (size * rng.uniform(-1.0, 1.0, m), np.full(m, size), np.zeros(m)):
                for u in (v, -v):
                    assert kernels.largest(u) == np.abs(u).max()


@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([[0.5, np.nan], [0, 0]], r"A\[0, 1\] = nan is not a finite number"),
        ([[0.5, 0], [np.inf, 0]], r"A\[1, 0\] = inf is not a finite number"),
        ([[0.5, 0], [0, -1.25]], r"A\[1, 1\] = -1.25 is outside \[-1, 1\]; divide"),
        (np.array([[2]], dtype=np.int32), r"A\[0, 0\] = 2 is outside"),
        (np.array([[255]], dtype=np.uint8), r"A\[0, 0\] = 255 is outside"),
        (np.empty((0, 3)), "at least one row"),
        (np.empty((3, 0)), "at least one column"),
        ([1.0, 0.5], "got 1 dimension$"),
        (0.5, "got 0 dimensions"),
        (np.zeros((2, 2, 2)), "got 3 dimensions"),
        (
            [[1.0], [1.0, 0.5]],
            "not a rectangular array: row 1 has length 2, but row 0 has length 1",
        ),
        ([[1.0], 1.0], "not a rectangular array: setting an array element"),
        ([["a", "b"]], r"dtype <U1, and A\[0, 0\] = a is not a number; .*stumps.X, y."),
        ([[1.0, None]], r"dtype object, and A\[0, 1\] = None is not a number"),
        ([["0.1", "0.2"]], "dtype <U3; .* convert it"),
        (pd.DataFrame({"h": [1, -1], "job": [1, "cook"]}), r"A\[1, 1\] = cook of column 'job' is"),
        ("breast-cancer", "A must be a matrix, with examples in rows, got 'breast-cancer'"),
        (None, "A must be a matrix, with examples in rows, got None"),
        ([[1 + 1j]], "dtype complex128"),
        ([[True, False]], r"dtype bool, but margins are signed numbers; use 2 \* A"),
        (np.zeros((1, 1), dtype=np.longdouble), "float64, float32"),
        (sp.csr_array([[0.5, 0.0, 3.0]]), r"A\[0, 2\] = 3 is outside"),
        (sp.csr_array(np.array([[0.0, np.nan]])), r"A\[0, 1\] = nan"),
        (sp.csr_array(np.array([[1j]])), "dtype complex128"),
        (sp.csr_array((0, 4)), "at least one row"),
    ],
)
def test_wrong_matrices(A, message):
    with pytest.raises(rb.InputError, match=message):
        as_matrix(A)


@pytest.mark.parametrize("storage", ["dense", "sparse", "stumps"])
def test_what_is_not_there_cannot_be_asked_for(storage, rng):
    X, y = rng.normal(size=(9, 2)), np.sign(rng.normal(size=9))
    A = rng.uniform(-1, 1, (9, 16))
    matrix = {
        "dense": lambda: DenseMatrix(A),
        "sparse": lambda: SparseMatrix(sp.csc_array(A)),
        "stumps": lambda: stumps(X, y),
    }[storage]()
    for j in (-1, 16):
        with pytest.raises(
            rb.InputError, match=rf"there is no column {j}; .* has the columns 0\.\.15"
        ):
            matrix.column(j)
    for d in (np.ones(8), np.ones((9, 1)), np.ones(10)):
        with pytest.raises(rb.InputError, match=r"must have shape \(9,\), with one entry"):
            matrix.edges(d)
    assert np.array_equal(matrix.edges([1 / 9] * 9), matrix.edges(np.full(18, 1 / 9)[::2]))


def test_sums_of_sparse_duplicates_do_not_wrap():
    for kind, values in ((np.int8, [127, 127, 3]), (np.uint8, [255, 2, 0])):
        twice = sp.coo_array((np.array(values, dtype=kind), ([0, 0, 0], [0, 0, 0])), shape=(1, 1))
        with pytest.raises(rb.InputError, match=r"A\[0, 0\] = 257 is outside"):
            SparseMatrix(twice)


def test_masks_are_not_dropped_in_silence():
    with pytest.raises(rb.InputError, match="masked array; fill the masked"):
        rb.Game(np.ma.masked_array([[1.0, 0.5]], mask=[[0, 1]]))


def test_float16_big_endian_and_strided_arrays_are_taken(rng):
    A = rng.uniform(-1, 1, (6, 4)).astype(np.float16)
    want = DenseMatrix(A.astype(np.float64)).digest()
    wide = np.zeros((12, 8))
    wide[::2, ::2] = A
    frozen = A.astype(np.float64)
    frozen.flags.writeable = False
    for form in (A, A.astype(">f8"), wide[::2, ::2], frozen):
        assert DenseMatrix(form).digest() == want


def test_matrices_and_games_survive_pickling(rng, cancer_stumps):
    import copy
    import pickle

    A = rng.uniform(-1, 1, (6, 4))
    for matrix in (DenseMatrix(A), SparseMatrix(sp.csc_array(A)), cancer_stumps):
        game = rb.Game(matrix, rb.Capped(2.5))
        for twin in (pickle.loads(pickle.dumps(game)), copy.deepcopy(game)):
            assert twin.digest == game.digest
            assert twin.matrix.digest() == matrix.digest()
            if isinstance(matrix, DenseMatrix):
                assert not twin.matrix.column(0).flags.writeable
    solution = rb.solve(rb.Game(A), 1e-6)
    twin = pickle.loads(pickle.dumps(solution))
    assert (twin.lower, twin.upper) == (solution.lower, solution.upper)
    assert not twin.d.flags.writeable


def test_the_shared_pass_survives_forks_and_threads():
    """OpenMP would hang in the first and abort in the second; run apart, with a time limit."""
    import subprocess
    import sys

    script = (
        "import numpy as np, os, sys\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from relaxboost.matrices import DenseMatrix\n"
        "rng = np.random.default_rng(0)\n"
        "A = DenseMatrix(rng.uniform(-1, 1, (3000, 1000)))\n"
        "d = rng.dirichlet(np.ones(3000))\n"
        "edges = A.edges(d)\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    same = all(np.array_equal(e, edges) for e in pool.map(A.edges, [d] * 8))\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os._exit(0 if np.array_equal(A.edges(d), edges) else 3)\n"
        "print(same, os.waitpid(pid, 0)[1])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True
    )
    assert result.stdout == "True 0\n"


def brute_stumps(X, y):
    columns, names = [], []
    for f in range(X.shape[1]):
        levels = np.unique(X[:, f])
        for low, high in pairwise(levels):
            columns.append(np.where(X[:, f] > low, 1.0, -1.0) * y)
            names.append((f, low, high))
    return np.column_stack(columns), names


@pytest.mark.parametrize("levels", [2, 5, 400, 70_000])
def test_stumps_are_all_stumps(levels, rng):
    m = 60 if levels < 70_000 else 300
    X = np.round(rng.normal(size=(m, 4)) * levels) / 7
    X[:, 2] = 1.5  # constant: no stump
    y = np.where(rng.random(m) < 0.4, -1, 1)
    matrix = stumps(X, y)
    A, names = brute_stumps(X, y)
    assert np.array_equal(matrix.toarray(), A)
    d = rng.dirichlet(np.ones(m))
    assert matrix.edges(d) == pytest.approx(A.T @ d, abs=1e-14)
    assert matrix.best(d).id == brute_best(A, d)[0]
    for j, (f, low, high) in enumerate(names):
        stump = matrix.hypothesis(j)
        assert stump.feature == f
        assert low <= stump.threshold < high
        assert np.array_equal(stump(X) * y, A[:, j])


def test_margins_skip_features_whose_stumps_have_no_weight(rng):
    X = rng.standard_normal((30, 3))
    X[:, 2] = X[:, 2] > 0.0
    y = rng.choice([-1, 1], 30)
    matrix = stumps(X, y)
    w = np.zeros(matrix.n)
    w[matrix._offsets[1] : matrix._offsets[2]] = rng.random(29)
    # A pass over the last feature would read a sum of the second feature at this level.
    codes = matrix._codes.astype(np.int64)
    codes[2] = 29
    u = kernels.stump_margins(codes, matrix._offsets, y.astype(float), w)
    assert u == pytest.approx(matrix.toarray() @ w, abs=1e-13)


def test_stump_names_are_short_and_right(cancer_stumps):
    assert cancer_stumps.describe(0) == "mean radius > 7.34"
    assert cancer_stumps.describe(0, -1) == "mean radius <= 7.34"
    X = np.array([[1.0, 0.1], [np.nextafter(1.0, 2), 0.2], [3.0, 0.30000001]])
    matrix = stumps(X, [1, -1, 1], ["a > b", "c"])
    assert matrix.hypothesis(0).threshold == 1.0  # no double lies between the two
    assert [matrix.describe(j, -1) for j in range(4)] == [
        "a > b <= 1",
        "a > b <= 2",
        "c <= 0.15",
        "c <= 0.25",
    ]
    for j in range(0, cancer_stumps.n, 97):
        name = cancer_stumps.describe(j)
        stump = cancer_stumps.hypothesis(j)
        low, high = cancer_stumps._around(j)
        assert low <= float(name.rsplit(" > ", 1)[1]) < high
        assert name == stump.name


@pytest.mark.parametrize("features", [1, 3, 4, 6, 9])
def test_the_best_stump_is_the_first_largest_edge(features, rng):
    """Over features of unlike numbers of levels, constant ones, copies, and d of few examples."""
    X = rng.integers(0, rng.integers(1, 40, features), (50, features)).astype(np.float64)
    X[:, -1] = X[:, 0] = rng.normal(size=50).round(1)
    matrix = stumps(X, rng.choice([-1, 1], 50), max_cuts=None if features % 2 else 20)
    for few in (1, 2, 50):
        d = np.zeros(50)
        d[rng.permutation(50)[:few]] = rng.dirichlet(np.ones(few))
        edges = matrix.edges(d)
        best = matrix.best(d)
        assert best.id == int(np.argmax(np.abs(edges)))
        assert best.sign * best.edge == edges[best.id]
        columns = rng.integers(0, matrix.n, 9)
        same, some = matrix.priced(d, columns)
        assert same == best
        assert np.array_equal(some, edges[columns])
    assert matrix.best(np.zeros(50)) == (0, 1, 0.0, 0.0)
    assert np.isnan(matrix.best(np.full(50, np.nan)).edge)


def test_no_number_of_threads_changes_a_shared_pass(rng, monkeypatch):
    """Where each would have a column of its own, it would be summed in another order."""
    H, d = np.asfortranarray(rng.normal(size=(1001, 5))), rng.normal(size=1001)
    with ThreadPoolExecutor(2) as pool:
        for threads in (1, 3, 8):
            monkeypatch.setattr(kernels, "thread_pool", lambda: (pool, threads))  # noqa: B023
            assert np.array_equal(kernels.dots_shared(H, 5, d), kernels.dots(H, 5, d))


def test_breast_cancer_counts(cancer_stumps):
    """15 310 midpoints between consecutive distinct values; 15 131 columns distinct up to sign."""
    assert cancer_stumps.n == 15_310
    A = cancer_stumps.toarray().astype(np.int8)
    assert len(np.unique((A * A[0]).T, axis=0)) == 15_131


def test_max_cuts_keeps_a_spread(cancer):
    few = stumps(cancer.X, cancer.y, max_cuts=10)
    assert few.n == 10 * 30
    everything = stumps(cancer.X, cancer.y)
    known = {c.tobytes() for c in everything.toarray().T}
    assert all(c.tobytes() in known for c in few.toarray().T)
    assert few.digest() != everything.digest()
    for j in range(few.n):
        stump = few.hypothesis(j)
        assert np.array_equal(stump(cancer.X) * cancer.y, few.column(j))


def test_stumps_do_not_mind_large_values():
    X = np.array([[-1.7e308], [1.7e308], [0.0]])
    matrix = stumps(X, [1, 1, -1])
    assert matrix.n == 2
    assert np.isfinite([matrix.hypothesis(j).threshold for j in range(2)]).all()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], [1, -1], "X has nan at row 0, feature 'x1'"),
        ([[1.0, np.inf], [2.0, 3.0]], [1, -1], "X has inf at row 0"),
        ([[1, "a"], [1, "b"]], [1, -1], "a at row 0, feature 'x1'; features must be numbers"),
        (np.array([[1.0]], dtype=object), [1], "dtype object; .* convert it with"),
        ([["a"], ["b"]], [1, -1], "use MarginBoostClassifier"),
        ([1.0, 2.0], [1, -1], r"examples in rows .*; use X.reshape\(-1, 1\) for one feature"),
        (np.empty((0, 2)), [], "examples in rows"),
        ([[1.0], [2.0]], [1, -1, 1], r"y must have shape \(2,\), with .*, got \(3,\)"),
        (
            [[1.0], [2.0]],
            [0, 1],
            r"-1 and \+1; use relaxboost.matrices.datasets.labels\(y\).signs",
        ),
        ([[1.0], [2.0]], ["a", "b"], r"labels -1 and \+1"),
        ([[1.0], [1.0]], [1, -1], "X has only constant features"),
    ],
)
def test_wrong_data(X, y, message):
    with pytest.raises(rb.InputError, match=message):
        stumps(X, y)


def test_wrong_options():
    X, y = [[1.0], [2.0]], [1, -1]
    with pytest.raises(rb.InputError, match="max_cuts must be a whole number >= 1, got 0"):
        stumps(X, y, max_cuts=0)
    with pytest.raises(rb.InputError, match="feature_names has 2 names, but X has 1 features"):
        stumps(X, y, ["a", "b"])


def test_an_array_without_names_gets_default_names():
    class Unnamed:
        columns = None

        def __array__(self, dtype=None, copy=None):
            return np.eye(2)

    assert stumps(Unnamed(), [1, -1]).feature_names == ("x0", "x1")


def test_pandas_frames_bring_their_names(cancer):
    import pandas as pd

    frame = pd.DataFrame(cancer.X, columns=list(cancer.feature_names))
    assert stumps(frame, cancer.y).describe(0) == "mean radius > 7.34"


def test_implicit_matrices_too_large_are_not_written_down(rng):
    X = rng.normal(size=(8_000, 1))
    game = rb.Game(stumps(X, np.sign(rng.normal(size=8_000))))
    for ask in (game.primal, game.dual, game.matrix.toarray):
        with pytest.raises(
            rb.InputError, match=r"8000 x 7999 is more than 5e\+07 entries; use solve"
        ):
            ask()


@pytest.mark.parametrize("features", [1, 2, 4, 5, 9])
def test_features_summed_together_have_the_bits_of_each_by_itself(rng, features):
    d = rng.dirichlet(np.ones(40))
    X, y = rng.integers(0, 5, (40, features)).astype(float), rng.choice([-1.0, 1.0], 40)
    whole = rb.matrices.stumps(X, y).edges(d)
    alone = [rb.matrices.stumps(X[:, [f]], y).edges(d) for f in range(features)]
    assert (whole == np.concatenate(alone)).all()


def test_thresholds_are_written_as_people_write_them():
    x = [-46000.0, 5013.0, 5178.0, 99999.0, 146013.0, 146015.0, 3e6, 4e7]
    stumps = rb.matrices.stumps(np.array(x)[:, None], [1, -1] * 4, ["gain"])
    said = [stumps.describe(j).split(" > ")[1] for j in range(7)]
    assert said == ["-20500", "5100", "52600", "123000", "146014", "1.57e+06", "2.15e+07"]
    assert all(low <= float(t) < high for low, t, high in zip(x, said, x[1:], strict=False))


@pytest.mark.parametrize("low", [-1.0, 0.3])
def test_pairs_of_documents_are_multiplied_as_if_written_down(low):
    rng = np.random.default_rng(3)
    H = rng.choice([low, 1.0], size=(12, 7))
    better, worse = np.nonzero(np.arange(12)[:, None] % 5 > np.arange(12) % 5)
    matrix = PairMatrix(H, better, worse)
    A = np.array([(H[i] - H[j]) / 2 for i, j in zip(better, worse, strict=True)])
    assert (matrix.toarray() == A).all()
    assert matrix.digest() == DenseMatrix(A).digest()
    fast, plain = matrix.bulk(), DenseBulk(A)
    d, w, D = rng.random(better.size), rng.normal(size=7), rng.random((3, better.size))
    assert fast.edges(d) == pytest.approx(plain.edges(d), abs=1e-13)
    assert fast.edges_of(D) == pytest.approx(plain.edges_of(D), abs=1e-13)
    assert fast.margins(w) == pytest.approx(plain.margins(w), abs=1e-13)
    ours, theirs = np.empty((7, 7)), np.empty((7, 7))
    fast.cross(d, ours)
    plain.cross(d, theirs)
    assert ours == pytest.approx(theirs, abs=1e-13)


def test_numpy_does_not_take_a_matrix_for_one_entry():
    for matrix in (rb.matrices.stumps([[1.0], [2.0]], [1, -1]), rb.matrices.DenseMatrix([[1.0]])):
        for convert in (np.asarray, np.array, lambda A: np.ones(2) @ A):
            with pytest.raises(rb.InputError, match=r"write A\.toarray\(\)"):
                convert(matrix)
