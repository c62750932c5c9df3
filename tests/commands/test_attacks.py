"""Files and words that are meant to break the command line: each gets one line and a status."""

from __future__ import annotations

import contextlib
import errno
import io
import json
from functools import partial

import numpy as np
import pytest

import relaxboost as rb
import tests.command
from relaxboost.certificates import Certificate
from relaxboost.certificates.export import FORMS
from relaxboost.online.saving import load, read_state, write_state
from relaxboost.planning import load_model

resource = pytest.importorskip("resource")  # Windows has none

DEEP = "[" * 100_000


@pytest.fixture
def refused(capsys):
    return partial(tests.command.refused, capsys)


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "fine.csv"
    path.write_text("a,b,y\n1,2,1\n2,1,0\n3,4,1\n5,1,0\n")
    return path


@pytest.fixture
def full_disk():
    """Return a context in which no file can have more than 100 bytes."""

    @contextlib.contextmanager
    def limited():
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    return limited


@pytest.mark.parametrize("text", [DEEP, '{"format":' * 100_000], ids=["lists", "objects"])
def test_brackets_that_nest_too_deeply(text, tmp_path, csv, refused):
    deep = tmp_path / "deep.json"
    deep.write_text(text)
    for words in (("check",), ("certify", "--format", "vipr"), ("plan", "evaluate")):
        refused("its brackets are nested too deeply", *words, deep)
    refused("the file is not a checkpoint", "solve", csv, "--label", "y", "--checkpoint", deep)
    with pytest.raises(rb.InputError, match="nested too deeply"):
        load_model(deep)
    for toml in (f"game = {DEEP}", "game = " + "{a = " * 100_000):
        deep.write_text(toml)
        refused("its brackets are nested too deeply", "instances", "make", deep, "--out", tmp_path)


def test_a_learner_whose_header_nests_too_deeply(tmp_path):
    file, content = tmp_path / "deep.npz", io.BytesIO()
    np.savez(content, header=np.frombuffer(DEEP.encode(), np.uint8))
    file.write_bytes(content.getvalue())
    with pytest.raises(rb.InputError, match="is not a saved learner, or is damaged"):
        load(file, None)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--label", "y", "--relaxation", ""), "--relaxation"),
        (("--label", "y", "--relaxation="), "--relaxation"),
        (("--label", "y", "--checkpoint", ""), "--checkpoint"),
        (("--label", ""), "--label"),
    ],
)
def test_an_option_whose_value_is_empty(words, option, csv, refused):
    refused(f"the value after {option} is empty; pass a value", "solve", csv, *words)


def test_a_file_without_a_name(refused):
    refused("the value after solve is empty", "solve", "")


def test_a_parameter_that_is_given_twice(csv, refused):
    twice = ("--relaxation", "0.5*Capped(k=3, k=4)")
    refused("the argument k twice. Write it only once", "solve", csv, "--label", "y", *twice)


