"""What methods are held to."""

from __future__ import annotations

from functools import cache

import pytest

import relaxboost as rb


@pytest.fixture(scope="module")
def truth_of(matrix):
    """The reference solution for a relaxation and a domain, the same for every method."""
    return cache(lambda f, over: rb.reference(rb.Game(matrix, f, over=over)))
