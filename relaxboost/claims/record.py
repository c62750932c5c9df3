"""A claim on record: its statements, the data they are about, and what an instance says of it."""

from __future__ import annotations

import inspect
import shlex
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import HOLDS, REFUTED, TIGHT, UNDECIDED, Slack, Vacuous
from relaxboost.claims.spaces import Space, Values
from relaxboost.claims.verdict import CORRECTED, FAILS, Bound, Evidence

_GRAVITY = {REFUTED: 0, UNDECIDED: 1, TIGHT: 2, HOLDS: 3}

Check: TypeAlias = Callable[..., "Iterable[Slack] | Slack"]
CheckT = TypeVar("CheckT", bound=Check)


@dataclass(frozen=True)
class Statement:
    """What is stated, in words and as a formula, and the function that measures it."""

    words: str
    formula: str
    check: Check

    @property
    def note(self) -> str:
        """The docstring of the check: how it is derived, what is wrong, where it is tight."""
        return inspect.getdoc(self.check) or ""

    @property
    def code(self) -> str:
        """The file, from the folder of the package on, and the line of the check."""
        parts = Path(inspect.unwrap(self.check).__code__.co_filename).parts
        start = len(parts) - 1 - parts[::-1].index("relaxboost") if "relaxboost" in parts else -1
        return f"{'/'.join(parts[start:])}:{self.line}"

    @property
    def line(self) -> int:
        """The line of the check in its file."""
        return inspect.unwrap(self.check).__code__.co_firstlineno

    def measure(self, x: Instance, *options: Any) -> tuple[Slack, ...]:
        """Return the slack of each inequality of an instance, in order; `Vacuous` if none is.

        `options` are those of the check, where a correction shares it.

        Raises
        ------
        InputError
            For a check that gives something else, or finds the hypotheses not met after it has
            measured an inequality, which would be lost.
        """
        found = self.check(x, *options)
        slacks: list[Slack] = []
        try:
            for slack in found if isinstance(found, Iterable) else (found,):
                if not isinstance(slack, Slack):
                    raise InputError(
                        f"a check returns or yields at_most, at_least or equal, not {slack!r}"
                    )
                slacks.append(slack)
        except Vacuous:
            if not slacks:
                raise
            raise InputError(
                f"assume() came after {slacks[0]} was measured; hypotheses come first"
            ) from None
        return tuple(slacks)


@dataclass(frozen=True)
class Unchecked:
    """A statement that cannot be checked numerically, and why."""

    id: str
    location: str
    words: str
    reason: str


@dataclass(repr=False, kw_only=True)
class ClaimRecord:
    """A claim as it is on record, and the instances it is tried on.

    Attributes
    ----------
    id : str
        The source and the statement, e.g. "SS09-T9".
    location : str
        Where it is in the source.
    stated : Statement
    given : str
        The hypotheses.
    space : Space
        The data it is about, and where instances come from.
    counterexamples : list of mapping
        Instances that refute it as stated, the smallest first, as in files. Every check begins
        with them.
    corrections : list of Statement
    resolution : float
        How far below zero an interval of the slack that contains zero may reach, for the two
        sides to count as equal. Beyond, the instance is undecided.
    trials : int
        Instances that a check draws by default.
    file : Path or None
        The reader's file it was loaded from; None for those that come with the package.
    """

    id: str
    location: str
    stated: Statement
    given: str
    space: Space
    counterexamples: Sequence[Mapping[str, Any]] = ()
    corrections: list[Statement] = field(default_factory=list)
    resolution: float = 1e-7
    trials: int = 100
    file: Path | None = None

    def __repr__(self) -> str:
        return f"<Claim {self.id}: {self.status}>"

    @property
    def status(self) -> str:
        """The status on record: "holds", "fails" or "holds with correction"."""
        if not self.counterexamples:
            return HOLDS
        return CORRECTED if self.corrections else FAILS

    def instance(self, written: Mapping[str, Any]) -> Instance:
        """Return an instance written as in files, e.g. a counterexample, to look at by hand."""
        return self.make(self.space.from_json(written))

    def make(self, values: Mapping[str, Any]) -> Instance:
        """Return an instance from values."""
        return Instance(values, self.space.to_json(dict(values)))

    def instances(self, trials: int, seed: int) -> Iterator[tuple[str, Values]]:
        """Yield the recorded counterexamples, then instances drawn, each with where it is from.

        An instance depends on its number only, not on how many there are.
        """
        for number, written in enumerate(self.counterexamples, 1):
            yield f"recorded counterexample {number}", self.space.from_json(written)
        for number in range(trials):
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

        Returns
        -------
        Evidence or None
            None if the instance does not meet the hypotheses.
        """
        x = self.make(values)
        try:
            slacks = statement.measure(x)
        except Vacuous:
            return None
        except Exception as error:
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
        """Return the command that repeats a check or an attack."""
        file = "" if self.file is None else f" --file {shlex.quote(str(self.file))}"
        return f"relaxboost claims {action} {self.id}{file}{options}"


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
