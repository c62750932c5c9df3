"""What check.py needs in addition where the level is `enclosed`: arithmetic with balls.

Each function makes f(d) and f*(x, witness) of one kind of relaxation, as those of check.py do.
Balls are python-flint's `arb`: every operation encloses the true result, and a comparison is
true only where it holds for all numbers in the balls.
"""

from fractions import Fraction
from functools import reduce
from operator import add, mul

import flint

ZERO = Fraction(0)


def balls(precision, check):
    """Return what makes balls of this many bits, with the kinds of relaxations it can be used in.

    `check` is the module check.py, whose helpers the functions below use.
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
    """Return (sum |v|^p)^(1/p)."""
    used = [abs(v) for v in values if v]
    if not used:
        return real(ZERO)
    return sum((real(v) ** real(p) for v in used), flint.arb(0)) ** real(1 / p)


def p_norm(spec, m, real, check):
    """Return f = c |d|, or 0 where |d| <= r: sums over groups of f_g (sum (a |d|)^p)^(1/p)."""
    p = spec.number("p", 1)
    members, free = [range(m)], []
    if "groups" in spec.left:
        *members, free = check.groups(spec, m)
    check.need(not free, "an example is in no group")
    a, factors = spec.vector("weights", m, 0), spec.vector("factors", len(members), 0)
    pairs = list(zip(members, map(real, factors), strict=True))

    def size(d):
        return sum(f * _power_sum([a[i] * d[i] for i in g], p, real) for g, f in pairs)

    def dual(x, w):
        sizes = [_power_sum([x[i] / a[i] for i in g], p / (p - 1), real) / f for g, f in pairs]
        return reduce(lambda s, t: s.max(t), sizes)

    return check.bounded(spec, real, size, dual)


def ellipsoid(spec, m, real, check):
    """Return f = c |Q d|, or 0 where |Q d| <= r, in the Euclidean norm; x must be Q'v."""
    lines = spec.take("matrix", list)
    check.need(len(lines) > 0, "'matrix' is empty")
    belows = {check.fraction(line["denominator"], "matrix") for line in lines
              if type(line) is dict and "denominator" in line}  # fmt: skip
    below = sum(x.numerator.bit_length() for x in belows)
    check.need(below <= 4 * check.DIGITS, "denominators of 'matrix' are too many and too long")
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
    """Return f = c D(d), or 0 where D(d) <= r, D(d) = sum pi phi(d/pi), of order alpha, scale s.

    phi(t) = s (t^alpha - alpha t + alpha - 1) / (alpha (alpha - 1)) for t >= 0, for alpha = 2
    everywhere; s (t log t - t + 1) for alpha = 1.
    """
    need, alpha, s = check.need, spec.number("order", 0), spec.number("scale", 0)
    prior = spec.vector("prior", m)
    total = sum(prior)
    need(min(prior) >= 0 and total > 0, "the prior is not a distribution")
    used = [(i, p / total) for i, p in enumerate(prior) if p]

    def phi(t):
        if alpha == 1:
            return (real(t) * real(t).log() if t else real(ZERO)) + real(1 - t)
        power = real(ZERO) if not t else real(t * t) if alpha == 2 else real(t) ** real(alpha)
        return (power + real(alpha - 1 - alpha * t)) / real(alpha * (alpha - 1))

    def size(d):
        need(alpha == 2 or min(d) >= 0, "d is negative")
        need(
            not any(x for x, p in zip(d, prior, strict=True) if not p), "d is not 0 with the prior"
        )
        return real(s) * sum(real(p) * phi(d[i] / p) for i, p in used)

    def conjugate(x, c):
        """Return c sum pi phi*(x/c)."""
        total = real(ZERO)
        for i, p in used:
            y = x[i] / (c * s)
            base = 1 + (alpha - 1) * y
            need(alpha >= 1 or base > 0, "f* is infinite at x")
            if alpha == 1:
                power = real(y).exp()
            elif alpha == 2:
                power = real(base * base)
            else:
                power = real(base) ** real(alpha / (alpha - 1)) if base > 0 else real(ZERO)
            total += real(p) * (power - 1)
        return real(c * s / alpha) * total

    if "weight" in spec.left:
        c = spec.number("weight", 0)
        return lambda d: real(c) * size(d), lambda x, w: conjugate(x, c)
    r = spec.number("radius", 0)

    def support(x, w):
        multiplier = w.number("multiplier")
        need(multiplier >= 0, "the multiplier is below 0")
        if not multiplier:  # f*(x) where d can only be 0 or x is
            need(not any(x[i] for i, _ in used), "x is not 0 and the multiplier is")
            return real(ZERO)
        return real(multiplier * r) + conjugate(x, multiplier)

    return lambda d: need(size(d) <= real(r), "d is outside the ball") or real(ZERO), support


def binary_entropy(spec, m, real, check):
    """Return f = (c/k) sum x log x + (1 - x) log(1 - x) + log 2, for x = k d in [0, 1]."""
    k, c = spec.number("k", 0), spec.number("weight", 0)

    def penalty(d):
        check.need(min(d) >= 0 and max(d) * k <= 1, "d is not in [0, 1/k]")
        terms = [real(x) * real(x).log() for y in d for x in (k * y, 1 - k * y) if x]
        return real(c / k) * (sum(terms, real(ZERO)) + m * real(Fraction(2)).log())

    def conjugate(x, w):
        # log (1 + e^t) = [t]+ + log (1 + e^-|t|), where no exponential is beyond all numbers.
        losses = [real(max(y, ZERO) / c) + ((1 + real(-abs(y) / c).exp()) / 2).log() for y in x]
        return real(c / k) * sum(losses)

    return penalty, conjugate


def shifted(spec, m, real, check):
    """Return f(d + by)."""
    by, (f, conjugate) = spec.vector("by", m), check.atom(spec.take("of", dict), m, real)

    def moved(x, w):
        return conjugate(x, w) - real(sum(map(mul, x, by), ZERO))

    return lambda d: f(list(map(add, d, by))), moved


def dilated(spec, m, real, check):
    """Return f(factor d)."""
    c, (f, conjugate) = spec.number("factor"), check.atom(spec.take("of", dict), m, real)
    check.need(c != 0, "the factor is 0")
    return lambda d: f([c * x for x in d]), lambda x, w: conjugate([y / c for y in x], w)
