"""The comparison of variants and versions: real processes on two small games."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "ablation.py"
SUITE = """
[[game]]
name = "signs"
group = "dense"
generator = "signs"
lean = 0.3
rows = 60
columns = 8
relaxation = "Capped(k=20)"
[[game]]
name = "stumps"
group = "stumps"
labelled = "halfspace"
noise = 0.1
rows = 50
features = 2
relaxation = "Capped(fraction=1/5)"
"""


def run(*words):
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return path


def test_a_version_is_compared_with_a_baseline_on_every_game(suite, tmp_path):
    out = tmp_path / "out.csv"
    variants = ["--variants", "auto", "interior-point"]
    done = run(
        "--suite", suite, "--tol", 1e-3, *variants, "--baseline", sys.executable, "--out", out
    )
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [(row["game"], row["variant"]) for row in rows] == [
        (game, variant)
        for game in ("signs", "stumps")
        for variant in ("baseline", "auto", "interior-point")
    ]
    for row in rows:
        assert row["status"] == "optimal"
        assert float(row["seconds"]) > 0.0
        assert float(row["gap"]) <= 1e-3
    assert "geometric mean of time / baseline" in done.stdout
    assert "| all (2)" in done.stdout


def test_a_baseline_that_dies_is_reported_and_the_rest_goes_on(suite, tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    done = run("--suite", suite, "--games", "signs", "--tol", 1e-3, "--baseline", broken)
    assert done.returncode == 0, done.stderr
    assert "* baseline on signs: died: exit status 3" in done.stdout
    assert "signs 0.001 auto: 0." in done.stderr


def test_a_pattern_that_no_game_fits_is_an_error(suite):
    done = run("--suite", suite, "--games", "x*")
    assert done.returncode == 2
    assert "--games 'x*' leaves no game" in done.stderr
