"""What cvxpy evaluates: f at points that its constraints allow, and its tangents there.

No solver has to be believed for either. f may be of d and of variables z of its own, x = (d, z).

* A solver's x breaks constraints by its tolerance, and f is then too low by so much times their
  multipliers. x is moved towards a point inside until no constraint is broken. Linear constraints
  that leave each other no room, as d_1 <= 0 and sums that add up to one, hold as equalities.
* With multipliers λ >= 0 of the constraints h(d) <= 0, and G = ∇f(d0) + Σ λ ∇h(d0),
  F(u) >= f(d0) + Σ λ h(d0) − <G, d0> + min_i (u_i + G_i), at any d0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations.dcp import difference

_ROUNDED = 64.0 * UNIT
"""What values and slopes may be off by, relative to the sizes of their terms."""
_PROBES, _CANCELLED = 4, 4.0
"""How many points nearby are looked at, and how many times their spread is charged."""
_PRICES = (1.0, 1e2, 1e4, 1e6, math.inf)
"""What a unit of room inside the constraints is worth, in units of f; at last f counts nothing."""
_NO_ROOM = 1e-7
"""Room that a solver finds where there is none."""


class TangentProof(NamedTuple):
    """The point of a tangent of f, and a multiplier for each of its constraints."""

    point: Vector
    multipliers: tuple[Vector, ...]


class Pointwise:
    """A convex function of cvxpy, evaluated and never optimised but for a point inside.

    Parameters
    ----------
    d : cvxpy variable of shape (m,)
    value : cvxpy expression
    constraints : list of cvxpy constraints
    solve : callable
        Solves a cvxpy problem and tells whether it did.
    simplex : bool
        Whether d has to stay non-negative, with the sum it has.
    """

    def __init__(
        self,
        d: Any,
        value: Any,
        constraints: list[Any],
        solve: Callable[[Any], bool],
        *,
        simplex: bool = True,
    ) -> None:
        self._solve = solve
        self.d, self.value, self.constraints, self._simplex = d, value, constraints, simplex
        own = {v.id: v for e in (value, *constraints) for v in e.variables() if v.id != d.id}
        self.own = list(own.values())
        """The variables that f has beside d."""
        inside = [a.domain for c in constraints for a in c.args]
        self.domain = [c for part in (value.domain, *inside) for c in part]
        self._kept = [*constraints, *(c for v in self.own for c in _of_variable(v))]
        """What x has to meet; `_tie` makes equalities of some of it."""
        self._free = np.ones(d.size, dtype=np.bool_)
        """Entries of d that may be positive on the simplex, not only zero."""

    @cached_property
    def _atoms(self) -> list[Any]:
        """All expressions that f and its constraints are made of."""
        todo, found = [self.value, *(a for c in self.constraints for a in c.args)], []
        while todo:
            found.append(todo.pop())
            todo.extend(found[-1].args)
        return found

    @cached_property
    def approximate(self) -> bool:
        """Whether the cone program that cvxpy makes has another exponent than the function."""
        powers = [a for a in self._atoms if hasattr(a, "p_used")]
        return any(a.p_used is not None and float(a.p_used) != float(a.p.value) for a in powers)

    @cached_property
    def explicit(self) -> bool:
        """Whether f is evaluated without a solver: no variables but d, and no supremum."""
        from cvxpy.atoms.suppfunc import SuppFuncAtom

        return not self.own and not any(isinstance(a, SuppFuncAtom) for a in self._atoms)

    def at(self, x: Vector) -> float:
        """Return f as cvxpy evaluates it at x, whatever the constraints are; inf for nan."""
        self.put(x)
        with np.errstate(all="ignore"):
            number = float(np.asarray(self.value.value).item())
        return math.inf if math.isnan(number) else number

    def above(self, x: Vector) -> float:
        """Return f at x and what it may be off by where its terms cancel."""
        found = [self.at(y) for y in around(x)]
        most = max(found)
        return most if most == math.inf else most + _CANCELLED * (most - min(found))

    def joint(self, d: Vector) -> Vector:
        """Return (d, z) with the z that the variables have now."""
        return np.concatenate([d, *(np.ravel(v.value, order="F") for v in self.own)])

    def allowed(self, x: Vector) -> Vector | None:
        """Return a point near x at which no constraint is broken; None where none is found."""
        x = self._onto(x)
        if self._holds(x):
            return x
        if self.inside is None:
            return None
        x = self._onto(x)
        if self._holds(x):  # some of it is known by now to hold as equalities
            return x
        towards = self.inside - x

        def moved(share: float) -> Vector | None:
            point = self._onto(x + share * towards)
            return point if self._holds(point) else None

        share = 1e-16
        while (found := moved(share)) is None:
            share *= 10.0
            if share > 1.0:
                return self.inside
        low = 0.1 * share
        for _ in range(12):
            middle = 0.5 * (low + share)
            nearer = moved(middle)
            low, share, found = (middle, share, found) if nearer is None else (low, middle, nearer)
        return found

    def put(self, x: Vector) -> None:
        """Give d and the variables of f the values of x."""
        self.d.value, first = x[: self.d.size], self.d.size
        for v in self.own:
            v.save_value(x[first : first + v.size].reshape(v.shape, order="F"))
            first += v.size

    def _holds(self, x: Vector) -> bool:
        """Whether x breaks no constraint and f is finite; equalities hold up to rounding."""
        if self._simplex and x[: self.d.size].min() < 0.0:
            return False
        if not math.isfinite(self.at(x)):
            return False
        with np.errstate(all="ignore"):
            return all(_excess(c) <= 0.0 for c in (*self._kept, *self.domain))

    @cached_property
    def inside(self) -> Vector | None:
        """A point with room inside the constraints, where f is low; None where there is none."""
        x, roomy = self._middle()
        before = self._kept, self._free
        if roomy or not self._tie():
            return x
        tied = self._middle()[0]
        if tied is None:  # what is tight leaves no point as equalities: room of roundings
            self._kept, self._free = before
            vars(self).pop("_equalities", None)
            return x
        return tied

    def _middle(self) -> tuple[Vector | None, bool]:
        """Return a point inside the constraints, None if there is none, and whether it has room."""
        room, d = cp.Variable(), self.d
        limits: list[Any] = [room <= 1.0]
        if self._simplex:
            limits += [cp.sum(d) == 1.0, d >= 0.1 * room / d.size * self._free]
        for constraint in self._kept:
            kept = _with_room(constraint, room)
            if kept is None:
                return None, True
            limits.append(kept)
        inside = None
        for price in _PRICES:
            goal = self.value - price * room if math.isfinite(price) else -room
            problem = cp.Problem(cp.Minimize(goal), limits)
            if not self._solve(problem) or any(v.value is None for v in self.own):
                continue
            found, wide = np.asarray(d.value, dtype=np.float64), float(room.value)
            if self._simplex:
                found = np.maximum(found, 0.0)
                found = found / math.fsum(found.tolist())
            x = self._onto(self.joint(found))
            if inside is None and self._holds(x):
                inside = x
            if inside is not None and wide > _NO_ROOM:
                return inside, True
        even = np.full(d.size, 1.0 / d.size)
        if inside is None and self._simplex and not self.own and self._holds(even):
            inside = even
        return inside, False

    def _tie(self) -> bool:
        """Make equalities of linear constraints that no point meets with room; tell if any is."""
        linear, kept = [], []
        for constraint in self._kept:
            below = _not_positive(constraint)
            if below is not None and below.is_affine():
                linear.append(cp.vec(below, order="F"))
            else:
                kept.append(constraint)
        limits = list(kept)
        if self._simplex:
            linear.append(-self.d)
            limits.append(cp.sum(self.d) == 1.0)
        rooms = [cp.Variable(below.size) for below in linear]
        for below, room in zip(linear, rooms, strict=True):
            limits += [below + room <= 0.0, room <= 1.0]
        # A root is steep at zero, so that whatever can have room has some.
        goal = cp.Maximize(sum(cp.sum(cp.sqrt(room)) for room in rooms))
        with np.errstate(invalid="ignore"):  # of roots of what is below zero by a rounding
            if not rooms or not self._solve(cp.Problem(goal, limits)):
                return False
        tight = [np.asarray(room.value) <= _NO_ROOM for room in rooms]
        if self._simplex:
            linear.pop()
            self._free = ~tight[-1]
        for below, no in zip(linear, tight, strict=False):
            kept += [below[no] == 0.0] if no.any() else []
            kept += [below[~no] <= 0.0] if not no.all() else []
        self._kept = kept
        vars(self).pop("_equalities", None)
        return any(no.any() for no in tight)

    @property
    def _equal(self) -> list[Any]:
        return [c for c in self._kept if isinstance(c, cp.Zero | cp.constraints.Equality)]

    def _onto(self, x: Vector) -> Vector:
        """Return x moved to where the equalities hold; entries move in proportion to their size."""
        if self._simplex and not self._free.all():
            d = np.where(self._free, x[: self.d.size], 0.0)
            x = np.concatenate([d / math.fsum(d.tolist()), x[self.d.size :]])
        if not self._equal:
            return x
        from scipy import sparse
        from scipy.sparse.linalg import splu

        rows, right = self._equalities
        sizes = np.abs(x)
        sizes[self.d.size if self._simplex else 0 :] += 1.0
        moves = sparse.csc_array(rows @ sparse.diags_array(sizes) @ rows.T)
        ridge = sparse.diags_array(1e-13 * moves.diagonal() + 1e-300)
        try:
            factor = splu(sparse.csc_array(moves + ridge))
        except RuntimeError:  # some row has no entry to move
            return x
        for _ in range(3):
            x = x + sizes * (rows.T @ factor.solve(right - rows @ x))
        return x

    @cached_property
    def _equalities(self) -> tuple[Any, Vector]:
        """The equalities as rows @ x = right, that of the simplex among them."""
        from scipy import sparse

        size = self.d.size + sum(v.size for v in self.own)
        self.put(np.zeros(size))
        rows, right = [], []
        if self._simplex:
            rows.append(sparse.csr_array((np.arange(size) < self.d.size)[None, :] * 1.0))
            right.append(np.ones(1))
        for constraint in self._equal:
            expression = difference(constraint)
            parts = [_slopes(expression, v).T for v in (self.d, *self.own)]
            rows.append(sparse.csr_array(sparse.hstack(parts)))
            right.append(-np.ravel(expression.value, order="F"))
        return sparse.csr_array(sparse.vstack(rows)), np.concatenate(right)

    def below(self, u: Vector, proof: TangentProof, *, box: bool = False) -> float:
        """Return a number not above F(u), or the minimum over 0 <= d <= 1, for any such proof.

        −inf where f has variables of its own, or no slope there. Points a few roundings apart tell
        what is lost where terms of f cancel.
        """
        if not self.explicit:
            return -math.inf
        points = around(np.asarray(proof.point, dtype=np.float64))
        found = [self._below(u, proof._replace(point=x), box) for x in points]
        least = min(found)
        return least if least == -math.inf else least - _CANCELLED * (max(found) - least)

    def _below(self, u: Vector, proof: TangentProof, box: bool) -> float:
        tangent = self._tangent(proof)
        if tangent is None:
            return -math.inf
        height, size, slope, steep = tangent
        low = u + slope - _ROUNDED * (np.abs(u) + steep)
        first = math.fsum(np.minimum(low, 0.0)) if box else float(low.min())
        bound = first + height - _ROUNDED * (abs(first) + size)
        return bound if math.isfinite(bound) else -math.inf

    def _tangent(self, proof: TangentProof) -> tuple[float, float, Vector, Vector] | None:
        """Return the height of the tangent at zero and its slope, each with the size of its terms.

        None where cvxpy knows no slope, or a constraint is of a kind that is not known here.
        """
        d = np.asarray(proof.point, dtype=np.float64)
        if d.shape != (self.d.size,) or len(proof.multipliers) != len(self.constraints):
            return None
        if not np.isfinite(d).all():
            return None
        self.d.value = d
        height, slope = 0.0, np.zeros(d.size)
        size, steep = 0.0, np.zeros(d.size)
        terms = [(self.value, np.ones(1))]
        for constraint, given in zip(self.constraints, proof.multipliers, strict=True):
            term = _priced(constraint, np.asarray(given, dtype=np.float64))
            if term is None:
                return None
            terms.append(term)
        for expression, price in terms:
            if not price.any():
                continue
            with np.errstate(all="ignore"):
                value = np.ravel(np.asarray(expression.value), order="F")
                slopes = _slopes(expression, self.d)
            if slopes is None:
                return None
            own = np.asarray(slopes @ price).ravel()
            sizes = np.asarray(abs(slopes) @ np.abs(price)).ravel()
            height += math.fsum(value * price) - math.fsum(own * d)
            size += float(np.abs(value * price).sum() + np.abs(own * d).sum())
            slope, steep = slope + own, steep + sizes
        return height, size, slope, steep

    def proof(self, d: Vector, multipliers: list[Any]) -> TangentProof:
        """Return the proof at d with what a solver gave for its constraints."""
        kept = [
            np.zeros(0) if y is None or isinstance(y, list) else np.ravel(y, order="F")
            for y in multipliers
        ]
        return TangentProof(np.array(d, dtype=np.float64), tuple(kept))


def around(x: Vector) -> list[Vector]:
    """Return x and points that are a few roundings of their entries away."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (_PROBES, x.size))
    return [x, *(x * (1.0 + 4.0 * UNIT * signs))]


