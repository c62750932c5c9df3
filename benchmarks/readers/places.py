"""The places of files of public data sets, and the message if a file is missing."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from relaxboost._core.errors import InputError

ENVIRONMENT = "RELAXBOOST_DATA"
"""The environment variable that names the folder of data."""

SOURCES = {
    "connect4": "UCI Connect-4, https://archive.ics.uci.edu/dataset/26 (connect-4.data), or PMLB "
    "connect_4 (connect-4.tsv.gz)",
    "letter": "UCI Letter Recognition, https://archive.ics.uci.edu/dataset/59",
    "pendigits": "UCI Pen-Based Recognition of Handwritten Digits, "
    "https://archive.ics.uci.edu/dataset/81",
    "satimage": "UCI Statlog (Landsat Satellite), https://archive.ics.uci.edu/dataset/146",
    "mq2008": "LETOR 4.0, https://www.microsoft.com/en-us/research/project/"
    "letor-learning-rank-information-retrieval/",
    "mslr-web10k": "https://www.microsoft.com/en-us/research/project/mslr/",
    "movingai": "MovingAI's benchmarks, https://movingai.com/benchmarks/",
    "tntp": "Transportation Networks for Research, "
    "https://github.com/bstabler/TransportationNetworks",
    "borlange": "the recursive-logit code of Mai, "
    "https://github.com/maitien86/RecursiveLogit.Classical.V2 (folder Input)",
    "rcm-airl": "the code of Zhao and Liang, https://github.com/liangchunyaobing/RCM-AIRL (folder "
    "data)",
    "rasters": "wherever its layers come from; public elevation is at https://opentopography.org/ "
    "and https://earthexplorer.usgs.gov/",
}
"""The source of each public data set."""


def data_folder(given: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of data: `given`, or the value of the environment variable.

    Raises
    ------
    InputError
        If there is neither, or if it is not a folder.
    """
    named = given if given is not None else os.environ.get(ENVIRONMENT)
    if not named:
        raise InputError(
            f"no folder of data: give --data DIR, or set {ENVIRONMENT} to the folder that holds "
            "the files"
        )
    folder = Path(named)
    if not folder.is_dir():
        raise InputError(f"the folder of data {folder} does not exist; create it, or name another")
    return folder


def look(folder: Path, name: str, *files: str) -> Path | None:
    """Return the first of `files` in DIR/<set>, DIR/<SET> or DIR, plain or with .gz; or None."""
    for place in (folder / name, folder / name.upper(), folder):
        for file in files:
            for path in (place / file, place / f"{file}.gz"):
                if path.is_file():
                    return path
    return None


def find(folder: Path, name: str, *files: str) -> Path:
    """Return the path that `look` finds, or raise InputError with the names and their source."""
    found = look(folder, name, *files)
    if found is None:
        names = " or ".join(files)
        raise InputError(
            f"{name} needs {names} (or with .gz), which is neither in {folder / name} nor in "
            f"{folder}; get it from {SOURCES[name]}"
        )
    return found


def located(path: str | os.PathLike[str], source: str) -> Path:
    """Return the file `path` or `path`.gz, or raise InputError that names its `source`."""
    given = Path(path)
    for place in (given, Path(f"{given}.gz")):
        if place.is_file():
            return place
    what = "is a folder; name a file in it" if given.is_dir() else "does not exist; name another"
    raise InputError(f"{given} {what}, or get it from {source}")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line that is not blank; the file may be gzipped.

    Raises
    ------
    InputError
        If the file is not text or is a damaged archive.
    """
    number = 0
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if packed
            else path.open("rt", encoding="utf-8") as file
        ):
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.strip()
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(
            f"{path}, after line {number}: cannot be read ({error}); get the file again"
        ) from None
