"""Nonsmooth losses beside scikit-learn and LightGBM, everyone with their defaults, on test splits.

Run: python benchmarks/nonsmooth.py [--data DIR] [--part report|choose] [--splits 5] [--task TASK]
[--rows 5000] [--keep FILE]

DIR, or the environment variable RELAXBOOST_DATA, holds the public sets (docs/benchmarks.md names
them). Sets of the parts "choose" and "report" share no origin: all tasks made of a set are in one
part. Defaults of relaxboost were chosen on "choose"; those of trees had been looked at before on
four sets of "report" (adult, satimage, magic, pima), with other targets, and came out the same.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import machine, table
from sklearn import datasets
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.ensemble import HistGradientBoostingClassifier as HistClassifier
from sklearn.ensemble import HistGradientBoostingRegressor as HistRegressor
from sklearn.model_selection import train_test_split

import relaxboost as rb
from benchmarks.readers import read_fold
from relaxboost import functional as fn

KINDS = ("absolute", "quantile .1", "quantile .5", "quantile .9", "huber")
Data = tuple[np.ndarray, np.ndarray]
Sets = dict[str, Callable[[], Data]]
Key = tuple[Any, ...]


def frame(folder: Path, name: str, sep: str = ",", header: int | None = None) -> pd.DataFrame:
    """Return a file, texts as the numbers of their first occurrence."""
    data = pd.read_csv(folder / name, sep=sep, header=header, skipinitialspace=True).dropna()
    data.columns = range(data.shape[1])
    for column in data:
        if data[column].dtype.kind not in "if":
            data[column] = pd.factorize(data[column])[0]
    return data.astype(float)


def target(data: pd.DataFrame, column: int, *without: int) -> Data:
    """Return the other columns, less some, and one as the target."""
    rest = data.drop(columns=[column, *without])
    return rest.to_numpy(), data[column].to_numpy()


def friedman(made: Callable[..., Data], spread: float) -> Data:
    """Return a function of Friedman's with heavy tails."""
    X, y = made(5000, random_state=0)
    return X, y + spread * np.random.default_rng(0).standard_t(2, 5000)


def sparse(path: Path) -> Data:
    """Return a file of LIBSVM's format."""
    X, y = datasets.load_svmlight_file(str(path))
    return X.toarray(), y


def regression(folder: Path) -> dict[str, Sets]:
    """Return the sets of numbers, by part and name."""
    read = partial(frame, folder)
    return {
        "choose": {
            "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
            "covtype, elevation": lambda: target(read("covtype20k/covtype.20k.data.gz"), 0, 54),
            "german, amount": lambda: target(read("german/german.csv.gz"), 4, 20),
            "letter, edges": lambda: target(read("letter/letter-recognition.data.gz"), 13, 0),
            "Friedman 1, t(2)": lambda: friedman(datasets.make_friedman1, 1.0),
            "Friedman 3, t(2)": lambda: friedman(datasets.make_friedman3, 0.1),
        },
        "report": {
            "adult, hours": lambda: target(read("adult/adult-train.csv.gz"), 12, 14),
            "adult, age": lambda: target(read("adult/adult-train.csv.gz"), 0, 14),
            "higgs, m_bb": lambda: target(read("higgs/higgs_train_10k.csv.gz", header=0), 26, 0),
            "satimage, centre": lambda: target(read("satimage/sat.trn.gz", " "), 16, 36),
            "heart, rate": lambda: target(read("raetsch/heart-statlog.tsv.gz", "\t", 0), 7, 13),
            "spambase, run": lambda: target(
                read("spambase/spambase.tsv.gz", "\t", 0), 54, 55, 56, 57
            ),
            "breast cancer, area": lambda: target(
                pd.DataFrame(datasets.load_breast_cancer().data), 3, 0, 2, 10, 12, 13, 20, 22, 23
            ),
            "wine, proline": lambda: target(pd.DataFrame(datasets.load_wine().data), 12),
        },
    }


