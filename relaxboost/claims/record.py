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
"""The statuses of a claim, other than "holds", that can be recorded."""

EXPECTED = "expected to hold"
"""The text that is printed for a claim without a recorded status."""

EVIDENCE = ("counterexample", "proof", "worst case", "exact", "instances")
"""The types of evidence for a verdict, as `Claim.evidence` returns them."""

ILLEGIBLE = "illegible in our copy"
"""The text of `Claim.printed` if the printed formula cannot be read in our copy of the source."""

_TEX = re.compile(r"\$|\\[A-Za-z]{2}|(?<![\w)\]}])\\[A-Za-z]|[\x00-\x09\x0b-\x1f]")
"""The regular expression that finds LaTeX commands in a text. It also finds control characters,
because Python reads the start of "\\rho" as one, unless the string is raw. It does not match the
set difference A\\B."""

_WORD = re.compile(r"(?:a )?[^\W\d_]{2,}(?![\w(])")
"""The regular expression for the first word of a statement, which may be capitalised. It does not
match symbols such as ρ_k, f(x) or max_γ, which must not be capitalised."""

Check: TypeAlias = Callable[..., "Iterable[Slack] | Slack"]


@dataclass(frozen=True)
class Enumeration:
    """All instances of a claim that has finitely many instances."""

    words: str
    """A description of all instances of the claim, e.g. "all 81 matrices 2 x 2 with entries −1, 0,
    1"."""
    instances: Callable[[], Iterable[Mapping[str, Any]]]
    """A function that returns all instances of the claim, in the form that `Space.to_json`
    returns."""


@dataclass(frozen=True)
class WorstCases(Enumeration):
    """A finite grid of parameters of a claim, for a check that calls `worst_case` at each point of
    the grid."""

    @classmethod
    def grid(cls, words: str, **values: Iterable[Any]) -> WorstCases:
        """Return the grid of all combinations of the values of the parameters.

        The last parameter varies fastest. `words` is a description of the grid.
        """
        rows = [dict(zip(values, row, strict=True)) for row in product(*values.values())]
        return cls(words, lambda: rows)


@dataclass(frozen=True)
class Statement:
    """A statement in words and as a formula, with the function that checks it.

    The statement is a claim as stated, a correction, or a step of a proof.
    """

    words: str
    formula: str
    check: Check
    steps: list[Any] = field(default_factory=list)
    """The steps in the proof of the statement. Each step is a `Claim`, and `note` describes the
    proof."""
    text: str | None = None
    """The explanation of the statement in the TOML file of the claim's source. It is None if the
    file has no explanation."""
    step_texts: Sequence[Mapping[str, Any]] = ()
    """The texts of the proof steps of the statement, as read from the TOML file of the claim's
    source."""

    @property
    def note(self) -> str:
        """The explanation of the statement. It is `text`, or the docstring of the check if `text`
        is None."""
        return (inspect.getdoc(self.check) or "") if self.text is None else self.text

    @property
    def code(self) -> str:
        """The location of the function that checks the statement, as ``file:line`` relative to the
        folder of the package."""
        parts = Path(inspect.unwrap(self.check).__code__.co_filename).parts
        start = len(parts) - 1 - parts[::-1].index("relaxboost") if "relaxboost" in parts else -1
        return f"{'/'.join(parts[start:])}:{self.line}"

    @property
    def line(self) -> int:
        """The number of the line at which the function that checks the statement starts."""
        return inspect.unwrap(self.check).__code__.co_firstlineno

    def measure(self, x: Instance, *options: Any) -> tuple[Slack, ...]:
        """Return the slack of each inequality of the statement on an instance, in order.

        `options` are additional arguments of the check.

        Raises
        ------
        Vacuous
            If the instance does not satisfy the hypotheses.
        InputError
            If the check yields an object that is not a `Slack`, or if `assume` fails after the
            check has measured an inequality. To skip the instance would discard this inequality.
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
            raise InputError(
                f"assume() must come before the first inequality, but {slacks[0]} was measured "
                "before it"
            ) from None
        return tuple(slacks)


def stated_by(texts: Mapping[str, Any]) -> Callable[[Check], Statement]:
    """Return a function that makes a `Statement` with the given texts from its check.

    The keys of the texts are "words", "formula", "note" and "step", as in the TOML file of a
    source.
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
    """Return the words of a statement as a sentence, without the prefix "reading: ".

    The corrections of an ambiguous claim have this prefix, because they are readings of its text.
    """
    words = words.removeprefix("reading: ")
    return words[:1].upper() + words[1:] if _WORD.match(words) else words


@dataclass(frozen=True)
class Correction:
    """A function that checks a corrected statement, and to which the steps of a proof can be added.
    The decorator `Claim.corrected` returns it.

    A call of the object calls the function. The method `step` declares a step in the proof of the
    correction.
    """

    check: Check
    step: Callable[..., Callable[[Check], Any]]
    """The method `Claim.step`, which declares the steps of the proof of this correction."""

    def __call__(self, x: Instance, *options: Any) -> Any:
        return self.check(x, *options)


@dataclass(frozen=True)
class Unchecked:
    """A statement of a paper or lecture that cannot be checked numerically, with the reason."""

    id: str
    location: str
    words: str
    reason: str
