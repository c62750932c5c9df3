"""`relaxboost online`, in this process."""

from __future__ import annotations

import io
import json
import math
import re
import resource
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import relaxboost as rb
from relaxboost._core.files import write_atomically
from relaxboost.commands.online import online
from relaxboost.commands.online_options import METHODS
from relaxboost.online import (
    HedgedDescent,
    LinearBasis,
    MirrorDescent,
    WithIntercept,
    progressive,
    saving,
    stream,
)
from tests.command import run


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)).round(3)
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=3000) > 0.0, "yes", "no")
    lines = [
        "age,income,c,d,clicked",
        *(",".join(map(str, [*x, t])) for x, t in zip(X.tolist(), y, strict=False)),
    ]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "d.csv", X, np.where(y == "yes", 1.0, -1.0)


LABEL = ["--label", "clicked", "--classes", "no,yes"]


def told(capsys, *arguments, status=0):
    """Return what a command prints."""
    found, out, err = run(capsys, "online", *arguments)
    assert found == status, err
    return out if status < 2 else err


def test_another_separator_and_nothing_to_learn(tmp_path, capsys):
    (tmp_path / "d.csv").write_text("a;b;y\n0;1;1\n0;1;-1\n")
    options = ["--label", "y", "--sep"]
    out = told(capsys, "run", tmp_path / "d.csv", *options, ";")
    assert "note:       nothing was learned from columns; choose columns that vary" in out
    assert "give --sep ';'" in told(capsys, "run", tmp_path / "d.csv", *options, ",", status=2)


def test_files_are_told_by_what_is_in_them(data, tmp_path, capsys, monkeypatch):
    path, _, _ = data
    table = pd.read_csv(path)
    table.to_csv(tmp_path / "d.tsv", sep="\t", index=False)
    pytest.importorskip("pyarrow")
    table.to_parquet(tmp_path / "piped")
    want = told(capsys, "run", path, *LABEL)
    got = told(capsys, "run", tmp_path / "d.tsv", *LABEL, "--sep", "\\t")
    loss = [line for line in want.splitlines() if line.startswith("loss:")]
    assert loss[0] in got
    for options, said in (
        ([], "the label column; the columns are age, income"),
        (["--label", "price"], "no column 'price'; it has age, income"),
    ):
        assert said in told(capsys, "run", tmp_path / "piped", *options, status=2)
    given = io.TextIOWrapper(io.BytesIO((tmp_path / "piped").read_bytes()))
    monkeypatch.setattr("sys.stdin", given)
    assert loss[0] in told(capsys, "run", "-", *LABEL)


class Pipe(io.RawIOBase):
    """What has come so far of a CSV, a row or some at a time; then Ctrl-C."""

    def __init__(self, text, sizes, then=()):
        self.left, self.sizes, self.then = text, iter(sizes), iter(then)

    def readable(self):
        return True

    def readinto(self, into):
        size = next(self.sizes, None)
        if size is None:
            raise KeyboardInterrupt
        next(self.then, int)()
        part, self.left = self.left[:size], self.left[size:]
        into[: len(part)] = part
        return len(part)


@pytest.mark.parametrize("base", [["--base", "stumps"], ["--every", 500], ["--json"]])
def test_a_pipe_is_learned_as_a_file_is(data, capsys, monkeypatch, base):
    """However it is cut, in rows too."""
    path, _, _ = data
    monkeypatch.setattr("relaxboost.commands.online_options.ROWS_IN_SAMPLE", 700)
    text = path.read_bytes()
    sizes = [7, 1, 100, *[4000] * 40]
    pipe = io.TextIOWrapper(io.BufferedReader(Pipe(text, sizes)))
    monkeypatch.setattr("sys.stdin", pipe)
    got = told(capsys, "run", "-", *LABEL, *base)
    want = told(capsys, "run", path, *LABEL, *base).replace(str(path), "standard input")
    assert no_times(got) == no_times(want)
    assert base[0] != "--every" or got.startswith("500 examples: loss 0.")


@pytest.mark.parametrize(
    ("row", "said"),
    [("1,2,3,no", "read as CSV: row 2500: Expected 5"), ("1,?,x,4,no", r"'x' at row 2500\)")],
)
def test_a_row_of_a_pipe_that_cannot_be_read_is_told_by_its_number(
    row, said, data, capsys, monkeypatch
):
    lines = data[0].read_text().splitlines()
    text = "\n".join([*lines[:2501], row, *lines[2502:]]).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Pipe(text, [4000] * 40))))
    assert re.search(said, told(capsys, "run", "-", *LABEL, status=2))


