"""The API reference: mkdocs makes a page for each public object, and one page that lists them."""

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOMS = {
    "game": "The game",
    "game.domains": "Sets of weights",
    "relaxations": "Relaxations",
    "matrices": "Margin matrices",
    "solvers": "Solvers and boosters",
    "certificates": "Certificates",
    "estimators": "Estimators for scikit-learn",
    "functional": "Boosting any convex loss",
    "online": "Online learning",
    "planning": "Costs learned from paths",
    "claims": "Claims of papers",
    "instances": "Instances with certified optima",
    "testing": "Tests for your own classes",
}
"""The rooms whose names are public, in the order of the page."""

TOP = ("InputError", "_core.MissingDependencyError")
"""What is in no room; it is listed with the game."""

MODULES = {
    "game": ["game.bounds"],
    "matrices": ["matrices.datasets"],
    "relaxations": ["relaxations.affine", "relaxations.multiples", "relaxations.sums"],
    "planning": ["planning.maps"],
    "claims": ["claims.plugin"],
    "instances": ["instances.plugin", "instances.generators", "instances.corners"],
    "certificates": ["views.plots", "views.report"],
}
"""Modules that are documented whole, on one page each, by the room under which they are listed."""


def objects(room: str) -> Iterator[tuple[str, Any]]:
    """Yield the path of each public object of a room, below the package, and the object."""
    module = importlib.import_module(f"relaxboost.{room}")
    if room == "game":
        yield from ((path, pkgutil.resolve_name(f"relaxboost.{path}")) for path in TOP)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.ismodule(value):
            continue
        # A function may have the name of the module it is in, and would be hidden by it.
        hidden = getattr(value, "__module__", "") == f"relaxboost.{room}.{name}"
        yield f"{room}.{name}.{name}" if hidden else f"{room}.{name}", value


def docstring(value: Any) -> str:
    """Return the docstring of a class, of a function, or of a module by its path."""
    if isinstance(value, str):  # it is not imported, because a plugin needs pytest
        spec = importlib.util.find_spec(f"relaxboost.{value}")
        return ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return (inspect.getdoc(value) or "") if callable(value) else ""


def summary(text: str) -> str:
    """Return the first sentence of a docstring, as a cell of a table."""
    return " ".join(text.split("\n\n")[0].split()).replace("|", r"\|").replace("<", "&lt;")


def pages() -> dict[str, str]:
    """Return the pages of the reference in Markdown, by their paths in the documentation."""
    found: dict[str, str] = {}
    index = [
        "# API",
        "",
        "Every public object has a page of its own, made from its docstring. "
        "`import relaxboost as rb` gives the names of the first rooms at the top: "
        "`rb.Game`, `rb.solve`.",
        "",
    ]
    seen: set[int] = set()
    for room, title in ROOMS.items():
        rows = []
        for path, value in (*objects(room), *((path, path) for path in MODULES.get(room, ()))):
            if id(value) in seen:
                continue
            seen.add(id(value))
            whole = isinstance(value, str)
            name = path if whole else path.rpartition(".")[2]
            options = "\n    options:\n      filters: public\n" if whole else ""
            back = f"[API](../api.md) › [{title}](../api.md#{room})\n\n"
            found[f"api/{path}.md"] = f"{back}::: relaxboost.{path}{options}\n"
            rows.append(f"| [`{name}`](api/{path}.md) | {summary(docstring(value))} |")
        index += [f"## {title} {{ #{room} }}", "", f"`relaxboost.{room}`", ""]
        index += ["| name | what it is |", "|---|---|", *rows, ""]
    found["api.md"] = "\n".join(index)
    return found


def on_files(files: Any, config: Any, **_: object) -> Any:
    """Add the pages."""
    from mkdocs.structure.files import File  # which the tests do without

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_content(html: str, **_: object) -> str:
    """Show scalar products of docstrings, <w, h>, which Markdown takes for tags."""
    return re.sub(r"<(\w[\w{}−]*[,(][^<>]*)>", r"&lt;\1&gt;", html)


def on_post_page(output: str, **_: object) -> str:
    """Refuse a page that loads anything from a network, and drop the indentation of the theme."""
    if found := re.search(r"<(script|link|img)\b[^>]*\s(src|href)=.?(https?:)?//[^>]*>", output):
        raise ValueError(f"a page loads from a network: {found[0]}; keep a copy in docs/")
    head, article, rest = output.partition("<article")
    body, end, foot = rest.partition("</article>")
    squeezed = [re.sub(r"\n\s+", "\n", part) for part in (head, foot)]
    return f"{squeezed[0]}{article}{body}{end}{squeezed[1]}"


def on_post_build(config: Any, **_: object) -> None:
    """Drop the files of the theme that no page of this site loads: 2 MB."""
    assets = Path(config["site_dir"]) / "assets"
    shutil.rmtree(assets / "javascripts" / "lunr", ignore_errors=True)
    for path in assets.rglob("*.map"):
        path.unlink()
