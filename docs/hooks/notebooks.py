"""A page for each notebook, with the outputs that are stored in it."""

from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def on_files(files: Any, config: Any, **_: object) -> Any:
    """Add the pages and their pictures."""
    from mkdocs.structure.files import File  # which the tests do without
    from nbconvert import MarkdownExporter

    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        names = {"unique_key": path.stem, "output_files_dir": path.stem}
        text, more = MarkdownExporter().from_filename(str(path), resources=names)
        link = f"[This page is a notebook]({path.name}): download it to run it.\n"
        title, _, rest = text.partition("\n")
        page = f"{title}\n\n{link}\n{rest}"
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=page))
        for name, content in more["outputs"].items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files
