"""Readers of the public formats, on small files written here."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from benchmarks.readers import concatenated, data_folder, read_fold, read_labelled, read_ranked
from relaxboost._core.errors import InputError
from tests.benchmarks.readers import made

BOARD = ["b", "o", "x", "b", "b", "o", "x"] * 6
RANKED_LINES = [
    "2 qid:10 1:0.5 3:0.25 #docid = GX1 inc = 1",
    "0 qid:10 1:-1e-3 2:1",
    "",
    "# a comment alone",
    "1 qid:b2 46:7",
]


def write(path, lines, packed=False):
    made.write(path, "\n".join(lines) + "\n", packed)


def letter_rows(n):
    return [",".join(["ABC"[i % 3], *[str((i * j) % 16) for j in range(16)]]) for i in range(n)]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("place", [".", "letter", "LETTER"])
def test_letter(tmp_path, packed, place):
    write(tmp_path / place / "letter-recognition.data", letter_rows(10), packed)
    data = read_labelled("letter", tmp_path)
    assert data.X.shape == (10, 16)
    assert data.X[3].tolist() == [(3 * j) % 16 for j in range(16)]
    assert data.y.tolist() == list("ABCABCABCA")
    assert (data.train, data.published) == (8, True)


def test_pendigits_with_its_blanks_and_satimage(tmp_path):
    row = " 47,100, 27, 81, 57, 37, 26,  0,  0, 23, 56, 53,100, 90, 40, 98, 8"
    write(tmp_path / "pendigits.tra", [row, row.replace(" 8", " 1"), "", row])
    write(tmp_path / "pendigits.tes", [row], packed=True)
    data = read_labelled("pendigits", str(tmp_path))
    assert (data.X.shape, data.train, data.published) == ((4, 16), 3, True)
    assert data.y.tolist() == [8, 1, 8, 8]
    assert data.X[0, :3].tolist() == [47.0, 100.0, 27.0]
    row = " ".join(map(str, range(36)))
    write(tmp_path / "sat.trn", [f"{row} 7", f"{row} 1"])
    write(tmp_path / "sat.tst", [f"{row} 3"])
    data = read_labelled("satimage", tmp_path)
    assert (data.X.shape, data.train) == ((3, 36), 2)
    assert data.y.tolist() == [7, 1, 3]


def test_connect4_is_the_same_in_both_encodings(tmp_path):
    code = {"b": "0", "o": "1", "x": "2"}
    names = [f"{c}{r}" for c in "abcdefg" for r in range(1, 7)]
    one, other = tmp_path / "one", tmp_path / "other"
    write(one / "connect-4.data", [",".join([*BOARD, r]) for r in ("win", "loss", "draw")])
    rows = ["\t".join([*map(code.get, BOARD), r]) for r in "210"]
    write(other / "connect-4.tsv", ["\t".join([*names, "target"]), *rows], packed=True)
    original, pmlb = (read_labelled("connect4", folder) for folder in (one, other))
    assert np.array_equal(original.X, pmlb.X)
    assert original.y.tolist() == pmlb.y.tolist() == [2, 1, 0]
    assert not original.published
    assert original.train == 2


def test_missing_files_are_named_with_their_source(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"letter-recognition\.data .*archive\.ics\.uci\.edu"):
        read_labelled("letter", tmp_path)
    write(tmp_path / "sat.trn", ["1"])
    with pytest.raises(InputError, match=r"sat\.tst"):
        read_labelled("satimage", tmp_path)
    with pytest.raises(InputError, match=r"Fold2/train\.txt .*research/project/mslr"):
        read_fold("mslr-web10k", tmp_path, 2)
    with pytest.raises(InputError, match=r"S4\.txt .*letor.*Fold4/train\.txt"):
        read_fold("mq2008", tmp_path, 4)
    with pytest.raises(InputError, match="folds 1 to 5, got 6"):
        read_fold("mq2008", tmp_path, 6)
    with pytest.raises(InputError, match="no data set 'iris'"):
        read_labelled("iris", tmp_path)
    monkeypatch.delenv("RELAXBOOST_DATA", raising=False)
    with pytest.raises(InputError, match="--data DIR, or set RELAXBOOST_DATA"):
        data_folder()
    with pytest.raises(InputError, match="does not exist"):
        data_folder(tmp_path / "nowhere")
    monkeypatch.setenv("RELAXBOOST_DATA", str(tmp_path))
    assert data_folder() == tmp_path


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("A,1,2", "line 3: 2 fields; it needs 16 numbers after the letter"),
        ("A" + ",1" * 15 + ",x", "line 3: a field is 'x'; it must be a finite number"),
        ("A" + ",1" * 15 + ",1_0", "line 3: a field is '1_0'; it must be a finite"),
        ("A" + ",1" * 15 + ",nan", "line 3: a field is 'nan'; it must be a finite number"),
        ("7" + ",1" * 16, "line 3: starts with '7', which is no letter"),
    ],
)
def test_malformed_lines_of_letter(tmp_path, line, why):
    write(tmp_path / "letter-recognition.data", ["", letter_rows(1)[0], line, letter_rows(1)[0]])
    with pytest.raises(InputError, match=r"letter-recognition\.data, " + why):
        read_labelled("letter", tmp_path)


def test_malformed_lines_of_the_others(tmp_path):
    write(tmp_path / "connect-4.data", [",".join([*BOARD, "won"])])
    with pytest.raises(InputError, match=r"connect-4\.data, line 1: .*win, loss or draw"):
        read_labelled("connect4", tmp_path)
    write(tmp_path / "connect-4.data", [",".join([*BOARD[1:], "win"])])
    with pytest.raises(InputError, match="line 1: 42 fields; it needs 43"):
        read_labelled("connect4", tmp_path)
    row = ",".join(["1"] * 16)
    write(tmp_path / "pendigits.tra", [f"{row},3", f"{row},3.5"])
    write(tmp_path / "pendigits.tes", [f"{row},3"])
    with pytest.raises(InputError, match=r"pendigits\.tra, line 2: class '3.5' is no whole number"):
        read_labelled("pendigits", tmp_path)
    write(tmp_path / "pendigits.tra", [""])
    with pytest.raises(InputError, match=r"pendigits\.tra has no rows"):
        read_labelled("pendigits", tmp_path)


def test_damaged_archives(tmp_path):
    packed = gzip.compress("\n".join(letter_rows(2000)).encode())
    path = tmp_path / "letter-recognition.data.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match=r"data\.gz, after line \d+: cannot be read"):
        read_labelled("letter", tmp_path)
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(InputError, match=r"data\.gz, after line 0: cannot be read"):
        read_labelled("letter", tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_ranking_lines(tmp_path, packed):
    write(tmp_path / "a.txt", RANKED_LINES, packed)
    data = read_ranked(next(tmp_path.iterdir()))
    expected = np.zeros((3, 46))
    expected[0, [0, 2]], expected[1, [0, 1]], expected[2, 45] = (0.5, 0.25), (-1e-3, 1.0), 7.0
    assert np.array_equal(data.X, expected)
    assert data.y.tolist() == [2.0, 0.0, 1.0]
    assert data.groups.tolist() == ["10", "10", "b2"]


def test_ranking_lines_across_blocks(tmp_path, rng):
    """Lines are turned into numbers some thousands at a time; none is lost at the seams."""
    values = rng.integers(0, 100, (9001, 3))
    lines = [f"{a % 3} qid:{n // 7} 1:{a} 2:{b} 4:{c}" for n, (a, b, c) in enumerate(values)]
    write(tmp_path / "a.txt", lines)
    data = read_ranked(tmp_path / "a.txt")
    assert np.array_equal(data.X[:, [0, 1, 3]], values)
    assert not data.X[:, 2].any()
    assert np.array_equal(data.y, values[:, 0] % 3)
    assert data.groups.tolist() == [str(n // 7) for n in range(9001)]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1 1:2 2:3", "line 2: it needs a grade, then qid:"),
        ("1 qid: 1:2", "line 2: it needs a grade, then qid:"),
        ("high qid:1 1:2", "line 2: the grade is 'high'; it must be a finite number"),
        ("1 qid:1 1:2 5", "line 2: '5' is not feature:value"),
        ("1 qid:1 5 1:2:3", "line 2: '5' is not feature:value"),
        ("1 qid:1 1:2:3", "line 2: '1:2:3' is not feature:value"),
        ("1 qid:1 1:inf", "line 2: '1:inf' is not feature:value"),
        ("1 qid:1 1:1_0", "line 2: '1:1_0' is not feature:value"),
        ("1 qid:1 1.5:1", "line 2: '1.5:1' is not feature:value"),
        ("1 qid:1 0:1", "line 2: feature 0 comes after 0"),
        ("1 qid:1 2:1 2:3", "line 2: feature 2 comes after 2"),
        ("1 qid:1 3:1 2:3", "line 2: feature 2 comes after 3"),
    ],
)
def test_malformed_ranking_lines(tmp_path, line, why):
    write(tmp_path / "a.txt", ["0 qid:1 1:1 2:1", line, "0 qid:1 1:1"])
    with pytest.raises(InputError, match=r"a\.txt, " + why):
        read_ranked(tmp_path / "a.txt")


def test_empty_ranking_file(tmp_path):
    write(tmp_path / "a.txt", ["", "# nothing"])
    with pytest.raises(InputError, match="has no documents"):
        read_ranked(tmp_path / "a.txt")


def test_folds_of_mq2008_are_those_of_its_authors(tmp_path):
    """Fold k trains on S_k, S_{k+1}, S_{k+2} and tests on S_{k+4}, modulo 5."""
    for part in range(1, 6):
        write(tmp_path / "mq2008" / f"S{part}.txt", [f"{part} qid:{part} {part}:1"], part == 3)
    train, test = read_fold("mq2008", tmp_path, 4)
    assert (train.y.tolist(), test.y.tolist()) == ([4.0, 5.0, 1.0], [3.0])
    assert train.X.shape == (3, 5)
    assert test.X.shape == (1, 5)
    train, test = read_fold("mq2008", tmp_path, 1)
    assert (train.y.tolist(), test.y.tolist()) == ([1.0, 2.0, 3.0], [5.0])
    assert train.X.tolist() == np.eye(5)[:3].tolist()


def test_folds_of_mslr(tmp_path):
    write(tmp_path / "MSLR-WEB10K" / "Fold2" / "train.txt", ["1 qid:1 1:1", "0 qid:1 2:1"])
    write(tmp_path / "MSLR-WEB10K" / "Fold2" / "test.txt", ["1 qid:9 3:1"])
    train, test = read_fold("mslr-web10k", tmp_path, 2)
    assert (train.X.shape, test.X.shape) == ((2, 3), (1, 3))
    assert concatenated([train, test]).groups.tolist() == ["1", "1", "9"]
