"""Inner products of L²(P̂)."""

import numpy as np
import pytest

from relaxboost.functional import Empirical


@pytest.mark.parametrize("shape", [(50,), (50, 1), (50, 7)])
@pytest.mark.parametrize("weighted", [False, True])
def test_inner_products_are_weighted_sums(shape, weighted):
    rng = np.random.default_rng(0)
    measure = Empirical(50, rng.random(50) if weighted else None)
    f, g = rng.normal(size=shape), rng.normal(size=shape)
    expected = sum(measure.p[n] * np.sum(f[n] * g[n]) for n in range(50))
    assert measure.inner(f, g) == pytest.approx(expected, abs=1e-14)
    assert measure.inner(np.asfortranarray(f), g[::-1][::-1]) == measure.inner(f, g)
    assert measure.norm(f) ** 2 == pytest.approx(measure.inner(f, f))
    whole = rng.integers(-3, 4, 50)
    assert measure.mean(whole) == pytest.approx(float(measure.p @ whole))


def test_functions_on_other_points_are_refused():
    for shapes in [((3,), (4,)), ((4,), (4, 1)), ((3,), (3,))]:
        f, g = (np.zeros(shape) for shape in shapes)
        with pytest.raises(ValueError, match="values at 4 points"):
            Empirical(4).inner(f, g)
