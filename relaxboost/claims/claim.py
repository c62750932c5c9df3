"""Sources and their claims, declared by decorators: what the author of a claim works with."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, natural
from relaxboost.claims.attacking import attack
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import Slack
from relaxboost.claims.record import (
    Check,
    CheckT,
    ClaimRecord,
    Statement,
    Unchecked,
    certificate_folder,
)
from relaxboost.claims.spaces import Space
from relaxboost.claims.verdict import ClaimVerdict, StatementVerdict


@dataclass(repr=False, kw_only=True)
class Claim(ClaimRecord):
    """A claim of a source, to check and to attack. Made by `Source.claim`.

    It has the attributes of `ClaimRecord`, and `source`, the `Source` it belongs to.
    """

    source: Source

    def __call__(self, x: Instance, *options: Any) -> tuple[Slack, ...]:
        """Return the slacks of the check as stated, which a correction may ask for less or more."""
        return self.stated.measure(x, *options)

    def corrected(self, words: str, formula: str = "") -> Callable[[CheckT], CheckT]:
        """Decorate the check of a corrected statement, on the same data."""

        def add(check: CheckT) -> CheckT:
            self.corrections.append(Statement(words, formula, check))
            return check

        return add

    def check(
        self,
        trials: int | None = None,
        seed: int = 0,
        *,
        certificates: Path | str | None = None,
    ) -> ClaimVerdict:
        """Check the claim on its counterexamples and on random and structured instances.

        Parameters
        ----------
        trials : int, optional
            Instances to draw, >= 1; by default the claim's own `trials`.
        seed : int
            The same seed gives the same instances, whatever else is checked.
        certificates : path, optional
            A folder in which to write the certificate of every optimum used.
        """
        start = time.perf_counter()
        trials = self.trials if trials is None else count("trials", trials)
        folder = None if certificates is None else certificate_folder(certificates)
        statements = [self.stated, *self.corrections]
        parts = [StatementVerdict(statement.words) for statement in statements]
        for number, (origin, values) in enumerate(self.instances(trials, natural("seed", seed))):
            for place, (statement, part) in enumerate(zip(statements, parts, strict=True)):
                files = None if folder is None else folder / f"{self.id}-{number}-{place}"
                evidence = self.examine(statement, values, origin, files)
                part.add(evidence)
                if number < len(self.counterexamples):
                    part.known.append(evidence)
        asked = f" --trials {trials}" if trials != self.trials else ""
        return self._verdict(parts, seed, "check", f"{asked} --seed {seed}", start)

    def attack(self, budget: int = 2000, seed: int = 0) -> ClaimVerdict:
        """Search for an instance that refutes the claim as stated, and shrink what is found.

        Parameters
        ----------
        budget : int
            Instances to try, >= 1; shrinking may take as many again.
        seed : int
        """
        start, budget = time.perf_counter(), count("budget", budget)
        natural("seed", seed)
        statements = (self.stated, *self.corrections)
        parts = [attack(self, statement, budget, seed) for statement in statements]
        return self._verdict(parts, seed, "attack", f" --budget {budget} --seed {seed}", start)

    def _verdict(
        self, parts: list[StatementVerdict], seed: int, action: str, options: str, start: float
    ) -> ClaimVerdict:
        return ClaimVerdict(
            id=self.id,
            recorded=self.status,
            stated=parts[0],
            corrections=tuple(parts[1:]),
            seed=seed,
            repeat=self.command(action, options),
            seconds=time.perf_counter() - start,
        )


@dataclass(frozen=True)
class Declaration:
    """A claim that waits for its check: the decorator that `Source.claim` returns."""

    source: Source
    fields: Mapping[str, Any]
    """The claim's attributes, but for its check."""
    words: str
    formula: str

    def checked(self, *, trials: int = 100, resolution: float = 1e-7) -> Declaration:
        """Return the decorator with other defaults for a check.

        Parameters
        ----------
        trials : int
            Instances to draw.
        resolution : float
            See `Claim`; larger where a check compares numerical optima.
        """
        return replace(self, fields={**self.fields, "trials": trials, "resolution": resolution})

    def __call__(self, check: Check) -> Claim:
        stated = Statement(self.words, self.formula, check)
        claim = Claim(source=self.source, stated=stated, **self.fields)
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
        self.claims: dict[str, Claim] = {}
        self.not_checked: list[Unchecked] = []

    def claim(
        self,
        name: str,
        location: str,
        words: str,
        *,
        formula: str,
        space: Space,
        given: str = "",
        counterexamples: Sequence[Mapping[str, Any]] = (),
    ) -> Declaration:
        """Decorate the check of a claim: a function of an `Instance` that yields `Slack`.

        ``@SOURCE.claim(...).checked(trials=30)`` makes a check draw 30 instances by default.

        Parameters
        ----------
        name : str
            The id is the key of the source, a dash, and this.
        location : str
            Where it is in the source, e.g. "Theorem 9".
        words, formula : str
            What is stated.
        space : Space
            The data it is about.
        given : str
            The hypotheses.
        counterexamples : sequence of mapping
            Instances that refute it, the smallest first: ``[{"A": [["1/2", 1]], "k": 1}]``.

        Raises
        ------
        InputError
            If the source has this name already, or a counterexample is not in the space.
        """
        id = f"{self.key}-{name}"
        if id in self.claims:
            raise InputError(f"there is a claim {id} already")
        for number, written in enumerate(counterexamples, 1):
            try:
                space.from_json(written)
            except InputError as error:
                raise InputError(f"counterexample {number} of {id}: {error}") from None
        fields = {
            "id": id,
            "location": location,
            "given": given,
            "space": space,
            "counterexamples": counterexamples,
        }
        return Declaration(self, fields, words, formula)

    def unchecked(self, name: str, location: str, words: str, reason: str) -> None:
        """List a statement that cannot be checked numerically."""
        self.not_checked.append(Unchecked(f"{self.key}-{name}", location, words, reason))
