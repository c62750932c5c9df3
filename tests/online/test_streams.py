"""Streams of every kind and page size, base functions, and learning that predicts first."""

from __future__ import annotations

import csv
import io
import math
import pickle
import signal
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import relaxboost as rb
from relaxboost import InputError
from relaxboost.online import (
    Experts,
    GradientDescent,
    LinearBasis,
    MirrorDescent,
    StumpBasis,
    WithIntercept,
    load,
    progressive,
    stream,
)
from relaxboost.online.streams import running
from tests.batches import Batches
from tests.online.apart import CONTEXT, METHOD, made, slowly
from tests.online.apart import digests as told

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 200
ODD = 2**53 + 1


def write_csv(path, X, y):
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["label", *(f"x{f}" for f in range(X.shape[1]))])
        out.writerows(
            [one, *row] for row, one in zip(X.tolist(), np.asarray(y).tolist(), strict=False)
        )
    return path


def kinds(folder, X, y):
    """Yield the same examples as every kind of stream, opened with options."""
    frame = pd.DataFrame(X, columns=[f"x{f}" for f in range(X.shape[1])])
    labelled = frame.assign(label=y)
    np.save(folder / "X.npy", X)
    yield lambda **o: stream(X, y, **o)
    yield lambda **o: stream((X, y), **o)
    yield lambda **o: stream(np.load(folder / "X.npy", mmap_mode="r"), y, **o)
    yield lambda **o: stream(np.asfortranarray(X), y.astype(np.int8), **o)
    yield lambda **o: stream(frame, y, **o)
    yield lambda **o: stream(labelled, "label", **o)
    yield lambda **o: stream(list(zip(X, y, strict=True)), **o)
    yield lambda **o: stream(lambda: zip(X.tolist(), y.tolist(), strict=True), **o)
    yield lambda **o: stream(((X[a : a + 37], y[a : a + 37]) for a in range(0, len(y), 37)), **o)
    yield lambda **o: stream(
        [(dict(enumerate(x)), label) for x, label in zip(X, y, strict=False)], **o
    )
    yield lambda **o: stream(Batches(X, y, [0, 7, 130]), **o)
    yield lambda **o: stream(write_csv(folder / "all.csv", X, y), "label", **o)
    (folder / "parts").mkdir()
    pq.write_table(pa.Table.from_pandas(labelled), folder / "all.parquet", row_group_size=33)
    for number, (a, b) in enumerate(pairwise([0, 90, 90, len(y)])):
        pq.write_table(pa.Table.from_pandas(labelled[a:b]), folder / "parts" / f"{number}.parquet")
    yield lambda **o: stream(folder / "all.parquet", "label", **o)
    yield lambda **o: stream(folder / "parts", "label", **o)


