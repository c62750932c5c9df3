"""The machine itself: what is measured, where instances come from, what a verdict says."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxboost import Game, InputError, claims
from relaxboost.claims import (
    Bracket,
    Choice,
    Distribution,
    Matrix,
    Real,
    Source,
    Space,
    Vector,
    Weights,
    Whole,
    assume,
    at_least,
    at_most,
    equal,
)
from relaxboost.claims.measure import HOLDS, REFUTED, TIGHT, UNDECIDED
from tests.claims.toys import without_time

INF = math.inf
THIRD = Fraction(1, 3)
numbers = st.floats(-1e6, 1e6) | st.fractions(-100, 100, max_denominator=999)


def toy(check, space=None, **options):
    """Return a claim that no one else knows."""
    options = {"trials": 30, **options}
    source = Source("TOY", "")
    return source.claim("it", "", "", formula="", space=space or Space(x=Real(0, 1)), **options)(
        check
    )


class TestMeasure:
    def test_fractions_are_exact(self):
        slack = at_most(THIRD, THIRD)
        assert (slack.low, slack.high, slack.outcome(0.0)) == (0.0, 0.0, HOLDS)
        least = Fraction(1, 10**30)
        assert at_most(THIRD, THIRD - least).outcome(1.0) == REFUTED
        assert at_most(THIRD, THIRD + least).outcome(0.0) == HOLDS
        assert equal(THIRD, THIRD).outcome(0.0) == HOLDS
        assert equal(THIRD, THIRD + least).outcome(1.0) == REFUTED
        assert at_most(Fraction(0.1) + Fraction(0.2), Fraction(0.3)).outcome(1.0) == REFUTED

    def test_floats_are_granted_their_rounding(self):
        assert equal(0.1 + 0.2, 0.3).outcome(1e-7) == TIGHT
        assert at_most(0.1 + 0.2, 0.3).outcome(1e-7) == TIGHT
        assert at_most(1e6 * (0.1 + 0.2), 3e5).outcome(1e-5) == TIGHT
        assert at_most(0.3 + 1e-11, 0.3).outcome(1e-7) == REFUTED
        assert at_most(0.3 - 1e-11, 0.3).outcome(1e-7) == HOLDS

    @given(numbers, numbers, numbers, numbers)
    def test_intervals_hold_the_slack_and_are_rounded_outwards(self, a, b, c, d):
        left, right = Bracket(*sorted((a, b))), Bracket(*sorted((c, d)))
        slack = at_most(left, right)
        low = Fraction(right.lower) - Fraction(left.upper)
        high = Fraction(right.upper) - Fraction(left.lower)
        assert slack.low <= low <= high <= slack.high
        assert at_least(right, left) == slack
        assert -1.0 <= slack.relative <= 1.0
        same = equal(left, right)
        assert same.high <= 0.0
        assert same.low <= min(0, low, -high)
        if slack.high < 0 or slack.low > 0:
            assert same.outcome(0.0) == REFUTED

    @given(numbers, numbers, numbers, st.fractions(-9, 9, max_denominator=99))
    def test_brackets_are_added_and_scaled_exactly(self, a, b, c, factor):
        known = Bracket(*sorted((a, b)))
        total = known + c
        inside = Fraction(known.lower) + Fraction(c)
        assert total.lower <= inside <= total.upper
        assert (known - known).lower <= 0 <= (known - known).upper
        assert factor * known == known * factor
        assert (factor * known).lower == min(Fraction(a) * factor, Fraction(b) * factor)
        assert known.lower <= known.middle <= known.upper or float(known.lower) == known.middle

    def test_what_cannot_be_decided(self):
        known = Bracket(Fraction(1, 4), Fraction(3, 4))
        assert at_most(known, 1).outcome(0.0) == HOLDS
        assert at_most(known, THIRD).outcome(0.1) == UNDECIDED
        assert at_most(known, THIRD).outcome(0.5) == TIGHT
        assert at_most(1, known).outcome(10.0) == REFUTED
        assert equal(known, known).outcome(0.1) == UNDECIDED

    def test_infinities(self):
        assert at_most(INF, INF).outcome(0.0) == HOLDS
        assert at_most(-INF, -INF).outcome(0.0) == HOLDS
        assert at_most(5, INF).outcome(0.0) == HOLDS
        assert at_most(INF, 5).outcome(1.0) == REFUTED
        assert at_least(5, -INF).outcome(0.0) == HOLDS
        assert equal(INF, INF).outcome(0.0) == HOLDS
        assert equal(-INF, INF).outcome(1.0) == REFUTED
        above = Bracket(0, INF)
        assert at_most(above, INF).outcome(0.0) == HOLDS
        assert at_most(above, above).outcome(1.0) == UNDECIDED
        assert at_most(above, -1).outcome(1.0) == REFUTED
        assert at_most(-1, above).outcome(1.0) == HOLDS
        assert at_most(-above, 0).outcome(1.0) == HOLDS
        assert (above.middle, (-above).middle, Bracket(-INF, INF).middle) == (0.0, 0.0, 0.0)
        for slack in (at_most(above, 3), at_most(-above, above), at_most(INF, -INF), equal(5, INF)):
            assert not any(map(math.isnan, (slack.low, slack.high, slack.left, slack.relative)))

    def test_what_is_no_number(self):
        with pytest.raises(InputError, match="came out as nan"):
            at_most(math.nan, 1)
        with pytest.raises(InputError, match="a bracket needs lower <= upper"):
            Bracket(1, 0)
        with pytest.raises(InputError, match="a bracket needs lower <= upper"):
            Bracket(math.nan, 1)

    def test_in_words(self):
        assert str(at_most(0.3375, 0.3)) == "0.3375 <= 0.3, ratio 1.1250"
        assert str(at_most(0, 1, "ρ", 3)) == "0 <= 1 (ρ, round 3)"
        assert str(equal(THIRD, 1, "sum")) == "0.333333 = 1 (sum)"


EVERYTHING = Space(
    sizes={"m": (2, 5), "n": (1, 4)},
    A=Matrix(),
    B=Matrix(0.25, 0.75, axes=("m", "m")),
    v=Vector("m", -2, 3),
    d=Distribution(),
    w=Weights(radius=1.5),
    epsilon=Real(0.05, 0.5, log=True),
    x=Real(-1, 1),
    k=Whole(1, "m"),
    t=Whole(3, 9),
    p=Choice("1", "2", "inf"),
)


def is_inside(values):
    m, n = values["A"].shape
    assert 2 <= m <= 5
    assert 1 <= n <= 4
    assert values["B"].shape == (m, m)
    assert values["v"].shape == values["d"].shape == (m,)
    assert values["w"].shape == (n,)
    for name, low, high in (("A", -1, 1), ("B", 0.25, 0.75), ("v", -2, 3), ("d", 0, 1)):
        assert ((low <= values[name]) & (values[name] <= high)).all()
    assert values["d"].sum() == pytest.approx(1, abs=1e-15)
    assert sum(Fraction(abs(w)) for w in values["w"].tolist()) <= Fraction(1.5)
    assert 0.05 <= values["epsilon"] <= 0.5
    assert -1 <= values["x"] <= 1
    assert 1 <= values["k"] <= m
    assert 3 <= values["t"] <= 9
    assert values["p"] in ("1", "2", "inf")


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


class TestSpaces:
    def test_what_is_drawn_is_inside_and_is_spelled_exactly(self):
        for number in range(150):
            values = EVERYTHING.draw(np.random.default_rng([7, number]), number)
            is_inside(values)
            spelled = json.loads(json.dumps(EVERYTHING.spell(values)))
            assert same(EVERYTHING.read(spelled), values)
            assert same(EVERYTHING.draw(np.random.default_rng([7, number]), number), values)

    def test_steps_stay_inside(self):
        rng = np.random.default_rng(1)
        values = EVERYTHING.draw(rng)
        seen = set()
        for _ in range(600):
            before = {name: np.copy(value) for name, value in values.items()}
            near = EVERYTHING.neighbour(rng, values)
            assert same(before, values)  # nothing is changed in place
            is_inside(near)
            values = near
            seen.add(values["A"].shape)
        assert {m for m, _ in seen} == {2, 3, 4, 5}
        assert {n for _, n in seen} == {1, 2, 3, 4}

    def test_what_is_smaller_is_inside(self):
        rng = np.random.default_rng(2)
        seen = set()
        for number in range(12):
            values = EVERYTHING.draw(rng, number)
            seen.add(EVERYTHING.size(values, "m"))
            smaller = list(EVERYTHING.smaller(values))
            for simpler in smaller:
                is_inside(simpler)
            assert any(EVERYTHING.complexity(s) < EVERYTHING.complexity(values) for s in smaller)
            m = EVERYTHING.size(values, "m")
            if m > 2:
                fewer = EVERYTHING.without(values, "m", 0)
                assert EVERYTHING.size(fewer, "m") == m - 1
                assert np.array_equal(fewer["A"], values["A"][1:])
                assert np.array_equal(fewer["B"], values["B"][1:, 1:])
        assert 2 in seen

    @given(st.floats(-1, 1))
    def test_every_double_is_spelled_exactly(self, number):
        space = Space(sizes={"m": (1, 1), "n": (1, 1)}, A=Matrix(), x=Real(-1, 1))
        values = {"A": np.array([[number]]), "x": number}
        assert same(space.read(json.loads(json.dumps(space.spell(values)))), values)

    def test_short_fractions_are_spelled_so(self):
        space = Space(A=Matrix(), x=Real(0, 1))
        spelled = {"A": [["1/10", "-3/5"], [0, 1]], "x": "1/3"}
        assert space.spell(space.read(spelled)) == spelled

    @pytest.mark.parametrize(
        ("spelled", "message"),
        [
            ({"A": [[1]]}, "missing or not known: k, v$"),
            ({"A": [[1]], "k": 1, "v": [1], "z": 2}, "not known: z$"),
            ({"A": [[1, 2], [3]], "k": 1, "v": [1, 1]}, r"^A = \[\[1, 2\], \[3\]\] cannot be read"),
            ({"A": [1, 2], "k": 1, "v": [1, 1]}, "^A = .* needs 2 axes"),
            ({"A": [["one"]], "k": 1, "v": [1]}, "^A = .*'one'"),
            ({"A": [["1/0"]], "k": 1, "v": [1]}, "^A = .* cannot be read"),
            ({"A": None, "k": 1, "v": [1]}, "^A = None cannot be read"),
            ({"A": [[math.nan]], "k": 1, "v": [1]}, "^A = .* nan is no number"),
            ({"A": [[1]], "k": 1, "v": [1, 1]}, "^v has 2 entries along m, others 1$"),
            ({"A": [[1]], "k": 1.5, "v": [1]}, "^k = 1.5 cannot be read: a whole number"),
            ({"A": [[1]], "k": "1", "v": [1]}, "^k = '1' cannot be read"),
            ([1], "an instance maps names to values"),
        ],
    )
    def test_malformed_instances(self, spelled, message):
        with pytest.raises(InputError, match=message):
            Space(A=Matrix(), k=Whole(1, "m"), v=Vector()).read(spelled)

    def test_other_wrong_names(self):
        with pytest.raises(InputError, match=r"^p = '3' cannot be read: '3' is none of 1, 2"):
            Space(p=Choice("1", "2")).read({"p": "3"})
        with pytest.raises(InputError, match="no field has an axis k"):
            Space(sizes={"k": (1, 2)}, A=Matrix())
        with pytest.raises(AttributeError, match="this claim has no 'B'; its data: x"):
            _ = toy(lambda x: at_most(0, 1)).instance({"x": 1}).B

    def test_nothing_to_vary(self):
        claim = toy(lambda x: at_most(0, 1), Space(p=Choice("one")))
        assert claim.attack(10).status == "holds"

    def test_what_a_check_draws_itself_depends_on_the_data_alone(self):
        claim = toy(lambda x: at_most(0, 1))
        one, two = (claim.instance({"x": "1/3"}) for _ in range(2))
        assert one.rng.random() == two.rng.random() == one.rng.random()
        assert claim.instance({"x": "1/4"}).rng.random() != one.rng.random()


SQUARES = Space(sizes={"m": (1, 5), "n": (1, 5)}, A=Matrix())


def half(x):
    return at_most(x.optimum(Game(x.A)), 0.5, "ρ")


class TestVerdicts:
    def test_status(self):
        assert toy(lambda x: at_most(x.x, 1)).check().status == "holds"
        assert toy(lambda x: at_most(x.x, 0.5)).check().status == "fails"
        wide = toy(lambda x: at_most(Bracket(0, 2), 1), resolution=0.1).check()
        assert (wide.status, wide.stated.counts["undecided"]) == ("undecided", 30)
        assert toy(lambda x: at_most(Bracket(0, 2), 1), resolution=1.0).check().status == "holds"
        assert toy(lambda x: at_most(Bracket(0, 2), -1)).check().status == "fails"
        some = toy(lambda x: at_most(Bracket(0, 2), 1) if x.x < 0.5 else at_most(1, 0)).check()
        assert some.status == "fails"  # where it is refuted counts for more

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
                claim.corrected("")(correction)
            return claim

        def entry(x):
            return at_most(x.optimum(Game(x.A)), float(np.abs(x.A).max()))

        def wrong(x):
            return at_most(x.optimum(Game(x.A)), 0.6)

        def wide(x):
            return at_most(Bracket(0, 2), 1)

        known = {"counterexamples": [{"A": [[1]]}]}
        for corrections, options, status, recorded in (
            ((), {}, "fails", "holds"),
            ((), known, "fails", "fails"),
            ((entry,), {}, "holds with correction", "holds"),
            ((entry,), known, "holds with correction", "holds with correction"),
            ((entry, wrong), known, "fails", "holds with correction"),
            ((entry, wide), known, "undecided", "holds with correction"),
        ):
            verdict = made(*corrections, **options).check()
            assert (verdict.status, verdict.recorded) == (status, recorded)
            assert verdict.agrees == (status == recorded)

    def test_each_counterexample_on_record_has_to_refute(self):
        verdict = toy(half, SQUARES, counterexamples=[{"A": [[1]]}, {"A": [["3/4"]]}]).check(5)
        assert verdict.agrees
        assert [known.slack.left for known in verdict.stated.known] == [1.0, 0.75]
        assert [known["left"] for known in verdict.data()["stated"]["known"]] == [1.0, 0.75]
        verdict = toy(half, SQUARES, counterexamples=[{"A": [[1]]}, {"A": [["1/4"]]}]).check(5)
        assert verdict.status == verdict.recorded == "fails"
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
            assert verdict.status == "fails"
            found = verdict.counterexample
            assert found.instance == {"A": [[1]]}
            assert (found.slack.left, found.slack.right) == (1.0, 0.5)
            assert found.origin.endswith(", shrunk")

        def signs(x):  # no rarer than one in a thousand, and not by a single column
            assume(x.A.shape[1] > 1)
            better = max(float(np.abs(x.A.min(axis=0)).max()), float(np.abs(x.A.max(axis=0)).max()))
            return at_most(x.optimum(Game(x.A)), 0.2 + 0.1 * better)

        (one, two) = (without_time(toy(signs, SQUARES).attack(500, 3).data()) for _ in range(2))
        assert one == two
        assert one["stated"]["status"] == "fails"
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
        assert verdict.status == "fails"
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
        with pytest.raises(InputError, match=r"yields at_most, at_least or equal, not (True|None)"):
            toy(check).check()

    def test_a_counterexample_that_is_no_instance(self):
        with pytest.raises(InputError, match=r"counterexample 2 of TOY-it: .* not known: x, y"):
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
    def test_unknown_ids_name_near_ones(self):
        with pytest.raises(InputError, match="no claim 'SS09-T9x'; did you mean SS09-T9"):
            claims.get("SS09-T9x")
        with pytest.raises(InputError, match="no source 'SS9'; there are SS09"):
            claims.all("SS9")
        assert claims.get("SS09-T9") in claims.all("SS09")

    def test_patterns_keep_the_order(self):
        chosen = claims.select(["SS09-T9-round?", "SS09-T9"], claims.all())
        assert [claim.id for claim in chosen] == ["SS09-T9", "SS09-T9-rounds"]
        assert claims.select([], claims.all()) == claims.all()

    def test_a_claim_is_shown_in_a_line(self):
        assert repr(claims.get("SS09-T9")) == "<Claim SS09-T9: holds with correction>"

    def test_one_id_one_claim(self):
        source = Source("TOY", "")
        space = Space(x=Real(0, 1))
        source.claim("it", "", "", formula="", space=space)(half)
        with pytest.raises(InputError, match="there is a claim TOY-it already"):
            source.claim("it", "", "", formula="", space=space)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("x = 1", r"mine\.py defines no claims; it needs a Source"),
            ("import relaxboost.claims.ss09 as s\nS = s.SOURCE", "defines no claims"),
            ("from relaxboost.claims.rds04 import SOURCE", "defines no claims"),
            ("x = 1\ny = (", r"mine\.py:2: SyntaxError: "),
            ("x = 1\n\nimport nothing_of_that_name", r"mine\.py:3: ModuleNotFoundError: No module"),
            ("def f():\n    return 1 / 0\nf()", r"mine\.py:2: ZeroDivisionError: division by zero"),
            (
                "from relaxboost.claims import *\nS = Source('S', '')\nS.claim('a', '', '')",
                r"mine\.py:3: TypeError: .* 'formula' and 'space'",
            ),
        ],
    )
    def test_files_without_claims(self, tmp_path, text, message):
        (tmp_path / "mine.py").write_text(text)
        with pytest.raises(InputError, match=message):
            claims.load(tmp_path / "mine.py")

    def test_files_that_are_none(self, tmp_path):
        with pytest.raises(InputError, match=r"no file .*none\.py"):
            claims.load(tmp_path / "none.py")
        (tmp_path / "claims.txt").write_text("")
        with pytest.raises(InputError, match=r"claims\.txt is not a Python file"):
            claims.load(tmp_path / "claims.txt")
