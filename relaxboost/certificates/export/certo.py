"""Certificates for certo-math, a verifier of linear bounds that is written in Python.

The statement is the range of one variable, `value`, over all points of a system of inequalities.
The system consists of the linear program of the distribution d, its dual program, and the
inequalities cost·(d, z) <= value <= dual objective. The optimum of the game lies in this range,
because optimal solutions of the two programs satisfy all inequalities. For each end of the range,
`certo verify` adds up a combination of the inequalities with multipliers >= 0.
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
"""The type of an inequality coeffs·x + const <= 0. Its coefficients are in a dictionary, whose keys
are the names of the variables."""


def certo(program: LinearProgram, digest: str) -> str:
    """Return the text of a certificate of the kind `variable_range` for certo-math 0.37.

    The file names the digest of the original relaxboost certificate.
    """
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
