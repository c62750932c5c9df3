"""Specifications: what they expand to, and what is said of those that cannot be carried out."""

from __future__ import annotations

import os
import sys
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.instances.corners import CORNERS
from relaxboost.instances.generators import OPTIONS, generate
from relaxboost.instances.sources import read_over
from relaxboost.instances.spec import read_spec

UNIFORM = '[[game]]\ngenerator = "uniform"\nrows = 4\ncolumns = 3\n'
CSV = '[[game]]\ncsv = "data.csv"\nlabel = "y"\n'


@pytest.fixture
def write(tmp_path):
    (tmp_path / "data.csv").write_text("a,b,y\n1,2,1\n2,1,-1\n3,5,1\n4,0,-1\n")
    np.save(tmp_path / "A.npy", np.eye(3))
    np.save(tmp_path / "large.npy", 2 * np.eye(3))
    np.savez(tmp_path / "two.npz", first=np.eye(2), second=-np.eye(2))
    (tmp_path / "text.npy").write_text("1, 2")

    def spec(text):
        path = tmp_path / "spec.toml"
        path.write_text(text)
        return path

    return spec


def names(path):
    return [entry.name for entry in read_spec(path)[0]]


def test_names(write):
    assert names(write(UNIFORM + "count = 2\nseed = 9")) == ["uniform-4x3-009", "uniform-4x3-010"]
    assert names(write(UNIFORM)) == ["uniform-4x3-000"]
    assert names(write(UNIFORM + 'name = "mine"')) == ["mine"]
    two = 'relaxations = ["HardMargin()", "0.1*KLPenalty(1) + Capped(k=3/2)"]\n'
    over = 'over = ["L1Ball(1)", "L2Ball(1/2)"]\n'
    assert names(write(UNIFORM + 'name = "mine"\n' + two + over)) == [
        "mine",
        "mine.l2ball-1-2",
        "mine.0.1-klpenalty-1-capped-k-3-2",
        "mine.0.1-klpenalty-1-capped-k-3-2.l2ball-1-2",
    ]
    labelled = 'relaxations = { hard = "HardMargin()", soft = "Capped(k=2)" }'
    assert names(write(UNIFORM + labelled)) == ["uniform-4x3-000.hard", "uniform-4x3-000.soft"]
    assert names(write('relaxations = "Capped(k=2)"\n' + CSV)) == ["data.capped-k-2"]
    assert len(names(write('[[game]]\nbuiltin = "all"'))) == sum(
        len(corner.games) for corner in CORNERS.values()
    )


def test_exact_optima_are_for_the_level_exact(write):
    entries, _ = read_spec(write('tol = 0\n[[game]]\nbuiltin = "identity-3"'))
    tols = {entry.name: entry.tol for entry in entries}
    assert tols["identity-3"] == tols["identity-3.capped-k-3-2"] == 0
    assert tols["identity-3.klpenalty-1-10"] == tols["identity-3.squarednorm-1"] == 1e-9


def test_files_of_every_kind(write, tmp_path):
    text = CSV + '[[game]]\nnpy = "A.npy"\n[[game]]\nnpz = "two.npz"\nkey = "second"\n'
    thinned = '[[game]]\nname = "thin"\ncsv = "data.csv"\nlabel = "y"\nmax_cuts = 2\n'
    rb.instances.make(write(text + thinned), tmp_path / "out")
    assert rb.instances.check(tmp_path / "out")
    found = rb.instances.load(tmp_path / "out")
    assert list(found) == ["data", "A", "two", "thin"]
    assert found["A"].lower == pytest.approx(1 / 3)
    assert np.array_equal(found["two"].A, -np.eye(2))
    data = rb.matrices.datasets.read_csv(tmp_path / "data.csv", "y")
    assert found["data"].game().digest == rb.Game(rb.matrices.stumps(data.X, data.y)).digest
    assert found["thin"].n == rb.matrices.stumps(data.X, data.y, max_cuts=2).n
    assert rb.instances.make(tmp_path / "spec.toml", tmp_path / "out").made == ()