def test_every_kind_and_page_size_gives_the_same_bits(tmp_path):
    X, y = made(ROWS)
    want = METHOD.start(5)
    rows = [want.update(h, label) for h, label in zip(X, y, strict=True)]
    mistakes = int(np.sum((np.array(rows) > 0) != (y > 0)))
    for number, opened in enumerate(kinds(tmp_path, X, y)):
        for page in (1, 33, None):
            learner = METHOD.start(5)
            given = opened(page=page)
            got = progressive(learner, given)
            for a, b in zip(learner.arrays(), want.arrays(), strict=True):
                np.testing.assert_array_equal(a, b)
            assert (got.last.rows, got.last.mistakes, got.status) == (ROWS, mistakes, "ended")
            assert got.last.loss == want.loss
            assert [len(one) for one, _ in opened(page=page)][:-1] == [page] * (
                -(-ROWS // page) - 1 if page else 0
            )
            if number != 8:  # the generator
                assert given.replayable
                assert sum(len(one) for one, _ in given) == ROWS
                assert next(given.pages(start=61)).H[0].tolist() == X[61].tolist()
                assert next(iter(given.after(61).pages())).first == 61
    assert not stream(iter([])).replayable


def test_what_can_be_read_once_says_so():
    X, y = made(20)
    once = stream(zip(X, y, strict=True))
    assert repr(once) == "Stream(zip, experts, to be read once)"
    with pytest.raises(InputError, match="so its number of base functions M is unknown"):
        progressive(METHOD, once)
    progressive(METHOD.start(5), once)
    with pytest.raises(
        InputError, match="zip can be read only once, and has already been read; pass"
    ):
        progressive(METHOD.start(5), once)
    with pytest.raises(InputError, match="so reading its first rows would lose"):
        once.head(3)


def test_targets_of_every_kind():
    X, y = made(30)
    names = np.where(y > 0, "yes", "no")
    frame = pd.DataFrame(X).assign(label=names)
    for given in (
        stream(X, names, classes=("no", "yes")),
        stream(frame, "label", classes=("no", "yes")),
    ):
        np.testing.assert_array_equal(next(given.pages()).y, y)
    for source in (lambda: [frame[:13], frame[13:]], iter([frame])):  # as pandas reads chunks
        chunked = stream(source, "label", classes=("no", "yes"))
        np.testing.assert_array_equal(np.concatenate([y for _, y in chunked]), y)
    regression = progressive(MirrorDescent("absolute", rb.L1Ball(1)), stream(X, 0.1 * y))
    assert regression.last.mistakes is None
    assert regression.last.loss == pytest.approx(regression.learner.loss)
    costs = progressive(MirrorDescent("inner", rb.Simplex(1)), stream(X))
    assert costs.last.mistakes is None
    assert next(stream(X).pages()).y is None


BAD = [
    (lambda X, y, f: stream(X, "label"), "an array has no column 'label'"),
    (lambda X, y, f: stream(zip(X, y, strict=False), y), "must contain the labels, in pairs"),
    (lambda X, y, f: stream(3), "a stream is read from an array.*; got int"),
    (lambda X, y, f: stream(pa.table({"a": [1]})), "Table must be a pandas frame"),
    (lambda X, y, f: stream(f / "no.csv", "y"), "no.csv does not exist"),
    (lambda X, y, f: stream(f / "a.csv", 3), "y must be the name of the label column .*, got 3"),
    (lambda X, y, f: list(stream(f / "a.txt", "z")), "a.txt has no column 'z'"),
    (lambda X, y, f: stream(X, y, page=0), "page must be a whole number >= 1"),
    (lambda X, y, f: stream(X, y, classes=(1, 1)), "two different labels"),
    (lambda X, y, f: stream(X, y, base="stumps"), "base must be a BaseFunctions"),
    (lambda X, y, f: progressive(METHOD, stream(X)), "Hinge.. needs targets, but X has none"),
    (lambda X, y, f: progressive(METHOD, stream(X[:0], y[:0])), "X is empty"),
    (lambda X, y, f: progressive(METHOD.start(5), stream(iter([]))), "is empty: it has no rows"),
    (lambda X, y, f: progressive(METHOD.start(4), stream(X, y)), "has 5 base functions, but this"),
    (lambda X, y, f: progressive("hinge", stream(X, y)), "learner must be a Learner"),
    (
        lambda X, y, f: list(stream(X, y[:7])),
        r"X: labels must have shape \(30,\), one per example, got",
    ),
    (lambda X, y, f: list(stream(X[0], y)), r"must have shape \(rows, features\)"),
    (lambda X, y, f: list(stream(X, y * np.nan)), "has no label at row 0; add the label"),
    (lambda X, y, f: list(stream(X, y * np.inf)), "the label .*inf at row 0: it must be finite"),
    (lambda X, y, f: list(stream(X, ["a"] * 30)), "labels that are not numbers, such as 'a'"),
    (lambda X, y, f: list(stream(X, y, classes=(1, 0))), "label -1.0 at row 0: it is neither 1"),
    (
        lambda X, y, f: list(stream([(X[0], 1.0), X[1]])),
        "only some rows of the page that starts at row 0",
    ),
    (lambda X, y, f: list(stream([(X[0], 1.0), (X[1, :3], 1)])), "item 1 of list has 3 columns"),
    (
        lambda X, y, f: list(stream([({"a": 1, "b": 2}, 1.0), ({"b": 1, "a": 2}, 1)])),
        "item 1 of list has its columns in another order",
    ),
    (
        lambda X, y, f: list(stream(iter([pd.get_dummies(["u", v, "w"]) for v in "vw"]))),
        "item 1 of list_iterator has no column 'v', which the blocks before it have",
    ),
    (lambda X, y, f: list(stream(f / "a.csv", "z")), "a.csv has no column 'z'; it has y, a, b"),
    (
        lambda X, y, f: list(stream(f / "a.csv", "y")),
        r"\('p' at row 0; its labels are p, q\); name",
    ),
    (lambda X, y, f: list(stream(f / "a.csv")), r"column 'y' is not numeric \('p' "),
    (
        lambda X, y, f: list(stream(f / "a.csv", "y", classes=("p", "q"))),
        r"a.csv: column 'b' is not numeric \('abc' at row 1\); name it in categories=\[...\]",
    ),
    (
        lambda X, y, f: list(stream(f / "b.csv", "y", page=1)),
        "b.csv has nan at row 1, feature 'b'",
    ),
    (lambda X, y, f: list(stream(f / "c.csv", "y")), "read as CSV: row 1: Expected 3 columns"),
    (lambda X, y, f: stream(io.StringIO("y\n1"), "y"), "StringIO is open in text .*'rb'"),
    (lambda X, y, f: list(stream([X], "y")), "list must contain the labels, in pairs"),
    (lambda X, y, f: list(stream([pd.Series(X[0])], "y")), "list must contain the labels"),
    (lambda X, y, f: progressive(METHOD.start(2), stream(f / "d.csv", "y")), "d.csv is empty"),
    (lambda X, y, f: list(stream(pd.DataFrame({"a": ["s"], "y": [1]}), "y")), "frame: column 'a'"),
    (lambda X, y, f: list(stream(pd.DataFrame({"a": [1]}), "y")), "the frame has no column 'y'"),
    (
        lambda X, y, f: list(stream(f / "e.csv", "y")),
        f"e.csv: column 'a' has {ODD} at row 2, an integer that a double cannot represent; drop ",
    ),
    (lambda X, y, f: list(stream(f / "e.csv", "a")), f"column 'a' has {ODD} at row 2"),
    (lambda X, y, f: list(stream(pd.DataFrame({"a": [ODD]}))), f"frame: column 'a' has {ODD}, an"),
    (lambda X, y, f: list(stream(X[:1], [ODD])), f"X: column 'y' has {ODD}, an integer"),
    (lambda X, y, f: list(stream(f / "e.parquet")), f"e.parquet: column 'a' has {ODD}, an integer"),
]


@pytest.mark.parametrize(("make", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_streams(make, message, tmp_path):
    X, y = made(30)
    y[0] = -1.0
    (tmp_path / "a.csv").write_text("y,a,b\np,1,2\nq,3,abc\n")
    (tmp_path / "b.csv").write_text("y,a,b\n1,1,2\n1,3,NA\n")
    (tmp_path / "c.csv").write_text("y,a,b\n1,1,2\n1,3\n")
    (tmp_path / "d.csv").write_text("y,a,b\n")
    (tmp_path / "e.csv").write_text(f"y,a\n1,{ODD - 1}\n1,1e23\n1,{ODD}\n1,{ODD}.5\n")
    pd.DataFrame({"a": [ODD]}).to_parquet(tmp_path / "e.parquet")
    (tmp_path / "a.txt").write_text("y,a,b\n")
    with pytest.raises(InputError, match=message):
        make(X, y, tmp_path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y: X.__setitem__((45, 2), math.nan), "X has nan at row 45, feature 'x2'"),
        (lambda X, y: X.__setitem__((45, 2), 7.0), "row 45 has size 7, beyond bound=1.0"),
        (lambda X, y: y.__setitem__(45, 0.5), r"must be -1 or \+1; row 45 has 0.5"),
    ],
)
def test_a_bad_row_is_named_and_its_page_not_learned(spoil, message, tmp_path):
    X, y = made(100)
    good = X.copy(), y.copy()
    spoil(X, y)
    learner, want = METHOD.start(5), METHOD.start(5)
    path = tmp_path / "run"
    with pytest.raises(InputError, match=f"{message}.*before row 40 are learned: .*from row 40"):
        progressive(learner, stream(X, y, page=20), checkpoint=path)
    want.update(*(one[:40] for one in good))
    for a, b in zip(learner.arrays(), want.arrays(), strict=True):
        np.testing.assert_array_equal(a, b)
    resumed = progressive(METHOD, stream(*good), checkpoint=path)
    whole = progressive(METHOD, stream(*good))
    assert resumed.last[:4] == whole.last[:4]
    progressive(learner, stream(*good).after(40))
    np.testing.assert_array_equal(learner.average, whole.learner.average)


def test_it_predicts_before_it_learns():
    """On labels that are coins, no learner that does can be right."""
    rng = np.random.default_rng(5)
    X, y = np.eye(200), rng.choice([-1.0, 1.0], 200)
    got = progressive(GradientDescent("hinge", rb.L2Ball(50)), stream(X, y, page=17))
    assert got.last.loss == 200.0  # every row is new, and is predicted 0
    assert got.last.mistakes == np.sum(y > 0)


def test_records_limits_and_callbacks():
    X, y = made(ROWS)
    seen = []
    got = progressive(METHOD, stream(X, y, page=64), every=75, callback=seen.append)
    assert [one.rows for one in seen] == [75, 150, 200] == [one.rows for one in got.history]
    twin = METHOD.start(5)
    twin.update(X[:150], y[:150])
    assert seen[1].loss == twin.loss
    assert seen[1].bound == twin.regret_bound()
    stopped = progressive(METHOD, stream(X, y, page=10), callback=lambda one: one.rows >= 50)
    assert (stopped.status, stopped.last.rows) == ("callback", 50)

    def forever():
        while True:
            yield X[0], 1.0

    late = progressive(METHOD.start(5), stream(forever(), page=10), time_limit=0.05, every=10**9)
    assert late.status == "time_limit"
    assert late.last.rows == late.learner.rounds > 0

    def pressed(one):
        raise KeyboardInterrupt

    ended = progressive(METHOD, stream(X, y, page=100), callback=pressed)
    assert (ended.status, ended.last.rows, ended.learner.rounds) == ("interrupted", 100, 100)
    assert repr(ended).startswith("Progressive(100 examples, mean loss ")


def test_base_functions():
    X, y = made(50, 3)
    stumps = StumpBasis([[0.0, 0.5], [], [-0.25]])
    want = [[1.0 if x[f] > t else -1.0 for f, t in ((0, 0.0), (0, 0.5), (2, -0.25))] for x in X]
    np.testing.assert_array_equal(stumps.values(X), want)
    assert (stumps.size(3), stumps.bound, stumps.features) == (3, 1.0, 3)
    line = LinearBasis.spanning(X[:20])
    H = line.values(X)
    assert np.abs(H).max() == 1.0
    np.testing.assert_allclose(H[:20].max(axis=0), 1.0)
    np.testing.assert_allclose(H[:20].min(axis=0), -1.0)
    levels = StumpBasis.at_quantiles(np.column_stack([X, np.ones(50)]), cuts=4)
    assert levels.size(4) == 12
    shares = (levels.values(np.column_stack([X, np.ones(50)])) > 0).mean(axis=0)
    np.testing.assert_allclose(shares, np.tile([0.8, 0.6, 0.4, 0.2], 3), atol=0.05)
    assert Experts().bound_in.__self__.bound is None
    assert line.bound_in("l1", 3) == 1.0
    assert line.bound_in("l2", 4) == 2.0
    given = stream(X, y)
    learner = MirrorDescent("hinge", rb.Simplex(1)).start(3)
    learner.update(stumps.values(X), y)
    got = progressive(MirrorDescent("hinge", rb.Simplex(1)), given.through(stumps))
    np.testing.assert_array_equal(got.learner.w, learner.w)
    head, labels = given.head(7)
    np.testing.assert_array_equal(head, X[:7])
    np.testing.assert_array_equal(labels, y[:7])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: StumpBasis([[], []]), "StumpBasis needs at least one threshold"),
        (
            lambda X: StumpBasis.at_quantiles(np.ones((5, 2))),
            "StumpBasis needs at least one threshold",
        ),
        (lambda X: StumpBasis.at_quantiles(X[:0]), "a sample must be finite"),
        (lambda X: LinearBasis([0.0], [0.0]), "a scale > 0 for each feature"),
        (lambda X: Experts().bound_in("l1", 3), "'experts' have no known bound"),
        (lambda X: list(stream(X, base=StumpBasis([[0.0]]))), "stumps expects 1 features, but X"),
    ],
)
def test_bad_base_functions(make, message):
    with pytest.raises(InputError, match=message):
        make(made(5)[0])


