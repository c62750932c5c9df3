"""Wrong arguments of problems, of `fit` and of `reference`: one table, each with its message."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost._core.errors import InputError
from relaxboost.planning import reference

from . import small

MADE = small.tasks(np.random.default_rng(0))
OTHER = small.tasks(np.random.default_rng(0), d=2)
SIGNED = small.tasks(np.random.default_rng(0), signed=True)


def learned_on_other_features():
    return pl.LinearCosts(np.ones(2), ("x0", "x1"), 0.0, 1.0, "optimal", "bundle", 1, True)


CASES = [
    (lambda: pl.Problem([]), "empty"),
    (lambda: pl.Problem(MADE, "ridge"), "regulariser must be an object"),
    (lambda: pl.Problem(MADE, scale="metres"), 'scale must be "rms" or "none"'),
    (lambda: pl.Problem([*MADE, *OTHER]), "same features"),
    (lambda: pl.Problem(SIGNED), "shift it to >= 0"),
    (lambda: pl.Problem(MADE).at([1.0]), "finite entries"),
    (lambda: pl.Problem(MADE).at([0.0, -1.0, 0.0]), r"feature 'x1'.*nonnegative=False"),
    (lambda: pl.Ridge(0.0), "strength must be a positive number"),
    (lambda: pl.Bundle(max_cuts=0), "max_cuts"),
    (lambda: pl.Bundle(patience=0), "patience"),
    (lambda: pl.fit(MADE, method="magic"), '"bundle" or a Bundle'),
    (lambda: pl.fit(MADE, method=pl.Bundle(start=[1.0])), "start needs 3"),
    (lambda: pl.fit(MADE, method=pl.Bundle(start="w")), "start must be"),
    (lambda: pl.fit(MADE, method=pl.Bundle(start=learned_on_other_features())), "was learned on"),
    (lambda: pl.fit(MADE, callback=3), "callback"),
    (lambda: pl.fit(MADE, tol=0.0), "tol"),
    (lambda: pl.fit(MADE, max_rounds=0), "max_rounds"),
    (lambda: pl.fit(MADE, time_limit=-1.0), "time_limit"),
    (lambda: pl.fit(pl.Problem(MADE), pl.Lasso()), "has its own regulariser"),
    (lambda: pl.reference(pl.Problem(MADE), pl.Ridge()), "has its own regulariser"),
    (lambda: pl.reference(MADE, solver="nonsense"), "not available"),
    (lambda: pl.reference(MADE, solver="HIGHS"), "HIGHS solves linear programs"),
    (
        lambda: pl.reference(pl.Problem(MADE, nonnegative=False, negative="simple")),
        'negative="relaxed"',
    ),
    (lambda: pl.program(MADE), r"planning\.Problem"),
]


@pytest.mark.parametrize(("work", "match"), CASES)
def test_wrong_arguments_are_named(work, match):
    with pytest.raises(InputError, match=match):
        work()


def test_problems_that_are_too_large_for_a_program(monkeypatch):
    monkeypatch.setattr(sys.modules[reference.__module__], "LARGEST", 10)
    with pytest.raises(InputError, match="use fit"):
        pl.reference(MADE)
