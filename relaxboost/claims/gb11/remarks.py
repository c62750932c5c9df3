"""GB11, Sec. 4.2: remarks on averages, thresholds, and the number of weak learners."""

import math

import numpy as np

from relaxboost.claims.gb11.problems import RUNS, STRONG, Kinks, space, spans
from relaxboost.claims.gb11.repeated import bound4, strongly, wasted, weakly
from relaxboost.claims.gb11.residual import residuals
from relaxboost.claims.gb11.source import SOURCE
from relaxboost.claims.language import *
from relaxboost.functional.algorithms import Repeated, Residual


@SOURCE.claim(
    "average",
    ("Sec. 4.2, the average optimality gap", "Sec. 4.2, first paragraph"),
    "Where the average gap goes to 0 and the steps decrease, the gap of f_t goes to 0.",
    formula="R[f_{T−1}] − R[f*] ≤ [D²/2 + 2G²(3 + 2 ln T) + DGq(3 − 2q)/(1 − q)²]/sqrt(T)",
    printed="By showing that the average optimality gap approaches 0 as T grows large, for "
    "decreasing step sizes, it can be shown that the optimality gap R[f_t] − R[f*] also "
    "approaches 0.",
    given="Algorithm 2 (for Algorithm 3: average-residual), η_t = 1/sqrt(t), q = sqrt(1 − γ²) < 1; "
    "D bounds the distances of the points visited and f*",
    space=RUNS,
).checked(trials=60)
def average(x: Instance) -> Slacks:
    """Not from the averages alone, which rare peaks do not disturb; from how the f_t come about.

    Proof. For q_t >= 0 and steps that decrease, η_T q_T <= (1/T) Σ η_t q_t + Σ_{k<T} (1/(k(k+1)))
    Σ_{T−k≤t≤T} η_t (q_t − q_{T−k}) (Orabona, 2020); let q_t be the gap of f_{t−1}. For every u and
    s, Σ_{s≤t≤T} η_t (R[f_{t−1}] − R[u]) <= ‖f_{s−1} − u‖²/2 + Σ (η_t²‖h_t‖²/2 + η_t ‖r_t‖D); take
    u = f* for s = 1, and u = f_{s−1} for s = T − k, with ‖h_t‖ <= 2G and ‖r_t‖ <= q^t G. It is left
    to sum 2G²/t + DGq^t, weighted by 1/(k(k+1)).
    """
    run = weakly(x)
    for T in range(1, run.last + 1):
        points = [state.F for state in run.states[:T]] + [x.y]
        D = max(run.norm(f - g) for f in points for g in points)
        q, G = wasted(run.gamma(T)), run.gradients(T)
        most = D**2 / 2.0 + 2.0 * G**2 * (3.0 + 2.0 * math.log(T))
        most += D * G * q * (3.0 - 2.0 * q) / (1.0 - q) ** 2
        yield at_most(float(run.gaps[T - 1]), most / math.sqrt(T), "gap of f_{T−1}", T)


@average.step(
    "a last number is an average of numbers, and of their rises",
    "η_T q_T ≤ (1/T) Σ η_t q_t + Σ_{k<T} (1/(k(k+1))) Σ_{T−k≤t≤T} η_t (q_t − q_{T−k})",
    space=Space(sizes={"m": (1, 8)}, gaps=Vector("m", 0, 3), power=Real(0, 2)),
)
def _(x: Instance) -> Slack:
    T = x.gaps.size
    eta = np.arange(1.0, T + 1.0) ** -x.power
    right = float(eta @ x.gaps) / T
    for k in range(1, T):
        rises = eta[T - k - 1 :] @ (x.gaps[T - k - 1 :] - x.gaps[T - k - 1])
        right += float(rises) / (k * (k + 1.0))
    return at_most(float(eta[-1] * x.gaps[-1]), right, "η_T q_T")


@average.step(
    "the potential of any u, from any round on",
    "Σ_{s≤t≤T} η_t (R[f_{t−1}] − R[u]) ≤ ‖f_{s−1} − u‖²/2 + Σ (η_t²‖h_t‖²/2 + η_t ‖r_t‖ D)",
    space=RUNS.but(s=Whole(1, 25)),
)
def _(x: Instance) -> Slacks:
    run = weakly(x)
    assume(x.s <= run.last)
    for u in (x.y, run.states[x.s - 1].F):
        least = run.risk.evaluate(u)[0]
        D = max(run.norm(state.F - u) for state in run.states)
        left, right = 0.0, run.norm(run.states[x.s - 1].F - u) ** 2 / 2.0
        for before, after, direction in list(run.moves())[x.s - 1 :]:
            rest, eta = run.norm(before.gradient - direction.values), after.step
            left += eta * (before.value - least)
            right += eta**2 * run.norm(direction.values) ** 2 / 2.0 + eta * rest * D
            yield at_most(left, right, "Σ η_t (R[f_{t−1}] − R[u])", after.round)


