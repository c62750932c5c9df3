"""JNTV05: the worst case of mirror descent over all proxy functions and gradients, in Euclidean
norms.

The proxy function V is any function that is strongly convex in ‖·‖_2 on a closed convex set Θ of a
Hilbert space, and +∞ outside of Θ. The bounds have the norm ‖u‖_2 of a gradient u instead of ‖u‖_∞.
If V = ‖θ‖_2²/2 on a subset of R^M, its modulus in ‖·‖_1 is α = 1/M. In this case the result implies
the statements of the paper, because ‖u‖_2² ≤ M‖u‖_∞². For the entropy it implies nothing.

The iterate θ_i of Eq. 11 is the point at which −ζ_i/β_i is a subgradient of V, where ζ_i is the
weighted sum of the first i gradients. Without loss of generality α = 1, because V can be divided by
α if all β_i are multiplied by α.
"""

import math
from fractions import Fraction

from relaxboost.claims.jntv05 import proofs, proxy
from relaxboost.claims.language import *
from relaxboost.claims.worst_case import (
    ConvexFunctional,
    Element,
    Expression,
    root,
    total,
    worst_case,
)

GRID = Space(t=Whole(1, 6), beta=Real(0.25, 4), growth=Whole(0, 2))


class AnyGradients:
    """An unknown mirror descent run with the gradients u_1, ..., u_t and the iterates θ_0, ...,
    θ_{t−1}.

    The first iterate θ_0 = θ_*, the origin, minimises the proxy function V. The comparison point is
    θ in Θ, and `rise` is V(θ) − V(θ_*).
    """

    def __init__(self, inverses: list[Fraction | Bracket]) -> None:
        # The arguments are 1/β_0, ..., 1/β_{t−1}.
        self.V = ConvexFunctional(strong=1)
        self.u = [Element() for _ in inverses]
        first, self.least = self.V.minimum()
        self.points = [first]
        past = Element({})
        for u, inverse in zip(self.u, inverses[1:], strict=False):
            past = past + u
            self.points.append(Element())
            self.V.at(self.points[-1], -(past * inverse))
        self.theta = Element()
        self.rise = self.V.value(self.theta) - self.least

    @property
    def regret(self) -> Expression:
        """The linearised regret Σ (θ_{i−1} − θ)ᵀu_i against the point θ."""
        return total((f - self.theta) @ u for f, u in zip(self.points, self.u, strict=True))


@proofs.proposition_2_corrected.step(
    space=GRID,
    every=WorstCases.grid(
        "t ≤ 5, β_i = β_0 and β_i = (i + 1)β_0", growth=(0, 1), beta=(1,), t=range(1, 6)
    ),
    resolution=1e-5,
)
def _(x: Instance) -> Slack:
    beta = [Fraction(1 + x.growth * i) for i in range(x.t + 1)]
    stream = AnyGradients([1 / b for b in beta[:-1]])
    squares = total(u @ u / (2 * b) for u, b in zip(stream.u, beta, strict=False))
    left = stream.regret - beta[-1] * stream.rise - squares
    worst = worst_case(left, [stream.rise + total(u @ u for u in stream.u) == 1], [stream.V])
    return at_most(worst.bracket, 0, "regret less its bound", x.t)


@proofs.proposition_3_corrected.step(
    space=GRID,
    every=WorstCases.grid(
        "t ≤ 5, β_0 = 1/2, 1 and 2 times L/√(αV*)", growth=(0,), beta=("1/2", 1, 2), t=range(1, 6)
    ),
    resolution=1e-5,
)
def _(x: Instance) -> Slack:
    # This is the case β_i = β_0 √(i + 1) with L = V* = 1.
    stream = AnyGradients([root(Fraction(1, i)) / Fraction(x.beta) for i in range(1, x.t + 1)])
    requirements = [*(u @ u <= 1 for u in stream.u), stream.rise <= 1]
    worst = worst_case(stream.regret, requirements, [stream.V])
    beta = [x.beta * math.sqrt(i + 1.0) for i in range(x.t + 1)]
    right = (beta[-1] + sum(1.0 / (2.0 * b) for b in beta[:-1])) / x.t
    return at_most(worst.bracket / x.t, right, "regret/t", x.t)


@proxy.assumption_l.step(
    space=GRID,
    every=WorstCases.grid("any z, z̃ and Θ", growth=(0,), beta=(1,), t=(1,)),
    resolution=1e-5,
)
def _(x: Instance) -> Slack:
    # The case z̃ = −∇W(z̃) = 0 with β = ‖z‖ = 1 is no loss of generality. The term <z̃, θ> may be
    # added to V, the space may be translated, and V may be multiplied by β. If all vectors are
    # multiplied by c, both sides are multiplied by c².
    V = ConvexFunctional(strong=1)
    z = Element()
    after = Element()
    V.minimum()
    V.at(after, -z)
    worst = worst_case(after @ after, [z @ z == 1], [V])
    return at_most(worst.bracket, 1, "‖∇W(z) − ∇W(z̃)‖², ‖z − z̃‖ = 1")
