"""The parts of a certificate that prove the value of a relaxation and its relaxed margin.

Auxiliary variables of a linear program prove the value f(d), and a witness proves a lower bound on
the relaxed margin. For sums and multiples of relaxations, both are nested like the description of
the relaxation.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from relaxboost._core.digits import number, vector
from relaxboost.certificates.exact.evaluate import ExactEvaluation
from relaxboost.certificates.exact.optimum import ExactOptimum
from relaxboost.relaxations import Relaxation
from relaxboost.relaxations.base import operands_of
from relaxboost.relaxations.description import description_of

Described = dict[str, Any]


def has_program(f: Relaxation, described: Described, d: Sequence[Fraction]) -> bool:
    """Return whether evaluating f at `d` needs a linear program, given the JSON description of
    f."""
    if described["kind"] == "scaled":
        return has_program(operands_of(f)[0], described["of"], d)
    if described["kind"] == "sum":
        names = zip(("first", "second"), operands_of(f), strict=True)
        return any(has_program(g, described[name], d) for name, g in names)
    return described["kind"] == "polyhedral" and description_of(f).exact_auxiliaries(d) is None


def describe_auxiliaries(
    f: Relaxation, described: Described, d: Sequence[Fraction], evaluation: ExactEvaluation
) -> dict[str, Any]:
    """Return the auxiliary variables that prove the value f(d), as certificates store them.

    If no term of f is polyhedral, the result is {}. If a polyhedral term is infinite at d, an
    InputError is raised.
    """
    if described["kind"] == "scaled":
        return describe_auxiliaries(operands_of(f)[0], described["of"], d, evaluation)
    if described["kind"] == "sum":
        terms = zip(("first", "second"), operands_of(f), strict=True)
        found = {name: describe_auxiliaries(g, described[name], d, evaluation) for name, g in terms}
        return {name: given for name, given in found.items() if given}
    if described["kind"] != "polyhedral":
        return {}
    # A family that knows its best z in closed form needs no linear program.
    z = description_of(f).exact_auxiliaries(d)
    form = description_of(f).exact_form(len(d))
    assert form is not None
    return {"z": vector(evaluation.auxiliaries(form, d) if z is None else z)}


def describe_witness(
    f: Relaxation,
    described: Described,
    found: Any,
    u: Sequence[Fraction],
    evaluation: ExactEvaluation,
) -> dict[str, Any]:
    """Return an exact witness for a lower bound on the relaxed margin F(u), given one in floats.

    A witness consists of a threshold γ and further numbers.
    """
    if described["kind"] == "scaled":
        c = Fraction(described["factor"])
        part = [x / c for x in u]
        return describe_witness(operands_of(f)[0], described["of"], found.inner, part, evaluation)
    if described["kind"] == "sum":
        # Any split of u is valid. That of the solver is taken as it is, as exact doubles.
        v = [Fraction(x) for x in found.v.tolist()]
        rest = [x - y for x, y in zip(u, v, strict=True)]
        first, second = operands_of(f)
        return {
            "v": vector(v),
            "first": describe_witness(first, described["first"], found.first, v, evaluation),
            "second": describe_witness(second, described["second"], found.second, rest, evaluation),
        }
    if described["kind"] != "polyhedral":
        return description_of(f).describe_witness(found, u)
    form = description_of(f).exact_form(len(u))
    assert form is not None
    # A closed form is preferred to a linear program, as for z.
    gamma, y = description_of(f).exact_multipliers(u) or evaluation.multipliers(form, u)
    return {"gamma": number(gamma), "multipliers": vector(y)}


def optimal_witness(
    f: Relaxation,
    described: Described,
    best: ExactOptimum,
    u: Sequence[Fraction],
    evaluation: ExactEvaluation,
) -> dict[str, Any]:
    """Return the witness for the relaxed margin F(u) at the exact optimum `best` with margins
    `u`."""
    if described["kind"] == "polyhedral":
        form = description_of(f).exact_form(len(u))
        assert form is not None
        gamma, y = evaluation.multipliers(form, u)
        return {"gamma": number(gamma), "multipliers": vector(y)}
    assert best.gamma is not None
    share = Fraction(1)
    inner = described
    # The witness of c f at u is that of f at u / c, which has γ / c and x / c.
    while inner["kind"] == "scaled":
        share *= Fraction(inner["factor"])
        inner = inner["of"]
    return {"gamma": number(best.gamma / share), "x": vector([x / share for x in best.x])}
