"""Group norms: Σ_g a_g ‖d_g‖_p over disjoint groups of examples, as a penalty and as a ball.

By the chain rule of the entropy the groups separate. With d_g = s_g p_g, Σ s_g = 1 and p_g in
the simplex of the group,

    <d, u> + λ Σ a_g ‖d_g‖ + β Σ d log d = Σ s_g [<p_g, u_g> + λ a_g ‖p_g‖ + β Σ p_g log p_g]
                                           + β Σ s_g log s_g,

so that p_g is the distribution of a norm penalty within its group and s is soft-max in the values
V_g of the brackets. The penalty has λ = c, the ball the λ at which Σ a_g ‖d_g‖ = r.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.intervals import Interval
from relaxboost.parameters import exact, spell
from relaxboost.projections.capped import capped_distribution
from relaxboost.projections.grouped import group_norms, norm_penalties
from relaxboost.projections.grouped_margin import Levels
from relaxboost.projections.roots import decreasing_root
from relaxboost.relaxations.base import (
    Level,
    Relaxation,
    Traits,
    Vector,
)
from relaxboost.relaxations.p_norm import PNorm, check_range
from relaxboost.relaxations.vectors import (
    check_length,
    enclose_vector,
    exact_vector,
    positive_size,
    positive_vector,
    spell_vector,
)


class Spreading:
    """The minimiser d of <d, u> + λ Σ a_g ‖d_g‖ + β Σ d log d along a sequence of λ."""

    def __init__(
        self,
        u: Vector,
        beta: float,
        order: NDArray[np.int64],
        starts: NDArray[np.int64],
        a: Vector,
        q: float,
    ) -> None:
        self._order, self._starts, self._a, self._q, self._beta = order, starts, a, q, beta
        self._u = u[order]
        self._y, self._p = np.zeros(u.size), np.empty(u.size)
        self._states = np.full((a.size, 5), np.inf)
        self._shares, self._log_c = np.empty(0), np.empty(0)
        self._last = math.nan

    def move(self, log_weight: float) -> tuple[float, float]:
        """Solve for the λ whose logarithm this is; return log Σ a_g ‖d_g‖ and its slope."""
        states = self._states
        if math.isfinite(self._last):
            states[:, :2] += states[:, 3:] * (log_weight - self._last)
        self._last = log_weight
        self._log_c = log_weight + np.log(self._a)
        given = self._u, self._starts, self._log_c, self._q, self._beta, states
        norm_penalties(*given, self._y, self._p)
        return self._share(0.0)

    def settle(self, log_size: float) -> None:
        """Divide d among the groups again so that Σ a_g ‖d_g‖ is e^log_size.

        Where groups tie on the scale of β, the log λ at which it is may lie between two doubles.
        What is missing is small, and so a number with digits of its own.
        """

        def miss(x: float) -> tuple[float, float]:
            size, slope = self._share(x)
            return size - log_size, slope

        decreasing_root(miss, 0.0, 1e-17, 1e-14)

    def _share(self, onwards: float) -> tuple[float, float]:
        """Set the groups' shares for λ e^onwards; return log Σ a_g ‖d_g‖ and its slope."""
        states = self._states
        g = int(np.argmin(states[:, 0]))
        values = states[:, 0] - states[g, 0] + onwards * (states[:, 3] - states[g, 3])
        self._shares = capped_distribution(values, self._beta)
        # d log N = (1 − d log μ)/q, and V_g has the slope a_g N_g in λ.
        slopes = (1.0 - states[:, 4]) / self._q
        norms = np.exp((self._log_c - states[:, 1]) / self._q + onwards * slopes)
        parts = self._shares * self._a * norms
        size = float(parts.sum())
        slopes -= (states[:, 3] - float(self._shares @ states[:, 3])) / self._beta
        return math.log(size), float(parts @ slopes) / size

    def distribution(self) -> Vector:
        """Return d."""
        d = np.empty(self._u.size)
        d[self._order] = np.repeat(self._shares, np.diff(self._starts)) * self._p
        return d / d.sum()


