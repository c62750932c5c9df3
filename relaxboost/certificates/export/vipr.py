"""Certificates in the VIPR format, with a file for each of the two bounds of a polyhedral game."""

from __future__ import annotations

from fractions import Fraction

from relaxboost.certificates.export.program import (
    BoundProof,
    LinearProgram,
    lower_proof,
    upper_proof,
)
from relaxboost.certificates.export.relaxation import Sparse

_COMMENT = """% A weak-learning game of a relaxboost certificate, as the program of {0}.
% The derivation proves the {1} bound. The other one rests on the point below SOL:
% it is derived in the file of the {2} bound, since some checkers look at few constraints there."""


def vipr(program: LinearProgram) -> dict[str, str]:
    """Return two VIPR files, as a mapping from suffix to text. Each file derives one bound."""
    lower = _COMMENT.format("d", "lower", "upper")
    upper = _COMMENT.format("the multipliers, w among them", "upper", "lower")
    goal = f"RTP range {program.lower} {program.upper}"
    return {
        ".lower.vipr": _text(lower_proof(program), lower, "min", goal, f"G {program.lower}"),
        ".upper.vipr": _text(upper_proof(program), upper, "max", goal, f"L {program.upper}"),
    }


def _text(proof: BoundProof, comment: str, sense: str, goal: str, bound: str) -> str:
    rows = [f"{c.name} {c.sense} {c.side} {_terms(c.coefficients)}" for c in proof.constraints]
    multipliers: Sparse = {k: c.multiplier for k, c in enumerate(proof.constraints)}
    lines = [
        comment,
        "VER 1.0",
        f"VAR {len(proof.names)}",
        *proof.names,
        "INT 0",
        f"OBJ {sense}",
        _terms(proof.objective),
        f"CON {len(rows)} 0",
        *rows,
        goal,
        "SOL 1",
        f"point {_terms(proof.point)}",
        "DER 1",
        f"bound {bound} OBJ {{ lin {_terms(multipliers)} }} -1",
    ]
    return "\n".join(lines) + "\n"


def _terms(row: dict[int, Fraction]) -> str:
    # The number of terms comes first.
    used = [f"{j} {v}" for j, v in row.items() if v]
    return " ".join([str(len(used)), *used])
