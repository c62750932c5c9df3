"""The pytest plugin: in another package's suite, by its entry point, at no cost to others."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.instances import assert_bracketed, load
from relaxboost.instances.sets import LARGER_GAMES
from tests.within import ROOT, run

EXAMPLE = ROOT / "examples" / "testing_another_package"


def test_the_example_catches_the_planted_bug_where_it_is(installed):
    result = run(installed, EXAMPLE, "-q", "-rf")
    assert result.returncode == 1, result.stdout + result.stderr
    failed = set(re.findall(r"^FAILED test_tinyboost\.py::(\S+)", result.stdout, re.MULTILINE))
    assert failed == {
        "test_value[single-column-with-ties.capped-k-2]",
        "test_value[single-column-with-ties.capped-k-3]",
        "test_value[opposite-rows-among-others.capped-k-3]",
    }
    assert "3 failed, 11 passed" in result.stdout
    assert "0.75 is above the certified upper bound by 0.25" in result.stdout
    assert "level:    exact" in result.stdout


def test_the_example_passes_with_the_bug_fixed(installed):
    result = run(installed, EXAMPLE, "-q", TINYBOOST_FIXED="1")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "14 passed" in result.stdout


def test_the_example_takes_three_lines():
    text = (EXAMPLE / "test_tinyboost.py").read_text()
    body = text.split("def test_value")[1].strip().splitlines()[1:]
    assert len(body) + text.count("import assert_bracketed") == 3


def test_the_file_of_the_tutorial_fails_as_the_tutorial_says(installed, tmp_path):
    text = (ROOT / "docs" / "my_solver.md").read_text()
    (code,) = re.findall(r'```python title="test_my_solver.py"\n(.*?)```', text, re.DOTALL)
    (tmp_path / "test_my_solver.py").write_text(code)
    result = run(installed, tmp_path, "-q", "-rf")
    (counts,) = re.findall(r"^(\d+ failed, \d+ passed) in", text, re.MULTILINE)
    assert counts in result.stdout
    shown = re.findall(r"^FAILED \S+", text, re.MULTILINE)
    assert shown
    assert all(line in result.stdout for line in [*shown, "test_my_solver[identity-2]"])


SUITE = """
def test_it(certified_games):
    print("found:", *certified_games)
"""


def test_which_games_are_offered(installed, own):
    (own / "test_it.py").write_text(SUITE)
    for setting, arguments in (
        ("certified_games = games", []),
        ("certified_games = nowhere", ["--certified-games=games"]),
    ):
        (own / "pytest.ini").write_text(f"[pytest]\naddopts = --strict-config\n{setting}\n")
        result = run(installed, own, "-q", "-s", *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        offered = result.stdout.split("found: ")[1].split("\n")[0].split(" ")
        assert offered == list(load(own / "games"))
    with pytest.raises(rb.InputError, match=r"nowhere has no index\.json\. Make or finish the set"):
        load(own / "nowhere")


def test_a_spoiled_game_is_not_handed_out(installed, own):
    (own / "test_it.py").write_text(
        'def test_it(certified_games):\n    certified_games("identity-3")\n'
        'def test_other(certified_games):\n    certified_games("identity-4")\n'
    )
    path = own / "games" / "identity-3.json"
    path.write_text(path.read_text().replace('"lower": "', '"lower": "1'))
    result = run(installed, own, "-q", "--certified-games", "games")
    assert result.returncode == 1
    assert "identity-3.json differs from the file that the index describes" in result.stdout
    assert "no certified game is called 'identity-4'" in result.stdout
    assert "did you mean identity-3" in result.stdout


MARKED = """
import pytest
import relaxboost as rb

def shape(certified_game):
    return certified_game.m, certified_game.relaxation

@pytest.mark.certified_games(relaxation=rb.Capped, over=rb.L1Ball, m=3)
def test_it(certified_game):
    assert shape(certified_game) == (3, rb.Capped(k=2))

def test_all(certified_game):
    assert certified_game.check()
"""


def test_a_mark_runs_a_test_on_each_game(installed, own):
    (own / "test_it.py").write_text(MARKED)
    result = run(installed, own, "-v", "--strict-markers", "--certified-games", "games")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "18 passed" in result.stdout
    assert "test_it[identity-3.capped-k-2] PASSED" in result.stdout
    assert "test_all[uniform-6x4-001.klpenalty-1-10] PASSED" in result.stdout


def test_marks_that_select_nothing_fail(installed, own):
    """Each in a file of its own, all in one run."""
    marks = [
        ("(relaxation=rb.Custom)\ndef test_it(certified_game)", "none of the 17 games in "),
        ("(relaxation='Capped')\ndef test_it(certified_game)", "got 'Capped'"),
        ("(rb.Capped(k=2))\ndef test_it(certified_game)", "conditions must be keyword arguments"),
        (
            "(relax=rb.Capped)\ndef test_it(certified_game)",
            "no condition 'relax'. The conditions are name",
        ),
        ("(m=3)\ndef test_it()", "test_it has the mark certified_games, so it also needs"),
    ]
    head = "import pytest\nimport relaxboost as rb\n"
    for number, (test, _) in enumerate(marks):
        text = f"{head}@pytest.mark.certified_games{test}: pass\n"
        (own / f"test_{number}.py").write_text(text)
    result = run(installed, own, "-q", "--certified-games", "games")
    assert result.returncode == 2, result.stdout + result.stderr
    told = re.split(r"^_+ ERROR collecting test_(\d)\.py _+$", result.stdout, flags=re.MULTILINE)
    said = dict(zip(map(int, told[1::2]), told[2::2], strict=True))
    assert sorted(said) == list(range(len(marks)))
    for number, (_, message) in enumerate(marks):
        assert message in said[number]
    assert "Traceback" not in result.stdout


EARLY = """
import numpy as np
import pytest
from scipy.optimize import linprog
import relaxboost as rb
from relaxboost.instances import assert_bracketed

