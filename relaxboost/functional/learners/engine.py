"""LightGBM by its C interface: labels in, the text of a tree out."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, install

STEP = 2.0**-120
"""LightGBM counts what is below 1e-35 as 0, so that a tree leaves nothing behind for the next."""
_WORKS = "trees need LightGBM 4.3 or later, below 5; pip install 'lightgbm>=4.3,<5'"


class Engine:
    """Least-squares trees of labels that change each round, one booster for each output.

    LightGBM makes a tree of its own objective faster than of gradients handed to it, whose second
    derivatives it adds up though they are 1. Its functions in C, which are documented, do without
    the copies and checks of the Python ones, a sixth of a round at 10 000 rows. Not promised are
    where these have the library and the handles, `lightgbm.basic._LIB` and `_handle`, and that a
    booster reads labels where they were written: `tried` grows two trees to see.

    The first N of `labels`, in single precision and (−2, 2), are to be written before `grow`.
    """

    def __init__(
        self, rows: Array, weights: Array, options: Any, categorical: list[int], outputs: int
    ) -> None:
        lgb = lightgbm()
        options = {**options, "objective": "regression", "learning_rate": STEP}
        constant = np.isnan(rows[0]) & np.isnan(rows) | (rows == rows[0])
        same = weights.min() == weights.max()
        if not same:
            rows, weights, options = searched_both_ways(rows, weights, options, categorical)
        self._data = lgb.Dataset(
            rows,
            weight=None if same else weights,
            init_score=np.zeros(len(rows)),  # else a first tree of one leaf were the mean
            params=options,
            categorical_feature=categorical or "auto",
        )
        # LightGBM has no trees without a feature that varies.
        count = 0 if constant.all() else outputs
        self._boosters = [lgb.Booster(options, self._data) for _ in range(count)]
        self._lib, self._check = lgb.basic._LIB, lgb.basic._safe_call
        self.labels = np.zeros(len(rows), dtype=np.float32)
        self._text = ctypes.create_string_buffer(1 << 16)

    def grow(self, output: int) -> str:
        """Return the tree of the labels, for an output in 0..K − 1; "" if nothing is split."""
        if not self._boosters:
            return ""
        lib, booster, number = self._lib, self._boosters[output], ctypes.c_int
        stuck, length, pointer = number(0), ctypes.c_int64(0), self.labels.ctypes.data
        size = number(self.labels.size), number(0)  # 0 stands for single precision
        data, handle = self._data._handle, booster._handle
        self._check(lib.LGBM_DatasetSetField(data, b"label", ctypes.c_void_p(pointer), *size))
        self._check(lib.LGBM_BoosterUpdateOneIter(handle, ctypes.byref(stuck)))
        if stuck.value:  # LightGBM takes trees of one leaf back, but for those of the first round
            return ""
        asked = handle, number(booster.num_trees() - 1), number(1), number(0)
        while True:
            room = ctypes.c_int64(len(self._text)), ctypes.byref(length), self._text
            self._check(lib.LGBM_BoosterSaveModelToString(*asked, *room))
            if length.value <= len(self._text):
                return self._text.value.decode()
            self._text = ctypes.create_string_buffer(length.value)


def searched_both_ways(
    rows: Array, weights: Array, options: dict[str, Any], categorical: list[int]
) -> tuple[Array, Array, dict[str, Any]]:
    """Return rows and weights with two rows more, of weight 0, by which no cut is overlooked.

    LightGBM looks for cuts from the top, and only where values are missing from the bottom too. It
    takes round(weight · N / total) for the rows of a bin, and ends when it has passed more than N.
    Rounded numbers are at most doubled, so that each way goes through half of the weight.

    The first row has all values missing. The second is negative: if 0 were in the lowest bin, the
    way up would begin below 0 rows, and pass over the first cuts. Columns of two values have one
    cut, and that of categories is found otherwise; these stay as they are.
    """
    low, high = np.fmin.reduce(rows), np.fmax.reduce(rows)
    plain = ((rows == low) | (rows == high)).all(axis=0)
    plain[categorical] = True
    more = np.stack([np.where(plain, rows[0], v) for v in (np.nan, np.minimum(low, -1.0))])
    most = options["max_bin"]
    options = {
        **options,
        "max_bin": max(most, min(most + 2, 255)),  # more than 255 take two bytes
        "bin_construct_sample_cnt": max(len(rows) + 2, 200_000),  # bins are to know of both
    }
    return np.concatenate([rows, more]), np.append(weights, [0.0, 0.0]), options


@cache
def tried() -> None:
    """Raise unless trees of two rows split by the labels that were written last."""
    lgb, rows = lightgbm(), np.array([[0.0], [1.0]])
    options = {"min_data_in_leaf": 1, "min_data_in_bin": 1, "num_threads": 1, "verbosity": -1}
    gains = []
    try:
        engine = Engine(rows, np.ones(2), options, [], 1)
        for labels in ([-1.0, 1.0], [1.0, 0.5]):
            engine.labels[:] = labels
            gains += re.findall(r"^split_gain=(.*)$", engine.grow(0), re.MULTILINE)
    except (AttributeError, TypeError, lgb.basic.LightGBMError) as error:
        raise InputError(
            f"LightGBM {lgb.__version__} is not as before: {error}; {_WORKS}"
        ) from error
    if gains != ["2", "0.125"]:  # (a − b)²/2
        raise InputError(f"LightGBM {lgb.__version__} grew trees of labels of before; {_WORKS}")


def lightgbm() -> Any:
    """Return the module, of a version whose text of trees is known, or raise with the remedy."""
    try:
        import lightgbm as lgb
    except ImportError as error:
        raise InputError(
            f"trees are grown by LightGBM: {install('lightgbm')}; without it "
            "Regressor(DecisionTreeRegressor(max_depth=3)) grows those of scikit-learn"
        ) from error
    version = re.match(r"4\.(\d+)", lgb.__version__)
    if version is None or int(version[1]) < 3:
        raise InputError(f"LightGBM {lgb.__version__} is installed; {_WORKS}")
    return lgb
