"""The page of the command line, which mkdocs makes from the help of each command."""

from collections.abc import Iterator
from typing import Any

import click
from mkdocs.structure.files import File, Files

from relaxboost.commands.cli import cli

INTRODUCTION = """# The command line

The table lists all commands. Below it is the help that each command prints for `--help`. Every
command also has `--json` and `--quiet`. [All commands have the same exit
statuses](file_formats.md#exit-statuses).

"""


def sections(command: click.Command, words: str, level: int) -> Iterator[str]:
    """Yield the help of a command and of the commands below it, each under a heading."""
    context = click.Context(command, info_name=words, max_content_width=88, terminal_width=88)
    yield f"{'#' * level} {words}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from sections(below, f"{words} {name}", min(level + 1, 4))


def overview(command: click.Command, words: str) -> Iterator[str]:
    """Yield a row of the table for each command that is no group."""
    if not isinstance(command, click.Group):
        link = f"[`{words}`](#{words.replace(' ', '-')})"
        yield f"| {link} | {command.get_short_help_str(limit=100)} |\n"
        return
    context = click.Context(command, info_name=words)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from overview(below, f"{words} {name}")


def on_files(files: Files, config: Any, **_: object) -> Files:
    """Add the page."""
    table = ["| command | what it does |\n", "|---|---|\n", *overview(cli, "relaxboost")]
    text = INTRODUCTION + "".join(table) + "\n" + "\n".join(sections(cli, "relaxboost", 2))
    files.append(File.generated(config, "command_line.md", content=text))
    return files
