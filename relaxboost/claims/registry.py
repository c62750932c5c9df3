"""The registry of claims: built-in claims, and claims in users' files."""

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import redirect_stdout
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from threading import RLock
from types import ModuleType

from relaxboost._core.errors import InputError, number_of
from relaxboost._core.files import as_path
from relaxboost._core.names import did_you_mean, known_names
from relaxboost._core.parameters import is_given
from relaxboost.claims.claim import Claim
from relaxboost.claims.source import DISPLAYS, Source

_LOADING = RLock()


def sources() -> tuple[Source, ...]:
    """Return the papers and lectures whose claims are part of the package.

    Each source is a folder with a file ``statements.toml``.
    """
    with _LOADING:  # The lock prevents two threads from reading the same sources at the same time.
        return _sources()


@cache
def _sources() -> tuple[Source, ...]:
    found = []
    for folder in sorted(file.parent for file in Path(__file__).parent.glob("*/statements.toml")):
        package = f"relaxboost.claims.{folder.name}"
        for file in sorted(folder.glob("[!_]*.py")):
            importlib.import_module(f"{package}.{file.stem}")
        found.append(importlib.import_module(package).SOURCE)
        found[-1].complete()
    return tuple(sorted(found, key=lambda source: source.place))


def all(source: str | None = None) -> list[Claim]:
    """Return the built-in claims in their order.

    Parameters
    ----------
    source : str, optional
        The key of a source, such as "SS09" for Shalev-Shwartz & Singer (2009). By default the
        claims of all sources are returned.
    """
    known = {s.key: s for s in sources()}
    if source is not None and not (is_given(source, str) and source in known):
        raise InputError(f"no source {source!r}{known_names(source, known, 'there are')}")
    chosen = known.values() if source is None else [known[source]]
    return [claim for s in chosen for claim in s.claims.values()]


def get(id: str) -> Claim:
    """Return a built-in claim, or one of its proof steps as a claim.

    Parameters
    ----------
    id : str
        The id of the claim, such as "SS09-T9", or of the step, such as "SS09-T9/1.1".

    Raises
    ------
    InputError
        If there is no claim with this id.
    """
    if not isinstance(id, str):
        raise InputError(f"the id of a claim must be a string such as 'SS09-T9', got {id!r:.60}")
    known = {claim.id: claim for claim in _with_steps(all(), id)}
    if id not in known:
        raise InputError(_moved(id) or _unknown(id, [*known.values()]))
    return known[id]


def _with_steps(claims: list[Claim], pattern: str) -> list[Claim]:
    """Return the given claims, and also their proof steps if the pattern contains a slash."""
    parts = [part for claim in claims for part in claim.statements] if "/" in pattern else []
    return [*claims, *(step for part in parts for step in part.steps)]


def select(patterns: list[str], among: list[Claim]) -> list[Claim]:
    """Return the claims whose ids match one of the patterns, in their order.

    A pattern such as "SS09-T*" selects claims, and a pattern with a slash, such as "SS09-T9/*",
    selects proof steps.

    Parameters
    ----------
    patterns : list of str
        The patterns. An empty list selects all claims.
    among : list of Claim
        The claims from which the patterns select.

    Raises
    ------
    InputError
        If a pattern matches no claim.
    """
    listed = isinstance(patterns, list | tuple)
    if not listed or any(not isinstance(pattern, str) for pattern in patterns):
        raise InputError(
            f"`patterns` must be a list of strings such as ['SS09-T*'], got {patterns!r:.60}"
        )
    found = {} if patterns else {claim.id: claim for claim in among}
    for pattern in patterns:
        there = _with_steps(among, pattern)
        own = {claim.id: claim for claim in there if fnmatchcase(claim.id, pattern)}
        if not own:
            raise InputError(_moved(pattern) or _unknown(pattern, there))
        found |= own
    order = {claim.id: place for place, claim in enumerate(among)}
    return sorted(found.values(), key=lambda claim: order.get(claim.id, len(order)))


def load(path: Path | str) -> list[Claim]:
    """Return the claims of all `Source` objects that a Python file defines.

    The file is executed as in an import. Its output goes to standard error.

    Parameters
    ----------
    path : path
        The Python file.

    Raises
    ------
    InputError
        If the file does not exist, fails when it is run, or defines no claims.
    """
    path = as_path(path)
    if not path.is_file():
        raise InputError(
            f"the file {path} does not exist. A claims file is a Python file that defines a Source"
        )
    found = [value for value in vars(_executed(path)).values() if isinstance(value, Source)]
    own = (source for source in dict.fromkeys(found) if not _is_built_in(source))
    claims = [claim for source in own for claim in source.claims.values()]
    if not claims:
        raise InputError(
            f"{path} defines no claims. It needs a Source, and functions that are decorated "
            "with the `claim` method of the Source"
        )
    for claim in claims:
        claim.file = path
    return claims


def _is_built_in(source: Source) -> bool:
    # The folder of a built-in source has the key of the source as its name.
    module = sys.modules.get(f"relaxboost.claims.{source.key.lower()}")
    return getattr(module, "SOURCE", None) is source


def _executed(path: Path) -> ModuleType:
    name = f"relaxboost_claims_{abs(hash(path.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        line = next((f":{n}" for n in _lines(error, path)), "")
        raise InputError(f"{path}{line}: {type(error).__name__}: {error}") from error
    return module


def _lines(error: BaseException, path: Path) -> Iterator[int]:
    """Yield the line numbers of the user's file in a traceback, innermost first."""
    if isinstance(error, SyntaxError) and error.lineno:
        yield error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    file = path.resolve()
    yield from (f.lineno for f in reversed(frames) if Path(f.filename) == file and f.lineno)


def _moved(pattern: str) -> str:
    old = ((f"{s.key}-{name}", s.key, to) for s in sources() for name, to in s.moved.items())
    found = [one for one in old if fnmatchcase(one[0], pattern)]
    if not found:
        return ""
    id, key, where = found[0]
    if where == DISPLAYS:
        text = f"{id} is now a line of the table on the page of {key}"
    elif where == "errata":
        text = f"{id} is now in the errata of {key}; run `relaxboost claims show {key}` to see it"
    else:
        new = f"{key}-{where}"
        text = f"{id} is now part of {new}; run `relaxboost claims show {new}` to see it"
    if len(found) > 1:
        text += f". The pattern {pattern!r} matches {number_of(len(found) - 1, 'more claim')}"
    return text


def _unknown(id: str, known: list[Claim]) -> str:
    hint = did_you_mean(id, [claim.id for claim in known])
    file = next((claim.file for claim in known if claim.file is not None), None)
    there = f" --file {file}` lists the claims"
    if file is None:
        there = "` lists the claims; for your own claims, add --file FILE"
    return f"no claim {id!r}{hint} (`relaxboost claims list{there})"
