"""The third interface of relaxations, `Description`: the data of f in certificates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from relaxboost._core.digits import number
from relaxboost.relaxations import numerical
from relaxboost.relaxations.base import Relaxation
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.relaxations.exact_points import Groups, within_caps
from relaxboost.relaxations.linear import ExactForm, LinearForm


class Description:
    """The data of f in certificates: its parameters, exact points and multipliers.

    A polyhedral family defines `exact_form`, from which the other methods follow by default. Any
    other family defines `describe` and `describe_witness`, if the certificate checker implements
    its kind. Without this interface, a relaxation has only numerical certificates.
    """

    @property
    def is_exact(self) -> bool:
        """Whether certificates of f use rational arithmetic, by default if f is polyhedral."""
        assert isinstance(self, Relaxation)
        return self.traits.polyhedral

    def exact_form(self, m: int) -> ExactForm | None:
        """Return f as a linear program with exact fractions, or None if f is not polyhedral.

        The program must give f(d) for every d >= 0, not only on the simplex. Exact certificates and
        exact optima rely on it.
        """
        return None

    def linear_form(self, m: int) -> LinearForm | None:
        """Return f as a linear program in double precision, or None if f is not polyhedral.

        The default is `exact_form` in double precision. A family whose data are only known in
        double precision overrides this method and not `exact_form`. Solvers then use the program,
        but proofs do not.
        """
        form = self.exact_form(m)
        return None if form is None else form.doubles()

    def cone_form(self, m: int) -> ConeForm | None:
        """Return f as a cone program in double precision, or None if solvers should not use one."""
        # Solvers are slow or inaccurate on semidefinite cones and power cones.
        assert isinstance(self, Relaxation)
        return numerical.solver_form(self, m)

    def describe(self, m: int) -> dict[str, Any] | None:
        """Return the certificate entry of f, by default the linear program `exact_form`.

        certificates/FORMAT.md describes the entries. The result is None if f has no entry.
        """
        form = self.exact_form(m)
        return None if form is None else form.describe(m)

    def describe_witness(self, found: Any, u: Sequence[Fraction]) -> dict[str, Any]:
        """Return the certificate entry that proves a lower bound on F(u) at exact margins u.

        `found` is a witness from `witness`. The threshold γ in the entry is lowered if rounding
        violates a constraint. If `describe` returns the exact form, certificates use
        `exact_multipliers` instead.
        """
        return {"gamma": number(found.gamma), "floor": "0"}

    def exact_multipliers(self, u: Sequence[Fraction]) -> tuple[Fraction, list[Fraction]] | None:
        """Return the threshold γ and the multipliers of the rows of `exact_form` that prove F(u).

        The multipliers y satisfy ``u_i + cost_i − Σ_r y_r rows[r][i] >= γ`` for each weight d_i,
        and ``cost_j − Σ_r y_r rows[r][j] >= 0`` for each auxiliary variable z_j. A variable with an
        upper bound may violate its inequality, and the proof then subtracts the violation times
        this bound. If row r has only a lower bound, then y_r >= 0. If it has only an upper bound,
        then y_r <= 0. Return None if a linear program must be solved for the multipliers.
        """
        return None

    def exact_auxiliaries(self, d: Sequence[Fraction]) -> list[Fraction] | None:
        """Return the auxiliary variables z for which the cost of `exact_form` equals f(d).

        The result is None if a linear program must be solved for z.
        """
        return None

    def exact_caps(self, m: int) -> list[Groups]:
        """Return groups of examples with the caps that f sets on their total weights.

        By default the list is empty.
        """
        return []

    def exact_point(self, d: Sequence[float]) -> list[Fraction]:
        """Return a point of the simplex near `d` that satisfies `exact_caps`, as fractions.

        If f is infinite at this point, the certificate moves it towards `center(m)`.
        """
        return within_caps(d, self.exact_caps(len(d)))


def cone_form_of(f: Relaxation, m: int) -> ConeForm | None:
    """Return f as a cone program in double precision, or None if solvers should not use one."""
    return f.cone_form(m) if isinstance(f, Description) else numerical.solver_form(f, m)


def description_of(f: Relaxation) -> Description:
    """Return the object that describes a relaxation in certificates.

    Parameters
    ----------
    f : Relaxation
        A relaxation. The result is f itself if its class derives from `Description`, and otherwise
        an empty `Description`.
    """
    return f if isinstance(f, Description) else Description()
