"""Convexity checks by cvxpy's rules, and conversion of convex functions to cone programs."""

from __future__ import annotations

import copy
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
"""Attributes of a cvxpy variable that make its entries depend on each other."""
_OPPOSITE = {"convex": "concave", "concave": "convex", "affine": "affine"}
"""The curvature that a decreasing function needs in its argument, by the curvature of its value.

For example, a decreasing function of a concave argument can be convex.
"""


class Parts(NamedTuple):
    """A convex function as a cvxpy expression of a variable of shape (m,), with constraints."""

    variable: Any
    value: Any
    constraints: tuple[Any, ...]

    def at(self, x: Any) -> tuple[Any, list[Any]]:
        """Return the expression f(x) and its constraints for a variable or affine expression x."""
        # Auxiliary variables are copied too, so that one problem can contain two copies. The entry
        # for the variable makes deepcopy replace it by x.
        return copy.deepcopy((self.value, list(self.constraints)), {id(self.variable): x})


def parts(function: Any, m: int, owner: str, remedy: str = "") -> Parts:
    """Call the user's `function` on a new variable of shape (m,), and check the result.

    The result must be a convex function of real variables without parameters by cvxpy's rules.
    Otherwise InputError is raised. `remedy` is added to the message if the call raises ValueError.
    """
    variable, value, constraints = called(function, m, owner, remedy)
    value = _checked_value(value, owner)
    for constraint in constraints:
        _check(constraint, owner)
    _check_leaves(value, constraints, owner)
    value, rewritten = plain(value, list(constraints))
    return Parts(variable, value, tuple(rewritten))


def called(function: Any, m: int, owner: str, remedy: str = "") -> Parts:
    """Call the user's `function` on a new variable of shape (m,), and check the result's types."""
    variable = cp.Variable(m, name="d")
    try:
        result = function(variable)
    except InputError as error:
        raise InputError(f"{owner}: {error}") from error
    # The code of a user may raise anything.
    except Exception as error:
        why = " ".join(str(error).split()).rstrip(".")
        more = remedy if isinstance(error, ValueError) else ""
        raise InputError(
            f"{owner} failed on a cvxpy variable of shape ({m},): {type(error).__name__}: {why}; "
            f"use cvxpy's functions, and accept a d with m = {m} entries{more}"
        ) from error
    value, constraints = result if isinstance(result, tuple) and len(result) == 2 else (result, [])
    if not isinstance(value, bool) and isinstance(value, Real):
        value = cp.Constant(float(value))
    if not isinstance(value, cp.Expression):
        raise InputError(
            f"{owner} must return a cvxpy expression, or a pair (expression, constraints), "
            f"but returned {_kind(result)}"
        )
    if not isinstance(constraints, list | tuple):
        raise InputError(
            f"{owner} returned {_kind(constraints)} as its constraints; put the constraints in a "
            "list"
        )
    return Parts(variable, value, tuple(constraints))


def _checked_value(value: Any, owner: str) -> Any:
    """Return `value` with shape (), or raise InputError unless it is a real, convex scalar."""
    if value.size != 1:
        raise InputError(
            f"{owner} returned an expression of shape {value.shape}, but f(d) must be a single "
            "number; sum the entries of the expression, or take their norm"
        )
    if value.ndim:
        value = cp.sum(value)
    if value.is_complex():
        raise InputError(f"{owner} returned a complex expression, but f(d) must be a real number")
    if not value.is_convex():
        # The relaxed margin F is concave, and users may write it where f belongs.
        hint = "; if this is F(u), pass conjugate=lambda t: -F(-t)" if value.is_concave() else ""
        raise InputError(
            f"{owner} is not convex by cvxpy's rules: {complaint(value, 'convex')}{hint}"
        )
    return value


def plain(value: Any, constraints: list[Any]) -> tuple[Any, list[Any]]:
    """Rewrite the function without symmetric, definite, diagonal or sparse variables.

    cvxpy replaces such a variable by a smaller one in problems, so the original must not be copied.
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
            "constraints, but only cvxpy constraints are allowed"
        )
    if not constraint.is_dcp():
        need = "affine" if isinstance(constraint, cp.Zero | cp.constraints.Equality) else "convex"
        why = complaint(difference(constraint), need) or "see cvxpy.org/tutorial/dcp"
        raise InputError(f"{owner} has the constraint {constraint}, which is not convex: {why}")


def difference(constraint: Any) -> Any:
    """Return the left side minus the right side of an equation or inequality.

    For a cone constraint with one argument, return the argument.
    """
    if len(constraint.args) == 2:
        return constraint.args[0] - constraint.args[1]
    return constraint.args[0]


def _check_leaves(value: Any, constraints: Any, owner: str) -> None:
    problem = cp.Problem(cp.Minimize(value), list(constraints))
    if problem.is_mixed_integer():
        raise InputError(
            f"{owner} has integer variables, so f is not convex; use continuous variables"
        )
    if any(v.is_complex() for v in problem.variables()):
        raise InputError(
            f"{owner} has complex variables; use separate variables for real and imaginary parts"
        )
    if problem.parameters():
        raise InputError(
            f"{owner} contains the cvxpy parameter {problem.parameters()[0]}, whose value could "
            "change after the game is declared; replace the parameter by its value"
        )


def complaint(expression: Any, need: str) -> str:
    """Describe the smallest term that violates cvxpy's convexity rules, or return ""."""
    found = _offender(expression, need)
    if found is None:
        return ""
    term, need = found
    is_ = _CURVATURES.get(term.curvature, "neither convex nor concave by these rules")
    return f"the term {term} is {is_}, and at this position it must be {need}"


