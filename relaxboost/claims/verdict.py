"""Verdicts on claims: the evidence, and the status that follows from it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from relaxboost._core.errors import number_of
from relaxboost.claims.measure import HOLDS, REFUTED, TIGHT, UNDECIDED, Slack
from relaxboost.claims.record import AMBIGUOUS, FALSE, MISPRINT, OPEN

MIN_APPLICABLE_SHARE = 0.05
"""The share of the instances that must satisfy the hypotheses. If fewer do, the verdict is
"undecided"."""


@dataclass(frozen=True)
class Bound:
    """The bounds on the optimum of a game, as stored in a verdict."""

    digest: str
    """The SHA-256 digest of the game in certificates."""
    lower: str
    upper: str
    """The upper bound. Like `lower`, it is a string that contains a fraction or a float."""
    level: str
    """The level of proof: "exact" (rational arithmetic), "enclosed" (interval arithmetic) or
    "numerical" (floats)."""
    file: str = ""
    """The certificate file, or an empty string if no certificates were requested."""


@dataclass(frozen=True)
class Evidence:
    """An instance of a claim, with the slacks of a statement on it."""

    origin: str
    """The origin of the instance, e.g. "recorded counterexample 1" or "instance 17"."""
    instance: dict[str, Any]
    """The instance in the format of `Space.to_json`."""
    slack: Slack
    """The slack of the decisive inequality."""
    outcome: str
    """The outcome: "holds", "tight", "undecided" or "refuted"."""
    slacks: tuple[Slack, ...]
    """The slacks of all inequalities, in the order of the check."""
    optima: tuple[Bound, ...]
    """The bounds on the certified optima that the check used."""

    @property
    def measured(self) -> str:
        """The two sides of the decisive inequality as text, and whether they are equal up to the
        resolution of the claim.
        """
        return f"{self.slack} (tight)" if self.outcome == TIGHT else str(self.slack)

    def data(self) -> dict[str, Any]:
        """Return the evidence in a form that JSON can store."""
        return {
            "origin": self.origin,
            "instance": self.instance,
            "outcome": self.outcome,
            "slack": [_finite(self.slack.low), _finite(self.slack.high)],
            "left": _finite(self.slack.left),
            "right": _finite(self.slack.right),
            "where": self.slack.where,
            "round": self.slack.round,
            "optima": [vars(bound) for bound in self.optima],
        }


@dataclass
class StatementVerdict:
    """The verdict on a claim as stated, or on a correction."""

    words: str
    """The checked statement in words."""
    counts: Counter[str] = field(default_factory=Counter)
    """The number of instances with each outcome: "holds", "tight", "undecided" and "refuted". The
    key "vacuous" counts the instances that violate the hypotheses."""
    slacks: list[float] = field(default_factory=list)
    """The least relative slack on each instance that satisfies the hypotheses."""
    outcomes: list[str] = field(default_factory=list)
    """The outcome of each instance that satisfies the hypotheses, e.g. "holds"."""
    inequalities: int = 0
    """The number of measured inequalities and equations on all instances together."""
    least: Evidence | None = None
    """The instance with the least relative slack that does not refute the statement."""
    counterexample: Evidence | None = None
    """The first instance that refutes the statement, or None. An attack simplifies it."""
    optima: int = 0
    """The number of rigorously proved game optima that the check used."""
    known: list[Evidence | None] = field(default_factory=list)
    """The evidence from each recorded counterexample, or None if it violates the hypotheses of the
    statement."""
    steps: list[ClaimVerdict] = field(default_factory=list)
    """The verdicts on the proof steps. The list is empty if no proof is checked."""

    @property
    def status(self) -> str:
        """The status that follows from the evidence: "refuted", "undecided" or "holds"."""
        if self.counts[REFUTED]:
            return REFUTED
        if any(step.status != HOLDS for step in self.steps):
            return UNDECIDED
        enough = (
            self.tried >= MIN_APPLICABLE_SHARE * (self.tried + self.counts["vacuous"])
            and self.tried
        )
        return HOLDS if enough and not self.counts[UNDECIDED] else UNDECIDED

    @property
    def is_rare(self) -> bool:
        """Whether the statement is undecided only because too few instances meet the hypotheses."""
        if self.status != UNDECIDED or self.counts[UNDECIDED]:
            return False
        return all(step.status == HOLDS or step.stated.is_rare for step in self.steps)

    @property
    def tried(self) -> int:
        """The number of instances that satisfy the hypotheses."""
        return sum(self.counts[outcome] for outcome in (HOLDS, TIGHT, UNDECIDED, REFUTED))

    def add(self, evidence: Evidence | None) -> None:
        """Count an instance, and store its evidence if it is decisive.

        The evidence is None if the instance violates the hypotheses.
        """
        if evidence is None:
            self.counts["vacuous"] += 1
            return
        self.counts[evidence.outcome] += 1
        self.slacks.append(evidence.slack.relative)
        self.outcomes.append(evidence.outcome)
        self.inequalities += len(evidence.slacks)
        self.optima += sum(bound.level != "numerical" for bound in evidence.optima)
        if evidence.outcome == REFUTED:
            if self.counterexample is None:
                self.counterexample = evidence
        elif self.least is None or evidence.slack.relative < self.least.slack.relative:
            self.least = evidence

    def data(self) -> dict[str, Any]:
        """Return the verdict in a form that JSON can store."""
        return {
            "statement": self.words,
            "status": self.status,
            "instances": self.tried,
            "counts": dict(sorted(self.counts.items())),
            "inequalities": self.inequalities,
            "optima": self.optima,
            "least": None if self.least is None else self.least.data(),
            "counterexample": None if self.counterexample is None else self.counterexample.data(),
            "steps": [step.data() for step in self.steps],
            "known": [None if evidence is None else evidence.data() for evidence in self.known],
        }


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict on a claim: the evidence, and the status that follows from it.

    If no instance refutes the claim as stated, ``status`` is "holds", "undecided" or "open".
    Otherwise it is "misprint" or "ambiguous" if this is the recorded status, and "false as stated"
    for any other recorded status.
    """

    id: str
    recorded: str
    """The recorded status or, for a claim without a record, the status that its author expects."""
    stated: StatementVerdict
    corrections: tuple[StatementVerdict, ...]
    seed: int
    repeat: str
    """The command line that repeats the check or the attack."""
    seconds: float
    interrupted: bool = False
    """Whether Ctrl-C stopped the check or the attack before all instances were tried."""
    effort: str = "trials"
    """The option that sets the number of instances: "trials" in a check, "budget" in an attack."""

    has_record: bool = True
    """Whether the status of the claim is recorded, as in `Claim.has_record`."""
    recording: str = ""
    """The line of Python that records the counterexample from an attack. It is empty if there is no
    counterexample, if the claim already has a record, or if the line would be too long."""

    @property
    def status(self) -> str:
        """The status that follows from the evidence."""
        if self.stated.status == REFUTED:
            return self.recorded if self.recorded in (MISPRINT, AMBIGUOUS) else FALSE
        return OPEN if self.recorded == OPEN else self.stated.status

    @property
    def agrees(self) -> bool:
        """Whether the verdict agrees with the record, and the check was not interrupted.

        To agree, the status must be the recorded one, every recorded counterexample must refute the
        claim, and every correction must hold. The other readings of an ambiguous claim may be
        refuted, but not undecided.
        """
        return not (self.unsettled or self.idle or self.interrupted)

    @property
    def unsettled(self) -> list[StatementVerdict]:
        """The verdicts on the statements whose status differs from the record."""
        settled = (HOLDS, REFUTED) if self.recorded == AMBIGUOUS else (HOLDS,)
        wrong = [part for part in self.corrections if part.status not in settled]
        return wrong if self.status == self.recorded else [self.stated, *wrong]

    @property
    def remedy(self) -> str:
        """The advice to try more instances, or an empty string if they alone cannot settle the
        claim.
        """
        parts = self.unsettled
        if self.idle or self.interrupted or not parts or not all(part.is_rare for part in parts):
            return ""
        return f"too few instances meet the hypotheses; give more --{self.effort}"

    @property
    def expectation(self) -> str:
        """The status that the author of a claim without a record expects, as text."""
        return f"its author expects: {self.recorded}"

    @property
    def idle(self) -> list[int]:
        """The numbers, from 1, of the recorded counterexamples that do not refute the claim."""
        refuted = (known is not None and known.outcome == REFUTED for known in self.stated.known)
        return [number for number, refutes in enumerate(refuted, 1) if not refutes]

    @property
    def optima(self) -> int:
        """The number of rigorously proved game optima that the check used, proof steps included."""
        parts = (self.stated, *self.corrections)
        return sum(part.optima + sum(step.optima for step in part.steps) for part in parts)

    @property
    def counterexample(self) -> Evidence | None:
        """The instance that refutes the claim as stated, or None."""
        return self.stated.counterexample

    @property
    def decisive(self) -> Evidence | None:
        """The counterexample or, without one, the instance with the least relative slack."""
        return self.stated.counterexample or self.stated.least

    def data(self) -> dict[str, Any]:
        """Return the verdict in a form that JSON can store."""
        return {
            "id": self.id,
            "status": self.status,
            "recorded": self.recorded,
            "agrees": self.agrees,
            "stated": self.stated.data(),
            "corrections": [part.data() for part in self.corrections],
            "seed": self.seed,
            "repeat": self.repeat,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
        }

    def __str__(self) -> str:
        lines = [f"{self.id}: {self._status()}"]
        lines += [f"  counterexample {number} on record does not refute it" for number in self.idle]
        if self.remedy:
            lines.append(f"  {self.remedy}")
        elif self.status == self.recorded and not (self.agrees or self.idle or self.interrupted):
            lines.append("  a correction on record does not hold")
        lines += self._stated("as stated", self.stated)
        other = "reading" if self.recorded == AMBIGUOUS else "corrected"
        for part in self.corrections:
            lines += self._stated(f"{other}, {part.words.rstrip('.')}", part)
        lines.append(f"  again: {self.repeat}")
        if self.recording:
            lines.append(f"  record it: {self.recording}")
        return "\n".join(lines)

    def _status(self) -> str:
        if self.interrupted:
            return f"interrupted; so far {self.status}"
        if self.status == self.recorded:
            return self.status
        expected = f", not {self.recorded}" if self.has_record else f"; {self.expectation}"
        return self.status + expected

    def _stated(self, title: str, part: StatementVerdict) -> Iterator[str]:
        if self.interrupted and not part.counts:
            yield f"  {title}: not reached"
            return
        yield f"  {title}: {part.status} {_counted(part)}"
        if not part.tried:
            yield "    no instance meets the hypotheses, or the check yields nothing"
        if part.counterexample is not None:
            found = part.counterexample
            yield f"    refuted: {found.slack}"
            yield f"      by {found.origin}: {in_one_line(found.instance)}"
        if part.least is not None:
            yield f"    least slack: {part.least.measured}, {part.least.origin}"
        if part.steps:
            yield f"    proof: {_proved(part)}{' so far' * self.interrupted}"