def test_a_write_that_fails_names_its_file(tmp_path, csv, capsys, full_disk):
    proof = tmp_path / "proof.json"
    tests.command.run(capsys, "solve", csv, "--label", "y", "--k", 2, "--certificate", proof)
    with full_disk():
        ended = tests.command.run(capsys, "certify", proof, "--format", "vipr")
    assert ended[:2] == (74, "")
    assert "certificate.json: File too large; free some disk space" in ended[2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fine.csv", "proof.json"]


def test_hundreds_of_columns_without_a_warning_of_pandas(tmp_path, capsys):
    path = tmp_path / "wide.csv"
    names = [f"c{place}" for place in range(150)]
    rows = [",".join([*map(str, range(row, row + 150)), str(row % 2)]) for row in range(6)]
    path.write_text("\n".join([",".join([*names, "y"]), *rows]))
    words = ("solve", path, "--label", "y", "--quiet", "--time-limit", 1)
    assert tests.command.run(capsys, *words)[1:] == ("", "")


def test_odd_columns_are_noted(tmp_path, capsys):
    path = tmp_path / "odd.csv"
    path.write_text("a,b,c,y\n1,2,,1\n1e308,1,,0\n3,-1e200,,1\n5,1,,0\n")
    words = ("solve", path, "--label", "y", "--k", 2)
    _, out, _ = tests.command.run(capsys, *words)
    assert "note:       no row has a value in the column 'c'; leave it out with --drop\n" in out
    assert "note:       'a', 'b' has numbers whose squares overflow" in out
    found = json.loads(tests.command.run(capsys, *words, "--json")[1])
    assert (found["empty"], found["huge"], found["fit_all"]) == (["c"], ["a", "b"], [])


@pytest.mark.parametrize(
    "given",
    ['generator = ["signs"]\nrows = 3\ncolumns = 2', "builtin = {a = 1}", "builtin = [[1]]"],
)
def test_a_game_whose_kind_is_no_text(given, tmp_path, refused):
    spec = tmp_path / "games.toml"
    spec.write_text(f"[[game]]\n{given}\n")
    refused("games.toml, game 1: no ", "instances", "make", spec, "--out", tmp_path / "made")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"rows": 2**40}, "its source makes a matrix of a different size"),
        ({"lean": 1e308}, "its source cannot be rebuilt: OverflowError"),
    ],
)
def test_an_index_whose_source_is_too_large(changed, why, tmp_path, capsys):
    spec, made = tmp_path / "games.toml", tmp_path / "made"
    spec.write_text('[[game]]\nname = "a"\ngenerator = "signs"\nrows = 3\ncolumns = 2\n')
    tests.command.run(capsys, "instances", "make", spec, "--out", made)
    index = made / "index.json"
    content = json.loads(index.read_text())
    content["references"][0]["source"] |= changed
    index.write_text(json.dumps(content))
    status, out, _ = tests.command.run(capsys, "instances", "check", made)
    assert status == 1
    assert why in out


@pytest.mark.parametrize(
    "changed",
    [
        {"seconds": float("inf")},
        {"seconds": "1"},
        {"rounds": -1},
        {"basis": {"columns": [[0, 1]], "sides": float("nan")}},
        {"basis": {"columns": [[0, 1]], "sides": "BX"}},
    ],
)
def test_a_checkpoint_whose_numbers_or_basis_are_wrong(changed, tmp_path, csv, capsys, refused):
    file = tmp_path / "run.json"
    words = ("solve", csv, "--label", "y", "--k", 2, "--checkpoint", file)
    tests.command.run(capsys, *words)
    file.write_text(json.dumps(json.loads(file.read_text()) | changed))
    refused("run.json: the file is damaged (", *words)


def test_costs_that_overflow_are_refused_in_one_line(tmp_path, capsys, refused):
    edges, trips, costs = (tmp_path / name for name in ("edges.csv", "trips.csv", "costs.json"))
    edges.write_text("u,v,length,dark\na,b,10,1\nb,c,20,1\na,c,40,0\n")
    trips.write_text("path\na c\n")
    files = ("--edges", edges, "--trips", trips)
    assert tests.command.run(capsys, "plan", "fit", *files, "--out", costs)[0] == 0
    content = json.loads(costs.read_text())
    costs.write_text(json.dumps(content | {"weights": [1e308, 1e308]}))
    refused("; costs must be finite", "plan", "evaluate", costs, *files)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("solve", "--label", "y", "--k", 2), "--checkpoint"),
        (("online", "run", "--label", "y", "--classes", "0,1"), "--save"),
    ],
)
def test_a_state_that_cannot_be_stored_ends_with_its_status(
    words, option, tmp_path, csv, capsys, full_disk
):
    file = tmp_path / "state"
    tests.command.run(capsys, *words, csv)  # numba writes what it compiles while files may grow
    with full_disk():
        status, out, err = tests.command.run(capsys, *words, csv, option, file)
    assert status == 74
    assert "data: " in out
    assert "saved:" not in out
    assert "cannot write" in err or "could not be written" in err
    assert str(file) in err
    assert all(line.startswith("relaxboost: ") for line in err.splitlines())


