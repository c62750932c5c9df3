"""Claims as tests: in another package's suite, by the entry point, at no cost to others."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

from tests.within import ROOT, run

EXAMPLE = ROOT / "examples" / "claims_of_my_own"


def test_the_example(installed):
    result = run(installed, EXAMPLE, "-v", "--relaxboost-claims-trials", "20")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "test_claims.py::MINE-stacked PASSED" in result.stdout
    assert "test_claims.py::MINE-beside PASSED" in result.stdout
    assert "2 passed" in result.stdout


def test_the_false_claim_of_the_example_fails_without_its_counterexample(installed, tmp_path):
    text = (EXAMPLE / "test_claims.py").read_text()
    record = '    counterexamples=[{"A": [[0], [1]], "B": [[1], [0]]}],\n'
    assert record in text
    (tmp_path / "test_claims.py").write_text(text.replace(record, ""))
    result = run(installed, tmp_path, "-q", "--relaxboost-claims-trials", "20")
    assert result.returncode == 1
    assert "1 failed, 1 passed" in result.stdout
    assert "FAILED test_claims.py::MINE-beside" in result.stdout
    assert "MINE-beside: false as stated; its author expects: holds" in result.stdout
    assert "refuted: " in result.stdout
    again = "again: relaxboost claims check MINE-beside --file test_claims.py --trials 20 --seed 0"
    assert again in result.stdout
    assert "Traceback" not in result.stdout


TOY = """
from relaxboost.claims import Real, Source, Space, at_most
from relaxboost.claims import get

TOY = Source("TOY", "a toy")


@TOY.claim("half", "1", "x is at most 1/2", formula="x <= 1/2", space=Space(x=Real(0, 1)))
def half(x):
    return at_most(x.x, 0.5)


@TOY.claim("one", "2", "x is at most 1", formula="x <= 1", space=Space(x=Real(0, 1)))
def one(x):
    return at_most(x.x, 1)


@TOY.claim("broken", "3", "x is", formula="x", space=Space(x=Real(0, 1)))
def broken(x):
    return at_most(x.y, 1)


class TestClass:
    inner = one


def test_plain():
    assert half.id == "TOY-half"
"""


def test_options_selection_and_errors(installed, tmp_path):
    (tmp_path / "test_toy.py").write_text(TOY)
    result = run(installed, tmp_path, "-q", "-rf")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "2 failed, 2 passed" in result.stdout
    assert "TOY-half: false as stated; its author expects: holds" in result.stdout
    assert "an instance of this claim has no 'y'. Its fields are x" in result.stdout
    assert "in TOY-broken, instance 0: {'x': " in result.stdout
    result = run(installed, tmp_path, "-v", "-k", "TOY-one or test_plain")
    assert "2 passed, 2 deselected" in result.stdout
    result = run(installed, tmp_path, "--relaxboost-claims-trials=0")
    assert result.returncode == 4
    assert "--relaxboost-claims-trials: must be a whole number >= 1, got 0" in result.stderr
    seeds = [["--relaxboost-claims-seed", str(seed)] for seed in (0, 1, 1)]
    few = ["-q", "--relaxboost-claims-trials=4", "test_toy.py::TOY-half"]
    texts = [run(installed, tmp_path, *few, *seed).stdout for seed in seeds]
    found = [text.partition("as stated:")[2].partition("again:")[0] for text in texts]
    assert re.search(r"refuted by [1-4] of 4 instances", found[0])
    assert found[0] != found[1] == found[2]


def test_ctrl_c_ends_the_tests(installed, tmp_path):
    """What a check returns then is the verdict so far."""
    presses = (
        "def one(x, seen=[]):\n    seen.append(x)\n    if len(seen) == 3: raise KeyboardInterrupt"
    )
    (tmp_path / "test_toy.py").write_text(TOY.replace("def one(x):", presses))
    result = run(installed, tmp_path, "-q", "-k", "TOY-one or test_plain")
    assert result.returncode == 2, result.stdout + result.stderr
    assert "KeyboardInterrupt" in result.stdout
    assert "passed" not in result.stdout


def test_claims_of_the_package_can_be_imported(installed, tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import relaxboost as rb\nrounds = rb.claims.get('SS09-T9-rounds')\n"
    )
    result = run(installed, tmp_path, "-v", "--relaxboost-claims-trials=3")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "test_it.py::SS09-T9-rounds PASSED" in result.stdout


def test_nothing_heavy_is_imported_before_a_claim_is_met(installed, tmp_path):
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent(
            """
            import sys

            class Proxy:
                def __getattribute__(self, name):
                    raise RuntimeError("there is nobody to ask")

            proxy = Proxy()

            def test_it():
                assert "relaxboost.claims.plugin" in sys.modules
                assert "relaxboost.claims.claim" not in sys.modules
                assert not {"numpy", "scipy", "numba", "cvxpy", "click"} & set(sys.modules)
            """
        )
    )
    result = run(installed, tmp_path, "-q")
    assert result.returncode == 0, result.stdout + result.stderr


def test_importing_the_claims_is_cheap():
    code = "import sys, relaxboost.claims as c; print(*sys.modules, len(dir(c)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "numba", "click"} & set(out.stdout.split())


def test_the_suite_of_the_package_is_not_a_suite_of_claims(pytestconfig):
    assert not pytestconfig.pluginmanager.has_plugin("relaxboost_claims")
