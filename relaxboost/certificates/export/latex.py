"""A certificate as half a page of LaTeX, in fractions, each line of which a reader can check."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost.certificates.export.program import LinearProgram, Row
from relaxboost.certificates.export.relaxation import Sparse

_ZERO, _ONE = Fraction(0), Fraction(1)
_MOST, _DIGITS, _TERMS = 10, 12, 40
"""Rows and columns of A, digits of a denominator, and terms in rows of f, that fit half a page."""
_OF_A = 3
"""Digits of the denominators of A with which those of an optimum are mostly short enough."""
_ACROSS = 4
"""Rows of f on a line, and terms of the derivation."""
_COMMON = 10_000
"""A vector is set over its common denominator up to here."""

_Rule = tuple[Sparse, Fraction | None, Fraction | None]
"""low <= row·(d, z) <= high."""

_PAGE = r"""% relaxboost certificate {digest}
\paragraph{{Game.}} Let $\Delta$ be the set of distributions $d$ on {m} examples, and
\[ \rho=\min_{{d\in\Delta}}\, f(d)+g(A^\top d),\qquad A={A},\qquad g(v)={g}, \]
{f}
\paragraph{{$\rho\le{upper}$.}} Let $d={d}${z}.
Then $A^\top d={edges}$, so that $g(A^\top d)={size}$; and $f(d){least}{spent}$.
\paragraph{{$\rho\ge{lower}$.}} Let $w={w}$. Since {inside},
$g(v)\ge\langle w,v\rangle$ for all $v$; and $Aw={u}$. For all $d\in\Delta${where},
\begin{{align*}}
f(d)+g(A^\top d)&\ge\langle Aw,d\rangle{cost}\\
&={sum}\\
&\ge{sides}.
\end{{align*}}
"""


def latex(document: dict[str, Any], program: LinearProgram) -> str:
    """Return the game, its two points and what they prove, as text for a paper; it needs amsmath.

    Raises
    ------
    InputError
        Where the game or its fractions are too large for half a page.
    """
    m, n, over = document["game"]["m"], document["game"]["n"], document["game"]["over"]
    _check_size(m, n, program)
    variables = program.variables[: -n - 1]  # without the edges and t
    names = [f"{'d' if i < m else 'z'}_{{{i + 1 - (i >= m) * m}}}" for i in range(len(variables))]
    values, has_z = [x.value for x in program.variables], len(variables) > m
    edges = program.rows[1 : n + 1]
    w = [-row.multiplier for row in edges]
    A = [[row.coefficients.get(i, _ZERO) for row in edges] for i in range(m)]
    u = [sum((a * c for a, c in zip(line, w, strict=True)), _ZERO) for line in A]
    costs = {j: x.cost for j, x in enumerate(variables)}
    cost = _linear(costs, names, program.constant)
    spent = sum((c * values[j] for j, c in costs.items()), program.constant)
    rules = _rules(program, m, names)
    where = " with $f(d)<\\infty$" if rules else ""
    sum_, sides = _derivation(program, names)
    return _PAGE.format(
        digest=document["digest"],
        m=m,
        A=matrix(A),
        g=_support(over),
        f=_relaxation(cost, rules, names[m:]),
        upper=number(program.upper),
        d=vector(values[:m]),
        z=f" and $z={vector(values[m : len(variables)])}$" if has_z else "",
        edges=vector(values[len(variables) : -1]),
        size=number(values[-1]),
        least=r"\le" if has_z else "=",
        spent=number(spent),
        lower=number(program.lower),
        w=vector(w),
        inside=_inside(over),
        u=vector(u),
        where=where + (" and a $z$ that attains $f(d)$" if has_z else ""),
        cost="" if cost == "0" else cost if cost.startswith("-") else f"+{cost}",
        sum=sum_,
        sides=sides,
    )


def _check_size(m: int, n: int, program: LinearProgram) -> None:
    numbers = [v for x in program.variables for v in (x.value, x.price)]
    numbers += [v for row in program.rows for v in (row.multiplier, *row.coefficients.values())]
    digits = max(len(str(x.denominator)) for x in numbers)
    terms = sum(len(row.coefficients) for row in program.rows if row.name.startswith("f"))
    has = (
        f"{m} x {n}"
        if max(m, n) > _MOST
        else f"{terms} of these"
        if terms > _TERMS
        else f"denominators of {digits} digits"
        if digits > _DIGITS
        else ""
    )
    if has:
        given = [v for row in program.rows for v in row.coefficients.values()]
        if not has.startswith("denominators"):
            remedy = "use vipr"
        elif max(len(str(x.denominator)) for x in given) <= _OF_A:
            remedy = "certify exact_optimum(game), or solve to a smaller tol"
        else:
            remedy = (
                "A, or f, has such itself, as most floats are: certify exact_optimum of the game "
                "of numpy.round(16 * A) / 16, or use vipr"
            )
        raise InputError(
            f"half a page takes games of at most {_MOST} x {_MOST} in short fractions, with "
            f"{_TERMS} terms in the rows of f, and this has {has}; {remedy}"
        )


def _rules(program: LinearProgram, m: int, names: Sequence[str]) -> list[str]:
    """Return what f asks of (d, z); of one bound for several variables in turn, one rule."""
    rules: list[_Rule] = [
        (row.coefficients, row.low, row.high) for row in program.rows if row.name.startswith("f")
    ]
    for j, x in enumerate(program.variables[: len(names)]):
        low = None if j < m and x.low == _ZERO else x.low
        high = None if j < m and x.high == _ONE else x.high  # every distribution has it
        if (low, high) != (None, None):
            rules.append(({j: _ONE}, low, high))

    def run(place: tuple[int, _Rule]) -> Any:
        k, (row, *ends) = place
        single = [*row.values()] == [_ONE]
        return (names[next(iter(row))][0], next(iter(row)) - k, *ends) if single else k

    return [
        _rule([rule for _, rule in group], names) for _, group in groupby(enumerate(rules), run)
    ]


def _rule(alike: Sequence[_Rule], names: Sequence[str]) -> str:
    _, low, high = alike[0]
    middle = [_linear(row, names) for row, _, _ in alike]
    between = r",\dots," if len(middle) > 2 else ","
    text = between.join(dict.fromkeys((middle[0], middle[-1])))
    if low is not None and low == high:
        return f"{text}={number(low)}"
    before = "" if low is None else rf"{number(low)}\le "
    return before + text + ("" if high is None else rf"\le{number(high)}")


def _relaxation(cost: str, rules: Sequence[str], z: Sequence[str]) -> str:
    """Return f: a formula, or the least cost under rules."""
    if not rules:
        return f"where $f(d)={cost}$."
    lines = [r",\quad ".join(rules[at : at + _ACROSS]) for at in range(0, len(rules), _ACROSS)]
    shown = r"\[ \begin{gathered} " + ",\\\\\n".join(lines) + r" \end{gathered} \]"
    if not z:
        return f"where $f(d)={cost}$ if\n{shown}\nand $f(d)=\\infty$ otherwise."
    ends = r",\dots,".join(dict.fromkeys((z[0], z[-1])))
    is_ = "=0$ if there is" if cost == "0" else f"$ is the least ${cost}$ over"
    return f"where $f(d){is_} $z=({ends})$ with\n{shown}\nand $f(d)=\\infty$ if there is none."


def _derivation(program: LinearProgram, names: Sequence[str]) -> tuple[str, str]:
    """Return ⟨Aw, d⟩ + cost as a sum of multiples of rows, and of their sides, a lower bound."""
    simplex = program.rows[0].multiplier
    terms, sides = [(simplex, r"\textstyle\sum_i d_i")], [simplex]
    if program.constant:
        terms.append((program.constant, ""))
        sides.append(program.constant)
    used = [row for row in program.rows if row.name.startswith("f")]
    used += [Row("", {j: _ONE}, *program.variables[j][3:]) for j in range(len(names))]
    for _, row, low, high, y in used:
        side = low if y > 0 else high
        if y and side is not None:
            text = _linear(row, names)
            terms.append((y, text if [*row.values()] == [_ONE] else f"({text})"))
            sides.append(y * side)
    bound = sum(sides, _ZERO)
    shown = [_term(x, "") for x in sides if x] or ["+0"]
    result = "" if len(shown) == 1 else f"={number(bound)}"
    above = "" if bound == program.lower else rf"\ge{number(program.lower)}"
    sum_ = [_term(c, name) for c, name in terms if c] or ["+0"]
    return _broken(sum_), _broken(shown) + result + above


def _broken(terms: Sequence[str]) -> str:
    """Return signed terms as a sum over lines."""
    lines = ["".join(terms[at : at + _ACROSS]) for at in range(0, len(terms), _ACROSS)]
    lines[0] = lines[0].removeprefix("+")
    return "\\\\\n&\\quad{}".join(lines)


def _support(over: dict[str, str]) -> str:
    """Return g(v), the largest ⟨w, v⟩ over the domain."""
    r = "" if _radius(over) == 1 else number(_radius(over)) + r"\,"
    if over["kind"] == "l1":
        return rf"{r}\max_j|v_j|"
    return rf"{r}\max\{{0,\max_j v_j\}}" if over["kind"] == "full-simplex" else rf"{r}\max_j v_j"


def _inside(over: dict[str, str]) -> str:
    """Return why w is in the domain."""
    r = number(_radius(over))
    if over["kind"] == "l1":
        return rf"$\sum_j|w_j|\le {r}$"
    sign = r"\le " if over["kind"] == "full-simplex" else "="
    return rf"$w\ge0$ and $\sum_j w_j{sign}{r}$"


def _radius(over: dict[str, str]) -> Fraction:
    return Fraction(over.get("size", "1"))


def _linear(row: Sparse, names: Sequence[str], constant: Fraction = _ZERO) -> str:
    """Return Σ coefficient · name + constant."""
    terms = [_term(constant, "")] if constant else []
    terms += [_term(v, names[j]) for j, v in row.items() if v]
    return "".join(terms).removeprefix("+") or "0"


def _term(c: Fraction, name: str) -> str:
    """Return c · name with its sign; c alone without a name."""
    size = "" if name and abs(c) == 1 else number(abs(c)) + (r"\," if name else "")
    return ("-" if c < 0 else "+") + size + name


def matrix(rows: Iterable[Iterable[Fraction]]) -> str:
    """Return a matrix."""
    lines = r"\\ ".join(" & ".join(map(number, row)) for row in rows)
    return rf"\begin{{pmatrix}} {lines} \end{{pmatrix}}"


def vector(values: Iterable[Fraction]) -> str:
    """Return a vector, over its common denominator where that is short."""
    given = list(values)
    below = math.lcm(*(x.denominator for x in given))
    if below == 1 or len(given) == 1 or below > _COMMON:
        return f"({','.join(map(number, given))})"
    return rf"\tfrac{{1}}{{{below}}}({','.join(str(int(x * below)) for x in given)})"


def number(x: Fraction) -> str:
    """Return a fraction."""
    if x.denominator == 1:
        return str(x)
    return rf"{'-' if x < 0 else ''}\tfrac{{{abs(x.numerator)}}}{{{x.denominator}}}"
