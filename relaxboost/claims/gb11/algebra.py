"""Steps that several proofs of GB11 take: sums by parts, geometric sums, and numbers of edges."""

import math
from fractions import Fraction

from relaxboost.claims.language import *

VECTORS = Space(v=Vector("m", -3, 3), z=Vector("m", -3, 3), eta=Real(0.05, 4.0, log=True))

PARTS = Space(
    sizes={"m": (1, 9)}, squares=Vector("m", 0, 3), eta=Vector("m", 0.05, 2), lam=Real(0, 3)
)


def by_parts(x: Instance) -> Slack:
    """Measure a summation by parts."""
    a, eta, lam = [*exactly(x.squares), Fraction(1)], exactly(x.eta), Fraction(x.lam)
    T = len(eta)
    left = sum((a[t + 1] - a[t]) / (2 * eta[t]) + lam / 2 * a[t] for t in range(T))
    right = (lam - 1 / eta[0]) * a[0] / 2 + a[T] / (2 * eta[T - 1])
    right += sum(a[t] * (1 / eta[t - 1] - 1 / eta[t] + lam) / 2 for t in range(1, T))
    return equal(left, right, "the sum, by parts")


GEOMETRIC = Space(ratio=Real(0.01, 0.99), T=Whole(1, 30))


def geometric(x: Instance) -> Slack:
    """Measure a geometric sum."""
    rho = Fraction(x.ratio).limit_denominator(1000)
    total = sum((rho**t for t in range(1, x.T + 1)), Fraction(0))
    return equal((1 - rho) * total, rho - rho ** (x.T + 1), "(1 − ρ) Σ ρ^t")


EDGES = Space(gamma=Real(0.05, 1))


def factors(x: Instance) -> Slacks:
    """Measure what an edge leaves over."""
    q = math.sqrt(1.0 - x.gamma**2)
    yield equal(q / (1.0 - q), q * (1.0 + q) / x.gamma**2, "q/(1 − q), q(1 + q)/γ²")
    yield at_most(q * (1.0 + q) / x.gamma**2, 2.0 * q / x.gamma**2, "q(1 + q)/γ², 2q/γ²")


def moved(x: Instance) -> Slack:
    """Measure the pairing of a residual with the next point."""
    z, h, eta = exactly(x.z), exactly(x.v), Fraction(x.eta)
    rest = z + 2 * h
    return equal(-sum((z - eta * h) * rest), eta * sum(h * rest) - sum(z * rest), "<f* − f_t, Δ>")
