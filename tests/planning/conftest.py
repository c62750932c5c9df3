"""A folder with files for `relaxboost plan`."""

from __future__ import annotations

import numpy as np
import pytest

from .command import ARCS, MAP, TASKS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(ARCS)
    (tmp_path / "trips.csv").write_text(TASKS)
    (tmp_path / "held_out.csv").write_text("path\nford work\nhome bridge work\n")
    (tmp_path / "nodes.csv").write_text("node,x,y\nhome,0,0\nbridge,1,1\nford,1,-1\nwork,2,0\n")
    rows = "\n".join(MAP)
    (tmp_path / "hall.map").write_text(f"type octile\nheight 4\nwidth 6\nmap\n{rows}\n")
    # The second is wrong: that path has length 4 + 2√2.
    lines = [(0, 0, 5, 3, 6 + 2**0.5), (0, 3, 5, 0, 2 + 3 * 2**0.5), (0, 0, 5, 0, 5.0)]
    problems = [f"0\thall.map\t6\t4\t{a}\t{b}\t{c}\t{d}\t{x:.8f}" for a, b, c, d, x in lines]
    (tmp_path / "hall.map.scen").write_text("\n".join(["version 1", *problems]) + "\n")
    (tmp_path / "cells.csv").write_text('path\n"0,0 1,0 2,0 3,0 3,1 3,2"\n"3,5 3,4 3,3"\n')
    rng = np.random.default_rng(0)
    layers = {"slope": rng.random((4, 6)), "free": np.array([[c != "@" for c in r] for r in MAP])}
    np.savez(tmp_path / "terrain.npz", **layers)
    return tmp_path
