"""JNTV05, Appendix: the direct proof of Assumption (L) and the general argument, Eqs. 39 to 43."""

from fractions import Fraction
from itertools import product

import numpy as np

from relaxboost.claims.jntv05.formulas import VALUES, gibbs, mirror_of, modulus
from relaxboost.claims.jntv05.proxy import DUALS, PAIRS, SMOOTH
from relaxboost.claims.jntv05.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.claims.sides import on_simplex

CUBES = Space(sizes={"n": (2, 6)}, a=Vector("n", 0.01, 1), x=Vector("n"), y=Vector("n"))
"""Positive a_i, to be scaled to sum 1, and x, y in the cube."""


@SOURCE.claim("A-hessian", space=DUALS)
def hessian(x: Instance) -> Slack:
    a, h = gibbs(x.z, x.beta, 1.0), 1e-4 * x.beta * x.v
    change = gibbs(x.z - h, x.beta, 1.0) - gibbs(x.z + h, x.beta, 1.0)
    formula = 2.0 * (a * h - a * float(a @ h)) / x.beta
    return at_most(float(np.abs(change - formula).max()), 1e-9, "∇W_β(z + h) − ∇W_β(z − h), 2Hh")


@SOURCE.claim("A-sup", space=DUALS)
def supremum(x: Instance) -> Slack:
    change = gibbs(x.v, x.beta, x.radius) - gibbs(x.z, x.beta, x.radius)
    direction, signs = x.v - x.z, np.sign(change)
    assume(0.1 < float(np.abs(direction).max()) < 4.0 * x.beta)
    nodes, _ = np.polynomial.legendre.leggauss(20)
    a = gibbs(x.z + np.multiply.outer((nodes + 1.0) / 2.0, direction), x.beta, 1.0)
    forms = (a * direction) @ signs - (a @ direction) * (a @ signs)
    largest = x.radius / x.beta * float(np.abs(forms).max())
    return at_most(float(np.abs(change).sum()), largest, "‖∇W_β(z_1) − ∇W_β(z_2)‖_1")


@SOURCE.claim("Eq39", space=CUBES)
def eq39(x: Instance) -> Slacks:
    a, u, v = on_simplex(exactly(x.a)), exactly(x.x), exactly(x.y)
    form = sum(u * a * v) - sum(u * a) * sum(a * v)
    size = range(len(a))
    middle = sum(u[i] * a[i] * sum(a[j] * (v[i] - v[j]) for j in size) for i in size)
    yield equal(form, middle, "(β/λ) xᵀ∇²W y, the sum")
    yield at_most(middle, _spread(a, v), "the sum, without x")


@eq39.step()
def _(x: Instance) -> Slack:
    a, v = on_simplex(exactly(x.a)), exactly(x.y)
    return equal(a[0] * v[0] - a[0] * sum(a * v), a[0] * sum(a * (v[0] - v)), "the term of i = 1")


@eq39.step()
def _(x: Instance) -> Slacks:
    a, v = on_simplex(exactly(x.a)), exactly(x.y)
    i = int(np.argmax(x.y))
    for factor in (Fraction(x.x[i]), Fraction(1)):
        term = factor * a[i] * sum(a * (v[i] - v))
        yield at_most(term, a[i] * sum(a * abs(v[i] - v)), "the term of i, with sizes")


def _spread(a: Array, v: Array) -> Fraction:
    """Return Σ_i Σ_{j ≠ i} a_i a_j |y_i − y_j|."""
    pairs = product(range(len(a)), repeat=2)
    return sum((a[i] * a[j] * abs(v[i] - v[j]) for i, j in pairs), Fraction(0))


@SOURCE.claim("A-vertices", space=CUBES)
def vertices(x: Instance) -> Slacks:
    a = on_simplex(exactly(x.a))
    most = Fraction(0)
    for signs in product((1, -1), repeat=len(a)):
        plus = sum((p for p, s in zip(a, signs, strict=True) if s > 0), Fraction(0))
        value = 4 * plus * (1 - plus)
        most = max(most, value)
        if sum(signs) == len(a) - 2:
            yield equal(_spread(a, exactly(signs)), value, "the sum at a vertex, 4a_+(1 − a_+)")
    yield at_most(_spread(a, exactly(x.y)), most, "the sum, its largest at a vertex")
    yield at_most(most, 1, "4a_+(1 − a_+), 1")


@vertices.step()
def _(x: Instance) -> Slack:
    a, v = on_simplex(exactly(x.a)), exactly(x.y)
    up, down = v.copy(), v.copy()
    up[0], down[0] = Fraction(1), Fraction(-1)
    mean = (1 + v[0]) / 2 * _spread(a, up) + (1 - v[0]) / 2 * _spread(a, down)
    return at_most(_spread(a, v), mean, "f(y_1), the mean of f(±1)")


@vertices.step()
def _(x: Instance) -> Slack:
    plus = on_simplex(exactly(x.a))[0]
    return equal(1 - 4 * plus * (1 - plus), (1 - 2 * plus) ** 2, "1 − 4a_+(1 − a_+), the square")


@SOURCE.claim("Eq40", space=SMOOTH)
def eq40(x: Instance) -> Slack:
    value, alpha = VALUES[x.proxy], modulus(x.proxy, x.z.size, x.radius)
    best, other = mirror_of(x.proxy, x.radius)(x.z, x.beta), x.radius * x.theta
    rise = value(other, x.radius) - value(best, x.radius) + float(x.z @ (other - best)) / x.beta
    return at_least(rise, alpha / 2.0 * float(np.abs(other - best).sum()) ** 2, "V(x) − V(x*)")