def classification(folder: Path) -> dict[str, Sets]:
    """Return the sets of labels, by part and name."""
    read = partial(frame, folder)
    return {
        "choose": {
            "german": lambda: target(read("german/german.csv.gz"), 20),
            "covtype": lambda: target(read("covtype20k/covtype.20k.data.gz"), 54),
            "letter": lambda: target(read("letter/letter-recognition.data.gz"), 0),
            "banana": lambda: target(read("raetsch/banana.csv.gz", header=0), 2),
            "twonorm": lambda: target(read("raetsch/twonorm.csv.gz", header=0), 20),
            "Ljubljana": lambda: target(read("raetsch/breast_cancer.csv.gz", header=0), 9),
            "connect 4": lambda: target(read("connect4/connect-4.tsv.gz", "\t", 0), 42),
            "ijcnn1": lambda: sparse(folder / "ijcnn1/ijcnn1.trn.bz2"),
            "digits": lambda: datasets.load_digits(return_X_y=True),
        },
        "report": {
            "magic": lambda: target(read("magic/magic04.data.gz"), 10),
            "spambase": lambda: target(read("spambase/spambase.tsv.gz", "\t", 0), 57),
            "sonar": lambda: target(read("sonar/sonar.csv.gz"), 60),
            "higgs": lambda: target(read("higgs/higgs_train_10k.csv.gz", header=0), 0),
            "pima": lambda: target(read("raetsch/diabetis_pima.csv.gz"), 8),
            "splice": lambda: target(read("raetsch/splice.csv.gz", header=0), 60),
            "wine": lambda: datasets.load_wine(return_X_y=True),
            "pendigits": lambda: target(read("pendigits/pendigits.tra.gz"), 16),
        },
    }


def loss_of(kind: str) -> fn.Loss:
    """Return the loss that is measured."""
    if kind.startswith("quantile"):
        return fn.Quantile(float(kind.split()[1]))
    return fn.Absolute() if kind == "absolute" else fn.Huber()


def regressors(kind: str) -> dict[str, object]:
    """Return everyone's regressor for a loss, with defaults."""
    import lightgbm as lgb

    loss, quantile = loss_of(kind), kind.startswith("quantile")
    q = loss.q if quantile else None
    theirs = {"absolute": "absolute_error", "huber": "huber"}.get(kind, "quantile")
    light = {"absolute": "l1", "huber": "huber"}.get(kind, "quantile")
    made: dict[str, object] = {
        f"ours, {learner}": rb.estimators.FunctionalGradientRegressor(loss, learner, random_state=0)
        for learner in ("stumps", "trees")
    }
    options = {"alpha": q} if quantile else {}
    made["GradientBoosting"] = GradientBoostingRegressor(loss=theirs, random_state=0, **options)
    if kind != "huber":  # it has no such loss
        made["HistGradientBoosting"] = HistRegressor(loss=theirs, quantile=q, random_state=0)
    made["lightgbm"] = lgb.LGBMRegressor(objective=light, verbose=-1, n_jobs=1, **options)
    return made


def classifiers() -> dict[str, object]:
    """Return everyone's classifier with defaults."""
    import lightgbm as lgb

    made: dict[str, object] = {
        f"ours, {loss}, {learner}": rb.estimators.FunctionalGradientClassifier(
            loss, learner, random_state=0
        )
        for loss in ("logistic", "hinge")
        for learner in ("stumps", "trees")
    }
    made["GradientBoosting"] = GradientBoostingClassifier(random_state=0)
    made["HistGradientBoosting"] = HistClassifier(random_state=0)
    made["lightgbm"] = lgb.LGBMClassifier(verbose=-1, n_jobs=1)
    made["lightgbm, stumps"] = lgb.LGBMClassifier(verbose=-1, n_jobs=1, num_leaves=2)
    return made


def splits(data: Data, how: argparse.Namespace, labels: bool) -> Iterator[list[np.ndarray]]:
    """Yield training and test sets, 70 and 30 % of some of the rows."""
    X, y = data
    some = np.random.default_rng(0).permutation(len(y))
    # A row whose features were seen before would be in the training and the test set.
    some = some[np.sort(np.unique(X[some], axis=0, return_index=True)[1])][: how.rows]
    X, y = X[some], y[some]
    for seed in range(how.splits):
        yield train_test_split(
            X, y, test_size=0.3, random_state=seed, stratify=y if labels else None
        )


