"""What was frozen before the rooms of the package were moved is still so.

Certificates, reference sets and saved costs made then are accepted now; digests, keys, exact
optima and printed texts are what they were.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import cvxpy
import numpy as np
import pytest

import relaxboost as rb
from benchmarks.reproductions.runs import Store
from relaxboost import instances
from relaxboost import planning as pl
from relaxboost.certificates import Certificate
from relaxboost.instances.corners import CORNERS
from relaxboost.instances.expressions import read_relaxation
from relaxboost.instances.sets import CORNER_CASES
from relaxboost.instances.sources import read_over
from relaxboost.instances.spec import read_spec
from relaxboost.relaxations.bounds import level_of
from tests.golden import cases

HERE = Path(__file__).parent
ROOT = Path(rb.__file__).parent.parent
SETS = dict(cases.SETS)
FAMILIES = dict(cases.FAMILIES)


def frozen(name):
    path = HERE / f"{name}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    return json.loads(gzip.decompress((HERE / f"{name}.json.gz").read_bytes()))


CERTIFICATES = frozen("certificates")
SPECIAL = frozen("special")
EXACT_VALUES = frozen("exact-values")
LEFT_OUT = {
    "matrix-left-out": lambda: cases.A,
    "stumps-without-data": lambda: rb.matrices.stumps(cases.X, cases.Y, max_cuts=2),
}
BY_SOLVER = ("f + g", "polyhedral f + g", "f + g + h", "MahalanobisPenalty", "MahalanobisBall")
"""Families whose witness comes from a solver, to its accuracy."""
SHARPER = ("squared/normball-1-weights.exact.json",)
"""Certificates whose lower bound is better since gamma is lowered as long as that gains."""


def assert_verdict(verdict, wanted):
    assert verdict.ok == wanted["ok"], verdict.reason
    assert verdict.level == wanted["level"]
    if verdict.ok:
        assert (str(verdict.lower), str(verdict.upper)) == (wanted["lower"], wanted["upper"])
    else:
        assert "proves nothing" in verdict.reason


# Certificates -----------------------------------------------------------------------------------


@pytest.mark.parametrize("over", SETS)
def test_every_certificate_has_its_verdict(over, tmp_path):
    path = tmp_path / "certificate.json"
    wanted = {name: entry for name, entry in CERTIFICATES.items() if entry["over"] == over}
    assert wanted
    for name, entry in wanted.items():
        content = (json.dumps(entry["document"], indent=1, sort_keys=True) + "\n").encode()
        assert hashlib.sha256(content).hexdigest() == entry["file"], name  # the bytes made first
        path.write_bytes(content)
        assert_verdict(rb.check_certificate(path), entry)
        claimed = Certificate.load(path)
        assert (str(claimed.lower), str(claimed.upper)) == (entry["lower"], entry["upper"])
        assert claimed.digest == entry["digest"]
        assert claimed.tobytes() == content


@pytest.mark.parametrize("name", SPECIAL)
def test_special_certificates_have_their_verdict(name):
    path = HERE / "special" / name
    A = LEFT_OUT[path.stem]() if path.stem in LEFT_OUT else None
    assert SPECIAL[name]["ok"]
    assert_verdict(rb.check_certificate(path, A), SPECIAL[name])
    if A is not None:
        assert "the file is incomplete" in rb.check_certificate(path).reason


def again(entry):
    """Return the certificate of a file, and that of the same points made now."""
    old = Certificate(entry["document"])
    game = rb.Game(cases.A, FAMILIES[entry["name"]](), over=SETS[entry["over"]]())
    new = rb.certify(game, old.level, d=old.d, w=(list(old.w), list(old.w.values())))
    return old, new


@pytest.mark.parametrize("level", ["exact", "enclosed"])
def test_the_same_points_prove_the_same_bounds(level):
    """The upper bound is what f and g are at the points; the lower one depends on the witness."""
    for name, entry in CERTIFICATES.items():
        if entry["level"] != level or not entry["ok"]:
            continue
        old, new = again(entry)
        assert (new.d, new.w, new.level) == (old.d, old.w, level)
        if level == "exact":
            assert new.upper == old.upper, name
            if name in SHARPER:
                assert new.lower > old.lower, name
            elif entry["name"] not in BY_SOLVER:
                assert new.lower == old.lower, name
        assert abs(new.upper - old.upper) <= Fraction(1, 10**15), name
        assert abs(new.lower - old.lower) <= Fraction(1, 10**6), name


def test_exact_certificates_are_the_same_bytes():
    """Of what has its formula in the checker, and a witness that is a threshold."""
    compared = 0
    for name, entry in CERTIFICATES.items():
        if entry["level"] == "exact" and entry["ok"] and entry["name"] not in BY_SOLVER:
            old, new = again(entry)
            assert (new.tobytes() == old.tobytes()) == (name not in SHARPER), name
            compared += 1
    assert compared >= 40


def test_exact_level_stays_within_reach():
    for name, entry in CERTIFICATES.items():
        game = rb.Game(cases.A, FAMILIES[entry["name"]](), over=SETS[entry["over"]]())
        levels = ["numerical", "enclosed", "exact"]
        strongest = min(level_of(game.relaxation), game.over.level, key=levels.index)
        if name.endswith(".exact.json"):
            assert strongest == "exact", name


# Keys and digests -------------------------------------------------------------------------------


def key(f):
    try:
        return f.key()
    except rb.InputError:
        return None


def from_cvxpy(name):
    """Return whether a key is a digest of what cvxpy compiles, and cvxpy is another one."""
    return name.startswith(cases.BY_CVXPY) and cvxpy.__version__ != frozen("versions")["cvxpy"]


def test_keys():
    wanted = frozen("keys")
    made = [*cases.FAMILIES, *cases.PARAMETERS]
    assert [name for name, _ in made] == list(wanted)
    for name, make in made:
        if not from_cvxpy(name):
            f = make()
            assert [key(f), key(f.resolve(cases.M))] == wanted[name], name


def test_digests_of_games():
    wanted = frozen("games")
    for name, make in [*cases.FAMILIES, *cases.PARAMETERS]:
        f = make()
        for over, domain in cases.SETS:
            entry = wanted.pop(f"{name} / {over}")
            if not from_cvxpy(name):
                assert rb.Game(cases.A, f, over=domain()).digest == entry, (name, over)
    assert not wanted


def test_keys_of_what_w_ranges_over():
    made = {name: make().key() for name, make in [*cases.SETS, *cases.OTHER_SETS]}
    assert made == frozen("sets")


def test_digests_of_matrices():
    matrices = {name: rb.matrices.as_matrix(make()) for name, make in cases.MATRICES}
    assert {name: matrix.digest() for name, matrix in matrices.items()} == frozen("matrices")
    games = {name: rb.Game(matrix, rb.Capped(1)).digest for name, matrix in matrices.items()}
    assert games == frozen("games-of-matrices")


def test_penalties_on_w_that_grow_too_slowly_are_refused():
    with pytest.raises(rb.InputError, match=r"L1Penalty cannot be the domain.*SquaredNorm"):
        rb.game.domains.L1Penalty(0.1)


# Reference sets ---------------------------------------------------------------------------------


def references(path):
    return json.loads(path.read_text())["references"]


def digest_of_line(line):
    """Return half of the SHA-256 of all fields of a line of the index."""
    return hashlib.sha256(json.dumps(line, sort_keys=True).encode()).hexdigest()[:32]


def frozen_corner_cases():
    """Return the lines of the package's index that were frozen, after a check of their digests."""
    wanted = frozen("corner-cases")
    lines = [line for line in references(CORNER_CASES / "index.json") if line["name"] in wanted]
    found = [(line["name"], digest_of_line(line)) for line in lines]
    assert found == list(wanted.items())
    return lines


