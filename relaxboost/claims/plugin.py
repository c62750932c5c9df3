"""The pytest plugin that turns each claim in a test module into a test.

::

    # test_my_claims.py
    from relaxboost.claims import Matrix, Source, Space, at_most

    MINE = Source("MINE", "my thesis, chapter 3")

    @MINE.claim("L1", "Lemma 1", "The margin ...", formula="ρ ≤ ...", space=Space(A=Matrix()))
    def margin(x):
        return at_most(...)

``pytest`` then runs the test ``test_my_claims.py::MINE-L1``. The test fails if the verdict of the
check differs from the recorded status. The option ``--relaxboost-claims-trials N`` sets the number
of instances, and ``--relaxboost-claims-seed S`` sets the seed. The plugin imports the package only
when a test module defines a claim.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from relaxboost.claims import Claim


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options ``--relaxboost-claims-trials`` and ``--relaxboost-claims-seed`` to pytest."""
    group = parser.getgroup("relaxboost")
    group.addoption(
        "--relaxboost-claims-trials",
        type=_from(1),
        metavar="N",
        help="number of instances to draw for each claim (default: set by each claim)",
    )
    group.addoption(
        "--relaxboost-claims-seed",
        type=_from(0),
        default=0,
        metavar="S",
        help="seed of the instances of claims (default: 0)",
    )


def _from(least: int) -> Callable[[str], int]:
    # The function has this name because error messages of pytest contain it.
    def whole_number(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number >= {least}, got {text}")
        return int(text)

    return whole_number


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: Any
) -> ClaimItem | None:
    """Return a test item for a claim at the top level of a test module."""
    module = sys.modules.get("relaxboost.claims.claim")
    if module is None or not issubclass(type(obj), module.Claim):
        return None
    if not isinstance(collector, pytest.Module):
        return None
    return ClaimItem.from_parent(collector, name=obj.id, variable=name, claim=obj)


class ClaimItem(pytest.Item):
    """The pytest item for a claim in a test module."""

    def __init__(self, *, variable: str, claim: Claim, **others: Any) -> None:
        super().__init__(**others)
        self.claim = claim
        self.extra_keyword_matches.add(variable)
        module = claim.stated.check.__module__
        file = getattr(sys.modules.get(module), "__file__", None)
        if claim.file is None and file and not module.startswith("relaxboost."):
            # The file is stored, because the printed command that repeats the check contains it.
            claim.file = Path(os.path.relpath(file))

    def runtest(self) -> None:
        """Check the claim. The test fails if the verdict differs from the recorded status."""
        trials = self.config.getoption("relaxboost_claims_trials")
        verdict = self.claim.check(trials, self.config.getoption("relaxboost_claims_seed"))
        if verdict.interrupted:
            raise KeyboardInterrupt
        if not verdict.agrees:
            pytest.fail(str(verdict), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file, line and id of the claim, for failure reports."""
        return self.path, self.claim.stated.line - 1, self.name
