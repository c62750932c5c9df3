"""The specification SPEC.toml, which is validated before any game is solved."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from relaxboost._core.errors import InputError, error_prefix
from relaxboost._core.files import check_input, shallow
from relaxboost.instances.corners import CORNERS
from relaxboost.instances.entries import NAME, PLAIN, Entry, relaxation_of, slug
from relaxboost.instances.generators import OPTIONS, check_options
from relaxboost.instances.sources import Sources, read_over

DEFAULT_GAP = 1e-9
"""The default gap between the bounds of a game, if the specification has no `tol`."""

_SHARED = ("relaxations", "over", "level", "tol")
_KEYS = {
    "generator": ("rows", "columns", "seed", "count"),
    "builtin": (),
    "csv": ("label", "max_cuts"),
    "npy": (),
    "npz": ("key",),
}
MAX_WHOLE_NUMBER = 1_000_000
"""The largest number of rows, columns, copies or cuts, and the largest seed. A larger number is
probably a mistake, and would exhaust the memory."""


def read_spec(path: str | os.PathLike[str]) -> tuple[list[Entry], Sources]:
    """Read a specification, and return its games and the sources of their margin matrices.

    Raise an InputError if any part of the specification is invalid.
    """
    path = check_input(path, folder=True)
    try:
        with shallow():
            content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as TOML: {error}") from None
    games = content.pop("game", [])
    _known(str(path), content, ("game", *_SHARED))
    if not (isinstance(games, list) and games and all(isinstance(g, dict) for g in games)):
        raise InputError(f"{path} lists no games. Add a [[game]] table for each game")
    sources = Sources(path.parent)
    entries: list[Entry] = []
    for place, given in enumerate(games, start=1):
        where = f"{path}, game {place}" + (f" ({given['name']!r})" if "name" in given else "")
        entries += _expand(where, {**content, **given}, sources)
    _distinct(path, entries)
    return entries, sources


def _distinct(path: Path, entries: list[Entry]) -> None:
    # File systems may ignore the case of names.
    seen: dict[str, Entry] = {}
    for entry in entries:
        other = seen.setdefault(entry.name.casefold(), entry)
        if other is not entry:
            raise InputError(
                f"{path}: two games are named {entry.name!r} ({other.relaxation} on "
                f"{other.source}, {entry.relaxation} on {entry.source}). Give each [[game]] a "
                'name, and give relaxations labels: relaxations = { label = "Capped(k=2)" }'
            )


def _known(where: str, given: dict[str, Any], keys: tuple[str, ...]) -> None:
    for key in given:
        if key not in keys:
            raise InputError(f"{where}: {key!r} is unknown. The known keys are {', '.join(keys)}")


def _expand(where: str, given: dict[str, Any], sources: Sources) -> Iterator[Entry]:
    kinds = [kind for kind in _KEYS if kind in given]
    if len(kinds) != 1:
        raise InputError(
            f"{where} has {' and '.join(kinds) or 'no matrix'}. Give exactly one of "
            f"{', '.join(_KEYS)}"
        )
    (kind,) = kinds
    options = dict(given)
    shared = {key: options.pop(key) for key in _SHARED if key in options}
    level, tol = _proof(where, shared)
    # Built-in games come with relaxations whose optima are fractions, and with others.
    is_mixed = kind == "builtin" and "relaxations" not in shared
    for name, source, m, own in _matrices(where, kind, options, sources):
        for label, relaxation, over in _played(where, shared, own):
            entry = Entry(f"{name}{label}", source, relaxation, over, level, tol)
            yield _checked(where, entry, m, is_mixed)
        if "k" in source and "relaxations" in shared:
            _check_planted(where, source["k"], own[0][0], m, shared["relaxations"])


def _checked(where: str, entry: Entry, m: int, is_mixed: bool) -> Entry:
    if NAME.fullmatch(entry.name) is None or entry.name.casefold() == "index":
        raise InputError(
            f"{where}: {entry.name!r} cannot be the name of a certificate. Use up to 120 "
            "letters, digits, dots, dashes and underscores, starting with a letter or "
            "digit, and not 'index'. Give long relaxations a label"
        )
    _, domain, proof = entry.resolved(m)
    if entry.tol != 0 or (proof == "exact" and domain.linear):
        return entry
    if is_mixed:
        return replace(entry, tol=DEFAULT_GAP)
    raise InputError(
        f"{where}: tol = 0 requires an optimum that is a fraction, got {entry.relaxation} over "
        f"{entry.over}. Use caps, an l1 norm or an l-inf norm, over L1Ball, Simplex or FullSimplex"
    )


def _proof(where: str, shared: dict[str, Any]) -> tuple[str | None, float]:
    level = shared.get("level")
    tol = shared.get("tol", DEFAULT_GAP)
    if level not in (None, "exact", "enclosed"):
        raise InputError(
            f"{where}: level must be exact or enclosed, got {level!r}, because numerical "
            "certificates prove nothing. If level is omitted, the strongest possible level is used"
        )
    if type(tol) not in (int, float) or not 0 <= tol <= sys.float_info.max:
        raise InputError(
            f"{where}: tol must be a positive number, or 0 for the exact optimum, got {tol!r}"
        )
    return level, float(tol)


def _matrices(
    where: str, kind: str, given: dict[str, Any], sources: Sources
) -> Iterator[tuple[str, dict[str, Any], int, Any]]:
    """Yield a tuple for each margin matrix of a [[game]] table.

    The tuple contains the name, the source, the number of examples, and the default pairs
    (relaxation, domain) of the matrix, or None if it has none.
    """
    if kind == "generator":
        yield from _generated(where, given)
        return
    _known(where, given, ("name", kind, *_KEYS[kind], *_SHARED))
    if kind == "builtin":
        yield from _builtin(where, given)
        return
    if kind == "csv" and "label" not in given:
        raise InputError(f"{where}: csv also needs label, the name of the label column")
    source = {key: given[key] for key in (kind, *_KEYS[kind]) if key in given}
    for key in (kind, "label", "key", "name"):
        if not isinstance(given.get(key, ""), str):
            raise InputError(f"{where}: {key} must be a string, got {given[key]!r}")
    with error_prefix(f"{where}: "):
        matrix = sources.matrix(source)
    yield given.get("name", Path(given[kind]).stem), source, matrix.m, None


def _builtin(where: str, given: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], int, Any]]:
    if "name" in given:
        raise InputError(f"{where}: built-in games have fixed names. Omit name")
    chosen = list(CORNERS) if given["builtin"] == "all" else given["builtin"]
    for name in chosen if isinstance(chosen, list) else [chosen]:
        if not isinstance(name, str) or name not in CORNERS:
            raise InputError(
                f"{where}: no built-in game is called {name!r}. Use one of all, "
                f"{', '.join(CORNERS)}"
            )
        yield name, {"builtin": name}, len(CORNERS[name].rows), CORNERS[name].games


def _generated(where: str, given: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], int, Any]]:
    kind = given["generator"]
    if not isinstance(kind, str) or kind not in OPTIONS:
        known = ", ".join(OPTIONS)
        raise InputError(f"{where}: no generator is called {kind!r}. Use one of {known}")
    fixed = ("name", "generator", *_KEYS["generator"])
    options = {key: value for key, value in given.items() if key not in fixed}
    check_options(where, kind, options)
    m, n = (_whole(where, given, key, 1) for key in ("rows", "columns"))
    seed = _whole(where, given, "seed", 0, 0)
    count = _whole(where, given, "count", 1, 1)
    if m * n > 2**28:
        raise InputError(f"{where}: a matrix may have at most 2^28 entries, got {m} x {n}")
    name = given.get("name", f"{kind}-{m}x{n}")
    own = None
    if kind == "planted":
        own = ((f"Capped(k={options['k']})" if "k" in options else PLAIN[0], PLAIN[1]),)
    for each in range(seed, seed + count):
        source = {"generator": kind, "rows": m, "columns": n, "seed": each, **options}
        yield f"{name}-{each:03}" if count > 1 or "name" not in given else name, source, m, own


def _whole(
    where: str, given: dict[str, Any], key: str, low: int, default: int | None = None
) -> int:
    value = given.get(key, default)
    if value is None:
        raise InputError(f"{where}: {key} is missing; add a line such as {key} = 20")
    if type(value) is not int or not low <= value <= MAX_WHOLE_NUMBER:
        raise InputError(
            f"{where}: {key} must be a whole number from {low} to {MAX_WHOLE_NUMBER}, got {value!r}"
        )
    return value


def _played(where: str, shared: dict[str, Any], own: Any) -> Iterator[tuple[str, str, str]]:
    """Return a tuple (name suffix, relaxation, domain) for each game on a matrix."""
    given = shared.get("relaxations")
    if given is None and own is not None and "over" not in shared:
        pairs = [("", relaxation, over) for relaxation, over in own]
    else:
        texts = _texts(where, PLAIN[0] if given is None else given)
        overs = _texts(where, shared.get("over", PLAIN[1]))
        pairs = [(label, text, over) for label, text in texts for _, over in overs]
    for label, relaxation, over in pairs:
        with error_prefix(f"{where}: "):
            relaxation_of(relaxation)
            read_over(over)
        yield _suffix(relaxation, PLAIN[0], label) + _suffix(over, PLAIN[1]), relaxation, over


def _check_planted(where: str, k: Any, planted: str, m: int, given: Any) -> None:
    """Raise an InputError unless a table includes the planted relaxation."""
    games = [relaxation_of(text).resolve(m) for _, text in _texts(where, given)]
    if relaxation_of(planted).resolve(m) not in games:
        raise InputError(
            f"{where}: k = {k} plants the optimum of {planted}, but relaxations does not contain "
            f"it. Write relaxations = {planted!r} in this [[game]], or omit k"
        )


def _suffix(text: str, plain: str, label: str = "") -> str:
    return f".{label or slug(text)}" if label or text != plain else ""


def _texts(where: str, given: Any) -> list[tuple[str, str]]:
    """Return pairs (label, text) for a string, a list of strings, or a table of strings."""
    listed: Any = [given] if isinstance(given, str) else given
    if isinstance(listed, list):
        listed = [("", text) for text in listed]
    elif isinstance(listed, dict):
        listed = list(listed.items())
    if not isinstance(listed, list) or not listed or not all(isinstance(t, str) for _, t in listed):
        raise InputError(
            f"{where}: relaxations and over must be strings such as 'Capped(k=2)', or lists "
            f"or tables of strings, got {given!r}"
        )
    return listed
