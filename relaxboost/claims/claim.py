"""A claim: a statement of the literature, the data it is about, and the function that checks it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from relaxboost.claims.instance import Instance
from relaxboost.claims.measure import HOLDS, Slack, Vacuous
from relaxboost.claims.spaces import Space
from relaxboost.claims.verdict import CORRECTED, FAILS
from relaxboost.errors import InputError

if TYPE_CHECKING:
    from relaxboost.claims.verdict import Verdict

Check: TypeAlias = Callable[[Any], "Iterable[Slack] | Slack"]


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

    def measure(self, x: Instance) -> tuple[Slack, ...]:
        """Return the slack of each inequality of an instance, in order; `Vacuous` if none is.

        Raises
        ------
        InputError
            For a check that gives something else, or finds the hypotheses not met after it has
            measured an inequality, which would be lost.
        """
        found = self.check(x)
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


@dataclass(repr=False)
class Claim:
    """A claim of a source. Made by `Source.claim`; corrections by `corrected`.

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
        Instances that refute it as stated, the smallest first, spelled as in files. Every check
        begins with them.
    corrections : list of Statement
    resolution : float
        How far below zero an interval of the slack that contains zero may reach, for the two
        sides to count as equal; beyond, the instance is undecided.
    trials : int
        Instances that a check draws by default.
    file : Path or None
        The reader's file it was loaded from; None for those that come with the package.
    """

    id: str
    source: Source
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

    def corrected(self, words: str, formula: str = "") -> Callable[[Check], Check]:
        """Decorate the check of a corrected statement, on the same data."""

        def add(check: Check) -> Check:
            self.corrections.append(Statement(words, formula, check))
            return check

        return add

    def check(
        self,
        trials: int | None = None,
        seed: int = 0,
        *,
        certificates: Path | str | None = None,
    ) -> Verdict:
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
        from relaxboost.claims.checking import check

        return check(self, trials, seed, certificates)

    def attack(self, budget: int = 2000, seed: int = 0) -> Verdict:
        """Search for an instance that refutes the claim as stated, and shrink what is found.

        Parameters
        ----------
        budget : int
            Instances to try, >= 1; shrinking may take as many again.
        seed : int
        """
        from relaxboost.claims.attacking import attack

        return attack(self, budget, seed)

    def instance(self, spelled: Mapping[str, Any]) -> Instance:
        """Return the instance that was spelled, e.g. a counterexample, for a look at it by hand."""
        return self.make(self.space.read(spelled))

    def make(self, values: Mapping[str, Any]) -> Instance:
        """Return an instance from values."""
        return Instance(values, self.space.spell(dict(values)))


class Source:
    """A paper or lecture, with its claims in the order of the text.

    Parameters
    ----------
    key : str
        What its ids begin with, e.g. "SS09".
    reference : str
        Authors, year, title and place.
    """

    def __init__(self, key: str, reference: str) -> None:
        self.key, self.reference = key, reference
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
        resolution: float = 1e-7,
        trials: int = 100,
    ) -> Callable[[Check], Claim]:
        """Decorate the check of a claim: a function of an `Instance` that yields `Slack`."""
        id = f"{self.key}-{name}"
        if id in self.claims:
            raise InputError(f"there is a claim {id} already")
        for number, spelled in enumerate(counterexamples, 1):
            try:
                space.read(spelled)
            except InputError as error:
                raise InputError(f"counterexample {number} of {id}: {error}") from None

        def make(check: Check) -> Claim:
            stated = Statement(words, formula, check)
            claim = Claim(
                id, self, location, stated, given, space, counterexamples, [], resolution, trials
            )
            self.claims[id] = claim
            return claim

        return make

    def unchecked(self, name: str, location: str, words: str, reason: str) -> None:
        """List a statement that cannot be checked numerically."""
        self.not_checked.append(Unchecked(f"{self.key}-{name}", location, words, reason))