def no_times(text):
    return re.sub(r'(status: .*|"seconds": .*)', "", text)


def test_a_pipe_that_never_ends_answers_as_it_goes_and_to_ctrl_c(data, capsys, monkeypatch):
    path, X, y = data
    text, out = path.read_bytes(), []
    rows = text.split(b"\n")
    first = len(b"\n".join(rows[:1102]))
    sizes = [*[4000] * (first // 4000), first % 4000, *(len(row) + 1 for row in rows[1102:1302])]

    def look():
        out.append(capsys.readouterr().out)

    waits = [*[int] * (first // 4000 + 1), *[look] * 200]
    pipe = io.TextIOWrapper(io.BufferedReader(Pipe(text, sizes, waits)))
    monkeypatch.setattr("sys.stdin", pipe)
    out.append(told(capsys, "run", "-", *LABEL, "--every", 50, "--json", status=1))
    came = "".join(out)
    records = [json.loads(line) for line in came.splitlines() if line.startswith('{"rows"')]
    assert [record["rows"] for record in records] == list(range(50, 1301, 50))
    assert '"rows": 1200' in "".join(out[:101])  # before the row after it has come
    last = json.loads(came[came.index("{\n") :])
    assert (last["status"], last["rows"]) == ("interrupted", 1300)
    want = progressive(
        HedgedDescent("logistic", bound=np.sqrt(5.0)),
        stream(X[:1300], y[:1300], base=WithIntercept(LinearBasis.spanning(X[:1000]))),
    )
    assert last["mistakes"] == want.last.mistakes
    assert list(last["weights"].values()) == want.learner.average.tolist()


def test_run_is_what_the_library_says(data, capsys):
    path, X, y = data
    got = json.loads(told(capsys, "run", path, *LABEL, "--radius", 5, "--json"))
    given = stream(X, y, base=WithIntercept(LinearBasis.spanning(X[:1000])))
    want = progressive(MirrorDescent("logistic", rb.L1Ball(5)), given)
    assert (got["rows"], got["mistakes"], got["status"]) == (3000, want.last.mistakes, "ended")
    assert got["mean_loss"] * 3000 == pytest.approx(want.last.loss, rel=1e-14)
    assert got["regret_bound"] == want.last.bound
    assert list(got["weights"].values()) == want.learner.average.tolist()
    assert list(got["weights"]) == ["age", "income", "c", "d", "(intercept)"]
    text = told(capsys, "run", path, *LABEL, "--radius", 5)
    assert f"loss:       {got['mean_loss']:.6g} on average, {got['error']:.2%} wrong" in text
    # The seconds of a first run include the compilation of its kernels, so they give no rate.
    assert re.search(r"^status:     ended, [\d.e-]+ s$", text, re.MULTILINE)
    assert re.search(r"^  1\.\d+ +1\.\d+ +age$", text, re.MULTILINE)


def test_the_default_has_no_radius(data, tmp_path, capsys):
    """It has smaller losses than radius 1, which a note says of the ball that it fills."""
    path, X, y = data
    got = json.loads(told(capsys, "run", path, *LABEL, "--json"))
    given = stream(X, y, base=WithIntercept(LinearBasis.spanning(X[:1000])))
    want = progressive(HedgedDescent("logistic", bound=np.sqrt(5.0)), given)
    assert got["mistakes"] == want.last.mistakes
    assert got["mean_loss"] * 3000 == pytest.approx(want.last.loss, rel=1e-14)
    assert got == {**json.loads(told(capsys, "run", path, *LABEL, "--radius", "auto", "--json")),
                   "seconds": got["seconds"]}  # fmt: skip
    text = told(capsys, "run", path, *LABEL)
    bound = want.learner.regret_bound(want.learner.average)
    assert f"regret:     at most {bound:.6g}: no fixed weights of a norm up to " in text
    assert "fill" not in text
    old = told(capsys, "run", path, *LABEL, "--radius", 1)
    assert re.search(r"note: +the average weights fill 9\d% of the ball; .*--radius auto", old)
    old = json.loads(told(capsys, "run", path, *LABEL, "--radius", 1, "--json"))
    assert old["mean_loss"] > 1.1 * got["mean_loss"]
    # Costs of experts, and losses whose slopes have no bound, need a radius.
    exponential = json.loads(told(capsys, "run", path, *LABEL, "--loss", "exponential", "--json"))
    assert exponential["method"].startswith(
        "MirrorDescent(loss=Exponential(), over=L1Ball(radius=1"
    )


def test_a_learner_that_was_saved_when_the_radius_was_1_goes_on(data, tmp_path, capsys):
    path, X, y = data
    save = tmp_path / "m"
    base = LinearBasis.spanning(X[:1000])
    method = MirrorDescent("logistic", rb.L1Ball(1))
    progressive(method, stream(X[:2000], y[:2000], base=base), checkpoint=save)
    resumed = ["run", path, *LABEL, "--save", save, "--resume", "--json"]
    status, out, err = run(capsys, "online", *resumed)
    # It had no intercept either.
    assert (status, err) == (0, f"relaxboost: resumes {save} at row 2000, without an intercept\n")
    got = json.loads(out)
    assert got["mistakes"] == progressive(method, stream(X, y, base=base)).last.mistakes
    auto = ["--save", tmp_path / "auto", "--resume", "--json"]
    twice = [json.loads(told(capsys, "run", path, *LABEL, *auto)) for _ in range(2)]
    assert twice[0]["weights"] == twice[1]["weights"]
    assert twice[0]["method"].startswith("HedgedDescent(")


def test_resuming_another_file_names_what_differs(data, tmp_path, capsys):
    path, _, _ = data
    save, other = tmp_path / "m", tmp_path / "other.csv"
    table = pd.read_csv(path)
    told(capsys, "run", path, *LABEL, "--save", save)
    changed = table.copy()
    changed.loc[0, "income"] += 1.0
    within = table.copy()
    within.loc[7, "income"] = 99.0
    for given, said in (
        (table[["income", "age", "c", "d", "clicked"]], "column 'income' where .* column 'age'; "),
        (table[["age", "c", "d", "clicked"]], "no column 'income', .* from age, income, c, d"),
        (table[:2000], "other.csv has 2000 rows, but the checkpoint .* is after row 3000"),
        (changed, "other.csv has .* at row 0, feature 'income', but the checkpoint"),
        (
            within,
            "other.csv has base functions that differ from those that the learner has learned",
        ),
    ):
        given.to_csv(other, index=False)
        text = told(capsys, "run", other, *LABEL, "--save", save, "--resume", status=2)
        assert re.search(said, text)
        assert not re.search("[0-9a-f]{16}", text)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--base", "stumps", "--cuts", 3, "--loss", "hinge"],
            r"13 base functions \(stumps with intercept\)",
        ),
        (["--method", "gradient-descent"], r"L2Ball\(radius=1\), proxy=SquaredL2.*bound=2.236"),
        (["--schedule", "adaptive", "--over", "simplex"], r"Simplex\(.*Adaptive\(\)"),
        (["--horizon", 3000, "--method", "exponentiated-gradient"], r"Horizon\(rounds=3000\)"),
        (["--method", "exponentiated-gradient"], "no bound with such steps; --horizon, the number"),
        (["--base", "experts", "--bound", 9], "HedgedDescent.*bound=9.0"),
        (["--method", "mirror-descent"], r"MirrorDescent\(.*L1Ball\(radius=1"),
    ],
)
def test_options(options, said, data, capsys):
    assert re.search(said, told(capsys, "run", data[0], *LABEL, *options))


def test_costs_and_targets(data, tmp_path, capsys):
    _path, X, _ = data
    costs = tmp_path / "costs.csv"
    np.savetxt(costs, np.clip(X, -1, 1), delimiter=",", header="a,b,c,d", comments="")
    options = ["--loss", "inner", "--over", "simplex", "--json"]
    got = json.loads(told(capsys, "run", costs, *options))
    assert (got["mistakes"], got["base"]) == (None, "experts")  # costs are not scaled
    assert sum(got["weights"].values()) == pytest.approx(1.0)
    squared = ["run", costs, "--label", "d", "--loss", "squared"]
    for radius in ([], ["--radius", 1]):
        said = told(capsys, *squared, *radius, status=2)
        assert re.search(r"pass --targets, an? (upper )?bound on \|y\|$", said)
        assert "3000 examples" in told(capsys, *squared, *radius, "--targets", 1)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_runs(name, data, capsys):
    run = ["run", data[0], *LABEL, "--method", name]
    one = json.loads(told(capsys, *run, "--json"))
    text = told(capsys, *run)
    assert f"{one['mean_loss']:.6g} on average, {one['error']:.2%} wrong" in text
    assert ("no bound with such steps; --horizon" in text) == (one["regret_bound"] is None)
    assert (one["regret_bound"] is None) == (name == "exponentiated-gradient")


def test_regret_is_what_the_library_says(data, tmp_path, capsys):
    path, X, y = data
    options = ["--loss", "hinge", "--radius", 5, "--at", 100]
    got = json.loads(told(capsys, "regret", path, *LABEL, *options, "--json"))
    method = MirrorDescent("hinge", rb.L1Ball(5))
    want = rb.online.regret(
        method, (WithIntercept(LinearBasis.spanning(X[:1000])).values(X), y), [100]
    )
    for one, other in ((got, want), (got["along"][0], want.along[0])):
        assert one["loss"] == other.loss
        assert max(one["lower"], other.lower) <= min(one["upper"], other.upper)
        assert one["upper"] - one["lower"] <= 1.1e-6 * other.comparator.upper
        assert one["upper"] <= one["bound"] == other.bound
    picture = tmp_path / "regret.png"
    text = told(capsys, "regret", path, *LABEL, *options, "--plot", picture)
    assert re.search(r"^\S+ <= regret <= \S+ after 100 examples", text, re.MULTILINE)
    assert picture.read_bytes().startswith(b"\x89PNG")
    told(capsys, "regret", path, *LABEL, "--tol", 1e-15, "--time-limit", 1e-3, status=1)
    proof = tmp_path / "c.json"
    text = told(capsys, "regret", path, *LABEL, *options, "--certificate", proof)
    assert rb.check_certificate(proof).ok
    scale = float(re.search(r"rho is the least loss divided by (-\S+)$", text, re.MULTILINE)[1])
    rho = Fraction(json.loads(proof.read_text())["lower"])
    assert float(rho) * scale == pytest.approx(want.comparator.upper, rel=1e-5)
    smooth = told(capsys, "regret", path, *LABEL, "--certificate", proof, status=2)
    assert "Logistic() is not piecewise linear" in smooth


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--loss logistic needs --label, .* label column; the columns are age, income"),
        (["--label", "x"], "has no column 'x'; it has age, income"),
        (
            ["--label", "clicked"],
            "is not numeric .*--classes NEGATIVE,POSITIVE",
        ),
        (["--label", "clicked", "--classes", "0,1"], "its labels are no, yes.; name the two lab"),
        (["--label", "clicked", "--classes", "n,y"], "first: --classes no,yes$"),
        (["--label", "clicked", "--classes", "no,y"], "correct the label, or leave the row out"),
        (["--label", "clicked", "--classes", "no"], "--classes must contain two labels"),
        ([*LABEL, "--base", "experts"], "row 3 has norm .* beyond --bound 2.0"),
        ([*LABEL, "--resume"], "--resume continues from the --save file; add --save"),
        ([*LABEL, "--proxy", "entropy", "--over", "l2"], "use --over simplex, full-simplex or l1$"),
        ([*LABEL, "--proxy", "tilted"], "use --over simplex$"),
        ([*LABEL, "--proxy", "l2"], "--proxy 'l2' is unknown; choose one of .*, tilted$"),
        ([*LABEL, "--schedule", "fast"], "--schedule 'fast' is unknown; .*adaptive, .*growing$"),
        ([*LABEL, "--over", "cube"], "--over 'cube' is unknown; choose one of l1, "),
        ([*LABEL, "--radius", "big"], "--radius must be a number or auto, got 'big'$"),
        (
            [*LABEL, "--radius", "auto", "--over", "l1"],
            "--over needs .*; pass a number to --radius$",
        ),
        (
            [*LABEL, "--method", "hedged-descent", "--horizon", 9],
            "--horizon needs a radius, but hedged descent has none; leave it out, or choose",
        ),
        (
            [*LABEL, "--radius", "auto", "--method", "mirror-steps"],
            "--method mirror-steps needs a radius; pass a number to --radius$",
        ),
        (
            [*LABEL, "--radius", "auto", "--loss", "exponential"],
            "has unbounded slopes; pass --radius$",
        ),
    ],
)
def test_bad_input(arguments, said, data, capsys):
    assert re.search(said, told(capsys, "run", data[0], *arguments, status=2))


