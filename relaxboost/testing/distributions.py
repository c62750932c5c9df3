"""Checks of the distributions of a relaxation, and of the bounds on a random game."""

from __future__ import annotations

import math

import numpy as np

from relaxboost.relaxations.bounds import bounds_of
from relaxboost.testing.core import Case, entropy, size


def distribution(case: Case) -> None:
    """distribution(u, β) minimises <d, u> + f(d) + β Σ d log d. cvxpy finds no better d."""
    # The values of β range from nearly no smoothing to smoothing that dominates the margins.
    betas = [0.1] if case.subject.large else [1e-3, 0.1, 1.0, 10.0]
    for u, beta in zip(case.margins(len(betas)), betas, strict=True):
        d = case.f.distribution(u.copy(), beta)
        case.at_most(-d.min(), 0.0, "the distribution is non-negative", u=u, beta=beta, d=d)
        off = abs(math.fsum(d.tolist()) - 1.0)
        case.at_most(off, 1e-9, "the distribution sums to one", u=u, beta=beta, d=d)
        value = case.objective(d, u, beta)
        rival = case.f.repair(case.subject.programs.distribution(u, beta))
        tolerance = max(case.solver_tol(size(u, value)), case.rough_tol(size(u, value)))
        promise = "no feasible d has a lower <d, u> + f(d) + β Σ d log d than distribution(u, β)"
        # Points between d and the rival may be better than both of them.
        rivals = [rival, *(d + t * (rival - d) for t in (0.1, 0.5))]
        for other in rivals:
            excess = value - case.objective(other, u, beta)
            case.at_most(excess, tolerance, promise, u=u, beta=beta, d=d, better=other)


def first_order(case: Case) -> None:
    """distribution(u, β) is optimal on each segment from it to another feasible point."""
    promise = "<d' − d, u + β log d> + f(d') − f(d) >= 0 at every feasible d'"
    for u, beta in zip(case.margins(4), [1e-3, 0.1, 1.0, 10.0], strict=True):
        d = case.f.distribution(u.copy(), beta)
        at = case.f.penalty(d)
        best = case.objective(d, u, beta)
        # The minimiser without entropy is a rival at the boundary of the domain.
        sharp = case.f.relaxed_margin(u.copy())[1]
        rivals = zip(case.subject.feasible, case.subject.prices, strict=True)
        # Tiny entries of d have lost digits. They are treated as larger, which makes the check
        # less strict, but never wrong.
        slope = u + beta * np.log(np.maximum(d, 1e-290))
        tolerance = case.rough_tol(size(u, at, beta))
        for other, price in [*rivals, (sharp, case.f.penalty(sharp))]:
            # The d of a solver is not accurate enough for logarithms of its entries.
            if case.rough:
                segment = [d + t * (other - d) for t in (0.1, 1.0)]
                figure = best - min(case.objective(p, u, beta) for p in segment)
            else:
                figure = at - price - math.fsum(((other - d) * slope).tolist())
            case.at_most(figure, tolerance, promise, u=u, beta=beta, d=d, towards=other)


def small_beta(case: Case) -> None:
    """If d = distribution(u, β), <d, u> + f(d) exceeds F(u) by at most β · entropy_range(m)."""
    # The entropy term moves the minimum by at most β times the range of the entropy.
    spread = bounds_of(case.f).entropy_range(case.m)
    betas = (1e-9, 1e-6, 1e-2) if not case.rough else (1e-6, 1e-2)
    for beta in betas:
        # The smoothed distribution cannot distinguish margins that differ by less than about β.
        close = 10.0 * beta * case.rng.normal(size=case.m)
        for u in (*case.margins(1 if case.subject.large else 4), close):
            value = case.f.relaxed_margin(u.copy())[0]
            d = case.f.distribution(u.copy(), beta)
            figure = case.objective(d, u) - value - beta * spread
            promise = "<d, u> + f(d) <= F(u) + β entropy_range(m) at d = distribution(u, β)"
            case.at_most(figure, case.rough_tol(size(u, value)), promise, u=u, beta=beta, d=d)


def large_beta(case: Case) -> None:
    """If β grows, distribution(u, β) tends to the feasible distribution of largest entropy."""
    beta = 1e4
    for u in case.margins(2):
        d = case.f.distribution(u.copy(), beta)
        at = case.objective(d, u)
        for other, price in zip(case.subject.feasible, case.subject.prices, strict=True):
            allowed = (math.fsum((other * u).tolist()) + price - at) / beta
            figure = entropy(d) - entropy(other) - allowed
            promise = "Σ d log d is least at distribution(u, β) for large β, up to 1/β"
            case.at_most(figure, case.rough_tol(), promise, u=u, beta=beta, d=d, other=other)


def stability(case: Case) -> None:
    """Distributions satisfy ‖d(u, β) − d(v, β)‖_1 <= ‖u − v‖_inf / (β + curvature(m))."""
    modulus = case.f.curvature(case.m)
    for u, beta in zip(case.margins(4), (0.1, 0.1, 1.0, 0.1), strict=True):
        signs = case.rng.choice([-1.0, 1.0], case.m)
        for v in (u + 0.01 * signs, u + case.rng.normal(size=case.m)):
            d = case.f.distribution(u.copy(), beta)
            e = case.f.distribution(v.copy(), beta)
            bound = float(np.abs(u - v).max()) / (beta + modulus)
            # Two points that are optimal within the tolerance are this far from the optima.
            tolerance = 2.0 * math.sqrt(2.0 * case.rough_tol(size(u, v)) / (beta + modulus))
            promise = "‖d(u, β) − d(v, β)‖_1 <= ‖u − v‖_inf / (β + curvature(m))"
            figure = float(np.abs(d - e).sum()) - bound
            case.at_most(figure, tolerance, promise, u=u, v=v, beta=beta)


def game(case: Case) -> None:
    """For a random game, the bounds of `reference` are narrow and overlap those of `solve`."""
    from relaxboost.game.game import Game
    from relaxboost.solvers import reference, solve

    # The entries have three digits, so that the matrix can be copied from the error message.
    A = np.round(case.rng.uniform(-1.0, 1.0, (case.m, 6)), 3)
    declared = Game(A, case.subject.given)
    best = reference(declared, tol=1e-5)
    promise = "the bounds of reference(Game(A, f)) are close to each other"
    case.at_most(best.gap, case.solver_tol() + 1e-5, promise, A=A, message=best.message)
    boosted = solve(declared, tol=0.05, max_rounds=60)
    # Any pair (d, w) must give valid bounds, also a random pair.
    rough = declared.bracket(case.rng.random(case.m), case.rng.normal(size=6))
    for name, (lower, upper) in (
        ("solve(game)", (boosted.lower, boosted.upper)),
        ("game.bracket(d, w)", rough),
    ):
        apart = max(lower - best.upper, best.lower - upper)
        tolerance = 0.0 if bounds_of(case.f).is_proved else case.tol()
        promise = f"the bounds of reference(game) and {name} overlap"
        both = {"got": (lower, upper), "reference": (best.lower, best.upper)}
        case.at_most(apart, tolerance, promise, A=A, **both)
