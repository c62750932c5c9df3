"""Certificates in the formats of other checkers and solvers, and in LaTeX for papers."""

from __future__ import annotations

from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.names import known_names
from relaxboost._core.parameters import is_given
from relaxboost.certificates.export.certo import certo
from relaxboost.certificates.export.latex import latex
from relaxboost.certificates.export.lean import lean
from relaxboost.certificates.export.mps import mps
from relaxboost.certificates.export.program import game_program
from relaxboost.certificates.export.vipr import vipr

FORMS = ("vipr", "lean", "latex", "certo", "mps")


def exported(document: dict[str, Any], form: str, path: str | None = None) -> dict[str, str]:
    """Return an accepted certificate in the format `form`, as a mapping from file suffix to text.

    If the certificate contains only the digest of the margin matrix, `path` names a file with it.
    """
    if not (is_given(form, str) and form in FORMS):
        raise InputError(f"unknown format {form!r}{known_names(form, FORMS)}")
    program = game_program(document, path)
    if form == "vipr":
        return vipr(program)
    if form == "mps":
        return mps(program)
    if form == "certo":
        return {".certo.json": certo(program, document["digest"])}
    return {".lean": lean(program)} if form == "lean" else {".tex": latex(document, program)}