def test_digests_in_another_process():
    X, _ = made(60)
    bases = [Experts(), LinearBasis.spanning(X), StumpBasis([[0.0], [1.0]])]
    bases += [StumpBasis([[0.0], [], [1.0]]), StumpBasis([[0.0, 1.0], []])]
    bases += [WithIntercept(one) for one in bases[1:]]
    digests = [one.digest() for one in bases]
    assert len(set(digests)) == len(digests)
    answers, sent = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=told, args=(pickle.dumps(bases), sent), daemon=True)
    process.start()
    sent.close()
    assert answers.poll(120.0)  # and not for ever, if it has died
    assert answers.recv() == digests
    process.join(60.0)
    assert process.exitcode == 0


class Nested(Experts):
    """Base functions with the given parts."""

    def __init__(self, parts):
        self.parts = lambda: parts


def test_digests_know_where_parts_end():
    assert Nested(((1,), (2,))).digest() != Nested(((1, (2,)),)).digest()
    assert Nested((1, 2)).digest() == Nested((1, 2)).digest() != Nested((12,)).digest()
    with pytest.raises(InputError, match="must return arrays, numbers, strings, or lists"):
        Nested((object(),)).digest()


def test_a_saved_learner_goes_on_and_others_are_refused(tmp_path):
    X, y = made(ROWS)
    frame = pd.DataFrame(X, columns=list("abcde"))
    path = tmp_path / "learner"
    whole = progressive(METHOD, stream(frame, y))
    first = progressive(METHOD, stream(frame[:150], y[:150]))
    first.learner.save(path)
    assert path.stat().st_size < 3000
    second = load(path, METHOD)
    progressive(second, stream(frame, y).after(150))
    for a, b in zip(whole.learner.arrays(), second.arrays(), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(second)).w, second.w)
    for given, message in (
        (
            stream(frame[list("bacde")], y),
            "the frame has column 'b' where the learner has learned ",
        ),
        (stream(frame[list("abcd")], y), "has no column 'e', but the learner has .* a, b, c, d, e"),
        (stream(frame.rename(columns={"c": "f"}), y), "has a column 'f', but the learner has lear"),
        (stream(X[:, :4], y), "X has 4 columns, but the learner has learned from 5"),
        (stream(frame, y, base=LinearBasis.spanning(X)), "has base functions that differ from tho"),
    ):
        with pytest.raises(InputError, match=message):
            progressive(load(path, METHOD), given)
    third = load(path, METHOD)
    progressive(third, stream(X, y))  # columns without names leave the known names
    with pytest.raises(InputError, match="the frame has column 'b' where the learner has learned"):
        progressive(third, stream(frame[list("bacde")], y))
    other = MirrorDescent("hinge", rb.Simplex(2))
    for method in (other, GradientDescent("hinge")):
        with pytest.raises(
            InputError, match=r"cannot load .*: the learner was saved with (over|method)=.*"
        ):
            load(path, method)
    for content in (b"", b"nothing", path.read_bytes()[:-40]):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(InputError, match="bad is not a saved learner, or is damaged"):
            load(tmp_path / "bad", METHOD)
    with pytest.raises(InputError, match=r"cannot read .*absent"):
        load(tmp_path / "absent", METHOD)
    with pytest.raises(InputError, match=r"folder .* does not exist"):
        second.save(tmp_path / "no" / "learner")
    with pytest.raises(InputError, match="is not a checkpoint of a run"):
        progressive(METHOD, stream(X, y), checkpoint=path)


