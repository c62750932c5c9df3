"""Rewording of library error messages in terms of command-line options."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import click
from click.core import ParameterSource

from relaxboost._core.errors import InputError

# These patterns of messages match if the user gave the argument {} as an option. The comment of
# each pattern is an example of a message.
_RULES = (
    # "Capped(k=0) needs k >= 1"
    (r"^\w+\({}=([^()]*)\)", r"OPTION \2"),
    # "Capped needs k to be a finite number"
    (r"^\w+ needs {} to be ", "OPTION must be "),
    # "L1Ball needs radius > 0"
    (r"^\w+ needs {} (?=[<>])", "OPTION must be "),
    # "L1Ball needs 1e-100 <= radius <= 1e100"
    (r"^\w+ needs (?=\S+ <=? {}\b)", "OPTION needs "),
    # "unknown step 'big'; choose one of ..."
    (r"^unknown {} (\S+);", r"OPTION \2 is unknown;"),
    # "tol must be a positive number"
    (r"(?<![\w'\"=-]){} (must|needs) ", r"OPTION \2 "),
)
# These patterns of remedies match any argument that has an option, but not an argument in the
# representation of an object, as in L1Ball(radius=1). The comment of each pattern is an example.
_REMEDIES = (
    # 'use method="auto"'
    (r"(?<![\w(.])(?<!, ){}=([\"'])([\w.-]+)\2", r"OPTION \3"),
    # "give targets=, a bound of |y|"
    (r"(?<![\w(.])(?<!, ){}=(?=[,;.]? |$)", "OPTION"),
    # "for example rtol=0.01"
    (r"(?<![\w(.])(?<!, ){}=", "OPTION "),
)
# A name with an underscore is not an English word, so that it is an argument wherever it stands,
# except in quotes and in names of files. An example is "give max_rounds or time_limit".
_NAMES = ((r"(?<![\w'\"/.-]){}(?![\w'\"/=]|\.\w)", "OPTION"),)


def in_options(message: str) -> str:
    """Return an error message with options of the running command instead of Python arguments."""
    context = click.get_current_context(silent=True)
    if context is None:
        return message
    options: dict[str, str] = {}
    given = []
    for parameter in context.command.params:
        if isinstance(parameter, click.Option):
            option = max(parameter.opts, key=len)
            # The Python argument is named like the option, for example time_limit for --time-limit.
            argument = option.removeprefix("--").replace("-", "_")
            options[argument] = option
            # A rule is reworded only if the user gave its option: for --relaxation 'Capped(k=0)',
            # the message about k does not change.
            if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
                given.append(argument)
    message = _replaced(message, _RULES, {argument: options[argument] for argument in given})
    message = _replaced(message, _REMEDIES, options)
    return _replaced(message, _NAMES, {name: options[name] for name in options if "_" in name})


def _replaced(message: str, patterns: Iterable[tuple[str, str]], options: Mapping[str, str]) -> str:
    if not options:
        return message
    argument = f"(?P<name>{'|'.join(map(re.escape, options))})"
    for pattern, template in patterns:

        def replacement(found: re.Match[str], template: str = template) -> str:
            return found.expand(template).replace("OPTION", options[found["name"]], 1)

        message = re.sub(pattern.replace("{}", argument), replacement, message)
    return message


Words = Mapping[str, str | Callable[[re.Match[str]], str]]
"""A mapping that rewords messages. Each key is a regular expression, and its value, a string or a
function as in `re.sub`, replaces the match."""


def reworded(message: str, words: Words) -> str:
    """Return an error message with the replacements in `words` applied."""
    for pattern, replacement in words.items():
        message = re.sub(pattern, replacement, message)
    return message


@contextmanager
def spoken(words: Words, note: Callable[[str], None] | None = None) -> Iterator[None]:
    """Reword each InputError that is raised within this context.

    If `note` is given, UserWarnings are reworded too. Each of them is passed once to `note` instead
    of being shown.
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
