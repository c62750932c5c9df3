"""The examples print what they say they print, and draw."""

from __future__ import annotations

import ast
import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def printed(monkeypatch, capsys):
    """Run an example in this process, where warnings are errors; return what it prints.

    `test_docs` runs one in a process of its own.
    """

    def run(script, picture, *options):
        monkeypatch.setattr(sys, "argv", [str(script), str(picture), *options])
        status = None
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            status = end.code
        assert not status
        return capsys.readouterr().out

    return run


def test_prototype_at_a_reduced_size(tmp_path, printed):
    picture = tmp_path / "prototype.png"
    script = EXAMPLES / "prototype_a_relaxation.py"
    out = printed(script, picture, "--splits", "1", "--train", "60")
    assert out.count(" holds ") == 2  # (i) and (ii); the search cannot prove (iii)
    assert re.search(r"^\(iii\).* undecided .*no violation found$", out, re.MULTILINE)
    assert re.search(r"Conformance: \d\d checks passed .* none failed", out)
    brackets = re.findall(r"bracketed, numerical: +(\S+) <= rho <= (\S+)", out)
    (low, high), (lower, upper) = (tuple(map(float, pair)) for pair in brackets)
    assert high - low < 1e-7
    assert upper - lower <= 0.05
    assert lower <= high
    assert low <= upper
    assert "the brackets overlap: True" in out
    errors = re.findall(r"^ +(HardMargin|Capped|SoftCap)\(.*\) +([\d.]+)% on", out, re.MULTILINE)
    assert [name for name, _ in errors] == ["HardMargin", "Capped", "SoftCap"]
    assert all(0.0 < float(error) < 50.0 for _, error in errors)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_relaxation_in_full_keeps_its_promises(printed):
    lines = printed(EXAMPLES / "prove_a_relaxation.py", "").splitlines()
    assert lines[0].endswith(", enclosed")
    assert lines[1:] == ["the general solver agrees: True", "56 checks passed, none failed"]


def test_ensembles_are_certified_and_drawn(tmp_path, printed):
    picture = tmp_path / "ensembles.png"
    script = EXAMPLES / "certify_an_ensemble.py"
    out = printed(script, picture)
    rows = re.findall(r"^  (\w+Classifier) +(\S+) +(\S+) +(\S+) +(\d+)/(\d+)", out, re.MULTILINE)
    assert [name for name, *_ in rows] == 2 * [
        "AdaBoostClassifier",
        "GradientBoostingClassifier",
        "RandomForestClassifier",
    ]
    for _, margin, best, short, used, of in rows:
        assert float(short) > 0.0
        assert float(best) - float(margin) == pytest.approx(float(short), abs=3e-6)
        assert int(used) <= int(of)
    assert "all 12 certificates re-checked: True" in out
    assert "the ensemble is short of it by" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_any_convex_loss_is_minimised_and_drawn(tmp_path, printed):
    picture = tmp_path / "any.png"
    script = EXAMPLES / "any_convex_loss.py"
    out = printed(script, picture)
    rows = re.findall(r"^(\w+\(\S+\)) +(\S+) +(\S+) +(\S+)%$", out, re.MULTILINE)
    assert [name for name, *_ in rows] == [
        "Quantile(q=0.1)",
        "Quantile(q=0.5)",
        "Quantile(q=0.9)",
        "CustomLoss(too_low)",
    ]
    assert all(float(risk) < 0.5 * float(start) for _, start, risk, _ in rows)
    for (_, _, _, below), share in zip(rows, (10, 50, 90), strict=False):
        assert float(below) == pytest.approx(share, abs=5)
    low, high = map(float, re.search(r"(\S+) <= R_min <= (\S+)", out).groups())
    assert 0.0 < high - low < 1e-6 or high == low
    gaps = dict(re.findall(r"^(naive|repeated|residual) .* (\S+)$", out, re.MULTILINE))
    assert float(gaps["naive"]) > 0.08  # stuck
    assert 0.0 <= float(gaps["repeated"]) < 0.02
    assert 0.0 <= float(gaps["residual"]) < 0.001
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_definition_takes_under_20_lines():
    text = (EXAMPLES / "prototype_a_relaxation.py").read_text()
    definition = text.split("[start:definition]\n")[1].split("# --8<-- [end")[0]
    assert len(definition.strip().splitlines()) < 20


def test_costs_are_learned_from_paths_in_under_40_lines(tmp_path, printed):
    picture = tmp_path / "costs.png"
    script = EXAMPLES / "learn_costs_from_paths.py"
    assert script.read_text().count("\n") < 40
    out = printed(script, picture)
    low, high = map(float, re.search(r"(\S+) <= least loss <= (\S+)", out).groups())
    assert 0.0 < low <= high <= 1.002 * low
    step, slope, thicket = map(float, re.findall(r"\w+: (\d+\.\d+)", out))
    assert step == 1.0
    assert slope == pytest.approx(6.0, rel=0.25)
    assert thicket == pytest.approx(3.0, rel=0.25)
    before, after = map(int, re.findall(r"(\d+)% of the unseen arcs", out))
    assert before < 30
    assert after > 90
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_streams_are_learned_from_and_no_bound_is_broken(tmp_path, printed):
    picture = tmp_path / "online.png"
    script = EXAMPLES / "learn_from_a_stream.py"
    out = printed(script, picture, "--rows", "2000")
    rows = re.findall(r"^  (.+?) +regret +(\d+), proved .* most +(\d+)$", out, re.MULTILINE)
    assert [name for name, *_ in rows] == 2 * ["mirror descent", "EG", "GD"]
    regret = [float(one) for _, one, _ in rows]
    assert all(0.0 < float(one) < float(bound) for _, one, bound in rows)
    assert regret[1] < 0.7 * regret[2]  # the entropy where few matter
    assert regret[5] < regret[4]  # the squared norm where all do
    assert "bounds broken: 0" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_streets_and_trips_become_costs_in_eight_lines(tmp_path, printed):
    picture = tmp_path / "streets.png"
    script = EXAMPLES / "streets_to_costs.py"
    lines = script.read_text().split("[start:lines]\n")[1].split("# --8<-- [end")[0]
    assert len(lines.splitlines()) + 2 <= 8  # two imports
    page = (EXAMPLES.parent / "docs" / "path_costs.md").read_text()
    shown = [ast.unparse(ast.parse(block)) for block in re.findall(r"```py\n(.*?)```", page, re.S)]
    assert any(ast.unparse(ast.parse(lines)) in block for block in shown)  # wrapped on the page
    out = printed(script, picture)
    assert "self-loops left out: 1\nhighway is a list on 1 edges" in out
    assert len(re.findall(r"trip \d+: \(\d+, \d+, \d+\)", out)) == 3
    before, after = map(int, re.findall(r"(\d+)% of unseen trips", out))
    assert before < 90
    assert after >= 95
    assert re.search(r"^from 0 to 107: 0 [\d ]+ 107$", out, re.MULTILINE)
    assert picture.read_bytes().startswith(b"\x89PNG")