@average.step(
    "the weighted sums",
    "Σ_{k<T} (1/(k(k+1))) Σ_{T−k≤t≤T} 1/t ≤ (2 + ln T)/T, and with q^t for 1/t it is "
    "≤ (q/(1 − q) + q/(1 − q)²)/T",
    space=Space(T=Whole(1, 60), q=Real(0, 0.95)),
)
def _(x: Instance) -> Slacks:
    """Of 1/t it is 1 + H_T − 2/T, over T."""
    ends = [x.q / (1.0 - x.q) + x.q / (1.0 - x.q) ** 2, 2.0 + math.log(x.T)]
    for part, end in zip((lambda t: x.q**t, lambda t: 1.0 / t), ends, strict=True):
        total = 0.0
        for k in range(1, x.T):
            total += math.fsum(map(part, range(x.T - k, x.T + 1))) / (k * (k + 1.0))
        yield at_most(total, end / x.T, "weighted sum")


@SOURCE.claim(
    "average-residual",
    ("Sec. 4.2, the average optimality gap", "Sec. 4.2, first paragraph"),
    "The same for Algorithm 3.",
    formula="R[f_{T−1}] − R[f*] ≤ [D²/2 + (G²/2 + GB)(3 + 2 ln T) + B(D + B)(2 + ln T) + "
    "3B²/2]/sqrt(T), B = qG/(1 − q)",
    printed="By showing that the average optimality gap approaches 0 as T grows large, for "
    "decreasing step sizes, it can be shown that the optimality gap R[f_t] − R[f*] also "
    "approaches 0.",
    given="η_t = 1/sqrt(t), q = sqrt(1 − γ²) < 1; D bounds the distances of the points visited "
    "and f*",
    space=RUNS,
).checked(trials=60)
def average_residual(x: Instance) -> Slacks:
    """The residuals do not vanish, but the steps do.

    Proof. v_t = f_{t−1} − η_t Δ_t has v_{t+1} = v_t − η_t ∇_t + (η_t − η_{t+1}) Δ_{t+1}, so that
    Σ_{s≤t≤T} η_t (R[f_{t−1}] − R[u]) <= ‖v_s − u‖²/2 + Σ η_t² (G²/2 + GB) + (η_s − η_T) B(D + B)
    for every u, with ‖Δ_t‖ <= B: for t = T take η_T for η_{T+1}, so that of the v_{t+1} only those
    for t < T occur. As in GB11-average, for u = f* and s = 1, and for u = f_{s−1}, where
    ‖v_s − u‖ <= η_s B. It is left to sum, weighted by 1/(k(k+1)), 1/t, η_{T−k}² and η_{T−k} − η_T.
    """
    run = weakly(x, Residual())
    for T in range(1, run.last + 1):
        points = [state.F for state in run.states[:T]] + [x.y]
        D = max(run.norm(f - g) for f in points for g in points)
        q, G = wasted(run.gamma(T)), run.gradients(T)
        B, log = q * G / (1.0 - q), math.log(T)
        most = D**2 / 2.0 + (G**2 / 2.0 + G * B) * (3.0 + 2.0 * log)
        most += B * (D + B) * (2.0 + log) + 1.5 * B**2
        yield at_most(float(run.gaps[T - 1]), most / math.sqrt(T), "gap of f_{T−1}", T)


@average_residual.step(
    "the potential of v_t",
    "Σ_{s≤t≤T} η_t (R[f_{t−1}] − R[u]) ≤ ‖v_s − u‖²/2 + Σ (η_t²‖∇_t‖²/2 + η_t² <∇_t, Δ_t>) + "
    "Σ_{s≤t<T} (η_t − η_{t+1}) <Δ_{t+1}, v_{t+1} − u>",
    space=RUNS.but(s=Whole(1, 25)),
)
def _(x: Instance) -> Slacks:
    run = weakly(x, Residual())
    assume(x.s <= run.last)
    inner, found = run.risk.measure.inner, residuals(run)
    for u in (x.y, run.states[x.s - 1].F):
        least, left, right = run.risk.evaluate(u)[0], 0.0, 0.0
        for t, whole, _, rest in found[x.s - 1 :]:
            before, eta, then = run.states[t - 1], t**-0.5, (t + 1) ** -0.5
            old = whole - before.gradient
            if t == x.s:
                right = run.norm(before.F - eta * old - u) ** 2 / 2.0
            v = before.gradient
            left += eta * (before.value - least)
            right += eta**2 * (inner(v, v) / 2.0 + inner(v, old))
            size = 1.0 + abs(left) + abs(right)
            yield at_most(left / size, right / size, "Σ η_t (R[f_{t−1}] − R[u])", t)
            right += (eta - then) * inner(rest, run.states[t].F - then * rest - u)