def test_checkpoints_of_other_runs_are_refused(tmp_path):
    X, y = made(ROWS)
    path = tmp_path / "run"
    progressive(METHOD, stream(X, y), checkpoint=path)
    for learner, given, message in (
        (MirrorDescent("hinge", rb.Simplex(2)), stream(X, y), r"saved with over=Simplex\(\), and"),
        (METHOD.start(4), stream(X[:, :4], y), "saved with 5 base functions, and this run has 4;"),
        (
            METHOD,
            stream(X, y).after(3),
            "the saved run started at row 0, and this run starts at row 3",
        ),
        (METHOD, stream(X[:190], y[:190]), "X has 190 rows, but the checkpoint .* after row 200"),
    ):
        with pytest.raises(InputError, match=message):
            progressive(learner, given, checkpoint=path)
    longer = [np.concatenate([one, one]) for one in (X, y)]
    got = progressive(METHOD, stream(*longer), checkpoint=path)
    assert got.last[:4] == progressive(METHOD, stream(*longer)).last[:4]


@pytest.mark.parametrize("more", [0, 50])
def test_a_resumed_run_names_the_row_and_column_that_differ(more, tmp_path):
    """Also if the stream has no further rows."""
    X, y = made(ROWS + more)
    frame = pd.DataFrame(X, columns=list("abcde"))
    path = tmp_path / "run"
    progressive(METHOD, stream(frame[:ROWS], y[:ROWS]), checkpoint=path)
    kept = path.read_bytes()
    first, last, label = frame.copy(), frame.copy(), y.copy()
    first.loc[0, "c"] = 0.125
    last.loc[ROWS - 1, "d"] = 0.5
    label[ROWS - 1] *= -1.0
    for given, message in (
        (stream(first, y), "frame has 0.125 at row 0, feature 'c', but the checkpoint .* has "),
        (stream(last, y), "has 0.5 at row 199, feature 'd', but the checkpoint .* of the check"),
        (stream(frame, label), "at row 199, the label, but the checkpoint .*run has"),
        (stream(frame[list("abced")], y), "has column 'e' where the learner has learned from colu"),
    ):
        with pytest.raises(InputError, match=message):
            progressive(METHOD, given, checkpoint=path)
        path.write_bytes(kept)
    found = progressive(METHOD, stream(frame, y), checkpoint=path)
    assert found.last[:4] == progressive(METHOD, stream(frame, y)).last[:4]
    assert found.history[-1].rows == ROWS + more


