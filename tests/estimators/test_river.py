"""A pipeline of river with an online estimator, as on the page of online learners."""

import re
from pathlib import Path

import pytest

import relaxboost as rb

pytest.importorskip("river")


def test_the_page_shows_what_it_prints(capsys):
    text = (Path(rb.__file__).parent.parent / "docs" / "online_learners.md").read_text()
    code, shown = re.search(r"```py\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL).groups()
    exec(code, {})
    assert capsys.readouterr().out == shown
