"""The distribution d and the weights w in a certificate: exact points near those of a solver."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

from relaxboost._core.errors import InputError, brief
from relaxboost._core.rounding import float_down, float_up
from relaxboost.certificates import check
from relaxboost.certificates.certificate import Certificate
from relaxboost.certificates.exact.evaluate import ExactEvaluation, Unproved
from relaxboost.certificates.exact.optimum import ExactOptimum
from relaxboost.certificates.parts import has_program
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.relaxations.description import description_of

Penalty = Callable[[list[Fraction], list[Fraction] | None], tuple[dict[str, Any], Any]]
"""The type of a function that evaluates a relaxation f at d.

Its second argument contains the auxiliary variables z that prove f(d), or None to compute them. It
returns z, as certificates store it, and f(d).
"""


class GivenPair(NamedTuple):
    """The distribution d and the weights w that `certify` writes into a certificate.

    If a solver has proved bounds with d and w, the certificate must nearly reach these bounds.
    """

    d: Any
    w: Any
    witness: Any = None
    """The witness with which a solver has proved the lower bound, or None."""
    lower: Any = None
    """The lower bound b proved by a solver, or None. The certificate's bound may be lower by at
    most 1e-6 · (1 + |b|)."""
    upper: Any = None
    """The upper bound b proved by a solver, or None. The certificate's bound may be higher by at
    most 1e-6 · (1 + |b|)."""
    optimum: ExactOptimum | None = None
    exact: bool = True
    """Whether fractions in `d` require an exact value of the relaxation, and fractions in `w` an
    exact value of the relaxed margin."""
    digits: int = check.MAX_DIGITS
    """The maximum number of digits of a bound in the certificate."""

    @classmethod
    def of(cls, given: Solution | ExactOptimum | Game, d: Any, w: Any) -> GivenPair:
        """Return the pair (d, w) to certify. The arguments `d` and `w` replace those of the
        solution."""
        own: dict[str, Any] = {}
        if isinstance(given, ExactOptimum):
            if given.value is None:
                raise InputError(
                    "this exact_optimum has no pair to certify, because it reached a limit. "
                    "Increase time_limit or max_pivots"
                )
            own = {"d": given.d, "w": (given.support, given.w)}
            if d is None and w is None:
                own["optimum"] = given
        elif isinstance(given, Solution):
            own = {"d": given.d, "w": (given.support, given.coefficients)}
            if w is None:
                own |= {"witness": given.witness, "lower": given.lower}
            if d is None:
                own["upper"] = given.upper
        own |= {name: x for name, x in (("d", d), ("w", w)) if x is not None}
        if len(own.keys() & {"d", "w"}) < 2:
            raise InputError(
                "certify needs a solution, or a game together with both d and w; for a w alone, "
                "take d from rb.solve(game).d"
            )
        return cls(**own)

    def simple(self) -> GivenPair | None:
        """Return a nearby pair with small denominators, or None if there is none."""
        support, coefficients = self.w
        d, w = map(_near, (self.d, coefficients))
        return None if d is None or w is None else GivenPair(d, (support, w))

    def shorter(self) -> GivenPair:
        """Return this pair rounded to floats, for a certificate with bounds of at most 100
        digits."""
        assert self.optimum is not None
        support, w = self.w
        pair = ([float(x) for x in self.d], (support, [float(x) for x in w]))
        value = self.optimum.value
        return GivenPair(*pair, lower=value, upper=value, digits=100)

    def held(self, found: Certificate) -> Certificate:
        """Return a certificate unchanged if its bounds nearly reach those of this pair.

        Raise an InputError if a bound is weaker than this pair's bound b by more than 1e-6 · (1 +
        |b|).
        """
        for name, mine, proved, sign in (
            ("lower", self.lower, found.lower, 1),
            ("upper", self.upper, found.upper, -1),
        ):
            if mine is None or not math.isfinite(mine):
                continue
            # Cone solvers and families of the level numerical leave less than this open.
            allowed = Fraction(1, 10**6) * (1 + abs(Fraction(mine)))
            if sign * (Fraction(mine) - proved) > allowed:
                shown = float_down(proved) if sign > 0 else float_up(proved)
                raise InputError(
                    f"the points of this solution prove {name} = {shown:.17g}, but the solution "
                    f"has {name} = {mine:.17g}. The difference may be at most "
                    f"{float(allowed):.1e}. Certify another pair with certify(reference(game)), or "
                    "accept the weaker bounds of this pair with "
                    "certify(game, d=solution.d, w=(solution.support, solution.coefficients))"
                )
        return found


def fractions(values: Any) -> list[Fraction] | None:
    """Return the numbers as fractions if at least one of them is a Fraction, and None otherwise."""
    entries = list(values)
    exact = any(isinstance(x, Fraction) for x in entries)
    return [Fraction(x) for x in entries] if exact else None


def exact_d(
    source: GivenPair,
    game: Game,
    described: dict[str, Any],
    penalty: Penalty,
    evaluation: ExactEvaluation,
) -> tuple[list[Fraction], dict[str, Any], Any]:
    """Return a distribution d in fractions at which f is certainly finite, and the proof of f(d).

    The proof is the result of `penalty` at d: auxiliary variables and f(d). If f is infinite,
    `penalty` raises `check.Rejected` or an InputError.
    """
    # Fractions are a request for exactly this point. Floats stand for any point near them.
    given = fractions(source.d)
    if given is not None:
        if len(given) != game.m or min(given) < 0 or sum(given) != 1:
            raise InputError(
                f"d must have {game.m} Fractions >= 0 whose sum is exactly 1, but the "
                f"{len(given)} given numbers have the sum {sum(given)}. Divide them by their sum"
            )
        return given, *penalty(given, None)
    near = game.repair_d(source.d).tolist()
    # The family returns a point that meets its constraints exactly, such as caps whose sum is 1.
    point = description_of(game.relaxation).exact_point(near)
    form = description_of(game.relaxation).exact_form(game.m)
    if form is not None and has_program(game.relaxation, described, point):
        # The exact d and z are found together, because equations of f may connect them.
        # `reach` is a Lipschitz constant of g(Aᵀd) as a function of d, in the l1 norm.
        moved, z = evaluation.point(form, near, float(game.over.reach(game.n)))
        # If f is a sum, another term of the sum may be infinite at this d.
        with suppress(check.Rejected):
            return moved, *penalty(moved, z if described["kind"] == "polyhedral" else None)
    return _moved_inside(point, game, penalty)


def _moved_inside(
    point: list[Fraction], game: Game, penalty: Penalty
) -> tuple[list[Fraction], dict[str, Any], Any]:
    # Shorter moves towards the center of the simplex are tried first, until f is finite.
    f = game.relaxation
    center: list[Fraction] = []
    reason = ""
    moved = point
    # A short move loses little of the bound. The center is usually in the interior of the domain,
    # so that a longer move is feasible.
    for step in (Fraction(0), *(Fraction(1, 2**e) for e in range(90, -1, -1))):
        if step:
            center = center or description_of(f).exact_point(f.center(game.m).tolist())
            moved = [x + step * (c - x) for x, c in zip(point, center, strict=True)]
        try:
            return moved, *penalty(moved, None)
        # This error says that no point exists or that time is up, so another step would not help.
        except Unproved:
            raise
        except (check.Rejected, InputError) as error:
            reason = str(error)
    raise InputError(
        f"found no exact distribution near d at which {brief(f)} is certainly finite ({reason}), "
        "because its domain hardly intersects the simplex. Enlarge the domain a little"
    )


def columns_and_weights(w: Any) -> tuple[Any, Any]:
    """Return weights as a pair (column indices, weights), given such a pair or a full array."""
    return w if isinstance(w, tuple) and len(w) == 2 else (range(len(w)), w)


def exact_w(w: Any, game: Game) -> dict[int, Fraction]:
    """Return weights in fractions near `w`, in the domain of a game, as a dict by column index."""
    columns, values = columns_and_weights(w)
    given = fractions(values)
    if given is not None:
        found: dict[int, Fraction] = {}
        for j, c in zip(columns, given, strict=True):
            if not 0 <= int(j) < game.matrix.known:
                raise InputError(
                    f"w has a weight for column {j}, but the game has {game.matrix.known} columns"
                )
            # A column may be named twice, and then its weights are added.
            found[int(j)] = found.get(int(j), Fraction(0)) + c
        return {j: c for j, c in found.items() if c}
    support, coefficients = game.repair_w(w)
    exact = game.over.exact_weights(coefficients.tolist())
    return {int(j): c for j, c in zip(support, exact, strict=True) if c}


def _near(values: Any) -> list[Fraction] | None:
    # These are fractions with a common denominator of at most 10 000, or None.
    most = 10_000
    found: list[Fraction] = []
    below = 1
    for x in values:
        found.append(Fraction(float(x)).limit_denominator(most))
        below = math.lcm(below, found[-1].denominator)
        # A long common denominator shows that the values are not rounded fractions.
        if below > most:
            return None
    return found
