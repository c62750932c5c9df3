"""Obviously right, slow versions of what the package computes fast, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import atanh, ceil, exp, log

import cvxpy as cp
import numpy as np
from flint import arb, ctx, fmpq
from scipy.optimize import linprog


def rational(x: float | Fraction) -> fmpq:
    """Return a double (or a Fraction) as the rational it is."""
    q = Fraction(x)
    return fmpq(q.numerator, q.denominator)


def ball(x: float | Fraction) -> arb:
    return arb(rational(x))


def fraction(q: fmpq) -> Fraction:
    return Fraction(int(q.p), int(q.q))


def exact_game_value(A: np.ndarray, k: Fraction | float | None = None) -> Fraction:
    """Return the value of the hard-margin game, or with `k` of the capped one, as a Fraction.

    The dual as a linear program, max γ − (1/k) Σ ξ_i subject to γ <= ξ_i + (A(p − q))_i and
    Σ(p + q) <= 1 with γ = γ⁺ − γ⁻ and everything non-negative, is feasible at the origin, so
    the textbook primal simplex with Bland's rule solves it without a first phase.
    """
    m, n = A.shape
    zero, one = fmpq(0), fmpq(1)
    rows = []
    for i in range(m):
        a = [rational(float(x)) for x in A[i]]
        slack_xi = [] if k is None else [fmpq(-int(j == i)) for j in range(m)]
        rows.append([one, -one, *[-x for x in a], *a, *slack_xi])
    rows.append([zero, zero, *[one] * (2 * n), *([] if k is None else [zero] * m)])
    cost = [one, -one, *[zero] * (2 * n), *([] if k is None else [-1 / rational(k)] * m)]
    return fraction(_simplex(rows, [zero] * m + [one], cost))


def _simplex(A: list[list[fmpq]], b: list[fmpq], c: list[fmpq]) -> fmpq:
    """Return max c·x subject to A x <= b, x >= 0, for b >= 0 (Bland's rule)."""
    m, n = len(A), len(c)
    table = [[*row, *[fmpq(int(i == j)) for j in range(m)], b[i]] for i, row in enumerate(A)]
    reduced = [*c, *[fmpq(0)] * m, fmpq(0)]
    basis = list(range(n, n + m))
    while True:
        enter = next((j for j in range(n + m) if reduced[j] > 0), None)
        if enter is None:
            return -reduced[-1]
        ratios = [
            (row[-1] / row[enter], basis[i], i) for i, row in enumerate(table) if row[enter] > 0
        ]
        assert ratios, "the margin of a game is bounded"
        _, _, leave = min(ratios, key=lambda r: (r[0], r[1]))
        pivot = table[leave][enter]
        table[leave] = [x / pivot for x in table[leave]]
        for row in [*(r for i, r in enumerate(table) if i != leave), reduced]:
            factor = row[enter]
            if factor != 0:
                for j, x in enumerate(table[leave]):
                    row[j] -= factor * x
        basis[leave] = enter


def fig2_exact(u: np.ndarray, beta: float, k: float, bits: int = 300) -> list[arb]:
    """Return Fig. 2 of SS09 as printed (with its ENDIF), in ball arithmetic.

    The input is d_0 proportional to exp(−u/β), normalised, and ν = 1/k. Balls have no smallest
    exponent, so nothing underflows. Where two balls overlap in the test ξ u_i <= ν (ties) both
    branches give the same d.
    """
    previous, ctx.prec = ctx.prec, bits
    try:
        exact_u = [rational(float(x)) for x in u]
        low = min(exact_u)
        d0 = [(arb(low - x) / arb(rational(beta))).exp() for x in exact_u]
        total = sum(d0, arb(0))
        d0 = [x / total for x in d0]
        nu = 1 / arb(rational(k))
        order = sorted(range(len(d0)), key=lambda i: exact_u[i])
        tails = [sum((d0[i] for i in reversed(order[r:])), arb(0)) for r in range(len(order))]
        xi = arb(0)
        for r, i in enumerate(order):
            xi = (1 - nu * r) / tails[r]
            if not xi * d0[i] > nu:
                break
        return [(xi * x).min(nu) for x in d0]
    finally:
        ctx.prec = previous


def fig2_float(theta: np.ndarray, nu: float) -> np.ndarray:
    """Return Fig. 2 of SS09 as printed, in the linear domain and in floating point."""
    d0 = np.exp(theta)
    u = np.sort(d0)[::-1]
    z = u.sum()
    xi = 0.0
    for i in range(u.size):
        xi = (1 - nu * i) / z
        if xi * u[i] <= nu:
            break
        z -= u[i]
    return np.minimum(nu, xi * d0)


def fig2_walked(u: np.ndarray, beta: float, k: float) -> list[float]:
    """Return Fig. 2 of SS09 in the log domain: sorted, and walked from the smallest margin on."""
    ordered, tails = sorted(u.tolist()), [1.0]
    for here, after in reversed(list(pairwise(ordered))):
        tails.append(1.0 + exp(-(after - here) / beta if after > here else 0.0) * tails[-1])
    i, tail = next((i, T) for i, T in enumerate(reversed(tails)) if k - i <= T)
    rest, pivot = (k - i) / k / tail, ordered[i]
    return [
        1.0 / k if x < pivot else min(1.0 / k, rest * exp((pivot - x) / beta)) for x in u.tolist()
    ]


def average_of_smallest(u: np.ndarray, k: Fraction | float) -> Fraction:
    """Return AvgMin_k(u) with its fractional tail, as a Fraction."""
    k = Fraction(k)
    ordered = sorted(Fraction(float(x)) for x in u)
    whole = int(k)
    total = sum(ordered[:whole], Fraction(0))
    if k != whole:
        total += (k - whole) * ordered[ceil(k) - 1]
    return total / k


def entropy_projection(columns: np.ndarray, level: float, k: float) -> np.ndarray:
    """Return the d nearest to the uniform one with d <= 1/k and no edge above the level."""
    m = columns.shape[0]
    d = cp.Variable(m, nonneg=True)
    below = [columns.T @ d <= level, d <= 1.0 / k, cp.sum(d) == 1]
    problem = cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(d, np.full(m, 1.0 / m)))), below)
    problem.solve(solver="CLARABEL")
    assert problem.status == "optimal"
    return np.asarray(d.value)


