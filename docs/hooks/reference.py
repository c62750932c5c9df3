"""The API reference: mkdocs makes a page for each public object, and one page that lists them."""

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import relaxboost as rb
from relaxboost import game
from relaxboost.game import domains

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
    "views": "Pictures and reports",
}
"""The rooms whose names are public, in the order of the page."""

GUIDES = {
    "game": "game.md",
    "game.domains": "relaxations.md#over-which-weights",
    "relaxations": "relaxations.md",
    "matrices": "large_data.md#which-matrix",
    "solvers": "methods.md",
    "certificates": "certificates.md",
    "estimators": "x_and_y.md",
    "functional": "functional.md",
    "online": "online_tutorial.md",
    "planning": "routes.md",
    "claims": "theorem.md",
    "instances": "my_solver.md",
    "testing": "faster_relaxation.md",
    "views": "gallery/index.md",
}
"""The page that explains a room to people who use it for the first time."""

ORDER = {
    "game.Game": (
        *("bracket", "m", "n", "relaxation", "over", "matrix", "level", "primal", "dual"),
        *("digest", "parts", "repair_d", "repair_w", "read_w"),
        *("linear_form", "cone_form", "entropy_range"),
    ),
    "game.Solution": (
        *("lower", "upper", "status", "w", "d", "margins", "hypotheses"),
        *("gap", "game", "support", "coefficients", "gamma", "message", "outcome"),
        *("method", "tol", "rtol", "rounds", "seconds", "bound", "trace", "history"),
        *("basis", "witness", "learner", "game_digest", "game_parts", "label", "doubt"),
    ),
}
"""The members of a class in the order in which users need them, if it is not that of the source."""

TOP = ("InputError", "_core.MissingDependencyError")
"""What is in no room; it is listed last."""

MODULES = {
    "game": ["game.bounds"],
    "matrices": ["matrices.datasets"],
    "relaxations": ["relaxations.affine", "relaxations.multiples", "relaxations.sums"],
    "planning": ["planning.maps"],
    "claims": ["claims.plugin"],
    "instances": ["instances.plugin", "instances.generators", "instances.corners"],
    "views": ["views.plots", "views.report"],
}
"""Modules that are documented whole, on one page each, by the room under which they are listed."""


FIRST = {
    "make the margins of all decision stumps": ("matrices.stumps.stumps",),
    "state the problem, called a game": ("game.Game", "relaxations.Capped"),
    "solve the game, and read the result": ("solvers.solve.solve", "game.Solution"),
    "write a proof, and check it": ("certificates.certify", "certificates.check_certificate"),
    "classify X and y as in scikit-learn": ("estimators.MarginBoostClassifier",),
    "examine an ensemble of another package": ("estimators.certify_ensemble",),
    "minimise any convex loss": ("functional.boost",),
}
"""The paths of the names that most users need, by the task for which they need them."""


class Entry(NamedTuple):
    """A public object, or a module that is documented whole, in which case `value` is its path."""

    path: str
    value: Any

    @property
    def name(self) -> str:
        return self.path if isinstance(self.value, str) else self.path.rpartition(".")[2]

    @property
    def statement(self) -> str:
        """The statement that imports the object."""
        if isinstance(self.value, str):
            return f"import relaxboost.{self.path}"
        if self.name in rb.__all__:
            return f"from relaxboost import {self.name}"
        room = self.path.removesuffix(f".{self.name}").removesuffix(f".{self.name}")
        return f"from relaxboost.{room} import {self.name}"


def objects(room: str) -> Iterator[tuple[str, Any]]:
    """Yield the path of each public object of a room, below the package, and the object."""
    module = importlib.import_module(f"relaxboost.{room}")
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.ismodule(value):
            continue
        # A function may have the name of the module it is in, and would be hidden by it.
        hidden = getattr(value, "__module__", "") == f"relaxboost.{room}.{name}"
        yield f"{room}.{name}.{name}" if hidden else f"{room}.{name}", value


def entries() -> Iterator[tuple[str, str, list[Entry]]]:
    """Yield the key, the title and the entries of each part of the index."""
    seen: set[int] = set()
    sets = set(domains.__all__)
    for room, title in ROOMS.items():
        listed = []
        for path, value in (*objects(room), *((path, path) for path in MODULES.get(room, ()))):
            name = path.rpartition(".")[2]
            # A set of weights is listed with the other sets, also if the game has its name.
            if id(value) in seen or (room == "game" and name in sets):
                continue
            seen.add(id(value))
            is_shorter = room == "game.domains" and name in game.__all__
            listed.append(Entry(f"game.{name}" if is_shorter else path, value))
        yield room, title, listed
    errors = [Entry(path, pkgutil.resolve_name(f"relaxboost.{path}")) for path in TOP]
    yield "errors", "Errors", errors


