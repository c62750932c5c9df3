"""The third interface of relaxations, `Description`: the data about f that certificates contain."""

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
    """The data of a relaxation f in certificates: its parameters, exact points and multipliers.

    A polyhedral family defines `exact_form`, and the other methods use this linear program by
    default. A family that is not polyhedral defines `describe` and `describe_witness`, if the
    checker of certificates implements its kind. A relaxation without this interface has only
    numerical certificates.
    """

    @property
    def is_exact(self) -> bool:
        """Whether certificates of the relaxation f use rational arithmetic.

        By default they do if f is polyhedral.
        """
        assert isinstance(self, Relaxation)
        return self.traits.polyhedral

    def exact_form(self, m: int) -> ExactForm | None:
        """Return f as a linear program with exact fractions, or None if f is not polyhedral.

        The program must give f(d) for every d >= 0, not only on the simplex. Exact certificates and
        exact optima rely on the program.
        """
        return None

    def linear_form(self, m: int) -> LinearForm | None:
        """Return f as a linear program in double precision, or None if f is not polyhedral.

        By default this is `exact_form` in double precision. A family whose data are known only in
        double precision overrides this method and not `exact_form`. Solvers then use the program,
        but proofs do not.
        """
        form = self.exact_form(m)
        return None if form is None else form.doubles()

    def cone_form(self, m: int) -> ConeForm | None:
        """Return the relaxation f as a cone program in double precision.

        The result is None if solvers should not use such a program.
        """
        # Solvers are slow or inaccurate on semidefinite cones and power cones.
        assert isinstance(self, Relaxation)
        return numerical.solver_form(self, m)

    def describe(self, m: int) -> dict[str, Any] | None:
        """Return the entry for f in a certificate.

        The page "Format of certificates", certificates/FORMAT.md in the package, describes these
        entries. By default the entry is the linear program `exact_form`. Return None if f has no
        entry.
        """
        form = self.exact_form(m)
        return None if form is None else form.describe(m)

    def describe_witness(self, found: Any, u: Sequence[Fraction]) -> dict[str, Any]:
        """Return the entry of a certificate that proves a lower bound on F(u) at exact margins u.

        The argument `found` is the result of the method `witness` of the relaxation. If rounding
        makes the entry violate a constraint, the threshold γ in the certificate is lowered. If
        `describe` returns the exact form, certificates use `exact_multipliers` instead.
        """
        return {"gamma": number(found.gamma), "floor": "0"}

    def exact_multipliers(self, u: Sequence[Fraction]) -> tuple[Fraction, list[Fraction]] | None:
        """Return the threshold γ and the multipliers of the rows of `exact_form` that prove F(u).

        The multiplier of row r is y_r.
        Each weight d_i satisfies ``u_i + cost_i − Σ_r y_r rows[r][i] >= γ``, and each auxiliary
        variable z_j satisfies ``cost_j − Σ_r y_r rows[r][j] >= 0``. A variable with an upper bound
        may violate its inequality, and the proof then subtracts the violation times this bound. If
        row r has only a lower bound, then y_r >= 0. If it has only an upper bound, then y_r <= 0.
        Return None if a linear program must be solved for the multipliers.
        """
        return None

    def exact_auxiliaries(self, d: Sequence[Fraction]) -> list[Fraction] | None:
        """Return the auxiliary variables z for which the cost of `exact_form` equals f(d).

        Return None if a linear program must be solved for z.
        """
        return None

    def exact_caps(self, m: int) -> list[Groups]:
        """Return groups of examples, and for each group the cap that f sets on its total weight.

        By default f has no such caps, and the list is empty.
        """
        return []

    def exact_point(self, d: Sequence[float]) -> list[Fraction]:
        """Return a point of the simplex near `d` that satisfies `exact_caps`, as fractions.

        If f is infinite at this point, the certificate moves the point towards `center(m)`.
        """
        return within_caps(d, self.exact_caps(len(d)))


def description_of(f: Relaxation) -> Description:
    """Return the object that describes a relaxation in certificates.

    Parameters
    ----------
    f : Relaxation
        A relaxation. If its class derives from `Description`, the function returns f itself, and
        otherwise an empty `Description`.
    """
    return f if isinstance(f, Description) else Description()
