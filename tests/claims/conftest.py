"""Files of odd claims."""

from __future__ import annotations

import pytest

from tests.claims.toys import HEAD


@pytest.fixture
def odd(tmp_path):
    """Write a file of odd claims; return its path."""

    def write(lines):
        (tmp_path / "odd.py").write_text(HEAD + lines)
        return tmp_path / "odd.py"

    return write
