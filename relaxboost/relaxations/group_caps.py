"""Caps on the total weights of groups of examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost._core.digits import vector
from relaxboost._core.errors import InputError, few
from relaxboost._core.lazy import cp
from relaxboost._core.names import MAX_ITEMS_SHOWN
from relaxboost._core.parameters import spell
from relaxboost._core.rounding import UNIT, sum_bounds
from relaxboost.relaxations._projections.caps import caps_distribution
from relaxboost.relaxations.base import Relaxation, Traits, as_margins, onto_simplex
from relaxboost.relaxations.bounds import Bounds, Witness
from relaxboost.relaxations.capped import ThresholdDescription
from relaxboost.relaxations.caps import Caps, cap, check_room, negentropy_range
from relaxboost.relaxations.exact_points import Groups
from relaxboost.relaxations.linear import ExactForm, Row

Index = NDArray[np.int64]


class _Units(NamedTuple):
    """The units of a `GroupCaps`, in the order of their first examples.

    A unit is a group, or a free example, which is in no group and has cap 1.
    """

    of: Index
    """The unit of each example."""
    first: Index
    """The first example of each unit."""
    sizes: Index
    """The number of examples in each unit."""
    caps: Caps
    """The caps on the total weights of the units, as a relaxation."""
    capped: Index
    """The indices of the units that are groups, not free examples."""
    order: Index
    """The examples, sorted so that the examples of a group are neighbours."""


@njit()
def _smallest(u: Vector, unit: Index, first: Index) -> Index:
    best = first.copy()
    for i in range(u.shape[0]):
        if u[i] < u[best[unit[i]]]:
            best[unit[i]] = i
    return best


@dataclass(frozen=True)
class GroupCaps(Relaxation, Bounds, ThresholdDescription):
    """The indicator of Σ_{i in g} |d_i| <= c_g for disjoint groups g of examples.

    Its relaxed margin is

        F(u) = max over γ of γ − Σ_g c_g [γ − min_{i in g} u_i]_+

    where an example in no group (a free example) is treated as a group with cap 1. This cap has no
    effect, because no weight exceeds 1. The conjugate is f*(θ) = Σ_g c_g max_{i in g} |θ_i|. It is
    infinite if θ is not zero on the free examples. By the chain rule of the entropy, the weights of
    `distribution(u, beta)` within a group are proportional to exp(−u_i/β). The total weights of the
    groups are the distribution of `Caps` at the margins −β log Σ_{i in g} exp(−u_i/β).

    Parameters
    ----------
    groups : sequence of int, shape (m,)
        The label of the group of each example, which is >= 0, or −1 for a free example.
    caps : dict, sequence, or one number for all
        The caps c_g >= 0, int, float or Fraction, kept exactly. A dict maps labels to caps, and a
        sequence is indexed by labels. If no example is free, the caps must satisfy Σ c_g >= 1. Caps
        of labels that no example has are ignored.

    Raises
    ------
    InputError
        If a label is not an integer >= −1 or has no cap, if a cap is not a finite number >= 0, or
        if no distribution satisfies the caps. A game raises InputError if the number of labels is
        not the number of examples.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 4.1, for the case in which every example is a group.
    """

    family = "relaxboost.GroupCaps"
    per_example: ClassVar[str] = "groups"

    groups: Any
    caps: Any

    def __post_init__(self) -> None:
        labels = _labels(self.groups)
        used = sorted(set(labels) - {-1})
        given = _caps_by_label(self.caps, used)
        if -1 in given:
            raise InputError(
                "GroupCaps allows no cap for -1, the label of examples in no group; remove this cap"
            )
        # A forgotten cap is more likely an error than a group without a limit.
        missing = next((label for label in used if label not in given), None)
        if missing is not None:
            raise InputError(
                f"GroupCaps has no cap for group {missing}; pass caps for the groups "
                f"{few(used, 5)}, or one number for all, or label its examples -1 (no group)"
            )
        caps = tuple((g, cap("GroupCaps", f"the cap of group {g}", given[g])) for g in used)
        check_room("GroupCaps without a free example", [q for _, q in caps], labels.count(-1))
        object.__setattr__(self, "groups", labels)
        object.__setattr__(self, "caps", caps)

    def __repr__(self) -> str:
        if max(len(self.groups), len(self.caps)) <= MAX_ITEMS_SHOWN:
            caps = ", ".join(f"{g}: {spell(q)}" for g, q in self.caps)
            return f"GroupCaps({list(self.groups)}, {{{caps}}})"
        free = self.groups.count(-1)
        return f"GroupCaps(<{len(self.groups)} examples, {len(self.caps)} groups, {free} free>)"

    def key(self) -> str:
        caps = ", ".join(f"{g}: {q}" for g, q in self.caps)
        return f"{self.family}({list(self.groups)}, {{{caps}}})"

    @cached_property
    def _units(self) -> _Units:
        labels = np.array(self.groups)
        # The free examples get different negative labels, so that each of them is a unit.
        alone = np.where(labels < 0, -1 - np.arange(labels.size), labels)
        names, first, of, sizes = np.unique(
            alone, return_index=True, return_inverse=True, return_counts=True
        )
        # `np.unique` sorts by label. The units are sorted by their first examples.
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        known = dict(self.caps)
        caps = Caps(tuple(known.get(g, Fraction(1)) for g in names[order].tolist()))
        capped = np.flatnonzero(names[order] >= 0)
        together = np.argsort(rank[of], kind="stable")
        return _Units(rank[of], first[order], sizes[order], caps, capped, together)

    def _for(self, m: int) -> _Units:
        if len(self.groups) != m:
            self.resolve(m)  # This raises the error.
        return self._units

    @property
    def traits(self) -> Traits:
        units = self._units
        # f is symmetric if all examples are in one group, or if no group has two examples, all caps
        # are equal, and all or no examples are free.
        alike = units.sizes.max() == 1 and (not units.capped.size or not self.groups.count(-1))
        symmetric = units.sizes.size == 1 or (bool(alike) and units.caps.traits.symmetric)
        return units.caps.traits._replace(symmetric=symmetric)

    def _groups_matrix(self, m: int) -> tuple[Any, Vector]:
        """Return a sparse matrix that maps d to the total weights of the groups, and their caps."""
        from scipy import sparse

        # A free example has no row.
        units = self._for(m)
        row = np.full(units.sizes.size, -1)
        row[units.capped] = np.arange(units.capped.size)
        inside = np.flatnonzero(row[units.of] >= 0)
        shape = (units.capped.size, m)
        matrix = sparse.csr_array((np.ones(inside.size), (row[units.of[inside]], inside)), shape)
        return matrix, units.caps._doubles.near[units.capped]

    def penalty(self, d: Vector) -> float:
        units = self._for(len(d))
        sums = _sums(units.of, np.abs(d))
        # A sum of n weights has at most n roundings.
        caps = units.caps._doubles.near * (1.0 + (8.0 + units.sizes) * UNIT)
        return 0.0 if (sums <= caps)[units.capped].all() else math.inf

    def conjugate(self, theta: Vector) -> float:
        units = self._for(len(theta))
        theta = np.abs(theta)
        largest = theta[_smallest(-theta, units.of, units.first)]
        if np.delete(largest, units.capped).any():
            return math.inf
        return units.caps.conjugate(np.asarray(largest))

    def _least(self, u: Vector) -> tuple[_Units, Vector, Index]:
        """Return the units, the smallest margin in each unit, and the index of its example."""
        units = self._for(u.size)
        best = _smallest(u, units.of, units.first)
        return units, u[best], best

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        units, least, best = self._least(as_margins(u, self))
        value, weights = units.caps.relaxed_margin(least)
        d = np.zeros(len(u))
        d[best] = weights
        return value, d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        # Within a group the weights are those of softmax. `Caps` projects the sums of the groups.
        units, least, _ = self._least(u)
        with np.errstate(over="ignore", under="ignore"):
            d = np.exp((least[units.of] - u) / beta)
        sums = _sums(units.of, d)
        doubles = units.caps._doubles
        # The margin of a group is `least` − β log `sums`. As two arguments, none of these terms is
        # lost in the other by rounding.
        between = doubles.near
        if not doubles.single:
            between = caps_distribution(least, beta, doubles.near, sums)
        return np.minimum(d * (between / sums)[units.of], 1.0)

    def witness(self, u: Vector) -> Witness:
        units, least, _ = self._least(as_margins(u, self))
        return units.caps.witness(least)

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        units, least, _ = self._least(as_margins(u, self))
        return units.caps.lower_bound(least, witness)

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        matrix, caps = self._groups_matrix(d.shape[0])
        return 0.0, [matrix @ (d if d.is_nonneg() else cp.abs(d)) <= caps] if caps.size else []

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        # The constraints are |x_i| <= t_g in group g, and x = 0 on the free examples.
        matrix, caps = self._groups_matrix(x.shape[0])
        if not caps.size:
            return 0.0, [x == 0]
        t = cp.Variable(caps.size, name="t", nonneg=True)
        return caps @ t, [cp.abs(x) <= matrix.T @ t]

    def exact_form(self, m: int) -> ExactForm:
        # The rows are in the order of the groups' first examples.
        rows: dict[int, Row] = {}
        one = Fraction(1)
        for i, label in enumerate(self.groups):
            if label >= 0:
                rows.setdefault(label, {})[i] = one
        caps = dict(self.caps)
        return ExactForm.free(m)._replace(
            rows=list(rows.values()),
            row_lower=[Fraction(0)] * len(rows),
            row_upper=[caps[label] for label in rows],
        )

    def exact_caps(self, m: int) -> list[Groups]:
        members: dict[int, list[int]] = {label: [] for label, _ in self.caps}
        for i, label in enumerate(self.groups):
            if label >= 0:
                members[label].append(i)
        return [(list(members.values()), [c for _, c in self.caps])]

    def describe(self, m: int) -> dict[str, Any]:
        place = {label: j for j, (label, _) in enumerate(self.caps)}
        labels = [place.get(label, -1) for label in self.groups]
        return {"kind": "caps", "groups": labels, "caps": vector([c for _, c in self.caps])}

    def center(self, m: int) -> Vector:
        return self.distribution(np.zeros(m), 1.0)

    def entropy_range(self, m: int) -> float:
        # The negative entropy is largest if each group has all its weight on one example.
        return negentropy_range(self._for(m).caps._doubles.near, self.center(m))

    def repair(self, d: Vector) -> Vector:
        d = onto_simplex(d, repr(self))
        units = self._for(d.size)
        sums = _sums(units.of, d)
        if (sums <= units.caps._doubles.near).all():
            return d
        # `Caps.repair` computes the sums of the groups. A group with so small a sum that a division
        # by it could overflow gets its mass uniformly.
        empty = sums < 1e-200
        d = np.where(empty[units.of], 1.0, d)
        return d * (units.caps.repair(sums) / np.where(empty, units.sizes, sums))[units.of]

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        units, sums = self._group_sums(d)
        return units.caps.penalty_bound(sums, total)

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        units, sums = self._group_sums(d)
        return units.caps.penalty_near(sums, total, distance)

    def _group_sums(self, d: Vector) -> tuple[_Units, Vector]:
        """Return the units and their total weights, rounded upwards, with 0 for free examples."""
        units = self._for(len(d))
        parts = np.split(d[units.order], np.cumsum(units.sizes)[:-1])
        sums = np.zeros(len(parts))
        # Free examples have cap 1, which d / Σd satisfies.
        for g in units.capped.tolist():
            sums[g] = sum_bounds(parts[g])[1]
        return units, sums


def _sums(unit: Index, x: Vector) -> Vector:
    return np.asarray(np.bincount(unit, x), dtype=np.float64)


def _caps_by_label(caps: Any, used: Sequence[int]) -> Mapping[Any, Any]:
    """Return the caps by label. A single number is the cap of all used labels."""
    given = caps.tolist() if hasattr(caps, "tolist") else caps
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, list | tuple):
        return dict.fromkeys(used, given)
    # A relaxation stores its caps as pairs of label and cap.
    is_stored = bool(given) and isinstance(given[0], tuple)
    return dict(given) if is_stored else dict(enumerate(given))


def _labels(groups: Any) -> tuple[int, ...]:
    given = groups.tolist() if hasattr(groups, "tolist") else groups
    if not isinstance(given, list | tuple) or not given:
        raise InputError(
            f"GroupCaps needs groups to be a vector of labels, one for each example, got {given!r}"
        )
    # Booleans and floats such as 1.0 are rejected too, because they may be mistakes. Python counts
    # a bool as an Integral.
    for i, label in enumerate(given):
        if isinstance(label, bool) or not isinstance(label, Integral) or label < -1:
            raise InputError(
                f"GroupCaps needs groups[{i}] to be an integer >= 0, or -1 for an example in no "
                f"group, got {label!r}; np.unique(groups, return_inverse=True)[1] turns other "
                "labels into such integers"
            )
    return tuple(map(int, given))
