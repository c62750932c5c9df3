"""Conversion of claims and tables of misprints to LaTeX."""

import re
import unicodedata
from fractions import Fraction
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost.certificates.export.latex import matrix, number, vector
from relaxboost.claims.claim import Claim
from relaxboost.claims.fields import MAX_DENOMINATOR
from relaxboost.claims.instance import CertifiedOptimum
from relaxboost.claims.measure import Slack
from relaxboost.claims.record import Statement
from relaxboost.claims.source import Source

MAX_POINT_ERROR = 1e-14
"""The largest difference between a number and the short fraction that is printed instead. Such
differences occur because game entries are rounded to doubles."""

MAX_POINT_ENTRIES = 10
"""The largest number of rows or columns of a game whose optimal points are printed."""

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta",
    "η": "eta", "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi",
    "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "varphi", "ψ": "psi", "Δ": "Delta",
    "χ": "chi", "ω": "omega", "Γ": "Gamma", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi",
    "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega", "Υ": "Upsilon",
}  # fmt: skip
_SYMBOLS = {c: rf"\{name}" for c, name in _GREEK.items()} | {
    "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "∈": r"\in", "∉": r"\notin", "∀": r"\forall",
    "∃": r"\exists", "∇": r"\nabla", "∂": r"\partial", "∞": r"\infty", "∫": r"\int",
    "√": r"\surd", "·": r"\cdot", "×": r"\times", "−": "-", "‖": r"\|", "⟨": r"\langle",
    "⟩": r"\rangle", "→": r"\to", "←": r"\gets", "↦": r"\mapsto", "⇒": r"\Rightarrow",
    "⇔": r"\Leftrightarrow", "∘": r"\circ", "≈": r"\approx", "∪": r"\cup", "∩": r"\cap",
    "⊂": r"\subset", "½": r"\tfrac12", "ℓ": r"\ell", "∧": r"\wedge", "±": r"\pm", "…": r"\dots",
    "<": "<", ">": ">", "|": "|", "\\": r"\setminus", "*": "{}^*", "=": "=", "+": "+",
    "⌈": r"\lceil", "⌉": r"\rceil", "⌊": r"\lfloor", "⌋": r"\rfloor", "∝": r"\propto",
    "°": r"{}^\circ", "ℝ": r"\mathbf{R}", "≡": r"\equiv", "⊆": r"\subseteq", "⊥": r"\bot",
    "∑": r"\sum", "∏": r"\prod", "∅": r"\emptyset", "≪": r"\ll", "≫": r"\gg", "∨": r"\vee",
    "¬": r"\neg", "∖": r"\setminus", "′": "'",
}  # fmt: skip


def _raised() -> dict[str, str]:
    """Return the LaTeX for Unicode superscripts and subscripts, such as ² and ₁."""
    found = {}
    for c in map(chr, range(0xAA, 0x20A0)):
        kind, _, base = unicodedata.decomposition(c).partition(" ")
        if kind in ("<super>", "<sub>"):
            letter = chr(int(base, 16))
            if letter in _SYMBOLS or letter.isascii():
                found[c] = f"{{}}{'^' if kind == '<super>' else '_'}{_SYMBOLS.get(letter, letter)}"
    return found | {"ᵀ": r"{}^\top"}


_RAISED = _raised()
_SYMBOLS |= _RAISED
_PLAIN = {"{": r"\{", "}": r"\}", "_": r"\_", "^": r"\^{}", "~": r"\~{}"}
_PLAIN |= {"–": "--", "“": "``", "”": "''"} | {c: f"\\{c}" for c in "#$%&"}
_ACCENTS = {"̂": r"\hat", "̃": r"\tilde", "̄": r"\bar"}
_ACCENTED = {"â": r"\hat{a}", "ŵ": r"\hat{w}", "ŷ": r"\hat{y}", "ĥ": r"\hat{h}"}
_LETTERS = {"á": r"\'a", "é": r"\'e", "ü": r"\"u", "ö": r"\"o", "ä": r"\"a", "ø": r"\o{}"}
_MARKS = "".join(_ACCENTS)
_SCRIPT = re.compile(
    rf"([_^])(\{{[^{{}}]*\}}|\([^()]*\)|[−-]?(?:[^\W_{''.join(_RAISED)}][{_MARKS}]?)+\*?|[*+∞⊥])"
)
_LETTER = re.compile(rf"(?<![A-Za-z0-9_'’.-])[B-HJ-Zb-z](?![A-Za-z0-9_'’{_MARKS}-]|\.[\s\w])")
_VARIABLE = re.compile(rf"(?<![A-Za-z0-9_'’])(?:[A-Za-z]|A[wvd])(?![A-Za-z0-9_’{_MARKS}])")
_MARK = re.compile(f"(.)([{_MARKS}]+)")
_ACCENT = r"\\(?:['\"]\w|[o^~]\{\})"
_WORD = re.compile(rf" *(?:(?:[A-Za-z]|{_ACCENT}){{2,}}|{_ACCENT}) *")
"""A word in a formula, with the spaces around it. A single letter is a variable."""
_FUNCTIONS = ("max", "min", "sup", "inf", "log", "ln", "exp", "arg")
"""The mathematical functions that have LaTeX commands."""


