"""Formulas as MathML, which browsers set without a script: mkdocs does it when it builds."""

import re
from html import unescape

from latex2mathml.converter import convert

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def _mathml(latex: str, display: str) -> str:
    found = str(convert(unescape(latex).strip(), display=display))
    # Without a space, the logarithm of d reads as one word.
    return found.replace("<mi>log</mi>", '<mi>log</mi><mspace width="0.167em" />')


def on_page_content(html: str, **_: object) -> str:
    """Set the formulas of a page, which pymdownx.arithmatex has marked."""
    text = _INLINE.sub(lambda found: _mathml(found[1], "inline"), html)
    return _DISPLAY.sub(
        lambda found: f'<div class="formula">{_mathml(found[1], "block")}</div>', text
    )