@eq40.step(space=SMOOTH.but(s=PAIRS.fields["s"]))
def _(x: Instance) -> Slack:
    value, alpha = VALUES[x.proxy], modulus(x.proxy, x.z.size, x.radius)
    best, other = mirror_of(x.proxy, x.radius)(x.z, x.beta), x.radius * x.theta
    rise = value(other, x.radius) - value(best, x.radius) + float(x.z @ (other - best)) / x.beta
    least = alpha / 2.0 * (1.0 - x.s) * float(np.abs(other - best).sum()) ** 2
    return at_least(rise, least, "V(x) − V(x*)")


@SOURCE.claim("B-chain", space=SMOOTH.but(s=PAIRS.fields["s"]))
def chain(x: Instance) -> Slacks:
    value, mirror = VALUES[x.proxy], mirror_of(x.proxy, x.radius)
    ab, s = modulus(x.proxy, x.z.size, x.radius) * x.beta, x.s
    points = mirror(x.z, x.beta), mirror(x.v, x.beta)
    mixed = s * points[0] + (1.0 - s) * points[1]

    def objective(z: Array, theta: Array) -> float:
        return -float(z @ theta) - x.beta * value(theta, x.radius)

    for z, point in zip((x.z, x.v), points, strict=True):
        less = ab / 2.0 * float(np.abs(mixed - point).sum()) ** 2
        yield at_most(objective(z, mixed), objective(z, point) - less, "−zᵀx_s − βV(x_s)")
    left = s * (1.0 - s) * float((x.z - x.v) @ (points[0] - points[1]))
    parts = s * float(x.z @ (points[0] - mixed)) + (1.0 - s) * float(x.v @ (points[1] - mixed))
    yield equal(left, parts, "s(1 − s)(z_1 − z_2)ᵀ(x_1 − x_2)")
    square = s * (1.0 - s) * ab * float(np.abs(points[0] - points[1]).sum()) ** 2
    ends = s * value(points[0], x.radius) + (1.0 - s) * value(points[1], x.radius)
    middle = x.beta * (value(mixed, x.radius) - ends) - square / 2.0
    yield at_most(left, middle, "the same, the second line")
    yield at_most(middle, -square, "the second line, the third")


@chain.step()
def _(x: Instance) -> Slack:
    a, b, s = exactly(x.z), exactly(x.v), Fraction(x.s)
    mixed = s * a + (1 - s) * b
    squares = [sum(abs(e) for e in d) ** 2 for d in (a - mixed, b - mixed, a - b)]
    return equal(s * squares[0] + (1 - s) * squares[1], s * (1 - s) * squares[2], "the squares")


@SOURCE.claim("B-end", space=SMOOTH.but(norm=Choice("l1", "l2")))
def end(x: Instance) -> Slacks:
    mirror = mirror_of("squared" if x.norm == "l2" else x.proxy, x.radius)
    change = mirror(x.v, x.beta) - mirror(x.z, x.beta)
    if x.norm == "l2":
        size, dual, alpha = float(np.linalg.norm(change)), float(np.linalg.norm(x.z - x.v)), 1.0
    else:
        size, dual = float(np.abs(change).sum()), float(np.abs(x.z - x.v).max())
        alpha = modulus(x.proxy, x.z.size, x.radius)
    inner = float((x.z - x.v) @ change)
    yield at_most(alpha * x.beta * size**2, inner, "αβ‖x_1 − x_2‖², the inner product")
    yield at_most(inner, dual * size, "the inner product, ‖z_1 − z_2‖_* ‖x_1 − x_2‖")


@end.step()
def _(x: Instance) -> Slacks:
    j = int(np.argmax(np.abs(x.z)))
    at = np.eye(x.z.size)[j] * np.sign(x.z[j])
    for d in (x.v, at):
        most = float(np.abs(x.z).max()) * float(np.abs(d).sum())
        yield at_most(float(x.z @ d), most, "uᵀd, ‖u‖_∞ ‖d‖_1")
    for d in (x.v, x.z):
        most = float(np.linalg.norm(x.z) * np.linalg.norm(d))
        yield at_most(float(x.z @ d), most, "uᵀd, ‖u‖_2 ‖d‖_2")


@SOURCE.claim("Eq41-43", space=PAIRS)
def entropy_monotone(x: Instance) -> Slacks:
    a, b = ((0.9 * w + 0.1 / w.size) * x.radius for w in (x.x, x.y))
    h = a - b
    inner = float((np.log(a) - np.log(b)) @ h)
    nodes, shares = np.polynomial.legendre.leggauss(40)
    points = b + np.multiply.outer((nodes + 1.0) / 2.0, h)
    forms = (h * h / points).sum(axis=1)
    yield at_most(abs(inner - float(shares @ forms) / 2.0), 1e-7 * x.radius, "(41), by quadrature")
    least = float(np.abs(h).sum()) ** 2 / x.radius
    middle = x.s * a + (1.0 - x.s) * b
    yield at_least(float((h * h / middle).sum()), least, "(42), (43)")
    yield at_least(inner, least, "<∇V(x) − ∇V(y), x − y>, (43)")
