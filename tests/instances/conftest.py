"""A small set of certified games, made once."""

from __future__ import annotations

import shutil

import pytest

import relaxboost as rb

SPEC = """
relaxations = ["HardMargin()", "Capped(k=2)", "KLPenalty(1/10)"]
[[game]]
generator = "uniform"
rows = 6
columns = 4
count = 3
[[game]]
name = "over-the-simplex"
generator = "ties"
rows = 5
columns = 5
seed = 4
over = "Simplex()"
relaxations = { plain = "HardMargin()", both = "Capped(k=3/2) + NormPenalty(inf, 1/4)" }
[[game]]
builtin = ["matching-pennies", "identity-3"]
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The specification and the directory, not to be written to."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "games.toml").write_text(SPEC)
    rb.instances.make(folder / "games.toml", folder / "games")
    return folder


@pytest.fixture
def own(made, tmp_path):
    """A copy to spoil."""
    shutil.copytree(made, tmp_path / "own")
    return tmp_path / "own"
