"""Checking a set: whatever is changed in it is found, and named."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.instances import check, load

NAME = "uniform-6x4-001.capped-k-2"


def edit_index(folder, change):
    path = folder / "games" / "index.json"
    content = json.loads(path.read_text())
    entry = next(e for e in content["references"] if e["name"] == NAME)
    change(content, entry)
    path.write_text(json.dumps(content))


def edit_certificate(folder, change, *, digest, index):
    """Change a certificate; and, as one who knows how would, its digest and the index."""
    path = folder / "games" / f"{NAME}.json"
    document = json.loads(path.read_text())
    change(document)
    if digest:
        content = {k: v for k, v in document.items() if k not in ("digest", "comments")}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        document["digest"] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    if index:
        sha = hashlib.sha256(path.read_bytes()).hexdigest()
        edit_index(folder, lambda _, entry: entry.update(sha256=sha))


def only_failure(folder):
    summary = check(folder / "games")
    assert not summary
    assert [row.game.name for row in summary.failed] == [NAME]
    assert summary.problems == ()
    return summary.failed[0].reason


def test_a_set_as_it_was_made(made):
    summary = check(made / "games")
    assert summary
    assert summary.ok
    assert len(summary.rows) == 17
    assert all(row.game.lower <= row.game.upper for row in summary.rows)


TAMPERED = {
    "bound": lambda d: d.update(lower=d["upper"], upper=d["lower"]),
    "cap": lambda d: d["game"]["relaxation"].update(caps="1/3"),
    "over": lambda d: d["game"].update(over={"kind": "simplex"}),
    "rows": lambda d: d["game"]["rows"].reverse(),
    "comments": lambda d: d.update(comments={"name": "another"}),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_changed_certificate(what, own):
    edit_certificate(own, TAMPERED[what], digest=False, index=False)
    assert "differs from the file that the index describes" in only_failure(own)


def test_a_changed_certificate_and_index(own):
    edit_certificate(own, TAMPERED["cap"], digest=False, index=True)
    assert only_failure(own) == "d exceeds a cap"


def test_a_lie_told_throughout(own):
    def lie(document):
        document["lower"] = document["upper"] = "1"

    edit_certificate(own, lie, digest=True, index=True)
    edit_index(own, lambda _, entry: entry.update(lower="1", upper="1"))
    assert only_failure(own) == "the lower bound is above what w proves"


def test_a_sound_certificate_of_another_game(own):
    other = own / "games" / "uniform-6x4-002.capped-k-2.json"
    path = own / "games" / f"{NAME}.json"
    path.write_bytes(other.read_bytes())
    document = json.loads(path.read_text())
    sha = hashlib.sha256(path.read_bytes()).hexdigest()
    claims = {"sha256": sha, "lower": document["lower"], "upper": document["upper"]}
    edit_index(own, lambda _, entry: entry.update(claims))
    assert "describe different games" in only_failure(own)
    digest = load(own / "games")["uniform-6x4-002.capped-k-2"].game_digest
    edit_index(own, lambda _, entry: entry.update(game=digest))
    assert only_failure(own) == "its source makes a different matrix from that in the certificate"


INDEX = {
    "lower": ({"lower": "0"}, "the index states different bounds or another level"),
    "upper": ({"upper": "1"}, "the index states different bounds or another level"),
    "level": ({"level": "enclosed"}, "the index states different bounds or another level"),
    "sha256": ({"sha256": "0" * 64}, "differs from the file that the index describes"),
    "game": ({"game": "0" * 64}, "describe different games"),
    "relaxation": ({"relaxation": "Capped(k=3)"}, "describe different games"),
    "over": ({"over": "Simplex()"}, "describe different games"),
    "code": ({"relaxation": "open('x')"}, "no relaxation is called open"),
    "m": ({"m": 7}, "the index states a different size"),
    "seed": (
        {"source": {"generator": "uniform", "rows": 6, "columns": 4, "seed": 9}},
        "its source makes a different matrix",
    ),
    "generator": ({"source": {"generator": "mine", "rows": 6, "columns": 4, "seed": 9}}, "its sou"),
    "no source": ({"source": {}}, "its source cannot be rebuilt"),
    "builtin": ({"source": {"builtin": "none"}}, "its source cannot be rebuilt: KeyError"),
}


@pytest.mark.parametrize("what", INDEX)
def test_a_changed_index(what, own):
    change, reason = INDEX[what]
    edit_index(own, lambda _, entry: entry.update(change))
    assert reason in only_failure(own)


BROKEN = {
    "no json": (lambda text: text[:-10], "index.json cannot be read"),
    "no index": (lambda text: "{}", "is not a version 1 index of a set"),
    "version": (lambda text: text.replace('"version": 1', '"version": 2'), "not a version 1 index"),
    "field": (lambda text: text.replace('"over"', '"under"'), "must have exactly the fields"),
    "bound": (lambda text: text.replace('"lower": "', '"lower": "x'), "is not a number like"),
    "path": (lambda text: text.replace('"file": "', '"file": "../'), "was not written by make"),
    "twice": (
        lambda text: text.replace("uniform-6x4-001", "uniform-6x4-000"),
        "lists two certified games of the same name",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_an_index_that_is_none(what, own):
    change, problem = BROKEN[what]
    path = own / "games" / "index.json"
    path.write_text(change(path.read_text()))
    summary = check(own / "games")
    assert not summary.ok
    assert problem in summary.problems[0]
    with pytest.raises(rb.InputError):
        load(own / "games")


def test_missing_and_additional_files(own):
    (own / "games" / f"{NAME}.json").unlink()
    assert "cannot be read" in only_failure(own)
    rb.instances.make(own / "games.toml", own / "games")
    edit_index(own, lambda content, entry: content["references"].remove(entry))
    summary = check(own / "games")
    assert summary.failed == ()
    assert summary.problems[0].startswith(f"{NAME}.json is not in the index: remove it")
    (own / "games" / "index.json").unlink()
    assert "has no index.json. Make or finish the set" in check(own / "games").problems[0]
    with pytest.raises(rb.InputError, match="is not a folder"):
        check(own / "nothing")


def test_references(made):
    found = load(made / "games")
    assert repr(found) == f"CertifiedGames(17 games in {made / 'games'})"
    certified = found("uniform-6x4-001.klpenalty-1-10")
    assert (certified.level, certified.m, certified.n) == ("enclosed", 6, 4)
    assert certified.check().ok
    game = certified.game()
    assert game.digest == certified.game_digest
    assert np.array_equal(game.matrix.toarray(), certified.A)
    assert not certified.A.flags.writeable
    solution = rb.solve(game, 1e-6)
    verdict = rb.compare(solution, certified)
    assert verdict
    assert certified.lower <= verdict.upper
    assert verdict.lower <= certified.upper
    text = str(rb.compare(certified, Fraction(9)))
    assert text.startswith("DISAGREE: the value 9 says rho >= 9, the certificate of uniform-6x4")
    with pytest.raises(rb.InputError, match="differ in f"):
        rb.compare(solution, found("uniform-6x4-000"))
    with pytest.raises(rb.InputError, match=r"no certified game .* did you mean uniform-6x4"):
        found("uniform-6x4-01")
    both = load(made / "games", rb.instances.sets.CORNER_CASES)
    assert both["hadamard-4"].path.parent == rb.instances.sets.CORNER_CASES
    assert both["identity-3"].path.parent == made / "games"


def test_fields_are_objects(made):
    found = load(made / "games")
    certified = found["over-the-simplex.both.simplex"]
    assert certified.relaxation == certified.game().relaxation
    assert isinstance(found["uniform-6x4-000.capped-k-2"].relaxation, rb.Capped)
    assert certified.over == rb.Simplex()
    assert certified.relaxation_text == "Capped(k=3/2) + NormPenalty(inf, 1/4)"
    assert certified.over_text == "Simplex()"
    whole = load(name="identity-7.capped-fraction-1")["identity-7.capped-fraction-1"]
    assert whole.relaxation == rb.Capped(k=7)


def test_games_are_chosen_by_classes_and_objects(made):
    games = made / "games"
    assert all(
        isinstance(g.relaxation, rb.KLPenalty) for g in load(relaxation=rb.KLPenalty).values()
    )
    capped = load(games, relaxation=rb.Capped)
    assert len(capped) == 5
    assert set(load(games, relaxation=(rb.Capped, rb.HardMargin()), over=rb.L1Ball)) == {
        name for name in load(games) if "kl" not in name and "simplex" not in name
    }
    assert set(load(games, relaxation=rb.Capped(k=2))) == set(capped)
    assert set(load(games, relaxation=rb.Capped(fraction=1 / 3))) == {
        name for name in capped if name.startswith("uniform-6x4")
    }
    assert set(load(games, over=rb.Simplex(), relaxation=rb.HardMargin)) == {
        "over-the-simplex.plain.simplex"
    }
    assert set(load(games, m=range(2, 5), n=(2,), level="exact")) == {
        "matching-pennies",
        "matching-pennies.capped-k-2",
    }
    assert set(load(games, name="identity-*", level="enclosed")) == {"identity-3.klpenalty-1-10"}


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"relaxation": rb.Capped(k=500)}, r"none of the 17 games in .* has .*Capped\(k=500\)"),
        ({"relaxation": rb.Custom, "m": 3}, "has relaxation=Custom, m=3"),
        ({"over": rb.L1Ball(2)}, "none of the 17 games"),
        ({"name": "identity-4"}, "none of the 17 games .* has name='identity-4'"),
        (
            {"relaxation": "Capped"},
            r"must be a class or an object such as rb.Capped or .* 'Capped'",
        ),
        ({"over": "Simplex()"}, "over must be a class or an object such as rb.Simplex"),
        ({"m": "3"}, "m must be a whole number or a range, got '3'"),
        ({"m": 3.0}, "m must be a whole number or a range, got 3.0"),
        ({"m": True}, "m must be a whole number or a range, got True"),
        ({"relaxation": (None, rb.Capped)}, "relaxation must be a class or an object .* got None"),
        ({"over": rb.Capped}, "over must be a class or an object such as rb.Simplex"),
        ({"level": "numerical"}, "level must be 'exact' or 'enclosed'"),
    ],
)
def test_what_selects_nothing_is_an_error(conditions, message, made):
    with pytest.raises(rb.InputError, match=message):
        load(made / "games", **conditions)