def _offender(term: Any, need: str) -> tuple[Any, str] | None:
    """Return the smallest term that violates cvxpy's rules and the curvature it needs, or None."""
    if {"convex": term.is_convex, "concave": term.is_concave, "affine": term.is_affine}[need]():
        return None
    atom = {
        "convex": getattr(term, "is_atom_convex", bool),
        "concave": getattr(term, "is_atom_concave", bool),
        "affine": getattr(term, "is_atom_affine", bool),
    }[need]()
    # If the atom has the right curvature, one of its arguments is wrong (cvxpy's composition rule).
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
    """The cone program of the epigraph {(d, h): f(d) <= h}, compiled by cvxpy.

    A point is in the epigraph if there is an x with matrix @ x + s = right for an s in the product
    of cones `dims`. The vector x consists of d, h and auxiliary variables.
    """

    matrix: Any
    right: Any
    cost: Any
    dims: Any
    d: int
    """The first column of d in `matrix`. The other columns of d follow."""
    height: int
    """The column of the epigraph variable h in `matrix`."""


def compiled(given: Parts) -> ConeProgram:
    """Compile the epigraph {(d, h): f(d) <= h} of a function f into a cone program."""
    d = cp.Variable(given.variable.size)
    height = cp.Variable()
    value, constraints = given.at(d)
    value = value + 0.0 * cp.sum(d)  # A constant f would leave no columns for d.
    problem = cp.Problem(cp.Minimize(height), [value <= height, *constraints])
    with warnings.catch_warnings():
        # cvxpy warns of powers that need many cones.
        warnings.simplefilter("ignore", UserWarning)
        data = problem.get_problem_data(solver="CLARABEL")[0]
    columns = data["param_prob"].var_id_to_col
    matrix = data["A"].tocsc()
    matrix.sum_duplicates()
    matrix.sort_indices()
    places = columns[d.id], columns[height.id]
    return ConeProgram(matrix, data["b"], data["c"], data["dims"], *places)


def digest(given: Parts) -> str:
    """Return the SHA-256 digest of a function's cone program, equal in every process."""
    matrix, right, cost, dims, d, height = compiled(given)
    cones = sorted((k, repr(v)) for k, v in vars(dims).items())
    content = hashlib.sha256(f"{matrix.shape} {d} {height} {cones}".encode())
    for integers in (matrix.indptr, matrix.indices):
        content.update(np.ascontiguousarray(integers, dtype="<i8").tobytes())
    for numbers in (matrix.data, right, cost):
        # Adding zero makes −0.0 and 0.0 the same bytes.
        content.update((np.ascontiguousarray(numbers, dtype="<f8") + 0.0).tobytes())
    return content.hexdigest()


def linear_form(given: Parts) -> LinearForm | None:
    """Return f on d >= 0 as a linear program, or None if cvxpy needs other cones.

    f(d) is the smallest h with matrix @ (d, h, z) <= right for some z. The first rows are
    equations.
    """
    program = _linear(given)
    if program is None:
        return None
    matrix, right, _, dims, d, height = program
    m = given.variable.size
    size = matrix.shape[1]
    order = np.r_[d : d + m, np.setdiff1d(np.arange(size), np.arange(d, d + m))]
    lower = np.where(np.arange(size) < m, 0.0, -np.inf)
    equal = np.arange(right.size) < dims.zero
    cost = (order == height).astype(np.float64)
    rows = matrix[:, order].tocsr()
    return LinearForm(
        cost, lower, np.full(size, np.inf), rows, np.where(equal, right, -np.inf), right
    )


def linear_form_of_conjugate(given: Parts) -> LinearForm | None:
    """Return the conjugate as a linear program, or None if cvxpy needs other cones.

    The conjugate at d is the maximum of <d, θ> − h subject to matrix @ (θ, h, z) <= right. By
    duality the maximum is the minimum of <right, y> subject to matrixᵀ y = (d, −1, 0) and y >= 0 in
    the rows that are inequalities.
    """
    program = _linear(given)
    if program is None:
        return None
    from scipy import sparse

    matrix, right, _, dims, d, height = program
    m = given.variable.size
    size = matrix.shape[1]
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
    program = compiled(given)
    curved = (size for cone, size in vars(program.dims).items() if cone not in ("zero", "nonneg"))
    return None if any(curved) else program


def support_of_epigraph(of: Any, x: Any, m: int) -> tuple[Any, list[Any]]:
    """Return the conjugate as a cvxpy expression of `x`, with no constraints.

    The function `of` maps a variable d of shape (m,) to f(d) and its constraints. The conjugate is
    the support function of the epigraph {(d, t): f(d) <= t} at (x, −1).
    """
    from cvxpy.transforms.suppfunc import SuppFunc

    point = cp.Variable(m + 1)
    value, constraints = of(point[:m])
    with warnings.catch_warnings():
        # cvxpy warns of powers that need many cones.
        warnings.simplefilter("ignore", UserWarning)
        support = SuppFunc(point, [value <= point[m], *constraints])
    return support(cp.hstack([x, -1.0])), []
