"""Checks of the schedules and the losses of online learning."""

from __future__ import annotations

import math

import numpy as np

from relaxboost.online.schedules import Constants


def check_schedule(schedule, rounds=200):
    """Check that the β_i of a schedule are positive, never decrease, and match its formula.

    The formula is `Schedule.law`, if the schedule has one.
    """
    rng = np.random.default_rng(0)
    # A schedule that does not need the constant gets inf, and must not use it.
    for lipschitz in (1.0, 1e-3, 40.0) if schedule.needs_lipschitz else (1.0, math.inf):
        known = Constants(lipschitz, 10.0 ** rng.uniform(-3.0, 1.0), 10.0 ** rng.uniform(-1.0, 2.0))
        squares = 0.0
        last = 0.0
        law = schedule.law(known)
        for i in range(rounds):
            beta = schedule.temperature(i, squares, known)
            assert 0.0 < beta < math.inf, "β_i is positive and finite"
            assert beta >= last, "β_i >= β_{i−1}"
            steady = not schedule.steady or i == 0 or beta == last
            assert steady, "all β_i are equal, since the schedule is `steady`"
            if law is not None:
                b, p, q, r = law
                close = math.isclose(beta, b * math.sqrt(p + q * i + r * squares), rel_tol=1e-12)
                assert close, "β_i = b √(p + q i + r squares) of law()"
            last = beta
            # Slopes of 0, small ones and the largest, within the constant.
            size = min(lipschitz, 10.0) * float(rng.choice([0.0, 0.1, 1.0]))
            squares += size * size


def check_online_loss(loss, size=5):
    """Check that a loss is convex, and that its slopes are at most `lipschitz`."""
    rng = np.random.default_rng(0)
    for trial in range(200):
        # The bound of slopes is in the dual norm, for both norms that learners use.
        order, dual = (1, np.inf) if trial % 2 else (2, 2)
        reach, bound, targets = (float(10.0 ** rng.uniform(-1.0, 1.0)) for _ in range(3))
        h, *points = rng.normal(size=(4, size)) * rng.choice([0.0, 1.0], (4, size), p=(0.3, 0.7))
        h *= bound / max(float(np.linalg.norm(h, dual)), 1e-9)
        # By Hölder's inequality the predictions <w, h> are then at most `reach`.
        points = [w * reach / bound / max(float(np.linalg.norm(w, order)), 1e-9) for w in points]
        y = float(rng.choice([-1.0, 1.0] if loss.task == "binary" else [-targets, 0.3 * targets]))
        w = points[0]
        value, u = loss.evaluate(w.copy(), h.copy(), y)
        form = u.shape == (size,) and bool(np.isfinite([value, *u]).all())
        assert form, "evaluate() gives a number and shape (M,), finite"
        steepest = loss.lipschitz(reach, bound, targets) * (1.0 + 1e-9)
        slope = float(np.linalg.norm(u, dual))
        assert slope <= steepest, "‖u‖ <= lipschitz()"
        for x in (*points[1:], -w, 0.0 * w):
            other = loss.evaluate(x.copy(), h.copy(), y)[0]
            above = other - value - float(u @ (x - w))
            rounding = 1e-12 * (abs(value) + abs(other) + 1.0)
            assert above >= -rounding, "Q(x) >= Q(w) + <u, x − w>"
