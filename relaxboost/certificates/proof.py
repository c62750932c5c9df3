"""The function `certify`, which proves bounds on the value of a game.

A certificate contains a distribution over the examples, weights of the hypotheses, a witness for
the relaxed margin of the weights, and the bounds that follow.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.digits import integer, number, vector
from relaxboost._core.errors import InputError, brief
from relaxboost.certificates import check, products
from relaxboost.certificates.certificate import Certificate, matrix_text, precisely
from relaxboost.certificates.exact.evaluate import ExactEvaluation
from relaxboost.certificates.exact.optimum import ExactOptimum
from relaxboost.certificates.levels import (
    checkable,
    no_description,
    no_proof,
    strongest_level,
)
from relaxboost.certificates.parts import describe_auxiliaries, describe_witness, optimal_witness
from relaxboost.certificates.points import (
    GivenPair,
    columns_and_weights,
    exact_d,
    exact_w,
    fractions,
)
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.relaxations import Relaxation
from relaxboost.relaxations.bounds import bounds_of
from relaxboost.relaxations.description import description_of


class _Refused(Exception):
    """Raised if the checker would reject a certificate."""


PRECISION_BITS = 192
"""The precision of balls, in bits, for the level "enclosed". If the weights and factors of the
relaxation f multiply to more than 2^64, the certificate requests more bits, so that large factors
do not widen the balls."""

MAX_INLINE_ENTRIES = 200_000
"""The maximum number of matrix entries that a certificate contains by default. For a larger matrix
A, it has only the SHA-256 of A, and stays small."""


def certify(
    solution: Solution | ExactOptimum | Game,
    level: str | None = None,
    *,
    d: Any = None,
    w: Any = None,
    inline: bool | None = None,
) -> Certificate:
    """Return a certificate that proves bounds on the value of a game.

    The certificate contains two points and the bounds that they prove. Here A is the margin matrix,
    f is the relaxation with the conjugate f*, and g* is the penalty on the weights with the
    conjugate g. If the domain is a set, the penalty is 0.

    * A distribution d over the examples proves the upper bound f(d) + g(Aᵀd).
    * The weights w of the hypotheses and a witness prove the lower bound γ − f*(x) − g*(w). The
      witness is a number γ and a vector x >= γ − A w with one entry for each example.

    `certify` converts d and w to fractions, so that the margins A w and the edges Aᵀd are exact,
    and runs the checker.

    Parameters
    ----------
    solution : Solution, ExactOptimum or Game
        The result of `solve`, `reference` or `exact_optimum`, or a game. For a game, pass both `d`
        and `w`.
    level : {"exact", "enclosed", "numerical"}, optional
        The arithmetic of the proof: "exact" for fractions, "enclosed" for balls that contain the
        real numbers (with python-flint), or "numerical" for floats, which prove nothing. The
        default is the strongest level that the relaxation and the domain allow. If this level is
        numerical, `Certificate.reason` says why.
    d : array of shape (m,), optional
        The distribution over the m examples, instead of the d of the solution. Fractions are used
        unchanged.
    w : array of shape (n,) or pair (support, coefficients), optional
        The weights of the n hypotheses, instead of the w of the solution. In a pair, `support`
        contains the indices of the nonzero weights, and `coefficients` contains these weights.
    inline : bool, optional
        Whether the certificate contains A. By default, it contains matrices of at most 200 000
        entries. Without A in the file, the checker needs A and compares its SHA-256. For stumps,
        the certificate contains a recipe and the SHA-256 of the data. It contains the data
        themselves only if `inline` is True.

    Returns
    -------
    Certificate
        The certificate, with the proved bounds `lower` and `upper` as fractions. For a `Solution`,
        it proves each bound b up to 1e-6 · (1 + |b|), and d and w are replaced by short fractions
        if these prove the optimum. For the result of `exact_optimum`, both bounds are the optimum.

    Raises
    ------
    InputError
        If the relaxation does not allow the level, if the columns are not enumerated, if no exact
        point near d is feasible, if the points prove a far wider bracket than that of the solution,
        or if the file would exceed the limits of the checker.

    See Also
    --------
    check_certificate : Check the certificate in a file.

    exact_value : Return the value of a game as a fraction.

    solve : Solve a game.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Thm 3 and Thm 7; Neumaier & Shcherbina (2004).

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, 0], [0, 1]])
    >>> rb.certify(rb.solve(game))
    Certificate(exact: 1/2 <= rho <= 1/2, gap 0)

    Suboptimal points give a certificate with a gap:

    >>> rb.certify(game, d=[0.5, 0.5], w=[0.25, 0.75])
    Certificate(exact: 0.2500 <= rho <= 0.5000, gap 0.25)
    """
    if not isinstance(solution, Game | Solution | ExactOptimum):
        raise InputError(
            "certify needs the result of solve, reference or exact_optimum, or a Game with d and "
            f"w, got a {type(solution).__name__}"
        )
    game = solution if isinstance(solution, Game) else solution.game
    # A user's class may be polyhedral with exact data although its bounds in doubles are not
    # proved.
    is_numerical = not bounds_of(game.relaxation).is_proved
    if level is None and is_numerical and strongest_level(game) == "exact":
        try:
            return certify(solution, "exact", d=d, w=w, inline=inline)
        # The data of the class are doubles, so there may be no exactly feasible point.
        except InputError as error:
            return certify(solution, "numerical", d=d, w=w, inline=inline).explained(str(error))
    is_default = level is None
    level = checkable(game, level)
    source = GivenPair.of(solution, d, w)
    # A recipe of stumps is shorter than the matrix that it describes.
    if inline is None:
        inline = not game.matrix.recipe() and game.m * game.matrix.known <= MAX_INLINE_ENTRIES
    document = {"format": "relaxboost certificate", "version": 1, "level": level}
    document["game"] = _describe(game, level, inline)
    if level == "numerical":
        found = _numerical(document, game, source.d, source.w)
        # The bounds of f may be proved although no checker has a formula for f.
        if is_default:
            is_weaker = game.level != "numerical"
            why = no_description if is_weaker else no_proof
            return found.explained(why(game.relaxation))
        return found
    return _proved(document, game, source)


def _proved(document: dict[str, Any], game: Game, source: GivenPair) -> Certificate:
    level = document["level"]
    precision = _precision(document["game"]["relaxation"])
    if level == "enclosed":
        document["precision"] = precision
    with precisely(level, precision) as real:
        # Points that the user gave are kept. Only a pair of a solver may be replaced.
        if level == "exact" and None not in (source.lower, source.upper):
            # Short fractions that prove the optimum are better than doubles: they leave no gap, and
            # fit on a page.
            short = _optimal_in_short(document, game, source)
            if short is not None:
                return short
        return _certificate(document, game, source, real)


def _optimal_in_short(
    document: dict[str, Any], game: Game, source: GivenPair
) -> Certificate | None:
    """Return a certificate that proves the optimum by nearby points with small denominators, or
    None."""
    short = source.simple()
    if short is None:
        return None
    # If the points with short fractions are not feasible, there is no such certificate.
    with suppress(check.Rejected, InputError, _Refused):
        found = _prove(document, game, short._replace(exact=False), check.exactly)
        # Exact linear programs are slow, and are solved only if the pair is likely an optimum.
        if 0 < found.gap <= Fraction(1, 10**9) * (1 + abs(found.lower)):
            found = _prove(document, game, short, check.exactly)
        if not found.gap:
            return found
    return None


def _certificate(document: dict[str, Any], game: Game, source: GivenPair, real: Any) -> Certificate:
    # A certificate that the checker would reject, or that proves no bracket, is an InputError.
    try:
        try:
            return source.held(_prove(document, game, source, real))
        except _Refused:
            if source.optimum is None:
                raise
            return source.shorter().held(_prove(document, game, source.shorter(), real))
    except check.Rejected as error:
        raise InputError(f"the points d and w prove no bounds on the value: {error}") from error
    except _Refused as error:
        raise InputError(
            f"this certificate would exceed the limits of the checker: {error}. Pass d and w as "
            "floats, whose fractions are short, certify fewer examples or a simpler f, or "
            'use level="numerical"'
        ) from error


def _precision(described: dict[str, Any]) -> int:
    # A penalty with a weight c is c times a difference that vanishes at the optimum. Its balls are
    # therefore c times as wide as their precision. So weights above 2^64 add their excess bits.
    def size(part: dict[str, Any]) -> Fraction:
        inner = [size(part[name]) for name in ("of", "first", "second") if name in part]
        own = next((part[name] for name in ("weight", "factor") if name in part), "1")
        return check.fraction(own, "weight") * max(inner, default=check.ONE)

    return PRECISION_BITS + max(0, math.floor(size(described)).bit_length() - 64)


def describe_relaxation(f: Relaxation, m: int) -> dict[str, Any]:
    """Return the JSON description of the relaxation f for m examples.

    Raise an InputError if f has no description.
    """
    described = description_of(f).describe(m)
    if described is None:
        remedy = 'certify(solution, level="numerical")'
        raise InputError(f"{no_description(f)}, or use {remedy}")
    return described


def _describe(game: Game, level: str, inline: bool) -> dict[str, Any]:
    matrix = game.matrix
    over = game.over.describe()
    if over is None:
        raise InputError(
            f"over={game.over!r} cannot be certified; "
            "use L1Ball, Simplex, L2Ball or SquaredNorm, which the checker knows"
        )
    described: dict[str, Any] = {"m": game.m, "n": game.n, "sha256": matrix.digest(), "over": over}
    if level == "numerical":
        described["relaxation"] = {"kind": "custom", "text": repr(game.relaxation)}
        return described
    described["relaxation"] = describe_relaxation(game.relaxation, game.m)
    described |= matrix.recipe()
    if inline:
        described["rows"] = matrix_text(matrix.data())
    return described


def _prove(document: dict[str, Any], game: Game, source: GivenPair, real: Any) -> Certificate:
    """Return the certificate with the points in `source` and the bounds that they prove.

    Raise `_Refused` if the checker would reject it.
    """
    document = {**document, "game": dict(document["game"])}
    described = document["game"]
    w = exact_w(source.w, game)
    if source.optimum is not None and described["relaxation"]["kind"] == "sum":
        # One linear program has multipliers, while the terms of a sum would need a split of u.
        form = description_of(game.relaxation).exact_form(game.m)
        described["relaxation"] = form.describe(game.m) if form else described["relaxation"]
    # The checker's own functions evaluate the points, so that it accepts what is written here.
    f, bound = check.relaxation(check.Fields(described["relaxation"], "f"), game.m, real)
    is_exact = source.exact and fractions(source.d) is not None
    of_d = ExactEvaluation(brief(game.relaxation), exact=is_exact)

    def penalty(d: list[Fraction], z: list[Fraction] | None) -> tuple[dict[str, Any], Any]:
        found = {"z": vector(z)} if z else None
        if found is None:
            found = describe_auxiliaries(game.relaxation, described["relaxation"], d, of_d)
        return found, f(d, check.Fields(found, "auxiliaries") if found else None)

    d, auxiliaries, cost_d = exact_d(source, game, described["relaxation"], penalty, of_d)
    v = _write_d(document, game, d)
    if auxiliaries:
        document["auxiliaries"] = auxiliaries
    u = _write_w(document, game, w)
    g, cost = check.over_domain(check.Fields(described["over"], "over"), w, v, real)
    witness = _witness(game, described["relaxation"], source, u)
    # The witness is made for margins in doubles, and the exact margins differ from them.
    document["witness"], lower = _accepted(witness, u, bound)
    digits = min(source.digits, check.MAX_VECTOR_DIGITS // max(game.m, len(v)))
    # Lower bounds are rounded down and upper bounds up, so that rounding loses accuracy but no
    # truth.
    document["lower"] = number(_short(_below(lower - cost), digits))
    document["upper"] = number(-_short(_below(-(cost_d + g)), digits))
    # The limits of the checker depend on the whole document, so they are tested last.
    _admitted(document, game, u, v)
    return Certificate.made(document)


def _write_d(document: dict[str, Any], game: Game, d: list[Fraction]) -> list[Fraction]:
    """Write a distribution into the JSON document, and return its edges Aᵀd as fractions."""
    # One denominator makes the products with A sums of integers.
    below = math.lcm(*(x.denominator for x in d))
    shares = [int(x * below) for x in d]
    document["d"] = {"denominator": integer(below), "numerators": [integer(x) for x in shares]}
    v: list[Fraction] = []
    for found, shift in products.edges(game.matrix, shares):
        v += [Fraction(e, below << shift) for e in found]
    return v


def _write_w(document: dict[str, Any], game: Game, w: dict[int, Fraction]) -> list[Fraction]:
    """Write weights into the JSON document, and return their margins A w as fractions."""
    below = math.lcm(*(c.denominator for c in w.values()))
    weights = [int(c * below) for c in w.values()]
    document["columns"] = list(w)
    document["w"] = {"denominator": integer(below), "numerators": [integer(c) for c in weights]}
    if not w:
        return [Fraction(0)] * game.m
    found, shift = products.margins(game.matrix, list(w), weights)
    return [Fraction(x, below << shift) for x in found]


def _witness(
    game: Game, described: dict[str, Any], source: GivenPair, u: list[Fraction]
) -> dict[str, Any]:
    f = game.relaxation
    if source.optimum is not None:
        best = source.optimum
        return optimal_witness(f, described, best, u, ExactEvaluation(brief(f), exact=source.exact))
    is_exact = source.exact and fractions(columns_and_weights(source.w)[1]) is not None
    known = source.witness
    if known is None and described["kind"] != "polyhedral":
        # A witness found in doubles is enough, because any witness proves a valid bound.
        known = bounds_of(f).witness(np.array([float(x) for x in u]))
    return describe_witness(f, described, known, u, ExactEvaluation(brief(f), exact=is_exact))


def _admitted(
    document: dict[str, Any], game: Game, u: Sequence[Fraction], v: Sequence[Fraction]
) -> None:
    # The checker gets A w and Aᵀd, because their computation takes more work than all other steps.
    about = dict(document["game"])
    left = {name: about.pop(name) for name in ("rows", "stumps") if name in about}
    size = len(json.dumps(left, separators=(",", ":"))) - 1 if left else 0
    # A file contains at least a digit and a separator for each number.
    if "rows" not in left:
        size += 2 * game.m * (2 if left else len(v)) - 1
    try:
        content = Certificate.made({**document, "game": about}).document
        check.check(content, known=(size, about["sha256"], u, v))
    except check.Rejected as error:
        raise _Refused(str(error)) from error


def _accepted(
    found: dict[str, Any], u: Sequence[Fraction], bound: Any
) -> tuple[dict[str, Any], Any]:
    # The witness `found` was found at margins in floats. If rounding makes it violate a constraint,
    # or if f* is steep, the thresholds are lowered as long as the bound improves. If ũ − t <= u,
    # then γ − t proves at u the bound that γ proves at ũ, minus t. The bound is concave in t.
    # Steps are tried from small to large, until the bound no longer improves.
    best: tuple[Fraction, dict[str, Any], Any] | None = None
    reason = ""
    for share, unit in _steps(found, u):
        given = _lowered(found, share, unit, u) if share else found
        try:
            proved = bound(u, check.Fields(given, "witness"))
            value = _below(proved)
        except check.Rejected as error:
            reason = str(error)
            continue
        if best is not None and value < best[0]:
            break
        # A step may be too short to change anything, and then it does not end the search.
        if best is None or value > best[0]:
            best = value, given, proved
    if best is None:
        raise InputError(
            "the weights w prove no lower bound, because the checker rejects the witness (the "
            f"threshold gamma with its multipliers) and all similar witnesses: {reason}"
        )
    return best[1:]


def _steps(witness: dict[str, Any], u: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Return increasing amounts by which `_lowered` may lower the thresholds γ of a witness.

    Each amount is a pair (share, unit) of fractions, whose product is the amount.
    """
    # The rounding of a sum is relative to its largest term, which may be a threshold or a margin.
    sizes = {_power_above(max(map(abs, thresholds))) for thresholds in (_thresholds(witness), u)}
    shares = [(Fraction(2) ** e, size) for size in sizes for e in range(-60, 8)]
    return [(check.ZERO, check.ONE), *sorted(shares, key=lambda step: step[0] * step[1])]