BAD = {
    "no games": ("tol = 1", "lists no games. Add a [[game]] table"),
    "no toml": ("a = = 1", "cannot be read as TOML"),
    "key": (
        "tolerance = 1\n" + UNIFORM,
        "'tolerance' is unknown. The known keys are game, relaxations, over, level",
    ),
    "generator": (
        UNIFORM.replace("uniform", "normal"),
        "game 1: no generator is called 'normal'. Use one of uniform, signs",
    ),
    "option": (
        UNIFORM + "density = 0.5",
        "has no option 'density'. Besides rows, columns and seed, it takes digits",
    ),
    "digits": (UNIFORM + "digits = 40", "digits must be a whole number from 1 to 15, got 40"),
    "no rows": (UNIFORM.replace("rows", "#"), "rows is missing; add a line such as rows = 20"),
    "rows": (UNIFORM.replace("4", "0"), "rows must be a whole number from 1 to 1000000, got 0"),
    "columns": (
        '[[game]]\ngenerator = "signs"\nrows = 2',
        "columns is missing; add a line such as columns = 20",
    ),
    "count": (UNIFORM + "count = 1.5", "count must be a whole number"),
    "too large": (
        '[[game]]\ngenerator = "signs"\nrows = 100000\ncolumns = 100000',
        "may have at most 2^28 entries",
    ),
    "builtin": (
        '[[game]]\nbuiltin = "penny"',
        "no built-in game is called 'penny'. Use one of all, ",
    ),
    "builtin named": ('[[game]]\nbuiltin = "all"\nname = "a"', "Omit name"),
    "planted k": (
        'relaxations = ["HardMargin()", "Capped(k=3)"]\n'
        '[[game]]\ngenerator = "planted"\nrows = 20\ncolumns = 9\nk = 4',
        "k = 4 plants the optimum of Capped(k=4), but relaxations does not contain it. Write",
    ),
    "two kinds": (UNIFORM + 'builtin = "all"', "has generator and builtin. Give exactly one"),
    "no kind": ('[[game]]\nname = "a"', "game 1 ('a') has no matrix. Give exactly one of"),
    "file": (CSV.replace("data", "missing"), "missing.csv does not exist"),
    "label": ('[[game]]\ncsv = "data.csv"', "csv also needs label"),
    "wrong label": (CSV.replace('"y"', '"z"'), "has no column 'z'; it has a, b, y"),
    "npy": ('[[game]]\nnpy = "none.npy"', "none.npy does not exist"),
    "text": ('[[game]]\nnpy = "text.npy"', "text.npy cannot be read as npy"),
    "entries": ('[[game]]\nnpy = "large.npy"', "large.npy: "),
    "npz": ('[[game]]\nnpz = "two.npz"', "arrays first, second. Select one of them with the key"),
    "npz key": ('[[game]]\nnpz = "two.npz"\nkey = "A"', "arrays first, second, but no 'A'. Select"),
    "npz of npy": ('[[game]]\nnpz = "A.npy"', "Replace the key npz by npy"),
    "npy of npz": ('[[game]]\nnpy = "two.npz"', "Replace the key npy by npz"),
    "relaxation": (UNIFORM + 'relaxations = ["Soft(1)"]', "no relaxation is called Soft; known: B"),
    "does not fit": (
        UNIFORM + 'relaxations = "Capped(k=9)"',
        "game 'uniform-4x3-000.capped-k-9': Capped(k=9) needs 1 <= k <= m",
    ),
    "relaxations": (UNIFORM + "relaxations = [2]", "relaxations and over must be strings"),
    "no relaxations": (UNIFORM + "relaxations = []", "relaxations and over must be strings"),
    "over": (
        UNIFORM + 'over = "L3Ball(1)"',
        "cannot read over = 'L3Ball(1)'. Write L1Ball(radius)",
    ),
    "radius": (UNIFORM + 'over = "L1Ball(0)"', "needs radius > 0"),
    "level": (
        UNIFORM + 'level = "numerical"',
        "level must be exact or enclosed, got ",
    ),
    "level too high": (
        UNIFORM + 'level = "exact"\nrelaxations = "KLPenalty(1)"',
        "game 'uniform-4x3-000.klpenalty-1': KLPenalty(1) over L1Ball(1) allows enclosed",
    ),
    "tol": (UNIFORM + "tol = -1", "tol must be a positive number, or 0"),
    "tol 0": (UNIFORM + 'tol = 0\nrelaxations = "KLPenalty(1)"', "tol = 0 requires an optimum"),
    "name": (UNIFORM + 'name = "../a"', "'../a' cannot be the name of a certificate"),
    "index": (UNIFORM + 'name = "Index"', "'Index' cannot be the name of a certificate"),
    "twice": (2 * UNIFORM, "two games are named 'uniform-4x3-000' (HardMargin() on {'generator'"),
    "twice but for case": (
        UNIFORM + 'name = "a"\n' + UNIFORM + 'name = "A"',
        "Give each [[game]] a name, and",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_specifications(case, write, tmp_path):
    text, message = BAD[case]
    path = write(text)
    before = sorted(p.name for p in tmp_path.iterdir())
    with pytest.raises(rb.InputError) as error:
        rb.instances.make(path, tmp_path / "out")
    assert message in str(error.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_bad_places(write, tmp_path, monkeypatch):
    with pytest.raises(rb.InputError, match=r"none\.toml does not exist"):
        rb.instances.make(tmp_path / "none.toml", tmp_path / "out")
    path = write(UNIFORM)
    with pytest.raises(rb.InputError, match=r"folder .*no does not exist; create it"):
        rb.instances.make(path, tmp_path / "no" / "out")
    with pytest.raises(
        rb.InputError, match=r"cannot be written to .*, which is a file\. Choose a folder"
    ):
        rb.instances.make(path, path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # as it is for others than root
    with pytest.raises(rb.InputError, match="is not writable"):
        rb.instances.make(path, tmp_path / "out")


def test_missing_flint_is_said_before_any_work(write, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    path = write('relaxations = ["HardMargin()", "KLPenalty(1)"]\n' + UNIFORM)
    with pytest.raises(rb._core.MissingDependencyError, match=r"need python-flint .*: pip install"):
        rb.instances.make(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", sorted(set(OPTIONS) - {"planted"}))
def test_generators(kind):
    A = generate(kind, 9, 5, 3)
    assert A.shape == (9, 5)
    assert np.abs(A).max() <= 1
    assert np.array_equal(A, generate(kind, 9, 5, 3))
    assert not np.array_equal(A, generate(kind, 9, 5, 4))
    assert np.unique(A).size > 1


def test_generators_are_what_they_are_called():
    many = (400, 30)
    assert np.array_equal(np.unique(generate("signs", *many, 0)), [-1, 1])
    assert np.array_equal(np.unique(generate("ties", *many, 0)), [-1, -0.5, 0, 0.5, 1])
    uniform, bell = generate("uniform", *many, 0), generate("gaussian", *many, 0)
    assert np.array_equal(uniform, np.round(uniform, 3))
    assert uniform.var() == pytest.approx(1 / 3, rel=0.05)
    assert abs(uniform.mean()) < 0.02
    assert np.abs(bell).max() == 1
    assert bell.std() == pytest.approx(0.5, rel=0.1)
    assert (np.abs(generate("normalised", *many, 0)).max(axis=0) == 1).all()
    assert (generate("sparse", *many, 0, density=0.1) != 0).mean() == pytest.approx(0.1, abs=0.02)
    assert len(np.unique(generate("duplicated", 60, 5, 0, distinct=4), axis=0)) == 4
    for seed in range(5):
        assert rb.reference(rb.Game(generate("separable", 12, 4, seed))).lower >= -1e-9


def test_generators_never_change():
    """The digests in published indices depend on these numbers."""
    assert generate("uniform", 2, 3, 7).tolist() == [[0.707, -0.443, 0.703], [0.869, 0.015, -0.643]]
    assert generate("ties", 2, 3, 7).tolist() == [[0.5, -1.0, -0.5], [1.0, -0.5, 0.0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L1Ball(1)", rb.L1Ball(1)),
        (" L2Ball( 1/3 ) ", rb.L2Ball(Fraction(1, 3))),
        ("SquaredNorm(0.5)", rb.SquaredNorm(0.5)),
        ("Simplex()", rb.Simplex()),
        ("Simplex(3)", rb.Simplex(3)),
        ("FullSimplex(1/3)", rb.FullSimplex(Fraction(1, 3))),
    ],
)
def test_over(text, expected):
    assert read_over(text) == expected


def test_a_matrix_whose_certificate_the_checker_could_not_load_is_rejected(tmp_path):
    np.save(tmp_path / "large.npy", np.zeros((11_000, 1000), dtype=np.int8))
    (tmp_path / "spec.toml").write_text('[[game]]\nnpy = "large.npy"')
    with pytest.raises(rb.InputError, match="may have at most 10737418, because every certif"):
        read_spec(tmp_path / "spec.toml")
