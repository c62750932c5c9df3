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

REST = 0.3
"""The weight of pages that stand under no tab: those of the objects of the API."""


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Give a page the weight of its tab, if it does not have one of its own."""
    top = page.ancestors[-1].title if page.ancestors else page.title
    page.meta.setdefault("search", {}).setdefault("boost", BOOSTS.get(top, REST))
    return markdown
