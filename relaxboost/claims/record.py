"""The record of a claim: its statements, the functions that check them, and the evidence."""

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
"""The recorded statuses other than "holds"."""

COUNTEREXAMPLE, PROOF, WORST = "counterexample", "proof", "worst case"
EXACT, INSTANCES = "exact", "instances"
"""The types of evidence for a verdict."""

ILLEGIBLE = "illegible in our copy"
"""The text that replaces a printed formula if our copy of the source does not show it."""

Check: TypeAlias = Callable[..., "Iterable[Slack] | Slack"]


@dataclass(frozen=True)
class Enumeration:
    """All instances of a finite space."""

    words: str
    """A description of the instances, e.g. "all 81 matrices 2 x 2 with entries −1, 0, 1"."""
    instances: Callable[[], Iterable[Mapping[str, Any]]]
    """A function that returns the instances in the format of files."""


@dataclass(frozen=True)
class WorstCases(Enumeration):
    """A grid of parameters.

    For each, the check uses `worst_case` to cover all instances at once.
    """

    @classmethod
    def grid(cls, words: str, **values: Iterable[Any]) -> WorstCases:
        """Return the grid of all combinations of the parameters.

        The last parameter varies fastest.
        """
        names, given = [*values], [[*one] for one in values.values()]
        rows = [dict(zip(names, row, strict=True)) for row in product(*given)]
        return cls(words, lambda: rows)


@dataclass(frozen=True)
class Statement:
    """A statement in words and as a formula, with the function that checks it."""

    words: str
    formula: str
    check: Check
    steps: list[Any] = field(default_factory=list)
    """Of the proof in the note: claims; none where no proof is given."""
    text: str | None = None
    """The note, if the texts of its source say what it is; None leaves it to the docstring."""
    step_texts: Sequence[Mapping[str, Any]] = ()
    """The texts of the steps in order, from the TOML file of the source."""

    @property
    def note(self) -> str:
        """How it is derived, what is wrong, where it is tight: by default the check's docstring."""
        return (inspect.getdoc(self.check) or "") if self.text is None else self.text

    @property
    def code(self) -> str:
        """The file of the check, relative to the folder of the package, and its line."""
        parts = Path(inspect.unwrap(self.check).__code__.co_filename).parts
        start = len(parts) - 1 - parts[::-1].index("relaxboost") if "relaxboost" in parts else -1
        return f"{'/'.join(parts[start:])}:{self.line}"

    @property
    def line(self) -> int:
        """The line number of the check in its file."""
        return inspect.unwrap(self.check).__code__.co_firstlineno

    def measure(self, x: Instance, *options: Any) -> tuple[Slack, ...]:
        """Return the slack of each inequality on an instance, in order.

        Raise `Vacuous` if there is none.

        `options` are further arguments of the check. A correction that reuses the check
        passes them.

        Raises
        ------
        InputError
            If the check yields an object that is not a `Slack`, or if `assume` fails after the
            check has measured an inequality. This inequality would otherwise be lost.
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
    """The check of a correction. It can be called like the check, and `step` declares its proof."""

    check: Check
    step: Callable[..., Callable[[Check], Any]]
    """The method `Claim.step`, bound to the proof of this correction."""

    def __call__(self, x: Instance, *options: Any) -> Any:
        return self.check(x, *options)


@dataclass(frozen=True)
class Unchecked:
    """A statement that cannot be checked numerically, with the reason."""

    id: str
    location: str
    words: str
    reason: str