class AdaBoostTwin:
    """AdaBoost and AdaBoost* with lists and loops, told which column to take."""

    def __init__(self, A: np.ndarray, rule: str, nu: float = 0.0) -> None:
        self.A = [[float(a) for a in row] for row in A]
        self.m, self.n = A.shape
        self.rule, self.nu, self.least = rule, nu, float("inf")
        self.w = [0.0] * self.n

    def margins(self) -> list[float]:
        return [sum(a * x for a, x in zip(row, self.w, strict=True)) for row in self.A]

    def risk(self) -> float:
        return sum(exp(-u) for u in self.margins()) / self.m

    def d(self) -> list[float]:
        weights = [exp(-u) for u in self.margins()]
        return [x / sum(weights) for x in weights]

    def edges(self) -> list[float]:
        d = self.d()
        return [sum(d[i] * self.A[i][j] for i in range(self.m)) for j in range(self.n)]

    def take(self, j: int) -> float:
        """Take the step along column j, and return its length."""
        edge = self.edges()[j]
        sign, gamma = (1, edge) if edge > 0 else (-1, -edge)
        if self.rule == "lecture":
            eta = gamma
        elif self.rule == "classical":
            eta = log((1 + gamma) / (1 - gamma)) / 2
        elif self.rule == "star":
            self.least = min(self.least, gamma)
            rho = self.least - self.nu
            eta = log((1 + gamma) / (1 - gamma)) / 2 - log((1 + rho) / (1 - rho)) / 2
        else:
            eta = self.bisect(j, sign)
        self.w[j] += sign * eta
        return eta

    def bisect(self, j: int, sign: int) -> float:
        """Return the step at which the derivative of the risk changes its sign."""
        d, column = self.d(), [sign * self.A[i][j] for i in range(self.m)]
        if min(column) >= 0:
            return atanh(1 - 2**-53)  # what is agreed on where there is no minimiser
        low, high = 0.0, 100.0
        for _ in range(200):
            eta = (low + high) / 2
            falls = sum(p * a * exp(-eta * a) for p, a in zip(d, column, strict=True)) > 0
            low, high = (eta, high) if falls else (low, eta)
        return eta


def best_by_linear_program(A: np.ndarray) -> float:
    """Return, in floating point, max over ‖w‖_1 <= 1 of min_i (A w)_i."""
    m, n = A.shape
    rows = np.hstack([-A, A, np.ones((m, 1))])
    norm = np.concatenate([np.ones(2 * n), [0.0]])
    found = linprog(
        -np.eye(2 * n + 1)[-1],
        A_ub=np.vstack([rows, norm]),
        b_ub=np.append(np.zeros(m), 1.0),
        bounds=[(0, None)] * (2 * n) + [(None, None)],
    )
    return -found.fun


def best_stump(X: np.ndarray, p: np.ndarray, v: np.ndarray, leaf: str) -> tuple[float, list]:
    """Return the largest Σ p <h, v>/‖h‖ over all stumps, and the splits with it.

    A split is (j, the rows of positive weight on the left).
    Every feature, every threshold, and both leaves by explicit loops; a constant has no rows on the
    right. `leaf` is "vector", "sign" (−1 or +1) or "class" (1 at a class, −1/(K−1) elsewhere).
    """
    N, K = v.shape
    splits = {(0, tuple(range(N)))}
    for j in range(X.shape[1]):
        for c in {X[n, j] for n in range(N) if p[n] > 0.0}:
            splits.add((j, tuple(n for n in range(N) if X[n, j] <= c)))
    scored = []
    for j, left in sorted(splits):
        h = np.zeros((N, K))
        for side in (left, [n for n in range(N) if n not in left]):
            weight = sum(p[n] for n in side)
            sums = [sum(p[n] * v[n, k] for n in side) for k in range(K)]
            for n in side:
                for k in range(K):
                    if leaf == "vector":
                        h[n, k] = sums[k] / weight if weight > 0.0 else 0.0
                    elif leaf == "sign":
                        h[n, k] = -1.0 if sums[k] < 0.0 else 1.0
                    else:
                        h[n, k] = 1.0 if k == sums.index(max(sums)) else -1.0 / (K - 1)
        inner = sum(p[n] * h[n, k] * v[n, k] for n in range(N) for k in range(K))
        square = sum(p[n] * h[n, k] ** 2 for n in range(N) for k in range(K))
        held = tuple(n for n in left if p[n] > 0.0)
        scored.append((inner / square**0.5 if square > 0.0 else 0.0, j, held))
    best = max(score for score, _, _ in scored)
    return best, [(j, left) for score, j, left in scored if score >= best - 1e-12]
