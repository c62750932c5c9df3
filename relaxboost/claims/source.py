"""Sources of claims: papers and lectures. TOML files contain the texts of the claims."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from relaxboost._core.errors import InputError, error_prefix
from relaxboost.claims.claim import Claim
from relaxboost.claims.record import (
    AMBIGUOUS,
    ILLEGIBLE,
    MISPRINT,
    OPEN,
    Check,
    Enumeration,
    Statement,
    Unchecked,
    stated_by,
)
from relaxboost.claims.spaces import Space, checked_space

DISPLAYS = "displays"
"""The value of `Claim.part_of` for displayed formulas and remarks outside of theorems and lemmas.
"""


@dataclass(frozen=True)
class Misprint:
    """A misprint in a paper or lecture, with its row in the table of errata."""

    id: str
    """The unique name of the misprint: the id of the claim that refutes the printed text, if there
    is one."""
    place: str
    """The place of the misprint in the source, e.g. "p. 8, Eq. 12"."""
    printed: str
    """The misprint as printed."""
    read: str
    """The text that the authors meant."""
    harm: str
    """The consequence for the reader."""


@dataclass(frozen=True)
class Line:
    """A displayed formula, definition, statement or remark of a source, and the claims about it."""

    place: str
    """The place in the source, e.g. "Eq. 5"."""
    ids: tuple[str, ...]
    """The ids of the claims, misprints and unchecked statements about this line."""
    reason: str
    """The reason why there are no claims about this line. It is empty if there are claims."""


@dataclass(frozen=True)
class Declaration:
    """A decorator that makes a claim from its check. `Source.claim` returns it."""

    source: Source
    stated: Callable[[Check], Statement]
    """A function that turns the check into a `Statement`."""
    fields: Mapping[str, Any]
    """The other arguments of the declared `Claim`, by name."""

    def checked(
        self, *, trials: int = 100, resolution: float = 1e-7, every: Enumeration | None = None
    ) -> Declaration:
        """Return a copy of the decorator with other default options for the check.

        Parameters
        ----------
        trials : int
            The number of instances to draw.
        resolution : float
            The tolerance for equality of the two sides, as in `Claim`. Use a larger value if a
            check compares numerical optima.
        every : Enumeration, optional
            All instances of a finite space. The check then examines all of them and draws none.
        """
        more = {"trials": trials, "resolution": resolution, "every": every}
        return replace(self, fields={**self.fields, **more})

    def __call__(self, check: Check) -> Claim:
        claim = Claim(source=self.source, stated=self.stated(check), **self.fields)
        self.source.claims[claim.id] = claim
        return claim


class Source:
    """A paper or lecture, with its claims in text order.

    Parameters
    ----------
    key : str
        The prefix of the ids of its claims, e.g. "SS09".
    reference : str
        The authors, the year, the title, and the journal or the address.
    place : float
        A number by which the sources of the package are sorted. By default the source comes last.
    """

    def __init__(self, key: str, reference: str, *, place: float = math.inf) -> None:
        self.key = key
        self.reference = reference
        self.place = place
        self.moved: dict[str, str] = {}
        """The new place of each former claim name: another claim name, "errata" or "displays"."""
        self.notation = ""
        """The explanation of the symbols on the documentation pages of the source."""
        self.claims: dict[str, Claim] = {}
        self.not_checked: list[Unchecked] = []
        self.lines: list[Line] = []
        self._texts: Mapping[str, Mapping[str, Any]] = {}
        self._misprints: list[Misprint] = []
        self._table = ""

    @classmethod
    def read(cls, path: Path) -> Source:
        """Read a paper or lecture, with its claims and formulas, from a TOML file."""
        written = tomllib.loads(path.read_text(encoding="utf-8"))
        source = cls(written["key"], written["reference"], place=written.get("place", math.inf))
        source.moved = written.get("moved", {})
        source.notation = written.get("notation", "")
        source._texts = written.get("claim", {})
        source._table = written.get("lines", "")
        for name, one in written.get("unchecked", {}).items():
            source.unchecked(name, one["location"], one["words"], one["reason"])
        for name, one in written.get("misprint", {}).items():
            source._misprints.append(Misprint(f"{source.key}-{name}", **one))
        return source

    def claim(
        self,
        name: str,
        location: str | tuple[str, str] | None = None,
        words: str | None = None,
        *,
        space: Space,
        **record: Any,
    ) -> Declaration:
        """Return a decorator that declares the check of a claim.

        The check is a function that takes an `Instance` and returns or yields `Slack` objects.

        ``@SOURCE.claim(...).checked(trials=30)`` sets the default number of instances to 30. If the
        TOML file of the source has a claim of this name, missing arguments are read from it.

        Parameters
        ----------
        name : str
            The name of the claim. Its id is the key of the source, a dash, and this name.
        location : str or (str, str)
            The place in the source, such as "Theorem 9", or a pair of the place and its page or
            line.
        words : str
            The statement in words.
        space : Space
            The fields of an instance.
        **record
            Other attributes of the `Claim`. `formula` is the statement as a formula in Unicode
            text, such as "ρ_{k+1} ≤ ρ_k", and `given` contains the hypotheses. `counterexamples`
            are instances that refute the statement, smallest first, such as ``[{"A": [["1/2", 1]],
            "k": 1}]``. `printed` is the formula or sentence as printed in the source, and `ruling`
            is the recorded status. `trials`, `resolution` and `every` are passed to ``.checked()``
            instead, as in ``@source.claim(...).checked(trials=5)``.

        Raises
        ------
        InputError
            If the source already has a claim of this name, if `space` is not a `Space`, if the
            words or the formula are LaTeX, if a counterexample is not in the space, or if the
            ruling contradicts the counterexamples.
        """
        id = f"{self.key}-{name}"
        if id in self.claims:
            raise InputError(f"the claim {id} already exists. Choose another name")
        here = {key: x for key, x in (("location", location), ("words", words)) if x is not None}
        fields: dict[str, Any] = {"given": "", **self._texts.get(name, {}), **record, **here}
        if missing := {"location", "words", "formula"} - set(fields):
            raise InputError(f"{id} needs {', '.join(sorted(missing))}")
        stated = stated_by(fields)
        for key in ("words", "formula", "note", "step"):
            fields.pop(key, None)
        if not isinstance(fields["location"], str):
            fields["location"], fields["page"] = fields["location"]
        fields.setdefault("page", fields["location"])
        checked_space(id, space)
        for number, instance in enumerate(fields.get("counterexamples", ()), 1):
            with error_prefix(f"counterexample {number} of {id}: "):
                space.from_json(instance)
        fields["corrected_texts"] = fields.pop("corrected", ())
        _check_record(id, fields)
        return Declaration(self, stated, {**fields, "id": id, "space": space})

    @property
    def misprints(self) -> list[Misprint]:
        """The misprints with an obvious intended meaning, in text order."""
        found = [*self._misprints]
        for claim in self.claims.values():
            if claim.status == MISPRINT:
                instead = claim.corrections[0]
                read = f"{instead.words} {instead.formula}".strip()
                place = claim.page or claim.location
                found.append(Misprint(claim.id, place, claim.printed, read, claim.harm))
        ids = [id for line in self.lines for id in line.ids]
        order = {id: number for number, id in reversed([*enumerate(ids)])}
        return sorted(found, key=lambda one: order.get(one.id, len(ids)))

    def unchecked(self, name: str, location: str, words: str, reason: str) -> None:
        """Add a statement that cannot be checked numerically to `not_checked`."""
        self.not_checked.append(Unchecked(f"{self.key}-{name}", location, words, reason))

    def complete(self) -> None:
        """Sort the claims in the order of the source's TOML file, and read the table of formulas
        and statements in this file.

        Raises
        ------
        InputError
            If a statement has no check, an entry refers to an unknown claim, or a row is invalid.
        """
        if idle := [name for name in self._texts if f"{self.key}-{name}" not in self.claims]:
            raise InputError(
                f"{self.key}: the statements {', '.join(idle)} have no check. Declare a check for "
                "each of them"
            )
        self._check_references()
        written = (f"{self.key}-{name}" for name in self._texts)
        self.claims = {id: self.claims[id] for id in written} | self.claims
        # After Ctrl-C, a source may be completed again. Its lines must not be repeated.
        table, self._table = self._table, ""
        if table:
            self.outline(table)

    def _check_references(self) -> None:
        names = {id.removeprefix(f"{self.key}-") for id in self.claims}
        for claim in self.claims.values():
            claim.complete()
            for name in (claim.part_of, claim.caused_by):
                if name not in {"", DISPLAYS, *names}:
                    raise InputError(
                        f"{claim.id} refers to {name!r}, but {self.key} has no such claim"
                    )
        for name, where in self.moved.items():
            if name in names or where not in {"errata", DISPLAYS, *names}:
                raise InputError(
                    f"{self.key}: {name} cannot have moved to {where}. The former name must not be "
                    "a claim, and the new place must exist"
                )

    def outline(self, table: str) -> None:
        """Add the formulas and statements of a table to the source.

        The rows have the form ``place | words | names of claims | reason for no claim``. A row
        without claims has ``-`` in the third cell, and only such a row needs the fourth cell. A row
        that starts with ``|`` has the place of the row above. An indented line continues the row
        above.

        Raises
        ------
        InputError
            If a row has neither claims nor a reason, or contains an unknown id.
        """
        known = {*self.claims, *(one.id for one in self.not_checked)}
        known |= {one.id for one in self._misprints}
        self.lines += _lines_of(self.key, table, known)


def _lines_of(key: str, table: str, known: Set[str]) -> Iterator[Line]:
    place = ""
    for row in re.split(r"\n(?! )", table.strip()):
        cells = f" {' '.join(row.split())}".split(" | ")
        if len(cells) not in (3, 4):
            raise InputError(
                f"a row must have the form place | words | claims | reason, got {row!r}"
            )
        where, _, names, reason = (*cells, "")[:4]
        place = where.strip() or place
        ids = tuple(f"{key}-{name}" for name in names.split(", ") if name != "-")
        if not known >= {*ids} or not (ids or reason):
            raise InputError(
                f"the row of {place} must name claims that are already declared, or give a reason "
                f"why there is no claim, got {row!r}"
            )
        yield Line(place, ids, reason)


def _check_record(id: str, record: Mapping[str, Any]) -> None:
    known = "location page given printed ruling part_of caused_by harm counterexamples"
    if unknown := set(record) - {*known.split(), "corrected_texts"}:
        raise InputError(
            f"{id}: a claim has no entry {', '.join(sorted(unknown))}. The entries are {known}. "
            "Pass trials, resolution and every to checked(), as in "
            "@source.claim(...).checked(trials=5)"
        )
    refuted = bool(record.get("counterexamples"))
    ruling = record.get("ruling", "")
    if ruling not in ("", MISPRINT, AMBIGUOUS, OPEN):
        raise InputError(f"{id}: the ruling must be {MISPRINT!r}, {AMBIGUOUS!r} or {OPEN!r}")
    if ruling and refuted == (ruling == OPEN):
        needs = "must not have a counterexample" if refuted else "needs a counterexample"
        raise InputError(f"{id}: a claim with the ruling {ruling!r} {needs}")
    if refuted and record.get("printed") == ILLEGIBLE:
        raise InputError(
            f"{id}: a claim whose printed text is illegible must not have counterexamples, because "
            "the printed text may be correct"
        )