class Kept:
    """What was measured, by data, loss and model, in a file where one is named."""

    def __init__(self, file: str | None) -> None:
        self.file = None if file is None else Path(file)
        self.found: dict[str, list[list[float]]] = {}
        if self.file is not None and self.file.exists():
            self.found = json.loads(self.file.read_text())

    def measured(self, key: Key, runs: Callable[[], Iterator[list[float]]]) -> Key:
        """Return the mean score and the CPU seconds of all runs, made now unless they are kept."""
        name = " | ".join(map(str, key))
        if name not in self.found:
            self.found[name] = list(runs())
            if self.file is not None:
                self.file.write_text(json.dumps(self.found))
        scores, seconds = zip(*self.found[name], strict=True)
        return float(np.mean(scores)), float(np.sum(seconds))


def ratios(named: Sets, how: argparse.Namespace, kept: Kept) -> None:
    """Print test loss over that of the best constant of the training set."""

    def runs(name: str, kind: str, who: str) -> Iterator[list[float]]:
        loss = loss_of(kind)
        for Xa, Xb, ya, yb in splits(read[name](), how, False):
            # Targets in units of Huber's corner, which is the nine-tenth quantile of the distance.
            middle = np.median(ya)
            unit = np.quantile(np.abs(ya - middle), 0.9)
            ya, yb = (ya - middle) / unit, (yb - middle) / unit
            start, one = loss.bind(ya), np.zeros(len(ya), dtype=np.int64)
            constant = start.refitted(start.zero(), one, 1)[0]
            test, begin = loss.bind(yb), time.process_time()
            F = regressors(kind)[who].fit(Xa, ya).predict(Xb)
            seconds = time.process_time() - begin
            least = test.value(np.full(len(yb), constant))
            yield [test.value(np.asarray(F, float)) / least, seconds]

    read = {name: cache(given) for name, given in named.items()}
    whos, rows = list(regressors("absolute")), []
    found = np.full((len(named), len(KINDS), len(whos), 2), np.nan)
    for i, name in enumerate(named):
        for k, kind in enumerate(KINDS):
            for w, who in enumerate(whos):
                if who in regressors(kind):
                    key = (how.part, how.rows, how.splits, name, kind, who)
                    found[i, k, w] = kept.measured(key, partial(runs, name, kind, who))
            rows.append((name, kind, *map(_shown, found[i, k, :, 0])))
    scores = found[..., 0].reshape(-1, len(whos))
    without = found[:, :-1, :, 0].reshape(-1, len(whos))
    rows.append(("mean", "", *map(_shown, np.nanmean(scores, axis=0))))
    rows.append(("mean without huber", "", *map(_shown, np.nanmean(without, axis=0))))
    rows.append(("worst", "", *map(_shown, np.nanmax(scores, axis=0))))
    seconds = np.nansum(found[..., 1], axis=(0, 1))
    rows.append(("CPU seconds", "", *(f"{s:.0f}" for s in seconds)))
    table(
        f"test loss over that of the best constant, means of {how.splits} splits, at most "
        f"{how.rows} rows",
        ("data", "loss", *whos),
        rows,
    )