_PARAMETERS = re.compile(r"^Parameters\n-+\n.*?(?=^\S[^\n]*\n---|\Z)", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^\S[^\n]*\n---", re.MULTILINE)


def docstring(entry: Entry) -> str:
    """Return the docstring of a class, of a function, of a constant, or of a module."""
    if callable(entry.value):
        return inspect.getdoc(entry.value) or ""
    if isinstance(entry.value, str):  # it is not imported, because a plugin needs pytest
        spec = importlib.util.find_spec(f"relaxboost.{entry.path}")
        return ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    # The text below the assignment describes a constant.
    room = entry.path.partition(".")[0]
    assigned = re.compile(rf'^{entry.name}\b[^\n]*= .*?\n"""(.*?)"""', re.MULTILINE | re.DOTALL)
    for path in sorted(Path(rb.__file__).parent.joinpath(room).rglob("*.py")):
        if found := assigned.search(path.read_text(encoding="utf-8")):
            return found[1]
    return ""


def is_record(value: Any) -> bool:
    """Return whether an object is a class whose docstring describes no parameters.

    Most of these classes are results, which users read and do not create.
    """
    if not inspect.isclass(value):
        return False
    return not _PARAMETERS.search(with_parameters(inspect.getdoc(value) or "", value))


def with_parameters(docstring: str, cls: type) -> str:
    """Return the docstring of a class with the section Parameters of a base class.

    If the docstring has this section already, or if no base class with the same parameters has it,
    the docstring is unchanged.
    """
    if _PARAMETERS.search(docstring):
        return docstring
    for base in cls.__mro__[1:]:
        found = _PARAMETERS.search(inspect.cleandoc(base.__doc__ or ""))
        if found is None or [*_parameters(base)] != [*_parameters(cls)]:
            continue
        first = _SECTION.search(docstring)
        end = first.start() if first else len(docstring)
        text = f"{docstring[:end].rstrip()}\n\n{found[0].rstrip()}\n\n{docstring[end:]}"
        return text.rstrip()
    return docstring


def _parameters(cls: type) -> Iterator[str]:
    try:
        yield from inspect.signature(cls).parameters
    except ValueError:  # an exception of the language
        return


def summary(text: str) -> str:
    """Return the first sentence of a docstring, as a cell of a table."""
    return " ".join(text.split("\n\n")[0].split()).replace("|", r"\|").replace("<", "&lt;")


def first(path: str) -> str:
    """Return a link to the page of an object, with the name that users write."""
    entry = Entry(path, pkgutil.resolve_name(f"relaxboost.{path}"))
    room = "" if entry.name in rb.__all__ else f"{path.partition('.')[0]}."
    return f"[`rb.{room}{entry.name}`](api/{path}.md)"


def pages() -> dict[str, str]:
    """Return the pages of the reference in Markdown, by their paths in the documentation."""
    found: dict[str, str] = {}
    index = [
        "# API",
        "",
        "Most users need only the ten names in the next table. The [example on the home "
        "page](index.md#a-first-game) uses the seven names in the first four rows.",
        "",
        "| task | names, after `import relaxboost as rb` |",
        "|---|---|",
        *(f"| {task} | {', '.join(map(first, paths))} |" for task, paths in FIRST.items()),
        "",
        "All public names follow. The **bold** names come first in each section, because most "
        "users need only these. They belong to `rb` itself, as in `rb.Game`. Every other name "
        "belongs to the module under the heading, as in `rb.relaxations.TotalVariationBall`.",
        "",
    ]
    for room, title, listed in entries():
        rows = []
        # The names of `rb` are those that most users need.
        for entry in sorted(listed, key=lambda one: one.name not in rb.__all__):
            options = {"heading": entry.name}
            if isinstance(entry.value, str):
                options["filters"] = "public"
            if entry.path in ORDER:
                options["members"] = f"[{', '.join(ORDER[entry.path])}]"
            guide = f" · [guide](../{GUIDES[room]})" if room in GUIDES else ""
            lines = "".join(f"\n      {key}: {value}" for key, value in options.items())
            found[f"api/{entry.path}.md"] = (
                f"---\nhide: [navigation]\nrecord: {str(is_record(entry.value)).lower()}\n"
                f"object: {entry.path}\n---\n\n"
                f"[API](../api.md) › [{title}](../api.md#{room}){guide} · `{entry.statement}`\n\n"
                f"::: relaxboost.{entry.path}\n    options:{lines}\n"
            )
            link = f"[`{entry.name}`](api/{entry.path}.md)"
            shown = f"**{link}**" if entry.name in rb.__all__ else link
            rows.append(f"| {shown} | {summary(docstring(entry))} |")
        index += [f"## {title} {{ #{room} }}", ""]
        if room != "errors":
            guide = f" · [guide]({GUIDES[room]})" if room in GUIDES else ""
            index += [f"`rb.{room}`{guide}", ""]
        index += ["| name | what it is |", "|---|---|", *rows, ""]
    found["api.md"] = "\n".join(index)
    return found


def on_files(files: Any, config: Any, **_: object) -> Any:
    """Add the pages."""
    from mkdocs.structure.files import File  # which the tests do without

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


_NAME = re.compile(r"(?<!<b>)<code>(\w+)(?:\.\w+)?</code>(?!</a>)")
"""A name, or an attribute of a name, that is written as code and is not a link yet."""


def linked(html: str, path: str) -> str:
    """Link the public names in the descriptions on the page of an object to their pages.

    A name in small letters may also be an argument or a method. So it is linked only if no argument
    on the page has this name, and if it belongs to the same room or to `relaxboost` itself.
    """
    room = path.partition(".")[0]

    def link(found: re.Match[str]) -> str:
        name = found[1]
        paths = _paths().get(name, [])
        near = [one for one in paths if one.startswith(f"{room}.")]
        is_argument = f"<b><code>{name}</code></b>" in html
        if name.islower() and (is_argument or not (near or name in rb.__all__)):
            return found[0]
        target = (near or paths or [path])[0]
        return found[0] if target == path else f'<a href="../{target}/">{found[0]}</a>'

    return _NAME.sub(link, html)


@cache
def _paths() -> dict[str, list[str]]:
    """Return the paths of all objects by their names."""
    paths: dict[str, list[str]] = {}
    for _, _, listed in entries():
        for entry in listed:
            paths.setdefault(entry.name, []).append(entry.path)
    return paths


def on_page_content(html: str, page: Any = None, **_: object) -> str:
    """Link names on pages of objects, and show scalar products, which Markdown takes for tags.

    The call of a class that is a record is folded, because it would hide the description.
    """
    if page is not None and page.meta.get("record"):
        html = _SIGNATURE.sub(_folded, html, count=1)
    if page is not None and (path := page.meta.get("object")):
        html = linked(html, path)
    return re.sub(r"<(\w[\w{}−]*[,(][^<>]*)>", r"&lt;\1&gt;", html)


_SIGNATURE = re.compile(r'<div class="doc-signature highlight">.*?</div>\s*', re.DOTALL)
"""The first one on the page of a class is the call of the class."""


def _folded(signature: re.Match[str]) -> str:
    # A call without arguments is short, and often the one that users need.
    if re.search(r"</span><span class=\"p\">\(\)</span>", signature[0]):
        return signature[0]
    return f"<details>\n<summary>Constructor</summary>\n{signature[0]}</details>\n"


_ATTRIBUTE = re.compile(
    r'<div class="doc doc-object doc-attribute">\s*<h\d id="([^"]+)"(?:(?!</h\d>).)*</h\d>\s*'
    r'(?:<div class="doc-signature highlight">(?:(?!</div>).)*</div>\s*)?'
    r'<div class="doc doc-contents ">\s*((?:<p>(?:(?!</?p>).)*</p>\s*)+)</div>\s*</div>',
    re.DOTALL,
)
"""The section of an attribute whose docstring consists of paragraphs: the anchor and these."""


def without_repeated_attributes(output: str) -> str:
    """Move the descriptions of attributes into the list of attributes, and drop their sections.

    An entry of the list begins like the section. It gets the anchor and the text of the section.
    """
    for found in [*_ATTRIBUTE.finditer(output)]:
        anchor, paragraphs = found.groups()
        entry = re.compile(
            rf'<a [^>]*href="#{re.escape(anchor)}">([^<]*)</a>(</code></b>(?:(?!</li>).)*?'
            r'<div class="doc-md-description">\s*)<p>((?:(?!</?p>).)*)</p>(?=\s*</div>\s*</li>)',
            re.DOTALL,
        )
        listed = entry.search(output)
        if listed is None or not paragraphs.startswith(f"<p>{listed[3]}"):
            continue
        whole = f'<span id="{anchor}">{listed[1]}</span>{listed[2]}{paragraphs.rstrip()}'
        output = f"{output[: listed.start()]}{whole}{output[listed.end() :]}"
        output = output.replace(found[0], "", 1)
    return output


def on_post_page(output: str, **_: object) -> str:
    """Refuse a page that loads anything from a network, and make the HTML shorter.

    The indentation of the theme and repeated descriptions of attributes are dropped.
    """
    output = without_repeated_attributes(output)
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
