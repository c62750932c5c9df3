"""Path checks before a computation starts, and atomic file writes."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relaxboost._core.errors import InputError
from relaxboost._core.progress import SECONDS_BETWEEN_UPDATES

WAIT_PER_WRITE = 20.0
# Writes then take at most 5 % of the time of a run.
"""The minimum pause after a file write, as a multiple of the time the write took."""


def as_path(path: str | os.PathLike[str]) -> Path:
    """Convert a user's file name to a `Path`, or raise an InputError."""
    if isinstance(path, str | os.PathLike):
        return Path(path)
    raise InputError(
        f"a file name must be a path, such as 'file.json', got a {type(path).__name__}; pass a path"
    )


def check_input(path: str | os.PathLike[str], folder: bool = False) -> Path:
    """Return an input file as a Path, or raise an InputError if it does not exist.

    If `folder` is true, folders are also accepted.
    """
    given = as_path(path)
    if given.is_file() or (folder and given.exists()):
        return given
    what = "is no file" if given.exists() else "does not exist"
    raise InputError(f"{given} {what}; check the path")


@contextmanager
def shallow() -> Iterator[None]:
    """Raise a ValueError instead of a RecursionError within the context.

    Parsers, such as the JSON parser, raise a RecursionError if brackets are nested too deeply.
    """
    try:
        yield
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None


def check_output(path: str | os.PathLike[str], suffixes: tuple[str, ...] = ()) -> Path:
    """Return an output file as a Path, or raise an InputError if it cannot be written.

    If `suffixes` are given, the name must end in one of them.
    """
    target = as_path(path)
    if suffixes and target.suffix.lower() not in suffixes:
        raise InputError(f"cannot write {target}: use a name that ends in {', '.join(suffixes)}")
    if target.is_dir():
        raise InputError(f"cannot write {target}: it is a folder; add a file name")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {target}: folder {target.parent} does not exist; create it")
    if not os.access(target.parent, os.W_OK):
        raise InputError(
            f"cannot write {target}: folder {target.parent} is not writable; use another folder"
        )
    return target


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the path to operating-system errors within the context, because some errors lack it."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that it has either its old or its new content, even after a failure."""
    temporary = ""
    with naming(path):
        try:
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, path)
        except BaseException:
            if temporary:
                Path(temporary).unlink(missing_ok=True)
            raise


class Pace:
    """A timer that limits how often a run rewrites a file.

    Two writes are at least half a second apart, and all writes together take at most 5 % of the
    time of the run.
    """

    def __init__(self) -> None:
        self._next = time.perf_counter() + SECONDS_BETWEEN_UPDATES

    @property
    def due(self) -> bool:
        """Whether the file can be rewritten now."""
        return time.perf_counter() >= self._next

    def wrote(self, begun: float) -> None:
        """Record the end of a write that started at `begun`, a time of `time.perf_counter`."""
        ended = time.perf_counter()
        self._next = ended + max(SECONDS_BETWEEN_UPDATES, WAIT_PER_WRITE * (ended - begun))
