"""Claims from papers, with checks on instances and searches for counterexamples."""

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
from relaxboost._core.names import explains_arguments
from relaxboost._core.parameters import count, natural
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import HOLDS, REFUTED, TIGHT, UNDECIDED, Slack, Vacuous
from relaxboost.claims.record import (
    EXPECTED,
    FALSE,
    Check,
    Correction,
    Enumeration,
    Statement,
    WorstCases,
    stated_by,
)
from relaxboost.claims.searching import Examine, search, shrink
from relaxboost.claims.spaces import Space, Values, checked_space
from relaxboost.claims.verdict import Bound, ClaimVerdict, Evidence, StatementVerdict

MAX_INSTANCE_CHARACTERS = 240
"""The maximum number of characters of a printed instance: three lines of a terminal. Longer texts
are cut off."""

_GRAVITY = {REFUTED: 0, UNDECIDED: 1, TIGHT: 2, HOLDS: 3}


@dataclass(repr=False, kw_only=True)
class Claim:
    """A claim: a statement from a paper, with a function that checks it for given data.

    The method `check` tests the statement on many instances, such as random margin matrices. The
    method `attack` searches for a counterexample. The decorator `Source.claim` creates a claim.

    Examples
    --------
    >>> import relaxboost as rb
    >>> claim = rb.claims.get("SS09-T4")
    >>> verdict = claim.check(trials=3)
    >>> verdict.status
    'holds'
    """

    id: str
    """The source key and the statement name, e.g. "SS09-T9"."""
    source: Any
    """The paper or lecture that makes the claim, as a `Source` object."""
    location: str
    """The place of the claim in its source, e.g. "Theorem 9"."""
    stated: Statement
    given: str
    """The assumptions of the claim, as text."""
    space: Space
    """The fields of an instance, and how they are drawn."""
    printed: str = ""
    """The formula or sentence as printed in the source, errors included."""
    page: str = ""
    """The page or line of the claim in its source."""
    counterexamples: Sequence[Mapping[str, Any]] = ()
    """The recorded counterexamples, which refute the claim as stated. Each is a dictionary in the
    format of `Space.to_json`."""
    ruling: str = ""
    """The recorded status if it is "misprint", "ambiguous" or "open", and otherwise an empty
    string."""
    part_of: str = ""
    """The theorem or lemma to which a proof line or remark belongs. It is "displays" for a line or
    remark outside of any theorem or lemma, and empty for a theorem or lemma."""
    caused_by: str = ""
    """The name of the claim whose error causes the error of this claim."""
    harm: str = ""
    """The consequence of a misprint for the reader."""
    every: Enumeration | None = None
    """All instances of the claim, if there are finitely many. A check then examines every instance.
    Set it in the decorator, ``@source.claim(...).checked(every=Enumeration(...))``, or later, by
    ``claim.every = Enumeration(...)``."""
    corrections: list[Statement] = field(default_factory=list)
    """The corrected statements of a claim that is false as stated, or the other readings of an
    ambiguous claim."""
    resolution: float = 1e-7
    """The tolerance for equality. The slack, right side minus left side, is known to lie in an
    interval. Suppose that this interval contains negative numbers, but does not refute the claim.
    If its lower end is at least `-resolution`, the two sides are treated as equal. Otherwise the
    instance is undecided."""
    trials: int = 100
    """The default number of instances that a check draws."""
    file: Path | None = None
    """The user's Python file that defines the claim. It is None for claims of the package and for
    claims without a file."""
    corrected_texts: Sequence[Mapping[str, Any]] = ()
    """The texts of the corrections in the TOML file of the source."""

    def __repr__(self) -> str:
        return f"<Claim {self.id}: {self.status if self.has_record else EXPECTED}>"

    @property
    def status(self) -> str:
        """The recorded status: "holds", "false as stated", "misprint", "ambiguous" or "open".

        A claim without a record has the status "holds".
        """
        return self.ruling or (FALSE if self.counterexamples else HOLDS)

    @property
    def has_record(self) -> bool:
        """Whether the status is recorded. If not, the author expects the claim to hold.

        The status of a claim of the package is always recorded. Users record a status by the
        argument `ruling` or by counterexamples.
        """
        return self.is_built_in or bool(self.ruling or self.counterexamples)

    @property
    def is_built_in(self) -> bool:
        """Whether the check of the claim is part of the package."""
        return self.stated.check.__module__.startswith("relaxboost.")

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The checked statements: the claim as stated, then its corrections."""
        return self.stated, *self.corrections

    def evidence(self, statement: Statement) -> str:
        """Return the type of evidence for the verdict on a statement.

        The type is "counterexample" if recorded counterexamples refute the statement. It is "proof"
        if the steps of a proof are checked, and "worst case" if all of them are checked at worst
        instances for some parameter values. Without a proof, the type is "exact" if all instances
        of a finite space are checked, and otherwise "instances".
        """
        if statement is self.stated and self.counterexamples:
            return "counterexample"
        if statement.steps:
            worst = all(isinstance(step.every, WorstCases) for step in statement.steps)
            return "worst case" if worst else "proof"
        return "instances" if self.every is None else "exact"

    def instance(self, written: Mapping[str, Any]) -> Instance:
        """Return an instance from data in the format of `Space.to_json`."""
        return self.make(self.space.from_json(written))

    def make(self, values: Mapping[str, Any]) -> Instance:
        """Return an instance with the given field values."""
        return Instance(values, self.space.to_json(dict(values)))

    def instances(self, trials: int, seed: int) -> Iterator[tuple[str, Values]]:
        """Yield the instances of a check as pairs (origin, field values).

        The recorded counterexamples come first. All instances of a finite space, or `trials` drawn
        instances, follow. A drawn instance depends only on the seed and on its number.
        """
        for number, written in enumerate(self.counterexamples, 1):
            yield f"recorded counterexample {number}", self.space.from_json(written)
        for number, written in enumerate(self.every.instances() if self.every else ()):
            yield f"instance {number}", self.space.from_json(written)
        for number in range(0 if self.every else trials):
            yield f"instance {number}", self.space.draw(self.generator(seed, number), number)

    def generator(self, seed: int, number: int) -> np.random.Generator:
        """Return the random generator for the instance with the given number.

        It depends on the seed, the claim id and the number.
        """
        return np.random.default_rng([seed, zlib.crc32(self.id.encode()), number])

    def examine(
        self, statement: Statement, values: Values, origin: str, certificates: Path | None = None
    ) -> Evidence | None:
        """Measure a statement on an instance, and return the evidence.

        The result is None if the instance violates a hypothesis, or if the check yields nothing.
        `origin` describes where the instance comes from. `certificates` is the path prefix of the
        files to which certificates of optima are saved.
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

    def refutations(self, statement: Statement) -> Iterator[Evidence]:
        """Yield the evidence for each recorded counterexample that refutes the given statement."""
        for written in self.counterexamples:
            evidence = self.examine(statement, self.space.from_json(written), "on record")
            if evidence is not None and evidence.outcome == REFUTED:
                yield evidence

    def refutation(self) -> Evidence:
        """Return the evidence from the first recorded counterexample that refutes the claim.

        Raises
        ------
        InputError
            If no recorded counterexample refutes the claim.
        """
        for evidence in self.refutations(self.stated):
            return evidence
        raise InputError(f"no recorded counterexample of {self.id} refutes the claim")

    def command(self, action: str, options: str) -> str:
        """Return the command line for an action on the claim, "check" or "attack".

        `options` is appended to the command line.
        """
        # A step of a proof cannot be run alone. The command line repeats the whole claim.
        if not self.is_built_in:
            options = f" --file {shlex.quote(str(self.file or 'FILE'))}{options}"
        return f"relaxboost claims {action} {self.id.partition('/')[0]}{options}"

    def __call__(self, x: Instance, *options: Any) -> tuple[Slack, ...]:
        # A correction that reuses the check of the claim passes `options`.
        return self.stated.measure(x, *options)

    def corrected(self, words: str = "", formula: str = "") -> Callable[[Check], Correction]:
        """Return a decorator that declares a corrected statement of the claim.

        The decorated function checks this statement. By default its words and formula come from the
        next correction in the TOML file of the source. The decorator adds a method `step` to the
        function, which declares proof steps.
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
        """Return a decorator that declares the check of the next proof step as a separate `Claim`.

        Parameters
        ----------
        words, formula : str
            The statement of the step. By default it is the next step in the TOML file of the
            source.
        correction : int
            The statement that the step helps to prove: 0 is the claim as stated, 1 is the first
            correction, and so on.
        space : Space, optional
            The instance space of the step. By default it is the space of the claim.
        trials : int
            The number of instances to draw.
        every : Enumeration, optional
            All instances of a finite space, or `WorstCases` for a check that uses `worst_case`.
        resolution : float, optional
            The tolerance for equality of the two sides. By default it is the `resolution` of the
            claim.
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
                space=self.space if space is None else checked_space(self.id, space),
                resolution=self.resolution if resolution is None else resolution,
                trials=trials,
                every=every,
                file=self.file,
            )
            steps.append(one)
            return one

        return add

    def complete(self) -> None:
        """Raise an InputError if a correction or proof step in the TOML file has no check."""
        missing = len(self.corrected_texts) > len(self.corrections)
        if missing or any(len(one.step_texts) > len(one.steps) for one in self.statements):
            raise InputError(
                f"{self.id}: the TOML file of the source has a correction or a step without a check"
            )

    @explains_arguments(budget="pass trials=, the number of instances to draw")
    def check(
        self, trials: int | None = None, seed: int = 0, *, certificates: Path | str | None = None
    ) -> ClaimVerdict:
        """Check the claim on its recorded counterexamples, and on random and structured instances.

        If Ctrl-C interrupts the check, the verdict covers the instances checked so far, and its
        attribute `interrupted` is True.

        Parameters
        ----------
        trials : int, optional
            The number of instances to draw, at least 1. By default it is `self.trials`.
        seed : int
            The same seed always gives the same instances, no matter which other claims are checked.
            It must be an integer, because each instance has its own generator, derived from the
            seed and the instance number.
        certificates : path, optional
            A folder to which the certificate of every optimum is saved.
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

    @explains_arguments(trials="pass budget=, the number of instances to try")
    def attack(self, budget: int = 2000, seed: int = 0) -> ClaimVerdict:
        """Search for an instance that refutes the claim as stated, and simplify it.

        The search tries `budget` >= 1 instances, and then at most `budget` simpler ones. If Ctrl-C
        interrupts the attack, the verdict covers the instances tried so far.
        """
        budget = count("budget", budget)
        draw = partial(self.generator, natural("seed", seed))
        repeat = self.command("attack", f" --budget {budget} --seed {seed}")

        def work(parts: list[StatementVerdict]) -> None:
            for statement, part in zip(self.statements, parts, strict=True):
                examine = partial(self.examine, statement)
                found = search(examine, self.space, draw, budget, part)
                if found is not None:
                    self._repeat(examine, found[1])
                    part.counterexample = shrink(examine, self.space, *found, budget)

        verdict = self._verdict(work, seed, repeat)
        return replace(verdict, effort="budget", recording=self._recording(verdict.counterexample))

    def _repeat(self, examine: Examine, found: Evidence) -> None:
        again = examine(self.space.from_json(found.instance), found.origin)
        if again is None or again.outcome != REFUTED:
            raise InputError(
                f"the check of {self.id} must give the same result for the same instance, but it "
                f"refuted {found.origin} only the first time. Draw random numbers from x.rng"
            )

    def _recording(self, found: Evidence | None) -> str:
        """Return the line of Python that records a counterexample from an attack.

        The result is empty if there is no counterexample, if the claim already has a record, or if
        the line would have more than `MAX_INSTANCE_CHARACTERS` characters.
        """
        name = self.stated.check.__name__
        if found is None or self.has_record or not name.isidentifier():
            return ""
        line = f"{name}.counterexamples = [{found.instance}]"
        return line if len(line) <= MAX_INSTANCE_CHARACTERS else ""

    def _verdict(
        self, work: Callable[[list[StatementVerdict]], None], seed: int, repeat: str
    ) -> ClaimVerdict:
        parts = [StatementVerdict(statement.words) for statement in self.statements]
        start = time.perf_counter()
        interrupted = False
        try:
            work(parts)
        except (KeyboardInterrupt, SystemError) as error:
            # If no instance has been tried, there is no evidence to report.
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
            has_record=self.has_record,
        )


def statement_of(
    id: str, texts: Sequence[Mapping[str, Any]], before: Sequence[Any], words: str, formula: str
) -> Callable[[Check], Statement]:
    """Return a function that makes a `Statement` from the check of a correction or proof step.

    If `words` is empty, the words and the formula come from the next unused entry of `texts`. Each
    statement in `before` has used one entry.
    """
    # If the entry has no note, the note is empty and not the docstring of the check, because this
    # docstring only says what the check measures.
    written = {"note": "", **texts[len(before)]} if len(before) < len(texts) else {}
    if words:
        written = {"words": words, "formula": formula, "step": written.get("step", ())}
    if not written:
        raise InputError(
            f"{id}: a correction or a step needs words. Pass `words`, or add the words to the TOML "
            "file of the source"
        )
    return stated_by(written)


def certificate_folder(folder: Path | str) -> Path:
    """Return the path of the certificate folder, which is created if it is missing."""
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
        ends = str(bracket.lower), str(bracket.upper)
        yield Bound(optimum.game.digest, *ends, optimum.level, file)