def test_a_list_of_classes_may_change_later():
    classes = [0, 1]
    given = stream(np.eye(2), np.array([0, 1]), classes=classes)
    classes.reverse()
    np.testing.assert_array_equal(next(iter(given))[1], [-1.0, 1.0])


def test_parts_of_files_that_a_kill_leaves_are_removed(tmp_path):
    X, y = made(ROWS)
    path = tmp_path / "m.npz"
    progressive(METHOD, stream(X, y), checkpoint=path)
    (tmp_path / ".m.npz.abcd_123").write_bytes(path.read_bytes()[:50])
    (tmp_path / ".m.npz.abcd_124").write_bytes(b"")
    others = [".m.npz.notes", ".m.npz.12345678", ".other.npz.abcd_123", "m.npz"]
    for name in others[:3]:
        (tmp_path / name).write_bytes(path.read_bytes() if name[1] == "o" else b"of a user")
    progressive(METHOD, stream(X, y), checkpoint=path)
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(others)


def test_the_history_survives_a_resume(tmp_path):
    X, y = made(ROWS)
    whole = progressive(METHOD, stream(X, y), every=30)
    for task, given in (("run", stream(X, y)), ("costs", stream(X))):
        path = tmp_path / task
        method = METHOD if task == "run" else MirrorDescent("inner", rb.Simplex(1))
        stopped = {"callback": lambda one: one.rows >= 90, "checkpoint": path}
        assert progressive(method, given, every=30, **stopped).status == "callback"
        found = progressive(method, given, every=30, checkpoint=path)
        assert [one.rows for one in found.history] == [30, 60, 90, 120, 150, 180, 200]
        if task == "run":
            assert [one[:4] for one in found.history] == [one[:4] for one in whole.history]
        assert [one.mistakes is None for one in found.history] == [task == "costs"] * 7