@average_residual.step(
    "the weighted sums",
    "Σ_{k<T} 1/(k(k+1)(T − k)) ≤ 3/T, Σ_{k<T} (1/sqrt(T − k) − 1/sqrt(T))/(k(k+1)) ≤ (1 + ln T)/T",
    space=Space(T=Whole(1, 200)),
)
def _(x: Instance) -> Slacks:
    """T times these are 1.37 and .66 at most, up to T = 200."""
    T = x.T
    squares = math.fsum(1.0 / (k * (k + 1) * (T - k)) for k in range(1, T))
    yield at_most(squares, 3.0 / T, "Σ η²/(k(k+1))")
    falls = ((T - k) ** -0.5 - T**-0.5 for k in range(1, T))
    total = math.fsum(fall / (k * (k + 1)) for k, fall in enumerate(falls, 1))
    yield at_most(total, (1.0 + math.log(T)) / T, "Σ (η_{T−k} − η_T)/(k(k+1))")


@SOURCE.claim(
    "average-best",
    ("Sec. 4.2, the average optimality gap (sharper for other points)", "not in the paper"),
    "The best f_t and the average of the f_t are no worse than the average gap.",
    formula="min_t R[f_t] ≤ (1/T) Σ R[f_t], R[(1/T) Σ f_t] ≤ (1/T) Σ R[f_t]",
    given="Algorithms 2 and 3",
    space=space(algorithm=Choice("repeated", "residual")),
).checked(trials=60)
def best(x: Instance) -> Slacks:
    """Jensen. f* minimises Σ R[f] as it minimises R."""
    run = weakly(x, Repeated() if x.algorithm == "repeated" else Residual())
    for t in range(1, run.last + 1):
        mean = run.mean(t, False)
        yield at_most(float(run.gaps[1 : t + 1].min()), mean, "best gap, average gap", t)
        point = np.mean([state.F for state in run.states[1 : t + 1]], axis=0)
        yield at_most(Kinks(x.A, x.y).evaluate(point)[0], mean, "gap of the average", t)


@SOURCE.claim(
    "threshold",
    ("Sec. 4.2, remark on a variable number of weak learners", "Sec. 4.2, after Theorem 5"),
    "For a desired accuracy ε a threshold of each projection can be derived that reaches it.",
    formula="‖∇_t − h_t‖ ≤ τ‖∇_t‖, τ² = λε/(2G²) ⇒ (1/T) Σ [R[f_{t−1}] − R[f*]] ≤ ε where "
    "G²(1 + ln T)/(λT) ≤ ε/2; it takes ⌈ln τ/ln q⌉ projections at most, q = sqrt(1 − γ²)",
    printed="An accuracy threshold for each gradient projection can be derived given a desired "
    "accuracy for the final hypothesis, and this threshold can be used to train weak learners at "
    "each iteration until the desired accuracy is reached.",
    given="R λ-strongly convex, η_t = 2/(λt), γ the edge of H, 0 < q < 1; for any τ the mean gap "
    "is ≤ G²(1 + ln T)/(λT) + τ²G²/λ",
    space=STRONG.but(tau=Real(0.01, 0.9, log=True)),
).checked(trials=60)
def threshold(x: Instance) -> Slacks:
    """T4-sharp with ‖r_t‖ <= τG. Each projection leaves q at most. `Repeated(threshold=τ)`."""
    q = wasted(spans(x))
    assume(q > 1e-3)
    run = strongly(x, Repeated(threshold=x.tau))
    most = math.ceil(math.log(x.tau) / math.log(q) - 1e-9)
    for before, after, direction in run.moves():
        t = after.round
        rest, size = run.norm(before.gradient - direction.values), run.norm(before.gradient)
        yield at_most(rest / size, x.tau, "‖∇_t − h_t‖/‖∇_t‖", t)
        yield at_most(len(direction.parts), max(1, most), "projections", t)
        scale = run.gradients(t - 1) ** 2 / x.lam
        right = scale * ((1.0 + math.log(t)) / t + x.tau**2)
        yield at_most(run.mean(t, True), right, "mean gap of f_0..f_{T−1}", t)
        epsilon = 2.0 * x.tau**2 * scale
        if scale * (1.0 + math.log(t)) / t <= epsilon / 2.0:
            yield at_most(run.mean(t, True), epsilon, "mean gap, ε", t)


