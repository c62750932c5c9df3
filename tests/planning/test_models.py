"""Learned costs as files: back to the bit, and refused where anything is wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relaxboost import InputError
from relaxboost import functional as fn
from relaxboost import planning as pl


@pytest.fixture(scope="module")
def fitted():
    tail, head = [0, 1, 0, 2], [1, 3, 2, 3]
    X = [[1.0, 0.0], [1.0, 1.0], [2.0, 0.0], [1.0, 0.0]]
    graph = pl.Graph(tail, head, X, names=["length", "höhe"])
    task = pl.Task(graph, 0, 3, [0, 2, 3], pl.Hamming())
    return pl.fit(pl.Problem([task], pl.Ridge(0.05), negative="relaxed"))


@pytest.fixture
def saved(fitted, tmp_path):
    path = tmp_path / "costs.json"
    pl.save_model(fitted, path)
    return path


def test_back_to_the_bit(fitted, saved, tmp_path):
    model = pl.load_model(saved)
    assert np.array_equal(model.w, fitted.w)
    for name in ("names", "lower", "upper", "status", "method", "rounds", "exact"):
        assert getattr(model, name) == getattr(fitted, name)
    assert model.regulariser == f"Ridge(strength=0.05), w times {fitted.problem.scale.tolist()}"
    assert model.losses == ("Hamming(weight=None, scale=1.0)",)
    assert (model.nonnegative, model.negative, model.power) == (True, "relaxed", 1)
    graph = fitted.problem.tasks[0].graph
    assert np.array_equal(model.costs(graph), fitted.costs(graph))
    again = tmp_path / "again.json"
    pl.save_model(model, again)
    assert again.read_bytes() == saved.read_bytes()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def other_columns(names):
    """Return the same roads, with these features."""
    columns = {"length": [1.0, 1.0, 2.0, 1.0], "höhe": [0.0, 1.0, 0.0, 0.3], "toll": [5.0] * 4}
    X = np.stack([columns[name] for name in names], axis=1)
    return pl.Graph([0, 1, 0, 2], [1, 3, 2, 3], X, names=names)


def kinds_of_costs(fitted, saved):
    """Return costs of every kind, learned from length and höhe."""
    task = fitted.problem.tasks[0]
    stumps = fn.RegressionStumps()
    base = pl.PlanningLoss("exponential", base=fitted)
    boosted = pl.boost([task], stumps, pl.PlanningLoss("exponential"), stopping=3)
    return [fitted, pl.load_model(saved), boosted, pl.boost([task], stumps, base, stopping=3)]


def test_reordered_features_are_aligned_and_more_ignored_with_one_warning(fitted, saved):
    for costs in kinds_of_costs(fitted, saved):
        wanted = costs.costs(other_columns(["length", "höhe"]))
        assert np.unique(wanted).size > 1
        assert np.array_equal(costs.costs(other_columns(["höhe", "length"])), wanted)
        more = other_columns(["toll", "höhe", "length"])
        with pytest.warns(pl.ExtraFeatures, match="toll beside the features") as told:
            assert np.array_equal(costs.costs(more), wanted)
        assert len(told) == 1
        assert np.array_equal(costs.costs(more), wanted)  # said once
        assert np.array_equal(costs.site_costs(more), wanted)


def test_missing_features_are_refused_by_name(fitted, saved):
    for costs in kinds_of_costs(fitted, saved):
        with pytest.raises(InputError, match="the graph lacks höhe: it has features toll, length,"):
            costs.costs(other_columns(["toll", "length"]))


CHANGES = [
    ("format", "other", "is no model of learned costs"),
    ("version", 2, "has version 2 of the format"),
    ("version", True, "has version True"),
    ("names", [], "names must be at least one, each once"),
    ("names", ["a", "a"], "names must be at least one, each once"),
    ("names", ["a", 1], "names must be a list of different names"),
    ("names", "ab", "names must be a list"),
    ("weights", [1.0], "weights must be as many as names, 2"),
    ("weights", [1.0, "2"], "weights must be a list of finite numbers"),
    ("weights", [1.0, True], "weights must be a list of finite numbers"),
    ("weights", [1.0, 10**400], "weights must be a list of finite numbers"),
    ("weights", [1.0, -1.0], "weights must be >= 0, as nonnegative says"),
    ("lower", -1.0, "lower must be a finite number >= 0, got -1.0"),
    ("lower", None, "lower must be a finite number"),
    ("upper", 0.0, "upper must be a finite number >= lower"),
    ("status", "", "status must be a name"),
    ("status", ["optimal"], "status must be a name"),
    ("method", "", "method must be a name"),
    ("rounds", 0, "rounds must be a whole number >= 1"),
    ("rounds", 1.0, "rounds must be a whole number >= 1"),
    ("exact", 1, "exact must be true or false"),
    ("regulariser", 3, "regulariser must be a description"),
    ("losses", [{}], "losses must be a list of descriptions"),
    ("nonnegative", "yes", "nonnegative must be true or false"),
    ("negative", "never", "negative must be one of exact, simple, relaxed"),
    ("negative", {}, "negative must be one of"),
    ("power", 3, "power must be 1 or 2"),
    ("power", 1.0, "power must be 1 or 2"),
    ("more", 1, "has unknown fields: more"),
]


@pytest.mark.parametrize(("field", "value", "message"), CHANGES)
def test_every_field_is_checked(saved, field, value, message):
    content = json.loads(saved.read_text())
    content[field] = value
    saved.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message):
        pl.load_model(saved)


def test_every_field_is_needed(saved):
    content = json.loads(saved.read_text())
    for field in content:
        saved.write_text(json.dumps({k: v for k, v in content.items() if k != field}))
        match = "is no model" if field == "format" else "has version None"
        match = match if field in ("format", "version") else f"lacks the field '{field}'"
        with pytest.raises(InputError, match=match):
            pl.load_model(saved)


@pytest.mark.parametrize("text", ["", "[", "[1]", '{"lower": NaN}', "\ud800", "[" * 100_000])
def test_what_is_no_json_is_refused(saved, text):
    saved.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match=r"costs\.json"):
        pl.load_model(saved)


def test_places_that_cannot_be(fitted, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        pl.load_model(tmp_path / "no.json")
    with pytest.raises(InputError, match="is no file"):
        pl.load_model(tmp_path)
    with pytest.raises(InputError, match="use a name that ends in"):
        pl.save_model(fitted, tmp_path / "costs.pkl")
    with pytest.raises(InputError, match=r"only linear costs can be saved as JSON.*pickle"):
        pl.save_model(object(), tmp_path / "costs.json")
    assert list(tmp_path.iterdir()) == []
