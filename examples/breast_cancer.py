"""The main job on real data: one game, its certified optimum, and two boosters that find it.

The game: every decision stump of scikit-learn's breast-cancer data (569 examples, 15 310 stumps)
against a distribution over the examples. Its value rho is the largest margin that a weighted vote
of the stumps can guarantee: to every example (hard margin), or to the 56 worst on average (capped,
which forgives mislabelled examples). Each line below brackets the same rho from both sides; the
brackets are proved by points that are evaluated afresh, so all of one game must overlap.

Run it: python examples/breast_cancer.py [picture.png]
"""

from __future__ import annotations

import sys
import time

import relaxboost as rb
from relaxboost import plots, report
from relaxboost.rounding import show_bracket


def solve_all(game: rb.Game) -> list[rb.Solution]:
    """Solve a game with a general solver and with both boosters."""
    return [
        rb.reference(game),
        rb.solve(game, tol=1e-6, method="totally-corrective", verbose=1),
        rb.solve(game, tol=0.05, method="totally-corrective", inner="smoothed", verbose=1),
        rb.solve(game, tol=0.01, method="corrective", step="pairwise", verbose=1),
        rb.solve(game, tol=0.05, method="corrective", step="fig1", verbose=1),
    ]


def table(solutions: list[rb.Solution]) -> str:
    """Return one line per solution: bracket, gap asked and reached, rounds, time."""
    head = f"  {'method':<32}{'certified bracket of rho':^36}{'gap':>8}{'asked':>7}"
    lines = [f"{head}{'rounds':>8}{'bound':>9}{'stumps':>8}{'seconds':>9}"]
    for s in solutions:
        lower, upper = show_bracket(s.lower, s.upper)
        bound = f"{s.bound:.1e}" if s.bound == s.bound else "-"
        lines.append(
            f"  {s.method:<32}{lower:>17}, {upper:<17}{s.gap:>8.0e}{s.tol:>7.0e}"
            f"{s.rounds:>8}{bound:>9}{len(s.support):>8}{s.seconds:>9.2f}"
        )
    return "\n".join(lines)


def main() -> int:
    start = time.perf_counter()
    data = rb.datasets.breast_cancer()
    matrix = rb.matrices.stumps(data.X, data.y, data.feature_names)
    print(f"{data.name}: {matrix.m} examples, all {matrix.n} decision stumps (never written down)")
    print(
        "rounds = calls to the weak learner; bound = what the theory allows Fig. 1, 64 log(m)/gap²"
    )
    best: list[rb.Solution] = []
    for relaxation in (rb.HardMargin(), rb.Capped(k=56)):
        game = rb.Game(matrix, relaxation)
        solutions = solve_all(game)
        verdict = rb.compare(*solutions)
        print(f"\n{relaxation}\n{table(solutions)}")
        low, high = show_bracket(verdict.lower, verdict.upper)
        print(f"  all {len(solutions)} brackets overlap: {verdict.agree};  {low} <= rho <= {high}")
        best.append(solutions[1])
        if not verdict.agree:
            return 1
    print(
        f"\nThe capped optimum in words (+1 is {data.classes[1]}):\n{report.text(best[1], most=5)}"
    )
    if len(sys.argv) > 1:
        plots.save(plots.overview(*best, title=f"{data.name}: all stumps"), sys.argv[1])
        print(f"\npicture: {sys.argv[1]}")
    print(f"\n{time.perf_counter() - start:.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