def value(A, gap):
    \"\"\"Column generation for the hard margin, until its own bounds are within `gap`.\"\"\"
    m, n = A.shape
    B, used = np.hstack([A, -A]), [0]
    while True:  # min v over the simplex: edges of the columns in use at most v
        rows = np.hstack([B[:, used].T, -np.ones((len(used), 1))])
        sums = np.append(np.ones(m), 0.0)[None, :]
        bounds = [(0, None)] * m + [(0, None)]
        found = linprog(np.eye(m + 1)[m], rows, np.zeros(len(used)), sums, [1.0], bounds)
        edges = B.T @ found.x[:m]
        best = int(np.argmax(edges))
        if edges[best] - found.fun <= gap + 1e-12:
            return found.fun
        used.append(best)

@pytest.mark.certified_games(relaxation=rb.HardMargin, over=rb.L1Ball(1))
def test_early(certified_game):
    assert_bracketed(value(certified_game.A, 0.05), certified_game, tol=1e-7)

@pytest.mark.certified_games(relaxation=rb.HardMargin, over=rb.L1Ball(1))
def test_exact(certified_game):
    assert_bracketed(value(certified_game.A, 0.0), certified_game, tol=1e-7)
"""


def test_a_solver_that_stops_at_five_percent_is_caught(installed, tmp_path):
    """It is right on every corner case, where columns are few; so those do not suffice."""
    (tmp_path / "test_it.py").write_text(EARLY)
    result = run(installed, tmp_path, "-q", "-rf")
    assert result.returncode == 1, result.stdout + result.stderr
    failed = set(re.findall(r"^FAILED test_it\.py::test_early\[(\S+)\]", result.stdout, re.M))
    assert failed == set(load(LARGER_GAMES, relaxation=rb.HardMargin, over=rb.L1Ball))
    assert result.stdout.count("is below the certified lower bound by") >= len(failed)
    assert "test_exact" not in result.stdout.partition("short test summary")[2]


def test_nothing_heavy_is_imported_at_start_up(installed, tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import sys\ndef test_it():\n"
        "    assert 'relaxboost.instances.plugin' in sys.modules\n"
        "    heavy = {'numpy', 'scipy', 'numba', 'cvxpy', 'click'}\n"
        "    assert not heavy & set(sys.modules)\n"
    )
    result = run(installed, tmp_path, "-q")
    assert result.returncode == 0, result.stdout + result.stderr


class Claim:
    """A bracket by hand."""

    def __init__(self, lower, upper):
        self.lower, self.upper = Fraction(lower), Fraction(upper)


def test_values_in_the_bracket():
    third = Claim("1/3", "1/3")
    for value in (Fraction(1, 3), 1 / 3, np.float64(1 / 3), np.array([1 / 3]), np.array(1 / 3)):
        assert_bracketed(value, third)
    assert_bracketed(0.34, third, tol=0.01)
    assert_bracketed(Fraction(34, 100), third, tol=Fraction(1, 150))
    assert_bracketed(0, Claim(0, 0))
    assert_bracketed(np.int64(1), Claim(0, "3/2"))
    assert_bracketed(0.5, rb.certify(rb.reference(rb.Game(np.eye(2)))))


@pytest.mark.parametrize(
    ("value", "tol", "message"),
    [
        (0.5, 0, r"^0\.5 is above the certified upper bound by 0\.166667\n  value: +0\.5\n  bo"),
        (0.25, 0.01, r"^0\.25 is below the certified lower bound by 0\.0833333\n(.*\n)*.*0\.01"),
        (Fraction(33, 100), 0, r"is below the certified lower bound by 0\.00333333"),
        (0.33333333333333326, 0, "is below"),
        (Fraction(1 / 3), 0, "is below"),
        (float("nan"), 1, r"^nan is not a finite number\n"),
        (float("inf"), 1, "^inf is not a finite number"),
        (None, 0, "^None is not a finite number"),
        (True, 1, "^True is not a finite number"),
        ("1/3", 0, "^'1/3' is not a finite number"),
        (np.zeros(2), 1, "is not a finite number"),
        (1 / 3 + 0j, 0, "is not a finite number"),
    ],
)
def test_values_outside(value, tol, message):
    with pytest.raises(AssertionError) as error:
        assert_bracketed(value, Claim("1/3", "1/3"), tol=tol)
    assert re.search(message, str(error.value))


def test_the_message_says_where_the_proof_is():
    certified = load()("identity-3")
    with pytest.raises(AssertionError) as error:
        assert_bracketed(1, certified)
    lines = str(error.value).splitlines()
    assert lines[0] == "1 is above the certified upper bound by 0.666667"
    assert lines[4] == "  level:    exact"
    assert "identity-3: 3 x 3, HardMargin() over L1Ball(1) (builtin identity-3)" in lines[5]
    assert lines[6] == f"  proof:    relaxboost check {certified.path}"


def test_a_misspelt_name_has_the_nearest_ones():
    with pytest.raises(KeyError, match="identity-77; did you mean identity-7 or"):
        rb.instances.load()["identity-77"]


def test_wrong_arguments():
    for tol in (-1, float("nan"), "1"):
        with pytest.raises(rb.InputError, match="tol must be a number >= 0"):
            assert_bracketed(1, Claim(0, 1), tol=tol)
    with pytest.raises(rb.InputError, match=r"must be a certified game, .* got str"):
        assert_bracketed(1, "identity-3")
