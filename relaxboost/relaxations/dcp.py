"""What a user's cvxpy function returned, checked; and the term at which a rule is broken."""

from __future__ import annotations

import hashlib
import warnings
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost.relaxations.linear import LinearForm

_CURVATURES = {"CONVEX": "convex", "CONCAVE": "concave", "AFFINE": "affine", "CONSTANT": "constant"}
_SHAPED = ("symmetric", "PSD", "NSD", "diag", "sparsity")
"""Attributes of a variable by which it has fewer unknowns than entries."""
_OPPOSITE = {"convex": "concave", "concave": "convex", "affine": "affine"}


class Parts(NamedTuple):
    """A convex function as cvxpy has it: its variable of shape (m,), value and constraints."""

    variable: Any
    value: Any
    constraints: tuple[Any, ...]

    def at(self, x: Any) -> tuple[Any, list[Any]]:
        """Return value and constraints at another variable or affine expression of that shape.

        Auxiliary variables and constraints are new ones, so that two copies can meet in one
        problem.
        """
        import copy

        value, constraints = copy.deepcopy(
            (self.value, list(self.constraints)), {id(self.variable): x}
        )
        return value, constraints


def parts(function: Any, m: int, owner: str) -> Parts:
    """Call `function` on a new variable of shape (m,) and check what it returns.

    Raises
    ------
    InputError
        If the call fails, or the result is not a scalar expression that is convex by cvxpy's
        rules, alone or with a list of constraints that obey them; if it has integer variables,
        or parameters, whose values could change later.
    """
    variable = cp.Variable(m, name="d")
    try:
        result = function(variable)
    except InputError as error:
        raise InputError(f"{owner}: {error}") from error
    except Exception as error:  # whatever the user's code raises
        why = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            f"{owner} failed on a cvxpy variable of shape ({m},): {type(error).__name__}: {why}; "
            f"write it with cvxpy's functions, for a d with m = {m} entries"
        ) from error
    value, constraints = result if isinstance(result, tuple) and len(result) == 2 else (result, [])
    if isinstance(value, Real) and not isinstance(value, bool):
        value = cp.Constant(float(value))
    if not isinstance(value, cp.Expression):
        raise InputError(
            f"{owner} must return a cvxpy expression, or a pair (expression, constraints), "
            f"and returned {_kind(result)}"
        )
    if not isinstance(constraints, list | tuple):
        raise InputError(
            f"{owner} returned {_kind(constraints)} for its constraints; put them in a list"
        )
    if value.size != 1:
        raise InputError(
            f"{owner} returned an expression of shape {value.shape}, and f(d) is one number; "
            "sum its entries, or take a norm of them"
        )
    if value.ndim:
        value = cp.sum(value)
    if value.is_complex():
        raise InputError(f"{owner} returned a complex expression; f(d) is a real number")
    if not value.is_convex():
        raise InputError(f"{owner} is not convex by cvxpy's rules: {complaint(value, 'convex')}")
    for constraint in constraints:
        _check(constraint, owner)
    _check_leaves(value, constraints, owner)
    value, constraints = plain(value, list(constraints))
    return Parts(variable, value, tuple(constraints))


def plain(value: Any, constraints: list[Any]) -> tuple[Any, list[Any]]:
    """Return both with symmetric, definite, diagonal and sparse variables written out.

    Their entries depend on each other, and a copy of one is not what cvxpy solves for.
    """
    problem = cp.Problem(cp.Minimize(value), constraints)
    if not any(v.attributes.get(kind) for v in problem.variables() for kind in _SHAPED):
        return value, constraints
    from cvxpy.reductions.cvx_attr2constr import CvxAttr2Constr

    reduced = CvxAttr2Constr().apply(problem)[0]
    return reduced.objective.expr, list(reduced.constraints)


def _kind(thing: Any) -> str:
    return "None" if thing is None else f"a {type(thing).__name__}"


def _check(constraint: Any, owner: str) -> None:
    if not isinstance(constraint, cp.Constraint):
        raise InputError(
            f"{owner} has {constraint!r} of type {type(constraint).__name__} among its "
            "constraints, and each must be a cvxpy constraint"
        )
    if not constraint.is_dcp():
        need = "affine" if isinstance(constraint, cp.Zero | cp.constraints.Equality) else "convex"
        broken = [c for c in (complaint(difference(constraint), need),) if c]
        why = broken[0] if broken else "see cvxpy.org/tutorial/dcp"
        raise InputError(f"{owner} has the constraint {constraint}, which is not convex: {why}")


def difference(constraint: Any) -> Any:
    """Return the expression that the constraint bounds by zero, its first argument if unknown."""
    if len(constraint.args) == 2:
        return constraint.args[0] - constraint.args[1]
    return constraint.args[0]


def _check_leaves(value: Any, constraints: Any, owner: str) -> None:
    problem = cp.Problem(cp.Minimize(value), list(constraints))
    if problem.is_mixed_integer():
        raise InputError(f"{owner} has integer variables, and its f is then not convex")
    if any(v.is_complex() for v in problem.variables()):
        raise InputError(
            f"{owner} has complex variables; write real and imaginary parts as variables"
        )
    if problem.parameters():
        raise InputError(
            f"{owner} contains the cvxpy parameter {problem.parameters()[0]}, whose value could "
            "change after the game is declared; write its value in its place"
        )


def complaint(expression: Any, need: str) -> str:
    """Return one sentence on the smallest term that breaks cvxpy's rules, "" if none does.

    `need` is the curvature that the place of the expression asks for.
    """
    found = _offender(expression, need)
    if found is None:
        return ""
    term, need = found
    is_ = _CURVATURES.get(term.curvature, "neither convex nor concave by these rules")
    return f"the term {term} is {is_}, and where it stands it must be {need}"


