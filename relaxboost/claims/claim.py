"""Sources and their claims, declared by decorators, to check and to attack."""

from __future__ import annotations

import shlex
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.compiled import is_interrupt
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, natural
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import HOLDS, REFUTED, TIGHT, UNDECIDED, Slack, Vacuous
from relaxboost.claims.record import (
    COUNTEREXAMPLE,
    EXACT,
    FALSE,
    INSTANCES,
    PROOF,
    WORST,
    Check,
    Correction,
    Enumeration,
    Statement,
    WorstCases,
    stated_by,
)
from relaxboost.claims.searching import search, shrink
from relaxboost.claims.spaces import Space, Values
from relaxboost.claims.verdict import Bound, ClaimVerdict, Evidence, StatementVerdict

_GRAVITY = {REFUTED: 0, UNDECIDED: 1, TIGHT: 2, HOLDS: 3}


@dataclass(repr=False, kw_only=True)
class Claim:
    """A claim of a source, to check and to attack. `Source.claim` makes it.

    Examples
    --------
    >>> import relaxboost as rb
    >>> claim = rb.claims.get("SS09-T4")
    >>> verdict = claim.check(trials=3)
    >>> verdict.status
    'holds'
    """

    id: str
    """The source and the statement, e.g. "SS09-T9"."""
    source: Any
    """The `Source` it belongs to."""
    location: str
    """Where it is in the source."""
    stated: Statement
    given: str
    """The hypotheses."""
    space: Space
    """The data it is about, and where instances come from."""
    printed: str = ""
    """The formula or sentence as the source prints it, errors included."""
    page: str = ""
    """Where it stands there: a page, or a line of the text."""
    counterexamples: Sequence[Mapping[str, Any]] = ()
    """Instances that refute it as stated, the smallest first, as in files; a check begins with
    them."""
    ruling: str = ""
    """The status on record if it is "misprint", "ambiguous" or "open"."""
    part_of: str = ""
    """The name of the result of its source that it belongs to, as a line of the proof or a remark;
    "displays" if it belongs to none, and "" if it is a result."""
    caused_by: str = ""
    """The name of the claim whose error is the cause of this one."""
    harm: str = ""
    """What a misprint does to a reader."""
    every: Enumeration | None = None
    """All instances there are, if the space is finite; a check takes them all."""
    corrections: list[Statement] = field(default_factory=list)
    """What is true instead; of an ambiguous claim, its other readings."""
    resolution: float = 1e-7
    """How far below zero an interval of the slack that contains zero may reach for the two sides to
    count as equal. Beyond, the instance is undecided."""
    trials: int = 100
    """Instances that a check draws by default."""
    file: Path | None = None
    """The reader's file, if it is from one."""
    corrected_texts: Sequence[Mapping[str, Any]] = ()
    """The texts of its corrections in the tables of its source."""

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
        """Measure a statement on an instance; return None if the hypotheses are not met.

        `origin` says where the instance comes from. With `certificates`, a certificate of each
        optimum is written to a file whose name begins with it.
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

    def corrected(self, words: str = "", formula: str = "") -> Callable[[Check], Correction]:
        """Decorate the check of a corrected statement, on the same data.

        Its proof goes under ``@name.step(...)``, as that of a claim does. Without words it is the
        next correction in the texts of the source.
        """

        def add(check: Check) -> Correction:
            stated = statement_of(self.id, self.corrected_texts, self.corrections, words, formula)
            self.corrections.append(stated(check))
            return Correction(check, partial(self.step, correction=len(self.corrections)))

        return add

    def step(
        self,
        words: str = "",
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
            By default those of the next step in the texts of the source.
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
            statement = self.statements[correction]
            steps = statement.steps
            stated = statement_of(self.id, statement.step_texts, steps, words, formula)
            place = f"{correction}." if correction else ""
            one = Claim(
                id=f"{self.id}/{place}{len(steps) + 1}",
                source=self.source,
                location=f"step {len(steps) + 1} of the proof of {self.id}",
                stated=stated(check),
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

    def complete(self) -> None:
        """Raise `InputError` if a correction or a step in the texts of the source has no check."""
        missing = len(self.corrected_texts) > len(self.corrections)
        if missing or any(len(one.step_texts) > len(one.steps) for one in self.statements):
            raise InputError(f"{self.id}: the texts have a correction or a step without a check")

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
            The same seed gives the same instances, whatever else is checked. It is an integer and
            not a generator, because the seed and the number of an instance make its generator.
        certificates : path, optional
            A folder for the certificate of every optimum used.
        """
        trials = self.trials if trials is None else count("trials", trials)
        seed = natural("seed", seed)
        folder = None if certificates is None else certificate_folder(certificates)
        asked = f" --trials {trials}" if trials != self.trials else ""
        repeat = self.command("check", f"{asked} --seed {seed}")

        def work(parts: list[StatementVerdict]) -> None:
            for number, (origin, values) in enumerate(self.instances(trials, seed)):
                for place, (statement, part) in enumerate(zip(self.statements, parts, strict=True)):
                    files = folder and folder / f"{self.id.replace('/', '-')}-{number}-{place}"
                    evidence = self.examine(statement, values, origin, files)
                    part.add(evidence)
                    if number < len(self.counterexamples):
                        part.known.append(evidence)
            for statement, part in zip(self.statements, parts, strict=True):
                for step in statement.steps:
                    verdict = step.check(min(trials, step.trials), seed)
                    part.steps.append(replace(verdict, repeat=repeat))
                    if verdict.interrupted:
                        raise KeyboardInterrupt

        return self._verdict(work, seed, repeat)

    def attack(self, budget: int = 2000, seed: int = 0) -> ClaimVerdict:
        """Search for an instance that refutes the claim as stated, and shrink what is found.

        `budget` instances, at least one, are tried, and as many to shrink. Ctrl-C ends it as it
        does a check.
        """
        budget = count("budget", budget)
        draw = partial(self.generator, natural("seed", seed))
        repeat = self.command("attack", f" --budget {budget} --seed {seed}")

        def work(parts: list[StatementVerdict]) -> None:
            for statement, part in zip(self.statements, parts, strict=True):
                examine = partial(self.examine, statement)
                found = search(examine, self.space, draw, budget, part)
                part.counterexample = found and shrink(examine, self.space, *found, budget)

        return replace(self._verdict(work, seed, repeat), effort="budget")

    def _verdict(
        self, work: Callable[[list[StatementVerdict]], None], seed: int, repeat: str
    ) -> ClaimVerdict:
        """Return what comes of work that adds to the verdicts on the statements.

        Ctrl-C before any instance was tried is raised: then there is nothing to report.
        """
        parts = [StatementVerdict(statement.words) for statement in self.statements]
        start = time.perf_counter()
        interrupted = False
        try:
            work(parts)
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error) or not any(part.counts for part in parts):
                raise
            interrupted = True
        return ClaimVerdict(
            id=self.id,
            recorded=self.status,
            stated=parts[0],
            corrections=tuple(parts[1:]),
            seed=seed,
            repeat=repeat,
            seconds=time.perf_counter() - start,
            interrupted=interrupted,
        )


def statement_of(
    id: str, texts: Sequence[Mapping[str, Any]], before: Sequence[Any], words: str, formula: str
) -> Callable[[Check], Statement]:
    """Return what makes a statement of its check, by the words given or the next of the texts.

    `before` are the statements that have the texts before it. A text without a note has none: the
    docstring of the check, which says what is measured, is not printed in its place.
    """
    written = {"note": "", **texts[len(before)]} if len(before) < len(texts) else {}
    if words:
        written = {"words": words, "formula": formula, "step": written.get("step", ())}
    if not written:
        raise InputError(f"{id}: a correction or a step needs words, here or in the source's texts")
    return stated_by(written)


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
