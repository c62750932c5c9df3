"""What mkdocs is to do: `::: room.*` is every name that the room lists, but for modules."""

import importlib
import inspect
import re


def expand(markdown: str) -> str:
    """Return the page with a line for each name in place of the star."""

    def names(match: re.Match[str]) -> str:
        room = importlib.import_module(match[1])
        listed = {name: getattr(room, name) for name in room.__all__}
        paths = []
        for name, kind in listed.items():
            if not inspect.ismodule(kind):  # a function may hide the module it is in
                hidden = getattr(kind, "__module__", "") == f"{match[1]}.{name}"
                paths.append(f"{name}.{name}" if hidden else name)
        return "\n\n".join(f"::: {match[1]}.{path}" for path in paths)

    return re.sub(r"^::: ([\w.]+)\.\*$", names, markdown, flags=re.MULTILINE)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Expand a page when mkdocs builds it."""
    return expand(markdown)


def on_page_content(html: str, **_: object) -> str:
    """Show scalar products of docstrings, <w, h>, which Markdown takes for tags."""
    return re.sub(r"<(\w[\w{}−]*[,(][^<>]*)>", r"&lt;\1&gt;", html)


def on_post_page(output: str, **_: object) -> str:
    """Refuse a page that loads anything from a network, which a theme may have it do."""
    if found := re.search(r"<(script|link|img)\b[^>]*\s(src|href)=.?(https?:)?//[^>]*>", output):
        raise ValueError(f"a page loads from a network: {found[0]}; keep a copy in docs/")
    return output
