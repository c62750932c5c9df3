"""The entropic projection onto the simplex with a cap for each example, in the log domain.

The minimiser of <d, u> + β Σ d_i log(d_i / a_i) subject to d <= c is d_i = min(c_i, x e_i), where
e_i = a_i exp(−(u_i − γ)/β) for any reference γ. The factor x solves Σ min(c_i, x e_i) = 1. Sort
the entries by b_i = c_i / e_i in increasing order, and let r be the smallest number with

    R_r = 1 − Σ_{i <= r} c_i <= b_{r+1} Σ_{i > r} e_i.

Then the first r entries are at their caps, and x = R_r / Σ_{i > r} e_i. This is Fig. 2 of
Shalev-Shwartz & Singer (2009) with the cap ν replaced by c_i.

The reference γ is the margin at which the caps, summed in increasing order of the margins, first
reach one: Σ_{u_i < γ} c_i < 1 <= Σ_{u_i <= γ} c_i. For a = 1, this γ implies x <= 1 and
x >= R / Σ_{u_i >= γ} e_i, where R is one minus the sum of the caps of the margins below γ. So an
entry with a huge e_i is at its cap, and an entry whose e_i underflows has weight 0.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.rounding import MIN_NORMAL
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations._projections.vectorised import MAX_EXPONENT


def caps_threshold(u: Vector, caps: Vector) -> float:
    """Return the smallest margin γ such that the caps of the margins up to γ sum to at least one.

    This γ maximises γ − Σ c_i [γ − u_i]_+. If all caps sum to less than one because of rounding,
    the result is the largest margin with a positive cap.
    """
    order = np.argsort(u)
    r = int(np.searchsorted(np.cumsum(caps[order]), 1.0))
    gamma = float(u[order[r]]) if r < u.size else math.inf
    return gamma if gamma < math.inf else float(u[(caps > 0.0) & (u < math.inf)].max())


def caps_distribution(u: Vector, beta: float, c: Vector, prior: Vector | None = None) -> Vector:
    """Return the minimiser d <= c of <d, u> + β Σ d_i log(d_i / a_i).

    The caps c >= 0 sum to at least one up to rounding. The weights a are `prior`, by default 1, and
    lie between about 1e-50 and 1e50. An integer a_i acts like a_i examples with the same margin
    that share one cap. An example with the margin ``+inf`` gets weight 0.
    """
    # The sum of huge caps could overflow.
    c = np.minimum(c, 1.0)
    with np.errstate(over="ignore", under="ignore"):
        e = np.exp((caps_threshold(u, c) - u) / beta)
        if prior is not None:
            e *= prior
        # Larger entries are at their caps. Their sums would overflow.
        e = np.minimum(e, math.exp(MAX_EXPONENT))
        b = c / np.maximum(e, MIN_NORMAL)
        order = np.argsort(b)
        below = np.cumsum(c[order]) - c[order]
        above = np.cumsum(e[order][::-1])[::-1]
        is_free = 1.0 - below <= b[order] * above
    r = int(np.argmax(is_free)) if is_free.any() else u.size
    capped = order[:r]
    free = order[r:]
    # One minus the sum of many caps cancels, so this sum is exact.
    rest = max(0.0, 1.0 - math.fsum(c[capped].tolist()))
    total = float(e[free].sum())
    x = rest / total if total > 0.0 else 0.0
    d = c.copy()
    d[free] = np.minimum(c[free], x * e[free])
    return d


def variation_ball_margin(u: Vector, prior: Vector, r: float) -> tuple[float, Vector]:
    """Return the minimum of <d, u> in a total-variation ball around `prior`, and a minimiser d.

    The ball contains the distributions d with ½ ‖d − π‖_1 <= r for π = `prior`.
    """
    # The mass r of the prior π moves from the largest margins to the first of the smallest ones.
    order = np.argsort(-u, kind="stable")
    kept = np.maximum(np.cumsum(prior[order]) - r, 0.0)
    d = np.empty(u.size)
    d[order] = np.diff(kept, prepend=0.0)
    d[np.argmin(u)] += r
    return math.fsum((d * u).tolist()), d


def variation_ball_distribution(u: Vector, beta: float, prior: Vector, r: float) -> Vector:
    """Return the minimiser of <d, u> + β Σ d_i log d_i in a total-variation ball around `prior`.

    The ball contains the distributions d with ½ ‖d − π‖_1 <= r for π = `prior`.
    """
    # d = max{x e, min{π, y e}} with e = exp(−u/β), and x and y such that the mass r moves.
    d = capped_distribution(u, beta)
    # The ball contains every distribution, or the minimiser without the ball.
    if r == 1.0 or np.maximum(prior - d, 0.0).sum() <= r:
        return d
    # min{π, y e} has the sum 1 − r. This part is that of the examples that lose mass.
    d = (1.0 - r) * caps_distribution(u, beta, prior / (1.0 - r))
    # The iteration of Michelot (1986) finds the examples that gain mass. It starts from all
    # examples and drops those whose weight x e would be below π.
    gains = np.arange(u.size)
    above = np.zeros(1, dtype=bool)
    while not above.all():
        more = (prior[gains].sum() + r) * capped_distribution(u[gains], beta)
        above = more > prior[gains]
        gains = gains[above]
        more = more[above]
    d[gains] = more
    return d
