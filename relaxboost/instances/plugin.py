"""The pytest plugin that provides certified games by name, for the tests of other packages.

::

    import pytest
    import relaxboost as rb
    from relaxboost.instances import assert_bracketed

    @pytest.mark.certified_games(relaxation=rb.Capped, over=rb.L1Ball)
    def test_my_solver(certified_game):
        value = my_solver(certified_game.A, certified_game.relaxation.k)
        assert_bracketed(value, certified_game, tol=1e-6)

    def test_ties(certified_games):
        certified = certified_games("ties-at-the-cap.capped-k-7-2")
        assert_bracketed(my_solver(certified.A, k=3.5), certified, tol=1e-6)

The repeatable option ``--certified-games DIR`` or the pytest setting ``certified_games`` sets the
folders of the games. By default the plugin uses the games that come with relaxboost. It imports
nothing large before a test uses the games.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from relaxboost.instances import CertifiedGame, CertifiedGames

_GAMES = pytest.StashKey["CertifiedGames"]()
_CONDITIONS = ("name", "relaxation", "over", "m", "n", "level")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--certified-games`` and the setting ``certified_games`` to pytest."""
    parser.getgroup("relaxboost").addoption(
        "--certified-games",
        action="append",
        metavar="DIR",
        help="a set of certified games, made by `relaxboost instances make`; may be repeated. "
        "Default: the setting certified_games, else the games that come with relaxboost",
    )
    parser.addini(
        "certified_games",
        type="paths",
        default=[],
        help="folders of sets of certified games, relative to this file",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker `certified_games`."""
    config.addinivalue_line(
        "markers",
        "certified_games(name=, relaxation=, over=, m=, n=, level=): run the test once for each "
        "certified game that meets the conditions, as its argument certified_game",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with the argument `certified_game` once for each game selected by its mark."""
    mark = metafunc.definition.get_closest_marker("certified_games")
    if "certified_game" not in metafunc.fixturenames:
        if mark in metafunc.definition.own_markers:
            raise pytest.Collector.CollectError(
                f"{metafunc.definition.name} has the mark certified_games, so it also needs the "
                "argument certified_game"
            )
        return
    try:
        if mark is not None and mark.args:
            raise TypeError("conditions must be keyword arguments, such as relaxation=rb.Capped")
        if mark is not None and (odd := sorted(mark.kwargs.keys() - _CONDITIONS)):
            raise TypeError(
                f"there is no condition {odd[0]!r}. The conditions are {', '.join(_CONDITIONS)}"
            )
        games = _load(metafunc.config)
        chosen = games.select(**mark.kwargs) if mark is not None else games
    except (TypeError, ValueError) as error:
        raise pytest.Collector.CollectError(f"the mark certified_games: {error}") from None
    metafunc.parametrize("certified_game", chosen.values(), ids=list(chosen), indirect=True)


def _load(config: pytest.Config) -> CertifiedGames:
    from relaxboost.instances import load

    if _GAMES not in config.stash:
        given = config.getoption("certified_games")
        config.stash[_GAMES] = load(*(given or config.getini("certified_games")))
    return config.stash[_GAMES]


@pytest.fixture(scope="session")
def certified_games(request: pytest.FixtureRequest) -> CertifiedGames:
    """Return a function that loads a certified game by name: ``certified_games("identity-3")``."""
    return _load(request.config)


@pytest.fixture
def certified_game(request: pytest.FixtureRequest) -> CertifiedGame:
    """Return a certified game. The test runs once for each game selected by its mark.

    A test without the mark `certified_games` runs once for each of the more than 100 games.
    """
    return _load(request.config)(request.param.name)
