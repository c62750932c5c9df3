"""Small files for the tests of readers, and the ways in which any file can be broken."""

from __future__ import annotations

import gzip

import pytest

from relaxboost._core.errors import InputError


def write(path, text, packed=False):
    """Write text, plain or with .gz, and return the path without .gz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if packed:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def changed(text, old, new):
    """Replace what is there once, so that a case of a table cannot silently change nothing."""
    assert text.count(old) == 1, (old, text.count(old))
    return text.replace(old, new)


def check_unreadable(read, path, text, source):
    """Check that a reader refuses what is missing, a folder, damaged, or no text."""
    with pytest.raises(InputError, match=f"(?s)missing.*does not exist.*{source}"):
        read(path.with_name("missing"))
    folder = path.with_name("folder")
    folder.mkdir()
    with pytest.raises(InputError, match=f"(?s)is a folder.*{source}"):
        read(folder)
    packed = gzip.compress(text.encode(), mtime=0)
    damaged = {
        "cut short": packed[: len(packed) * 2 // 3],
        "only the mark of gzip": packed[:2],
        "a wrong checksum": packed[:-8] + bytes(8),
        "not UTF-8": text.encode() + b"\xff\xfe\n",
        "UTF-16": text.encode("utf-16"),
    }
    for content in damaged.values():
        path.write_bytes(content)
        with pytest.raises(InputError, match="cannot be read"):
            read(path)
    for blank in (b"", b"\n  \n", gzip.compress(b"", mtime=0)):
        path.write_bytes(blank)
        with pytest.raises(InputError, match=str(path)):
            read(path)
