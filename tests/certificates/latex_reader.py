"""A reader of exported LaTeX: what a referee would do with the page, line by line, in fractions."""

from __future__ import annotations

import random
import re
from fractions import Fraction

Numbers = list[Fraction]

_KNOWN = set(
    re.findall(
        r"\w+",
        "paragraph Delta rho min in begin end top qquad quad max tfrac le ge textstyle sum langle "
        "rangle dots infty",
    )
)
_NUMBER = r"(?:\\tfrac\{\d+\}\{\d+\}|\d+)"
_NAME = r"(?:[dz]_\{\d+\}|\\langle Aw,d\\rangle|\\textstyle\\sum_i d_i)"
_TERM = re.compile(
    rf"(?P<sign>[+-]?)(?:(?:(?P<size>{_NUMBER})\\,)?(?:(?P<name>{_NAME})|\((?P<inner>[^()]*)\))"
    rf"|(?P<number>{_NUMBER}))"
)
_VECTOR = r"((?:\\tfrac\{1\}\{\d+\})?\([^()]*\))"
_PAGE = re.compile(
    r"% relaxboost certificate \w+\n"
    r"\\paragraph\{Game\.\} Let \$\\Delta\$ be the set of distributions \$d\$ on (?P<m>\d+) "
    r"examples, and\n"
    r"\\\[ \\rho=\\min_\{d\\in\\Delta\}\\, f\(d\)\+g\(A\^\\top d\),\\qquad "
    r"A=\\begin\{pmatrix\} (?P<A>.*?) \\end\{pmatrix\},\\qquad g\(v\)=(?P<g>.*?), \\\]\n"
    r"where \$f\(d\)(?P<f>.*?)\n"
    r"\\paragraph\{\$\\rho\\le(?P<upper>.*?)\$\.\} "
    rf"Let \$d=(?P<d>{_VECTOR})\$(?: and \$z=(?P<z>{_VECTOR})\$)?\.\n"
    rf"Then \$A\^\\top d=(?P<edges>{_VECTOR})\$, so that \$g\(A\^\\top d\)=(?P<size>.*?)\$; "
    r"and \$f\(d\)(?:=|\\le)(?P<spent>.*?)\$\.\n"
    rf"\\paragraph\{{\$\\rho\\ge(?P<lower>.*?)\$\.\}} Let \$w=(?P<w>{_VECTOR})\$\. "
    r"Since (?P<inside>.*?),\n\$g\(v\)\\ge\\langle w,v\\rangle\$ for all \$v\$; "
    rf"and \$Aw=(?P<u>{_VECTOR})\$\. For all \$d\\in\\Delta\$(?P<where>.*?),\n"
    r"\\begin\{align\*\}\nf\(d\)\+g\(A\^\\top d\)&\\ge(?P<first>.*?)\\\\\n"
    r"&=(?P<sum>.*?)\\\\\n&\\ge(?P<sides>.*?)\.\n\\end\{align\*\}\n",
    re.DOTALL,
)
_RUN = re.compile(r"([dz])_\{(\d+)\}(?:,\\dots)?,[dz]_\{(\d+)\}")


class RefusedError(ValueError):
    """The page does not prove what it says."""


def _must(holds: object, why: str) -> None:
    if not holds:
        raise RefusedError(why)


