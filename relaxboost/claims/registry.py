"""The registry of claims, which finds the claims of built-in sources and of files of users."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import redirect_stdout
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from relaxboost._core.errors import InputError
from relaxboost._core.files import as_path
from relaxboost._core.names import did_you_mean, known_names
from relaxboost._core.parameters import is_given
from relaxboost.claims.claim import Claim
from relaxboost.claims.source import DISPLAYS, Source

_FOLDER = Path(__file__).parent
_SOURCE = re.compile(r"relaxboost\.claims\.\w+\.source$")


@cache
def sources() -> tuple[Source, ...]:
    """Return the built-in sources. Each is a folder of this package that has a file source.py."""
    folders = sorted(file.parent.name for file in _FOLDER.glob("*/source.py"))
    found = [importlib.import_module(f"relaxboost.claims.{name}").SOURCE for name in folders]
    return tuple(sorted(found, key=lambda source: source.place))


def gather(package: str, order: str) -> Source:
    """Import the files of a source, which declare its claims, and return its `Source`.

    `package` is the ``__name__`` of the package of the source. `order` lists the names of files in
    the order of the text, separated by spaces. All other files follow in alphabetical order.
    """
    folder = _FOLDER / package.rpartition(".")[2]
    others = sorted(file.stem for file in folder.glob("[!_]*.py"))
    for name in dict.fromkeys((*order.split(), *others)):
        importlib.import_module(f"{package}.{name}")
    source: Source = importlib.import_module(f"{package}.source").SOURCE
    source.complete()
    return source


def all(source: str | None = None) -> list[Claim]:
    """Return all built-in claims, or the claims of one source such as "SS09", in order."""
    known = {s.key: s for s in sources()}
    if source is not None and not (is_given(source, str) and source in known):
        raise InputError(f"no source {source!r}{known_names(source, known, 'there are')}")
    chosen = known.values() if source is None else [known[source]]
    return [claim for s in chosen for claim in s.claims.values()]


def get(id: str) -> Claim:
    """Return a claim by its id, such as "SS09-T9", or a step of a proof, such as "SS09-T9/1.1"."""
    if not isinstance(id, str):
        raise InputError(f"the id of a claim must be a string such as 'SS09-T9', got {id!r:.60}")
    known = {claim.id: claim for claim in _with_steps(all(), id)}
    if id not in known:
        raise InputError(_moved(id) or _unknown(id, [*known.values()]))
    return known[id]


def _with_steps(claims: list[Claim], pattern: str) -> list[Claim]:
    """Return the claims, together with the steps of their proofs if a pattern contains a slash."""
    parts = [part for claim in claims for part in claim.statements] if "/" in pattern else []
    return [*claims, *(step for part in parts for step in part.steps)]


def select(patterns: list[str], among: list[Claim]) -> list[Claim]:
    """Return the claims whose ids match a pattern such as "SS09-T*", in order.

    A pattern with a slash, such as "SS09-T9/*", selects steps of proofs.
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

    Raises
    ------
    InputError
        If the file does not exist, raises an error when it is run, or defines no claims.
    """
    path = as_path(path)
    if not path.is_file():
        raise InputError(
            f"the file {path} does not exist. A file of claims is a Python file that defines a "
            "Source"
        )
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
    own = {id(value): value for value in vars(module).values() if isinstance(value, Source)}
    # A source of the package can be in the list only if its module has been imported.
    builtin = {id(module.SOURCE) for name, module in sys.modules.items() if _SOURCE.match(name)}
    claims = [c for key, s in own.items() if key not in builtin for c in s.claims.values()]
    if not claims:
        raise InputError(
            f"{path} defines no claims. It needs a Source, and functions that are decorated "
            "with the `claim` method of the Source"
        )
    for claim in claims:
        claim.file = path
    return claims


def _lines(error: BaseException, path: Path) -> Iterator[int]:
    """Yield the numbers of the lines of the user's file in a traceback, the innermost first."""
    if isinstance(error, SyntaxError) and error.lineno:
        yield error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    file = path.resolve()
    yield from (f.lineno for f in reversed(frames) if Path(f.filename) == file and f.lineno)


def _moved(pattern: str) -> str:
    """Return a hint if a pattern matches former ids of claims, or else ""."""
    old = [(f"{s.key}-{name}", s.key, to) for s in sources() for name, to in s.moved.items()]
    found = [one for one in old if fnmatchcase(one[0], pattern)]
    if not found:
        return ""
    id, key, where = found[0]
    if where == DISPLAYS:
        text = f"{id} is a line of the table on the page of {key} now"
    else:
        place, shown = f"part of {key}-{where}", f"{key}-{where}"
        if where == "errata":
            place, shown = f"in the errata of {key}", key
        text = f"{id} is {place} now: `relaxboost claims show {shown}` shows it"
    others = f"; {pattern!r} stands for {len(found) - 1} more that moved"
    return text + others * (len(found) > 1)


def _unknown(id: str, known: list[Claim]) -> str:
    hint = did_you_mean(id, [claim.id for claim in known])
    file = next((claim.file for claim in known if claim.file is not None), None)
    there = f" --file {file}` shows what is there"
    if file is None:
        there = "` shows what there is; your own need --file FILE"
    return f"no claim {id!r}{hint} (`relaxboost claims list{there})"
