"""Trees, networks and regressors as weak learners."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from relaxboost._core.errors import InputError
from relaxboost.functional import (
    Empirical,
    Naive,
    Networks,
    RegressionStumps,
    Regressor,
    Squared,
    Trees,
    boost,
    learners,
)


def data(n=120, d=4, outputs=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    v = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)
    return X, v if outputs is None else np.column_stack([v, X[:, 2] ** 2, rng.normal(size=n)])


def pool(learner, X, weights=None, outputs=None, seed=0):
    measure = Empirical(len(X), weights)
    made = learner.prepare(X, measure, outputs, "least-squares", np.random.default_rng(seed))
    return made, measure


NAMED = [kind() for kind in learners.LEARNERS.values()]
GREEDY = [
    Trees(max_depth=None, max_leaf_nodes=5, min_samples_leaf=3, subsample=1.0),
    Networks(hidden=5, iterations=30),
    Networks(hidden=2, iterations=10),
]
REGRESSORS = [Regressor(DecisionTreeRegressor(max_depth=2)), Regressor(LinearRegression())]
LEARNERS = [*NAMED, *GREEDY, *REGRESSORS]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("outputs", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_hypotheses_near_the_target(learner, outputs, weighted):
    X, v = data(outputs=outputs)
    weights = np.random.default_rng(1).integers(0, 4, len(X)) if weighted else None
    made, measure = pool(learner, X, weights, outputs)
    h, values = made.nearest(v)
    assert values.shape == v.shape
    assert measure.norm(v - values) < measure.norm(v)
    np.testing.assert_allclose(h(X), values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(h(X[:7]), values[:7], rtol=0, atol=1e-12)
    again = pickle.loads(pickle.dumps(h))
    np.testing.assert_array_equal(again(X), h(X))
    with pytest.raises(InputError, match=r"trained on 4 features, got X of shape \(120, 3\)"):
        h(X[:, :3])
    other = pool(learner, X, weights, outputs)[0].nearest(v)[1]
    np.testing.assert_array_equal(values, other)


@pytest.mark.parametrize("learner", [Trees(), *GREEDY], ids=repr)
@pytest.mark.parametrize("scale", [2.0**-43, 2.0**40])  # rounds alike, which L-BFGS amplifies
def test_the_size_of_the_target_does_not_matter(learner, scale):
    X, v = data()
    one = pool(learner, X)[0].nearest(v)[1]
    scaled = pool(learner, X)[0].nearest(v * scale)[1]
    np.testing.assert_allclose(scaled, one * scale, rtol=1e-6, atol=1e-6 * scale)


STRONG = [RegressionStumps(), Trees(), *GREEDY, REGRESSORS[0]]
LOWERING = {repr(learner): (learner, 1.0) for learner in NAMED}
LOWERING |= {repr(learner): (learner, 0.7) for learner in STRONG}


@pytest.mark.parametrize(("learner", "share"), LOWERING.values(), ids=LOWERING)
def test_boosting_with_them_lowers_the_risk(learner, share):
    X, y = data()
    run = boost(X, Squared().bind(y), learner, algorithm=Naive(step=1.0), stopping=15, seed=3)
    values = np.array([record.value for record in run.history])
    assert values[-1] < share * values[0]
    assert (np.diff(values) < 1e-12).all()
    np.testing.assert_allclose(run.decision(X), run.state["F"], atol=1e-10)
    again = boost(X, Squared().bind(y), learner, algorithm=Naive(step=1.0), stopping=15, seed=3)
    np.testing.assert_array_equal(again.decision(X), run.decision(X))


def test_networks_see_scaled_features():
    X, v = data()
    moved = X * np.array([1e-6, 1e9, 3.0, 1.0]) + np.array([5e-6, 1e9, 0.0, 0.0])
    few = Networks(iterations=3)  # more of them would only amplify rounding
    plain, scaled = (pool(few, Z)[0].nearest(v)[1] for Z in (X, moved))
    np.testing.assert_allclose(plain, scaled, atol=1e-6)


def test_a_network_finds_what_a_network_made():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 2))
    v = np.tanh(X[:, 0] - X[:, 1]) - 2 * np.tanh(X[:, 1] + 0.5)
    made, measure = pool(Networks(hidden=3, iterations=300), X)
    assert measure.norm(v - made.nearest(v)[1]) < 0.05 * measure.norm(v)


class Bad(BaseEstimator):
    """Predicts the wrong thing."""

    def __init__(self, what="shape"):
        self.what = what

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return np.zeros((len(X), 2)) if self.what == "shape" else np.full(len(X), np.nan)


def test_regressors_that_do_not_do_are_named():
    X, v = data()
    weights = np.arange(len(X)) + 1.0
    with pytest.raises(InputError, match=r"KNeighborsRegressor\(\) does not accept sample_weight"):
        pool(Regressor(KNeighborsRegressor()), X, weights)
    with pytest.raises(InputError, match=r"Pipeline.* does not accept sample_weight"):
        pool(Regressor(make_pipeline(StandardScaler(), SVR())), X, weights)
    pool(Regressor(KNeighborsRegressor()), X, np.full(len(X), 3.0))[0].nearest(v)
    with pytest.raises(InputError, match=r"Bad\(\) predicted shape \(120, 2\)"):
        pool(Regressor(Bad()), X)[0].nearest(v)
    with pytest.raises(InputError, match=r"Bad\(what='nan'\) predicted values that are not finite"):
        pool(Regressor(Bad("nan")), X)[0].nearest(v)
    with pytest.raises(InputError, match=r"SVR\(\) could not be fitted to a target of shape"):
        pool(Regressor(SVR()), X, None, 3)[0].nearest(data(outputs=3)[1])
    with pytest.raises(InputError, match="no method fit"):
        Regressor(3)
    with pytest.raises(InputError, match="instance of a scikit-learn regressor"):
        Regressor(SVR)
    with pytest.raises(InputError, match="120 targets; pass one row for each"):
        Regressor(SVR()).prepare(X[:9], Empirical(120), None, "least-squares", None)


def test_regressors_may_keep_the_array_of_their_targets():
    X, v = data()
    found = boost(X, Squared().bind(v), Regressor(KNeighborsRegressor(3)), stopping=5)
    assert np.mean((found.predict(X) - v) ** 2) < 0.5 * np.var(v)


def test_regressors_are_cloned_seeded_and_weighted():
    X, v = data()
    given = DecisionTreeRegressor(max_depth=3, splitter="random")
    made, _ = pool(Regressor(given), X, seed=5)
    first, second = made.nearest(v)[0], made.nearest(v)[0]
    assert not hasattr(given, "tree_")
    assert first.estimator.random_state != second.estimator.random_state
    fixed = pool(Regressor(DecisionTreeRegressor(random_state=7)), X)[0].nearest(v)[0]
    assert fixed.estimator.random_state == 7
    weights = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    values = pool(Regressor(LinearRegression()), X, weights)[0].nearest(v)[1]
    theirs = LinearRegression().fit(X, v, sample_weight=weights).predict(X)
    np.testing.assert_allclose(values, theirs, atol=1e-10)