def balanced(text: str) -> None:
    """Hold braces, environments and mathematics to their ends."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        _must(depth >= 0, "a brace too many")
    _must(depth == 0, "an open brace")
    open_: list[str] = []
    for way, name in re.findall(r"\\(begin|end)\{(.*?)\}", text):
        if way == "begin":
            open_.append(name)
        else:
            _must(open_ and open_.pop() == name, f"{name} ends what it did not begin")
    _must(not open_, "an environment without end")
    _must(len(re.findall(r"(?<!\\)\$", text)) % 2 == 0, "an open formula")
    _must(text.count(r"\[") == text.count(r"\]"), "an open display")


def spelled(text: str) -> None:
    """Hold commands to the known ones, and what is opened to its end."""
    _must(set(re.findall(r"\\([a-zA-Z]+)", text)) <= _KNOWN, "an unknown command")
    balanced(text)


def _number(text: str) -> Fraction:
    found = re.fullmatch(rf"(-?)({_NUMBER})", text)
    _must(found, f"{text!r} is no number")
    digits = re.findall(r"\d+", found[2])
    return Fraction(int(digits[0]), int(digits[-1]) if len(digits) > 1 else 1) * (
        -1 if found[1] else 1
    )


def _vector(text: str) -> Numbers:
    factor, inside = re.fullmatch(r"(.*?)\((.*)\)", text).groups()  # type: ignore[union-attr]
    scale = _number(factor) if factor else Fraction(1)
    return [scale * _number(x) for x in inside.split(",")]


def _terms(text: str) -> list[tuple[Fraction, str]]:
    """Return the coefficient and the name of each term, "" of a number; inner forms as they are."""
    text = re.sub(r"\\\\\n&\\quad\{\}", "", text)
    found, at = [], 0
    while at < len(text):
        term = _TERM.match(text, at)
        _must(term and term.end() > at and (at == 0 or term["sign"]), f"no sum: {text!r}")
        spelled_size = term["size"] or term["number"]
        size = _number(spelled_size) if spelled_size else Fraction(1)
        name = term["name"] or term["inner"] or ""
        _must(term["number"] or name, f"no term: {text[at:]!r}")
        found.append((-size if term["sign"] == "-" else size, name))
        at = term.end()
    return found


def _value(text: str, at: dict[str, Fraction]) -> Fraction:
    """Return the value of a form; of forms in brackets too."""
    total = Fraction(0)
    for c, name in _terms(text):
        total += c * (at[name] if name in at else _value(name, at) if name else 1)
    return total


def _rules(text: str) -> dict[str, tuple[Fraction | None, Fraction | None]]:
    """Return what f asks, by form: its least and its largest value."""
    shown = re.search(r"\\begin\{gathered\} (.*) \\end\{gathered\}", text, re.DOTALL)
    if not shown:
        return {}
    found = {}
    for rule in re.split(r",\\quad |,\\\\\n", shown[1]):
        low, form, high = re.fullmatch(
            rf"(?:(-?{_NUMBER})\\le )?(.*?)(?:(?:\\le|=)(-?{_NUMBER}))?", rule
        ).groups()  # type: ignore[union-attr]
        low = high if f"{form}={high}" == rule else low
        run = _RUN.fullmatch(form)
        forms = (
            [f"{run[1]}_{{{i}}}" for i in range(int(run[2]), int(run[3]) + 1)] if run else [form]
        )
        for one in forms:
            _must(one not in found, "a row stands twice")
            found[one] = tuple(None if x is None else _number(x) for x in (low, high))
    return found


def _size(g: str, v: Numbers) -> Fraction:
    """Return g(v) as the page defines it."""
    r, kind = re.fullmatch(rf"(?:({_NUMBER})\\,)?(.*)", g).groups()  # type: ignore[union-attr]
    largest = {
        r"\max_j|v_j|": max(map(abs, v)),
        r"\max_j v_j": max(v),
        r"\max\{0,\max_j v_j\}": max(Fraction(0), *v),
    }[kind]
    return (_number(r) if r else 1) * largest


def _within(inside: str, g: str, w: Numbers) -> bool:
    r"""Say whether w satisfies what the page says, and that makes g(v) >= ⟨w, v⟩."""
    found = re.fullmatch(r"(.*?)(=|\\le )(.*)\$", inside)
    words, sign, r = found.groups()  # type: ignore[union-attr]
    radius = _size(g, [Fraction(1)])
    kind = {
        (r"$\sum_j|w_j|", r"\le "): "|v_j|",
        (r"$w\ge0$ and $\sum_j w_j", "="): r"\max_j v_j",
        (r"$w\ge0$ and $\sum_j w_j", r"\le "): "0,",
    }[words, sign]
    total = sum(map(abs, w)) if "|" in words else sum(w)
    fine = total == radius if sign == "=" else total <= radius
    return _number(r) == radius and kind in g and fine and ("|" in words or min(w) >= 0)


def read_latex(text: str) -> dict[str, object]:
    """Return A, d, w, lower and upper of a page of which every line is true.

    Raises
    ------
    RefusedError
        For a text of another form, and where a line is wrong.
    """
    spelled(text)
    page = _PAGE.fullmatch(text)
    _must(page, "not of the form")
    A = [[_number(x) for x in row.split(" & ")] for row in page["A"].split(r"\\ ")]
    d, w = _vector(page["d"]), _vector(page["w"])
    z = _vector(page["z"]) if page["z"] else []
    edges = [
        sum((x * row[j] for x, row in zip(d, A, strict=True)), Fraction(0))
        for j in range(len(A[0]))
    ]
    u = [sum((a * c for a, c in zip(row, w, strict=True)), Fraction(0)) for row in A]
    _must(int(page["m"]) == len(d) and min(d) >= 0 and sum(d) == 1, "d is no distribution")
    _must(edges == _vector(page["edges"]), "A'd")
    _must(_size(page["g"], edges) == _number(page["size"]), "g(A'd)")
    _must(_within(page["inside"], page["g"], w), "w is outside")
    _must(u == _vector(page["u"]), "Aw")
    _check_f(page, d, z)
    _check_lower(page, u, len(z))
    return {"A": A, "d": d, "w": w} | {k: _number(page[k]) for k in ("lower", "upper")}


def _point(d: Numbers, z: Numbers) -> dict[str, Fraction]:
    names = {f"d_{{{i + 1}}}": x for i, x in enumerate(d)}
    return names | {f"z_{{{j + 1}}}": x for j, x in enumerate(z)}


def _check_f(page: re.Match[str], d: Numbers, z: Numbers) -> None:
    """The point fits f and costs what the page says, which with g(A'd) is the upper bound."""
    cost = re.match(r"=(.*?)\$| is the least \$(.*?)\$|\$ is the least \$(.*?)\$", page["f"])
    _must(cost, "no f")
    price, at = next(x for x in cost.groups() if x is not None), _point(d, z)
    for form, (low, high) in _rules(page["f"]).items():
        x = _value(form, at)
        _must((low is None or low <= x) and (high is None or x <= high), f"{form} does not fit")
    _must(_value(price, at) == _number(page["spent"]), "f(d)")
    total = _number(page["spent"]) + _number(page["size"])
    _must(total <= _number(page["upper"]), "the upper bound")
    form = r"\langle Aw,d\rangle" + ("" if price == "0" else f"+{price}".replace("+-", "-"))
    _must(page["first"] == form, "another cost")


def _check_lower(page: re.Match[str], u: Numbers, z: int) -> None:
    """The sum is what it should be at any (d, z), and its terms are at least their sides."""
    draw = random.Random(0)
    for _ in range(3):
        d, rest = ([Fraction(draw.randrange(-9, 9), 7) for _ in range(k)] for k in (len(u), z))
        at = _point(d, rest) | {
            r"\textstyle\sum_i d_i": sum(d),
            r"\langle Aw,d\rangle": sum((x * y for x, y in zip(u, d, strict=True)), Fraction(0)),
        }
        _must(_value(page["first"], at) == _value(page["sum"], at), "the sum is another one")
    rules = _rules(page["f"])
    bounds: Numbers = []
    for c, form in _terms(page["sum"]):
        low, high = rules.get(form, (None, None))
        if form.startswith("d_") and re.fullmatch(_NAME, form):
            low, high = max(low or Fraction(0), Fraction(0)), Fraction(1) if high is None else high
        if "sum_i" in form or not form:
            low = high = Fraction(1)
        side = low if c > 0 else high
        _must(c == 0 or side is not None, f"{form} has no such side")
        bounds.append(c * side if c else c)
    given, *ends = re.split(r"=|\\ge", page["sides"])
    terms = [c for c, _ in _terms(given)]
    _must([x for x in bounds if x] == [x for x in terms if x], "a side is another one")
    least = sum(terms)
    for x in map(_number, ends):
        _must(x <= least, "the lower bound")
    _must(_number(page["lower"]) <= least, "the lower bound")
