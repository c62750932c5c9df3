"""The figures of counterexamples: what their claims find must be what is on record."""

from __future__ import annotations

import pytest

from relaxboost import claims


def source(key):
    """Return a source of the package with all of its claims."""
    return next(one for one in claims.sources() if one.key == key)


def refuted(claim, figures, corrections=(), **near):
    """Compare the decisive inequality at each counterexample, and hold corrections to it."""
    for written, sides in zip(claim.counterexamples, figures, strict=True):
        x = claim.instance(written)
        worst = min(claim.stated.measure(x), key=lambda s: s.high)
        assert worst.high < 0.0
        assert (worst.left, worst.right) == pytest.approx(sides, **near), str(worst)
        for correction in corrections:
            assert all(s.high >= 0.0 for s in correction.measure(x))


def complete(whole, figures):
    """Hold every claim that fails to have figures and a correction."""
    failing = {id for id, claim in whole.claims.items() if claim.counterexamples}
    assert failing == set(figures)
    assert all(whole.claims[id].corrections for id in failing)
