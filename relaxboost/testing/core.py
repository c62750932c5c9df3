"""Tools for conformance checks: test instances, comparisons with tolerances, and reports."""

from __future__ import annotations

import math
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, brief
from relaxboost._core.rounding import SOLVER_ERROR, UNIT
from relaxboost.relaxations import Relaxation
from relaxboost.relaxations.base import needs_solver
from relaxboost.relaxations.bounds import bounds_of, level_of
from relaxboost.relaxations.numerical import Programs

_BASE = {"exact": 1e-9, "enclosed": 1e-9, "numerical": 1e-5}


class ConformanceError(AssertionError):
    """A violation of the interface of a relaxation or proxy.

    Attributes
    ----------
    check : str
        The name of the failed check, which can be passed as ``only``.
    m : int
        The number of examples or weights.
    figure, tolerance : float
        The size of the violation, and the largest size allowed.
    promise : str
        The property that is violated.
    instance : dict
        The vectors and numbers for which the property is violated.
    others : tuple of ConformanceError
        The errors of the other failed checks.
    """

    def __init__(
        self,
        check: str,
        relaxation: str,
        m: int,
        promise: str,
        figure: float = 1.0,
        tolerance: float = 0.0,
        instance: dict[str, Any] | None = None,
        again: str = "check_relaxation(..., sizes=({m},), only={check!r})",
    ) -> None:
        self.check = check
        self.m = m
        self.promise = promise
        self.figure = figure
        self.tolerance = tolerance
        self.instance = dict(instance or {})
        self.others: tuple[ConformanceError, ...] = ()
        self._lines = [
            f"{relaxation} with m = {m} fails the check {check!r}",
            f"property:  {promise}",
            f"violation: {figure:.6g}, tolerance {tolerance:.3g}",
            *(f"{name} = {_expression(value)}" for name, value in self.instance.items()),
            f"again:     {again.format(m=m, check=check)} with the same seed",
        ]
        super().__init__("\n  ".join(self._lines))

    def beside(self, others: Iterable[ConformanceError]) -> ConformanceError:
        """Add the errors of other failed checks to this error and its message, and return it."""
        self.others = tuple(others)
        also = [f"also:      {e.check!r} with m = {e.m}: {e.promise}" for e in self.others]
        # Errors are printed from `args`, so the other failures are added there.
        self.args = ("\n  ".join([*self._lines, *also]),)
        return self


def _expression(value: Any) -> str:
    if isinstance(value, np.ndarray):
        # A long array would hide the other lines of the message.
        is_long = value.size > 20
        return f"<{value.shape}, see .instance>" if is_long else f"np.array({value.tolist()!r})"
    if isinstance(value, tuple):
        inner = ", ".join(map(_expression, value))
        return f"{type(value).__name__ if hasattr(value, '_fields') else ''}({inner})"
    return brief(value)


@dataclass(frozen=True)
class ConformanceRow:
    """The result of a check at one size m, the number of examples or weights.

    `figure` is the largest violation of the checked property. If it is negative, the property holds
    with room to spare. `tolerance` is the largest violation allowed. `status` is ``"passed"``,
    ``"skipped"``, ``"inadmissible"`` or ``"not claimed"``. ``"not claimed"`` means that the
    relaxation does not declare the checked trait, such as symmetry.
    """

    check: str
    m: int
    status: str
    figure: float = math.nan
    tolerance: float = math.nan
    comparisons: int = 0
    over: str = ""
    """The weight domain in a check of a proxy. It is empty in a check of a relaxation."""


@dataclass
class ConformanceReport:
    """The results of all checks for all sizes, in the order of the checks."""

    relaxation: str
    rows: list[ConformanceRow] = field(default_factory=list)

    def __str__(self) -> str:
        head = f"{'check':<24} {'m':>5} {'worst':>10} {'allowed':>9} tried"
        lines = [f"{self.relaxation} satisfies every property that was checked", head]
        for r in self.rows:
            said = f"{r.figure:10.2g} {r.tolerance:9.1g} {r.comparisons:5}"
            said = said if r.status == "passed" else f"{r.status:>20}"
            lines.append(f"{r.check:<24} {r.m:>5} {said}  {r.over}".rstrip())
        return "\n".join(lines)


