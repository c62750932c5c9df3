"""The notebooks of the documentation run, and print what they show."""

from __future__ import annotations

import warnings
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.test_docs import agree

KEPT = {"proof": ["proof.json"]}  # the files that a notebook says it keeps
NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def printed(cell) -> list[str]:
    """Return the lines that a cell of code has written, and the text of its last value."""
    texts = [one.get("text") or one.get("data", {}).get("text/plain", "") for one in cell.outputs]
    return "".join(texts).splitlines()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path, tmp_path):
    stored = nbformat.read(path, as_version=4)
    run = nbformat.read(path, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the messages between the client and the kernel
        client = NotebookClient(run, timeout=300, resources={"metadata": {"path": tmp_path}})
        client.execute()
    codes = [
        (then, now)
        for then, now in zip(stored.cells, run.cells, strict=True)
        if then.cell_type == "code"
    ]
    assert sum(bool(then.outputs) for then, _ in codes) >= 4
    for then, now in codes:
        shown, found = printed(then), printed(now)
        assert len(shown) == len(found), now.source
        for one, other in zip(found, shown, strict=True):
            assert agree(one, other), (one, other)
    assert [file.name for file in tmp_path.iterdir()] == KEPT.get(path.stem, [])


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 3
