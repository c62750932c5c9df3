"""Learned costs as files: back to the bit, and refused where anything is wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

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
        with pytest.warns(pl.ExtraFeatures, match="not learned: toll; they") as told:
            assert np.array_equal(costs.costs(more), wanted)
        assert len(told) == 1
        assert np.array_equal(costs.costs(more), wanted)  # said once
        assert np.array_equal(costs.site_costs(more), wanted)


CHANGES = [
    ("format", "other", "is not a saved cost model"),
    ("version", 2, "has the format version 2"),
    ("version", True, "has the format version True"),
    ("names", [], "names must be at least one, each once"),
    ("names", ["a", "a"], "names must be at least one, each once"),
    ("names", ["a", 1], "names must be a list of different names"),
    ("weights", [1.0], "weights must be as many as names, 2"),
    ("weights", [1.0, "2"], "weights must be a list of finite numbers"),
    ("weights", [1.0, 10**400], "weights must be a list of finite numbers"),
    ("weights", [1.0, -1.0], "weights must be >= 0, as nonnegative says"),
    ("lower", "0", 'lower must be a finite number, got "0"'),
    ("upper", 0.0, "upper must be a finite number >= lower"),
    ("status", "", "status must be a name"),
    ("rounds", 0, "rounds must be a whole number >= 1"),
    ("rounds", 1.0, "rounds must be a whole number >= 1"),
    ("exact", 1, "exact must be true or false"),
    ("regulariser", 3, "regulariser must be a description"),
    ("losses", [{}], "losses must be a list of descriptions"),
    ("nonnegative", "yes", "nonnegative must be true or false"),
    ("negative", "never", "negative must be one of exact, simple, relaxed"),
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
        match = "is not a saved cost model" if field == "format" else "has the format version None"
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
    with pytest.raises(InputError, match="save_model takes a Fit from"):
        pl.save_model(object(), tmp_path / "costs.json")
    assert list(tmp_path.iterdir()) == []


def terrain(seed, names=("step", "slope", "wood")):
    layers = np.random.default_rng(seed).random((3, 9, 9))
    layers[2] = np.floor(3.0 * layers[2])  # of three kinds
    order = [("step", "slope", "wood").index(name) for name in names]
    return pl.grid(layers[order], names=names)


@pytest.fixture(scope="module")
def demonstrated():
    land = terrain(0)
    secret = land.arc_features @ [0.3, 2.0, 1.0]
    ends = [((0, 0), (8, 8)), ((0, 8), (8, 0)), ((4, 0), (3, 8)), ((0, 3), (8, 4))]
    return [pl.Task.along(pl.shortest_path(land, secret, *pair).path) for pair in ends]


def learned(tasks, learner, link, base=1.0, **options):
    loss = pl.PlanningLoss(link, base=base)
    return pl.boost(tasks, learner, loss, stopping=options.pop("stopping", 12), **options)


def boosters(tasks):
    """Return boosted costs of every kind that a file holds."""
    linear = pl.fit(tasks, pl.Ridge(0.01))
    shallow = fn.Trees(max_depth=3, min_samples_leaf=2, monotone={1: 1}, subsample=0.8)
    watched = fn.Stopping(12, validation=tasks[:2], patience=2)
    kinds = fn.Trees(max_depth=3, min_samples_leaf=2, subsample=1.0, categorical=[2])
    single = fn.Trees(min_samples_leaf=60)  # trees of one leaf: no split has room
    return {
        "stumps": learned(tasks, fn.RegressionStumps(), "additive"),
        "signs": learned(tasks, fn.ClassificationStumps(bins=8), "exponential", 0.5),
        "linear base": learned(tasks, fn.RegressionStumps(), "exponential", linear),
        "trees": learned(tasks, shallow, "exponential"),
        "categories": learned(tasks, kinds, "exponential"),
        "stopped": learned(tasks, shallow, "additive", linear, stopping=watched),
        "one leaf": learned(tasks, single, "exponential", stopping=3),
        "mean": learned(tasks, shallow, "exponential", algorithm=fn.Naive(iterate="average")),
    }


@pytest.fixture(scope="module")
def boosted(demonstrated):
    return boosters(demonstrated)


KINDS = ["stumps", "signs", "linear base", "trees", "categories", "stopped", "one leaf", "mean"]


@pytest.mark.filterwarnings("ignore::relaxboost.planning.FlooredCosts")
@pytest.mark.parametrize("kind", KINDS)
def test_boosted_costs_come_back_to_the_bit(boosted, tmp_path, kind):
    given, file = boosted[kind], tmp_path / "costs.json"
    pl.save_model(given, file)
    again = pl.load_model(file)
    for seed in range(3):
        land = terrain(seed)
        for upto in (None, 0, 2):
            wanted = given.site_costs(land, upto)
            assert np.array_equal(again.site_costs(land, upto), wanted)
            assert np.array_equal(again.costs(land, upto=upto), given.costs(land, upto=upto))
    assert np.array_equal(
        again.costs(terrain(1, ("wood", "step", "slope"))), given.costs(terrain(1))
    )
    for name in ("names", "status", "scale", "inexact", "negative", "sites", "floor", "loss"):
        assert getattr(again, name) == getattr(given, name)
    assert repr(again.boosted.learner) == repr(given.boosted.learner)
    assert again.value == given.value
    assert repr(again.history) == repr(given.history)  # nan too
    if kind != "signs":  # gains of classes are not of one unit
        assert np.array_equal(again.boosted.importances(3), given.boosted.importances(3))
    if kind in ("trees", "categories", "mean"):
        X = terrain(1).features
        found = again.boosted.contributions(X)
        assert np.array_equal(found, given.boosted.contributions(X))
        np.testing.assert_allclose(found.sum(axis=1), given.boosted.decision(X), atol=1e-12)
    more = tmp_path / "more.json"
    pl.save_model(again, more)
    assert more.read_bytes() == file.read_bytes()
    assert json.loads(file.read_text())["format"] == "relaxboost.planning.boosted"


def test_what_files_do_not_hold_is_refused(boosted, demonstrated, tmp_path):
    file = tmp_path / "costs.json"
    other = learned(
        demonstrated, fn.Regressor(DecisionTreeRegressor(max_depth=2)), "exponential", stopping=1
    )
    with pytest.raises(InputError, match=r"cannot be saved as JSON; boost with RegressionStumps"):
        pl.save_model(other, file)
    base = learned(
        demonstrated, fn.RegressionStumps(), "additive", lambda graph: graph.features[:, 0]
    )
    with pytest.raises(InputError, match="cannot be saved, because their base is a function"):
        pl.save_model(base, file)
    (first, *rest), run = boosted["stumps"].boosted.terms, boosted["stumps"].boosted
    for coefficient, said in (
        (1e101, "terms must be small enough for finite costs"),
        (np.inf, "JSON"),
    ):
        terms = (first._replace(coefficient=coefficient), *rest)
        huge = replace(boosted["stumps"], boosted=replace(run, terms=terms))
        with pytest.raises(InputError, match=said):
            pl.save_model(huge, file)
    assert not file.exists()
    pl.save_model(boosted["stumps"], file)
    with pytest.raises(InputError, match="warm_start has no state to continue from"):
        pl.boost(demonstrated, fn.RegressionStumps(), warm_start=pl.load_model(file))


def set_to(value, *path):
    def changed(content):
        for step in path[:-1]:
            content = content[step]
        content[path[-1]] = value

    return changed


def put(value, *path):
    """Return what sets something in the first term."""
    return set_to(value, "terms", 0, *path)


DAMAGE = [
    ("trees", put(7, "feature", 0), r"terms\[0\] is .*feature must be columns from 0 to 2"),
    ("trees", put("0", "feature", 0), "feature must be finite numbers of shape"),
    ("trees", put(0, "left", 0), "left and right must be each node and leaf once"),
    ("trees", put("nan", "threshold", 0), "threshold must be finite numbers"),
    ("trees", put(10**400, "threshold", 0), "OverflowError"),
    ("trees", put(1, "kind", 0), "sets must be one of 32-bit words for each"),
    ("trees", put(6, "kind", 0), "kind must be of"),
    ("trees", put(0, "rows", 0), "rows must be counts >= 1"),
    ("trees", lambda content: content["terms"][0]["rows"].pop(), "rows must be finite numbers of"),
    ("trees", put(-1.0, "gain", 0), "gain must be >= 0"),
    ("trees", lambda content: content["terms"][0].pop("left"), r"terms\[0\] .*KeyError: 'left'"),
    ("categories", lambda content: category(content)["sets"].append([1]), "sets must be one"),
    ("categories", lambda content: set_to(2**32, "sets", 0, 0)(category(content)), "sets must be"),
    ("categories", lambda content: unset(category(content)), "threshold must be 0, 1"),
    ("trees", lambda content: twice(content, "leaves"), "leaves must be finite numbers of shape"),
    ("stumps", put(3, "feature"), "feature must be below 3.* got 3"),
    ("stumps", put([1.0, None], "leaves"), "leaves must be finite numbers of shape"),
    ("stumps", put("nan", "threshold"), "threshold must be a finite number, got nan"),
    ("stumps", put(-1.0, "gain"), "gain must be >= 0, got ., -1.0"),
    *(
        ("stumps", put(value, "coefficient"), "coefficient must be a finite number")
        for value in ("nan", True, None)
    ),
    ("stumps", put(1e308, "coefficient"), "terms must be small enough for finite costs"),
    ("trees", put(-1e9, "leaves", 0), "terms must be small enough for finite costs"),
    ("stumps", set_to(1e308, "base"), "base must be a number > 0, below 1e100"),
    ("stumps", put(-5, "round"), "round must be from 1 to 12, .*, got round -5"),
    ("stumps", put(12, "round"), r"terms\[1\] .*terms must be in the order of their rounds"),
    ("stumps", put(0, "more"), "terms has values that save_model does not"),
    ("stumps", set_to({"name": "Popen", "args": "ls"}, "learner"), "KeyError: 'Popen'"),
    ("stumps", set_to(1, "learner", "bins"), "learner is .*bins must be at least 2"),
    (
        "trees",
        set_to({"3": 1}, "learner", "monotone"),
        "learner is .*column indices must be between 0 and 2",
    ),
    (
        "trees",
        set_to({"0_1": 1}, "learner", "monotone"),
        "learner has values that save_model does not",
    ),
    (
        "linear base",
        set_to([0, 1, 2], "base", "names"),
        "features of the base must be among step, ",
    ),
    ("linear base", set_to(1, "base", "more"), "base has values that save_model does not"),
    ("stumps", set_to("sideways", "link"), "link must be one of"),
    ("stumps", set_to("median", "iterate"), "iterate must be last, best or average"),
    ("stumps", set_to(13, "chosen"), "chosen must be at most rounds, 12"),
    ("stumps", set_to(-1, "scale"), "scale must be a finite number >= 0"),
    ("stumps", lambda content: content["history"].pop(), "history must be finite numbers of shape"),
    *(
        ("stumps", set_to(row, "history", 3), "history must be finite numbers of shape")
        for row in ("123456789", [3], ["x"] * 9)
    ),
    ("stumps", set_to(7, "history", 3, 0), "history is .*one record for each round from 0 to"),
    ("stumps", set_to(10**12, "rounds"), "history must be finite numbers of shape"),
    ("stumps", lambda content: content.pop("floor"), "lacks the field 'floor'"),
    ("stumps", set_to(1, "extra"), "unknown fields: extra"),
]


def category(content):
    """Return a term with a split of categories."""
    return next(one for one in content["terms"] if one["sets"])


def unset(term):
    """Let a split of categories have a set that there is not."""
    term["threshold"][[kind % 2 for kind in term["kind"]].index(1)] = 1e6


def twice(content, name):
    term = content["terms"][0]
    term[name] = [[x, x] for x in term[name]]


@pytest.mark.parametrize(("kind", "damage", "message"), DAMAGE)
def test_damaged_boosted_costs_are_refused(boosted, tmp_path, kind, damage, message):
    file = tmp_path / "costs.json"
    pl.save_model(boosted[kind], file)
    content = json.loads(file.read_text())
    damage(content)
    file.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message) as told:
        pl.load_model(file)
    assert str(told.value).startswith(str(file))


JUNK = [None, True, "nan", "1_0", -1, 0, 1, 2, 9, 1.5, -1e9, 1e308, 2**31, [], [1.0], {}, "deep"]


@pytest.mark.parametrize("kind", ["stumps", "trees", "categories", "mean"])
def test_whatever_is_damaged_is_refused_or_kept_and_works(boosted, tmp_path, kind):
    """SHAP values end the process where LightGBM is told of what there is not."""
    rng, file = np.random.default_rng(0), tmp_path / "costs.json"
    pl.save_model(boosted[kind], file)
    whole, land, kept = file.read_text(), terrain(1), 0
    for _ in range(150):
        content = json.loads(whole)
        place, key = content, "terms"
        if rng.random() < 0.3:
            key = str(rng.choice(list(content)))
        while isinstance(place[key], list | dict) and place[key] and rng.random() < 0.9:
            place = place[key]
            keys = list(place) if isinstance(place, dict) else range(len(place))
            key = keys[rng.integers(len(keys))]
        if rng.random() < 0.1:
            del place[key]
        else:
            place[key] = JUNK[rng.integers(len(JUNK))]
        file.write_text(json.dumps(content))
        try:
            made = pl.load_model(file)
        except InputError:
            continue
        kept += 1
        if made.names == land.names:
            assert not np.isnan(made.site_costs(land)).any()
            if made.boosted.weights().any() and isinstance(made.boosted.learner, fn.Trees):
                assert np.isfinite(made.boosted.contributions(land.features)).all()
        pl.save_model(made, file)
        assert json.loads(file.read_text()) == content
    assert 0 < kept < 75