def test_a_file_that_cannot_be_read_is_bad_input(tmp_path, monkeypatch, refused):
    def broken(path):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("relaxboost.certificates.check.load", broken)
    file = tmp_path / "proof.json"
    file.write_text("{}")
    refused("proof.json is not a certificate: [Errno 5] Input/output error", "check", file)


def test_bounds_of_an_index_may_have_any_number_of_digits(tmp_path, capsys):
    spec, made = tmp_path / "games.toml", tmp_path / "made"
    spec.write_text('[[game]]\nname = "a"\ngenerator = "signs"\nrows = 3\ncolumns = 2\n')
    tests.command.run(capsys, "instances", "make", spec, "--out", made)
    index = made / "index.json"
    content = json.loads(index.read_text())
    content["references"][0]["upper"] = "9" * 5000
    index.write_text(json.dumps(content))
    for words in ((), ("--json",)):
        status, out, _ = tests.command.run(capsys, "instances", "check", made, *words)
        assert status == 1
        assert "the index states different bounds" in out


def test_a_gap_beyond_doubles_is_refused(tmp_path, refused):
    spec = tmp_path / "games.toml"
    text = '[[game]]\ngenerator = "signs"\nrows = 3\ncolumns = 2\ntol = 1'
    spec.write_text(text + "0" * 400)
    refused("tol must be a positive number", "instances", "make", spec, "--out", tmp_path / "made")


def test_bounds_of_thousands_of_digits_are_printed_and_exported(tmp_path, csv, capsys):
    proof = tmp_path / "proof.json"
    tests.command.run(capsys, "solve", csv, "--label", "y", "--certificate", proof)
    document = json.loads(proof.read_text()) | {"lower": "-" + "9" * 5000}
    del document["digest"]
    Certificate.made(document).save(proof)
    for form in set(FORMS) - {"latex"}:  # half a page has no room for them
        words = ("certify", proof, "--format", form)
        status, _, err = tests.command.run(capsys, *words)
        assert status == 0, (form, err)
    assert tests.command.run(capsys, "check", proof)[0] == 0
    status, out, _ = tests.command.run(capsys, "check", proof, "--json")
    assert status == 0
    assert json.loads(out)["lower"] == document["lower"]


def test_damaged_arrays_of_a_specification(tmp_path, refused):
    spec, array, archive = (tmp_path / name for name in ("games.toml", "A.npy", "A.npz"))
    np.save(array, np.ones((2, 2)))
    np.savez(archive, x=np.ones((2, 2)))
    for path, kind in ((array, "npy"), (archive, "npz")):
        spec.write_text(f'[[game]]\n{kind} = "{path.name}"\n')
        whole = path.read_bytes()
        for damaged in (whole.replace(b"(", b"((("), whole[:-8], whole[:-40], b"PK\x03\x04"):
            path.write_bytes(damaged)
            refused(f"{path.name} ", "instances", "make", spec, "--out", tmp_path / "made")


@pytest.mark.parametrize(
    "changed",
    [
        {"run": 0.5},
        {"run": {"at": []}},
        {"run": {"seconds": ""}},
        {"run": {"before": float("nan")}},
        {"origin": {"columns": 3}},
        {"w": np.zeros(2, dtype=complex)},
        {"z": np.zeros((2, 1))},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_learner_whose_values_are_wrong(changed, tmp_path, csv, capsys, refused):
    file = tmp_path / "learner.npz"
    words = ("online", "run", csv, "--label", "y", "--classes", "0,1", "--save", file)
    assert tests.command.run(capsys, *words)[0] == 0
    state = read_state(file)
    for name, value in changed.items():
        state[name] = state[name] | value if isinstance(value, dict) else value
    write_state(file, state)
    refused("learner.npz", *words, "--resume")
