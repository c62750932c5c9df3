"""Messages of the library in the words of the command line, and text that is safe to print."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import click
from click.core import ParameterSource

from relaxboost._core.errors import InputError

_GIVEN = (
    (r"^\w+\({}=([^()]*)\)", r"OPTION \2"),  # Capped(k=0) needs k >= 1
    (r"^\w+ needs {} to be ", "OPTION must be "),  # Capped needs k to be a finite number
    (r"^\w+ needs {} (?=[<>])", "OPTION must be "),  # L1Ball needs radius > 0
    (r"^\w+ needs (?=\S+ <=? {}\b)", "OPTION needs "),  # L1Ball needs 1e-100 <= radius <= 1e100
    (r"^unknown {} (\S+);", r"OPTION \2 is unknown;"),  # unknown step 'big'; choose one of ...
    (r"(?<![\w'\"=-]){} (must|needs) ", r"OPTION \2 "),  # tol must be a positive number
)
"""Patterns of messages about an argument, {}, that the user gave as an option."""
_KNOWN = (
    (r"(?<![\w(.])(?<!, ){}=([\"'])([\w.-]+)\2", r"OPTION \3"),  # use method="auto"
    (r"(?<![\w(.])(?<!, ){}=(?=[,;.]? |$)", "OPTION"),  # give targets=, a bound of |y|
    (r"(?<![\w(.])(?<!, ){}=", "OPTION "),  # for example rtol=0.01
    (r"(?<![\w'\"/.-]){}(?![\w'\"/=]|\.\w)", "OPTION"),  # give max_rounds or time_limit
)
"""Patterns of remedies that name any argument, {}, for which the command has an option.

The patterns leave out arguments in the representation of an object, as in L1Ball(radius=1). The
last pattern is for names with an underscore, which are no words of a sentence.
"""


def in_options(message: str) -> str:
    """Return a message with the options of the running command instead of arguments of Python.

    A rule is reworded only if the user gave the option: in `--relaxation 'Capped(k=0)'` the user
    typed Capped, and the message about Capped stays.
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return message
    names: dict[str, str] = {}
    given = []
    for parameter in context.command.params:
        if isinstance(parameter, click.Option):
            option = max(parameter.opts, key=len)
            name = option.removeprefix("--").replace("-", "_")
            names[name] = option
            if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
                given.append(name)
    long = [name for name in names if "_" in name]
    for rules, arguments in ((_GIVEN, given), (_KNOWN[:-1], list(names)), (_KNOWN[-1:], long)):
        for pattern, template in rules if arguments else ():
            chosen = pattern.replace("{}", f"(?P<name>{'|'.join(map(re.escape, arguments))})")
            message = re.sub(chosen, _naming(template, names), message)
    return message


def _naming(template: str, options: Mapping[str, str]) -> Callable[[re.Match[str]], str]:
    """Return a replacement that puts the option of the argument that was found for OPTION."""

    def replacement(found: re.Match[str]) -> str:
        return found.expand(template).replace("OPTION", options[found["name"]], 1)

    return replacement


def reworded(message: str, words: Mapping[str, str]) -> str:
    """Return a message in which each pattern, a key of `words`, is replaced by its value."""
    for pattern, replacement in words.items():
        message = re.sub(pattern, replacement, message)
    return message


@contextmanager
def spoken(words: Mapping[str, str], note: Callable[[str], None] | None = None) -> Iterator[None]:
    """Reword the errors of the library as `words` says, and pass its warnings to `note`.

    The keys of `words` are regular expressions. `note` gets each warning once.
    """
    caught = None
    try:
        with warnings.catch_warnings(record=note is not None) as caught:
            if note is not None:
                warnings.simplefilter("always", UserWarning)
            yield
    except InputError as error:
        raise InputError(reworded(str(error), words)) from None
    finally:
        for text in dict.fromkeys(str(warning.message) for warning in caught or ()):
            assert note is not None
            note(reworded(text, words))


def printable(text: str) -> str:
    r"""Return text in which nothing controls a terminal: \x1b stands for the escape character.

    Names of columns and files come from others, and may hold sequences that change the colour,
    the title or the clipboard of a terminal, or the direction in which text is written.
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )
