"""Trained ensembles: their certified margin, the best one, and reports on them."""

from __future__ import annotations

import contextlib
import json
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import relaxboost as rb
from tests.twins import best_by_linear_program

MEMBERS = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
ENSEMBLES = {
    "ada": AdaBoostClassifier(n_estimators=8, random_state=0),
    "ada, one rate": AdaBoostClassifier(n_estimators=5, learning_rate=0.3, random_state=0),
    "ada, perfect": AdaBoostClassifier(DecisionTreeClassifier(random_state=0), random_state=0),
    "gradient": GradientBoostingClassifier(n_estimators=8, random_state=0),
    "gradient, exponential": GradientBoostingClassifier(
        n_estimators=5, loss="exponential", subsample=0.5, random_state=0
    ),
    "gradient, zero": GradientBoostingClassifier(n_estimators=5, init="zero", random_state=0),
    "gradient, own start": GradientBoostingClassifier(
        n_estimators=5, init=GaussianNB(), random_state=0
    ),
    "hist": HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=5, random_state=0),
    "forest": RandomForestClassifier(n_estimators=8, max_depth=3, random_state=0),
    "extra": ExtraTreesClassifier(n_estimators=8, random_state=0),
    "bagging": BaggingClassifier(n_estimators=6, max_features=0.5, random_state=0),
    "bagging, tiny": BaggingClassifier(n_estimators=9, max_samples=3, random_state=1),
    "bagging, votes": BaggingClassifier(RidgeClassifier(), n_estimators=4, random_state=0),
    "voting, hard": VotingClassifier(MEMBERS, weights=[1, 2]),
    "voting, soft": VotingClassifier(
        [("gone", "drop"), *MEMBERS], voting="soft", weights=[7, 3, 1]
    ),
}
ADDS_UP = [name for name in ENSEMBLES if name != "voting, hard"]


@pytest.fixture(autouse=True)
def one_thread():
    """Histograms of sixty examples are not worth threads, which wait for each other."""
    with threadpool_limits(1):
        yield


def sample(m=60, noise=0.5, names=("no", "yes")):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(m, 4)).round(3)
    score = X[:, 0] + X[:, 1] ** 2 - 0.8 + noise * rng.normal(size=m)
    return X, np.where(score > 0, names[1], names[0])


def fitted(name, X, y):
    from sklearn.base import clone

    return clone(ENSEMBLES[name]).fit(X, y)


def own_decision(estimator, X):
    """Return what the estimator decides, up to a positive factor."""
    # Bagging goes by the mean of p, and has a decision_function that is another mean.
    if hasattr(estimator, "decision_function") and not isinstance(estimator, BaggingClassifier):
        return estimator.decision_function(X)
    return estimator.predict_proba(X) @ [-1.0, 1.0]


def labels_of(report, X):
    """Return the labels by the optimum, which come with a warning if no hypothesis votes."""
    said = contextlib.nullcontext()
    if not report.reoptimised[: report.kept.size].any():
        said = pytest.warns(UserWarning, match="every example gets the same label")
    with said:
        return report.predict(X)


@pytest.mark.parametrize("name", ENSEMBLES)
def test_margin_and_optimum_are_what_they_say(name):
    X, y = sample()
    estimator = fitted(name, X, y)
    report = rb.certify_ensemble(estimator, X, y)
    A, s = report.game.matrix.toarray(), np.where(y == "yes", 1.0, -1.0)
    assert report.classes == ("no", "yes")
    assert np.abs(A).max(axis=0) == pytest.approx(1.0)
    assert np.abs(report.weights).sum() == pytest.approx(1.0)
    low, high = map(float, report.margin)
    assert report.margin[0] <= report.margin[1]
    assert low == pytest.approx((A @ report.weights).min(), abs=1e-12)
    assert high - low < 1e-15
    best = best_by_linear_program(A)
    assert report.optimum.lower - Fraction(1, 10**8) <= best <= report.optimum.upper + 1e-8
    assert report.optimum.gap <= 1e-6
    short, at_most = report.distance
    assert 0 <= short <= at_most
    assert float(at_most) == pytest.approx(best - (A @ report.weights).min(), abs=2e-6)
    assert [v.level for v in report.check()] == ["exact", "exact"]
    assert report.check()[0].lower >= report.certificate.lower
    assert report.certificate.lower == report.margin[0]
    # The margins are the ensemble's own decisions, on the scale of the weights.
    own = estimator.predict(X) == "yes"
    clear = np.abs(report.margins) > 1e-9
    assert ((report.margins * s > 0) == own)[clear].all()
    assert float(report.reoptimised_margins.min()) >= float(report.optimum.lower) - 1e-12
    # A frame gives the same report without a warning.
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = rb.certify_ensemble(fitted(name, frame, y), frame, y)
    assert named.data()["margin"] == report.data()["margin"]
    assert named.decision(frame).shape == (60,)


