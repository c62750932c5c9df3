"""What a verdict says, what an attack finds, and which claims there are."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from relaxboost import Game, InputError, KLPenalty, claims, reference
from relaxboost.claims import (
    Bracket,
    Choice,
    Distribution,
    Matrix,
    Real,
    Source,
    Space,
    Vector,
    Whole,
    assume,
    at_least,
    at_most,
    equal,
)
from relaxboost.commands.claims_text import summary
from tests.claims.toys import toy, without_time

INF = math.inf

SQUARES = Space(sizes={"m": (1, 5), "n": (1, 5)}, A=Matrix())


def half(x):
    return at_most(x.optimum(Game(x.A)), 0.5, "ρ")


WIDE = Space(sizes={"m": (2, 4), "n": (2, 3)}, A=Matrix())


def mixed(A):
    return (A[:, 0] + 2 * A[:, 1]) / 3


def scaled(x):
    return equal(3 * x.optimum(Game(x.A / 3)), x.optimum(Game(x.A)))


def with_mixed_column(x):
    more = np.column_stack([x.A, mixed(x.A)])
    return at_most(x.optimum(Game(more)), x.optimum(Game(x.A)))


def with_mixed_row(x):
    more = np.vstack([x.A, mixed(x.A.T)])
    return equal(x.optimum(Game(more)), x.optimum(Game(x.A)))


class TestVerdicts:
    @pytest.mark.parametrize("statement", [scaled, with_mixed_column, with_mixed_row])
    def test_rounding_of_a_computed_matrix_refutes_nothing(self, statement):
        claim = toy(statement, WIDE)
        assert claim.check(trials=20).status == "holds"
        assert claim.attack(budget=40).status == "holds"

    def test_status(self):
        assert toy(lambda x: at_most(x.x, 1)).check().status == "holds"
        assert toy(lambda x: at_most(x.x, 0.5)).check().status == "false as stated"
        wide = toy(lambda x: at_most(Bracket(0, 2), 1), resolution=0.1).check()
        assert (wide.status, wide.stated.counts["undecided"]) == ("undecided", 30)
        assert toy(lambda x: at_most(Bracket(0, 2), 1), resolution=1.0).check().status == "holds"
        assert toy(lambda x: at_most(Bracket(0, 2), -1)).check().status == "false as stated"
        some = toy(lambda x: at_most(Bracket(0, 2), 1) if x.x < 0.5 else at_most(1, 0)).check()
        assert some.status == "false as stated"  # where it is refuted counts for more

    @pytest.mark.parametrize(("trials", "many"), [(1, "optimum"), (2, "optima")])
    def test_one_optimum(self, trials, many):
        claim = toy(lambda x: at_most(x.optimum(Game(x.A)), 1, "ρ"), SQUARES)
        verdict = claim.check(trials=trials)
        shown = f"{verdict} {summary([verdict], [claim], 0.0)}"
        found = re.findall(r"\d+ certified optim\w+", shown)
        assert found == [f"{trials} certified {many}"] * 2

    def test_a_bracket_is_not_compared(self):
        for compared in (lambda x: Bracket(0, 1) <= x.x, lambda x: x.x > Bracket(0, 1)):
            with pytest.raises(InputError, match=r"Return at_most\(left, right\)"):
                toy(compared).check()

    def test_hypotheses(self):
        def large(x):
            assume(x.x > 0.5)
            return at_least(x.x, 0.5)

        verdict = toy(large).check()
        assert verdict.status == "holds"
        assert 0 < verdict.stated.tried == 30 - verdict.stated.counts["vacuous"] < 30

        def never(x):
            assume(False)

        verdict = toy(never).check()
        assert (verdict.status, verdict.agrees, verdict.decisive) == ("undecided", False, None)
        assert "30 vacuous" in str(verdict)
        assert toy(lambda x: ()).check().status == "undecided"

    def test_corrections(self):
        def made(*corrections, **options):
            claim = toy(half, SQUARES, **options)
            for correction in corrections:
                claim.corrected("ρ is at most that")(correction)
            return claim

        def entry(x):
            return at_most(x.optimum(Game(x.A)), float(np.abs(x.A).max()))

        def wrong(x):
            return at_most(x.optimum(Game(x.A)), 0.6)

        def wide(x):
            return at_most(Bracket(0, 2), 1)

        known = {"counterexamples": [{"A": [[1]]}]}
        for corrections, options, recorded, agrees in (
            ((), {}, "holds", False),
            ((), known, "false as stated", True),
            ((entry,), {}, "holds", False),
            ((entry,), known, "false as stated", True),
            ((entry, wrong), known, "false as stated", False),
            ((entry, wide), known, "false as stated", False),
            ((entry,), {**known, "ruling": "misprint"}, "misprint", True),
            ((entry, wrong), {**known, "ruling": "misprint"}, "misprint", False),
            ((entry, wrong), {**known, "ruling": "ambiguous"}, "ambiguous", True),
        ):
            verdict = made(*corrections, **options).check()
            assert (verdict.recorded, verdict.agrees) == (recorded, agrees)
            assert verdict.status == ("false as stated" if recorded == "holds" else recorded)

    def test_an_attack_prints_the_line_that_records_its_counterexample(self):
        space = Space(A=Matrix(), p=Distribution("m"), s=Choice("a", "b"))

        def check(x):
            return at_most(x.optimum(Game(x.A)), x.p.max() / 3)

        claim = toy(check, space)
        verdict = claim.attack(9)
        first, *_, line = str(verdict).splitlines()
        assert first == "TOY-it: false as stated; its author expects: holds"
        assert "    refuted: 1 > 0.333333, ratio 3.0000" in str(verdict)
        exec(line.removeprefix("  record it: "), {"check": claim})
        again = claim.check(1)
        assert again.agrees
        assert again.counterexample.slacks == verdict.counterexample.slacks
        assert again.counterexample.instance == verdict.counterexample.instance
        for quiet in (claim, toy(lambda x: at_most(1, 0)), claims.get("TEL-gradient")):
            assert "record it" not in str(quiet.attack(3))
        many = toy(check, space.but(sizes={"m": (40, 40)}))
        assert "record it" not in str(many.attack(1))

    def test_each_counterexample_on_record_has_to_refute(self):
        verdict = toy(half, SQUARES, counterexamples=[{"A": [[1]]}, {"A": [["3/4"]]}]).check(5)
        assert verdict.agrees
        assert [known.slack.left for known in verdict.stated.known] == [1.0, 0.75]
        assert [known["left"] for known in verdict.data()["stated"]["known"]] == [1.0, 0.75]
        verdict = toy(half, SQUARES, counterexamples=[{"A": [[1]]}, {"A": [["1/4"]]}]).check(5)
        assert verdict.status == verdict.recorded == "false as stated"
        assert not verdict.agrees
        assert "counterexample 2 on record does not refute it" in str(verdict)

        def positive(x):
            assume(x.A.min() > 0)
            return half(x)

        verdict = toy(positive, SQUARES, counterexamples=[{"A": [[1]]}, {"A": [[-1]]}]).check(5)
        assert verdict.idle == [2]
        assert verdict.data()["stated"]["known"][1] is None

    def test_the_same_seed_gives_the_same_evidence(self):
        claim = toy(half, SQUARES)
        one, two, other = (without_time(claim.check(seed=seed).data()) for seed in (0, 0, 1))
        assert one == two != other
        few, many = (claim.check(trials).stated.slacks for trials in (10, 20))
        assert many[:10] == few  # each instance depends on its number only

    def test_a_false_claim_is_found_and_shrunk(self):
        for seed in range(4):
            verdict = toy(half, SQUARES).attack(500, seed)
            assert verdict.status == "false as stated"
            found = verdict.counterexample
            assert found.instance == {"A": [[1]]}
            assert (found.slack.left, found.slack.right) == (1.0, 0.5)
            assert found.origin.endswith(", shrunk")
        # One instance refutes the claim, and a budget of 1 leaves one attempt to simplify it.
        few = next(
            found
            for seed in range(40)
            if (found := toy(half, SQUARES).attack(1, seed).counterexample) is not None
            and found.instance != {"A": [[1]]}
        )
        assert few.origin.endswith(", shrunk until the budget ended (a larger budget continues)")

        def signs(x):  # no rarer than one in a thousand, and not by a single column
            assume(x.A.shape[1] > 1)
            better = max(float(np.abs(x.A.min(axis=0)).max()), float(np.abs(x.A.max(axis=0)).max()))
            return at_most(x.optimum(Game(x.A)), 0.2 + 0.1 * better)

        (one, two) = (without_time(toy(signs, SQUARES).attack(500, 3).data()) for _ in range(2))
        assert one == two
        assert one["stated"]["status"] == "refuted"
        A = one["stated"]["counterexample"]["instance"]["A"]
        assert (len(A), len(A[0])) == (1, 2)
        assert all(isinstance(a, int) or "/" in a for row in A for a in row)

    def test_the_attack_climbs(self):
        """A ball that no instance drawn is in, nor next to, is reached step by step."""
        centre = np.array([0.73, 0.12, 0.41, 0.88, 0.29, 0.56])

        def narrow(x):
            return at_least(float(((x.v - centre) ** 2).sum()), 0.001)

        space = Space(sizes={"m": (6, 6)}, v=Vector(low=0))
        assert toy(narrow, space).check(800).stated.least.slack.right > 0.01
        verdict = toy(narrow, space).attack(2000)
        assert verdict.status == "false as stated"
        assert "of the attack" in verdict.counterexample.origin

    def test_a_true_claim_withstands(self):
        def norm(x):
            return at_most(x.optimum(Game(x.A)), float(np.abs(x.A).max()))

        verdict = toy(norm, SQUARES).attack(300)
        assert (verdict.status, verdict.counterexample) == ("holds", None)
        assert verdict.stated.tried == 300
        assert verdict.stated.least.slack.relative == pytest.approx(0, abs=1e-9)

    def test_an_error_names_the_claim_and_the_instance(self):
        def broken(x):
            return at_most(1 / (x.x - x.x), 1)

        with pytest.raises(ZeroDivisionError) as error:
            toy(broken, counterexamples=[{"x": "1/3"}]).check()
        assert error.value.__notes__ == ["in TOY-it, recorded counterexample 1: {'x': '1/3'}"]

    def test_data_is_json(self):
        verdict = toy(lambda x: at_most(5, INF)).check(3)
        assert verdict.status == "holds"
        text = json.dumps(verdict.data(), allow_nan=False)
        assert json.loads(text)["stated"]["least"]["right"] == "inf"

    @pytest.mark.parametrize("swallowed", [False, True])
    def test_an_attack_that_ctrl_c_ends_keeps_what_it_found(self, swallowed, monkeypatch):
        """Also where numba makes another error of it; a reference is no optimum then."""
        tried = []

        def third(x):
            tried.append(x)
            if len(tried) == 3 and swallowed:
                raise SystemError from KeyboardInterrupt()
            if len(tried) == 3:
                found = replace(reference(Game(x.A)), status="interrupted")
                monkeypatch.setattr("relaxboost.solvers.reference", lambda game: found)
                return at_most(x.optimum(Game(x.A, KLPenalty(0.1))), 1)
            return at_most(0, 1)

        claim = toy(half, SQUARES)
        claim.corrected("It is at most 1.")(third)
        verdict = claim.attack(500)
        assert verdict.interrupted
        assert not verdict.agrees
        assert verdict.counterexample.instance == {"A": [[1]]}
        assert str(verdict).startswith("TOY-it: interrupted; so far false as stated\n")
        assert [part.tried for part in verdict.corrections] == [2]
        for run in (claims.attack_all, claims.check_all):  # from the first instance on
            tried[:] = [None, None]
            assert list(run([toy(third, SQUARES)])) == []

    def test_wrong_arguments(self):
        claim = toy(half, SQUARES)
        for options in ({"trials": 0}, {"trials": True}, {"seed": -1}, {"seed": 0.5}):
            with pytest.raises(InputError, match="must be a whole number >="):
                claim.check(**options)
        with pytest.raises(InputError, match="budget must be a whole number >= 1, got 0"):
            claim.attack(0)
        with pytest.raises(InputError, match="seed must be a whole number >= 0, got -1"):
            claim.attack(10, -1)

    @pytest.mark.parametrize("check", [lambda x: x.x <= 1, lambda x: [x.x <= 1], lambda x: None])
    def test_a_check_that_measures_nothing(self, check):
        with pytest.raises(InputError, match=r"must return or yield at_most.*got (True|None)"):
            toy(check).check()

    def test_a_counterexample_that_is_no_instance(self):
        with pytest.raises(InputError, match=r"counterexample 2 of TOY-it: .* unknown: x, y"):
            toy(half, Space(x=Real(0, 1)), counterexamples=[{"x": 0}, {"y": 0}])

    @pytest.mark.parametrize(
        "make",
        [
            lambda: Real(1, 0),
            lambda: Real(0, 1, log=True),
            lambda: Whole(2, 1),
            Choice,
            lambda: Matrix(1, -1),
            lambda: Space(sizes={"m": (5, 1)}, A=Matrix()),
            lambda: Space(sizes={"m": (0, 1)}, A=Matrix()),
        ],
    )
    def test_ranges_with_nothing_in_them(self, make):
        with pytest.raises(InputError, match=r"needs?\b"):
            make()


class TestRegistry:
    def test_every_folder_with_a_source_is_one(self):
        folders = {
            file.parent.name for file in Path(claims.__file__).parent.glob("*/statements.toml")
        }
        known = claims.sources()
        assert {source.key.lower() for source in known} == folders
        assert [source.place for source in known] == sorted(source.place for source in known)
        ids = [claim.id for claim in claims.all()]
        assert len(ids) == len(set(ids))

    def test_a_source_of_the_package_says_where_it_is_listed(self):
        assert all(source.place < math.inf for source in claims.sources())
        assert Source("MINE", "").place == math.inf

    def test_defaults_of_a_check_are_declared(self):
        source = Source("TOY", "")
        declared = source.claim("it", "", "", formula="", space=Space(x=Real(0, 1)))
        claim = declared.checked(trials=7, resolution=1e-3)(half)
        assert (claim.trials, claim.resolution) == (7, 1e-3)
        plain = source.claim("other", "", "", formula="", space=Space(x=Real(0, 1)))(half)
        assert (plain.trials, plain.resolution) == (100, 1e-7)

    def test_unknown_ids_name_near_ones(self):
        with pytest.raises(InputError, match="no claim 'SS09-T9x'; did you mean SS09-T9"):
            claims.get("SS09-T9x")
        with pytest.raises(InputError, match="no source 'SS9'; did you mean SS09"):
            claims.all("SS9")
        assert claims.get("SS09-T9") in claims.all("SS09")

    def test_patterns_keep_the_order(self):
        chosen = claims.select(["SS09-T9-round?", "SS09-T9"], claims.all())
        assert [claim.id for claim in chosen] == ["SS09-T9", "SS09-T9-rounds"]
        assert claims.select([], claims.all()) == claims.all()

    def test_a_claim_is_shown_in_a_line(self):
        assert repr(claims.get("SS09-T9")) == "<Claim SS09-T9: false as stated>"

    def test_one_id_one_claim(self):
        source = Source("TOY", "")
        space = Space(x=Real(0, 1))
        source.claim("it", "", "", formula="", space=space)(half)
        with pytest.raises(InputError, match="the claim TOY-it already exists"):
            source.claim("it", "", "", formula="", space=space)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("x = 1", r"mine\.py defines no claims. It needs a Source"),
            ("import sys\nsys.exit(3)", r"mine\.py:2: SystemExit: 3"),
            ("import relaxboost.claims.ss09 as s\nS = s.SOURCE", "defines no claims"),
            ("from relaxboost.claims.rds04 import SOURCE", "defines no claims"),
            ("x = 1\ny = (", r"mine\.py:2: SyntaxError: "),
            ("x = 1\n\nimport nothing_of_that_name", r"mine\.py:3: ModuleNotFoundError: No module"),
            ("def f():\n    return 1 / 0\nf()", r"mine\.py:2: ZeroDivisionError: division by zero"),
            (
                "from relaxboost.claims import *\nS = Source('S', '')\nS.claim('a', '', '')",
                r"mine\.py:3: TypeError: .* 'space'",
            ),
            (
                "from relaxboost.claims import *\nS = Source('S', '')\n"
                "S.claim('a', '', 'x is small', space=Space(x=Real(0, 1)))",
                r"mine\.py:3: InputError: S-a needs formula",
            ),
        ],
    )
    def test_files_without_claims(self, tmp_path, text, message):
        (tmp_path / "mine.py").write_text(text)
        with pytest.raises(InputError, match=message):
            claims.load(tmp_path / "mine.py")

    def test_files_that_are_none(self, tmp_path):
        with pytest.raises(InputError, match=r"the file .*none\.py does not exist"):
            claims.load(tmp_path / "none.py")
        (tmp_path / "claims.txt").write_text("")
        with pytest.raises(InputError, match=r"claims\.txt is not a Python file"):
            claims.load(tmp_path / "claims.txt")


def test_sides_that_are_equal_up_to_the_resolution_are_called_tight():
    verdict = toy(lambda x: at_most(1e-13, 0.0), SQUARES).check(trials=2)
    assert "    least slack: 1e-13 <= 0 (tight), instance 0" in str(verdict)
    assert "(tight)" not in str(toy(lambda x: at_most(0.0, 1.0), SQUARES).check(trials=2))
