"""A folder with files for `relaxboost plan`."""

from __future__ import annotations

import pytest

from .command import ARCS, TASKS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(ARCS)
    (tmp_path / "trips.csv").write_text(TASKS)
    (tmp_path / "held_out.csv").write_text("path\nford work\nhome bridge work\n")
    (tmp_path / "nodes.csv").write_text("node,x,y\nhome,0,0\nbridge,1,1\nford,1,-1\nwork,2,0\n")
    return tmp_path