@pytest.mark.parametrize(
    ("labels", "classes", "said"),
    [
        ("101", [], r"-1 or \+1; row 1 has 0; name the two labels.*--classes NEGATIVE,POSITIVE"),
        (["yes", "", "no"], ["--classes", "no,yes"], "has no label at row 1; add the label"),
        (["yes", "no", "so"], ["--classes", "no,yes"], "label so at row 2: it is neither .*leave"),
    ],
)
def test_labels_that_will_not_do(labels, classes, said, tmp_path, capsys):
    path = tmp_path / "d.csv"
    path.write_text("x,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    assert re.search(said, told(capsys, "run", path, "--label", "y", *classes, status=2))
    if not classes:
        assert "3 examples" in told(capsys, "run", path, "--label", "y", "--classes", "0,1")


def test_a_missing_value_is_named_and_the_run_goes_on_from_there(data, tmp_path, capsys):
    path, _X, _y = data
    lines = path.read_text().splitlines()
    spoilt, save = tmp_path / "spoilt.csv", tmp_path / "model"
    spoilt.write_text("\n".join([*lines[:2501], "1,,3,4,no", *lines[2502:]]) + "\n")
    options = [*LABEL, "--save", save, "--base", "stumps", "--cuts", 32]
    said = told(capsys, "run", spoilt, *options, status=2)
    assert re.search(r"has nan at row 2500, .*before row 2032 are saved: .* --resume$", said)
    lost = told(capsys, "run", spoilt, *LABEL, *options[-4:], status=2)
    assert re.search(r"out: --drop income; --save would have kept the rows before it$", lost)
    replayed = told(capsys, "regret", spoilt, *LABEL, *options[-4:], status=2)
    assert replayed.rstrip().endswith("out: --drop income")
    assert "model already exists; add --resume" in told(capsys, "run", path, *options, status=2)
    told(capsys, "run", path, *options, "--resume")
    got = json.loads(told(capsys, "run", path, *options, "--resume", "--json"))
    want = json.loads(told(capsys, "run", path, *LABEL, *options[-4:], "--json"))
    for name in ("rows", "mean_loss", "mistakes", "regret_bound", "weights"):
        assert got[name] == want[name]


def test_a_time_limit_ends_with_status_1(data, capsys):
    got = told(capsys, "run", data[0], *LABEL, "--time-limit", 1e-9, "--json", status=1)
    assert 0 < json.loads(got)["rows"] <= 3000
    assert math.isfinite(json.loads(got)["mean_loss"])


@pytest.mark.parametrize("verb", sorted(online.commands))
def test_help_has_an_example_in_80_columns(verb, capsys):
    text = told(capsys, verb, "--help")
    assert f"  relaxboost online {verb} " in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.fixture
def full_disk(monkeypatch):
    """A limit on the size of files, which has the effect of a full disk."""

    def limited(path, content):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, hard))
        try:
            write_atomically(path, content)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return lambda: monkeypatch.setattr(saving, "write_atomically", limited)


