"""Saving and loading of online learners.

A loaded learner gives bitwise the same results as the saved learner.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.files import shallow, write_atomically

FORMAT = "relaxboost learner 1"
"""The name and version of the file format. The version changes with the content of the files."""


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write the state of a learner to a NumPy archive.

    Values other than arrays are stored as JSON.
    """
    arrays: dict[str, Any] = {k: part for k, part in state.items() if isinstance(part, np.ndarray)}
    rest = {name: part for name, part in state.items() if name not in arrays}
    # The header is an array of bytes, so that one archive of NumPy contains everything.
    text = json.dumps({"format": FORMAT, **rest}).encode()
    content = io.BytesIO()
    np.savez(content, header=np.frombuffer(text, np.uint8), **arrays)
    write_atomically(path, content.getvalue())


def remove_leftovers(path: Path) -> None:
    """Remove partial files next to `path` that killed runs have left."""
    for part in path.parent.glob(".*"):
        # The function `write_atomically` gives names of this form to the files that it writes
        # first.
        if re.fullmatch(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}", part.name):
            # A user's own file may have such a name, but its content is not the beginning of an
            # archive.
            with part.open("rb") as file:
                is_ours = b"PK\x03\x04".startswith(file.read(4))
            if is_ours:
                part.unlink(missing_ok=True)


def read_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the state of a learner from a file that `write_state` has written."""
    try:
        # Pickles could run code, so they are not permitted.
        file = io.BytesIO(Path(path).read_bytes())
        with np.load(file, allow_pickle=False) as content, shallow():
            header = json.loads(content["header"].tobytes())
            arrays = {name: content[name] for name in content.files if name != "header"}
        known = header.pop("format")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    # Damaged archives raise errors of many kinds, which depend on the version of NumPy.
    except Exception:
        remedy = "pass a file that Learner.save wrote, or a checkpoint"
        raise InputError(f"{path} is not a saved learner, or is damaged; {remedy}") from None
    if known != FORMAT:
        raise InputError(f"{path} has the format {known!r:.60}, but this version reads {FORMAT!r}")
    return {**header, **arrays}


def check_method(kept: str, here: str) -> None:
    """Raise an InputError if a saved learner belongs to another method.

    Methods are given by their `repr`. The error names the options that differ.
    """
    if kept == here:
        return
    was, now = _options(kept), _options(here)
    names = [name for name in now if was.get(name) != now[name]]
    # If the classes of the methods differ, a comparison of the options would not help.
    if "method" in names:
        names = ["method"]
    before, after = (
        ", ".join(f"{name}={options.get(name)}" for name in names) or said
        for options, said in ((was, kept), (now, here))
    )
    raise InputError(f"the learner was saved with {before}, and this method has {after}")


def _options(said: str) -> dict[str, str]:
    # The options are read from the representation of the method, which is a call with keywords.
    try:
        call: Any = ast.parse(said, mode="eval").body
        options = {str(option.arg): ast.unparse(option.value) for option in call.keywords}
        return {"method": ast.unparse(call.func), **options}
    except (SyntaxError, ValueError, AttributeError, RecursionError, MemoryError):
        # User-defined parts may have a representation that is not an expression of Python.
        return {"method": said}


def load(path: str | os.PathLike[str], method: Any) -> Any:
    """Load a saved learner or a checkpoint of `progressive`.

    Later results are bitwise the same as those of the saved learner.

    Parameters
    ----------
    path : path
        The path of the file, written by `Learner.save` or `progressive`.
    method : OnlineMethod
        The method of the learner. The file contains only its `repr`.

    Raises
    ------
    InputError
        If the file cannot be read, or belongs to another method.
    """
    state = read_state(path)
    try:
        return method.restored(state)
    except InputError as error:
        raise InputError(f"cannot load {path}: {error}") from None
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"{path} is damaged: {error}") from None
