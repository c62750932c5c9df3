"""Functional boosting with stumps: a round, an ensemble against scikit-learn's, predictions.

Run: python benchmarks/functional.py [--data DIR], or with --trees N for fits of trees to N rows
beside LightGBM's, in seconds of CPU time.

DIR, or the environment variable RELAXBOOST_DATA, holds the sets letter and connect4, as for
`python -m benchmarks.reproductions`. Without it, the script draws random
data of the same shapes.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
from common import best_time, machine, table
from threadpoolctl import threadpool_limits

import relaxboost as rb
from benchmarks.readers import data_folder, read_labelled
from relaxboost import functional as fn
from relaxboost._core.compiled import at_most
from relaxboost.functional.learners.stumps import StumpHypothesis

Data = tuple[str, np.ndarray, np.ndarray]

ROUNDS = 100


def real(name: str, folder: Path) -> Data:
    """Return a set of `benchmarks.readers`, all rows of it."""
    data = read_labelled(name, folder)
    return name, data.X, data.y


def drawn(name: str, n: int, d: int, levels: int, classes: int) -> Data:
    """Return random data of so many rows, features, values of a feature, and classes."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, levels, (n, d)).astype(float)
    scores = X[:, : min(d, 8)] @ rng.normal(size=(min(d, 8), classes))
    return name, X, (scores - scores.mean(axis=0)).argmax(axis=1)


def smooth(n: int, d: int) -> Data:
    """Return numbers without ties, so that 255 bins are full."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)
    return f"random, {n} x {d}", X, y


def multiclass(data: list[Data]) -> None:
    """Time a projection and a round of multiclass stumps."""
    rows = []
    for name, X, y in data:
        risk = fn.MulticlassHinge().bind(y)
        gradient = risk.evaluate(risk.zero())[1]
        learner = fn.RegressionStumps()
        rng = np.random.default_rng(0)
        pool = learner.prepare(X, risk.measure, risk.outputs, "least-squares", rng)
        search = best_time(lambda pool=pool, v=gradient: pool.nearest(v))
        spent = []
        for _ in range(3):
            run = fn.boost(X, fn.MulticlassHinge().bind(y), learner, stopping=ROUNDS)
            clock = [record.seconds for record in run.history]
            spent.append(np.diff(clock))
        least = np.min(spent, axis=0)
        rows.append(
            (
                name,
                f"{X.shape[0]} x {X.shape[1]}, {risk.outputs} classes",
                f"{search * 1e3:.2f}",
                f"{np.median(least) * 1e3:.2f}",
                f"{min(s.sum() for s in spent):.2f}",
                f"{run.value:.4f}",
            )
        )
    table(
        f"MulticlassHinge, residual, multiclass stumps, {ROUNDS} rounds",
        ("data", "shape", "projection, ms", "round, ms", "all rounds, s", "risk"),
        rows,
    )


def against_scikit_learn(data: list[Data]) -> None:
    """Time least-squares boosting of stumps: the same number of bins, step and rounds."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    rows = []
    for name, X, y in data:
        y = np.unique(y, return_inverse=True)[1].astype(float) if y.dtype.kind != "f" else y
        y = y - y.mean()
        theirs = HistGradientBoostingRegressor(
            learning_rate=0.1,
            max_iter=ROUNDS,
            max_leaf_nodes=2,
            max_depth=1,
            min_samples_leaf=1,
            early_stopping=False,
        )

        def ours(X: np.ndarray = X, y: np.ndarray = y) -> fn.Boosted:
            return fn.boost(
                X,
                fn.Squared().bind(y),
                fn.RegressionStumps(),
                algorithm=fn.Naive(step=0.1),
                stopping=ROUNDS,
            )

        times = [best_time(ours, 0.5, 2)]
        for threads in (1, 2):
            with threadpool_limits(threads, "openmp"):
                times.append(best_time(lambda X=X, y=y, m=theirs: m.fit(X, y), 0.0, 1))
        run = ours()
        with threadpool_limits(1, "openmp"):
            predict = [
                best_time(lambda X=X, run=run: run.decision(X)),
                best_time(lambda X=X, m=theirs: m.predict(X), 0.0, 1),
            ]
        rows.append(
            (
                name,
                *(f"{t:.3f}" for t in times),
                f"{run.value:.6f}",
                f"{((theirs.predict(X) - y) ** 2).mean() / 2:.6f}",
                *(f"{t * 1e3:.0f}" for t in predict),
            )
        )
    table(
        f"squared loss, stumps of 255 bins, step 0.1, {ROUNDS} rounds, against "
        "HistGradientBoostingRegressor(max_depth=1)",
        (
            "data",
            "ours, s",
            "theirs, 1 thread, s",
            "2 threads, s",
            "our risk",
            "their risk",
            "our predictions, ms",
            "theirs, 1 thread, ms",
        ),
        rows,
    )


