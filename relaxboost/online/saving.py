"""Learners in files: a small archive of arrays, written whole, from which a run goes on exactly."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.files import write_atomically

FORMAT = "relaxboost learner 1"
"""How a file says what it is; the number changes with the content."""


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write what a state holds: arrays to the bit, the rest as JSON."""
    arrays: dict[str, Any] = {n: part for n, part in state.items() if isinstance(part, np.ndarray)}
    rest = {name: part for name, part in state.items() if name not in arrays}
    text = json.dumps({"format": FORMAT, **rest}).encode()
    content = io.BytesIO()
    np.savez(content, header=np.frombuffer(text, np.uint8), **arrays)
    write_atomically(path, content.getvalue())


def read_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what was written.

    Raises
    ------
    InputError
        For a file that cannot be read, is damaged, or is none of these.
    """
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as content:
            header = json.loads(content["header"].tobytes())
            arrays = {name: content[name] for name in content.files if name != "header"}
        known = header.pop("format")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile):
        said = "give one that Learner.save, or a checkpoint, wrote"
        raise InputError(f"{path} is no learner, or damaged; {said}") from None
    if known != FORMAT:
        raise InputError(f"{path} has the format {known!r:.60}, and this version reads {FORMAT!r}")
    return {**header, **arrays}


def load(path: str | os.PathLike[str], method: Any) -> Any:
    """Return the learner in a file of `Learner.save`, or in a checkpoint of `progressive`.

    It goes on as if nothing had been, bit for bit.

    Parameters
    ----------
    path : path
    method : OnlineMethod
        The options that it was made with; the file has their names only.

    Raises
    ------
    InputError
        For a file that cannot be read, or that of another method.
    """
    state = read_state(path)
    try:
        return method.restored(state)
    except InputError as error:
        raise InputError(f"cannot go on from {path}: {error}") from None
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"{path} is damaged: {error}") from None