@pytest.mark.parametrize("name", ADDS_UP)
def test_decisions_on_new_data_are_those_of_the_ensemble(name):
    X, y = sample(90)
    estimator = fitted(name, X[:60], y[:60])
    report = rb.certify_ensemble(estimator, X[:60], y[:60], rb.Capped(fraction=0.2))
    own = own_decision(estimator, X)
    ours = report.decision(X, reoptimised=False)
    assert ours / np.abs(ours).max() == pytest.approx(own / np.abs(own).max(), abs=1e-12)
    again = report.decision(X[:60])
    signs = np.where(y[:60] == "yes", 1.0, -1.0)
    assert signs * again == pytest.approx(report.reoptimised_margins, abs=1e-12)
    assert set(labels_of(report, X)) <= {"no", "yes"}
    assert (report.predict(X, reoptimised=False) == estimator.predict(X))[np.abs(own) > 1e-9].all()


def test_breast_cancer(cancer):
    """AdaBoost maximises no margin: over its own stumps a larger one is proved to exist."""
    ada = AdaBoostClassifier(n_estimators=40, random_state=0).fit(cancer.X, cancer.y)
    report = rb.certify_ensemble(ada, cancer.X, cancer.y)
    least = (cancer.y * own_decision(ada, cancer.X)).min() / 2
    assert report.margin[0] <= least + 1e-12
    assert float(report.margin[1]) == pytest.approx(least, abs=1e-12)
    assert float(report.distance[0]) > 0.07  # strictly, and by a certificate
    assert (report.reoptimised_margins > float(report.margin[1])).all()
    # All stumps of the data include those of the ensemble.
    assert report.optimum.lower <= 0.1429382879
    X, y = cancer.X[::2], cancer.y[::2]
    for relaxation, level in ((rb.Capped(k=28), "exact"), (rb.KLPenalty(0.05), "enclosed")):
        report = rb.certify_ensemble(ada, X, y, relaxation)
        assert report.certificate.level == report.optimum.level == level
        low, high = report.margin
        value = relaxation.relaxed_margin(report.margins)[0]
        assert float(low) - 1e-12 <= value <= float(high) + 1e-12
        assert high - low < Fraction(1, 10**12)
        assert 0 < report.distance[0] <= report.distance[1]
        assert all(report.check())


def test_gradient_boosting_has_an_intercept(cancer):
    X, y = cancer.X, cancer.y
    boosting = GradientBoostingClassifier(n_estimators=15, random_state=0).fit(X, y)
    report = rb.certify_ensemble(boosting, X, y)
    assert report.intercept == pytest.approx(np.log(np.mean(y > 0) / np.mean(y < 0)))
    assert report.names[-1] == "intercept"
    assert (report.game.matrix.toarray()[:, -1] == y).all()
    leaves = np.column_stack([0.1 * t[0].predict(X) for t in boosting.estimators_])
    assert report.scales[:-1] == pytest.approx(np.abs(leaves).max(axis=0))
    total = np.abs(report.scales[:-1]).sum() + abs(report.intercept)
    assert report.weights == pytest.approx(np.append(report.scales[:-1], report.intercept) / total)
    assert float(report.margin[0]) == pytest.approx(
        (y * boosting.decision_function(X)).min() / total, abs=1e-12
    )
    text = str(report)
    assert f"intercept   {report.intercept:.4g}, as the hypothesis 1:" in text
    assert "each hypothesis divided by its largest value, " in text


def random_votes(seed, m=12, n=5):
    rng = np.random.default_rng(seed)
    H = rng.choice([-1.0, 1.0], size=(m, n))
    return H, rng.integers(0, 4, size=n) + (np.arange(n) == 0), rng.choice([-1, 1], size=m)