def errors(named: Sets, how: argparse.Namespace, kept: Kept) -> None:
    """Print test errors and mean ranks."""

    def runs(name: str, who: str) -> Iterator[list[float]]:
        for Xa, Xb, ya, yb in splits(read[name](), how, True):
            begin = time.process_time()
            wrong = classifiers()[who].fit(Xa, ya).predict(Xb) != yb
            yield [float(np.mean(wrong)), time.process_time() - begin]

    read = {name: cache(given) for name, given in named.items()}
    whos, rows = list(classifiers()), []
    found = np.empty((len(named), len(whos), 2))
    for i, name in enumerate(named):
        for w, who in enumerate(whos):
            key = (how.part, how.rows, how.splits, name, "error", who)
            found[i, w] = kept.measured(key, partial(runs, name, who))
        rows.append((name, *(f"{error:.2%}" for error in found[i, :, 0])))
    scores = pd.DataFrame(found[..., 0], columns=whos)
    rows.append(("mean", *(f"{error:.2%}" for error in scores.mean())))
    rows.append(("mean rank", *(f"{rank:.2f}" for rank in scores.rank(axis=1).mean())))
    rows.append(("CPU seconds", *(f"{s:.0f}" for s in found[..., 1].sum(axis=0))))
    table(
        f"test errors, means of {how.splits} splits, at most {how.rows} rows", ("data", *whos), rows
    )
    trees, stumps = ["HistGradientBoosting", "lightgbm"], ["lightgbm, stumps"]
    few = [
        (who, *(f"{r:.2f}" for r in scores[[who, *others]].rank(axis=1).mean()), ", ".join(others))
        for who in whos[:4]
        for others in (trees, stumps)
        if others is trees or who.endswith("stumps")
    ]
    table(
        "mean ranks among few",
        ("ours", "its rank", "theirs", "", "others"),
        [(*row[:3], *(row[3:] if len(row) == 5 else ("", row[3]))) for row in few],
    )


def ndcg(scores: np.ndarray, grades: np.ndarray, queries: np.ndarray, depth: int = 10) -> float:
    """Return the mean over queries with a relevant document of NDCG@depth, gains 2^grade - 1."""
    found, discounts = [], 1.0 / np.log2(np.arange(2, depth + 2))
    for query in np.unique(queries):
        rows = np.flatnonzero(queries == query)
        gains = 2.0 ** grades[rows] - 1.0
        if gains.max() > 0.0:
            order = np.argsort(-scores[rows], kind="stable")[:depth]
            ideal = np.sort(gains)[::-1][:depth]
            found.append(gains[order] @ discounts[: len(order)] / (ideal @ discounts[: len(ideal)]))
    return float(np.mean(found))


def ranking(folder: Path) -> None:
    """Print NDCG@10 on the five folds of MQ2008."""
    import lightgbm as lgb

    whos = ("ours, stumps", "ours, trees", "lambdarank of lightgbm")
    rows = []
    for fold in range(1, 6):
        train, test = read_fold("mq2008", folder, fold)
        order = np.argsort(train.groups, kind="stable")
        sizes = np.unique(train.groups, return_counts=True)[1]
        theirs = lgb.LGBMRanker(verbose=-1, n_jobs=1)
        theirs.fit(train.X[order], train.y[order].astype(int), group=sizes)
        made = [
            rb.estimators.FunctionalGradientRanker(learner=learner, random_state=0).fit(
                train.X, train.y, groups=train.groups
            )
            for learner in ("stumps", "trees")
        ]
        scores = [model.predict(test.X) for model in (*made, theirs)]
        rows.append([fold, *(ndcg(s, test.y, test.groups) for s in scores)])
    rows.append(["mean", *np.mean([row[1:] for row in rows], axis=0)])
    shown = [[row[0], *(f"{value:.4f}" for value in row[1:])] for row in rows]
    table("MQ2008, NDCG@10 of the test part", ("fold", *whos), shown)


def _shown(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=os.environ.get("RELAXBOOST_DATA"))
    parser.add_argument("--part", choices=("report", "choose"), default="report")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--keep", help="a file of what was measured, to go on with")
    parser.add_argument("--task", choices=("regression", "classification", "ranking"))
    given = parser.parse_args()
    if not given.data:
        parser.error("--data DIR, the folder of public sets, is needed")
    warnings.filterwarnings("ignore", module="(sklearn|lightgbm)")
    machine()
    folder, kept = Path(given.data), Kept(given.keep)
    if given.task in (None, "regression"):
        ratios(regression(folder)[given.part], given, kept)
    if given.task in (None, "classification"):
        errors(classification(folder)[given.part], given, kept)
    if given.task in (None, "ranking"):
        ranking(folder)


if __name__ == "__main__":
    main()
