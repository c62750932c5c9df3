"""What is no argument at all is refused with the thing, the rule and the remedy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb

HUGE, GRID = 10**400, np.zeros((2, 2))
GAME = rb.Game([[0.5, -1], [1, 0.25]], rb.Capped(1.5))


def certificate():
    return rb.certify(rb.solve(GAME))


CALLS = {
    "tol": (lambda v: rb.solve(GAME, v), [HUGE, Fraction(1, HUGE)], "must be a positive number"),
    "time": (lambda v: rb.solve(GAME, time_limit=v), [HUGE], "time_limit must be a positive"),
    "verbose": (
        lambda v: rb.solve(GAME, verbose=v),
        [None, "1", GRID],
        "verbose must be 0 for no output",
    ),
    "margins": (lambda v: rb.Capped(1).relaxed_margin([v]), [HUGE], "margins u to be numbers"),
    "p": (lambda v: rb.NormBall(v, 1), [GRID], "NormBall"),
    "level": (lambda v: rb.certify(rb.solve(GAME), level=v), [GRID], "level must be one of"),
    "form": (lambda v: certificate().export(v), [GRID], "(?s)unknown format .* choose one of vipr"),
    "save": (lambda v: certificate().save(v), [None, 3], "must be a path, .* got a (None|int)"),
    "check": (
        lambda v: rb.check_certificate(certificate() if v else v),
        [None, True],
        "a path, such as 'file.json', got a (NoneType|Certificate); pass a path",
    ),
    "load": (rb.claims.load, [None, b"x"], "a file name must be a path"),
    "claim": (
        rb.claims.get,
        [None, 9, ["SS09-T9"]],
        "the id of a claim must be a string such as 'SS09-T9'",
    ),
    "source": (rb.claims.all, [["SS09"], GRID], "there are SS09"),
    "patterns": (
        lambda v: rb.claims.select(v, rb.claims.all("RW05")),
        ["RW05-T1", None, [1], GRID],
        r"`patterns` must be a list of strings such as \['SS09-T\*'\]",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_argument_is_refused(name):
    call, values, said = CALLS[name]
    for value in values:
        with pytest.raises(rb.InputError, match=said):
            call(value)


NAMES = [
    (rb.solve, "eps", "pass the gap as tol"),
    (rb.solve, "max_iter", "pass the number of rounds as max_rounds"),
    (rb.solve, "solver", "pass a method of relaxboost as method, or call rb.reference"),
    (rb.solve, "seed", "leave it out"),
    (rb.solve, "max_round", "did you mean max_rounds"),
    (rb.solve, "xyz", "its arguments are game, tol, method"),
    (rb.functional.boost, "rounds", "pass the number of rounds as stopping="),
    (rb.functional.boost, "stoping", "did you mean stopping"),
]


@pytest.mark.parametrize(("function", "name", "remedy"), NAMES)
def test_an_unknown_name_of_an_argument_is_refused_with_a_remedy(function, name, remedy):
    with pytest.raises(
        rb.InputError, match=f"^{function.__name__} has no argument {name}; {remedy}"
    ):
        function(GAME, **{name: 1})
