"""Formulas in ball arithmetic, with which check.py checks certificates of the level `enclosed`.

Each function returns the penalty f(d) and its conjugate f*(x, witness) for one kind of relaxation.
A ball is an interval, of the python-flint type `arb`. Every operation on balls encloses the true
result, and a comparison is true only if it holds for all numbers in the balls.
"""

from fractions import Fraction
from functools import reduce
from operator import add, mul

import flint


def balls(precision, check):
    """Return a function that converts rationals to balls of `precision` bits.

    Its attribute `kinds` maps the names of relaxations to their formulas. The argument `check` is
    the module check.py, whose functions the formulas use.
    """
    flint.ctx.prec = precision

    def real(x):
        return x if isinstance(x, flint.arb) else flint.arb(flint.fmpq(*x.as_integer_ratio()))

    real.kinds = check.exactly.kinds | {
        kind.__name__.replace("_", "-"): lambda spec, m, real, kind=kind: kind(spec, m, real, check)
        for kind in (p_norm, ellipsoid, divergence, binary_entropy, shifted, dilated)
    }
    return real


def _power_sum(values, p, real):
    """Return the p-norm of rational numbers v as a ball."""
    used = [abs(v) for v in values if v]
    if not used:
        return real(0)
    return sum((real(v) ** real(p) for v in used), flint.arb(0)) ** real(1 / p)


def p_norm(spec, m, real, check):
    """Return the relaxation f and its conjugate f* for a weighted sum of p-norms.

    The sum has a term for each group of examples: a factor times the p-norm of (a_i d_i), where a_i
    is the weight of example i. f is a multiple of this sum, or 0 in a ball and infinite outside.
    """
    p = spec.number("p", 1)
    *members, free = spec.groups(m) if "groups" in spec.left else (range(m), [])
    check.need(not free, "an example is in no group")
    a = spec.vector("weights", m, 0)
    factors = spec.vector("factors", len(members), 0)
    pairs = list(zip(members, map(real, factors), strict=True))

    def size(d):
        return sum(f * _power_sum([a[i] * d[i] for i in g], p, real) for g, f in pairs)

    def dual(x, w):
        sizes = [_power_sum([x[i] / a[i] for i in g], p / (p - 1), real) / f for g, f in pairs]
        return reduce(lambda s, t: s.max(t), sizes)

    return check.bounded(spec, real, size, dual)


def ellipsoid(spec, m, real, check):
    """Return the relaxation f and its conjugate f* for the Euclidean norm |Q d| with a matrix Q.

    f is a multiple of this norm, or 0 in a ball |Q d| <= r and infinite outside. The argument x of
    f* must equal Q'v, where v is a vector in the witness of the certificate.
    """
    lines = spec.take("matrix", list)
    check.need(len(lines) > 0, "'matrix' is empty")
    belows = {check.fraction(line["denominator"], "matrix") for line in lines
              if type(line) is dict and "denominator" in line}  # fmt: skip
    below = sum(x.numerator.bit_length() for x in belows)
    check.need(below <= 4 * check.MAX_DIGITS, "denominators of 'matrix' are too many and too long")
    Q = [check.Fields({"row": line}, "matrix", spec.limits).vector("row", m) for line in lines]

    def size(d):
        return _power_sum([sum(map(mul, row, d)) for row in Q], Fraction(2), real)

    def dual(x, w):
        v = w.vector("v", len(Q))
        columns = zip(*Q, strict=True)
        fine = all(sum(map(mul, q, v)) == y for q, y in zip(columns, x, strict=True))
        check.need(fine, "x is not Q'v")
        return _power_sum(v, Fraction(2), real)

    return check.bounded(spec, real, size, dual)


def divergence(spec, m, real, check):
    """Return the relaxation f and its conjugate f* for a divergence D from a prior distribution.

    f is a multiple of D, or 0 in a set D(d) <= r and infinite outside. For the prior pi, the
    divergence of order alpha and scale s is D(d) = sum pi phi(d/pi), with phi(t) = s (t^alpha -
    alpha t + alpha - 1) / (alpha (alpha - 1)), or s (t log t - t + 1) for alpha = 1. phi is defined
    for t >= 0, and for any t if alpha = 2.
    """
    need = check.need
    alpha = spec.number("order", 0)
    s = spec.number("scale", 0)
    used, unused = _prior(spec, m, need)

    def size(d):
        need(alpha == 2 or min(d) >= 0, "d is negative")
        need(not any(d[i] for i in unused), "d is not 0 with the prior")
        return real(s) * sum(real(p) * _phi(d[i] / p, alpha, real) for i, p in used)

    def conjugate(x, c):
        """Return the conjugate of c D at x."""
        powers = ((p, _conjugate_power(x[i] / (c * s), alpha, real, need)) for i, p in used)
        return real(c * s / alpha) * sum(real(p) * (power - 1) for p, power in powers)

    if "weight" in spec.left:
        c = spec.number("weight", 0)
        return lambda d: real(c) * size(d), lambda x, w: conjugate(x, c)
    r = spec.number("radius", 0)

    def support(x, w):
        multiplier = w.number("multiplier")
        need(multiplier >= 0, "the multiplier is below 0")
        # With the multiplier 0 the bound holds only if x is 0 wherever d may be positive.
        if not multiplier:
            need(not any(x[i] for i, _ in used), "x is not 0 and the multiplier is")
            return real(0)
        return real(multiplier * r) + conjugate(x, multiplier)

    return lambda d: need(size(d) <= real(r), "d is outside the ball") or real(0), support


