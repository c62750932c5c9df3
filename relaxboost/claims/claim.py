"""Sources and their claims, declared by decorators, to check and to attack."""

from __future__ import annotations

import math
import re
import shlex
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, natural
from relaxboost.claims.examining import check, until_interrupted
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import HOLDS, REFUTED, TIGHT, UNDECIDED, Slack, Vacuous
from relaxboost.claims.record import (
    AMBIGUOUS,
    COUNTEREXAMPLE,
    EXACT,
    FALSE,
    ILLEGIBLE,
    INSTANCES,
    MISPRINT,
    OPEN,
    PROOF,
    WORST,
    Check,
    Correction,
    Enumeration,
    Line,
    Statement,
    Unchecked,
    WorstCases,
)
from relaxboost.claims.searching import attack
from relaxboost.claims.spaces import Space, Values
from relaxboost.claims.verdict import Bound, ClaimVerdict, Evidence, StatementVerdict

_GRAVITY = {REFUTED: 0, UNDECIDED: 1, TIGHT: 2, HOLDS: 3}


@dataclass(repr=False, kw_only=True)
class Claim:
    """A claim of a source, to check and to attack. Made by `Source.claim`.

    Attributes
    ----------
    id : str
        The source and the statement, e.g. "SS09-T9".
    location : str
        Where it is in the source.
    source : Source
        The one it belongs to.
    stated : Statement
    printed : str
        The formula or sentence as the source prints it, errors included.
    page : str
        Where it stands there: a page, or a line of the text.
    given : str
        The hypotheses.
    space : Space
        The data it is about, and where instances come from.
    counterexamples : list of mapping
        Instances that refute it as stated, the smallest first, as in files. Every check begins
        with them.
    ruling : str
        The status on record where it is neither "holds" nor "false as stated": "misprint",
        "ambiguous" or "open".
    corrections : list of Statement
        What is true instead; of an ambiguous claim, its other readings.
    every : Enumeration or None
        All instances there are, where the claim is about a finite space; a check takes them all.
    resolution : float
        How far below zero an interval of the slack that contains zero may reach for the two
        sides to count as equal. Beyond, the instance is undecided.
    trials : int
        Instances that a check draws by default.
    file : Path or None
        The reader's file, if it is from one.
    """

    id: str
    source: Source
    location: str
    stated: Statement
    given: str
    space: Space
    printed: str = ""
    page: str = ""
    counterexamples: Sequence[Mapping[str, Any]] = ()
    ruling: str = ""
    every: Enumeration | None = None
    corrections: list[Statement] = field(default_factory=list)
    resolution: float = 1e-7
    trials: int = 100
    file: Path | None = None

    def __repr__(self) -> str:
        return f"<Claim {self.id}: {self.status}>"

    @property
    def status(self) -> str:
        """On record: "holds", "false as stated", "misprint", "ambiguous" or "open"."""
        return self.ruling or (FALSE if self.counterexamples else HOLDS)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The claim as stated, then its corrections."""
        return self.stated, *self.corrections

    def evidence(self, statement: Statement) -> str:
        """Return what the verdict on a statement rests on.

        It is "counterexample", "proof" (its steps are checked), "worst case" (over all instances
        for some parameters), "exact" (all instances of a finite space) or "instances".
        """
        if statement is self.stated and self.counterexamples:
            return COUNTEREXAMPLE
        if statement.steps:
            worst = all(isinstance(step.every, WorstCases) for step in statement.steps)
            return WORST if worst else PROOF
        return INSTANCES if self.every is None else EXACT

    def instance(self, written: Mapping[str, Any]) -> Instance:
        """Return an instance written as in files, e.g. a counterexample."""
        return self.make(self.space.from_json(written))

    def make(self, values: Mapping[str, Any]) -> Instance:
        """Return an instance from values."""
        return Instance(values, self.space.to_json(dict(values)))

    def instances(self, trials: int, seed: int) -> Iterator[tuple[str, Values]]:
        """Yield the recorded counterexamples, then all instances there are, or `trials` drawn.

        An instance depends on its number only, not on how many there are.
        """
        for number, written in enumerate(self.counterexamples, 1):
            yield f"recorded counterexample {number}", self.space.from_json(written)
        for number, written in enumerate(self.every.instances() if self.every else ()):
            yield f"instance {number}", self.space.from_json(written)
        for number in range(0 if self.every else trials):
            yield f"instance {number}", self.space.draw(self.generator(seed, number), number)

    def generator(self, seed: int, number: int) -> np.random.Generator:
        """Return the random numbers for an instance."""
        return np.random.default_rng([seed, zlib.crc32(self.id.encode()), number])

    def examine(
        self, statement: Statement, values: Values, origin: str, certificates: Path | None = None
    ) -> Evidence | None:
        """Measure a statement on an instance.

        Parameters
        ----------
        statement : Statement
            The claim as stated, or a correction.
        values : dict
            The instance.
        origin : str
            Where it comes from, in words.
        certificates : Path, optional
            What the names of the files of certificates begin with; by default none is written.

        Returns None if the instance does not meet the hypotheses.
        """
        x = self.make(values)
        try:
            slacks = statement.measure(x)
        except Vacuous:
            return None
        except (Exception, SystemExit) as error:
            error.add_note(f"in {self.id}, {origin}: {self.space.to_json(values)}")
            raise
        if not slacks:
            return None
        slack = min(slacks, key=lambda s: (_GRAVITY[s.outcome(self.resolution)], s.relative))
        return Evidence(
            origin=origin,
            instance=self.space.to_json(values),
            slack=slack,
            outcome=slack.outcome(self.resolution),
            slacks=slacks,
            optima=tuple(_bounds(x, certificates)),
        )

    def command(self, action: str, options: str) -> str:
        """Return the command that repeats a check or an attack; of a step, that of its claim."""
        if not self.stated.check.__module__.startswith("relaxboost."):  # it is not built in
            options = f" --file {shlex.quote(str(self.file or 'FILE'))}{options}"
        return f"relaxboost claims {action} {self.id.partition('/')[0]}{options}"

    def __call__(self, x: Instance, *options: Any) -> tuple[Slack, ...]:
        """Return the slacks of the check as stated, with options that a correction asks for."""
        return self.stated.measure(x, *options)

    def corrected(self, words: str, formula: str = "") -> Callable[[Check], Correction]:
        """Decorate the check of a corrected statement, on the same data.

        Its proof goes under ``@name.step(...)``, as that of a claim does.
        """

        def add(check: Check) -> Correction:
            self.corrections.append(Statement(words, formula, check))
            return Correction(check, partial(self.step, correction=len(self.corrections)))

        return add

    def step(
        self,
        words: str,
        formula: str = "",
        *,
        correction: int = 0,
        space: Space | None = None,
        trials: int = 40,
        every: Enumeration | None = None,
        resolution: float | None = None,
    ) -> Callable[[Check], Claim]:
        """Decorate the check of a step of the proof of the claim, which is a claim of its own.

        Parameters
        ----------
        words, formula : str
        correction : int
            0 for the proof of the claim as stated, 1 for that of the first correction.
        space, resolution : optional
            By default those of the claim.
        trials : int
            Instances to draw.
        every : Enumeration, optional
            All instances there are. `WorstCases` are parameters of a check by `worst_case`.
        """

        def add(check: Check) -> Claim:
            steps = self.statements[correction].steps
            place = f"{correction}." if correction else ""
            one = Claim(
                id=f"{self.id}/{place}{len(steps) + 1}",
                source=self.source,
                location=f"step {len(steps) + 1} of the proof of {self.id}",
                stated=Statement(words, formula, check),
                given="",
                space=space or self.space,
                resolution=self.resolution if resolution is None else resolution,
                trials=trials,
                every=every,
                file=self.file,
            )
            steps.append(one)
            return one

        return add

    def check(
        self, trials: int | None = None, seed: int = 0, *, certificates: Path | str | None = None
    ) -> ClaimVerdict:
        """Check the claim on its counterexamples and on random and structured instances.

        Ctrl-C ends it with what was checked; `interrupted` says so.

        Parameters
        ----------
        trials : int, optional
            Instances to draw, >= 1; by default the claim's own `trials`.
        seed : int
            The same seed gives the same instances, whatever else is checked.
        certificates : path, optional
            A folder for the certificate of every optimum used.
        """
        trials = self.trials if trials is None else count("trials", trials)
        seed = natural("seed", seed)
        folder = None if certificates is None else certificate_folder(certificates)
        asked = f" --trials {trials}" if trials != self.trials else ""
        repeat = self.command("check", f"{asked} --seed {seed}")
        parts = [StatementVerdict(statement.words) for statement in self.statements]
        return self._verdict(
            partial(check, self, parts, trials, seed, folder, repeat), parts, seed, repeat
        )

    def attack(self, budget: int = 2000, seed: int = 0) -> ClaimVerdict:
        """Search for an instance that refutes the claim as stated, and shrink what is found.

        `budget` instances, at least one, are tried, and as many to shrink. Ctrl-C ends it as it
        does a check.
        """
        budget = count("budget", budget)
        draw = partial(self.generator, natural("seed", seed))
        parts = [StatementVerdict(statement.words) for statement in self.statements]
        examines = (partial(self.examine, statement) for statement in self.statements)
        searches = [*zip(examines, parts, strict=True)]
        repeat = self.command("attack", f" --budget {budget} --seed {seed}")
        return self._verdict(
            partial(attack, searches, self.space, draw, budget), parts, seed, repeat
        )

    def _verdict(
        self, work: Callable[[], None], parts: list[StatementVerdict], seed: int, repeat: str
    ) -> ClaimVerdict:
        """Return what comes of work that adds to the verdicts on the statements."""
        start = time.perf_counter()
        ended = until_interrupted(work, parts)
        return ClaimVerdict(
            id=self.id,
            recorded=self.status,
            stated=parts[0],
            corrections=tuple(parts[1:]),
            seed=seed,
            repeat=repeat,
            seconds=time.perf_counter() - start,
            interrupted=ended,
        )


def certificate_folder(folder: Path | str) -> Path:
    """Return a folder for certificates, which is made if there is none."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write certificates to {folder}: {error.strerror}") from None
    return Path(folder)


