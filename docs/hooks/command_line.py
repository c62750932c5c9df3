"""The page of the command line, which mkdocs makes from the help of each command."""

from collections.abc import Iterator
from typing import Any

import click
from mkdocs.structure.files import File, Files

from relaxboost.commands.cli import cli

INTRODUCTION = """# The command line

The text below is what `--help` prints. Every command also has `--json` and `--quiet`.
[Exit statuses](file_formats.md#exit-statuses).

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


def on_files(files: Files, config: Any, **_: object) -> Files:
    """Add the page."""
    text = INTRODUCTION + "\n".join(sections(cli, "relaxboost", 2))
    files.append(File.generated(config, "command_line.md", content=text))
    return files
