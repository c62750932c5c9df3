"""Sources and the claims in them, declared by decorators and by tables of texts."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost.claims.claim import Claim
from relaxboost.claims.outline import Line, Misprint, lines_of
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
from relaxboost.claims.spaces import Space

DISPLAYS = "displays"
"""What statements belong to that belong to no result."""


@dataclass(frozen=True)
class Declaration:
    """A claim that waits for its check: the decorator that `Source.claim` returns."""

    source: Source
    stated: Callable[[Check], Statement]
    """Makes the statement of its check."""
    fields: Mapping[str, Any]
    """The other attributes of the claim."""

    def checked(
        self, *, trials: int = 100, resolution: float = 1e-7, every: Enumeration | None = None
    ) -> Declaration:
        """Return the decorator with other defaults for a check.

        Parameters
        ----------
        trials : int
            Instances to draw.
        resolution : float
            See `Claim`; larger where a check compares numerical optima.
        every : Enumeration, optional
            All instances there are; a check takes them all and draws none.
        """
        more = {"trials": trials, "resolution": resolution, "every": every}
        return replace(self, fields={**self.fields, **more})

    def __call__(self, check: Check) -> Claim:
        claim = Claim(source=self.source, stated=self.stated(check), **self.fields)
        self.source.claims[claim.id] = claim
        return claim


class Source:
    """A paper or lecture, with its claims in the order of the text.

    Parameters
    ----------
    key : str
        What its ids begin with, e.g. "SS09".
    reference : str
        Authors, year, title and place.
    place : float
        Where it is listed among the sources of the package; by default at the end.
    """

    def __init__(self, key: str, reference: str, *, place: float = math.inf) -> None:
        self.key, self.reference, self.place = key, reference, place
        self.moved: dict[str, str] = {}
        """Where to look for what once had a name of its own: the name of a claim, or "errata"."""
        self.notation = ""
        """The symbols that its pages use: a paragraph for each group of them."""
        self.claims: dict[str, Claim] = {}
        self.not_checked: list[Unchecked] = []
        self.lines: list[Line] = []
        self._texts: Mapping[str, Mapping[str, Any]] = {}
        self._misprints: list[Misprint] = []
        self._table = ""

    @classmethod
    def read(cls, path: Path) -> Source:
        """Return the source of a TOML file, which has the texts of its claims and its lines."""
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
        """Decorate the check of a claim: a function of an `Instance` that yields `Slack`.

        ``@SOURCE.claim(...).checked(trials=30)`` makes a check draw 30 instances by default. What
        is left out is taken from the texts of the source, if they have this name.

        Parameters
        ----------
        name : str
            The id is the key of the source, a dash, and this.
        location : str or (str, str)
            Where it is in the source, "Theorem 9"; or that, and the page or line it stands on.
        words : str
            What is stated.
        space : Space
            The data it is about.
        **record
            `formula`, what is stated; `given`, the hypotheses; `counterexamples`, instances that
            refute it, the smallest first: ``[{"A": [["1/2", 1]], "k": 1}]``; `printed`, the formula
            or sentence as the source prints it; and a `ruling`, as in `Claim`.

        Raises
        ------
        InputError
            If the source has this name already, a counterexample is not in the space, or a ruling
            does not go with it.
        """
        id = f"{self.key}-{name}"
        if id in self.claims:
            raise InputError(f"there is a claim {id} already")
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
        for number, instance in enumerate(fields.get("counterexamples", ()), 1):
            try:
                space.from_json(instance)
            except InputError as error:
                raise InputError(f"counterexample {number} of {id}: {error}") from None
        fields["corrected_texts"] = fields.pop("corrected", ())
        _check_record(id, fields)
        return Declaration(self, stated, {**fields, "id": id, "space": space})

    @property
    def misprints(self) -> list[Misprint]:
        """What is printed wrong though its meaning is plain, in the order of the text."""
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
        """List a statement that cannot be checked numerically."""
        self.not_checked.append(Unchecked(f"{self.key}-{name}", location, words, reason))

    def complete(self) -> None:
        """Read the table of lines, after all claims are declared.

        Raises
        ------
        InputError
            If a text has no claim, or as `outline` does.
        """
        if idle := [name for name in self._texts if f"{self.key}-{name}" not in self.claims]:
            raise InputError(f"{self.key} has texts without a check: {', '.join(idle)}")
        for claim in self.claims.values():
            claim.complete()
            for name in (claim.part_of, claim.caused_by):
                if name not in ("", DISPLAYS) and f"{self.key}-{name}" not in self.claims:
                    raise InputError(f"{claim.id}: there is no claim {name!r} in {self.key}")
        for name, where in self.moved.items():
            if f"{self.key}-{name}" in self.claims or not (
                where in ("errata", DISPLAYS) or f"{self.key}-{where}" in self.claims
            ):
                raise InputError(f"{self.key}: {name} cannot have moved to {where}")
        if self._table:
            self.outline(self._table)

    def outline(self, table: str) -> None:
        """Add the lines of a table; `lines_of` says how it is written, and what it refuses."""
        known = {*self.claims, *(one.id for one in self.not_checked)}
        known |= {one.id for one in self._misprints}
        self.lines += lines_of(self.key, table, known)


def _check_record(id: str, record: Mapping[str, Any]) -> None:
    """Refuse what is no part of a record, and a ruling without or against a counterexample."""
    known = "location page given printed ruling part_of caused_by harm counterexamples"
    if unknown := set(record) - {*known.split(), "corrected_texts"}:
        raise InputError(f"{id}: a claim has printed and ruling, not {', '.join(unknown)}")
    refuted = bool(record.get("counterexamples"))
    ruling = record.get("ruling", "")
    if ruling not in ("", MISPRINT, AMBIGUOUS, OPEN):
        raise InputError(f"{id}: a ruling is {MISPRINT!r}, {AMBIGUOUS!r} or {OPEN!r}")
    if ruling and refuted == (ruling == OPEN):
        needs = "no counterexample" if refuted else "a counterexample"
        raise InputError(f"{id}: the ruling {ruling!r} goes with {needs}")
    if refuted and record.get("printed") == ILLEGIBLE:
        raise InputError(f"{id}: what is illegible is not charged; leave out the counterexamples")