def _of_variable(v: Any) -> list[Any]:
    """Return the signs and bounds that a variable was declared with, as constraints."""
    has = v.attributes
    found = [v >= 0] if has["nonneg"] or has["pos"] else []
    found += [v <= 0] if has["nonpos"] or has["neg"] else []
    if has.get("bounds") is not None:
        found += [v >= has["bounds"][0], v <= has["bounds"][1]]
    return found


def _excess(constraint: Any) -> float:
    """Return by how much a constraint is broken beyond rounding; not positive where it holds."""
    parts = [np.asarray(a.value, dtype=np.float64) for a in constraint.args]
    sizes = sum(np.abs(p).max(initial=0.0) for p in parts)
    rounding = 8.0 * UNIT * float(sizes)
    if isinstance(constraint, cp.SOC):
        t, x = parts
        over = np.linalg.norm(x, axis=constraint.axis if x.ndim > 1 else 0) - t
    elif isinstance(constraint, cp.PSD):
        over = -np.linalg.eigvalsh(0.5 * (parts[0] + parts[0].T))
        rounding *= len(parts[0])
    elif isinstance(constraint, cp.ExpCone):
        x, y, z = parts
        steep = np.where(y > 0.0, y, 1.0)
        over = np.where(y > 0.0, steep * np.exp(x / steep) - z, np.where(y < 0.0, -y, x))
    elif (below := _not_positive(constraint)) is not None:
        over = np.asarray(below.value)
    elif isinstance(constraint, cp.Zero | cp.constraints.Equality):
        over, rounding = np.abs(difference(constraint).value), 1e-13 * (1.0 + float(sizes))
    else:
        over = violation(constraint)
    largest = float(np.max(over, initial=-math.inf))
    return math.inf if math.isnan(largest) else largest - rounding


