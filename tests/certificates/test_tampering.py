"""Tampered certificates: none is accepted that does not prove its claim; none makes a traceback."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from functools import cache

import flint
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.certificates import check
from relaxboost.relaxations.bounds import level_of
from tests.certificates import tampering
from tests.certificates.judge import proves
from tests.conformance.families import FAMILIES

M, N = 7, 5


@cache
def untampered() -> dict[str, dict]:
    """A certificate of every family with formulas, over each set in turn."""
    rng = np.random.default_rng(0)
    A = np.clip(rng.uniform(-1, 1, (M, N)) + 0.15, -1, 1)
    over = [rb.Simplex(1.7), rb.Simplex(), rb.L2Ball(0.7), rb.FullSimplex(0.3), rb.SquaredNorm(0.4)]
    over += [rb.L1Ball(0.3), rb.L1Ball()]
    found = {}
    for i, (name, make) in enumerate(FAMILIES):
        f = make(M).resolve(M)
        if level_of(f) != "numerical":
            game = rb.Game(A, f, over=over[i % len(over)] if i % 2 else None)
            found[name] = rb.certify(rb.solve(game, tol=1e-4)).document
    return found


@pytest.fixture
def verdict(tmp_path):
    """Check a document or a text, and hold the checker to its promise of no tracebacks."""

    def run(given):
        path = tmp_path / "certificate.json"
        path.write_text(given if isinstance(given, str) else json.dumps(given), encoding="utf-8")
        before = flint.ctx.prec
        try:
            level, _, _, reason = check.verdict(str(path))
        finally:
            flint.ctx.prec = before
        assert (level is None) == bool(reason)
        return level is not None, reason

    return run


def test_what_is_not_tampered_with_is_accepted(verdict):
    for name, document in untampered().items():
        accepted, reason = verdict(document)
        assert accepted, f"{name}: {reason}"
        assert proves(document)
        with_comments = {**document, "comments": {"solver": "any", "time": [None, True, "x"]}}
        assert verdict(with_comments)[0]


def test_stale_digests_are_rejected(verdict):
    """Whatever was changed, and for its own reason where the points prove the claim no more."""
    rng = random.Random(1)
    documents = list(untampered().values())
    reasons: Counter[str] = Counter()
    while reasons.total() < 1000:
        document = copy.deepcopy(rng.choice(documents))
        change = rng.choice(tampering.SUBTLE)
        before = copy.deepcopy(document)
        change(document, rng)
        if document == before:
            continue
        accepted, reason = verdict(document)
        assert not accepted, change.__name__
        reasons[reason] += 1
    assert reasons["the digest does not match"] < 500
    assert len(reasons) >= 12, reasons


def test_with_fresh_digests_only_proofs_are_accepted(verdict):
    """Subtle changes, each judged by a second evaluation that shares no code."""
    rng = random.Random(2)
    documents = list(untampered().values())
    counts: Counter[tuple[str, bool]] = Counter()
    for number in range(1500):
        change = tampering.SUBTLE[number % len(tampering.SUBTLE)]
        document = copy.deepcopy(rng.choice(documents))
        change(document, rng)
        if change is tampering.change_A and rng.random() < 0.8:
            document["game"]["sha256"] = tampering.matrix_digest(document["game"]["rows"])
        accepted, reason = verdict(tampering.with_digest(document))
        if not reason.startswith(("the SHA-256", "'columns' must be distinct")):
            # Balls leave open what is closer than their precision.
            spare = 0.0 if document["level"] == "exact" else 1e-50
            assert proves(document, spare) <= accepted <= proves(document), (change, reason)
        counts[change.__name__, accepted] += 1
    for change in tampering.SUBTLE:
        assert counts[change.__name__, change is tampering.weaken], counts
    assert sum(n for (_, accepted), n in counts.items() if accepted) > 150


@pytest.mark.parametrize("below", ["1", "0", "-1"])
def test_the_denominator_of_a_vector_without_entries_is_positive(below, verdict):
    document = rb.certify(rb.Game([[1, 0], [0, 1]]), d=[0.5, 0.5], w=[0, 0]).document
    assert document["w"]["numerators"] == []
    document = {**document, "w": {"denominator": below, "numerators": []}}
    accepted, reason = verdict(tampering.with_digest(document))
    assert accepted == proves(document) == (below == "1"), reason


def test_nonsense_has_a_reason(verdict):
    """Wrong types, missing and unknown fields, with the digest recomputed."""
    rng = random.Random(3)
    documents = list(untampered().values())
    changes = (tampering.put_nonsense, tampering.drop_a_field, tampering.add_a_field)
    rejected = 0
    for number in range(700):
        document = copy.deepcopy(rng.choice(documents))
        what = changes[number % 3](document, rng)
        accepted, reason = verdict(tampering.with_digest(document))
        if accepted:
            assert proves(document), what
        rejected += not accepted
        assert not reason.startswith("unreadable") or "ValueError" not in reason, (what, reason)
    assert rejected >= 640


def test_damaged_files_have_a_reason(verdict):
    rng = random.Random(4)
    documents = [json.dumps(document, indent=1) for document in untampered().values()]
    for number in range(300):
        text = documents[number % len(documents)]
        damaged = tampering.damage(text, rng)
        accepted, reason = verdict(damaged)
        assert not accepted or damaged == text, reason
