"""The generic kind: exact certificates of linear programs that the checker has no formula for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.digits import vector
from relaxboost.certificates import check
from relaxboost.certificates.exact.evaluate import auxiliaries, multipliers
from relaxboost.certificates.exact.simplex import PivotLimits
from relaxboost.relaxations import ExactForm, SpectralRisk, Traits
from relaxboost.relaxations.description import Description
from tests.certificates.judge import proves
from tests.conformance.families import FAMILIES

ZERO, ONE = Fraction(0), Fraction(1)


def limits():
    return PivotLimits(100_000, 600.0)  # whose clock starts here


@dataclass(frozen=True)
class Transport(rb.Relaxation, Description):
    """The least cost of carrying d to the uniform distribution at |i − j|/m a unit: free z."""

    @property
    def traits(self):
        return Traits(polyhedral=True)

    def cvxpy_penalty(self, d):
        m = d.shape[0]
        flow = cp.Variable((m, m), nonneg=True)
        cost = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / m
        return cp.sum(cp.multiply(cost, flow)), [
            cp.sum(flow, axis=1) == d,
            cp.sum(flow, axis=0) == 1 / m,
        ]

    def exact_form(self, m):
        """Return it with |Σ_{i <= j} d_i − j/m| as the flow over j: steps z_j free, costs above."""
        free = ExactForm.free(m, 2 * m)
        steps: list[dict[int, Fraction]] = [dict.fromkeys(range(j + 1), ONE) for j in range(m)]
        rows = [row | {m + j: -ONE} for j, row in enumerate(steps)]
        rows += [{m + j: s, 2 * m + j: -ONE} for j in range(m) for s in (ONE, -ONE)]
        ends: list[Any] = [Fraction(j + 1, m) for j in range(m)]
        none: list[Any] = [None]
        return free._replace(
            cost=[ZERO] * (2 * m) + [Fraction(1, m)] * m,
            lower=[ZERO] * m + none * m + [ZERO] * m,
            rows=rows,
            row_lower=ends + none * (2 * m),
            row_upper=ends + [ZERO] * (2 * m),
        )


POLYHEDRAL = [
    ("transport", Transport()),
    ("spectral", SpectralRisk([1, Fraction(7, 2)], [Fraction(1, 3), Fraction(2, 3)])),
    ("sum", 0.5 * Transport() + rb.Capped(3)),
    ("both", SpectralRisk([2, 5], [0.5, 0.5]) + Fraction(1, 3) * Transport()),
    ("shifted", rb.NormPenalty(1, 0.3, [1, 2, 3, 1, 2, 3]).shifted(0.1)),
    ("dilated", rb.Caps([0.5] * 6).scaled(2) + rb.NormPenalty(1, 0.1)),
]


SETS = (rb.L1Ball(), rb.SquaredNorm(0.5), rb.Simplex(), rb.FullSimplex(2))
EACH = [(f, SETS[(i + j) % 4]) for i, (_, f) in enumerate(POLYHEDRAL) for j in (0, 1)]


@pytest.mark.parametrize(("f", "over"), EACH, ids=repr)
def test_a_linear_program_is_enough_for_an_exact_certificate(f, over, rng):
    game = rb.Game(rng.uniform(-1, 1, (6, 4)), f, over=over)
    d, w = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(4))
    for certificate in (rb.certify(rb.solve(game, tol=1e-3)), rb.certify(game, d=d, w=w)):
        assert certificate.level == "exact"
        verdict = certificate.check()
        assert verdict, verdict.reason
        assert proves(certificate.document)
    if not isinstance(over, rb.SquaredNorm):
        best = rb.certificates.exact_optimum(game)
        certificate = rb.certify(best)
        assert certificate.lower == certificate.upper == best.value
        assert proves(certificate.document)


def test_beside_a_curved_term_it_is_enclosed(rng):
    f = SpectralRisk([2, 4], [0.5, 0.5]) + Transport() * 0.2 + rb.KLPenalty(0.1)
    game = rb.Game(rng.uniform(-1, 1, (6, 4)), f)
    certificate = rb.certify(rb.solve(game, tol=1e-3), level="enclosed")
    assert certificate.check()
    assert proves(certificate.document)


def test_the_bounds_are_those_of_the_program(rng):
    """f(d) and F(u) at exact points are what cvxpy says."""
    for _, f in POLYHEDRAL:
        form = f.resolve(6).exact_form(6)
        d = [Fraction(1, 6)] * 6
        z = auxiliaries(form, d, limits())
        cost = sum(c * x for c, x in zip(form.cost, [*d, *z], strict=True)) + form.constant
        assert float(cost) == pytest.approx(f.penalty(np.full(6, 1 / 6)), abs=1e-7)
        u = [Fraction(x) for x in rng.normal(size=6).tolist()]
        gamma, y = multipliers(form, u, limits())
        describe = form.describe(6)
        _, bound = check.relaxation(check.Fields(describe, "f"), 6, check.exactly)
        witness = {"gamma": str(gamma), "multipliers": vector(y)}
        proved = bound(u, check.Fields(witness, "w"))
        expected = f.resolve(6).relaxed_margin(np.array([float(x) for x in u]))[0]
        assert float(proved) == pytest.approx(expected, abs=1e-6)


def test_any_family_may_be_written_so(rng):
    """The kinds with formulas say what their linear programs say."""
    for name, make in FAMILIES:
        f = make(6).resolve(6)
        form = f.exact_form(6)
        if form is None or f.describe(6)["kind"] == "polyhedral":
            continue
        u = [Fraction(x) for x in rng.normal(size=6).tolist()]
        gamma, y = multipliers(form, u, limits())
        spec = check.Fields(form.describe(6), "f")
        penalty, bound = check.relaxation(spec, 6, check.exactly)
        witness = {"gamma": str(gamma), "multipliers": vector(y)}
        below = float(bound(u, check.Fields(witness, "w")))
        at = np.array([float(x) for x in u])
        value, _ = f.relaxed_margin(at)
        assert below == pytest.approx(value, abs=1e-6), name
        point = f.exact_point(f.center(6).tolist())
        z = {"z": vector(auxiliaries(form, point, limits()))}
        cost = float(penalty(point, check.Fields(z, "z")))
        assert cost == pytest.approx(f.penalty(f.center(6)), abs=1e-9), name


def test_what_does_not_fit_is_rejected(rng):
    game = rb.Game(rng.uniform(-1, 1, (6, 4)), Transport())
    document = rb.certify(rb.solve(game, tol=1e-3)).document
    f = document["game"]["relaxation"]

    def reason(relaxation=f, **changes):
        tampered = {**document, "game": {**document["game"], "relaxation": relaxation}, **changes}
        with pytest.raises(check.Rejected) as info:
            check.check(tampered)
        return str(info.value)

    assert "bound" in reason(auxiliaries={"z": "0"})
    assert "entries instead of" in reason({**f, "cost": {"denominator": "1", "numerators": []}})
    assert "distinct variables" in reason({**f, "columns": [[0, 0], *f["columns"][1:]]})
    assert "distinct variables" in reason({**f, "columns": [[99], *f["columns"][1:]]})
    assert "distinct variables" in reason({**f, "columns": [True, *f["columns"][1:]]})
    assert "must be dict" in reason({**f, "lower": 3})
    assert "unknown fields" in reason({**f, "more": "1"})
    assert "has no 'constant'" in reason({k: v for k, v in f.items() if k != "constant"})
    witness = {**document["witness"], "multipliers": "1"}
    assert "multiplier" in reason(witness=witness)
    without = {k: v for k, v in document.items() if k != "auxiliaries"}
    with pytest.raises(check.Rejected, match="needs its auxiliaries"):
        check.check(without)
    capped = rb.certify(rb.solve(rb.Game(np.eye(3), rb.Capped(2)))).document
    with pytest.raises(check.Rejected, match="no auxiliaries"):
        check.check({**capped, "auxiliaries": {"z": "0"}})
