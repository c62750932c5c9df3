"""Messages about unknown names, and safe display of users' names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import ParamSpec, TypeVar

from relaxboost._core.errors import InputError

P = ParamSpec("P")
T = TypeVar("T")

# These join letters in Persian and parts of emoji; both are harmless.
_JOINERS = "\u200c\u200d"


MAX_ITEMS_SHOWN = 8
"""The maximum length of a vector whose entries a repr shows."""


def printable(text: str) -> str:
    r"""Replace control characters by escapes such as ``\x1b``."""
    # Names of columns and files may come from untrusted sources. They may contain control sequences
    # that change the colour, the title or the clipboard of a terminal, or the direction of text.
    if text.isprintable():
        return text
    return "".join(
        c
        if c.isprintable() or c in f"\n{_JOINERS}" or unicodedata.category(c) == "Zs"
        else c.encode("unicode_escape").decode()
        for c in text
    )


def did_you_mean(name: str, known: Iterable[str], alike: float = 0.4) -> str:
    """Return the end of a message that suggests known names similar to `name`, or ""."""
    # The minimum similarity `alike` is low because names of claims and games are codes. For
    # example, the similarity of T9 or ss09-t9 to SS09-T9 is less than 0.6.
    names = list(known)
    # A name that differs only in capitals is surely the intended one.
    near = [x for x in names if x.casefold() == name.casefold()]
    near = near or get_close_matches(name, names, 3, alike)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def known_names(name: object, known: Iterable[str], otherwise: str = "choose one of") -> str:
    """Return advice about an unknown name: the similar names, or else all names."""
    names = list(known)
    near = did_you_mean(name, names, 0.6) if isinstance(name, str) else ""
    return near or f"; {otherwise} {', '.join(names)}"


def explains_arguments(
    more: Iterable[str] = (), /, **remedies: str
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function so that an unknown argument raises an InputError with a remedy.

    `remedies` contains advice on names that users expect, but that the function does not accept.
    For other unknown names, the error suggests similar names. `more` contains the names that a
    parameter such as ``**options`` accepts.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        parameters = signature(function).parameters.values()
        known = [
            one.name for one in parameters if one.kind is not one.VAR_KEYWORD and one.name != "self"
        ]
        known += more

        @wraps(function)
        def call(*given: P.args, **named: P.kwargs) -> T:
            for name in named:
                if name not in known:
                    remedy = f"; {remedies[name]}" if name in remedies else ""
                    remedy = remedy or known_names(name, known, "its arguments are")
                    raise InputError(f"{function.__name__} has no argument {name}{remedy}")
            return function(*given, **named)

        return call

    return decorate


def moved(name: str, folder: str) -> AttributeError:
    """Return the error for a name that only earlier versions exported."""
    return AttributeError(
        f"{name} is now the folder {folder} of the source repository, which the installed package "
        "does not contain; copy the files that you need from there"
    )


def unknown(name: str, known: list[str]) -> AttributeError:
    """Return the error for a name that relaxboost does not export.

    The message names subpackages that export this name, or similar names.
    """
    if name == "reproductions":
        return moved("relaxboost.reproductions", "benchmarks/reproductions")
    root = Path(__file__).parent.parent
    places = [f"relaxboost.{room}.{name}" for room in known if _lists(root / room, name)]
    hint = f"; it is {' or '.join(places)}" if places else did_you_mean(name, known, 0.6)
    return AttributeError(f"relaxboost has no {name!r}{hint}")


def _lists(folder: Path, name: str) -> bool:
    # The ``__init__`` files are read as text, because an import of the subpackages takes seconds.
    files = [folder / f"__init__.{end}" for end in ("pyi", "py")]
    text = next((file.read_text(encoding="utf-8") for file in files if file.exists()), "")
    word = re.escape(name)
    if re.search(rf'"{word}"[,\]]|import {word} as {word}$', text, re.MULTILINE):
        return True
    whole = re.findall(rf"^from relaxboost\.{folder.name}\.(\w+) import \*", text, re.MULTILINE)
    return any(_lists(folder / inner, name) for inner in whole)
