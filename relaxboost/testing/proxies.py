"""Conformance checks for built-in and user-defined online-learning proxies.

::

    from relaxboost.testing import check_proxy

    print(check_proxy(MyProxy(), domains=[rb.Simplex(1), rb.L1Ball(2)]))
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError, class_hint
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import is_given
from relaxboost.game.domains import Domain, L2Ball, Simplex, SquaredNorm
from relaxboost.online.proxies import Proxy
from relaxboost.testing.core import (
    CheckRun,
    ConformanceError,
    ConformanceReport,
    property_of,
)
from relaxboost.testing.proxy_case import ProxyCase


def minimum(case: ProxyCase) -> None:
    """The proxy function V is non-negative, and V = 0 at the point start() of the domain."""
    start = case.proxy.start(case.domain, case.m)
    case.held(start, "start()")
    case.equal(case.value(start), 0.0, case.tol(), "V is 0 at start()", start=start)
    for w in case.points():
        case.at_most(-case.value(w), case.tol(), "V is never negative", w=w)


def strong_convexity(case: ProxyCase) -> None:
    """The proxy V is strongly convex: (V(x) + V(y))/2 − V((x + y)/2) >= α‖x − y‖²/8."""
    case.demand(0.0 < case.alpha < math.inf, "modulus() is positive and finite", got=case.alpha)
    for x, y in case.pairs():
        gain = (case.value(x) + case.value(y)) / 2.0 - case.value((x + y) / 2.0)
        wanted = case.alpha / 8.0 * case.size(x - y) ** 2
        promise = "(V(x) + V(y))/2 − V((x + y)/2) >= α‖x − y‖²/8"
        case.at_most(wanted - gain, case.tol(), promise, x=x, y=y, modulus=case.alpha)
        # For close points the ratio would be that of two rounding errors.
        if wanted > 1e3 * case.tol():
            case.loosest = min(case.loosest, gain / wanted)


def modulus_attained(case: ProxyCase) -> None:
    """The modulus α is at least 2/3 of the largest modulus that fits the test points."""
    strong_convexity(case)
    promise = "modulus() is at least 2/3 of the largest α; skip this check if it is conservative"
    case.at_most(case.loosest, 1.5, promise, modulus=case.alpha)


def largest(case: ProxyCase) -> None:
    """The proxy V is at most largest(), and it equals largest() at a vertex of a polytope."""
    reached = max(case.value(w) for w in case.vertices(case.m))
    # A convex V attains its maximum at a vertex, so that other points only test the convexity.
    points = max(case.value(w) for w in case.points(20))
    case.at_most(max(points, reached) - case.largest, case.tol(), "V <= largest()")
    # Every point of a sphere is a vertex, so the tested ones may miss the maximum.
    if not isinstance(case.domain, L2Ball):
        case.equal(case.largest, reached, case.tol(), "largest() is V at a vertex")


def gradient(case: ProxyCase) -> None:
    """The proxy V exceeds its tangents by at least α‖x − w‖²/2 and by at most spread()."""
    spread = float(case.proxy.spread(case.domain, case.m))
    points = case.points()
    for base in [*case.inner(), *points]:
        g = case.gradient(base)
        v = case.value(base)
        # The gradient may be infinite at the boundary.
        if not np.isfinite(g).all():
            continue
        tolerance = case.tol(g)
        for x in points:
            above = case.value(x) - v - math.fsum((g * (x - base)).tolist())
            wanted = case.alpha / 2.0 * case.size(x - base) ** 2
            promise = "V(x) − V(w) − <∇V(w), x − w> >= α‖x − w‖²/2"
            case.at_most(wanted - above, tolerance, promise, x=x, w=base)
            promise = "V(x) − V(w) − <∇V(w), x − w> <= spread()"
            case.at_most(above - spread, tolerance, promise, x=x, w=base)


def mirror(case: ProxyCase) -> None:
    """<z, x> + βV(x) is least at x = w = mirror(z, β), and grows by at least αβ‖x − w‖²/2."""
    for z, beta in case.duals():
        w = case.mirror(z, beta)
        case.held(w, "mirror(z, β)", z=z, beta=beta)
        least = case.objective(w, z, beta)
        # Near w the terms of first order are small, so that the quadratic growth is tested.
        near = [w + c * (v - w) for v in case.vertices() for c in (1e-3, 0.1)]
        for x in case.points() + near:
            more = case.objective(x, z, beta) - least
            wanted = case.alpha * beta / 2.0 * case.size(x - w) ** 2
            promise = "<z, x> + βV(x) >= <z, w> + βV(w) + αβ‖x − w‖²/2 for w = mirror(z, β)"
            case.at_most(wanted - more, case.tol(z, beta), promise, z=z, beta=beta, x=x)


def optimality(case: ProxyCase) -> None:
    """From w = mirror(z, β) towards any vertex of the domain, <z, w> + βV(w) does not decrease."""
    slope = case.largest / case.radius
    for scale in (0.1, 1.0, 3.0):
        beta = 10.0 ** case.rng.uniform(-3.0, 3.0)
        z = case.rng.normal(size=case.m) * (scale * slope * beta)
        w = case.mirror(z, beta)
        g = z + beta * case.gradient(w)
        # Near the boundary, rounding of this difference changes a steep ∇V.
        left = case.radius - float(np.abs(w).sum())
        exact = isinstance(case.domain, Simplex) or left > 1e-3 * case.radius
        if not np.isfinite(g).all() or (case.proxy.steep and not exact):
            continue
        norm = float(np.linalg.norm(g))
        # The l2 ball has no vertices. Its worst direction is the negative gradient.
        steepest = [-g * (case.radius / norm)] if isinstance(case.domain, L2Ball) and norm else []
        for v in case.vertices(case.m) + steepest:
            tolerance = 1e3 * case.tol(np.append(z, g), beta)
            promise = "<z + β∇V(w), v − w> >= 0 for w = mirror(z, β) and all v of the domain"
            case.at_most(-float(g @ (v - w)), tolerance, promise, z=z, beta=beta, v=v)


def extreme(case: ProxyCase) -> None:
    """mirror(z, β) is in the domain if z/β is between 1e-12 and 1e12, has ties, or is 0."""
    for ratio in (1e-12, 1.0, 1e12):
        for z in (np.zeros(case.m), np.ones(case.m), case.rng.normal(size=case.m)):
            for beta in (1e-6, 1e6):
                # Rounded entries have ties. A common shift tests for cancellation.
                for signed in (z, -z, np.round(z), z + 1e3):
                    given = signed * (ratio * beta)
                    case.held(case.mirror(given, beta), "mirror(z, β)", z=given, beta=beta)


def conjugate(case: ProxyCase) -> None:
    """conjugate(z, β) equals −<z, w> − βV(w) at w = mirror(z, β), and its gradient in z is −w."""
    for z, beta in case.duals():
        w = case.mirror(z, beta)
        value = case.conjugate(z, beta)
        tolerance = case.tol(z, beta)
        promise = "conjugate W_β(z) = −<z, w> − βV(w) for w = mirror(z, β)"
        case.equal(value, -case.objective(w, z, beta), tolerance, promise, z=z, beta=beta)
        for other, _ in case.duals(3):
            there = other * beta
            rise = case.conjugate(there, beta) - value + math.fsum((w * (there - z)).tolist())
            # The modulus of V bounds the curvature of its conjugate from above.
            curved = case.dual(there - z) ** 2 / (2.0 * case.alpha * beta)
            allowed = tolerance + case.tol(there, beta)
            case.at_most(-rise, allowed, "W_β(z') >= W_β(z) − <w, z' − z>", z=z, other=there)
            promise = "W_β(z') <= W_β(z) − <w, z' − z> + ‖z' − z‖²/(2αβ)"
            case.at_most(rise - curved, allowed, promise, z=z, other=there)


def lipschitz(case: ProxyCase) -> None:
    """mirror(z, β) is Lipschitz in z with the constant 1/(αβ); see Juditsky et al. (2005)."""
    for z, beta in case.duals(9):
        w = case.mirror(z, beta)
        # For small steps the ratio tends to the derivative of the mirror map, where the bound may
        # be tight.
        for scale in (1.0, 1e-2, 1e-4):
            step = scale * beta * case.alpha * case.radius
            there = z + step * case.rng.choice([-1.0, 0.0, 1.0], case.m)
            moved = case.size(case.mirror(there, beta) - w)
            allowed = case.dual(there - z) / (case.alpha * beta)
            rounding = 1e-11 * (case.radius + float(np.abs(z).max()) / (case.alpha * beta))
            promise = "‖mirror(z', β) − mirror(z, β)‖ <= ‖z' − z‖/(αβ)"
            case.at_most(moved - allowed, rounding, promise, z=z, other=there, beta=beta)


def duality(case: ProxyCase) -> None:
    """For w in the interior, mirror(−β∇V(w), β) is w, and V equals its biconjugate at w."""
    for w in case.inner():
        g = case.gradient(w)
        case.demand(bool(np.isfinite(g).all()), "∇V is finite in the interior", w=w, gradient=g)
        for beta in (1e-3, 1.0, 1e3):
            back = case.mirror(-beta * g, beta)
            rounding = 1e-12 * (case.radius + float(np.abs(g).max()) / case.alpha)
            promise = "mirror(−β∇V(w), β) = w"
            case.at_most(case.size(back - w), rounding, promise, w=w, back=back, beta=beta)
        again = math.fsum((g * w).tolist()) - case.conjugate(-g)
        case.equal(case.value(w), again, case.tol(g), "V(w) = <∇V(w), w> − W_1(−∇V(w))", w=w)


def expression(case: ProxyCase) -> None:
    """For at most 8 weights, a cone solver finds V(w) and the conjugate at z from the cvxpy form of
    V, expression(w).
    """
    # Cone solvers are slow, and an error in an expression shows at few weights too.
    if case.m > 8:
        return
    w = cp.Variable(case.m)
    value, constraints = case.proxy.expression(w, case.domain)
    z = cp.Parameter(case.m)
    least = cp.Problem(cp.Minimize(z @ w + value), [*constraints, *case.domain.cvxpy_cost(w)[1]])
    for point in case.inner(2):
        fixed = cp.Problem(cp.Minimize(value), [*constraints, w == point])
        got = float(fixed.solve("CLARABEL"))
        case.equal(got, case.value(point), 1e-6 * case.largest, "expression(w) is V(w)", w=point)
    for scale in (0.3, 3.0):
        z.value = case.rng.normal(size=case.m) * (scale * case.largest / case.radius)
        got = float(least.solve("CLARABEL"))
        tolerance = 1e-6 * (1.0 + scale) * case.largest
        promise = "min of <z, w> + expression(w) over the domain is −W_1(z)"
        case.equal(got, -case.conjugate(z.value), tolerance, promise, z=z.value)


def scaling(case: ProxyCase) -> None:
    """mirror(z, β) depends only on z/β, and on the simplex only on differences in z."""
    for z, beta in case.duals(4):
        w = case.mirror(z, beta)
        near = 1e-11 * case.radius
        for factor in (1e-9, 3.0, 1e9):
            again = case.mirror(factor * z, factor * beta)
            promise = "mirror(cz, cβ) = mirror(z, β)"
            case.at_most(float(np.abs(again - w).max()), near, promise, z=z, beta=beta, c=factor)
        if isinstance(case.domain, Simplex):
            # The sum of w is fixed on the simplex, so that a constant added to z changes nothing.
            shift = float(np.abs(z).max()) + beta * case.alpha * case.radius
            again = case.mirror(z + shift, beta)
            rounding = near + 1e-15 * shift / (case.alpha * beta)
            promise = "mirror(z + c, β) = mirror(z, β) on the simplex"
            case.at_most(float(np.abs(again - w).max()), rounding, promise, z=z, beta=beta)


def symmetry(case: ProxyCase) -> None:
    """V(w) does not change if weights are permuted. On balls, it does not depend on signs."""
    order = case.rng.permutation(case.m)
    sign = case.rng.choice([-1.0, 1.0], case.m) if case.signed else np.ones(case.m)
    for z, beta in case.duals(4):
        want = sign * case.mirror(z, beta)[order]
        away = float(np.abs(case.mirror(sign * z[order], beta) - want).max())
        promise = "if z is permuted, or changes signs on a ball, so does mirror(z, β)"
        case.at_most(away, 1e-11 * case.radius, promise, z=z, beta=beta, order=order, sign=sign)
    for w in case.points():
        there = case.value(sign * w[order])
        case.equal(there, case.value(w), case.tol(), "V of permuted w is V(w)", w=w, order=order)


def interface(case: ProxyCase) -> None:
    """Methods do not modify their arguments, unsupported domains raise InputError, and a pickled
    copy of the proxy is equal to it.
    """
    z = case.rng.normal(size=case.m)
    w = case.inner(1)[0]
    before = (z.copy(), w.copy())
    # The methods get the arrays themselves and not copies, as the other checks give them.
    calls: list[Callable[[], Any]] = [
        lambda: case.proxy.mirror(z, 1.0, case.domain),
        lambda: case.proxy.conjugate(z, 1.0, case.domain),
        lambda: case.proxy.value(w, case.domain),
        lambda: case.proxy.gradient(w, case.domain),
    ]
    for call in calls:
        call()
        kept = np.array_equal(z, before[0]) and np.array_equal(w, before[1])
        case.demand(kept, "z and w are not changed", z=before[0], w=before[1])
    first = case.proxy.mirror(z, 1.0, case.domain)
    bits = first.copy()
    # A second call would overwrite a buffer that the first result shares.
    case.proxy.mirror(-2.0 * z, 1.0, case.domain)
    case.demand(np.array_equal(first, bits), "mirror() returns a new array", z=z)
    again = case.proxy.mirror(z, 1.0, case.domain)
    case.demand(np.array_equal(again, bits), "the same z gives the same bits", z=z)
    copy = pickle.loads(pickle.dumps(case.proxy))
    case.demand(copy == case.proxy, "a pickled copy is equal")
    case.demand(case.proxy.norm in ("l1", "l2"), 'norm is "l1" or "l2"', got=case.proxy.norm)
    try:
        # A squared norm is no bounded set, so that no proxy has it among its domains.
        case.proxy.check(SquaredNorm(1), case.m)
    except InputError:
        return
    case.demand(False, "check() raises InputError for a domain that is not in `domains`")


# A check comes before the checks that rely on it, so that the first error is nearest to its cause.
_ORDER: tuple[Callable[[ProxyCase], None], ...] = (
    minimum,
    largest,
    strong_convexity,
    modulus_attained,
    gradient,
    mirror,
    optimality,
    extreme,
    conjugate,
    lipschitz,
    duality,
    expression,
    scaling,
    symmetry,
    interface,
)
_CHECKS = {check.__name__: check for check in _ORDER}


def proxy_checks() -> dict[str, str]:
    """Return the name of each check of `check_proxy` with its description."""
    return {name: property_of(check) for name, check in _CHECKS.items()}


def check_proxy(
    proxy: Proxy,
    domains: Iterable[Domain] | None = None,
    sizes: Iterable[int] = (2, 3, 8, 40),
    seed: int = 0,
    *,
    only: str | Iterable[str] | None = None,
    skip: str | Iterable[str] = (),
    inadmissible: Iterable[int] = (),
) -> ConformanceReport:
    """Check that a proxy satisfies its interface.

    The proxy function V, its modulus, mirror map, conjugate and cvxpy form are compared with each
    other and with a cone solver, at random and special points.

    Parameters
    ----------
    proxy : Proxy
        The proxy to check.
    domains : iterable of Domain, optional
        The domains. By default they are `proxy.domains` with the radii 1 and 5/2.
    sizes : iterable of int
        The numbers of weights M.
    seed : int
        The seed of the random points, which do not depend on which other checks run.
    only, skip : str or iterable of str
        The names of the checks to run or to skip, from `proxy_checks()`. Skip ``"symmetry"`` if V
        treats weights differently, and ``"modulus_attained"`` if the modulus is conservative.
    inadmissible : iterable of int
        The numbers of weights in `sizes` for which `proxy.check` must raise InputError. The proxy
        must accept all others.

    Raises
    ------
    ConformanceError
        If a check fails. The error of the first failed check, in the order of `proxy_checks()`, is
        raised, and its attribute `others` contains the other errors.
    InputError
        If the argument is not a Proxy, or if the name of a check is unknown.
    """
    if not is_given(proxy, Proxy):
        raise InputError(f"check_proxy needs a Proxy, got {proxy!r}{class_hint(proxy, '')}")
    checking = CheckRun(_CHECKS, only, skip, ConformanceReport(repr(proxy)))
    refused = set(inadmissible)
    if domains is None:
        kinds: Iterable[Any] = proxy.domains
        domains = [kind(radius) for kind in kinds for radius in (1, 2.5)]
    for domain, m in product(domains, sizes):
        if _refuses(proxy, domain, m, m in refused):
            checking.refused(m, repr(domain))
        else:
            checking.add(m, partial(ProxyCase, proxy, domain, m, seed), repr(domain))
    return checking.result()


def _refuses(proxy: Proxy, domain: Domain, m: int, announced: bool) -> bool:
    """Return whether the proxy rejects m weights.

    Raise a ConformanceError unless it does so if and only if `announced` is true.
    """
    message = ""
    try:
        proxy.check(domain, m)
    except InputError as error:
        message = f"; the message was: {error}"
    if bool(message) != announced:
        promise = "check() raises InputError exactly for the sizes in `inadmissible`" + message
        raise ConformanceError("interface", f"{proxy!r} over {domain!r}", m, promise)
    return announced
