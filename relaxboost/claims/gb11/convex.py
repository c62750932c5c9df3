"""GB11, Theorem 5: Algorithm 2 without strong convexity."""

from __future__ import annotations

import math
from collections.abc import Iterator

from relaxboost._core.arrays import Array
from relaxboost.claims import Choice, Instance, Real, Slack, Space, at_most
from relaxboost.claims.gb11.problems import STRONG, space
from relaxboost.claims.gb11.repeated import lengths_double, strongly, wasted, weakly
from relaxboost.claims.gb11.source import SOURCE

_TAN = 0.5773502691896257
"""tan 30°."""


@SOURCE.claim(
    "T5-h",
    "Theorem 5, its proof",
    "‖h_t‖ ≤ ‖∇_t‖ ≤ G.",
    formula="‖h_t‖ ≤ ‖∇_t‖",
    given="h_t the sum of the projections of round t of Algorithm 2",
    space=STRONG,
    counterexamples=[
        {"H": [[7, 7], [4, -4]], "A": [[0, 0]], "y": [0, 0], "f0": [-33, -56], "lam": 1, "T": 2},
        {
            "H": [[1, 1], [_TAN, -_TAN]],
            "A": [[0, 0]],
            "y": [0, 0],
            "f0": [-1, -3 * _TAN],
            "lam": 1,
            "T": 2,
        },
    ],
).checked(trials=60)
def double(x: Instance) -> Iterator[Slack]:
    """Two projections may be at an acute angle: sqrt(21/16) = 1.1456 for H at ±30° to ∇_2."""
    yield from lengths_double(x, 1.0)


@double.corrected("‖h_t‖ ≤ (1 + q^t)‖∇_t‖, and ≤ ‖∇_t‖ for t = 1.", "‖h_t‖ ≤ (1 + q^t)‖∇_t‖")
def lengths_corrected(x: Instance) -> Iterator[Slack]:
    """h_t = ∇_t − r_t; one projection is orthogonal to what it leaves over."""
    run = strongly(x)
    for before, after, direction in run.moves():
        size, t = run.norm(before.gradient), after.round
        if size > 1e-9:
            ratio = run.norm(direction.values) / size
            most = 1.0 if t == 1 else 1.0 + wasted(min(map(abs, direction.edges))) ** t
            yield at_most(ratio, most, "‖h_t‖/‖∇_t‖", t)


AVERAGES = space(index=Choice("f_1..f_T", "f_0..f_{T−1}"))


@SOURCE.claim(
    "T5",
    "Theorem 5",
    "Algorithm 2 with η_t = 1/sqrt(t) has a mean gap of O(1/sqrt(T)) and a term in γ.",
    formula="(1/T) Σ [R[f_t] − R[f*]] ≤ F²/(2 sqrt(T)) + G²/sqrt(T) + 2FG(1 − γ²)/γ²",
    given="R convex; G bounds ‖∇R‖ and F bounds ‖f‖ at the points visited and at f*",
    space=AVERAGES,
    counterexamples=[
        {"H": [[1]], "A": [["1/2"]], "y": [1], "f0": [-1], "index": "f_1..f_T", "T": 2},
        {"H": [[1]], "A": [["1/4"]], "y": [1], "f0": [-1], "index": "f_0..f_{T−1}", "T": 4},
    ],
).checked(trials=60)
def convex(x: Instance) -> Slack:
    """‖f_t − f*‖² is up to 4F², so that the first term is 2F²/sqrt(T). The third lacks 1/T.

    False without any projection error: for R = |f − 1|/2 from −1, .6616 > .5303 after two rounds.
    """
    run = weakly(x)
    t = run.last
    gamma, F, G = run.gamma(t), run.radius(t), run.gradients(t)
    right = F**2 / 2.0 / math.sqrt(t) + G**2 / math.sqrt(t)
    right += 2.0 * F * G * (1.0 - gamma**2) / gamma**2
    return at_most(run.mean(t, x.index != "f_1..f_T"), right, f"mean gap of {x.index}", t)


