"""What is measured, and where instances come from."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxboost import InputError
from relaxboost.claims import (
    Bracket,
    Choice,
    Distribution,
    Instance,
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
from relaxboost.game import Game
from tests.claims.toys import toy

INF = math.inf
THIRD = Fraction(1, 3)
numbers = st.floats(-1e6, 1e6) | st.fractions(-100, 100, max_denominator=999)


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

    def test_brackets_are_granted_the_rounding_of_the_matrix(self):
        point = Bracket(THIRD, THIRD)
        for off in (Fraction(1, 10**13), Fraction(1, 10**17)):
            for slack in (at_most(point, THIRD - off), equal(point, THIRD - off)):
                assert slack.outcome(1e-7) == TIGHT
                assert slack.relative == 0.0
        assert at_most(point, THIRD - Fraction(1, 10**11)).outcome(1e-7) == REFUTED
        assert at_most(Bracket(-math.inf, -math.inf), -1).outcome(0.0) == HOLDS
        assert at_least(Bracket(-math.inf, -math.inf), -1).outcome(1e-7) == REFUTED

    def test_what_is_no_number_is_refused(self):
        for wrong in ("a", None, [1.0, 2.0]):
            with pytest.raises(InputError, match=f"one number, got {type(wrong).__name__}"):
                at_most(wrong, 1)

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
        if slack.high < -slack.rounding or slack.low > slack.rounding:
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

    def test_quotients_may_be_beyond_the_range_of_floats(self):
        quotient = Bracket(1.0, 1.0) / Bracket(5e-324, 1.0)
        assert (quotient.lower, quotient.upper) == (1, 1 / Fraction(5e-324))
        assert quotient.middle == 1.0
        assert at_most(quotient, math.inf).outcome(0.0) == "holds"
        assert at_most(1, Bracket(2, quotient.upper)).high == math.inf

    @given(numbers, numbers, numbers, numbers, st.fractions(0, 1), st.fractions(0, 1))
    def test_brackets_are_multiplied_and_divided_exactly(self, a, b, c, d, s, t):
        one, other = Bracket(*sorted((a, b))), Bracket(*sorted((c, d)))
        x = Fraction(a) + s * (Fraction(b) - Fraction(a))
        y = Fraction(c) + t * (Fraction(d) - Fraction(c))
        product = one * other
        assert product.lower <= x * y <= product.upper
        corners = [Fraction(p) * Fraction(q) for p in (a, b) for q in (c, d)]
        assert (product.lower, product.upper) == (min(corners), max(corners))
        if other.lower <= 0 <= other.upper:
            with pytest.raises(InputError, match=r"which contains 0\. Skip such instances"):
                one / other
            return
        quotient = one / other
        assert quotient.lower <= x / y <= quotient.upper
        corners = [Fraction(p) / Fraction(q) for p in (a, b) for q in (c, d)]
        assert (quotient.lower, quotient.upper) == (min(corners), max(corners))
        assert (3 / other).lower == 3 / Fraction(max(c, d))

    def test_differences_of_brackets_without_end_may_be_anything(self):
        inf = math.inf
        assert Bracket(-inf, -inf) - Bracket(-inf, -1) == Bracket(-inf, inf)
        assert Bracket(-inf, 5) - Bracket(-inf, -1) == Bracket(-inf, inf)
        assert Bracket(inf, inf) + Bracket(-inf, -inf) == Bracket(-inf, inf)
        assert Bracket(1, inf) - Bracket(-inf, 1) == Bracket(0, inf)

    def test_brackets_without_end(self):
        above = Bracket(1, INF)
        for found, low, high in (
            (above * above, 1, INF),
            (above * Bracket(-1, 0), -INF, 0),
            (above * 0, 0, 0),
            (above * -2, -INF, -2),
            (1 / above, 0, 1),
            (above / above, 0, INF),
            (Bracket(0, 2) / above, 0, 2),
        ):
            assert (found.lower, found.upper) == (low, high)

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
        with pytest.raises(InputError, match="but the check has computed nan"):
            at_most(math.nan, 1)
        with pytest.raises(InputError, match="the interval of a Bracket needs lower <= upper"):
            Bracket(1, 0)
        with pytest.raises(InputError, match="the interval of a Bracket needs lower <= upper"):
            Bracket(math.nan, 1)

    def test_in_words(self):
        assert str(at_most(0.3375, 0.3)) == "0.3375 > 0.3, ratio 1.1250"
        assert str(at_most(0, 1, "ρ", 3)) == "0 <= 1 (ρ, round 3)"
        assert str(equal(1, 1, "sum")) == "1 = 1 (sum)"
        assert str(equal(THIRD, 1, "sum")) == "0.333333 != 1 (sum)"
        # The ratio of negative sides would read as a violation.
        assert str(at_most(-0.347081, -0.27234)) == "-0.347081 <= -0.27234"


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
            written = json.loads(json.dumps(EVERYTHING.to_json(values)))
            assert same(EVERYTHING.from_json(written), values)
            assert same(EVERYTHING.draw(np.random.default_rng([7, number]), number), values)

    def test_ends_may_be_fractions(self):
        field = Real("1/10", "9/10")
        assert (field.low, field.high) == (0.1, 0.9)
        for wrong in (("a", 1), (None, 1), ("1/0", 1)):
            with pytest.raises(InputError, match=r"Real needs two numbers, such as Real\(0, 1\)"):
                Real(*wrong)

    def test_instances_included_are_drawn_first(self):
        space = Space(x=Real(0, 1)).including({"x": "1/3"}, {"x": 0})
        drawn = [space.draw(np.random.default_rng(0), number)["x"] for number in range(3)]
        assert drawn[:2] == [1 / 3, 0]
        assert drawn[2] not in drawn[:2]

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

    @pytest.mark.parametrize("simple", [Fraction(2, 3), Fraction(3, 10), Fraction(5, 8)])
    def test_numbers_near_a_fraction_become_the_fraction(self, simple):
        number = float(simple)
        assert number in Real(0.0, 1.0).simpler(number + 1e-5)
        A = np.array([[number + 1e-5, 1.0 - 1e-5]])
        assert [[number, 1.0]] in [rounded.tolist() for rounded in Matrix().simpler(A)]

    def test_the_optimum_of_a_large_polyhedral_game_is_a_point(self):
        game = Game(np.random.default_rng(0).choice([-1.0, 1.0], (150, 140)))
        bracket = Instance({}, {}).optimum(game)
        assert bracket.lower == bracket.upper

    def test_the_optimum_of_a_huge_polyhedral_game_is_computed_in_doubles(self):
        # In exact arithmetic, it would take minutes.
        game = Game(np.random.default_rng(0).uniform(-1.0, 1.0, (500, 250)))
        bracket = Instance({}, {}).optimum(game)
        assert 0.0 < bracket.upper - bracket.lower < 1e-5

    @given(st.floats(-1, 1))
    def test_every_double_is_spelled_exactly(self, number):
        space = Space(sizes={"m": (1, 1), "n": (1, 1)}, A=Matrix(), x=Real(-1, 1))
        values = {"A": np.array([[number]]), "x": number}
        assert same(space.from_json(json.loads(json.dumps(space.to_json(values)))), values)

    def test_short_fractions_are_spelled_so(self):
        space = Space(A=Matrix(), x=Real(0, 1))
        written = {"A": [["1/10", "-3/5"], [0, 1]], "x": "1/3"}
        assert space.to_json(space.from_json(written)) == written

    @pytest.mark.parametrize(
        ("written", "message"),
        [
            ({"A": [[1]]}, "Missing or unknown: k, v$"),
            ({"A": [[1]], "k": 1, "v": [1], "z": 2}, "unknown: z$"),
            ({"A": [[1, 2], [3]], "k": 1, "v": [1, 1]}, r"^A = \[\[1, 2\], \[3\]\] cannot be read"),
            ({"A": [1, 2], "k": 1, "v": [1, 1]}, "^A = .* the array needs 2 axes"),
            ({"A": [["one"]], "k": 1, "v": [1]}, "^A = .*'one'"),
            ({"A": [["1/0"]], "k": 1, "v": [1]}, "^A = .* cannot be read"),
            ({"A": None, "k": 1, "v": [1]}, "^A = None cannot be read"),
            ({"A": [[math.nan]], "k": 1, "v": [1]}, "^A = .* nan is not allowed"),
            (
                {"A": [[1]], "k": 1, "v": [1, 1]},
                "^all fields must have the same size along m, but v has 2 entries",
            ),
            (
                {"A": [[1]], "k": 1.5, "v": [1]},
                "^k = 1.5 cannot be read: the value must be a whole number, got 1.5",
            ),
            ({"A": [[1]], "k": "1", "v": [1]}, "^k = '1' cannot be read"),
            ([1], "an instance must be a mapping from names to values"),
        ],
    )
    def test_malformed_instances(self, written, message):
        with pytest.raises(InputError, match=message):
            Space(A=Matrix(), k=Whole(1, "m"), v=Vector()).from_json(written)

    def test_other_wrong_names(self):
        with pytest.raises(InputError, match=r"^p = '3' cannot be read: '3' is none of 1, 2"):
            Space(p=Choice("1", "2")).from_json({"p": "3"})
        with pytest.raises(InputError, match="no field has an axis k"):
            Space(sizes={"k": (1, 2)}, A=Matrix())
        with pytest.raises(
            AttributeError, match=r"an instance of this claim has no 'B'\. Its fields are x"
        ):
            _ = toy(lambda x: at_most(0, 1)).instance({"x": 1}).B

    @pytest.mark.parametrize("space", [{"x": Real(0, 1)}, {}, Space])
    def test_a_space_is_no_dictionary(self, space):
        claim = toy(lambda x: at_most(0, 1))
        message = "^TOY-.*: space must be a Space, got a (dict|type); write, for example, space=Sp"
        with pytest.raises(InputError, match=message):
            claim.source.claim("b", "1", "x", formula="x", space=space)
        with pytest.raises(InputError, match=message):
            claim.step("x", space=space)(lambda x: at_most(0, 1))

    def test_arguments_of_the_wrong_method(self):
        claim = toy(lambda x: at_most(0, 1))
        for method, name, said in (
            (claim.attack, "trials", "attack has no argument trials; pass budget=, the number"),
            (claim.check, "budget", "check has no argument budget; pass trials=, the number"),
            (claim.attack, "x", "attack has no argument x; its arguments are budget, seed"),
        ):
            with pytest.raises(InputError, match=f"^{said}"):
                method(**{name: 20})

    def test_nothing_to_vary(self):
        claim = toy(lambda x: at_most(0, 1), Space(p=Choice("one")))
        assert claim.attack(10).status == "holds"

    def test_what_a_check_draws_itself_depends_on_the_data_alone(self):
        claim = toy(lambda x: at_most(0, 1))
        one, two = (claim.instance({"x": "1/3"}) for _ in range(2))
        assert one.rng.random() == two.rng.random() == one.rng.random()
        assert claim.instance({"x": "1/4"}).rng.random() != one.rng.random()


def test_quantities_are_numbers_and_rows_of_one_length():
    with pytest.raises(InputError, match="one number, got list"):
        at_most([1.0], 2.0)
    with pytest.raises(InputError, match="all rows of a matrix must have the same length"):
        Space(A=Matrix()).from_json({"A": [[1, 2], [3]]})


def test_hypotheses_come_before_inequalities():
    def late(x):
        yield at_most(1, 0)
        assume(False)

    source = Source("T", "a toy")
    claim = source.claim("a", "1", "x", formula="x", space=Space(x=Real(0, 1)))(late)
    with pytest.raises(InputError, match="must come before the first inequality"):
        claim.check(trials=1)


def test_a_claim_that_hardly_anything_meets_is_undecided():
    def rare(x):
        assume(0.96 < x.x < 0.985)
        return at_most(0, 1)

    source = Source("T", "a toy")
    claim = source.claim("a", "1", "x", formula="x", space=Space(x=Real(0, 0.99)))(rare)
    verdict = claim.check(trials=100)
    assert 0 < verdict.stated.tried < 5
    assert verdict.status == "undecided"
    assert "\n  too few instances meet the hypotheses; give more --trials\n" in str(verdict)
    assert "\n  too few instances meet the hypotheses; give more --budget\n" in str(claim.attack(5))


def test_structural_ranges_are_enforced_when_an_instance_is_read():
    with pytest.raises(InputError, match="d = \\[7, 0\\] is outside its range"):
        Space(d=Distribution()).from_json({"d": [7, 0]})
    with pytest.raises(
        InputError, match=r"k = 5 is outside its range\. The nearest valid value is 2"
    ):
        Space(A=Matrix(), k=Whole(1, "m")).from_json({"A": [[1], [1]], "k": 5})


def test_a_check_cannot_change_the_arrays_of_its_instance():
    def shrink(x):
        A = x.A
        A /= 2.0
        return at_most(A.max(), x.A.max())

    claim = toy(shrink, Space(sizes={"m": (2, 2), "n": (1, 1)}, A=Matrix()))
    with pytest.raises(ValueError, match="read-only"):
        claim.attack(budget=5)


def test_an_attack_rejects_a_check_that_refutes_an_instance_only_once():
    results = iter([at_most(2, 1), *[at_most(1, 2)] * 100])
    claim = toy(lambda x: next(results), Space(sizes={"m": (2, 2), "n": (1, 1)}, A=Matrix()))
    with pytest.raises(InputError, match=r"only the first time. Draw random numbers from x\.rng"):
        claim.attack(budget=5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Space(A=3), r"A must be a field, such as Matrix\(\)"),
        (lambda: Space(A=Matrix(), rng=Real(0, 1)), "must not be called 'rng'"),
        (lambda: Space(A=Matrix(), k=Whole(1, "z")), "the bound 'z' of k must be a number"),
        (lambda: Space(sizes={"m": 2}, A=Matrix()), r"pairs \(least, largest\)"),
    ],
)
def test_a_space_rejects_wrong_fields_and_sizes(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_optimum_needs_a_game():
    claim = toy(lambda x: at_most(x.optimum(x.A), 1), Space(A=Matrix()))
    with pytest.raises(InputError, match=r"optimum needs a game, got ndarray"):
        claim.check(trials=1)
