"""The pytest plugin: references by name, for the tests of another package.

::

    from relaxboost.references import assert_bracketed

    def test_my_solver(relaxboost_reference):
        reference = relaxboost_reference("ties-at-the-cap.capped-k-7-2")
        assert_bracketed(my_solver(reference.A, k=3.5), reference, tol=1e-6)

Where the references are is said by ``--relaxboost-references DIR`` (more than once if need be), or
by ``relaxboost_references`` in the configuration of pytest; by default they are the corner cases
that come with relaxboost. Nothing heavy is imported before the fixture is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from relaxboost.references import ReferenceSet


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the setting."""
    parser.getgroup("relaxboost").addoption(
        "--relaxboost-references",
        action="append",
        metavar="DIR",
        help="a reference set, made by `relaxboost reference make`; may be repeated. "
        "Default: the setting relaxboost_references, else the corner cases of relaxboost",
    )
    parser.addini(
        "relaxboost_references",
        type="paths",
        default=[],
        help="folders of reference sets, relative to this file",
    )


@pytest.fixture(scope="session")
def relaxboost_reference(request: pytest.FixtureRequest) -> ReferenceSet:
    """References by name: ``relaxboost_reference("identity-3")`` is a game with its bracket."""
    from relaxboost.references import load

    config = request.config
    given = config.getoption("relaxboost_references")
    return load(*(given or config.getini("relaxboost_references")))