class GroupNorm(Relaxation):
    """What the penalty and the ball share: the groups and their norm."""

    level: ClassVar[Level] = "enclosed"

    groups: Any
    p: Any
    factors: Any

    def _prepare(self, name: str) -> None:
        kind = type(self).__name__
        labels = exact_vector(kind, "groups", self.groups)
        count = int(max(labels)) + 1
        if any(g.denominator != 1 or g < 0 for g in labels) or len(set(labels)) != count:
            raise InputError(
                f"{kind} needs groups to be one whole number for each example, from 0 to the "
                "number of groups less one, none left out"
            )
        object.__setattr__(self, "groups", tuple(int(g) for g in labels))
        object.__setattr__(self, name, positive_size(kind, name, getattr(self, name)))
        p = exact(kind, "p", self.p)
        if p <= 1:
            raise InputError(f"{kind} needs 1 < p < inf within the groups, got p = {self.p!r}")
        check_range(kind, p, None, ends=False)
        object.__setattr__(self, "p", p)
        if self.factors is not None:
            factors = exact_vector(kind, "factors", self.factors)
            if len(factors) != count or min(factors) <= 0:
                raise InputError(f"{kind} needs a factor > 0 for each of the {count} groups")
            object.__setattr__(self, "factors", positive_vector(kind, "factors", factors))

    def _show(self, name: str) -> str:
        groups = list(self.groups) if len(self.groups) <= 8 else f"<{len(self.groups)} labels>"
        tail = "" if self.factors is None else f", factors={spell_vector(self.factors)}"
        size = spell(getattr(self, name))
        return f"{type(self).__name__}({groups}, {name}={size}, p={spell(self.p)}{tail})"

    @property
    def fixed_m(self) -> int | None:
        """The number of examples, if the parameters tell."""
        return len(self.groups)

    def resolve(self, m: int) -> Any:
        """Return itself if there is a label for each of the m examples."""
        check_length(type(self).__name__, "groups", self.groups, m)
        return self

    @property
    def traits(self) -> Traits:
        """Meets (i)–(iii) of SS09 Thm 7; symmetric within groups only."""
        return Traits(
            monotone=True,
            symmetric=max(self.groups) == 0,
            zero_minimum=True,
            zero_in_core=True,
        )

    @cached_property
    def norm(self) -> PNorm:
        """The norm within a group."""
        return PNorm(self.p, None)

    @cached_property
    def members(self) -> list[NDArray[np.int64]]:
        """The examples of each group."""
        labels = np.array(self.groups)
        order = np.argsort(labels, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)

    @cached_property
    def enclosed(self) -> Interval:
        """The factors a_g."""
        count = max(self.groups) + 1
        return Interval(np.ones(count)) if self.factors is None else enclose_vector(self.factors)

    @cached_property
    def _a(self) -> Vector:
        return 0.5 * (self.enclosed.lower + self.enclosed.upper)

    def of(self, d: Interval) -> Interval:
        """Return Σ a_g ‖d_g‖."""
        sizes = [self.norm.of(d[group]) for group in self.members]
        return (_stack(sizes) * self.enclosed).sum()

    def dual_of(self, x: Interval) -> Interval:
        """Return max_g ‖x_g‖_* / a_g."""
        sizes = [self.norm.dual_of(x[group]) for group in self.members]
        return (_stack(sizes) / self.enclosed).max()

    def norm_size(self, d: Vector) -> float:
        """Return Σ a_g ‖d_g‖ in doubles."""
        d = np.ascontiguousarray(d, dtype=np.float64)
        return float(self._a @ group_norms(d, *self._order, float(self.p)))

    def _dual_size(self, theta: Vector) -> float:
        enclosed = self.dual_of(Interval(np.asarray(theta, dtype=np.float64)))
        return 0.5 * (float(enclosed.lower) + float(enclosed.upper))

    @cached_property
    def _flattest(self) -> tuple[int, Interval]:
        """Return the group with the least norm on the simplex, and that norm."""
        sizes = Interval(np.array([float(len(group)) for group in self.members]))
        norms = self.enclosed / sizes.power(1 - 1 / self.p)
        return int(np.argmin(norms.lower)), norms.min()

    @cached_property
    def _order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The examples group by group, and where each group starts, then their number."""
        ends = np.cumsum([len(group) for group in self.members])
        return np.concatenate(self.members), np.append(0, ends).astype(np.int64)

    def spreading(self, u: Vector, beta: float) -> Spreading:
        """Return what minimises <d, u> + λ Σ a_g ‖d_g‖ + β Σ d log d for one λ after another."""
        return Spreading(u, beta, *self._order, self._a, self.norm.q)

    def levels(self, u: Vector) -> Levels:
        """Return the groups' relaxed margins without smoothing, level by level."""
        return Levels(u, *self._order, self._a, self.norm.q)

    def place(self, g: int, part: Vector) -> Vector:
        """Return `part` as a distribution over all examples."""
        d = np.zeros(len(self.groups))
        d[self.members[g]] = part
        return d

    def cvxpy_norm(self, d: Any) -> Any:
        """Return Σ a_g ‖d_g‖ as a cvxpy expression."""
        import cvxpy as cp

        p = float(self.p)
        terms = [a * cp.norm(d[g], p) for a, g in zip(self._a, self.members, strict=True)]
        return cp.sum(cp.hstack(terms))

    def cvxpy_dual(self, x: Any) -> Any:
        """Return max_g ‖x_g‖_* / a_g as a cvxpy expression."""
        import cvxpy as cp

        p = float(self.norm.dual)
        terms = [cp.norm(x[g], p) / a for a, g in zip(self._a, self.members, strict=True)]
        return cp.max(cp.hstack(terms))


def _stack(scalars: list[Interval]) -> Interval:
    return Interval([float(s.lower) for s in scalars], [float(s.upper) for s in scalars])
