"""The pages and pictures of claims, which mkdocs makes from the registry when it builds."""

from typing import Any

from claim_pages import ledger  # mkdocs imports hooks with their folder on the path
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: Any, **_: object) -> Files:
    """Add the overview, the pages of each source, and the pictures."""
    for path, content in ledger.built().items():
        files.append(File.generated(config, path, content=content))
    return files
