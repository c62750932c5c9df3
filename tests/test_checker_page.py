"""The page that checks certificates in the browser: in a real one, with Python for browsers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from docs.hooks import checker
from tests.browser import CHROMIUM, Browser, served

PAGE = Path(__file__).parents[1] / "docs" / "check_certificate.md"
DONE = "['accepted', 'rejected', 'failed'].includes(document.querySelector('output').dataset.state)"
ICON = "<link rel=icon href=data:,>"  # which a browser requests otherwise
VERDICT = "document.querySelector('output').textContent"


@pytest.fixture
def site(tmp_path):
    """Serve the files of the page, and the page itself; yield its address."""
    for path, content in checker.served().items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    for script in ("page.js", "worker.js"):
        (tmp_path / "checker" / script).write_bytes((PAGE.parent / "checker" / script).read_bytes())
    body = re.search(r'<div id="checker".*</script>', PAGE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "index.html").write_text(f"<!doctype html>{ICON}<body>{body[0]}", "utf-8")

    with served(tmp_path) as address:
        yield tmp_path, address


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.skipif(not checker.PYODIDE.exists(), reason="needs `npm ci` in docs/checker")
def test_a_certificate_is_accepted_and_a_tampered_one_is_rejected(site, tmp_path_factory):
    folder, address = site
    tampered = json.loads((folder / "checker" / "example.json").read_text())
    tampered["lower"] = "501/1000"
    (folder / "checker" / "tampered.json").write_text(json.dumps(tampered))
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        for name, words in (
            ("example", "accepted, exact: 1/2 <= rho <= 1/2"),
            ("tampered", "REJECTED: the lower bound is above what w proves"),
        ):
            browser.open(f"{address}/page/?file=../checker/{name}.json")
            browser.wait(DONE)
            assert browser.evaluate(VERDICT) == words
        assert browser.errors == []
        assert all(request.startswith(address) for request in browser.requests)


def test_the_page_says_how_to_check_without_a_browser():
    script = (PAGE.parent / "checker" / "page.js").read_text("utf-8")
    assert "relaxboost check FILE" in script
    assert "relaxboost check FILE" in PAGE.read_text("utf-8")
