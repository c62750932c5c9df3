"""The gallery: a page for each script of docs/gallery, and an index of their pictures."""

import ast
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parents[1] / "gallery"

SECTIONS = {
    "Margins and ensembles": ["margins", "path", "hardest", "ensemble"],
    "Relaxations": ["penalty", "conjugate", "distribution", "groups"],
    "Boosters": ["steps", "adaboost", "hedge"],
    "Any convex loss": ["quantiles", "huber", "residual", "ranking"],
    "Online learning": ["regret", "proxies"],
    "Costs of paths": ["land", "town"],
}
"""The scripts, in the order of the index."""

NAMES = [name for names in SECTIONS.values() for name in names]

GUIDES = {
    "Margins and ensembles": ("The game in five minutes", "game.md"),
    "Relaxations": ("Relaxations", "relaxations.md"),
    "Boosters": ("Boosters side by side", "boosters.md"),
    "Any convex loss": ("Boosting any convex loss", "functional.md"),
    "Online learning": ("From a stream to a predictor", "online.md"),
    "Costs of paths": ("Costs learned from paths", "planning.md"),
}
"""The title and the file of the page that explains each section."""

INTRODUCTION = """# Gallery

Each picture answers one question about relaxboost. Click it for the complete script of 10 to 25
lines that draws it.
"""


def parts(name: str) -> tuple[str, str, str]:
    """Return the title of a script, the sentences below it, and the code."""
    text = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    title, _, sentences = docstring.partition("\n\n")
    return title, sentences, text.split('"""', 2)[2].strip()


def pages() -> dict[str, str]:
    """Return the pages in Markdown, by their paths in the documentation."""
    found: dict[str, str] = {}
    index = [INTRODUCTION]
    for section, names in SECTIONS.items():
        index += [f"## {section}", "", '<div class="thumbnails" markdown>', ""]
        guide, page = GUIDES[section]
        for name in names:
            title, sentences, code = parts(name)
            picture = f"![{title}](../images/gallery/{name}.png)"
            index += [f"[{picture} {title}]({name}.md)", ""]
            found[f"gallery/{name}.md"] = (
                f"[Gallery](index.md) › {section}\n\n# {title}\n\n{sentences}\n\n{picture}\n\n"
                f"```python\n{code}\n```\n\n[Download the script]({name}.py). "
                f"[{guide}](../{page}) explains more.\n"
            )
        index += ["</div>", ""]
    found["gallery/index.md"] = "\n".join(index)
    return found


def on_files(files: Any, config: Any, **_: object) -> Any:
    """Add the pages."""
    from mkdocs.structure.files import File  # which the tests do without

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files
