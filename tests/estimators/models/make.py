"""Make the files beside this one: models of XGBoost 3.2 and LightGBM, rows, and what they say.

Needs xgboost, which the tests do not.
"""

import json
from pathlib import Path

import lightgbm as lgb
import numpy as np
import xgboost as xgb

here = Path(__file__).parent
rng = np.random.default_rng(0)


def rows(m):
    X = rng.normal(size=(m, 4)).round(2)
    X[:, 3] = rng.integers(0, 8, m)
    X[rng.random((m, 4)) < 0.15] = np.nan
    return X


X, Z = rows(80), rows(40)
y = (np.nan_to_num(X[:, 0]) + np.isin(X[:, 3], [1, 4]) + rng.normal(size=80) / 2 > 0.4).astype(int)
plain = xgb.DMatrix(X, y)
kinds = {"feature_types": ["q", "q", "q", "c"], "feature_names": list("abcd")}
sets = xgb.DMatrix(X, y, enable_categorical=True, **kinds)
logistic = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1, "seed": 0}
models = {
    "logistic": xgb.train(logistic | {"gamma": 2.0, "max_depth": 4}, plain, 4),
    "logitraw": xgb.train(logistic | {"objective": "binary:logitraw", "base_score": 0.3}, plain, 3),
    "hinge": xgb.train(logistic | {"objective": "binary:hinge"}, plain, 2),
    "dart": xgb.train(logistic | {"booster": "dart", "rate_drop": 0.5}, plain, 6),
    "sets": xgb.train(logistic | {"max_cat_to_onehot": 1, "num_parallel_tree": 2}, sets, 3),
}
said = {"rows": Z.tolist(), "y": (np.nan_to_num(Z[:, 0]) > 0).astype(int).tolist()}
for name, booster in models.items():
    booster.save_model(here / f"{name}.json")
    asked = xgb.DMatrix(Z, enable_categorical=True, **(kinds if name == "sets" else {}))
    said[name] = booster.predict(asked, output_margin=True).tolist()
    said[f"{name} leaves"] = booster.predict(asked, pred_leaf=True).astype(int).tolist()

three, classes = xgb.DMatrix(X, y + (X[:, 2] > 0)), xgb.DMatrix(Z)
options = {"objective": "multi:softprob", "num_class": 3, "max_depth": 1, "nthread": 1, "seed": 0}
several = xgb.train(options | {"booster": "dart", "rate_drop": 0.5}, three, 2)
several.save_model(here / "three.json")
said["three"] = several.predict(classes, output_margin=True).tolist()
said["three leaves"] = several.predict(classes, pred_leaf=True).astype(int).tolist()
X3, y3 = np.nan_to_num(X), y + (X[:, 2] > 0)
leaves = {"objective": "multiclass", "num_class": 3, "num_leaves": 3, "min_data_in_leaf": 5}
quiet = {"num_threads": 1, "verbosity": -1, "deterministic": True}
ova = lgb.train(leaves | quiet, lgb.Dataset(X3, y3), 2)
ova.save_model(here / "three.txt")
said["three.txt"] = ova.predict(Z, raw_score=True).tolist()
xgb.train(logistic | {"booster": "gblinear"}, plain, 1).save_model(here / "no-linear.json")
watched = {"early_stopping_rounds": 1, "evals": [(xgb.DMatrix(Z, said["y"]), "z")]}
stopped = xgb.train(logistic | {"eta": 3, "max_depth": 1}, plain, 9, verbose_eval=False, **watched)
stopped.save_model(here / "no-stopped.json")
(here / "no-names.json")
(here / "said.json").write_text(json.dumps(said, allow_nan=True) + "\n")