def violation(constraint: Any) -> Vector:
    """Return by how much a constraint is broken, as cvxpy has it; that of a power cone by itself,
    which cvxpy has from a solver, within 1e-8."""
    if not isinstance(constraint, cp.PowCone3D):
        return np.asarray(constraint.violation(), dtype=np.float64)
    x, y, z = (np.asarray(a.value, dtype=np.float64) for a in constraint.args)
    share = np.asarray(constraint.alpha.value)
    above = np.abs(z) - np.maximum(x, 0.0) ** share * np.maximum(y, 0.0) ** (1.0 - share)
    return np.maximum(np.maximum(-x, -y), above)


def outside(constraint: Any) -> Vector:
    """Return by how much a constraint on the domain of an atom is broken, where it is an equality
    beyond rounding: a matrix made of d is symmetric only up to that."""
    if isinstance(constraint, cp.constraints.Equality):
        return np.maximum(_excess(constraint), 0.0)
    return violation(constraint)


def _with_room(constraint: Any, room: Any) -> Any:
    """Return the constraint with so much room to spare; None for kinds not known here."""
    args, below = constraint.args, _not_positive(constraint)
    if below is not None:
        return below + room <= 0
    if isinstance(constraint, cp.Zero | cp.constraints.Equality):
        return constraint
    if isinstance(constraint, cp.SOC):
        return cp.SOC(args[0] - room, args[1], axis=constraint.axis)
    if isinstance(constraint, cp.PSD):
        return args[0] - room * np.eye(args[0].shape[0]) >> 0
    if isinstance(constraint, cp.ExpCone):
        return cp.ExpCone(args[0] + room, args[1] - room, args[2] - room)
    if isinstance(constraint, cp.PowCone3D):
        return cp.PowCone3D(args[0] - room, args[1] - room, args[2], constraint.alpha)
    return None


