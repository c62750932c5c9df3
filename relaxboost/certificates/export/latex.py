"""Certificates as half a page of LaTeX in fractions, which readers can check by hand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from operator import mul
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost.certificates.check import ONE, ZERO
from relaxboost.certificates.export.program import LinearProgram, Row
from relaxboost.certificates.export.relaxation import Sparse

_Rule = tuple[Sparse, Fraction | None, Fraction | None]
"""A row low <= row·(d, z) <= high of the linear program of f, as (row, low, high)."""

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
    """Return a certificate as LaTeX text, which needs the package amsmath.

    The text shows the game, the distribution d, the weights w, and the proved bounds. If it does
    not fit on half a page, an InputError is raised.
    """
    m = document["game"]["m"]
    n = document["game"]["n"]
    over = document["game"]["over"]
    _check_size(m, n, program)
    # The last n + 1 variables are the edges and t.
    variables = program.variables[: -n - 1]
    names = [*_names("d", m), *_names("z", len(variables) - m)]
    values = [x.value for x in program.variables]
    has_z = len(variables) > m
    edges = program.rows[1 : n + 1]
    w = [-row.multiplier for row in edges]
    A = [[row.coefficients.get(i, ZERO) for row in edges] for i in range(m)]
    cost = _linear({j: x.cost for j, x in enumerate(variables)}, names, program.constant)
    rules = _rules(program, m, names)
    total, sides = _derivation(program, names)
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
        spent=number(sum((x.cost * x.value for x in variables), program.constant)),
        lower=number(program.lower),
        w=vector(w),
        inside=_inside(over),
        u=vector([sum(map(mul, line, w), ZERO) for line in A]),
        where=_where(rules, has_z),
        cost="" if cost == "0" else f"+{cost}".replace("+-", "-", 1),
        sum=total,
        sides=sides,
    )


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}_{{{i + 1}}}" for i in range(count)]


def _where(rules: Sequence[str], has_z: bool) -> str:
    finite = " with $f(d)<\\infty$" if rules else ""
    return finite + (" and a $z$ that attains $f(d)$" if has_z else "")


def _check_size(m: int, n: int, program: LinearProgram) -> None:
    # Half a page has room for this number of rows and columns, of digits in a denominator, and of
    # terms in the rows of f.
    most = 10
    most_digits = 12
    most_terms = 40
    digits = _digits([x for row in program.all_rows() for x in (row.multiplier, *_data(row))])
    digits = max(digits, _digits(x.value for x in program.variables))
    terms = sum(len(row.coefficients) for row in program.rows if row.name.startswith("f"))
    remedy = "Use vipr"
    if max(m, n) > most:
        excess = f"a matrix of {m} x {n}"
    elif terms > most_terms:
        excess = f"{terms} terms"
    elif digits > most_digits:
        excess = f"denominators of {digits} digits"
        # With at most three digits in A, the fractions of an optimum are mostly short enough.
        remedy = "Certify exact_optimum(game), or solve to a smaller tol"
        if _digits(x for row in program.rows for x in _data(row)) > 3:
            remedy = (
                "A or f itself has such denominators, because it contains floats. Certify "
                "exact_optimum of the game with numpy.round(16 * A) / 16, or use vipr"
            )
    else:
        return
    raise InputError(
        f"half a page has room for a {most} x {most} matrix, denominators of {most_digits} digits, "
        f"and {most_terms} terms in the rows of f, but this game has {excess}. {remedy}"
    )


def _data(row: Row) -> Iterable[Fraction]:
    return row.coefficients.values()


def _digits(numbers: Iterable[Fraction]) -> int:
    """Return the largest number of digits in the denominators of some fractions."""
    return max(len(str(x.denominator)) for x in numbers)


def _rules(program: LinearProgram, m: int, names: Sequence[str]) -> list[str]:
    # Consecutive variables with equal bounds share a condition.
    rules: list[_Rule] = [
        (row.coefficients, row.low, row.high) for row in program.rows if row.name.startswith("f")
    ]
    for j, x in enumerate(program.variables[: len(names)]):
        low = None if j < m and x.low == ZERO else x.low
        # On the simplex every d_i is at most 1, so the page does not state this bound.
        high = None if j < m and x.high == ONE else x.high
        if (low, high) != (None, None):
            rules.append(({j: ONE}, low, high))

    def run(place: tuple[int, _Rule]) -> Any:
        k, (row, *ends) = place
        single = [*row.values()] == [ONE]
        return (names[next(iter(row))][0], next(iter(row)) - k, *ends) if single else k

    groups = groupby(enumerate(rules), run)
    return [_rule([rule for _, rule in group], names) for _, group in groups]


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
    if not rules:
        return f"where $f(d)={cost}$."
    lines = [r",\quad ".join(group) for group in _fours(rules)]
    shown = r"\[ \begin{gathered} " + ",\\\\\n".join(lines) + r" \end{gathered} \]"
    if not z:
        return f"where $f(d)={cost}$ if\n{shown}\nand $f(d)=\\infty$ otherwise."
    ends = r",\dots,".join(dict.fromkeys((z[0], z[-1])))
    is_ = "=0$ if there is" if cost == "0" else f"$ is the least ${cost}$ over"
    return f"where $f(d){is_} $z=({ends})$ with\n{shown}\nand $f(d)=\\infty$ if there is none."


def _derivation(program: LinearProgram, names: Sequence[str]) -> tuple[str, str]:
    # ⟨Aw, d⟩ + cost is a sum of multiples of rows, and the bound is the sum of their sides.
    simplex = program.rows[0].multiplier
    terms = [_term(simplex, r"\textstyle\sum_i d_i"), _term(program.constant, "")]
    sides = [simplex, program.constant]
    used = [row for row in program.rows if row.name.startswith("f")]
    used += map(program.bound_row, range(len(names)))
    for row in used:
        side = row.low if row.multiplier > 0 else row.high
        if side is not None:
            text = _linear(row.coefficients, names)
            is_variable = [*row.coefficients.values()] == [ONE]
            terms.append(_term(row.multiplier, text if is_variable else f"({text})"))
            sides.append(row.multiplier * side)
    bound = sum(sides, ZERO)
    shown = list(filter(None, (_term(x, "") for x in sides)))
    result = f"={number(bound)}" if len(shown) > 1 else ""
    above = "" if bound == program.lower else rf"\ge{number(program.lower)}"
    return _broken(list(filter(None, terms))), _broken(shown) + result + above


def _broken(terms: Sequence[str]) -> str:
    lines = ["".join(group) for group in _fours(terms or ["0"])]
    lines[0] = lines[0].removeprefix("+")
    return "\\\\\n&\\quad{}".join(lines)


def _fours(items: Sequence[str]) -> list[Sequence[str]]:
    # Four items fit on one line of a page.
    return [items[at : at + 4] for at in range(0, len(items), 4)]


def _support(over: dict[str, str]) -> str:
    r = "" if _radius(over) == 1 else number(_radius(over)) + r"\,"
    if over["kind"] == "l1":
        return rf"{r}\max_j|v_j|"
    return rf"{r}\max\{{0,\max_j v_j\}}" if over["kind"] == "full-simplex" else rf"{r}\max_j v_j"


def _inside(over: dict[str, str]) -> str:
    r = number(_radius(over))
    if over["kind"] == "l1":
        return rf"$\sum_j|w_j|\le {r}$"
    sign = r"\le " if over["kind"] == "full-simplex" else "="
    return rf"$w\ge0$ and $\sum_j w_j{sign}{r}$"


def _radius(over: dict[str, str]) -> Fraction:
    return Fraction(over.get("size", "1"))


def _linear(row: Sparse, names: Sequence[str], constant: Fraction = ZERO) -> str:
    """Return the LaTeX of the linear expression Σ coefficient · name + constant."""
    terms = [_term(constant, ""), *(_term(v, names[j]) for j, v in row.items())]
    return "".join(terms).removeprefix("+") or "0"


def _term(c: Fraction, name: str) -> str:
    """Return the LaTeX of c · name with its sign, or "" if c is 0."""
    if not c:
        return ""
    size = "" if name and abs(c) == 1 else number(abs(c)) + (r"\," if name else "")
    return ("-" if c < 0 else "+") + size + name


def matrix(rows: Iterable[Iterable[Fraction]]) -> str:
    """Return the LaTeX of a matrix."""
    lines = r"\\ ".join(" & ".join(map(number, row)) for row in rows)
    return rf"\begin{{pmatrix}} {lines} \end{{pmatrix}}"


def vector(values: Iterable[Fraction]) -> str:
    """Return the LaTeX of a vector, with a common denominator of at most 10 000 factored out."""
    given = list(values)
    below = math.lcm(*(x.denominator for x in given))
    if below == 1 or len(given) == 1 or below > 10_000:
        return f"({','.join(map(number, given))})"
    return rf"\tfrac{{1}}{{{below}}}({','.join(str(int(x * below)) for x in given)})"


def number(x: Fraction) -> str:
    """Return the LaTeX of a fraction."""
    if x.denominator == 1:
        return str(x)
    return rf"{'-' if x < 0 else ''}\tfrac{{{abs(x.numerator)}}}{{{x.denominator}}}"