def test_the_seconds_of_a_resumed_run_include_those_after_its_last_record(tmp_path):
    path = tmp_path / "run"

    def stop(first, _):
        if first == 100:
            time.sleep(0.05)
            raise KeyboardInterrupt

    given = stream(*made(ROWS), page=20)
    stopped = progressive(METHOD, given, every=50, checkpoint=path, predictions=stop)
    resumed = progressive(METHOD, given, every=50, checkpoint=path)
    times = [one.seconds for one in resumed.history]
    assert times == sorted(times)
    assert [one.rows for one in resumed.history] == [50, 100, 150, 200]
    assert times[2] > stopped.history[1].seconds + 0.05


def test_killed_at_random_moments_and_resumed_is_uninterrupted(tmp_path):
    rng = np.random.default_rng(0)
    path, rounds = tmp_path / "run", [0]
    for every in (None, 3000, 70, 3000):  # of those with 3000, no record precedes the kill
        process = CONTEXT.Process(target=slowly, args=(path, every))
        process.start()
        deadline = time.monotonic() + 60.0
        while process.is_alive() and time.monotonic() < deadline:
            if path.exists() and load(path, METHOD).rounds > rounds[-1]:
                break
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, 0.03))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        rounds.append(load(path, METHOD).rounds)
    assert rounds == sorted(set(rounds))
    assert rounds[-1] < 3000
    X, y = made(3000)
    resumed = progressive(METHOD, stream(X, y, page=71), checkpoint=path)
    whole = progressive(METHOD, stream(X, y))
    for a, b in zip(whole.learner.arrays(), resumed.learner.arrays(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert resumed.last[:4] == whole.last[:4]


def test_a_checkpoint_that_cannot_be_written_is_in_the_result(tmp_path, monkeypatch):
    def fail(path, state):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(running, "write_state", fail)
    X, y = made(ROWS)
    with pytest.warns(RuntimeWarning, match="checkpoint .*run could not be written: No space"):
        found = progressive(METHOD, stream(X, y), checkpoint=tmp_path / "run")
    assert found.unsaved.errno == 28
    assert found.last.rows == ROWS
