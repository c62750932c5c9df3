"""Relaxations written in cvxpy, solved by relaxboost and by cvxpy alone.

"plain" is the fastest of four runs of cvxpy: the primal and the dual problem of the game, each by
HiGHS and by Clarabel (conic games by Clarabel only). `solve` runs to a gap of 1e-6. The time of
declaring a game stands in a column of its own. All times are CPU seconds, interleaved.

With "certify", the polyhedral forms are solved and certified instead, with and without an equation
that follows from the others: in doubles such equations contradict each other, and f has no proof.

Run: python benchmarks/forms_with_rows.py [all | large | random | certify | NAME ...]
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
from common import machine, table
from scipy import sparse

import relaxboost as rb
from relaxboost.game import programs
from relaxboost.relaxations import Relaxation

Array = np.ndarray[Any, Any]


class Case(NamedTuple):
    """A game by its matrix and a function that makes its relaxation."""

    name: str
    matrix: Array
    relaxation: Callable[[], Relaxation]
    linear: bool


def stumps(m: int, n: int, seed: int = 0) -> Array:
    """Return margins of `n` stumps on noisy points of a line and two more features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    y = np.sign(X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=m))
    feature = rng.integers(3, size=n)
    cut = X[rng.integers(m, size=n), feature]
    return np.asarray(y[:, None] * np.where(X[:, feature] > cut, 1.0, -1.0))


def wasserstein(m: int, radius: float) -> Relaxation:
    """Return the ball of the 1-Wasserstein distance to the uniform distribution on a line."""
    return rb.Custom(lambda d: (0.0, [cp.sum(cp.abs(cp.cumsum(d - 1.0 / m))) <= radius]))


def flows(m: int, radius: float, equations: int | None = None) -> Relaxation:
    """Return the same ball, by a flow between neighbours on the line, with so many equations."""
    right, left = np.arange(m - 1), np.arange(1, m)
    ones = np.ones(m - 1)
    net = sparse.csr_array((ones, (left, right)), (m, m - 1))
    net = net - sparse.csr_array((ones, (right, right)), (m, m - 1))

    def ball(d: Any) -> Any:
        forth, back = cp.Variable(m - 1, nonneg=True), cp.Variable(m - 1, nonneg=True)
        moved = (d - 1.0 / m - net @ (forth - back))[:equations] == 0.0
        return 0.0, [moved, cp.sum(forth) + cp.sum(back) <= radius]

    return rb.Custom(ball)


def group_fair(m: int, groups: int, part: float) -> Relaxation:
    """Return the least over groups of the mean of the `part` smallest margins of the group."""
    member = np.arange(m) % groups
    rows = sparse.csr_array((np.ones(m), (member, np.arange(m))), (groups, m))
    cap = 1.0 / (part * np.bincount(member))

    def mixture(d: Any) -> Any:
        share = cp.Variable(groups, nonneg=True)
        return 0.0, [rows @ d == share, d <= cp.multiply(cap[member], rows.T @ share)]

    return rb.Custom(mixture)


