"""Files: paths are checked before work starts, and a file is written completely or not at all."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relaxboost._core.errors import InputError

_PAUSE, _SHARE = 0.5, 20.0
"""The least time between two writes: in seconds, and as a multiple of the time of the last write.
"""


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return `path` as a Path, or raise an InputError if it is no path."""
    if isinstance(path, str | os.PathLike):
        return Path(path)
    raise InputError(
        f"a file is named by a path, such as 'file.json', got a {type(path).__name__}; give a path"
    )


def check_input(path: str | os.PathLike[str], folder: bool = False) -> Path:
    """Return `path` if it is a file (with `folder`, also a folder), or raise an InputError."""
    given = as_path(path)
    if given.is_file() or (folder and given.exists()):
        return given
    what = "is no file" if given.exists() else "does not exist"
    raise InputError(f"{given} {what}; check the path")


@contextmanager
def shallow() -> Iterator[None]:
    """Raise ValueError instead of RecursionError if a text that is parsed nests too deeply."""
    try:
        yield
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None


def check_output(path: str | os.PathLike[str], suffixes: tuple[str, ...] = ()) -> Path:
    """Return `path` if a file with one of the `suffixes` can be written there.

    Raises
    ------
    InputError
        If the folder does not exist or is not writable, or the path has none of the `suffixes`."""
    target = as_path(path)
    if suffixes and target.suffix.lower() not in suffixes:
        raise InputError(f"cannot write {target}: use a name that ends in {', '.join(suffixes)}")
    if target.is_dir():
        raise InputError(f"cannot write {target}: it is a folder")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {target}: folder {target.parent} does not exist; create it")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"cannot write {target}: folder {target.parent} is not writable")
    return target


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the name of a file to operating system errors, which lack it if a write fails."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to a temporary file in the same folder, then rename that file to `path`."""
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
    """The times at which to rewrite a file: at most every half second and 5% of the time."""

    def __init__(self) -> None:
        self._next = time.perf_counter() + _PAUSE

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.perf_counter() >= self._next

    def wrote(self, begun: float) -> None:
        """Record that a write has ended; it began at the time `begun` of `time.perf_counter`."""
        ended = time.perf_counter()
        self._next = ended + max(_PAUSE, _SHARE * (ended - begun))