def in_a_paper(claim: Claim) -> str:
    """Return a claim and its smallest recorded counterexample as LaTeX for a paper.

    The LaTeX needs the package amsmath. The two sides of the claim are printed as fractions if they
    are near short fractions, and are rounded otherwise. An exact optimum is printed with the two
    points that prove it, if these are short.
    """
    lines = [
        f"% {claim.command('check', '')}",
        rf"\paragraph{{{as_latex(claim.id)}.}} {as_latex(claim.source.reference)} "
        rf"({as_latex(claim.location)}):",
        *_statement(claim.stated),
    ]
    if claim.given:
        lines.append(f"Given: {as_latex(claim.given).rstrip('.')}.")
    if claim.counterexamples:
        found = claim.refutation()
        fields = [f"{_name(name)}={_set(value)}" for name, value in found.instance.items()]
        data = r",\quad ".join(fields)
        lines += ["It is false for", rf"\[ {data}. \]", _sides(found.slack)]
        lines += _optima(claim, found.instance)
    elif not claim.has_record:
        lines.append(r"\emph{Not checked here.} Its author expects that the claim holds.")
    else:
        evidence = claim.evidence(claim.stated)
        lines.append(rf"\emph{{On record:}} {claim.status}; this rests on: {evidence}.")
    for correction in claim.corrections:
        title = "What is true" if claim.has_record else "Correction, not checked here"
        lines += [rf"\emph{{{title}:}}", *_statement(correction)]
    return "\n".join(lines) + "\n"