def _bounds(x: Instance, certificates: Path | None) -> Iterator[Bound]:
    for number, optimum in enumerate(x.optima):
        file = ""
        if certificates is not None:
            file = f"{certificates}-{number}.json"
            optimum.certificate().save(file)
        bracket = optimum.bracket
        yield Bound(optimum.game.digest, str(bracket.lower), str(bracket.upper), file)


@dataclass(frozen=True)
class Declaration:
    """A claim that waits for its check: the decorator that `Source.claim` returns."""

    source: Source
    fields: Mapping[str, Any]
    """The claim's attributes, but for its check."""
    words: str
    formula: str

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
        self.lines: list[Line] = []

    def claim(
        self,
        name: str,
        location: str | tuple[str, str],
        words: str,
        *,
        formula: str,
        space: Space,
        given: str = "",
        counterexamples: Sequence[Mapping[str, Any]] = (),
        **record: str,
    ) -> Declaration:
        """Decorate the check of a claim: a function of an `Instance` that yields `Slack`.

        ``@SOURCE.claim(...).checked(trials=30)`` makes a check draw 30 instances by default.

        Parameters
        ----------
        name : str
            The id is the key of the source, a dash, and this.
        location : str or (str, str)
            Where it is in the source, "Theorem 9"; or that, and the page or line it stands on.
        words, formula : str
            What is stated.
        space : Space
            The data it is about.
        given : str
            The hypotheses.
        counterexamples : sequence of mapping
            Instances that refute it, the smallest first: ``[{"A": [["1/2", 1]], "k": 1}]``.
        **record : str
            `printed`, the formula or sentence as the source prints it, and a `ruling`, as in
            `Claim`.

        Raises
        ------
        InputError
            If the source has this name already, a counterexample is not in the space, or a ruling
            does not go with it.
        """
        id = f"{self.key}-{name}"
        if id in self.claims:
            raise InputError(f"there is a claim {id} already")
        for number, written in enumerate(counterexamples, 1):
            try:
                space.from_json(written)
            except InputError as error:
                raise InputError(f"counterexample {number} of {id}: {error}") from None
        _check_record(id, record, bool(counterexamples))
        heading, page = (location, location) if isinstance(location, str) else location
        fields = {
            **record,
            "id": id,
            "location": heading,
            "page": page,
            "given": given,
            "space": space,
            "counterexamples": counterexamples,
        }
        return Declaration(self, fields, words, formula)

    def unchecked(self, name: str, location: str, words: str, reason: str) -> None:
        """List a statement that cannot be checked numerically."""
        self.not_checked.append(Unchecked(f"{self.key}-{name}", location, words, reason))

    def outline(self, table: str) -> None:
        """Say which claims are about each display and statement, in the order of the text.

        Parameters
        ----------
        table : str
            A row each: ``place | what it says | names of claims | why there are none``, with ``-``
            for no names and the last cell where it is needed. A row that begins with ``|`` is
            about the place of the row above. Lines that are indented go on with their row.

        Raises
        ------
        InputError
            If a row has neither claims nor a reason, or names one that is not declared so far.
        """
        known = {*self.claims, *(one.id for one in self.not_checked)}
        place = ""
        for row in re.split(r"\n(?! )", table.strip()):
            cells = f" {' '.join(row.split())}".split(" | ")
            if len(cells) not in (3, 4):
                raise InputError(f"a row is place | words | claims | reason, not {row!r}")
            where, words, names, reason = (*cells, "")[:4]
            place = where.strip() or place
            ids = tuple(f"{self.key}-{name}" for name in names.split(", ") if name != "-")
            if not known.issuperset(ids) or not (ids or reason):
                raise InputError(f"{place} needs claims declared before, or a reason; got {row!r}")
            self.lines.append(Line(place, words, ids, reason))


def _check_record(id: str, record: Mapping[str, str], refuted: bool) -> None:
    """Refuse what is no part of a record, and a ruling without or against a counterexample."""
    unknown = set(record) - {"printed", "ruling"}
    if unknown:
        raise InputError(f"{id}: a claim has printed and ruling, not {', '.join(unknown)}")
    ruling = record.get("ruling", "")
    if ruling not in ("", MISPRINT, AMBIGUOUS, OPEN):
        raise InputError(f"{id}: a ruling is {MISPRINT!r}, {AMBIGUOUS!r} or {OPEN!r}")
    if ruling and refuted == (ruling == OPEN):
        needs = "no counterexample" if refuted else "a counterexample"
        raise InputError(f"{id}: the ruling {ruling!r} goes with {needs}")
    if refuted and record.get("printed") == ILLEGIBLE:
        raise InputError(f"{id}: what is illegible is not charged; leave out the counterexamples")
