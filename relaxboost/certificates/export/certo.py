"""Certificates for certo-math, a verifier of linear bounds in Python.

The statement is the range of one variable, `value`, in a system of inequalities: the linear program
of the distribution d, its dual, and cost·(d, z) <= value <= dual objective. Optimal solutions of
both programs satisfy all inequalities, so that the range contains the optimum of the game. For each
end of the range, `certo verify` adds up the inequalities with multipliers >= 0.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from relaxboost.certificates.export.program import (
    BoundProof,
    LinearProgram,
    lower_proof,
    upper_proof,
)
from relaxboost.certificates.export.relaxation import Sparse

Inequality = dict[str, Any]
"""An inequality coeffs·x + const <= 0, with a dictionary of coefficients by variable name."""


def certo(program: LinearProgram, digest: str) -> str:
    """Return a `variable_range` certificate for certo-math 0.37, with the digest of the original
    certificate."""
    lower = lower_proof(program)
    upper = upper_proof(program)
    rows: dict[str, Inequality] = {}
    ends = {
        "lower": _end(rows, lower, program.lower, -1),
        "upper": _end(rows, upper, program.upper, 1),
    }
    payload = {
        "variable": "value",
        "variables": sorted({*lower.names, *upper.names, "value"}),
        "empty": False,
        "rows": list(rows.values()),
        **ends,
        "interval": f"[{program.lower}, {program.upper}]",
        "title": "the value of a weak-learning game",
    }
    content = {
        "schema": 5,
        "kind": "variable_range",
        "solver_free": True,
        "provenance": {"created_by": "relaxboost", "relaxboost_digest": digest},
        "payload": payload,
    }
    return json.dumps(content, separators=(",", ":")) + "\n"


def _end(rows: dict[str, Inequality], proof: BoundProof, bound: Fraction, sign: int) -> Any:
    used: dict[str, Fraction] = {}

    def add(name: str, row: Sparse, const: Fraction, multiplier: Fraction) -> None:
        coeffs = {proof.names[j]: str(v) for j, v in row.items() if v}
        rows[name] = {"name": name, "coeffs": coeffs, "const": str(const), "strict": False}
        if multiplier:
            used[name] = multiplier

    for c in proof.constraints:
        negative = {j: -v for j, v in c.coefficients.items()}
        if c.sense != "L":
            add(f"{c.name}:at_least", negative, c.side, max(-sign * c.multiplier, Fraction(0)))
        if c.sense != "G":
            add(f"{c.name}:at_most", c.coefficients, -c.side, max(sign * c.multiplier, Fraction(0)))
    name = "value:dual" if sign > 0 else "value:primal"
    add(name, {j: -sign * v for j, v in proof.objective.items()}, Fraction(0), Fraction(1))
    rows[name]["coeffs"]["value"] = str(sign)
    # A bound that was rounded claims less than the multipliers prove. The inequality -1 <= 0 makes
    # up for the difference, because the verifier demands equality.
    spare = sign * (bound - proof.proved())
    if spare:
        add("weaker", {}, Fraction(-1), spare)
    multipliers = {name: str(y) for name, y in used.items()}
    return {"bound": str(bound), "multipliers": multipliers, "used": list(used),
            "strict": False, "why": None}  # fmt: skip
