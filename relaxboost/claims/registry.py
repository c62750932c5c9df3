"""Which claims there are: those of the sources built in, and those of a reader's own files."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from relaxboost.claims.claim import Claim, Source
from relaxboost.errors import InputError

_BUILT_IN = ("ss09", "tel", "rds04", "rw05")
"""Modules with a SOURCE, in the order in which they are listed."""


@cache
def sources() -> tuple[Source, ...]:
    """Return the sources built in."""
    modules = (importlib.import_module(f"relaxboost.claims.{name}") for name in _BUILT_IN)
    return tuple(module.SOURCE for module in modules)


def all(source: str | None = None) -> list[Claim]:
    """Return the claims built in, or those of one source, e.g. "SS09", in the order of the text."""
    known = {s.key: s for s in sources()}
    if source is not None and source not in known:
        raise InputError(f"no source {source!r}; there are {', '.join(known)}")
    chosen = known.values() if source is None else [known[source]]
    return [claim for s in chosen for claim in s.claims.values()]


def get(id: str) -> Claim:
    """Return the claim of an id, e.g. "SS09-T9"."""
    known = {claim.id: claim for claim in all()}
    if id not in known:
        raise InputError(_unknown(id, list(known)))
    return known[id]


def select(patterns: list[str], among: list[Claim]) -> list[Claim]:
    """Return the claims whose ids match any of the patterns, e.g. "SS09-T*", in order."""
    for pattern in patterns:
        if not any(fnmatchcase(claim.id, pattern) for claim in among):
            raise InputError(_unknown(pattern, [claim.id for claim in among]))
    return [c for c in among if not patterns or any(fnmatchcase(c.id, p) for p in patterns)]


def load(path: Path | str) -> list[Claim]:
    """Return the claims of a Python file: those of every `Source` it defines.

    The file is run, as an import would.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"no file {path}; a file of claims is Python that defines a Source")
    name = f"relaxboost_claims_{abs(hash(path.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    own = {id(value): value for value in vars(module).values() if isinstance(value, Source)}
    builtin = {id(source) for source in sources()}
    claims = [c for key, s in own.items() if key not in builtin for c in s.claims.values()]
    if not claims:
        raise InputError(
            f"{path} defines no claims; it needs a Source and functions under its claim"
        )
    return claims


def _unknown(id: str, known: list[str]) -> str:
    near = difflib.get_close_matches(id, known, n=3, cutoff=0.4)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"no claim {id!r}{hint} (`relaxboost claims list` lists all {len(known)})"
