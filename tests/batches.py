"""Data in batches, as xgboost reads them."""

from __future__ import annotations

from itertools import pairwise


class Batches:
    """The shape of xgboost's DataIter."""

    def __init__(self, X, y, ends, **more):
        cuts = [0, *ends, len(y)]
        self.parts = [(X[a:b], y[a:b]) for a, b in pairwise(cuts)]
        self.more, self.resets, self.at = more, 0, 0

    def reset(self):
        self.resets += 1
        self.at = 0

    def next(self, input_data):
        if self.at == len(self.parts):
            return 0
        data, label = self.parts[self.at]
        input_data(data=data, label=label, **self.more)
        self.at += 1
        return 1