@pytest.mark.filterwarnings("ignore:this .H, weights. is wrong on")
@pytest.mark.parametrize("seed", range(12))
def test_votes_with_integer_weights_have_a_margin_in_fractions(seed):
    H, weights, y = random_votes(seed)
    y[:2] = 1, -1
    report = rb.certify_ensemble((H, weights), None, y)
    u = [Fraction(int(x), int(weights.sum())) for x in (y[:, None] * H @ weights).tolist()]
    assert report.margin == (min(u), min(u))
    capped = rb.certify_ensemble((H, weights), None, y, rb.Capped(3))
    assert capped.margin == (sum(sorted(u)[:3]) / 3,) * 2
    half = rb.certify_ensemble((H, weights), None, y, rb.Capped(Fraction(5, 2)))
    ordered = sorted(u)
    assert half.margin == ((ordered[0] + ordered[1] + ordered[2] / 2) * Fraction(2, 5),) * 2
    assert all(map(all, (report.check(), capped.check(), half.check())))


@pytest.mark.parametrize("seed", range(4))
def test_symmetries(seed):
    H, weights, y = random_votes(seed)
    H = H * np.random.default_rng(seed).uniform(0.1, 2.0, H.shape).round(2)
    y[:2] = 1, -1
    f = rb.Capped(2)
    report = rb.certify_ensemble((H, weights), None, y, f)
    same = {
        "labels swapped": ((-H, weights), np.where(y > 0, "a", "b")),
        "hypotheses negated": ((-H, -weights), y),
        "one hypothesis negated": ((H * [1, -1, 1, 1, 1], weights * [1, -1, 1, 1, 1]), y),
        "weights scaled": ((H, 8 * weights), y),
        "hypotheses scaled": ((H * [0.5, 2, 4, 8, 16], weights / [0.5, 2, 4, 8, 16]), y),
    }
    for what, (ensemble, labels) in same.items():
        other = rb.certify_ensemble(ensemble, None, labels, f)
        assert other.margin == report.margin, what
        assert abs(float(other.optimum.lower - report.optimum.lower)) <= 2e-6, what
    # Any factor at all, up to the rounding of a division.
    other = rb.certify_ensemble((H / 3.0, weights), None, y, f)
    assert float(other.margin[0]) == pytest.approx(float(report.margin[0]), abs=1e-14)


@pytest.mark.parametrize("relaxation", [None, rb.Capped(4), rb.KLPenalty(0.1)])
def test_the_best_weights_are_at_no_distance(relaxation):
    H, weights, y = random_votes(3, m=20, n=7)
    H = np.where(np.random.default_rng(1).random(H.shape) < 0.2, -1.0, 1.0) * y[:, None]
    H = H * np.linspace(0.4, 1.0, 20)[:, None]
    first = rb.certify_ensemble((H, weights), None, y, relaxation)
    assert first.distance[0] > Fraction(1, 1000)
    best = first.reoptimised / first.scales
    again = rb.certify_ensemble((H, best), None, y, relaxation)
    # The weights of an enclosed certificate are rounded on their way through doubles.
    assert again.distance[0] <= Fraction(1, 10**12)
    assert again.distance[1] <= Fraction(1, 10**6)
    assert float(again.margin[0]) >= float(first.optimum.lower) - 1e-12
    assert again.optimum.lower >= again.margin[0]


def test_a_best_ensemble_is_recognised_exactly():
    # Each example has one hypothesis wrong: equal weights are best, with margin 1/3.
    H = 1.0 - 2.0 * np.eye(3)
    y = np.array([1, 1, 1, -1])
    report = rb.certify_ensemble((np.vstack([H, -np.ones(3)]), [2, 2, 2]), None, y)
    assert report.margin == (Fraction(1, 3), Fraction(1, 3))
    assert report.distance[0] == 0
    assert report.distance[1] < Fraction(1, 10**9)
    assert report.optimum.lower == Fraction(1, 3)
    assert "1/3" in str(report)