class Subject:
    """The relaxation under test for m examples, with the points that all checks share."""

    def __init__(self, given: Relaxation, relaxation: Relaxation, m: int, seed: int) -> None:
        self.given = given
        self.f = relaxation
        self.m = m
        self.seed = seed
        self.large = m > 50
        """Whether m is so large that only a few cone programs are solved."""

    @cached_property
    def programs(self) -> Programs:
        """The cvxpy problems of the relaxation under test.

        They are compiled separately from the problems that the relaxation caches.
        """
        return Programs(self.f, self.m)

    @cached_property
    def feasible(self) -> list[Vector]:
        """Points of the simplex at which the relaxation is finite: the center, random points, and
        extreme points.
        """
        # The points depend on the seed and on m only, so that one check alone sees the same points.
        rng = np.random.default_rng([self.seed, self.m])
        m = self.m
        # Small parameters give sparse distributions, and large ones nearly uniform ones.
        rough = [rng.dirichlet(np.full(m, a)) for a in (0.05, 0.5, 1.0, 10.0)]
        rough += [np.eye(m)[i] for i in {0, m - 1, m // 2}]
        points = [self.f.center(m).copy(), *(self.f.repair(d.copy()) for d in rough)]
        # Minimisers are at the boundary of the domain, where random points are not.
        points += [self.f.relaxed_margin(rng.uniform(-1, 1, m))[1].copy() for _ in range(3)]
        # Mixtures are feasible too, because the domain is convex.
        weights = rng.dirichlet(np.ones(len(points)), 3)
        return [*points, *(self.f.repair(w @ np.array(points)) for w in weights)]

    @cached_property
    def prices(self) -> list[float]:
        """The values of the relaxation at the feasible points.

        They are cached, because the relaxation may be slow.
        """
        return [self.f.penalty(d) for d in self.feasible]


class Judge(ABC):
    """A check in progress, which records its largest violation relative to the tolerance."""

    def __init__(self) -> None:
        self.worst: tuple[float, float, float] = (-math.inf, math.nan, math.nan)
        self.comparisons = 0
        self.claimed = True

    @abstractmethod
    def error(
        self, promise: str, figure: float = 1.0, tolerance: float = 0.0, **instance: Any
    ) -> ConformanceError:
        """Return the error for a violated property, with the object under test and the instance."""

    def at_most(self, figure: float, tolerance: float, promise: str, **instance: Any) -> None:
        """Record the size of a violation.

        Raise a ConformanceError if it exceeds the tolerance or is nan.
        """
        # Adding 0.0 turns -0.0 into 0.0, which prints without a sign.
        figure = float(figure) + 0.0
        self.comparisons += 1
        # This comparison fails for nan, as `figure > tolerance` would not.
        if not figure <= tolerance:
            raise self.error(promise, figure, tolerance, **instance)
        # Figures with different tolerances are compared as shares of their tolerances.
        share = figure / tolerance if tolerance > 0.0 else figure
        if not self.worst[0] >= share:
            self.worst = (share, figure, tolerance)

    def equal(
        self, got: float, expected: float, tolerance: float, promise: str, **instance: Any
    ) -> None:
        """Check that two numbers are equal up to the tolerance, or are the same infinity."""
        # inf − inf is nan, so equal numbers are compared first.
        difference = 0.0 if got == expected else abs(float(got) - float(expected))
        self.at_most(difference, tolerance, promise, got=got, expected=expected, **instance)

    def demand(self, kept: bool, promise: str, **instance: Any) -> None:
        """Raise a ConformanceError for the property `promise` if `kept` is false."""
        self.at_most(0.0 if kept else 1.0, 0.0, promise, **instance)


def run(case: Any, check: Callable[[Any], None]) -> ConformanceRow:
    """Run a check on `case`, and return its report row.

    Raise a ConformanceError if the check fails.
    """
    try:
        # A check judges the result of an overflow, so that warnings are switched off.
        with np.errstate(all="ignore"):
            check(case)
    except ConformanceError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        promise = f"{property_of(check)} The check raised an exception instead: {said}"
        raise case.error(promise, math.nan) from error
    _, figure, tolerance = case.worst
    status = "passed" if case.claimed else "not claimed"
    return ConformanceRow(check.__name__, case.m, status, figure, tolerance, case.comparisons)


def property_of(check: Callable[[Any], None]) -> str:
    """Return the tested property, which is the docstring of the check, on one line."""
    return " ".join((check.__doc__ or "").split())


class CheckRun:
    """A run of the selected checks for several sizes, which adds rows to the report.

    `checks` is a dictionary with the functions of all checks by name. `only` and `skip` are check
    names.
    """

    def __init__(
        self,
        checks: dict[str, Callable[[Any], None]],
        only: str | Iterable[str] | None,
        skip: str | Iterable[str],
        report: ConformanceReport,
    ) -> None:
        self._checks = checks
        self._names = chosen_checks("only", checks if only is None else only, checks)
        self._skipped = chosen_checks("skip", skip, checks)
        self.report = report
        self.faults: dict[str, ConformanceError] = {}

    def add(self, m: int, case: Callable[[str], Any], over: str = "") -> None:
        """Run every selected check for m examples or weights.

        `case` is a function that returns the `Case` for the name of a check.
        """
        for name in self._names:
            if name in self._skipped:
                self.report.rows.append(ConformanceRow(name, m, "skipped", over=over))
            # A failed check is not repeated at later sizes, because one counterexample is enough.
            elif name not in self.faults:
                try:
                    row = run(case(name), self._checks[name])
                    self.report.rows.append(replace(row, over=over))
                except ConformanceError as fault:
                    self.faults[name] = fault

    def refused(self, m: int, over: str = "") -> None:
        """Add a row to the report for each check: m is inadmissible."""
        for name in self._names:
            self.report.rows.append(ConformanceRow(name, m, "inadmissible", over=over))

    def result(self) -> ConformanceReport:
        """Return the report. If checks have failed, raise the error of the first failed check."""
        if self.faults:
            first, *others = (self.faults[name] for name in self._checks if name in self.faults)
            raise first.beside(others)
        return self.report


def chosen_checks(argument: str, given: str | Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the given check names as a list.

    Raise an InputError that mentions `argument` if a name is unknown.
    """
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in known:
            raise InputError(
                f"{argument}: no check is called {name!r}; choose one of {', '.join(known)}"
            )
    return names


class Case(Judge):
    """A check of a relaxation for m examples, with test points and tolerances."""

    def __init__(self, subject: Subject, check: str) -> None:
        self.subject = subject
        self.f = subject.f
        self.m = subject.m
        self.check = check
        self.rng = np.random.default_rng([subject.seed, subject.m, zlib.crc32(check.encode())])
        super().__init__()

    def claims(self, trait: str) -> bool:
        """Return whether the relaxation declares a trait, and store the answer in `claimed`."""
        self.claimed = bool(getattr(self.f.traits, trait))
        return self.claimed

    def tol(self, scale: float = 1.0) -> float:
        """Return the tolerance for numbers of magnitude `scale`.

        It is larger if the bounds of the relaxation are not proved, or if a solver computes its
        values.
        """
        # The level may be exact although a method of the class uses a solver.
        least = SOLVER_ERROR if self._asks_solver or needs_solver(self.f) else 0.0
        return max(_BASE[level_of(self.f)], least) * max(1.0, scale)

    @property
    def _asks_solver(self) -> bool:
        # A class that does not define these methods inherits those that use cvxpy.
        kind = type(self.f)
        is_f = kind.penalty is Relaxation.penalty
        return is_f or kind.relaxed_margin is Relaxation.relaxed_margin

    @property
    def rough(self) -> bool:
        """Whether distributions have only the accuracy of a cone solver."""
        return not bounds_of(self.f).is_proved or needs_solver(self.f)

    def rough_tol(self, scale: float = 1.0) -> float:
        """Return the tolerance for checks of a distribution.

        It is larger if a cone solver computes the distribution.
        """
        return max(self.tol(scale), _BASE["numerical"] * max(1.0, scale) if self.rough else 0.0)

    def solver_tol(self, scale: float = 1.0) -> float:
        """Return the tolerance for a number from a cone solver."""
        return max(SOLVER_ERROR * max(1.0, scale), self.tol(scale))

    def rounding(self, scale: float = 1.0) -> float:
        """Return the tolerance for rounding errors in a comparison of numbers of magnitude `scale`.

        If the bounds of the relaxation are not proved, or if a solver computes its values, it is
        `tol`.
        """
        # Solvers accept points that violate a constraint by 1e-9.
        if not bounds_of(self.f).is_proved or self._asks_solver:
            return self.tol(scale)
        # The error of a sum of m products grows with m.
        return 8.0 * (self.m + 8) * UNIT * max(1.0, scale)

    def error(
        self, promise: str, figure: float = 1.0, tolerance: float = 0.0, **instance: Any
    ) -> ConformanceError:
        return ConformanceError(
            self.check, brief(self.f), self.m, promise, figure, tolerance, instance
        )

    def margins(self, count: int = 4) -> list[Vector]:
        """Return test margins: random, with ties, outside [−1, 1], and all equal."""
        m = self.m
        rng = self.rng
        kinds: list[Callable[[], Vector]] = [
            lambda: rng.uniform(-1.0, 1.0, m),
            lambda: np.round(rng.uniform(-1.0, 1.0, m) * 4.0) / 4.0,
            lambda: 3.0 * rng.normal(size=m),
            lambda: np.full(m, rng.uniform(-1.0, 1.0)),
        ]
        return [kinds[i % 4]() for i in range(count)]

    def thetas(self, count: int = 8) -> list[Vector]:
        """Return test arguments θ of f*: 0, and random vectors of several sizes."""
        m = self.m
        rng = self.rng
        tried = [np.zeros(m)]
        for i in range(count - 1):
            theta = rng.normal(size=m) * 10.0 ** rng.uniform(-2.0, 0.5)
            theta = np.abs(theta) if i % 3 == 0 else theta
            tried.append(theta / m if i % 2 else theta)  # The l1 and the sup norms have all sizes.
        return tried

    def points(self, count: int = 12) -> list[Vector]:
        """Return test points of R^m: feasible, scaled, with changed signs, and random."""
        m = self.m
        rng = self.rng
        feasible = self.subject.feasible
        tried = [np.zeros(m), np.ones(m)]
        for i in range(count):
            d = feasible[int(rng.integers(len(feasible)))]
            tried.append(
                [
                    d.copy(),
                    d * rng.uniform(0.0, 1.0),
                    d * np.where(rng.random(m) < 0.5, -1.0, 1.0) * rng.uniform(0.0, 1.0),
                    d * rng.uniform(1.0, 4.0),
                    d + 0.3 * rng.normal(size=m) / m,
                    rng.normal(size=m),
                ][i % 6]
            )
        return tried

    def objective(self, d: Vector, u: Vector, beta: float = 0.0) -> float:
        """Return the objective <d, u> + f(d) + β Σ d log d at the point d."""
        smoothing = beta * (entropy(d) - math.log(self.m)) if beta else 0.0
        return math.fsum((d * u).tolist()) + self.f.penalty(d) + smoothing

    def best(self, u: Vector) -> float:
        """Return the least value of <d, u> + f(d) over the test points, an upper bound on F(u)."""
        attained = self.objective(self.f.relaxed_margin(u.copy())[1], u)
        priced = zip(self.subject.feasible, self.subject.prices, strict=True)
        return min(attained, *(math.fsum((d * u).tolist()) + f for d, f in priced))


def entropy(d: Vector) -> float:
    """Return the relative entropy Σ d log d + log m of d to the uniform distribution."""
    inside = d[d > 0.0]
    return math.fsum((inside * np.log(inside)).tolist()) + math.log(d.size)


def size(*values: Any) -> float:
    """Return the largest finite absolute value in the given numbers and vectors."""
    flat = np.concatenate([np.abs(np.ravel(np.asarray(v, dtype=np.float64))) for v in values])
    return float(flat[np.isfinite(flat)].max(initial=0.0))