def test_the_set_of_the_package_is_the_frozen_one():
    """It may gain games; the lines of the frozen games keep all fields and their order."""
    assert len(frozen_corner_cases()) == 99


@pytest.mark.parametrize("folder", [CORNER_CASES, HERE / "sources" / "made"], ids=lambda p: p.name)
def test_sets_of_instances_hold(folder):
    summary = instances.check(folder)
    assert summary.ok, summary
    index = references(folder / "index.json")
    loaded = instances.load(folder)
    assert list(loaded) == [line["name"] for line in index]
    for line in index:
        entry = loaded[line["name"]]
        assert (str(entry.lower), str(entry.upper)) == (line["lower"], line["upper"])
        assert (entry.level, entry.m, entry.n) == (line["level"], line["m"], line["n"])
        assert entry.game().digest == entry.game_digest == line["game"]
        instances.assert_bracketed(entry.lower, entry)
        certificate = Certificate.load(folder / line["file"])
        assert certificate.document["game"]["sha256"] == entry.game().matrix.digest()
        f, over = read_relaxation(line["relaxation"]), read_over(line["over"])
        assert rb.Game(entry.A, f, over=over).digest == line["game"] or "csv" in line["source"]


def test_corner_games_are_the_same():
    wanted = {}
    for line in frozen_corner_cases():
        wanted.setdefault(line["source"]["builtin"], []).append(
            (line["relaxation"], line["over"], line["game"])
        )
    for name, games in wanted.items():
        corner = CORNERS[name]
        for relaxation, over, digest in games:
            made = rb.Game(corner.A, read_relaxation(relaxation), over=read_over(over))
            assert made.digest == digest, name
        assert [pair[:2] for pair in games] == [tuple(game) for game in corner.games]


def test_a_specification_names_the_same_games():
    index = references(HERE / "sources" / "made" / "index.json")
    entries, sources = read_spec(HERE / "sources" / "spec.toml")
    assert [entry.name for entry in entries] == [line["name"] for line in index]
    for entry, line in zip(entries, index, strict=True):
        assert entry.game(sources.matrix(entry.source)).digest == line["game"]
        assert (entry.source, entry.relaxation, entry.over) == (
            line["source"],
            line["relaxation"],
            line["over"],
        )


