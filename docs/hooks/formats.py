"""The format of certificates, which stands in the package, as a page of the documentation."""

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from relaxboost.certificates import check

FORMAT = Path(check.__file__).with_name("FORMAT.md")


def on_files(files: Files, config: Any, **_: object) -> Files:
    """Add the page; the two programs that it links are served beside it."""
    text = FORMAT.read_text(encoding="utf-8").replace("](check", "](checker/check")
    files.append(File.generated(config, "certificate_format.md", content=text))
    return files
