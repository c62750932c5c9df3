"""The checks that the package's own relaxations, proxies and schedules pass, for your own.

::

    from relaxboost.testing import check_relaxation

    print(check_relaxation(MyRelaxation(0.5)))

or, with one test per check::

    @pytest.mark.parametrize("check", relaxboost.testing.checks())
    def test_conformance(check):
        relaxboost.testing.check_relaxation(MyRelaxation(0.5), only=check)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.relaxations import Relaxation
from relaxboost.testing import distributions, domain, duality, interface, margins, traits
from relaxboost.testing.core import (
    Case,
    ConformanceError,
    ConformanceReport,
    ConformanceRow,
    Subject,
    chosen_checks,
    run,
)
from relaxboost.testing.learning import check_online_loss, check_schedule
from relaxboost.testing.proxies import check_proxy, proxy_checks

# Mathematics first, and of that what others build on: the first fault is nearest to its cause.
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
    "check_online_loss",
    "check_proxy",
    "check_relaxation",
    "check_schedule",
    "checks",
    "proxy_checks",
]


def checks() -> dict[str, str]:
    """Return the names of the checks, in the order in which they run, and what each holds f to."""
    return {name: inspect.getdoc(check) or "" for name, check in _CHECKS.items()}


def check_relaxation(
    relaxation: Relaxation | Callable[[int], Relaxation],
    sizes: Iterable[int] = (1, 2, 3, 17, 200),
    seed: int = 0,
    *,
    only: str | Iterable[str] | None = None,
    skip: Iterable[str] = (),
    inadmissible: Iterable[int] = (),
) -> ConformanceReport:
    """Hold a relaxation to every promise of the interface.

    What it says is compared with what a cone solver makes of its `cvxpy_penalty`, and its
    methods with each other, at random and at special points. Levels decide the tolerances:
    1e-9 of the numbers' size for exact and enclosed ones, 1e-5 for numerical ones; lower bounds of
    the former get none but the rounding of the comparison itself.

    Parameters
    ----------
    relaxation : Relaxation, or a function from m to one
    sizes : iterable of int
        Numbers of examples m to check it at.
    seed : int
        Of the random instances; a check tries the same ones whichever others run.
    only : str or iterable of str, optional
        Names of the checks to run; by default all of `checks()`.
    skip : iterable of str
        Names of checks to leave out. They are listed in the report.
    inadmissible : iterable of int
        Numbers of examples for which the relaxation must refuse to be resolved. No other may.

    Returns
    -------
    ConformanceReport
        Every check at every size with its worst figure; print it.

    Raises
    ------
    ConformanceError
        If a promise is broken; it says which, where, and by how much. All checks run, each up to
        the first size at which it fails. The error is of the first one in the order of
        `checks()`, and names the other ones; `others` holds their errors.
    InputError
        For what is no relaxation and for names that no check has.
    """
    if isinstance(relaxation, type) or not (
        isinstance(relaxation, Relaxation) or callable(relaxation)
    ):
        hint = f"; write {relaxation.__name__}(...)" if isinstance(relaxation, type) else ""
        raise InputError(
            "check_relaxation needs a Relaxation or a function from m to one, "
            f"got {relaxation!r}{hint}"
        )
    chosen = chosen_checks("only", _CHECKS if only is None else only, _CHECKS)
    left_out = chosen_checks("skip", skip, _CHECKS)
    sizes = [count("sizes", m) for m in sizes]
    refused = {count("inadmissible", m) for m in inadmissible}
    if not sizes:
        raise InputError("check_relaxation needs at least one m in sizes")
    report, faults = ConformanceReport(""), dict[str, ConformanceError]()
    for m in sizes:
        try:
            subject = _resolve(relaxation, m, seed, m in refused)
        except ConformanceError as fault:
            faults.setdefault("resolve", fault)
            continue
        if subject is None:
            report.rows += [ConformanceRow(name, m, "inadmissible") for name in chosen]
            continue
        report.relaxation = report.relaxation or _shown(subject.given, relaxation)
        for name in chosen:
            if name in left_out:
                report.rows.append(ConformanceRow(name, m, "skipped"))
            elif name not in faults:
                try:
                    report.rows.append(run(Case(subject, name), _CHECKS[name]))
                except ConformanceError as fault:
                    faults[name] = fault
    if faults:
        first, *others = sorted(faults.values(), key=lambda fault: list(_CHECKS).index(fault.check))
        raise first.beside(others)
    return report


def _shown(given: Relaxation, asked: object) -> str:
    """Return what a report calls a relaxation: as it was written, or the name of its family."""
    written = repr(given)
    whole = given is asked and not written.startswith("<")
    return written if whole else given.family.rpartition(".")[2]


def _resolve(
    relaxation: Relaxation | Callable[[int], Relaxation], m: int, seed: int, refuses: bool
) -> Subject | None:
    """Return the relaxation at m, or None where it refuses as announced."""
    given: Any = relaxation
    try:
        given = relaxation if isinstance(relaxation, Relaxation) else relaxation(m)
        resolved = given.resolve(m) if isinstance(given, Relaxation) else None
    except InputError as error:
        if refuses:
            return None
        promise = f"resolve({m}) works, for m is not among `inadmissible`; it said: {error}"
        raise ConformanceError("resolve", repr(given), m, promise) from error
    if resolved is None:
        raise InputError(f"check_relaxation was given a function that returned {given!r} at m={m}")
    if refuses:
        promise = f"resolve({m}) raises InputError, for m is among `inadmissible`"
        raise ConformanceError("resolve", repr(given), m, promise)
    return Subject(given, resolved, m, seed)
