"""GB11, Sec. 4.2 and Appendix C: the hypotheses, the potential, and remarks on the algorithms."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from relaxboost.claims import (
    Choice,
    Instance,
    Matrix,
    Real,
    Slack,
    Space,
    Vector,
    assume,
    at_least,
    at_most,
    equal,
)
from relaxboost.claims.gb11.problems import RUNS, STRONG, Kinks, space, spans
from relaxboost.claims.gb11.repeated import LINE, strongly, wasted, weakly
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.functional.algorithms import Repeated, Residual


@SOURCE.claim(
    "T4-G",
    "Theorems 4 and 6, hypotheses",
    "A λ-strongly convex functional on all of L² may have ‖∇R[f]‖ ≤ G everywhere.",
    formula="‖∇R[f]‖ ≤ G for every f",
    given="R λ-strongly convex with f* = y; f at distance G/λ + 1 of f*",
    space=Space(
        sizes={"m": (1, 3), "k": (1, 3)},
        A=Matrix(-2, 2, axes=("k", "m")),
        y=Vector("m", -2, 2),
        f=Vector("m", -2, 2),
        lam=Real(0.05, 4.0, log=True),
        G=Real(0.1, 10.0, log=True),
    ),
    counterexamples=[{"A": [[0]], "y": [0], "f": [1], "lam": 1, "G": 1}],
)
def bounded(x: Instance) -> Slack:
    """‖∇R[f]‖ >= λ‖f − f*‖ is not bounded. The theorems need G at the points visited only."""
    v, _ = _gradient(x)
    return at_most(v, x.G, "‖∇R[f]‖, G")


@bounded.corrected(
    "It holds on a ball around f* only, of radius G/λ at most.", "‖∇R[f]‖ ≥ λ‖f − f*‖"
)
def bounded_corrected(x: Instance) -> Slack:
    """<∇R[f], f − f*> >= λ‖f − f*‖². Equal for λ‖f − f*‖²/2."""
    v, distance = _gradient(x)
    return at_least(v, x.lam * distance, "‖∇R[f]‖, λ‖f − f*‖")


def _gradient(x: Instance) -> tuple[float, float]:
    risk = Kinks(x.A, x.y, x.lam)
    away = x.f - x.y
    size = risk.measure.norm(away)
    assume(size > 1e-6)
    z = away / size * (x.G / x.lam + 1.0)
    return risk.measure.norm(risk.evaluate(x.y + z)[1]), risk.measure.norm(z)


def _potential(x: Instance) -> Iterator[tuple[int, float, float, float, float]]:
    """Yield t, the left side, the right side without the term in ‖h_t‖², ‖h_t‖² and η_t."""
    run = strongly(x)
    for before, after, direction in run.moves():
        h, eta = direction.values, after.step
        z, gradient, inner = before.F - x.y, before.gradient, run.risk.measure.inner
        after_, before_ = run.norm(after.F - x.y) ** 2, run.norm(z) ** 2
        right = (after_ - before_) / (2.0 * eta) + inner(z, h - gradient)
        yield after.round, -inner(z, gradient), right, inner(h, h), eta


@SOURCE.claim(
    "T4-potential",
    "Appendix C, proof of Theorem 4, first display",
    "The potential bounds <f* − f_t, ∇_t> from above, with a term −(η_t²/2)‖h_t‖².",
    formula="<f* − f_t, ∇_t> ≤ ‖f_{t+1} − f*‖²/(2η_t) − ‖f_t − f*‖²/(2η_t) − (η_t²/2)‖h_t‖² − "
    "<f* − f_t, h_t − ∇_t>",
    given="f_{t+1} = f_t − η_t h_t",
    space=STRONG,
    counterexamples=[{**LINE, "f0": [1], "T": 1}],
).checked(trials=60)
def potential(x: Instance) -> Iterator[Slack]:
    """The factor is η_t/2, and the two sides are equal; the proof goes on with >= and η_t/2."""
    for t, left, right, square, eta in _potential(x):
        yield at_most(left, right - eta**2 / 2.0 * square, "<f* − f_t, ∇_t>", t)


@potential.corrected("They are equal with (η_t/2)‖h_t‖².", "<f* − f_t, ∇_t> = ... − (η_t/2)‖h_t‖²")
def potential_corrected(x: Instance) -> Iterator[Slack]:
    """The square of f_t − f* − η_t h_t. Relative to the terms, which cancel."""
    for t, left, right, square, eta in _potential(x):
        size = 1.0 + abs(left) + abs(right) + eta * square + 1.0 / eta
        yield equal(left / size, (right - eta / 2.0 * square) / size, "<f* − f_t, ∇_t>", t)


@SOURCE.claim(
    "T4-sum",
    "Appendix C, proof of Theorem 4, second display",
    "The sum of the potentials, with 1/η_1 and with 1/(2η_1).",
    formula="Σ R[f*] ≥ Σ R[f_t] − (1/η_1)‖f_1 − f*‖² + Σ_{t<T} ½‖f_{t+1} − f*‖²(1/η_t − 1/η_{t+1} "
    "+ λ) − Σ (η_t/2)‖h_t‖² − Σ <f* − f_t, h_t − ∇_t>",
    given="R λ-strongly convex; f_1 the start",
    space=STRONG,
).checked(trials=60)
def summed(x: Instance) -> Iterator[Slack]:
    """Summation by parts gives 1/(2η_1) − λ/2, and a term in f_{T+1} more; 1/η_1 is a slip.

    Measured relative to the sizes of the terms.
    """
    run = strongly(x)
    inner, total, start = run.risk.measure.inner, 0.0, run.norm(x.f0 - x.y) ** 2
    for before, after, direction in run.moves():
        t, h, z = after.round, direction.values, before.F - x.y
        if t > 1:
            etas = 1.0 / run.states[t - 1].step - 1.0 / after.step + x.lam
            total += run.norm(z) ** 2 / 2.0 * etas
        total += before.value - after.step / 2.0 * inner(h, h) + inner(z, h - before.gradient)
        first = 1.0 / run.states[1].step
        size = 1.0 + abs(total) + first * start
        for factor, name in ((first, "1/η_1"), (first / 2.0, "1/(2η_1)")):
            yield at_most((total - factor * start) / size, 0.0, f"the right side, {name}", t)


@SOURCE.claim(
    "learners",
    "Sec. 4.2, last remark",
    "Algorithm 2 uses O(T²) weak learners and Algorithm 3 T.",
    formula="T(T + 1)/2 and T, exactly",
    given="no residual vanishes",
    space=RUNS,
).checked(trials=60)
def learners(x: Instance) -> Iterator[Slack]:
    """1 + 2 + ... + T. T gradients each, so that Algorithm 2 has fewer gradients to a learner."""
    for algorithm in (Repeated(), Residual()):
        run, count = weakly(x, algorithm), 0
        for before, after, direction in run.moves():
            t = after.round
            if isinstance(algorithm, Repeated):
                rest = run.norm(before.gradient - direction.values)
                if rest <= 1e-12 * run.norm(before.gradient):
                    break
            count += len(direction.parts)
            yield equal(count, t * (t + 1) // 2 if isinstance(algorithm, Repeated) else t, "", t)


@SOURCE.claim(
    "threshold",
    "Sec. 4.2, remark on a variable number of weak learners",
    "A projection error is met after a number of weak learners that the edge bounds.",
    formula="‖∇_t − h_t‖ ≤ ε‖∇_t‖ after at most ⌈ln ε/ln q⌉ projections, q = sqrt(1 − γ²)",
    given="γ the edge of H, 0 < q < 1",
    space=space(epsilon=Real(0.01, 0.9, log=True)),
).checked(trials=60)
def threshold(x: Instance) -> Iterator[Slack]:
    """Each leaves q at most. The package's `Repeated(threshold=ε)`."""
    q = wasted(spans(x))
    assume(q > 1e-3)
    run = weakly(x, Repeated(threshold=x.epsilon))
    most = math.ceil(math.log(x.epsilon) / math.log(q) - 1e-9)
    for before, after, direction in run.moves():
        rest = run.norm(before.gradient - direction.values)
        size = run.norm(before.gradient)
        yield at_most(rest / size, x.epsilon, "‖∇_t − h_t‖/‖∇_t‖", after.round)
        yield at_most(len(direction.parts), max(1, most), "projections", after.round)


