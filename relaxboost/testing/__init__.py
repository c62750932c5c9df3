"""Conformance checks for user-defined relaxations and proxies.

::

    from relaxboost.testing import check_relaxation

    print(check_relaxation(MyRelaxation(0.5)))

or, with one test per check::

    @pytest.mark.parametrize("check", relaxboost.testing.checks())
    def test_conformance(check):
        relaxboost.testing.check_relaxation(MyRelaxation(0.5), only=check)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from relaxboost._core.errors import InputError, brief, class_hint
from relaxboost._core.parameters import count, is_given
from relaxboost.relaxations import Relaxation
from relaxboost.relaxations.base import fixed_m
from relaxboost.testing import distributions, domain, duality, interface, margins, traits
from relaxboost.testing.core import (
    Case,
    CheckRun,
    ConformanceError,
    ConformanceReport,
    ConformanceRow,
    Subject,
    property_of,
)
from relaxboost.testing.proxies import check_proxy, proxy_checks

# A check comes before the checks that rely on it, so that the first error is nearest to its cause.
_ORDER: tuple[Callable[[Case], None], ...] = (
    interface.resolve,
    domain.center,
    domain.repair,
    duality.penalty,
    duality.conjugate,
    duality.cvxpy_conjugate,
    duality.fenchel_young,
    margins.relaxed_margin,
    margins.cvxpy_relaxed_margin,
    margins.shape_of_margin,
    margins.own_witness,
    margins.every_witness,
    domain.entropy_range,
    domain.penalty_bound,
    traits.polyhedral,
    traits.curvature,
    traits.monotone,
    traits.symmetric,
    traits.zero_minimum,
    traits.zero_in_core,
    distributions.distribution,
    distributions.first_order,
    distributions.small_beta,
    distributions.large_beta,
    distributions.stability,
    distributions.game,
    interface.identity,
    interface.inputs_and_outputs,
    interface.wrong_arguments,
)
_CHECKS = {check.__name__: check for check in _ORDER}

__all__ = [
    "ConformanceError",
    "ConformanceReport",
    "ConformanceRow",
    "check_proxy",
    "check_relaxation",
    "checks",
    "proxy_checks",
]


def checks() -> dict[str, str]:
    """Return the name of each check with the property that it tests."""
    return {name: property_of(check) for name, check in _CHECKS.items()}


def check_relaxation(
    relaxation: Relaxation | Callable[[int], Relaxation],
    sizes: Iterable[int] = (1, 2, 3, 17, 200),
    seed: int = 0,
    *,
    only: str | Iterable[str] | None = None,
    skip: Iterable[str] = (),
    inadmissible: Iterable[int] = (),
) -> ConformanceReport:
    """Check that a relaxation satisfies its interface.

    Its methods are compared with each other, and with a cone solver for `cvxpy_penalty`, at random
    and special points. The relative tolerance is 1e-9 if the bounds of the relaxation are proved,
    1e-5 if they are only numerical, and at least 1e-6 for numbers from a cone solver. Proved lower
    bounds may exceed the true value only by rounding errors of the comparison.

    Parameters
    ----------
    relaxation : Relaxation, or a function from m to a Relaxation
        The relaxation to check.
    sizes : iterable of int
        The numbers m of examples for which to check the relaxation.
    seed : int
        The seed of the random instances, which do not depend on which other checks run.
    only : str or iterable of str, optional
        The names of the checks to run. By default all checks in `checks()` are run.
    skip : iterable of str
        The names of checks to skip, which the report lists.
    inadmissible : iterable of int
        The numbers of examples in `sizes` for which `resolve` must raise InputError. The relaxation
        must accept all others.

    Returns
    -------
    ConformanceReport
        The results of all checks for all sizes, with the largest violations, as a table to print.

    Raises
    ------
    ConformanceError
        If a check fails. Each check is run up to the first size for which it fails. The error of
        the first failed check, in the order of `checks()`, is raised, and its attribute `others`
        contains the other errors.
    InputError
        If the argument is not a relaxation, or if the name of a check is unknown.

    Examples
    --------
    >>> import relaxboost as rb
    >>> from relaxboost.testing import check_relaxation
    >>> report = check_relaxation(rb.Capped(k=2), sizes=(3,), only="relaxed_margin")
    >>> report.rows[0].check
    'relaxed_margin'
    """
    if isinstance(relaxation, type) or not (
        is_given(relaxation, Relaxation) or callable(relaxation)
    ):
        raise InputError(
            "check_relaxation needs a Relaxation, or a function from m to a Relaxation, "
            f"got {brief(relaxation)}{class_hint(relaxation)}"
        )
    checking = CheckRun(_CHECKS, only, skip, ConformanceReport(""))
    # Sizes are checked before any check runs, because a check at a large size takes long.
    sizes = _counts("sizes", sizes)
    refused = _counts("inadmissible", inadmissible)
    if not sizes:
        raise InputError("check_relaxation needs at least one number of examples in sizes")
    for m in sizes:
        try:
            subject = _resolve(relaxation, m, seed, m in refused)
        except ConformanceError as fault:
            # A size without a relaxation has nothing else to check. Other sizes may still show
            # other errors.
            checking.faults.setdefault("resolve", fault)
            continue
        if subject is None:
            checking.refused(m)
            continue
        report = checking.report
        # A function makes a relaxation for each m, and the report names the first of them.
        report.relaxation = report.relaxation or _shown(subject.given, relaxation)
        checking.add(m, partial(Case, subject))
    return checking.result()


def _counts(name: str, given: Any) -> list[int]:
    if not isinstance(given, Iterable):
        raise InputError(
            f"{name} must be a sequence of numbers of examples, such as ({given},), got {given!r}"
        )
    return [count(name, m) for m in given]


def _shown(given: Relaxation, asked: object) -> str:
    # The default repr has an address in memory, which differs from run to run. The report then
    # shows the family of the relaxation.
    written = brief(given)
    whole = given is asked and not written.startswith("<")
    return written if whole else given.family.rpartition(".")[2]


def _resolve(
    relaxation: Relaxation | Callable[[int], Relaxation], m: int, seed: int, refuses: bool
) -> Subject | None:
    """Return the relaxation for m examples, or None if it correctly rejects m.

    If `refuses` is true, the relaxation must reject m, and otherwise it must accept m. Raise a
    ConformanceError if it does not.
    """
    given: Any = relaxation
    try:
        given = relaxation if isinstance(relaxation, Relaxation) else relaxation(m)
        resolved = given.resolve(m) if isinstance(given, Relaxation) else None
    except InputError as error:
        if refuses:
            return None
        fixed = fixed_m(given) if isinstance(given, Relaxation) else None
        remedy = f"f has parameters for {fixed} examples, so pass sizes=({fixed},)"
        if fixed in (None, m):
            remedy = "if f has parameters for 60 examples, for instance, pass sizes=(60,)"
        promise = (
            f"resolve({m}) works, because m is not in `inadmissible`; it raised: {error}; {remedy}"
        )
        raise ConformanceError("resolve", brief(given), m, promise) from error
    if resolved is None:
        raise InputError(
            f"check_relaxation needs a function that returns a Relaxation, got {brief(given)} for "
            f"m={m}"
        )
    if refuses:
        promise = f"resolve({m}) raises InputError, because m is in `inadmissible`"
        raise ConformanceError("resolve", brief(given), m, promise)
    return Subject(given, resolved, m, seed)
