"""The formulas of docstrings: mkdocs sets their subscripts, superscripts and relations.

Docstrings have formulas in Unicode, such as Σ_i d_i <= 1, because terminals show them too.
"""

import re
from html import unescape
from typing import Any

_TAG = re.compile(r"(<[^>]+>)")
_BLOCK = re.compile(r'<div class="[^"]*highlight"><pre>(.*?)</pre></div>', re.DOTALL)
_FORMULA = re.compile(r"^[^>]*[Σγλ‖][^>]*$")
_CODE = re.compile(r"(?<!</span>)<code>([^<]*(?:[=≤≥∈⇒⇔]|&[lg]t;)[^<]*)</code>")
"""Code within a sentence that has a relation sign. On the pages of claims, it is a formula."""
_RELATIONS = {" &lt;= ": " ≤ ", " &gt;= ": " ≥ ", " -&gt; ": " → "}
_VERBATIM = re.compile(r"<(/?)(code|pre|math|script|style|svg)\b")
_SCRIPTED = re.compile(
    r"(?P<base>(?:(?<![\w.])|(?<=[AᵀΣ0-9α-ω]))"
    r"(?:(?:arg)?(?:min|max)|sup|inf|log|gap|Exp|AvgMin|d0|[24](?=\^)|[A-Za-zα-ωΑ-Ω]\u0302?['*]?)|[\])‖∇ℝ|])"
    r"(?P<mark>[_^])"
    r"(?P<script>\{[^{}]*\}|\([^()]*\)|inf|emp|head|tail|[*+∞]|[A-Za-z0-9]{1,2}|[α-ω]|P\u0302)"
    r"(?P<sign>_[+*]|\^[a-z](?![a-z]))?"
    r"(?![A-Za-z0-9_{\u0302])"
)
"""A letter or a bracket with a subscript or a superscript, as docstrings write it: d_i, w_{t+1}."""


def _scripted(found: re.Match[str]) -> str:
    """Return d_i with its script in HTML, which keeps the font of the text around it."""
    script = found["script"].strip("{}").replace("inf", "∞").replace(" in ", " ∈ ")
    tag = "sub" if found["mark"] == "_" else "sup"
    sign = found["sign"] or ""
    if sign:  # the second script of [x]^m_+ or B_1^n
        sign_tag = "sub" if sign[0] == "_" else "sup"
        sign = f"<{sign_tag}>{sign[1:]}</{sign_tag}>"
    return f"{found['base']}<{tag}>{_SCRIPTED.sub(_scripted, script)}</{tag}>{sign}"


def _shown(found: re.Match[str]) -> str:
    """Return a block of a docstring as a formula if it is one, and as code otherwise."""
    text = re.sub(r"<[^>]+>", "", found[1]).strip()
    if _FORMULA.match(unescape(text).replace(">=", "≥")):
        return f'<div class="formula">{text}</div>'
    return found[0]


def _plain_formulas(html: str) -> str:
    """Set the subscripts, the superscripts and the relations of text that is not code."""
    depth, parts = 0, _TAG.split(html)
    for i, part in enumerate(parts):
        if i % 2:
            if tag := _VERBATIM.match(part):
                depth += -1 if tag[1] else 1
        elif not depth:
            text = _SCRIPTED.sub(_scripted, part)
            for ascii_form, sign in _RELATIONS.items():
                text = text.replace(ascii_form, sign)
            parts[i] = text
    return "".join(parts)


def on_page_content(html: str, page: Any, **_: object) -> str:
    """Set the formulas of a page that are text, code of a claim, or blocks of a docstring."""
    if page.file.src_uri.startswith(("api/", "certificate_format")):
        html = _BLOCK.sub(_shown, html)
    if page.file.src_uri.startswith("claims/"):
        html = _CODE.sub(r'<span class="inline-formula">\1</span>', html)
    return _plain_formulas(html)