def test_hypotheses_that_vanish_are_dropped():
    H, weights, y = random_votes(1)
    H[:, 2] = 0.0
    report = rb.certify_ensemble((H, weights), None, y)
    without = rb.certify_ensemble((np.delete(H, 2, 1), np.delete(weights, 2)), None, y)
    assert report.dropped == ("h2",)
    assert "dropped     h2: 0 on all of X" in str(report)
    assert report.names == ("h0", "h1", "h3", "h4")
    assert report.margin == without.margin
    assert report.data()["optimum"] == without.data()["optimum"]
    new = np.random.default_rng(0).normal(size=(6, 5))
    assert report.decision(new) == pytest.approx(without.decision(np.delete(new, 2, 1)))


def test_sizes_of_any_magnitude():
    H, weights, y = random_votes(6)
    y[:2] = 1, -1
    report = rb.certify_ensemble((H, weights), None, y)
    for sizes in (np.full(5, 1e300), np.full(5, 1e-300), 2.0 ** np.array([-900, 900, 0, 500, 1])):
        other = rb.certify_ensemble((H * sizes, weights / sizes), None, y)
        assert float(other.margin[0]) == pytest.approx(float(report.margin[0]), abs=1e-12)
        assert other.margin[0] == other.margin[1]
        assert all(other.check())
    heavy = rb.certify_ensemble((H * 1e300, [1e300, 1.0, 0.0, 1e-300, 1.0]), None, y)
    assert float(heavy.margin[0]) == pytest.approx((y * H[:, 0]).min())
    assert all(heavy.check())


def test_levels():
    H, weights, y = random_votes(4)
    for level in ("exact", "enclosed", "numerical"):
        report = rb.certify_ensemble((H, weights), None, y, rb.Capped(3), level=level)
        assert report.certificate.level == report.optimum.level == level
        assert ("certified" in str(report)) == (level != "numerical")
        assert [bool(v) for v in report.check()] == [level != "numerical"] * 2
    import cvxpy as cp

    mine = rb.Custom(f=lambda d: 0.1 * cp.norm2(d), name="l2")
    report = rb.certify_ensemble((H, weights), None, y, mine)
    assert report.certificate.level == "numerical"
    assert "bracketed, numerical:" in str(report)
    value = rb.NormPenalty(2, 0.1).resolve(12).relaxed_margin(report.margins)[0]
    assert [float(x) for x in report.margin] == pytest.approx([value, value], abs=1e-6)
    with pytest.raises(rb.InputError, match="allows numerical certificates, not exact"):
        rb.certify_ensemble((H, weights), None, y, mine, level="exact")
    with pytest.raises(rb.InputError, match="level must be one of"):
        rb.certify_ensemble((H, weights), None, y, level="sure")


def test_report_is_data_and_survives_pickling(tmp_path):
    X, y = sample()
    report = rb.certify_ensemble(fitted("forest", X, y), X, y, rb.Capped(6))
    data = json.loads(json.dumps(report.data()))
    assert data["ensemble"] == "RandomForestClassifier"
    assert data["hypotheses"] == len(data["columns"]) == 8
    for name in ("margin", "optimum", "distance"):
        assert data[name][0] <= data[name][1]
    assert Fraction(data["margin"][0]) <= report.margin[0]
    assert Fraction(data["distance"][1]) >= report.distance[1]
    assert sum(c["weight"] for c in data["columns"]) == pytest.approx(1.0)
    again = pickle.loads(pickle.dumps(report))
    assert str(again) == str(report)
    assert again.decision(X) == pytest.approx(report.decision(X))
    path = tmp_path / "forest.json"
    report.certificate.save(path)
    verdict = rb.check_certificate(path)
    assert verdict
    assert verdict.lower == report.margin[0]


def test_report_prints_a_table():
    X, y = sample()
    lines = str(rb.certify_ensemble(fitted("ada", X, y), X, y)).splitlines()
    assert lines[0] == "AdaBoostClassifier: 8 hypotheses on 60 examples, HardMargin(); +1 is yes"
    assert lines[1:3] == ["scales      1: no hypothesis exceeds 1 on X", "intercept   none"]
    words = [line.split() for line in lines]
    margin, best, short = (
        next(w for w in words if w[-2 - n : -2] == head)[-2:]
        for n, head in ((1, ["F(Aw)"]), (1, ["rho"]), (1, ["by"]))
    )
    for low, high in (margin, best, short):
        assert Fraction(low) <= Fraction(high)
    assert lines[-1].split()[0] == "re-optimised"
    assert all(len(line) <= 100 for line in lines)