def _prior(spec, m, need):
    """Return a list of pairs (example, probability) for the examples with a positive prior, and a
    list of the other examples."""
    prior = spec.vector("prior", m)
    total = sum(prior)
    need(min(prior) >= 0 and total > 0, "the prior is not a distribution")
    used = [(i, p / total) for i, p in enumerate(prior) if p]
    return used, [i for i, p in enumerate(prior) if not p]


def _phi(t, alpha, real):
    """Return phi(t) of the divergence of order alpha and scale 1."""
    if alpha == 1:
        return (real(t) * real(t).log() if t else real(0)) + real(1 - t)
    # A square needs no logarithm, so that t may be negative.
    power = real(t * t) if alpha == 2 else real(t) ** real(alpha) if t else real(0)
    return (power + real(alpha - 1 - alpha * t)) / real(alpha * (alpha - 1))


def _conjugate_power(y, alpha, real, need):
    """Return (1 + (alpha - 1) y)^(alpha / (alpha - 1)), or exp(y) if alpha is 1.

    For scale 1, the conjugate of phi is phi*(y) = (power - 1) / alpha, where `power` is the result.
    """
    if alpha == 1:
        return real(y).exp()
    base = 1 + (alpha - 1) * y
    need(alpha > 1 or base > 0, "f* is infinite at x")
    if alpha == 2:
        return real(base * base)
    return real(base) ** real(alpha / (alpha - 1)) if base > 0 else real(0)


def binary_entropy(spec, m, real, check):
    """Return the relaxation f and its conjugate f* for a multiple of the binary entropy.

    f is (c/k) sum (x log x + (1 - x) log(1 - x) + log 2) with x = k d and parameters c, k > 0.
    """
    k = spec.number("k", 0)
    c = spec.number("weight", 0)

    def penalty(d):
        check.need(min(d) >= 0 and max(d) * k <= 1, "d is not in [0, 1/k]")
        terms = [real(x) * real(x).log() for y in d for x in (k * y, 1 - k * y) if x]
        return real(c / k) * (sum(terms, real(0)) + m * real(Fraction(2)).log())

    def conjugate(x, w):
        # No exponential overflows in the formula log (1 + e^t) = [t]+ + log (1 + e^-|t|).
        losses = [real(max(y, 0) / c) + ((1 + real(-abs(y) / c).exp()) / 2).log() for y in x]
        return real(c / k) * sum(losses)

    return penalty, conjugate


def _inner(spec, m, real, check):
    """Return f and f* of the inner relaxation, to which a shift or a dilation is applied.

    The inner relaxation cannot be a sum, a multiple or polyhedral.
    """
    # This relaxation takes as much work as a term of a sum.
    spec.spend(m + 20, min(50_000, 5_000 * spec.limits.each))
    kind = spec.take("kind")
    check.need(kind in real.kinds, f"this level does not support the relaxation {kind[:40]!a}")
    found = real.kinds[kind](spec, m, real)
    spec.done()
    return found


def shifted(spec, m, real, check):
    """Return the shifted relaxation f(d + v), for a fixed vector v, and its conjugate."""
    by = spec.vector("by", m)
    f, conjugate = _inner(spec.take("of", dict), m, real, check)

    def moved(x, w):
        return conjugate(x, w) - real(sum(map(mul, x, by)))

    return lambda d: f(list(map(add, d, by))), moved


def dilated(spec, m, real, check):
    """Return the dilated relaxation f(c d), for a fixed number c, and its conjugate."""
    c = spec.number("factor")
    f, conjugate = _inner(spec.take("of", dict), m, real, check)
    check.need(c != 0, "the factor is 0")
    return lambda d: f([c * x for x in d]), lambda x, w: conjugate([y / c for y in x], w)
