"""What is said of names that are not there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


def did_you_mean(name: str, known: Iterable[str], alike: float = 0.4) -> str:
    """Return what a message ends with, the names nearest to one that is not known.

    Names of claims and games are codes: T9 and ss09-t9 are less than .6 like SS09-T9.
    """
    near = get_close_matches(name, list(known), 3, alike)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def unknown(name: str, known: list[str]) -> AttributeError:
    """Return an error that says in which rooms a name is, or what is like it."""
    root = Path(__file__).parent.parent
    places = [f"relaxboost.{room}.{name}" for room in known if _lists(root / room, name)]
    hint = f"; it is {' or '.join(places)}" if places else did_you_mean(name, known, 0.6)
    return AttributeError(f"relaxboost has no {name!r}{hint}")


def _lists(folder: Path, name: str) -> bool:
    """Return whether a folder lists a name, or one inside of which it imports all names.

    Folders are read as text, for importing them to answer a typo takes seconds.
    """
    files = [folder / f"__init__.{end}" for end in ("pyi", "py")]
    text = next((file.read_text(encoding="utf-8") for file in files if file.exists()), "")
    word = re.escape(name)
    if re.search(rf'"{word}"[,\]]|import {word} as {word}$', text, re.MULTILINE):
        return True
    whole = re.findall(rf"^from relaxboost\.{folder.name}\.(\w+) import \*", text, re.MULTILINE)
    return any(_lists(folder / inner, name) for inner in whole)