@convex.corrected(
    "It is at most 2F²/√T + G²/√T + 2FGq/((1−q)T).",
    "(1/T) Σ [R[f_t] − R[f*]] ≤ 2F²/sqrt(T) + G²/sqrt(T) + 2FG q/((1 − q)T), q = sqrt(1 − γ²)",
)
def convex_corrected(x: Instance, centre: Array | None = None) -> Iterator[Slack]:
    """As for `T4`: η‖h_t‖²/2 + <r_t, z_t> = η(‖∇_t‖² − ‖r_t‖²)/2 + <r_t, z_{t+1}>, ‖z‖ <= 2F.

    q/(1 − q) = q(1 + q)/γ² <= 2q/γ². For f_1..f_T, with one more round, sqrt(T+1)/T for 1/sqrt(T).
    """
    run, proof = weakly(x), x.index != "f_1..f_T"
    for t in range(1, run.last + 1):
        q, G = wasted(run.gamma(t)), run.gradients(t)
        D = run.radius(t, centre) * (2.0 if centre is None else 1.0)
        rounds = math.sqrt(t if proof else t + 1) / t
        right = (D**2 / 2.0 + G**2) * rounds + D * G * q / ((1.0 - q) * t)
        yield at_most(run.mean(t, proof), right, f"mean gap of {x.index}", t)


@convex.corrected(
    "It holds with 4G² for G², and 4FGq/(γ²T) for the last term.",
    "(1/T) Σ [R[f_t] − R[f*]] ≤ 2F²/sqrt(T) + 4G²/sqrt(T) + 4FG q/(γ²T)",
)
def convex_looser(x: Instance) -> Iterator[Slack]:
    """What the paper's argument gives with ‖h_t‖ <= 2‖∇_t‖, for both averages.

    For f_1..f_T by the above if F <= G sqrt(3T), and else as a gap is at most 2FG.
    """
    run, proof = weakly(x), x.index != "f_1..f_T"
    for t in range(1, run.last + 1):
        gamma, F, G = run.gamma(t), run.radius(t), run.gradients(t)
        right = (2.0 * F**2 + 4.0 * G**2) / math.sqrt(t)
        right += 4.0 * F * G * wasted(gamma) / (gamma**2 * t)
        yield at_most(run.mean(t, proof), right, f"mean gap of {x.index}", t)


@convex.corrected(
    "With F for ‖f − f*‖ it is at most F²/(2√T) + G²/√T + FGq/((1−q)T).",
    "‖f_t − f*‖ ≤ F ⇒ (1/T) Σ [R[f_t] − R[f*]] ≤ F²/(2 sqrt(T)) + G²/sqrt(T) + FG q/((1 − q)T)",
)
def convex_distance(x: Instance) -> Iterator[Slack]:
    """The same; only distances to f* enter, and the first two terms are as printed."""
    yield from convex_corrected(x, x.y)


@SOURCE.claim(
    "T5-series",
    "Theorem 5, its proof, last step",
    "Σ sqrt((1 − γ²)^t) ≤ 2(1 − γ²)/γ².",
    formula="Σ_{t≤T} q^t ≤ 2q²/(1 − q²), q = sqrt(1 − γ²); T = 4000",
    given="0 < γ < 1",
    space=Space(gamma=Real(0.05, 0.999)),
    counterexamples=[{"gamma": "3/5"}],
)
def series(x: Instance) -> Slack:
    """Σ q^t = q/(1 − q) = q(1 + q)/(1 − q²), and q + q² > 2q² for every q in (0, 1)."""
    q = wasted(x.gamma)
    return at_most(_powers(q), 2.0 * q * q / (1.0 - q * q), "Σ q^t, 2(1 − γ²)/γ²")


@series.corrected("It is at most 2 sqrt(1 − γ²)/γ².", "Σ q^t ≤ 2q/(1 − q²)")
def series_corrected(x: Instance) -> Slack:
    """1 + q <= 2."""
    q = wasted(x.gamma)
    return at_most(_powers(q), 2.0 * q / (1.0 - q * q), "Σ q^t, 2 sqrt(1 − γ²)/γ²")


def _powers(q: float) -> float:
    """Return Σ_{t<=4000} q^t, term by term."""
    return math.fsum(q**t for t in range(1, 4001))
