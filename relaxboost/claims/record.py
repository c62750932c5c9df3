"""What is on record of a claim: statements, the functions that measure them, what they rest on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from relaxboost._core.errors import InputError
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import Slack, Vacuous
from relaxboost.claims.outline import Misprint as Misprint

FALSE, MISPRINT, AMBIGUOUS, OPEN = "false as stated", "misprint", "ambiguous", "open"
"""Statuses on record, beside "holds"."""

COUNTEREXAMPLE, PROOF, WORST = "counterexample", "proof", "worst case"
EXACT, INSTANCES = "exact", "instances"
"""What a verdict rests on."""

ILLEGIBLE = "illegible in our copy"
"""In place of a printed formula that the text at hand does not show."""

Check: TypeAlias = Callable[..., "Iterable[Slack] | Slack"]


@dataclass(frozen=True)
class Enumeration:
    """All instances of a finite space."""

    words: str
    """Which they are, e.g. "all 81 matrices 2 x 2 with entries −1, 0, 1"."""
    instances: Callable[[], Iterable[Mapping[str, Any]]]
    """Each as in files."""


@dataclass(frozen=True)
class WorstCases(Enumeration):
    """Parameters whose check is about all instances at once, by `worst_case`."""

    @classmethod
    def grid(cls, words: str, **values: Iterable[Any]) -> WorstCases:
        """Return all combinations of the values of parameters, the last name varying first."""
        names, given = [*values], [[*one] for one in values.values()]
        rows = [dict(zip(names, row, strict=True)) for row in product(*given)]
        return cls(words, lambda: rows)


@dataclass(frozen=True)
class Statement:
    """What is stated, in words and as a formula, and the function that measures it."""

    words: str
    formula: str
    check: Check
    steps: list[Any] = field(default_factory=list)
    """Of the proof in the note: claims; none where no proof is given."""
    text: str | None = None
    """The note, if the texts of its source say what it is; None leaves it to the docstring."""
    step_texts: Sequence[Mapping[str, Any]] = ()
    """The texts of the steps in the tables of its source, in order."""

    @property
    def note(self) -> str:
        """How it is derived, what is wrong, where it is tight: by default the check's docstring."""
        return (inspect.getdoc(self.check) or "") if self.text is None else self.text

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


def stated_by(texts: Mapping[str, Any]) -> Callable[[Check], Statement]:
    """Return what makes a statement of its check, by its texts in the tables of a source."""
    note, steps = texts.get("note"), texts.get("step", ())
    formula = texts.get("formula", "")
    return partial(Statement, texts["words"], formula, text=note, step_texts=steps)


@dataclass(frozen=True)
class Correction:
    """What `Claim.corrected` makes of a check: to be called like it, and to be proved in steps."""

    check: Check
    step: Callable[..., Callable[[Check], Any]]
    """`Claim.step`, for the proof of this correction."""

    def __call__(self, x: Instance, *options: Any) -> Any:
        return self.check(x, *options)


@dataclass(frozen=True)
class Unchecked:
    """A statement that cannot be checked numerically, and why."""

    id: str
    location: str
    words: str
    reason: str