def _offender(term: Any, need: str) -> tuple[Any, str] | None:
    if {"convex": term.is_convex, "concave": term.is_concave, "affine": term.is_affine}[need]():
        return None
    atom = {
        "convex": getattr(term, "is_atom_convex", bool),
        "concave": getattr(term, "is_atom_concave", bool),
        "affine": getattr(term, "is_atom_affine", bool),
    }[need]()
    for i, argument in enumerate(term.args) if atom else ():
        inner = "affine"
        if term.is_incr(i):
            inner = need
        elif term.is_decr(i):
            inner = _OPPOSITE[need]
        found = _offender(argument, inner)
        if found is not None:
            return found
    return term, need


class ConeProgram(NamedTuple):
    """The epigraph of a function, {(d, h): f(d) <= h}, as the cone program that cvxpy makes of it.

    matrix @ x + s = right, s in a product of cones; x holds d, h and auxiliary variables.
    """

    matrix: Any
    right: Any
    cost: Any
    dims: Any
    d: int
    """The first of the columns of d."""
    height: int
    """The column of h."""


def compiled(given: Parts) -> ConeProgram:
    """Return the cone program of the epigraph of the function."""
    d, height = cp.Variable(given.variable.size), cp.Variable()
    value, constraints = given.at(d)
    value = value + 0.0 * cp.sum(d)  # so that d is there, even if f is a constant
    problem = cp.Problem(cp.Minimize(height), [value <= height, *constraints])
    data = problem.get_problem_data(solver="CLARABEL")[0]
    columns = data["param_prob"].var_id_to_col
    matrix = data["A"].tocsc()
    matrix.sum_duplicates()
    matrix.sort_indices()
    places = columns[d.id], columns[height.id]
    return ConeProgram(matrix, data["b"], data["c"], data["dims"], *places)


def digest(given: Parts) -> str:
    """Return a SHA-256 of the canonical cone program of the epigraph of the function.

    Two functions that cvxpy compiles to the same program have the same digest, in every process.
    """
    matrix, right, cost, dims, d, height = compiled(given)
    cones = sorted((k, repr(v)) for k, v in vars(dims).items())
    content = hashlib.sha256(f"{matrix.shape} {d} {height} {cones}".encode())
    for integers in (matrix.indptr, matrix.indices):
        content.update(np.ascontiguousarray(integers, dtype="<i8").tobytes())
    for numbers in (matrix.data, right, cost):
        content.update((np.ascontiguousarray(numbers, dtype="<f8") + 0.0).tobytes())
    return content.hexdigest()


def linear_form(given: Parts) -> LinearForm | None:
    """Return the function on d >= 0 as a linear program, or None if cvxpy knows none.

    f(d) is the least h with matrix @ (d, h, z) <= right, equal in the first rows.
    """
    program = _linear(given)
    if program is None:
        return None
    matrix, right, _, dims, d, height = program
    m, size = given.variable.size, matrix.shape[1]
    order = np.r_[d : d + m, np.setdiff1d(np.arange(size), np.arange(d, d + m))]
    lower = np.where(np.arange(size) < m, 0.0, -np.inf)
    equal = np.arange(right.size) < dims.zero
    cost = (order == height).astype(np.float64)
    rows = matrix[:, order].tocsr()
    return LinearForm(
        cost, lower, np.full(size, np.inf), rows, np.where(equal, right, -np.inf), right
    )


def linear_form_of_conjugate(given: Parts) -> LinearForm | None:
    """Return the conjugate of the function as a linear program, or None if cvxpy knows none.

    By duality the largest <d, θ> − h with matrix @ (θ, h, z) <= right is the least <right, y>
    with matrixᵀ y = (d, −1, 0), y >= 0 but for the equalities.
    """
    program = _linear(given)
    if program is None:
        return None
    from scipy import sparse

    matrix, right, _, dims, d, height = program
    m, size = given.variable.size, matrix.shape[1]
    places = np.arange(size)
    inside = (places >= d) & (places < d + m)
    of_d = sparse.csr_array((-np.ones(m), (places[inside], np.arange(m))), (size, m))
    rows = sparse.csr_array(sparse.hstack([of_d, matrix.T]))
    sides = -(places == height).astype(np.float64)
    free = np.arange(right.size) < dims.zero
    lower = np.concatenate([np.zeros(m), np.where(free, -np.inf, 0.0)])
    cost = np.concatenate([np.zeros(m), right])
    return LinearForm(cost, lower, np.full(cost.size, np.inf), rows, sides, sides)


def _linear(given: Parts) -> ConeProgram | None:
    """Return the cone program where it is a linear program: all of its cones are half lines."""
    program = compiled(given)
    curved = (size for cone, size in vars(program.dims).items() if cone not in ("zero", "nonneg"))
    return None if any(curved) else program


def support_of_epigraph(of: Any, x: Any, m: int) -> tuple[Any, list[Any]]:
    """Return the conjugate of a function as a cvxpy expression of `x`.

    `of` maps a variable of shape (m,) to (expression, constraints). The conjugate of f at x is
    the support function of its epigraph {(d, t): f(d) <= t} at (x, −1).
    """
    from cvxpy.transforms.suppfunc import SuppFunc

    point = cp.Variable(m + 1)
    value, constraints = of(point[:m])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of powers that take many cones
        support = SuppFunc(point, [value <= point[m], *constraints])
    return support(cp.hstack([x, -1.0])), []
