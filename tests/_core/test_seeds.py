"""Random numbers by `rng`, with `seed` as its other name."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import relaxboost as rb
from relaxboost import functional as fn
from relaxboost import planning as pl
from relaxboost._core.seeds import Rng, accepts_seed, generator, seed_of
from tests.planning.small import tasks

TASKS = tasks(np.random.default_rng(0), count=4)


def boosted(**options):
    X = np.arange(20.0).reshape(10, 2) % 7
    learner = fn.Trees(max_depth=2, subsample=0.5)
    return fn.boost(X, fn.Squared().bind(X[:, 1]), learner, stopping=3, **options).decision(X)


SAME = {
    "plant": lambda **o: rb.instances.plant(20, 8, **o).A,
    "split": lambda **o: [fold.test for fold in pl.split(TASKS, 2, by="task", **o)],
    "boost": boosted,
}


@pytest.mark.parametrize("name", SAME)
def test_an_integer_gives_the_same_by_either_name(name):
    call = SAME[name]
    assert np.array_equal(call(rng=4), call(seed=4))
    assert np.array_equal(call(rng=0), call())
    first, second = (call(rng=np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(first, second)
    # Work that starts from its seed several times draws the seed from the generator.
    assert name == "boost" or np.array_equal(first, call(rng=4))
    call(rng=None)
    call(seed=None)
    for wrong in ({"seed": -1}, {"rng": -1}, {"rng": "a"}):
        said = f"^{next(iter(wrong))} must be a whole number >= 0"
        with pytest.raises(rb.InputError, match=said):
            call(**wrong)
    with pytest.raises(rb.InputError, match="two names of the same argument; pass only rng"):
        call(rng=1, seed=1)


def test_signatures_have_rng():
    functions = [fn.boost, pl.boost, pl.compare, pl.split, rb.online.batch, rb.instances.plant]
    functions += [rb.check_conditions]
    for function in functions:
        names = inspect.signature(function).parameters
        assert names["rng"].default == 0
        assert "seed" not in names


def test_generators_are_advanced_and_none_is_always_new():
    @accepts_seed
    def draw(rng: Rng = 0) -> float:
        return generator(rng).random()

    random = np.random.default_rng(1)
    assert draw(random) == draw(rng=1) == draw(seed=np.int64(1)) != draw(random)
    assert draw(None) != draw(None)
    assert seed_of(5) == 5
    assert seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1)) != seed_of(None)
