"""Toy claims: one at a time, and files of them for what reads files."""

from relaxboost.claims import Real, Source, Space

TOYS = '''
"""Toy claims, true, false and corrected."""

import os
import time

import numpy as np

from relaxboost import Game
from relaxboost.claims import Matrix, Real, Source, Space, at_most

TOY = Source("TOY", "Toys (2025), of no use")
NUMBER = Space(x=Real(0, 1))


@TOY.claim("true", "Lemma 1", "x is at most 1.", formula="x ≤ 1", space=NUMBER).checked(trials=20)
def true(x):
    """By its range."""
    return at_most(x.x, 1, "x")


@TOY.claim(
    "margin",
    "Lemma 2",
    "No margin is above 1/2.",
    formula="ρ ≤ 1/2",
    given="entries in [−1, 1]",
    space=Space(sizes={"m": (1, 3), "n": (1, 3)}, A=Matrix()),
    counterexamples=[{"A": [["3/4"]]}, {"A": [[1, "9/10"]]}],
).checked(trials=20)
def margin(x):
    """One hypothesis may be right everywhere."""
    return at_most(x.optimum(Game(x.A)), 0.5, "ρ")


@margin.corrected("It is at most the largest entry.", "ρ ≤ max |a_ij|")
def margin_corrected(x):
    """By Hölder."""
    return at_most(x.optimum(Game(x.A)), float(np.abs(x.A).max()), "ρ")


TOY.unchecked("hard", "Sec. 3", "This is elegant.", "a matter of taste")
'''

HEAD = """
import os
import time

from relaxboost.claims import Real, Source, Space, at_most

X = Source("X", "a source")
NUMBER = Space(x=Real(0, 1))


def claim(name, check, **options):
    declared = X.claim(name, name, "x is at most 1", formula="x ≤ 1", space=NUMBER, **options)
    return declared.checked(trials=3)(check)


def true(x):
    return at_most(x.x, 1)


def raises(x):
    raise ZeroDivisionError("no x is small enough")


def dies(x):
    os._exit(7)


def slow(x):
    time.sleep(300)
    return at_most(x.x, 1)


def prints(x):
    print("a check prints this")
    return at_most(x.x, 1)


"""
"""What claims of a file under test are made with: a line ``claim("one", true)`` for each."""


def without_time(data):
    """Return data of verdicts without what differs from run to run."""
    if isinstance(data, list):
        return [without_time(entry) for entry in data]
    if not isinstance(data, dict):
        return data
    return {key: without_time(value) for key, value in data.items() if key != "seconds"}


def toy(check, space=None, trials=30, resolution=1e-7, **options):
    """Return a claim that no one else knows."""
    source = Source("TOY", "")
    declared = source.claim("it", "", "", formula="", space=space or Space(x=Real(0, 1)), **options)
    return declared.checked(trials=trials, resolution=resolution)(check)
