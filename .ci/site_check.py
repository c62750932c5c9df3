"""Look at the built documentation as a reader does: every page, wide and narrow, and the search.

Usage: python .ci/site_check.py [SITE]. It needs Chromium. The exit status is 1 if a page scrolls
sideways, writes an error to the console, loads something from another host, or has a picture
without a text; or if a question of QUESTIONS does not find its page first within half a second.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.browser import CHROMIUM, Browser, served

WIDTHS = (1280, 390)

QUESTIONS = {
    "choose k": "choose/",
    "installation": "",
    "wrong labels": "x_and_y/",
    "soft margin": "choose/",
    "certificate": "certificates/",
    "check a theorem": "theorem/",
    "verify cvxpy": "verify/",
    "regret": "online/",
    "AdaBoost": "boosters/",
    "interior point": "mathematics/",
    "conjugate": "relaxations/",
    "own relaxation": "my_relaxation/",
    "shortest path": "routes/",
    "portfolio": "portfolios/",
    "random forest": "ensembles/",
    "counterexample": "findings/",
    "exit status": "file_formats/",
    "MarginBoostClassifier": "x_and_y/",
    "Capped": "relaxations/",
    "HiGHS": "suite/",
}
"""What a reader types, and the page that should be found first."""


def addresses(site: Path) -> list[str]:
    """Return the pages of the site, of the reference one in ten."""
    pages = sorted(str(path.parent.relative_to(site)) for path in site.rglob("index.html"))
    objects = [page for page in pages if page.startswith("api/")]
    chosen = [page for page in pages if not page.startswith("api/")] + objects[::10]
    return ["" if page == "." else f"{page}/" for page in chosen]


def faults(browser: Browser, address: str, page: str) -> Iterator[str]:
    """Yield what is wrong with a page at the present width."""
    browser.errors.clear()
    browser.requests.clear()
    browser.open(f"{address}/{page}")
    wide = browser.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if wide > 0:
        yield f"the page is {wide} px too wide"
    untold = "[...document.images].filter(x => !x.alt && !x.closest('a')).map(x => x.src)"
    yield from (f"no text for the picture {source}" for source in browser.evaluate(untold))
    yield from browser.errors
    foreign = {url for url in browser.requests if not url.startswith((address, "data:", "blob:"))}
    yield from (f"loads {url}" for url in foreign)


def found(browser: Browser, question: str) -> tuple[list[str], float]:
    """Return the pages that a search finds, the first one first, and the seconds it took."""
    browser.evaluate("document.querySelector('.md-search__input').focus()")
    browser.wait("document.querySelector('.md-search-result__meta').innerText.includes('Type')")
    start = time.monotonic()
    browser.evaluate(
        f"(box => {{ box.value = {question!r};"
        " for (const kind of ['input', 'keyup']) box.dispatchEvent(new Event(kind)); })"
        "(document.querySelector('.md-search__input'))"
    )
    browser.wait("!document.querySelector('.md-search-result__meta').innerText.includes('Type')")
    seconds = time.monotonic() - start
    links = "[...document.querySelectorAll('.md-search-result__item > a')].map(x => x.pathname)"
    return [link.lstrip("/") for link in browser.evaluate(links)], seconds


def main(site: Path) -> int:
    """Print what is wrong; return the exit status."""
    wrong = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        served(site) as address,
        Browser(Path(folder)) as browser,
    ):
        pages = addresses(site)
        for width in WIDTHS:
            browser.resize(width)
            for page in pages:
                for fault in faults(browser, address, page):
                    wrong += 1
                    print(f"{page or 'home'} at {width} px: {fault}")
        browser.resize(WIDTHS[0])
        for question, wanted in QUESTIONS.items():
            browser.open(f"{address}/choose/")
            links, seconds = found(browser, question)
            first = links[0] if links else "no page"
            if first != wanted or seconds > 0.5:
                wrong += 1
                print(f"{question!r} finds {first}, not {wanted}, in {seconds:.2f} s")
    print(f"{len(pages)} pages at {len(WIDTHS)} widths, {len(QUESTIONS)} questions: {wrong} faults")
    return bool(wrong)


if __name__ == "__main__":
    if CHROMIUM is None:
        sys.exit("no Chromium; apt-get install chromium")
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "site")))