def _proved(part: StatementVerdict) -> str:
    wrong = []
    for step in part.steps:
        if step.status != HOLDS:
            found = step.decisive
            where = "on no instance"
            if found is not None:
                where = f"{found.slack}, {found.origin}: {in_one_line(found.instance)}"
            wrong.append(f"{step.id} {step.stated.status}, {where}")
    return "; ".join(wrong) or f"{number_of(len(part.steps), 'step')}, each checked"


def in_one_line(instance: dict[str, Any]) -> str:
    """Return an instance on one line: ``A = [[1/10, 9/10], [-3/5, 0]], epsilon = 3/10``."""
    return ", ".join(f"{name} = {value}" for name, value in instance.items()).replace("'", "")


def _finite(x: float) -> float | str:
    # JSON has no infinity and no nan, so that such numbers become strings.
    return x if math.isfinite(x) else str(x)


def _counted(part: StatementVerdict) -> str:
    tried = number_of(part.tried, "instance")
    refuted = part.counts[REFUTED]
    parts = [f"by {refuted} of {tried}" if refuted else f"on {tried}"]
    for outcome in (TIGHT, UNDECIDED, "vacuous"):
        if part.counts[outcome]:
            parts.append(f"{part.counts[outcome]} {outcome}")
    if part.optima:
        parts.append(f"{part.optima} {optima_of(part.optima)}")
    return ", ".join(parts)


def optima_of(count: int) -> str:
    """Return "certified optimum" if `count` is 1, and "certified optima" otherwise."""
    return "certified optimum" if count == 1 else "certified optima"
