"""Certificates in the forms of other people's checkers, and of papers."""

from __future__ import annotations

from typing import Any

from relaxboost._core.errors import InputError
from relaxboost.certificates.export.latex import latex
from relaxboost.certificates.export.lean import lean
from relaxboost.certificates.export.program import game_program
from relaxboost.certificates.export.vipr import lower_bound, upper_bound

FORMS = ("vipr", "lean", "latex")


def exported(document: dict[str, Any], form: str, path: str | None = None) -> dict[str, str]:
    """Return the texts of a certificate that was accepted, by suffix of their files."""
    if not isinstance(form, str) or form not in FORMS:
        raise InputError(f"unknown form {form!r}; choose one of {', '.join(FORMS)}")
    program = game_program(document, path)
    if form == "vipr":
        return {".lower.vipr": lower_bound(program), ".upper.vipr": upper_bound(program)}
    return {".lean": lean(program)} if form == "lean" else {".tex": latex(document, program)}