def _thresholds(witness: dict[str, Any]) -> list[Fraction]:
    found = [check.ZERO]
    if "gamma" in witness:
        found.append(check.fraction(witness["gamma"], "gamma"))
    for name in ("first", "second"):
        found += _thresholds(witness[name]) if name in witness else []
    return found


def _power_above(x: Fraction) -> Fraction:
    """Return a power of two above x and at most 4 x, or 1 if x is 0."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length() + 1
    return Fraction(2) ** exponent if x else check.ONE


def _lowered(
    witness: dict[str, Any], share: Fraction, unit: Fraction, u: Sequence[Fraction]
) -> dict[str, Any]:
    # A vector x is multiplied by 1 − share instead, or by 0.
    if "x" in witness and "v" not in witness:
        fields = check.Fields({"x": witness["x"]}, "witness")
        x = [(1 - min(share, check.ONE)) * y for y in fields.vector("x", len(u))]
        # This is the largest γ that x >= γ − u allows.
        gamma = min(a + b for a, b in zip(u, x, strict=True))
        return {**witness, "gamma": number(gamma), "x": vector(x)}
    return {
        name: number(check.fraction(value, name) - share * unit) if name == "gamma"
        else _lowered(value, share, unit, u) if name in ("first", "second") else value
        for name, value in witness.items()
    }  # fmt: skip


def _below(x: Any) -> Fraction:
    """Return a fraction that is at most x, or x itself if it is a fraction."""
    if isinstance(x, Fraction):
        return x
    check.need(x.is_finite(), "the bound is not finite")
    # The lower end of the ball is a dyadic number, which a fraction holds exactly.
    mantissa, exponent = x.lower().man_exp()
    # A bound beyond 2^4096 proves nothing useful, and its fraction would be very long.
    check.need(int(exponent) < 4096, "the bound is too large")
    # The fraction has 100 binary digits after the point, and more if x is small.
    bits = 100 + max(0, -int(mantissa).bit_length() - int(exponent))
    exact = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return Fraction(math.floor(exact * 2**bits), 2**bits)


def _short(x: Fraction, digits: int) -> Fraction:
    """Return x, or a fraction just below x if x has more than about `digits` digits."""
    if max(x.numerator.bit_length(), x.denominator.bit_length()) <= 3.3 * digits:
        return x
    # About 200 significant bits are kept, far more than a user sees.
    bits = 200 + max(0, x.denominator.bit_length() - abs(x.numerator).bit_length())
    return Fraction(math.floor(x * 2**bits), 2**bits)


def _numerical(document: dict[str, Any], game: Game, d: Any, w: Any) -> Certificate:
    support, coefficients = game.repair_w(w)
    lower, upper = game.bracket(d, (support, coefficients))
    if not (math.isfinite(lower) and math.isfinite(upper)):
        raise InputError(
            "the points d and w must prove two finite bounds on the value, but the bounds are "
            f"{lower:g} and {upper:g}"
        )
    document["d"] = [repr(x) for x in game.repair_d(d).tolist()]
    document["columns"] = support.tolist()
    document["w"] = [repr(x) for x in coefficients.tolist()]
    document["lower"] = repr(lower)
    document["upper"] = repr(upper)
    return Certificate.made(document)
