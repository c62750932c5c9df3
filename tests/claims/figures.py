"""The figures of counterexamples: what their claims find must be what is on record."""

from __future__ import annotations

import pytest


def refuted(claim, figures, corrections=(), **near):
    """Compare the decisive inequality at each counterexample, and hold corrections to it."""
    for written, sides in zip(claim.counterexamples, figures, strict=True):
        x = claim.instance(written)
        worst = min(claim.stated.measure(x), key=lambda s: s.high)
        assert worst.high < 0.0
        assert (worst.left, worst.right) == pytest.approx(sides, **near), str(worst)
        for correction in corrections:
            assert all(s.high >= 0.0 for s in correction.measure(x))


def complete(source, figures):
    """Hold every claim that fails to have figures and a correction."""
    failing = {id for id, claim in source.claims.items() if claim.counterexamples}
    assert failing == set(figures)
    assert all(source.claims[id].corrections for id in failing)