@SOURCE.claim(
    "average",
    "Sec. 4.2, the average optimality gap",
    "Where the average gap goes to 0, so does that of the best f_t and of the average of the f_t.",
    formula="min_t R[f_t] ≤ (1/T) Σ R[f_t], R[(1/T) Σ f_t] ≤ (1/T) Σ R[f_t]",
    given="printed for R[f_t], of which it is true along a subsequence",
    space=space(algorithm=Choice("repeated", "residual")),
).checked(trials=60)
def average(x: Instance) -> Iterator[Slack]:
    """Jensen. f* minimises Σ R[f] as it minimises R."""
    run = weakly(x, Repeated() if x.algorithm == "repeated" else Residual())
    for t in range(1, run.last + 1):
        mean = run.mean(t, False)
        yield at_most(float(run.gaps[1 : t + 1].min()), mean, "best gap, average gap", t)
        point = np.mean([state.F for state in run.states[1 : t + 1]], axis=0)
        yield at_most(Kinks(x.A, x.y).evaluate(point)[0], mean, "gap of the average", t)


SOURCE.unchecked(
    "rates",
    "Sec. 4.1, after Theorem 3",
    "The bound is generally less tight than AdaBoost's (1 − 4γ²)^(T/2), and its hypotheses wider.",
    "A comparison in words of two bounds on different functionals, with two notions of edge.",
)
SOURCE.unchecked(
    "efficiency",
    "Sec. 4.2, last remark",
    "Average regrets O(ln T/T + 1/(γ²T)) and O(ln T/(γ⁴T)).",
    "Orders of magnitude without constants; Theorems 4 and 6, which they restate, are checked.",
)
SOURCE.unchecked(
    "experiments",
    "Sec. 5, Figs. 1 to 3",
    "The new algorithms outperform the naive one in imitation learning, ranking and multiclass "
    "classification.",
    "Test set performance on given data sets with learners that are not fully specified.",
)
