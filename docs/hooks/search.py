"""The weight of each page in the search: guides before reference, and reference before claims."""

from typing import Any

BOOSTS = {
    "Home": 6.0,
    "Tutorials": 5.0,
    "How-to": 5.0,
    "Explanation": 3.0,
    "Reference": 2.0,
    "Gallery": 0.5,
    "Findings": 1.0,
    "Benchmarks": 0.5,
}
"""The weight by the tab under which a page stands."""

KEYWORDS = {
    "index.md": ["install", "installation"],
    "x_and_y.md": ["wrong labels", "MarginBoostClassifier", "classifier"],
    "theorem.md": ["theorem"],
    "my_relaxation.md": ["own relaxation"],
    "routes.md": ["shortest path"],
    "portfolios.md": ["portfolio", "CVaR"],
    "choose.md": ["choose k", "soft margin"],
    "verify.md": ["verify", "cvxpy"],
    "ensembles.md": ["random forest"],
    "certificates.md": ["certificate"],
    "boosters.md": ["AdaBoost", "LPBoost", "SoftBoost", "ERLPBoost"],
    "mathematics.md": ["interior point"],
    "online.md": ["regret"],
    "relaxations.md": ["Capped", "conjugate"],
    "file_formats.md": ["exit status"],
    "findings.md": ["counterexample"],
    "suite.md": ["HiGHS"],
}
"""Words under which a page is to be found first."""

REST = 0.3
"""The weight of pages that stand under no tab: those of the objects of the API."""


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Give a page the weight of its tab, and its keywords."""
    top = page.ancestors[-1].title if page.ancestors else page.title
    page.meta.setdefault("search", {}).setdefault("boost", BOOSTS.get(top, REST))
    if words := KEYWORDS.get(page.file.src_uri):
        page.meta["tags"] = words
    return markdown