def test_where_nothing_beats_no_weights_the_report_says_so():
    y = np.array([1, -1, 1, -1])
    report = rb.certify_ensemble((np.ones((4, 1)), [1.0]), None, y)
    assert report.margin == (-1, -1)
    assert not report.reoptimised.any()
    assert "the best weights are 0: all margins are 0, and no vote decides" in str(report)
    assert str(report).splitlines()[-1].split()[-2:] == ["0.0000", "-"]  # and not 100 % wrong
    assert "no vote decides; try rb.Capped(fraction=0.1))" in str(report)
    softer = rb.certify_ensemble((np.ones((4, 1)), [1.0]), None, y, rb.Capped(2))
    assert "no vote decides; try a softer relaxation)" in str(softer)


def test_sparse_examples_and_missing_values_that_the_estimator_takes():
    X, y = sample()
    forest = fitted("forest", X, y)
    sparse = rb.certify_ensemble(forest, csr_matrix(X), y)
    assert sparse.margin == rb.certify_ensemble(forest, X, y).margin
    X[3, 1] = np.nan
    for name in ("hist", "forest"):
        assert all(rb.certify_ensemble(fitted(name, X, y), X, y).check())


PACKAGE = {
    "functional": rb.estimators.FunctionalGradientClassifier(max_rounds=6),
    "margin": rb.estimators.MarginBoostClassifier(fraction=0.5, folds=None),
}
KINDS = {k: e for k, e in ENSEMBLES.items() if "exponential" not in k} | PACKAGE


def three_classes(m=60):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(m, 4)).round(3)
    return X, np.array(["a", "b", "c"])[(X[:, 0] > 0) * (1 + (X[:, 1] + X[:, 2] > 0))]


def scores(estimator, X, k):
    """Return what it says of class k against the rest, up to a factor, by its public methods."""
    label = estimator.classes_[k]
    if isinstance(estimator, AdaBoostClassifier):
        pairs = zip(estimator.estimators_, estimator.estimator_weights_, strict=False)
        return sum(c * np.where(e.predict(X) == label, 1.0, -1.0) for e, c in pairs)
    if isinstance(estimator, rb.estimators.MarginBoostClassifier):
        return estimator.votes(X)[:, k]
    if getattr(estimator, "voting", "") == "hard":
        pairs = zip(estimator.estimators_, estimator.weights, strict=True)
        return sum(c * np.where(e.predict(X) == k, 1.0, -1.0) for e, c in pairs)
    if hasattr(estimator, "decision_function") and not isinstance(estimator, BaggingClassifier):
        return estimator.decision_function(X)[:, k]
    return 2.0 * estimator.predict_proba(X)[:, k] - 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_each_class_against_the_rest(kind):
    X, y = three_classes(90)
    estimator = KINDS[kind].fit(X[:60], y[:60])
    for k, label in enumerate("abc"):
        report = rb.certify_ensemble(
            estimator, X[:60], y[:60], rb.Capped(fraction=0.3), target=label, tol=1e-3
        )
        assert f"'{label}' against the rest" in report.kind
        ours, own = report.decision(X, reoptimised=False), scores(estimator, X, k)
        assert ours / np.abs(ours).max() == pytest.approx(own / np.abs(own).max(), abs=1e-9)
        low, high = map(float, report.margin)
        worst = np.sort(np.where(y[:60] == label, 1.0, -1.0) * ours[:60])[:18]
        assert low <= high + 1e-15
        assert low == pytest.approx(worst.mean(), abs=1e-12)
        assert report.optimum.lower >= report.certificate.lower
        assert set(labels_of(report, X).tolist()) <= {False, True}


def test_pipelines_of_several_classes():
    X, y = three_classes()
    forest = ENSEMBLES["forest"]
    piped = make_pipeline(StandardScaler(), forest).fit(X, y)
    report = rb.certify_ensemble(piped, X, y, target="b", tol=1e-3)
    plain = rb.certify_ensemble(forest, StandardScaler().fit_transform(X), y, target="b", tol=1e-3)
    assert report.margin == plain.margin
    assert all(verdict.ok for verdict in report.check())
    assert str(report).splitlines()[0].endswith("+1 is b")