def spectral(m: int) -> Relaxation:
    """Return a mixture of three means of smallest margins."""
    return rb.relaxations.SpectralRisk([m // 10, m // 4, m], [0.5, 0.3, 0.2])


def total_variation(m: int, radius: float) -> Relaxation:
    """Return the ball of half the l1 distance to the uniform distribution."""
    return rb.Custom(lambda d: (0.0, [0.5 * cp.norm1(d - 1.0 / m) <= radius]))


def transport(m: int, neighbours: int, weight: float, equations: int | None = None) -> Relaxation:
    """Return the price of moving the uniform distribution to d along a graph of near points."""
    rng = np.random.default_rng(1)
    x = np.sort(rng.random(m))
    arcs = [(i, i + k) for k in range(1, neighbours + 1) for i in range(m - k)]
    tail, head = np.array(arcs).T
    cost = np.abs(x[head] - x[tail]) + 1e-3
    place = np.arange(len(arcs))
    net = sparse.csr_array((np.ones(len(arcs)), (head, place)), (m, len(arcs)))
    net = net - sparse.csr_array((np.ones(len(arcs)), (tail, place)), (m, len(arcs)))

    def price(d: Any) -> Any:
        forth = cp.Variable(len(arcs), nonneg=True)
        back = cp.Variable(len(arcs), nonneg=True)
        moved = (d - 1.0 / m - net @ (forth - back))[:equations] == 0.0
        return weight * cost @ (forth + back), [moved]

    return rb.Custom(price)


def transport_plan(m: int, radius: float) -> Relaxation:
    """Return the ball of the optimal-transport distance on a line, with the plan as variables."""
    x = np.sort(np.random.default_rng(2).random(m))
    cost = np.abs(x[:, None] - x)

    def ball(d: Any) -> Any:
        plan = cp.Variable((m, m), nonneg=True)
        moved = cp.sum(cp.multiply(cost, plan))
        return 0.0, [cp.sum(plan, axis=1) == 1.0 / m, cp.sum(plan, axis=0) == d, moved <= radius]

    return rb.Custom(ball)


def random_relaxation(kind: int, m: int, seed: int) -> Relaxation:
    """Return one of twelve kinds of relaxation, the first six of them polyhedral."""
    rng = np.random.default_rng(seed)
    prior = rng.random(m) + 0.5
    prior /= prior.sum()
    groups = max(2, m // 25)
    G = sparse.csr_array((np.ones(m), (rng.integers(groups, size=m), np.arange(m))), (groups, m))
    R = sparse.random_array((max(3, m // 10), m), density=5.0 / m, rng=rng, format="csr")
    dense = rng.normal(size=(8, m))
    makers: list[Callable[[Any], Any]] = [
        lambda d: (0.0, [cp.norm1(d - prior) <= 0.3, d <= 4.0 * prior]),
        lambda d: (0.2 * cp.max(m * d - 1.0), [G @ d <= 2.0 * (G @ prior)]),
        lambda d: (cp.max(dense @ d) + 0.1 * cp.norm1(R @ d), [d <= 10.0 / m]),
        lambda d: (0.0, [cp.sum_largest(d, max(1, m // 10)) <= 0.3, cp.norm1(G @ d) <= 1.0]),
        lambda d: 0.5 * cp.norm1(cp.diff(m * d)) / m,
        lambda d: (0.0, [cp.norm_inf(G @ (d - prior)) <= 0.3 / groups, d <= 5.0 / m]),
        lambda d: (0.0, [cp.norm2(d - prior) <= 1.0 / math.sqrt(m)]),
        lambda d: 0.1 * m * cp.sum_squares(d - prior),
        lambda d: 0.1 * cp.sum(cp.kl_div(d, prior)),
        lambda d: (0.0, [cp.sum(cp.kl_div(d, prior)) <= 0.2]),
        lambda d: (0.3 * cp.norm2(R @ d), [cp.norm1(d - prior) <= 0.5]),
        lambda d: (cp.sum(cp.norm(cp.reshape(d[: m - m % 5], (m // 5, 5), "C"), 2, axis=1)), [
            d <= 8.0 / m
        ]),
    ]  # fmt: skip
    return rb.Custom(makers[kind])


def named(large: bool) -> Iterator[Case]:
    """Yield the forms by name, at the size of a development set or at ten times it."""
    m, n = (5000, 200) if large else (500, 300)
    A = stumps(m, n)
    radius = 0.05 * m
    yield Case("wasserstein", A, lambda: wasserstein(m, radius), True)
    yield Case("flows", A, lambda: flows(m, radius), True)
    yield Case("group-fair", A, lambda: group_fair(m, 8, 0.2), True)
    yield Case("spectral", A, lambda: spectral(m), True)
    yield Case("total-variation", A, lambda: total_variation(m, 0.3), True)
    yield Case("transport", A, lambda: transport(m, 3, 2.0), True)
    few = m // 5  # a plan has a variable for each pair of examples
    yield Case("transport-plan", A[:few], lambda: transport_plan(few, 0.05), True)


def random() -> Iterator[Case]:
    """Yield sixty games, five of each kind, with 50 to 2000 examples."""
    for i in range(60):
        kind = i % 12
        m = (50, 120, 300, 800, 2000)[i // 12]
        A = stumps(m, min(m, 50 + 10 * kind), seed=i)
        yield Case(
            f"random-{kind}-{m}", A, lambda k=kind, m=m, s=i: random_relaxation(k, m, s), kind < 6
        )


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of a call, and what it returns."""
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def plain(case: Case, side: str, solver: str) -> float:
    """Return the optimum that cvxpy finds, nan where it fails."""
    model = getattr(programs, side)(case.matrix, case.relaxation().resolve(len(case.matrix))
                                    if case.name.startswith("spectral") else case.relaxation(),
                                    rb.L1Ball())  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(model.problem.solve(solver=solver))
        except (cp.SolverError, ValueError, NotImplementedError):
            # cvxpy cannot write or solve this side; the other sides of the game still compete.
            return math.nan


def measure(case: Case, repeats: int) -> list[Any]:
    """Return a row of the table: times, ratios and whether the brackets hold the optimum."""
    solvers = ("HIGHS", "CLARABEL") if case.linear else ("CLARABEL",)
    runs = {(side, s): math.inf for side in ("primal", "dual") for s in solvers}
    declare = reference = solve = math.inf
    value = math.nan
    for _ in range(repeats):
        for run in runs:
            spent, found = seconds(lambda run=run: plain(case, *run))
            if math.isfinite(found):
                runs[run] = min(runs[run], spent)
                value = found
        spent, game = seconds(lambda: rb.Game(case.matrix, case.relaxation()))
        declare = min(declare, spent)
        spent, ref = seconds(lambda game=game: rb.reference(game))
        reference = min(reference, spent)
        game = rb.Game(case.matrix, case.relaxation())
        spent, sol = seconds(lambda game=game: rb.solve(game, 1e-6))
        solve = min(solve, spent)
    (side, solver), least = min(runs.items(), key=lambda item: item[1])
    near = 1e-5 * (1.0 + abs(value))
    holds = all(s.lower - near <= value <= s.upper + near for s in (ref, sol))
    # If no run of cvxpy has found an optimum, nothing can be compared.
    verdict = "no optimum" if math.isnan(value) else "yes" if holds else "NO"
    gaps = f"{ref.gap:.0e}, {sol.gap:.0e}"
    return [
        case.name, f"{side} {solver}", least, declare, reference, solve,
        reference / least, solve / least, gaps, verdict,
    ]  # fmt: skip


def to_certify(m: int = 500, n: int = 300) -> Iterator[Case]:
    """Yield the polyhedral forms on random margins, and again without redundant equations."""
    A = np.clip(np.random.default_rng(0).uniform(-1.0, 1.0, (m, n)) + 0.1, -1.0, 1.0)
    for case in named(False):
        yield case._replace(matrix=A)
    yield Case("flows, m-1 rows", A, lambda: flows(m, 0.05 * m, m - 1), True)
    yield Case("transport, m-1 rows", A, lambda: transport(m, 3, 2.0, m - 1), True)


def measure_certificate(case: Case) -> list[Any]:
    """Return a row of the table of certificates: times, the size in MB, and the gap proved."""
    game = rb.Game(case.matrix, case.relaxation())
    solve, solution = seconds(lambda: rb.solve(game, 1e-6))
    certify, certificate = seconds(lambda: rb.certify(solution))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        certificate.save(path)
        check, verdict = seconds(lambda: rb.check_certificate(path))
        megabytes = path.stat().st_size / 1e6
    fresh = rb.Game(case.matrix, case.relaxation())
    try:
        value, _ = seconds(lambda: rb.exact_value(fresh, time_limit=120.0))
    except (rb.InputError, rb.certificates.NotClosed):
        value = math.nan  # f is infinite in exact arithmetic, or the time is up
    return [
        case.name, solve, value, certify, certify / solve, certify / value, check, megabytes,
        certificate.level, f"{solution.gap:.1e}", f"{float(certificate.gap):.1e}",
        "yes" if verdict else "no",
    ]  # fmt: skip


def certificates() -> None:
    """Print the table of certificates."""
    rows = []
    for case in to_certify():
        rows.append(measure_certificate(case))
        print(*rows[-1], file=sys.stderr, flush=True)
    table(
        "certificates of forms with rows, CPU seconds",
        ("game", "solve", "exact_value", "certify", "certify / solve", "certify / exact_value",
         "check", "MB", "level", "gap of solve", "gap proved", "accepted"),
        [[f"{x:.2f}" if isinstance(x, float) else x for x in row] for row in rows],
    )  # fmt: skip


def main() -> None:
    machine()
    wanted = sys.argv[1:] or ["all"]
    if wanted == ["certify"]:
        certificates()
        return
    cases = [*named(False), *random()]
    if "large" in wanted:
        cases = [*named(True)]
    elif "random" in wanted:
        cases = [*random()]
    elif "all" not in wanted:
        cases = [c for c in cases if any(c.name.startswith(name) for name in wanted)]
    rows = []
    for case in cases:
        rows.append(measure(case, 1 if "large" in wanted else 2))
        print(*rows[-1], file=sys.stderr, flush=True)
    # Where cvxpy fails on every side there is no ratio.
    solved = [row for row in rows if math.isfinite(row[2])]
    means = [math.exp(np.mean([math.log(row[i]) for row in solved])) for i in (6, 7)]
    shown = [[f"{x:.3f}" if isinstance(x, float) else x for x in row] for row in rows]
    shown.append(["geometric mean", *[""] * 5, *(f"{x:.2f}" for x in means), "", ""])
    table(
        "forms with rows, CPU seconds",
        ("game", "best plain", "plain", "Game(...)", "reference", "solve", "reference / plain",
         "solve / plain", "gaps", "holds"),
        shown,
    )  # fmt: skip


if __name__ == "__main__":
    main()
