"""Findings: statements of the paper, and whether the numbers of a rerun agree with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.reproductions.curves import end, ends, late_gain, least, middle, reaches, start
from benchmarks.reproductions.runs import Result

Results = dict[str, list[Result]]
"""Results by algorithm, one for each seed."""
Grid = dict[float, dict[str, Result]]
"""The runs of the first seed, by scale and algorithm."""

OTHERS = ("repeated", "residual")
FAILING = ("connect4", "letter")
"""The sets on which the paper reports that the naive algorithm "clearly fails to converge"."""

APART = 0.02
"""Two losses differ if their distance is at least this share of the loss of f = 0."""
GAIN = 0.01
"""A run is stuck if its second half lowers the least loss by less than this share of the start."""
REPEATS = 8
"""A run cycles if its second half takes each of its splits at least this often on average."""


class Finding(NamedTuple):
    """A statement, whether the numbers agree with it, and the numbers."""

    set: str
    statement: str
    agrees: bool | None
    """None if the paper does not make the statement."""
    numbers: str

    def line(self) -> str:
        """Return the finding as a line of text."""
        word = {True: "agrees", False: "does not agree", None: "not in the paper"}[self.agrees]
        return f"{self.set}: {word}: {self.statement}: {self.numbers}"


def judged(
    name: str, statement: str, results: Results, test: Callable[[Results], tuple[bool, str]]
) -> Finding:
    """Return a finding that agrees if the test holds for medians and for most of the runs."""
    agrees, numbers = test(results)
    runs = len(results["naive"])
    often = sum(test({a: [one[n]] for a, one in results.items()})[0] for n in range(runs))
    return Finding(
        name, statement, agrees and 2 * often > runs, f"{numbers}; so in {often} of {runs} runs"
    )


def multiclass(name: str, results: Results, grid: Grid) -> list[Finding]:
    """Return the findings on a set of Fig. 3."""
    rates = judged(name, "repeated and residual train at similar rates", results, _rates)
    if name not in FAILING:
        what = "naive makes progress (no failure is reported)"
        return [judged(name, what, results, _progresses), rates]
    return [
        judged(name, "naive fails to converge", results, _stuck),
        judged(name, "naive cycles through the same weak learners", results, _cycles),
        _any_step(name, grid),
        rates,
    ]


def ranking(name: str, results: Results, grid: Grid) -> list[Finding]:
    """Return the findings on a set of Fig. 2."""
    what = "where test disagreement is least (beyond it they overfit)"
    found = _bottoms(results, "test_score")[1:]
    bottoms = [f"{a} is least at {at:.0f} learners, {low:.3f}" for a, low, at in found]
    seeds = range(len(results["naive"]))
    stuck = sum(_stuck({a: [one[n]] for a, one in results.items()})[0] for n in seeds)
    often = f"naive is stuck in training in {stuck} of {len(seeds)} runs"
    return [
        _lower(name, results, "test_score", "disagreement"),
        Finding(name, often, None, _stuck(results)[1]),
        _any_step(name, grid),
        Finding(name, what, None, "; ".join(bottoms)),
    ]


def planning(name: str, results: Results, grid: Grid) -> list[Finding]:
    """Return the findings on a set of Fig. 1."""
    found = _bottoms(results, "test_loss")
    bottoms = [f"{a} {low:.3f} at {at:.0f} learners" for a, low, at in found]
    return [
        _lower(name, results, "test_loss", "loss"),
        judged(name, "naive levels off", results, _levels),
        _any_step(name, grid),
        Finding(name, "where test loss is least", None, "; ".join(bottoms)),
    ]


def _lower(name: str, results: Results, column: str, what: str) -> Finding:
    """Compare the final values of the new algorithms with that of naive."""
    naive = ends(results["naive"], column)
    fewer = [
        f"{other} is lower in {int((ends(results[other], column) < naive).sum())}"
        for other in OTHERS
    ]

    def test(results: Results) -> tuple[bool, str]:
        last = {a: end(results[a], column) for a in ("naive", *OTHERS)}
        numbers = ", ".join(f"{a} ends at {value:.3f}" for a, value in last.items())
        lower = max(last[other] for other in OTHERS) < last["naive"]
        return lower, f"{numbers} (medians); {', '.join(fewer)}"

    return judged(name, f"the new algorithms have lower test {what} than naive", results, test)


def _levels(results: Results) -> tuple[bool, str]:
    """Return whether the second half of naive hardly lowers the test loss."""
    gains = {a: late_gain(results[a], "test_loss") for a in ("naive", *OTHERS)}
    first = start(results["naive"], "test_loss")
    others = ", ".join(f"{other} by {gains[other]:.3f}" for other in OTHERS)
    return gains["naive"] < GAIN * first, (
        f"its second half lowers the least test loss by {gains['naive']:.3f} of {first:.3f} at the "
        f"start; {others}"
    )


def _bottoms(results: Results, column: str) -> list[tuple[str, float, float]]:
    """Return the least value of a column for each algorithm, and its number of learners."""
    return [(a, *least(results[a], column)) for a in ("naive", *OTHERS)]


def _stuck(results: Results) -> tuple[bool, str]:
    """Return whether naive stops making progress at a loss far above that of the others."""
    naive = results["naive"]
    first, last, gain = start(naive), end(naive), late_gain(naive)
    others = {other: end(results[other]) for other in OTHERS}
    stuck = last > max(others.values()) + APART * first and gain < GAIN * first
    rest = ", ".join(f"{other} at {value:.3f}" for other, value in others.items())
    return stuck, (
        f"training loss of naive ends at {last:.3f}, its second half lowers the least by "
        f"{gain:.3f}; {rest} (medians)"
    )


def _progresses(results: Results) -> tuple[bool, str]:
    stuck, numbers = _stuck(results)
    return not stuck, numbers


def _cycles(results: Results) -> tuple[bool, str]:
    late = middle(results["naive"], "late_splits")
    half = end(results["naive"], "learners") / 2.0
    rest = ", ".join(f"{other} {middle(results[other], 'late_splits'):.0f}" for other in OTHERS)
    return REPEATS * late <= half, (
        f"different splits among its last {half:.0f}: {late:.0f}; {rest}"
    )


def _any_step(name: str, grid: Grid) -> Finding:
    """Compare the algorithms at their best scales: does the common step explain a gap?"""
    best = {}
    for algorithm in ("naive", *OTHERS):
        runs = {scale: end([row[algorithm]]) for scale, row in grid.items()}
        scale = min(runs, key=lambda s: (runs[s], s))
        best[algorithm] = runs[scale], scale
    first = start([row["naive"] for row in grid.values()])
    worse = best["naive"][0] > max(best[other][0] for other in OTHERS) + APART * first
    numbers = ", ".join(f"{a} {value:.3f} (scale {s:g})" for a, (value, s) in best.items())
    what = "naive is behind at its own best step as well"
    if not worse:
        what = "at its own best step naive is not behind"
    return Finding(name, what, None, numbers)


def _rates(results: Results) -> tuple[bool, str]:
    """Compare the learners that both algorithms need for the final loss of the slower one."""
    slow, fast = sorted(OTHERS, key=lambda other: -end(results[other]))
    level, learners = end(results[slow]), end(results[slow], "learners")
    at = reaches(results[fast], level)
    at = learners if at is None else at
    return at >= learners / 2.0, (
        f"{slow} ends at {level:.3f} after {learners:.0f} learners, where {fast} is after "
        f"{at:.0f}; {fast} ends at {end(results[fast]):.3f}"
    )


JUDGES = {"error": multiclass, "disagreement": ranking, "missed": planning}
"""The function that makes the findings, by the score of an experiment."""