# Saved costs and runs ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted((HERE / "costs").iterdir()), ids=lambda path: path.stem)
def test_saved_costs_are_read(path, tmp_path):
    content = json.loads(path.read_text(encoding="utf-8"))
    assert (content["format"], content["version"]) == ("relaxboost.planning.linear", 1)
    model = pl.load_model(path)
    assert model.w.tolist() == content["weights"]
    for name in set(content) - {"format", "version", "weights", "names", "losses"}:
        assert getattr(model, name) == content[name], name
    assert list(model.names) == content["names"]
    assert list(model.losses) == content["losses"]
    graph = pl.Graph([0, 1], [1, 2], [[1.0, 0.0], [0.0, 1.0]], names=model.names)
    assert np.array_equal(model.costs(graph), model.w)
    pl.save_model(model, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_runs_of_reproductions_are_found_again():
    for path in (HERE / "runs").iterdir():
        kept = json.loads(path.read_text())
        assert Store(HERE / "runs").get(kept["spec"], dict) == kept
        assert Store(HERE / "runs").name(kept["spec"]) == path.name


# Optima -----------------------------------------------------------------------------------------


def test_exact_values():
    matrices = dict(cases.EXACT_MATRICES)
    assert len(EXACT_VALUES) >= 200
    families = dict(cases.EXACT)
    for name, value in EXACT_VALUES.items():
        family, matrix, over = name.split(" / ")
        A = matrices[matrix]
        game = rb.Game(A, families[family](len(A)), over=SETS[over]())
        assert str(rb.exact_value(game)) == value, name


# Texts ------------------------------------------------------------------------------------------


def run(*arguments):
    command = [sys.executable, "-W", "error", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    return result.stdout


NUMBER = r"\d+(?:\.\d+)?"


def test_the_readme_prints_the_same():
    """It shows what was frozen, to the digits of its tolerance; `tests/test_docs.py` runs it."""
    shown = re.search(
        r"```python\n.*?```\n\n```\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    now, then = shown.group(1), (HERE / "readme.txt").read_text()
    assert re.sub(NUMBER, "#", now) == re.sub(NUMBER, "#", then)
    for one, other in zip(re.findall(NUMBER, now), re.findall(NUMBER, then), strict=True):
        digits = len(one.partition(".")[2])
        assert one == f"{float(other):.{digits}f}"


def test_solve_prints_the_same():
    """The same data, game, optimum and layout: optimal votes and their margins are not unique.

    The line of the method is not compared: it names the phases and the seconds of the run.
    """
    printed = cases.without_times(run("-m", "relaxboost", "solve", *cases.SOLVE.split()))
    now, then = (text.splitlines() for text in (printed, (HERE / "solve.txt").read_text()))
    assert now[:2] == then[:2]  # data and game
    (low, high), (lower, upper) = (re.findall(r"0\.\d{8,}", lines[2]) for lines in (now, then))
    assert 0.0 < float(high) - float(low) <= 1e-6
    assert float(low) <= float(upper)
    assert float(lower) <= float(high)
    weight = re.compile(r"^ {4}(0\.\d{4})  (.+) (?:<=|>) [\d.]+$")
    votes, frozen_votes = (list(filter(None, map(weight.search, one))) for one in (now, then))
    sizes = [float(vote[1]) for vote in votes]
    assert len(votes) == len(frozen_votes)
    assert sizes == sorted(sizes, reverse=True)
    assert {vote[2] for vote in votes} <= set(rb.matrices.datasets.breast_cancer().feature_names)
    layouts = []
    for lines in (now, then):
        others = [
            line for line in lines if not weight.search(line) and not line.startswith("method:")
        ]
        layouts.append([re.sub(r"-?\d[\d.]*(?:e[-+]?\d+)?|\s+", "#", line) for line in others])
    assert layouts[0] == layouts[1]
    quantiles = [float(number) for number in now[-1].split()]
    assert quantiles == sorted(quantiles)


def test_claims_are_the_same():
    """Those that were frozen and have not moved, with the statuses in plain words."""
    listed = json.loads(run("-m", "relaxboost", "claims", "list", "--all", "--json"))
    known, unchecked = frozen("claims-list"), frozen("claims-unchecked")
    moved = {f"{source.key}-{name}" for source in rb.claims.sources() for name in source.moved}
    known = {id: then for id, then in known.items() if id not in moved}
    status = {c["id"]: c["status"] for c in listed["claims"]}
    for id, then in known.items():
        refuted = status[id] in ("false as stated", "misprint", "ambiguous")
        assert id in cases.JUDGED_AGAIN or refuted == (then == "holds with correction"), id
    open_still = {c["id"] for c in listed["unchecked"]}
    assert open_still >= set(unchecked) - cases.DECIDED_SINCE
    assert set(status) >= cases.DECIDED_SINCE - moved
    printed = run("-m", "relaxboost", "claims", "list", "--all")
    for id in known:
        assert re.search(rf"^{re.escape(id)} .*\b{status[id]}\b", printed, re.MULTILINE), id
