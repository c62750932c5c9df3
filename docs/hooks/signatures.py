"""An extension of Griffe, which reads the package for the pages of the API."""

import importlib
import inspect
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

_CHOICES = re.compile(r"^( *\w+ : )\{(.+?)\}", re.MULTILINE)
_SEE_ALSO = re.compile(r"(?<=See Also\n--------\n).*?(?=\n\n\S[^\n]*\n---|\Z)", re.DOTALL)
_ENTRY = re.compile(r"^([\w.]+)(?= : )", re.MULTILINE)

_SENTENCE_END = re.compile(r"(?<=[^.][.]) (?=[A-Z`\"])")


class Signatures(griffe.Extension):
    """Show the parameters with which a class can be called, their defaults, and links.

    Griffe reads the fields of a dataclass without running the code. So it also shows fields that
    are not arguments, because they have ``init=False`` or are attributes of the class. It takes the
    first of several choices, as in ``{"a", "b"}``, for the default. It does not link the names of a
    section See Also. The page of a subclass also shows the parameters that only the docstring of
    its base class describes.
    """

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        reference = runpy.run_path(str(Path(__file__).with_name("reference.py")))
        links = _links(reference)
        for module in [pkg, *_modules(pkg)]:
            for member in module.members.values():
                if member.is_alias:
                    continue
                # Only public classes have pages. Other modules may need pytest.
                if member.is_class and member.docstring is not None and member.name in links:
                    value = getattr(importlib.import_module(module.path), member.name)
                    member.docstring.value = reference["with_parameters"](
                        member.docstring.value, value
                    )
                for documented in _documented(member):
                    documented.docstring.value = _shown(documented.docstring.value, links)
                # Only the fields of dataclasses may be no arguments.
                if "dataclass" not in member.labels or "__init__" not in member.members:
                    continue
                value = getattr(importlib.import_module(module.path), member.name)
                real = inspect.signature(value).parameters
                shown = member.members["__init__"].parameters
                for name in [one.name for one in shown if one.name not in {"self", *real}]:
                    del shown[name]


def _links(reference: dict[str, Any]) -> dict[str, str]:
    """Return a dictionary from the name of each public object to the path of its page."""
    links: dict[str, str] = {}
    for _, _, listed in reference["entries"]():
        for entry in listed:
            links.setdefault(entry.name, f"relaxboost.{entry.path}")
    return links


def _shown(docstring: str, links: dict[str, str]) -> str:
    """Return a docstring with "or" between choices, and with links in its section See Also.

    Its first line is its first sentence.
    """
    text = _CHOICES.sub(lambda found: found[1] + found[2].replace(", ", " or "), docstring)

    def link(found: re.Match[str]) -> str:
        name = found[1].rpartition(".")[2]
        return f"[`{name}`][{links[name]}]"

    text = _SEE_ALSO.sub(lambda found: _ENTRY.sub(link, found[0]), text)
    # The list of the members of a class shows the first line of each docstring.
    first, gap, others = text.partition("\n\n")
    return _SENTENCE_END.sub("\n", " ".join(first.split()), count=1) + gap + others


def _documented(member: Any) -> Iterator[Any]:
    """Yield a member and the members of a class that have a docstring."""
    if member.docstring is not None:
        yield member
    if member.is_class:
        for inner in member.members.values():
            if not inner.is_alias:
                yield from _documented(inner)


def _modules(module: griffe.Module) -> list[griffe.Module]:
    inner = [one for one in module.members.values() if not one.is_alias and one.is_module]
    return [*inner, *(deeper for one in inner for deeper in _modules(one))]