def many_stumps(X: np.ndarray) -> None:
    """Time the predictions of many stumps, at once and one by one."""
    rng = np.random.default_rng(0)
    rows = []
    for outputs in (None, 26):
        for size in (500, 20_000):
            shape = (2,) if outputs is None else (2, outputs)
            stumps = [
                StumpHypothesis(
                    int(rng.integers(X.shape[1])),
                    float(rng.choice(X[:, 0]) + 0.5),
                    rng.normal(size=shape),
                    X.shape[1],
                )
                for _ in range(size)
            ]
            weights = rng.normal(size=size)
            total = np.zeros((len(X), *shape[1:]))
            at_once = best_time(
                lambda s=stumps, w=weights, total=total: StumpHypothesis.combined(w, s, X, total)
            )
            some = stumps[:100]
            start = time.perf_counter()
            for weight, stump in zip(weights, some, strict=False):
                total += weight * stump(X)
            loop = (time.perf_counter() - start) / len(some) * size
            rows.append((size, outputs or 1, f"{at_once:.3f}", f"{loop:.2f}"))
    table(
        f"predictions of many stumps on {X.shape[0]} x {X.shape[1]}",
        ("stumps", "outputs", "at once, s", "one by one, s"),
        rows,
    )


FITS = {
    "squared": (fn.Squared(), "regression"),
    "absolute": (fn.Absolute(), "regression_l1"),
    "quantile": (fn.Quantile(0.9), "quantile"),
    "huber": (fn.Huber(0.9), "huber"),
    "logistic": (fn.Logistic(), "binary"),
    "hinge": (fn.Hinge(), "binary"),  # LightGBM has none
}


def trees(n: int, rounds: int, threads: int) -> None:
    """Time fits of as many trees, of the same depth and leaves, with default subsampling.

    The machine may have other work: of three fits each, turn by turn, the least CPU time counts.
    """
    import lightgbm as lgb

    _, X, y = smooth(n, 20)
    rows = []
    for name, (loss, theirs) in FITS.items():
        target = (y > 0.0).astype(float) if loss.task == "binary" else y
        options = {
            "objective": theirs, "alpha": 0.9, "num_leaves": 31, "max_depth": 5,
            "min_data_in_leaf": 30, "num_threads": threads, "verbosity": -1,
        }  # fmt: skip
        learner = fn.Trees(n_jobs=threads)

        def ours(m: int, r: int, t=target, b=loss, h=learner) -> None:  # type: ignore[no-untyped-def]
            fn.boost(X[:m], b.bind(t[:m]), h, algorithm="refitted", stopping=r)

        def light(m: int, r: int, t=target, o=options) -> None:  # type: ignore[no-untyped-def]
            lgb.train(o, lgb.Dataset(X[:m], t[:m]), r)

        best = [float("inf")] * 2
        with at_most(threads):
            for size, turns in ((min(n, 1000), 2), *[(n, rounds)] * 3):
                for k, fit in enumerate((ours, light)):
                    start = time.process_time()
                    fit(size, turns)
                    spent = time.process_time() - start
                    best[k] = min(best[k], spent if turns == rounds else float("inf"))
        rows.append((name, f"{best[0]:.2f}", f"{best[1]:.2f}", f"{best[0] / best[1]:.2f}"))
    table(
        f"{rounds} trees, {n} x 20, seconds of CPU time, threads: {threads}",
        ("loss", "ours", "lightgbm", "ratio"),
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=os.environ.get("RELAXBOOST_DATA"))
    parser.add_argument("--trees", type=float, metavar="N", help="rows of fits of trees")
    parser.add_argument("--threads", type=int, default=1, help="of fits of trees")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of fits of trees")
    given = parser.parse_args()
    folder = given.data
    machine()
    if given.trees:
        trees(int(given.trees), given.rounds, given.threads)
        return
    if folder:
        try:
            named = [real(name, data_folder(folder)) for name in ("letter", "connect4")]
        except rb.InputError as error:
            parser.error(f"{error}; or leave out --data")
    else:
        named = [
            drawn("random, as letter", 20_000, 16, 16, 26),
            drawn("random, as connect4", 67_557, 42, 3, 3),
        ]
    multiclass(named)
    against_scikit_learn([*named, smooth(20_000, 20), smooth(100_000, 20)])
    many_stumps(named[0][1])


if __name__ == "__main__":
    main()
