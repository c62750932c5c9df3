"""The page of the command line, which mkdocs makes from the help of each command."""

import copy
from collections.abc import Iterator
from typing import Any

import click
from mkdocs.structure.files import File, Files

from relaxboost.commands.cli import cli

INTRODUCTION = """# The command line

If you have a CSV file with a column of two labels, begin with these commands. The first one finds
the weighted vote of stumps (rules such as "feature > 0.5") with the largest margin, and writes a
proof and a model. The second one checks the proof. The third one predicts labels of new rows:

```sh
relaxboost solve data.csv --label y --certificate margin.json --model model.json
relaxboost check margin.json
relaxboost predict model.json new.csv
```

The table lists all commands, and the help of each command follows. In addition, every command has
three options: `--json` prints the result as JSON, `--quiet` prints only errors and the result of
`--json`, and `--help` prints the help. [The exit statuses](file_formats.md#exit-statuses) are the
same for all commands.

"""

EVERYWHERE = {"as_json", "quiet"}
"""The names of the options that every command has. The introduction explains them."""


def sections(command: click.Command, words: str, level: int) -> Iterator[str]:
    """Yield the help of a command and of the commands below it, each under a heading."""
    command = copy.copy(command)
    command.params = [one for one in command.params if one.name not in EVERYWHERE]
    command.add_help_option = False
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
