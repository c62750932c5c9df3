"""Certificates: brackets that anyone can check again, without this package, and exact optima.

Names are loaded when they are first used: `python -m relaxboost.certificates.check` runs without
the rest of the package, as a copy of that file does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relaxboost.certificates.certificate import Certificate, Verdict, check_certificate
    from relaxboost.certificates.emit import certify
    from relaxboost.certificates.forms import ExactForm, exact_form
    from relaxboost.certificates.optimum import (
        ExactOptimum,
        NotClosed,
        exact_optimum,
        exact_value,
    )

_HOME = {
    "Certificate": "certificate",
    "ExactForm": "forms",
    "ExactOptimum": "optimum",
    "NotClosed": "optimum",
    "Verdict": "certificate",
    "certify": "emit",
    "check_certificate": "certificate",
    "exact_form": "forms",
    "exact_optimum": "optimum",
    "exact_value": "optimum",
}

__all__ = [
    "Certificate",
    "ExactForm",
    "ExactOptimum",
    "NotClosed",
    "Verdict",
    "certify",
    "check_certificate",
    "exact_form",
    "exact_optimum",
    "exact_value",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