@SOURCE.claim(
    "learners",
    ("Sec. 4.2, last remark", "Sec. 4.2, last paragraph"),
    "Algorithm 2 uses O(T²) weak learners and Algorithm 3 T; it evaluates the gradient less often.",
    formula="T(T + 1)/2 and T, exactly; gradients to a learner 2/(T + 1) and 1",
    printed="the repeated projection algorithm uses O(T²) weak learners …, while the residual "
    "algorithm uses O(T) weak learners … the repeated projection algorithm evaluates the gradient "
    "much less often than the than the residual algorithm",
    given="no residual vanishes",
    space=RUNS,
).checked(trials=60)
def learners(x: Instance) -> Slacks:
    """1 + 2 + ... + T. T gradients each, so that Algorithm 2 has fewer gradients to a learner."""
    for algorithm in (Repeated(), Residual()):
        run, count = weakly(x, algorithm), 0
        for before, after, direction in run.moves():
            t = after.round
            if isinstance(algorithm, Repeated):
                rest = run.norm(before.gradient - direction.values)
                if rest <= 1e-12 * run.norm(before.gradient):
                    break
            count += len(direction.parts)
            yield equal(count, t * (t + 1) // 2 if isinstance(algorithm, Repeated) else t, "", t)
            share = 2.0 / (t + 1.0) if isinstance(algorithm, Repeated) else 1.0
            yield equal(t / count, share, "gradients to a learner", t)


@SOURCE.claim(
    "efficiency",
    ("Sec. 4.2, last remark", "Sec. 4.2, last paragraph"),
    "The average regrets are O(ln T/T + 1/(γ²T)) and O(ln T/(γ⁴T)).",
    formula="mean gap ≤ (G²/λ)(ln T/T + 1/(γ²T)) for Algorithm 2, ≤ 32 (G²/λ) ln T/(γ⁴T) for "
    "Algorithm 3, T ≥ 2",
    printed="the repeated projection algorithm uses O(T²) weak learners to obtain an average "
    "regret O(ln T/T + 1/(γ²T)), while the residual algorithm uses O(T) weak learners and has "
    "average regret O(ln T/(γ⁴T))",
    given="Algorithm 2 as corrected (GB11-Alg2); λ-strongly convex R, the steps of Theorems "
    "4 and 6; f_0..f_{T−1}",
    space=STRONG,
).checked(trials=60)
def efficiency(x: Instance) -> Slacks:
    """1 + (1 − γ²)/γ² = 1/γ², and 1 + ln T + 2/T ≤ 3.9 ln T for T ≥ 2, so that 8 · 3.9 will do.

    By T6-sharp Algorithm 3 has O(ln T/(γ²T)) as well.
    """
    for algorithm, factor in ((Repeated(), 2.0), (Residual(), 1.0)):
        run = strongly(x, algorithm, factor)
        for t in range(2, run.last + 1):
            gamma, scale = run.gamma(t), run.gradients(t - 1) ** 2 / x.lam
            if factor == 2.0:
                right = scale * (math.log(t) / t + 1.0 / (gamma**2 * t))
                yield equal(right / scale, bound4(run, x.lam, t, True) / scale, "of Theorem 4", t)
            else:
                right = 32.0 * scale * math.log(t) / (gamma**4 * t)
                stated = 8.0 / gamma**4 * (1.0 + math.log(t) + 2.0 / t) / t
                yield at_least(right / scale, stated, "32 ln T/(γ⁴T), Theorem 6", t)
            yield at_most(run.mean(t, True), right, "mean gap of f_0..f_{T−1}", t)


SOURCE.unchecked(
    "rates",
    "Sec. 4.1, after Theorem 3",
    "The bound is generally less tight than AdaBoost's (1 − 4γ²)^(T/2), and its hypotheses wider.",
    "A comparison in words of two bounds on different functionals, with two notions of edge.",
)
SOURCE.unchecked(
    "experiments",
    "Sec. 5, Figs. 1 to 3",
    "The new algorithms outperform the naive one in imitation learning, ranking and multiclass "
    "classification.",
    "Test set performance on given data sets with learners that are not fully specified.",
)
