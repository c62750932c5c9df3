"""Steps that several proofs of GB11 take: sums by parts, geometric sums, and numbers of edges."""

import math
from fractions import Fraction

from relaxboost.claims.language import *

VECTORS = Space(v=Vector("m", -3, 3), z=Vector("m", -3, 3), eta=Real(0.05, 4.0, log=True))

PARTS = Space(
    sizes={"m": (1, 9)}, squares=Vector("m", 0, 3), eta=Vector("m", 0.05, 2), lam=Real(0, 3)
)
BY_PARTS = (
    "Summation by parts.",
    "Σ_{t≤T} ((a_{t+1} − a_t)/(2η_t) + (λ/2)a_t) = (λ − 1/η_1)a_1/2 + Σ_{t<T} ½a_{t+1}(1/η_t − "
    "1/η_{t+1} + λ) + a_{T+1}/(2η_T)",
)


def by_parts(x: Instance) -> Slack:
    """Measure `BY_PARTS` in fractions; a_{T+1} is 1."""
    a, eta, lam = [*exactly(x.squares), Fraction(1)], exactly(x.eta), Fraction(x.lam)
    T = len(eta)
    left = sum((a[t + 1] - a[t]) / (2 * eta[t]) + lam / 2 * a[t] for t in range(T))
    right = (lam - 1 / eta[0]) * a[0] / 2 + a[T] / (2 * eta[T - 1])
    right += sum(a[t] * (1 / eta[t - 1] - 1 / eta[t] + lam) / 2 for t in range(1, T))
    return equal(left, right, "the sum, by parts")


GEOMETRIC = Space(ratio=Real(0.01, 0.99), T=Whole(1, 30))
TELESCOPES = "A geometric sum.", "(1 − ρ) Σ_{t≤T} ρ^t = ρ − ρ^{T+1}"


def geometric(x: Instance) -> Slack:
    """Measure `TELESCOPES` in fractions."""
    rho = Fraction(x.ratio).limit_denominator(1000)
    total = sum((rho**t for t in range(1, x.T + 1)), Fraction(0))
    return equal((1 - rho) * total, rho - rho ** (x.T + 1), "(1 − ρ) Σ ρ^t")


EDGES = Space(gamma=Real(0.05, 1))
FACTORS = "Numbers of an edge.", "q/(1 − q) = q(1 + q)/γ² ≤ 2q/γ², q = sqrt(1 − γ²) < 1"


def factors(x: Instance) -> Slacks:
    """Measure `FACTORS`."""
    q = math.sqrt(1.0 - x.gamma**2)
    yield equal(q / (1.0 - q), q * (1.0 + q) / x.gamma**2, "q/(1 − q), q(1 + q)/γ²")
    yield at_most(q * (1.0 + q) / x.gamma**2, 2.0 * q / x.gamma**2, "q(1 + q)/γ², 2q/γ²")


MOVED = "The next point.", "<f* − f_{t+1}, Δ> = <f* − f_t, Δ> + η<h, Δ> for f_{t+1} = f_t − ηh"


def moved(x: Instance) -> Slack:
    """Measure `MOVED` in fractions; z = f_t − f*, v = h, Δ = z + 2v."""
    z, h, eta = exactly(x.z), exactly(x.v), Fraction(x.eta)
    rest = z + 2 * h
    return equal(-sum((z - eta * h) * rest), eta * sum(h * rest) - sum(z * rest), "<f* − f_t, Δ>")