@pytest.mark.parametrize("options", [[], ["--json"], ["--quiet"]])
@pytest.mark.parametrize("is_old", [False, True])
def test_a_learner_that_cannot_be_saved_ends_with_74(
    options, is_old, data, tmp_path, capsys, full_disk
):
    save = tmp_path / "m.npz"
    words = ["online", "run", data[0], *LABEL, "--save", save, *["--resume"] * is_old]
    if is_old:
        told(capsys, *words[1:])
    before = save.read_bytes() if is_old else None
    full_disk()
    status, out, err = run(capsys, *words, *options)
    assert status == 74
    assert err.endswith(f"relaxboost: cannot write {save}: File too large; free some disk space\n")
    assert "saved" not in out
    # The numbers may have taken hours, so they are printed.
    assert ("3000" in out) == (options != ["--quiet"])
    assert [path.name for path in tmp_path.glob("*m.npz*")] == ["m.npz"] * is_old
    assert not is_old or save.read_bytes() == before


def test_a_bad_row_on_a_full_disk_claims_no_saved_rows(data, tmp_path, capsys, full_disk):
    lines = data[0].read_text().splitlines()
    spoilt = tmp_path / "spoilt.csv"
    spoilt.write_text("\n".join([*lines[:2501], "1,,3,4,no", *lines[2502:]]) + "\n")
    full_disk()
    options = [*LABEL, "--save", tmp_path / "m", "--base", "stumps", "--cuts", 32]
    said = told(capsys, "run", spoilt, *options, status=2)
    assert re.search(r"has nan at row 2500, .*; \S+ could not be written: File too large$", said)
