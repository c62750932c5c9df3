"""What a user's cvxpy function returned, checked; and the term at which a rule is broken."""

from __future__ import annotations

import hashlib
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from relaxboost.errors import InputError

_CURVATURES = {"CONVEX": "convex", "CONCAVE": "concave", "AFFINE": "affine", "CONSTANT": "constant"}
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
    import cvxpy as cp

    variable = cp.Variable(m, name="d")
    try:
        result = function(variable)
    except InputError as error:
        raise InputError(f"{owner}: {error}") from error
    except Exception as error:  # whatever the user's code raises
        why = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            f"{owner} failed on a cvxpy variable of shape ({m},): {type(error).__name__}: {why}; "
            f"it must be written for a d with m = {m} entries"
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
    return Parts(variable, value, tuple(constraints))


def _kind(thing: Any) -> str:
    return "None" if thing is None else f"a {type(thing).__name__}"


def _check(constraint: Any, owner: str) -> None:
    import cvxpy as cp

    if not isinstance(constraint, cp.Constraint):
        raise InputError(
            f"{owner} has {constraint!r} of type {type(constraint).__name__} among its "
            "constraints, and each must be a cvxpy constraint"
        )
    if not constraint.is_dcp():
        need = "affine" if isinstance(constraint, cp.Zero | cp.constraints.Equality) else "convex"
        broken = [c for c in (complaint(_difference(constraint), need),) if c]
        why = broken[0] if broken else "see cvxpy.org/tutorial/dcp"
        raise InputError(f"{owner} has the constraint {constraint}, which is not convex: {why}")


def _difference(constraint: Any) -> Any:
    """Return the expression that the constraint bounds by zero, its first argument if unknown."""
    if len(constraint.args) == 2:
        return constraint.args[0] - constraint.args[1]
    return constraint.args[0]


def _check_leaves(value: Any, constraints: Any, owner: str) -> None:
    import cvxpy as cp

    problem = cp.Problem(cp.Minimize(value), list(constraints))
    if problem.is_mixed_integer():
        raise InputError(f"{owner} has integer variables, and its f is then not convex")
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


def digest(given: Parts) -> str:
    """Return a SHA-256 of the canonical cone program of the epigraph of the function.

    Two functions that cvxpy compiles to the same program have the same digest, in every process.
    """
    import cvxpy as cp

    d, height = cp.Variable(given.variable.size), cp.Variable()
    value, constraints = given.at(d)
    value = value + 0.0 * cp.sum(d)  # so that d is there, even if f is a constant
    problem = cp.Problem(cp.Minimize(height), [value <= height, *constraints])
    data = problem.get_problem_data(solver="CLARABEL")[0]
    columns = data["param_prob"].var_id_to_col
    matrix = data["A"].tocsc()
    matrix.sum_duplicates()
    matrix.sort_indices()
    dims = sorted((k, repr(v)) for k, v in vars(data["dims"]).items())
    content = hashlib.sha256(f"{matrix.shape} {columns[d.id]} {columns[height.id]} {dims}".encode())
    for integers in (matrix.indptr, matrix.indices):
        content.update(np.ascontiguousarray(integers, dtype="<i8").tobytes())
    for numbers in (matrix.data, data["b"], data["c"]):
        content.update((np.ascontiguousarray(numbers, dtype="<f8") + 0.0).tobytes())
    return content.hexdigest()
