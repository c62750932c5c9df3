"""What the API page means by `::: relaxboost.relaxations.*`: every name that the room lists."""

import importlib
import re


def expand(markdown: str) -> str:
    """Return the page with a line for each name in place of the star."""

    def names(match: re.Match[str]) -> str:
        room = importlib.import_module(match[1])
        return "\n\n".join(f"::: {match[1]}.{name}" for name in room.__all__)

    return re.sub(r"^::: ([\w.]+)\.\*$", names, markdown, flags=re.MULTILINE)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Expand a page when mkdocs builds it."""
    return expand(markdown)
