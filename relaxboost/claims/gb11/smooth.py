"""GB11, Sec. 4.1 and Appendix B: Algorithm 1 on smooth, strongly convex functionals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from relaxboost.claims import Choice, Instance, Real, Slack, assume, at_least, at_most, equal
from relaxboost.claims.gb11.problems import Bowl, Descent, space, spans
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.functional.algorithms import Naive
from relaxboost.functional.schedules import line_search

BOWLS = space(lam=Real(0.05, 4.0, log=True), kind=Choice("square", "log cosh"))
_CROSS = {"H": [[1, 0], [0, 1]], "y": [0, 0], "f0": [1, 1], "kind": "square", "T": 1}
"""R[f] = ‖f‖²/2 in the plane, along the axes: γ = 1/sqrt(2), and λ = Λ = 1."""


def _run(x: Instance, search: bool = False) -> Descent:
    assume(bool(x.H.any()))
    risk = Bowl(x.A, x.y, x.lam, x.kind)
    schedule = (lambda t, F, h: line_search(risk, F, h)) if search else None
    run = Descent(risk, x.H, x.f0, Naive(), lambda t: 1.0 / risk.smoothness, x.T, schedule)
    assume(run.last > 0 and run.gaps[0] > 1e-6)
    return run


def _rate(x: Instance, run: Descent, power: int) -> Iterator[Slack]:
    """Compare R[f_T] − R[f*] over R[f_0] − R[f*] with (1 − γ^power λ/Λ)^T in every round."""
    assert isinstance(run.risk, Bowl)
    for t in range(1, run.last + 1):
        if run.gaps[t] < 1e-12 * run.gaps[0]:  # as small as the rounding of R
            return
        rate = 1.0 - run.gamma(t) ** power * x.lam / run.risk.smoothness
        yield at_most(run.gaps[t] / run.gaps[0], rate**t, "(R[f_T] − R*)/(R[f_0] − R*)", t)


@SOURCE.claim(
    "T3",
    "Theorem 3",
    "Algorithm 1 with η = 1/Λ converges at the rate 1 − γ²λ/Λ.",
    formula="R[f_T] − R[f*] ≤ (1 − γ²λ/Λ)^T (R[f_0] − R[f*])",
    given="R λ-strongly convex and Λ-smooth on L²(P̂); γ at the gradients projected",
    space=BOWLS,
)
def theorem(x: Instance) -> Iterator[Slack]:
    """GB11-T3-step, and ‖∇‖² >= 2λ(R − R*). Tight: .5 = .5 on ‖f‖²/2 from (1, 1) along the axes.

    With f* the best of a subset the gaps are smaller by the same number, and it holds as well.
    """
    spans(x)
    yield from _rate(x, _run(x), 2)


@SOURCE.claim(
    "T3-tight",
    "Theorem 3 (sharper than stated)",
    "For ‖f‖²/2 from (s, ..., s) along the axes the first round of Theorem 3 is an equality.",
    formula="R[f_1] = (1 − γ²) R[f_0], γ = 1/sqrt(N)",
    given="λ = Λ = 1, H = {e_1, ..., e_N} with multiples; also from (s, ±s, ...)",
    space=space(lam=Real(1, 1), kind=Choice("square")),
)
def tight(x: Instance) -> Slack:
    """Each round takes one coordinate to 0; the edge is least at vectors of equal entries."""
    f0, size = np.where(x.f0 >= 0.0, 1.0, -1.0), x.f0.size
    risk = Bowl(np.zeros((1, size)), np.zeros(size), 1.0, "square")
    run = Descent(risk, np.eye(size), f0, Naive(), lambda t: 1.0, 1)
    return equal(run.gaps[1] / run.gaps[0], 1.0 - 1.0 / size, "R[f_1]/R[f_0], 1 − γ²", 1)


@SOURCE.claim(
    "T3-line-search",
    "Theorem 3, remark after it",
    "The rate also holds for step sizes found by a line search.",
    formula="R[f_T] − R[f*] ≤ (1 − γ²λ/Λ)^T (R[f_0] − R[f*])",
    given="as in Theorem 3, η_t = argmin R[f_{t−1} − η (<h, ∇>/‖h‖²) h]",
    space=BOWLS,
).checked(trials=60)
def searched(x: Instance) -> Iterator[Slack]:
    """The best step gains at least what 1/Λ does. Found by bisection, to 2^-50."""
    spans(x)
    yield from _rate(x, _run(x, search=True), 2)


@SOURCE.claim(
    "T3-step",
    "Appendix B, second display",
    "A step gains <∇, h>²/(2Λ‖h‖²).",
    formula="R[f_{t+1}] ≤ R[f_t] − <∇R[f_t], h_t>²/(2Λ‖h_t‖²)",
    given="f_{t+1} = f_t − (1/Λ)(<∇, h>/‖h‖²) h; printed without f_t and the sign",
    space=BOWLS,
)
def step(x: Instance) -> Iterator[Slack]:
    """The minimum of the quadratic bound along h. Equal where R is that quadratic."""
    run = _run(x)
    assert isinstance(run.risk, Bowl)
    for before, after, direction in run.moves():
        gain = run.norm(direction.values) ** 2 / (2.0 * run.risk.smoothness)
        yield at_most(after.value, before.value - gain, "R[f_{t+1}]", after.round)


@SOURCE.claim(
    "T3-dominance",
    "Appendix B, remark before the last display",
    "‖∇R[f]‖² ≥ 2λ(R[f] − R[f*]).",
    formula="‖∇R[f_t]‖² ≥ 2λ(R[f_t] − R[f*])",
    given="R λ-strongly convex",
    space=BOWLS,
)
def dominance(x: Instance) -> Iterator[Slack]:
    """The minimum over g of the lower bound at f. Equal for λ‖f − y‖²/2."""
    for state in _run(x).states:
        square = float(state.gradient @ state.gradient) / state.gradient.size
        yield at_least(square, 2.0 * x.lam * state.value, "‖∇‖², 2λ(R − R*)", state.round)


@SOURCE.claim(
    "T3-rate",
    "Appendix B, last display",
    "One round multiplies the gap by 1 − γλ/Λ at most.",
    formula="R[f_{t+1}] − R[f*] ≤ (1 − γλ/Λ)(R[f_t] − R[f*])",
    given="as in Theorem 3",
    space=BOWLS,
    counterexamples=[{**_CROSS, "A": [[0, 0]], "lam": 1}],
)
def printed_rate(x: Instance) -> Iterator[Slack]:
    """γ² is lost: the edge is squared with <∇, h>². .5 <= 1 − 1/sqrt(2) is false."""
    spans(x)
    yield from _rate(x, _run(x), 1)


@printed_rate.corrected("It is 1 − γ²λ/Λ.", "R[f_{t+1}] − R[f*] ≤ (1 − γ²λ/Λ)(R[f_t] − R[f*])")
def printed_rate_corrected(x: Instance) -> Iterator[Slack]:
    """As the theorem states."""
    yield from theorem(x)
