"""A checker of VIPR certificates in fractions, which takes what two other checkers both take.

It was written from the specification of the format, https://github.com/scipopt/vipr, version 1.0,
and from the parser of cake_vipr, whose checker is verified down to machine code:
https://github.com/CakeML/cakeml, examples/vipr/vipr_checkerScript.sml. That parser reads lines:

* The first line after the comments is VER 1.0.
* The problem ends at a line that begins with DER, which has nothing after the count.
* Each line after it is one derivation.
* Numbers are integers or fractions.
* Terms are compared as they are written, so a coefficient 0 is an error.

Every point is compared with all constraints. viprchk does this since November 2024. The only
derivations are those by `lin`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

Terms = dict[int, Fraction]
_NUMBER = re.compile(r"-?\d+(/\d+)?")
_INDEX = re.compile(r"0|[1-9]\d*")
_SENSES = {"G": 1, "E": 0, "L": -1}


class RefusedError(ValueError):
    """The file does not prove what it says, or is no such file."""


def _must(holds: bool, why: str) -> None:
    if not holds:
        raise RefusedError(why)


@dataclass
class Constraint:
    """terms·x >= side, = side or <= side, by the sign of sense."""

    name: str
    terms: Terms
    sense: int
    side: Fraction

    def holds(self, x: Terms) -> bool:
        """Say whether a point, whose other entries are 0, satisfies it."""
        left = sum((a * x.get(j, Fraction(0)) for j, a in self.terms.items()), Fraction(0))
        return self.compares(left)

    def compares(self, left: Fraction) -> bool:
        """Say whether left >=, = or <= side."""
        if self.sense == 0:
            return left == self.side
        return self.sense * (left - self.side) >= 0

    def dominates(self, other: Constraint) -> bool:
        """Say whether it is absurd, or implies the other one, of the same terms, by its side."""
        if not self.terms and not self.compares(Fraction(0)):
            return True
        same = self.terms == other.terms and self.sense in (0, other.sense)
        return same and other.compares(self.side)


@dataclass
class Certificate:
    """What a file that was accepted says."""

    variables: list[str]
    minimise: bool
    objective: Terms
    constraints: list[Constraint]
    lower: Fraction | None
    upper: Fraction | None
    points: list[Terms]


class _Reader:
    """The words of one part of a file, one after another."""

    def __init__(self, text: str) -> None:
        self.words = iter(text.split())

    def word(self) -> str:
        found = next(self.words, None)
        _must(found is not None, "the file ends early")
        return str(found)

    def expect(self, *words: str) -> str:
        found = self.word()
        _must(found in words, f"{found!r} where {' or '.join(words)} should be")
        return found

    def index(self, below: int | None = None) -> int:
        found = self.word()
        _must(bool(_INDEX.fullmatch(found)), f"{found!r} is no index")
        _must(below is None or int(found) < below, f"index {found} is out of range")
        return int(found)

    def number(self, word: str | None = None) -> Fraction:
        found = self.word() if word is None else word
        _must(bool(_NUMBER.fullmatch(found)), f"{found!r} is no number")
        try:
            return Fraction(found)
        except ZeroDivisionError:
            raise RefusedError(f"{found} divides by zero") from None

    def end(self, of: str) -> Fraction | None:
        """Read a bound of the range, or the word for none."""
        found = self.word()
        return None if found == of else self.number(found)

    def terms(self, below: int, count: int | None = None) -> Terms:
        """Read the count, then index and value of each term, with no index twice and no value 0."""
        found: Terms = {}
        for _ in range(self.index() if count is None else count):
            j = self.index(below)
            _must(j not in found, f"index {j} stands twice")
            found[j] = self.number()
            _must(found[j] != 0, f"the value of index {j} is 0")
        return found

    def finish(self) -> None:
        """Raise unless every word was read."""
        word = next(self.words, None)
        _must(word is None, f"{word!r} is behind the end")

    def constraint(self, below: int, objective: Terms) -> Constraint:
        name, sense, side = self.word(), _SENSES[self.expect(*_SENSES)], self.number()
        first = self.word()
        if first == "OBJ":
            return Constraint(name, objective, sense, side)
        _must(bool(_INDEX.fullmatch(first)), f"{first!r} is no count")
        return Constraint(name, self.terms(below, int(first)), sense, side)


def _combined(multipliers: Terms, known: list[Constraint]) -> Constraint:
    """Return the sum of multiples of constraints; all inequalities must point the same way."""
    ways = {y * known[i].sense > 0 for i, y in multipliers.items() if known[i].sense}
    _must(len(ways) < 2, "a multiplier has the wrong sign")
    terms: Terms = {}
    for i, y in multipliers.items():
        for j, a in known[i].terms.items():
            terms[j] = terms.get(j, Fraction(0)) + y * a
    side = sum((y * known[i].side for i, y in multipliers.items()), Fraction(0))
    sense = (1 if ways.pop() else -1) if ways else 0
    return Constraint("", {j: a for j, a in terms.items() if a}, sense, side)


def read_vipr(text: str) -> Certificate:
    """Return what a certificate proves: lower <= optimum <= upper.

    Raises
    ------
    RefusedError
        For a file outside the format, a point that violates a constraint or costs too much, and
        a derivation that does not give the constraint or the bound.
    """
    lines = [line for line in text.split("\n") if line.split()]
    while lines and lines[0].startswith("%"):
        del lines[0]
    _must(bool(lines) and lines.pop(0).split() == ["VER", "1.0"], "the first line is not VER 1.0")
    ends = [k for k, line in enumerate(lines) if line.split()[0] == "DER"]
    _must(bool(ends), "no line begins with DER")
    file = _Reader(" ".join(lines[: ends[0]]))
    file.expect("VAR")
    n = file.index()
    names = [file.word() for _ in range(n)]
    _must(len(set(names)) == n, "two variables have one name")
    file.expect("INT")
    whole = {file.index(n) for _ in range(file.index())}
    file.expect("OBJ")
    minimise = file.expect("min", "max") == "min"
    objective = file.terms(n)
    file.expect("CON")
    m, bounds = file.index(), file.index()
    known = [file.constraint(n, objective) for _ in range(m)]
    _must(bounds <= m and all(len(c.terms) == 1 for c in known[:bounds]), "a bound is none")
    file.expect("RTP")
    file.expect("range")
    lower, upper = file.end("-inf"), file.end("inf")
    _must(lower is None or upper is None or lower <= upper, "the range is empty")
    found = Certificate(names, minimise, objective, known[:], lower, upper, [])
    file.expect("SOL")
    for _ in range(file.index()):
        file.word()
        found.points.append(file.terms(n))
    file.finish()
    _check_points(found, whole)
    _check_derivations(lines[ends[0] :], found, known)
    return found


def _check_points(found: Certificate, whole: set[int]) -> None:
    """Hold every point to all constraints, and the best to the bound that a point proves."""
    for x in found.points:
        for c in found.constraints:
            _must(c.holds(x), f"a point violates {c.name}")
        _must(all(x.get(j, Fraction(0)).denominator == 1 for j in whole), "a point is not whole")
    proved = found.upper if found.minimise else found.lower
    if proved is not None:
        bound = Constraint("", found.objective, -1 if found.minimise else 1, proved)
        _must(any(map(bound.holds, found.points)), "no point is as good as the range says")


def _check_derivations(lines: list[str], found: Certificate, known: list[Constraint]) -> None:
    """Add up each derivation, and compare the last one with the bound that it proves."""
    last_use: dict[int, int] = {}
    head = _Reader(lines.pop(0))
    head.expect("DER")
    derivations = head.index()
    head.finish()
    _must(len(lines) == derivations, "there is not one derivation a line")
    for line in lines:
        file = _Reader(line)
        given = file.constraint(len(found.variables), found.objective)
        file.expect("{")
        file.expect("lin")
        multipliers = file.terms(len(known))
        file.expect("}")
        for i in multipliers:
            _must(len(known) <= last_use.get(i, len(known)), f"constraint {i} was let go")
        _must(_combined(multipliers, known).dominates(given), f"{given.name} does not follow")
        last = file.number()
        file.finish()
        _must(last.denominator == 1 and last >= -1, f"{last} is no index")
        if last >= 0:
            last_use[len(known)] = int(last)
        known.append(given)
    proved = found.lower if found.minimise else found.upper
    if proved is not None:
        _must(derivations > 0, "nothing is derived")
        bound = Constraint("", found.objective, 1 if found.minimise else -1, proved)
        _must(known[-1].dominates(bound), "the last constraint is weaker than the range")