def errata(source: Source) -> str:
    """Return the misprints of a publication as a LaTeX table, which needs the package booktabs."""
    rows = []
    for one in source.misprints:
        cells = one.place, one.printed, one.read
        rows.append(" & ".join(as_latex(cell) for cell in cells) + r" \\")
    head = [
        f"% relaxboost claims show {source.key} --latex",
        r"\begin{tabular}{p{.2\linewidth}p{.38\linewidth}p{.38\linewidth}}",
        r"\toprule",
        r"where & printed & read \\",
        r"\midrule",
    ]
    return "\n".join([*head, *rows, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _statement(statement: Statement) -> list[str]:
    lines = [f"{as_latex(statement.words).rstrip('.')}."]
    if statement.formula:
        lines.append(rf"\begin{{quote}} {as_latex(statement.formula, formula=True)} \end{{quote}}")
    return lines


def _sides(slack: Slack) -> str:
    where = f" ({as_latex(slack.where)})" if slack.where else ""
    at = f" in round {slack.round}" if slack.round else ""
    which = "one side is" if slack.equality else "the side that should be at most the other is"
    left, right = _value(slack.left, slack.right), _value(slack.right, slack.left)
    return f"There {which} ${left}$, and the other ${right}${where}{at}."


def _optima(claim: Claim, written: dict[str, Any]) -> list[str]:
    """Return a LaTeX sentence for each exact optimum of an instance with short points d and w."""
    x = claim.instance(written)
    claim.stated.measure(x)
    return list(dict.fromkeys(filter(None, map(_optimum, x.optima))))


def _optimum(found: CertifiedOptimum) -> str:
    """Return a LaTeX sentence with an exact optimum and the points that prove it.

    The result is empty if the optimum is not exact, or if the numbers are not short.
    """
    game, value, n = found.game, found.bracket.lower, found.game.n or 0
    if value != found.bracket.upper or max(game.m, n) > MAX_POINT_ENTRIES:
        return ""
    weights = dict(zip(*found.w, strict=True))
    try:
        optimum = number(_short(value))
        d = vector(map(_short, found.d))
        w = vector(_short(weights.get(j, 0)) for j in range(n))
    except ValueError:
        return ""
    # The matrix of the game may differ from that of the instance. A function has no short name.
    name = re.sub("<.*>", "...", repr(game).replace(f"{game.matrix!r}, ", ""))
    return (
        f"The optimum of {as_latex(name, formula=True)} with the ${game.m}\\times{n}$ matrix is "
        f"${optimum}$: $d={d}$ proves that it is at most this, and $w={w}$ proves that it is at "
        "least this."
    )


def _short(x: Any) -> Fraction:
    """Return the short fraction that is printed instead of a number.

    The fraction may differ slightly from the number. For example, a game stores 1/10 as the nearest
    double. Raise ValueError if there is no such fraction.
    """
    short = Fraction(x).limit_denominator(MAX_DENOMINATOR)
    if abs(short - Fraction(x)) > MAX_POINT_ERROR:
        raise ValueError
    return short


def _value(x: float, other: float | None = None) -> str:
    """Return x in LaTeX, with enough digits to differ from `other`."""
    if x in (float("inf"), float("-inf")):
        return r"\infty" if x > 0 else r"-\infty"
    short = Fraction(x).limit_denominator(MAX_DENOMINATOR)
    if float(short) == x:
        return number(short)
    digits = next(
        (k for k in range(6, 17) if other is None or f"{x:.{k}g}" != f"{other:.{k}g}"), 17
    )
    mantissa, _, power = f"{x:.{digits}g}".partition("e")
    return r"\approx " + mantissa + (rf"\cdot10^{{{int(power)}}}" if power else "")


def _name(name: str) -> str:
    letters = {latex: latex for latex in _GREEK.values()}
    letters |= {"epsilon": "varepsilon", "phi": "varphi", "lam": "lambda", "Lam": "Lambda"}
    stem, digits = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
    text = rf"\{letters[stem]}" if stem in letters else stem
    if len(stem) > 1 and stem not in letters:
        text = rf"\text{{{as_latex(stem)}}}"
    return f"{text}_{{{digits}}}" if digits else text


def _set(value: Any) -> str:
    try:
        if isinstance(value, (list, tuple)):
            rows = [[_fraction(x) for x in row] for row in rows_of(value)]
            return matrix(rows) if rows_of(value) is value else vector(rows[0])
        return number(_fraction(value))
    except ValueError:
        return _value(value) if isinstance(value, float) else rf"\text{{{as_latex(str(value))}}}"


def rows_of(value: Any) -> Any:
    """Return the rows of a matrix. A vector is a matrix with one row."""
    return value if value and isinstance(value[0], (list, tuple)) else [value]


def _fraction(value: Any) -> Fraction:
    """Convert an integer, or text such as "1/10", to a Fraction. Otherwise raise ValueError."""
    if isinstance(value, int) or (isinstance(value, str) and re.fullmatch(r"-?\d+(/\d+)?", value)):
        return Fraction(value)
    raise ValueError


def as_latex(text: str, formula: bool = False) -> str:
    """Convert text with formulas in Unicode to LaTeX.

    If `formula` is true, the whole text becomes one formula. Otherwise, single letters are set in
    math mode, except letters that are also words, such as “a”. An unknown character raises
    InputError.
    """
    text = text.replace("<=", "≤").replace(">=", "≥")
    parts = []
    at = 0
    for script in _SCRIPT.finditer(text):
        inner = script[2]
        inner = inner[1:-1] if inner[0] in "{(" else inner
        parts += [_lettered(text[at : script.start()], formula), f"${script[1]}{{{_math(inner)}}}$"]
        at = script.end()
    joined = "".join([*parts, _lettered(text[at:], formula)])
    joined = " ".join(joined.replace("$$", " ").split())
    return _in_math_mode(joined) if formula and joined else joined


def _in_math_mode(text: str) -> str:
    """Return one LaTeX formula for a text, with its words in text mode."""
    pieces = text.split("$")
    # Neighbouring words are joined in one text box. An escaped brace belongs to the formula and
    # does not end a text box.
    worded = (_WORD.sub(_worded, piece) for piece in pieces[::2])
    pieces[::2] = [re.sub(r"(?<!\\)\}\\text\{", "", piece) for piece in worded]
    # A letter must not extend the name of a command before it.
    joined = re.sub(r"(?<=[A-Za-z])\$(?=[A-Za-z])", " ", "$".join(pieces))
    return f"${joined.replace('$', '')}$"


def _worded(found: re.Match[str]) -> str:
    word = found[0].strip()
    return found[0].replace(word, rf"\{word}") if word in _FUNCTIONS else rf"\text{{{found[0]}}}"


def _math(text: str) -> str:
    # In a subscript or an exponent, a further subscript is one letter.
    parts = re.split(r"_(\w)", text.replace(" in ", "∈"))
    spelled = [_characters(part).replace("$", " ").replace(", ", r",\,") for part in parts]
    return "".join(f"_{{{part}}}" if k % 2 else part for k, part in enumerate(spelled))


def _lettered(text: str, formula: bool) -> str:
    parts = []
    at = 0
    for found in (_VARIABLE if formula else _LETTER).finditer(text):
        parts += [_characters(text[at : found.start()]), f"${found[0]}$"]
        at = found.end()
    return "".join([*parts, _characters(text[at:])])


def _characters(text: str) -> str:
    parts = []
    at = 0
    for mark in _MARK.finditer(text):
        base = _SYMBOLS.get(mark[1], mark[1])
        for accent in mark[2]:
            base = f"{_ACCENTS[accent]}{{{base}}}"
        parts += [*map(_character, text[at : mark.start()]), f"${base}$"]
        at = mark.end()
    return "".join([*parts, *map(_character, text[at:])])


def _character(c: str) -> str:
    if c in _PLAIN or c in _LETTERS:
        return _PLAIN.get(c) or _LETTERS[c]
    if c in _SYMBOLS or c in _ACCENTED:
        return f"${_SYMBOLS.get(c) or _ACCENTED[c]}$"
    if not c.isascii():
        raise InputError(
            f"no LaTeX is known for the character {c!r}. Use another character, or add this one "
            "to relaxboost/claims/latex.py"
        )
    return c