def _not_positive(constraint: Any) -> Any:
    """Return what an inequality says is not positive, None where it is none."""
    if isinstance(constraint, cp.constraints.NonNeg):
        return -constraint.args[0]
    if isinstance(constraint, cp.constraints.Inequality | cp.constraints.NonPos):
        return difference(constraint)
    return None


def _priced(constraint: Any, y: Vector) -> tuple[Any, Vector] | None:
    """Return an expression and its prices; the sum is nowhere positive where the constraint holds.

    None for kinds not known here.
    """
    below = _not_positive(constraint)
    if below is not None:
        return (below, np.maximum(y, 0.0)) if y.size == below.size else None
    if isinstance(constraint, cp.Zero | cp.constraints.Equality):
        expression = difference(constraint)
        return (expression, y) if y.size == expression.size else None
    if isinstance(constraint, cp.PSD) and y.size == constraint.args[0].size:
        side = constraint.args[0].shape[0]
        square = y.reshape(side, side)
        values, vectors = np.linalg.eigh(0.5 * (square + square.T))
        return constraint.args[0], -((vectors * np.maximum(values, 0.0)) @ vectors.T).ravel()
    return None


def _slopes(expression: Any, d: Any) -> Any:
    """Return the slopes of the entries of an expression in the columns, None where there are none.

    cvxpy knows none outside the domain of an atom, and those of some atoms nowhere.
    """
    from scipy import sparse

    try:
        found = expression.grad.get(d, np.zeros((d.size, expression.size)))
    except (NotImplementedError, ValueError, ArithmeticError):
        return None
    if found is None:
        return None
    if np.isscalar(found):
        found = np.full((d.size, expression.size), found)
    found = sparse.csr_array(found)
    return found if np.isfinite(found.data).all() else None
