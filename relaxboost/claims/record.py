"""The record of a claim: its statements, their checks, and the types of evidence."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from relaxboost._core.errors import InputError
from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import Slack, Vacuous

FALSE, MISPRINT, AMBIGUOUS, OPEN = "false as stated", "misprint", "ambiguous", "open"
"""The recordable statuses of a claim other than "holds"."""

EXPECTED = "expected to hold"
"""The text that is printed for a claim without a recorded status."""

EVIDENCE = ("counterexample", "proof", "worst case", "exact", "instances")
"""The types of evidence that `Claim.evidence` returns."""

ILLEGIBLE = "illegible in our copy"
"""The value of `Claim.printed` if the formula cannot be read in our copy of the source."""

_TEX = re.compile(r"\$|\\[A-Za-z]{2}|(?<![\w)\]}])\\[A-Za-z]|[\x00-\x09\x0b-\x1f]")
"""A regular expression for LaTeX commands in a text. It also finds control characters, because
Python reads the start of "\\rho" as a control character, unless the string is raw. It does not
match the set difference A\\B."""

_WORD = re.compile(r"(?:a )?[^\W\d_]{2,}(?![\w(])")
"""A regular expression for the first word of a statement, if this word may be capitalised. Symbols
such as ρ_k, f(x) or max_γ must not be capitalised."""

Check: TypeAlias = Callable[..., "Iterable[Slack] | Slack"]


@dataclass(frozen=True)
class Enumeration:
    """All instances of a claim with finitely many instances."""

    words: str
    """A description of the instances, e.g. "all 81 matrices 2 x 2 with entries −1, 0, 1"."""
    instances: Callable[[], Iterable[Mapping[str, Any]]]
    """A function that returns all instances in the format of `Space.to_json`."""


@dataclass(frozen=True)
class WorstCases(Enumeration):
    """A finite parameter grid for a check that calls `worst_case` at each grid point."""

    @classmethod
    def grid(cls, words: str, **values: Iterable[Any]) -> WorstCases:
        """Return the grid of all combinations of the parameter values.

        The last parameter varies fastest. `words` is a description of the grid.
        """
        rows = [dict(zip(values, row, strict=True)) for row in product(*values.values())]
        return cls(words, lambda: rows)


@dataclass(frozen=True)
class Statement:
    """A statement in words and as a formula, with its check.

    The statement is a claim as stated, a correction, or a proof step.
    """

    words: str
    formula: str
    check: Check
    steps: list[Any] = field(default_factory=list)
    """The proof steps, each of which is a `Claim`. `note` describes the proof."""
    text: str | None = None
    """The explanation in the TOML file of the source, or None."""
    step_texts: Sequence[Mapping[str, Any]] = ()
    """The texts of the proof steps in the TOML file of the source."""

    @property
    def note(self) -> str:
        """The explanation of the statement: `text`, or the docstring of the check if `text` is
        None.
        """
        return (inspect.getdoc(self.check) or "") if self.text is None else self.text

    @property
    def code(self) -> str:
        """The location of the check, as ``file:line`` relative to the package folder."""
        parts = Path(inspect.unwrap(self.check).__code__.co_filename).parts
        start = len(parts) - 1 - parts[::-1].index("relaxboost") if "relaxboost" in parts else -1
        return f"{'/'.join(parts[start:])}:{self.line}"

    @property
    def line(self) -> int:
        """The line number at which the check starts."""
        return inspect.unwrap(self.check).__code__.co_firstlineno

    def measure(self, x: Instance, *options: Any) -> tuple[Slack, ...]:
        """Return the slack of each inequality on an instance, in order.

        `options` are additional arguments of the check.

        Raises
        ------
        Vacuous
            If the instance does not satisfy the hypotheses.
        InputError
            If the check yields an object that is not a `Slack`, or if `assume` fails after an
            inequality was measured.
        """
        found = self.check(x, *options)
        slacks: list[Slack] = []
        try:
            for slack in found if isinstance(found, Iterable) else (found,):
                if not isinstance(slack, Slack):
                    raise InputError(
                        "a check must return or yield at_most(...), at_least(...) or equal(...), "
                        f"got {slack!r}"
                    )
                slacks.append(slack)
        except Vacuous:
            if not slacks:
                raise
            # To skip the instance would discard the inequalities that were already measured.
            raise InputError(
                f"assume() must come before the first inequality, but {slacks[0]} was measured "
                "before it"
            ) from None
        return tuple(slacks)


def stated_by(texts: Mapping[str, Any]) -> Callable[[Check], Statement]:
    """Return a function that makes a `Statement` from a check and the given texts.

    The keys are "words", "formula", "note" and "step", as in the TOML file of a source.
    """
    words, formula = texts["words"], texts.get("formula", "")
    for text in (words, formula):
        if _TEX.search(str(text)):
            raise InputError(
                f"words and formulas of a claim must be Unicode text, not LaTeX, got {text!r}. "
                'Write, for example, "ρ([A, a₁]) ≥ ρ(A)" or "ρ_{k+1} ≤ ρ_k"'
            )
    return partial(
        Statement,
        words,
        formula,
        text=texts.get("note"),
        step_texts=texts.get("step", ()),
    )


def reading(words: str) -> str:
    """Return the words of a statement as a sentence, without the prefix "reading: " of ambiguous
    claims.
    """
    words = words.removeprefix("reading: ")
    return words[:1].upper() + words[1:] if _WORD.match(words) else words


@dataclass(frozen=True)
class Correction:
    """A check of a corrected statement, to which proof steps can be added.

    `Claim.corrected` returns it. A call of the object calls the check, and `step` declares a proof
    step.
    """

    check: Check
    step: Callable[..., Callable[[Check], Any]]
    """The method `Claim.step`, which declares proof steps of this correction."""

    def __call__(self, x: Instance, *options: Any) -> Any:
        return self.check(x, *options)


@dataclass(frozen=True)
class Unchecked:
    """A statement that cannot be checked numerically, with the reason."""

    id: str
    location: str
    words: str
    reason: str
