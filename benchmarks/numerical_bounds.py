"""Which functions of cvxpy get a bracket of 1e-6, and is every bracket right?

Three hundred random f, the samples of the conformance suite and the examples of the documentation
are played on a small game each. A bracket is lost if its relative gap is above 1e-6, and false if
the optimum that cvxpy finds for the whole game lies outside by more than 1e-8 of its size.

Run: python benchmarks/numerical_bounds.py [FIRST LAST]
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
from common import machine, table

import relaxboost as rb

SIZE = 30
"""The number of examples of each game."""
LOST = 1e-6
"""The relative gap above which a bracket is lost."""
FALSE = 1e-8
"""The error of an optimum found by cvxpy, relative to its size."""
POWERS = (1.25, 1.5, 2.5, 3.0, 4.0)
NORMS = (1.5, 3.0, 4.0, 8.0, 20.0)

Make = Callable[[Any, np.random.Generator], Any]


def _moments(d: Any, rng: np.random.Generator) -> Any:
    X = rng.normal(size=(SIZE, 3))
    return X.T @ cp.diag(d) @ X


def _definite(d: Any, rng: np.random.Generator) -> Any:
    return _moments(d, rng) + 0.1 * np.eye(3)


def _prior(rng: np.random.Generator) -> Any:
    return rng.dirichlet(np.ones(SIZE))


def _mixed(d: Any, rng: np.random.Generator) -> Any:
    return rng.normal(size=(5, SIZE)) @ d


EVERYWHERE: dict[str, Make] = {
    "norm2": lambda d, r: cp.norm2(d - _prior(r)),
    "norm2 of Qd": lambda d, r: cp.norm2(_mixed(d, r)),
    "sum_squares": lambda d, r: cp.sum_squares(_mixed(d, r)),
    "quad_form": lambda d, r: cp.quad_form(d, np.diag(r.uniform(0.0, 3.0, SIZE))),
    "norm1": lambda d, r: cp.norm1(d - _prior(r)),
    "norm_inf": lambda d, r: cp.norm_inf(_mixed(d, r)),
    "max": lambda d, r: cp.max(d - _prior(r)),
    "sum_largest": lambda d, r: cp.sum_largest(d, int(r.integers(1, SIZE))),
    "tv": lambda d, r: cp.tv(d),
    "cumsum": lambda d, r: cp.norm1(cp.cumsum(d - _prior(r))),
    "huber": lambda d, r: cp.sum(cp.huber(10.0 * d, 0.5)),
    "squared hinge": lambda d, r: 10.0 * cp.sum_squares(cp.pos(d - 2.0 / SIZE)),
    "pnorm": lambda d, r: cp.pnorm(d, float(r.choice(NORMS))),
    "pnorm, no approximation": lambda d, r: cp.pnorm(d, float(r.choice(NORMS)), approx=False),
    "power of abs": lambda d, r: cp.sum(cp.power(cp.abs(10.0 * d), float(r.choice(POWERS)))),
    "exp": lambda d, r: cp.sum(cp.exp(_mixed(d, r))),
    "log_sum_exp": lambda d, r: cp.log_sum_exp(5.0 * _mixed(d, r)),
    "logistic": lambda d, r: cp.sum(cp.logistic(10.0 * d)),
    "log_normcdf": lambda d, r: -cp.sum(cp.log_normcdf(5.0 * d)),
    "std": lambda d, r: cp.std(10.0 * d),
    "mixed_norm": lambda d, r: cp.mixed_norm(cp.reshape(d, (6, 5), order="F"), 2, 1),
    "dotsort": lambda d, r: cp.dotsort(d, np.sort(r.random(SIZE))),
    "cvar": lambda d, r: cp.cvar(d, 0.8),
    "sigma_max": lambda d, r: cp.sigma_max(cp.reshape(d, (6, 5), order="F")),
    "nuclear norm": lambda d, r: cp.norm(cp.reshape(d, (6, 5), order="F"), "nuc"),
    "lambda_max": lambda d, r: cp.lambda_max(_moments(d, r)),
    "lambda_sum_largest": lambda d, r: cp.lambda_sum_largest(_moments(d, r), 2),
}
INSIDE: dict[str, Make] = {
    "quad_over_lin": lambda d, r: cp.quad_over_lin(d, 0.1 + d[0]),
    "power": lambda d, r: cp.sum(cp.power(10.0 * d, float(r.choice(POWERS)))),
    "power, no approximation": lambda d, r: cp.sum(
        cp.power(10.0 * d, float(r.choice(POWERS)), approx=False)
    ),
    "sqrt": lambda d, r: -cp.sum(cp.sqrt(d)),
    "geo_mean": lambda d, r: -cp.geo_mean(d),
    "geo_mean, no approximation": lambda d, r: -cp.geo_mean(d, approx=False),
    "harmonic_mean": lambda d, r: -cp.harmonic_mean(d),
    "inv_pos": lambda d, r: 1e-3 * cp.sum(cp.inv_pos(d)),
    "inv_prod": lambda d, r: cp.inv_prod(10.0 * d[:3]),
    "entr": lambda d, r: -cp.sum(cp.entr(d)),
    "kl_div": lambda d, r: cp.sum(cp.kl_div(d, _prior(r))),
    "rel_entr": lambda d, r: cp.sum(cp.rel_entr(_prior(r), d)),
    "log": lambda d, r: -cp.sum(cp.log(d)) / SIZE,
    "log1p": lambda d, r: -cp.sum(cp.log1p(10.0 * d)),
    "log_det": lambda d, r: -cp.log_det(_definite(d, r)),
    "matrix_frac": lambda d, r: cp.matrix_frac(r.normal(size=3), _definite(d, r)),
    "tr_inv": lambda d, r: cp.tr_inv(_definite(d, r)),
}
ATOMS = EVERYWHERE | INSIDE
NEEDED = {"convolution": list(EVERYWHERE)}
FORMS = ("plain", "plain", "ball", "convolution", "height", "sum", "flow")


def random_function(seed: int) -> tuple[str, Callable[[Any], Any]]:
    """Return the name of a random f and a function of a cvxpy variable for it."""
    rng = np.random.default_rng([seed, 43])
    form = str(rng.choice(FORMS))
    name, other = (str(rng.choice(NEEDED.get(form, list(ATOMS)))) for _ in range(2))
    weight = float(10.0 ** rng.uniform(-1.5, 1.0))
    moved = 0.3 * rng.dirichlet(np.ones(SIZE)) + 0.7 / SIZE

    def atom(d: Any, which: str = name) -> Any:
        return ATOMS[which](d, np.random.default_rng(seed))

    def f(d: Any) -> Any:
        if form == "plain":
            return weight * atom(d)
        if form == "sum":
            return weight * atom(d) + 0.3 * atom(d, other)
        if form == "ball":
            near, even = (cp.Constant(x) for x in (moved, np.full(SIZE, 1.0 / SIZE)))
            level = float(max(atom(near).value, atom(even).value))
            return 0.1 * cp.sum_squares(d), [atom(d) <= level + 1e-3 * weight]
        if form == "height":
            height = cp.Variable()
            return weight * height, [atom(d) <= height]
        z = cp.Variable(SIZE)
        if form == "convolution":
            return weight * atom(d - z) + 0.3 * cp.norm1(z), []
        flow = cp.Variable(SIZE, nonneg=True)
        ends = z - moved == flow - flow[np.r_[1:SIZE, 0]]
        return weight * atom(d) + cp.sum(flow), [ends, cp.norm1(d - z) <= 0.2]

    with_other = f" + {other}" if form == "sum" else ""
    return f"{name}{with_other} ({form}, {weight:.2g})", f


def optimum(A: Any, f: rb.Relaxation) -> float:
    """Return the value of the game over the l1 ball by one program, nan if no solver answers."""
    d = cp.Variable(A.shape[0], nonneg=True)
    value, constraints = f.cvxpy_penalty(d)
    goal = cp.Minimize(value + cp.norm_inf(A.T @ d))
    problem = cp.Problem(goal, [cp.sum(d) == 1.0, *constraints])
    for tol in (1e-11, 1e-10, 1e-9):
        names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
        try:
            options = dict.fromkeys(names, tol)
            problem.solve(solver="CLARABEL", warm_start=False, max_iter=300, **options)
        except cp.SolverError:
            continue
        if problem.status == "optimal":
            return float(problem.value)
    return math.nan


def play(name: str, f: rb.Relaxation, seed: int) -> dict[str, Any]:
    """Return what the package makes of one game, and what cvxpy does."""
    A = np.random.default_rng([seed, 7]).uniform(-1.0, 1.0, (SIZE, 8))
    start = time.process_time()
    row: dict[str, Any] = {"name": name, "lower": -math.inf, "upper": math.inf, "message": ""}
    try:
        found = rb.solve(rb.Game(A, f), rtol=1e-7, time_limit=20)
        row |= {"lower": found.lower, "upper": found.upper, "message": found.message}
    except rb.InputError as error:
        row["message"] = f"refused: {error}"
    row["seconds"] = time.process_time() - start
    row["truth"] = optimum(A, f.resolve(SIZE)) if "refused" not in row["message"] else math.nan
    size = 1.0 + abs(row["truth"])
    row["lost"] = not row["upper"] - row["lower"] <= LOST * min(1e300, 1.0 + abs(row["upper"]))
    beyond = max(row["lower"] - row["truth"], row["truth"] - row["upper"])
    row["false"] = bool(beyond > FALSE * size)
    row["beyond"] = beyond / size
    return row


def named_functions() -> list[tuple[str, rb.Relaxation]]:
    """Return the functions of the conformance suite and of the documentation."""
    X = np.random.default_rng(0).normal(size=(SIZE, 3))
    return [
        ("soft cap", rb.Custom(lambda d: 10 * cp.sum_squares(cp.pos(cp.abs(d) - 1 / 20)))),
        ("its twin", rb.Custom(
            conjugate=lambda t: cp.norm1(t) / 20 + cp.sum_squares(t) / 40)),
        ("a ball", rb.Custom(lambda d: (0.0, [cp.norm2(d) <= 0.3]))),
        ("soft cap + ball", 0.5 * rb.Custom(cp.sum_squares)
         + rb.Custom(lambda d: (0.0, [cp.norm2(d) <= 0.3]))),
        ("largest moment", rb.Custom(lambda d: 0.1 * cp.lambda_max(X.T @ cp.diag(d) @ X))),
        ("steps", rb.Custom(lambda d: (0.5 * cp.max(d), [d <= 3.0 / SIZE]))),
        ("capped conjugate", rb.Custom(conjugate=lambda t: cp.norm1(t) / 4)),
        ("norm conjugate", rb.Custom(conjugate=lambda t: 0.3 * cp.norm2(t))),
        ("entropy conjugate", rb.Custom(
            conjugate=lambda x: 30 * (cp.sum(cp.exp(x / 30)) / SIZE - 1))),
        ("overweight", rb.f_divergence(lambda t: cp.square(cp.pos(t - 1)), weight=0.3)),
        ("divergence ball", rb.f_divergence(lambda t: cp.square(t - 1), radius=0.3)),
        ("Jensen-Shannon", rb.f_divergence(
            lambda t: 0.5 * (cp.kl_div(t, 0.5 * (1 + t)) + cp.kl_div(1, 0.5 * (1 + t))),
            weight=0.5)),
        ("shifted norm", rb.NormPenalty(2, 0.3).shifted(-0.5 / SIZE)),
        ("scaled norm", rb.NormPenalty(3, 0.3).scaled(2)),
        ("sum of norms", rb.NormPenalty(2, 0.3) + rb.NormPenalty(3, 0.3)),
    ]  # fmt: skip


def main() -> None:
    """Print the brackets that are lost or false, and the time."""
    first, last = (int(x) for x in sys.argv[1:3]) if len(sys.argv) > 2 else (0, 300)
    warnings.simplefilter("ignore", UserWarning)
    tried = [(name, f) for name, f in named_functions() if first == 0]
    tried += [(n, rb.Custom(f)) for n, f in map(random_function, range(first, last))]
    rows = [play(name, f, seed) for seed, (name, f) in enumerate(tried)]
    machine()
    print(f"{len(rows)} functions, {sum(r['seconds'] for r in rows):.0f} CPU seconds")
    header = ["function", "lower", "upper", "cvxpy", "lost", "false", "message"]
    kept = [r for r in rows if r["lost"] or r["false"]]
    table("Brackets lost or false", header, [
        [r["name"], r["lower"], r["upper"], r["truth"], r["lost"], r["false"], r["message"][:150]]
        for r in kept
    ])  # fmt: skip


if __name__ == "__main__":
    main()
