"""The third of three interfaces of a relaxation: how f is written into certificates."""

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
    """How f is written into certificates, and its exact points and multipliers.

    A polyhedral family writes `exact_form`, and everything else follows from it. Another family
    writes `describe` and `describe_witness`, for a kind of f that the checker knows. A relaxation
    without this interface has numerical certificates only.
    """

    @property
    def is_exact(self) -> bool:
        """Whether certificates of f are evaluated in fractions; by default if f is polyhedral."""
        assert isinstance(self, Relaxation)
        return self.traits.polyhedral

    def exact_form(self, m: int) -> ExactForm | None:
        """Return f as a linear program in fractions, or None if f is not polyhedral.

        It has to hold for every d >= 0, not only on the simplex. Exact certificates and exact
        optima rest on it.
        """
        return None

    def linear_form(self, m: int) -> LinearForm | None:
        """Return f as a linear program in doubles, or None if f is not polyhedral.

        By default this is `exact_form` in doubles. A family that knows no fractions overrides it
        alone: the solvers then use it, and nothing is proved by it.
        """
        form = self.exact_form(m)
        return None if form is None else form.doubles()

    def cone_form(self, m: int) -> ConeForm | None:
        """Return f as a cone program in doubles, or None if solvers should use none.

        By default this is cvxpy's program, unless it has cones of matrices or powers.
        """
        assert isinstance(self, Relaxation)
        return numerical.solver_form(self, m)

    def describe(self, m: int) -> dict[str, Any] | None:
        """Return f for m examples as certificates write it, or None if they cannot.

        By default this is the exact form, which every checker can evaluate; FORMAT.md lists the
        kinds.
        """
        form = self.exact_form(m)
        return None if form is None else form.describe(m)

    def describe_witness(self, found: Any, u: Sequence[Fraction]) -> dict[str, Any]:
        """Return what `witness` found, made exact at the exact margins u, as certificates write it.

        A threshold that misses a constraint by a rounding is lowered afterwards. Where `describe`
        gives the exact form, `exact_multipliers` is used instead.
        """
        return {"gamma": number(found.gamma), "floor": "0"}

    def exact_multipliers(self, u: Sequence[Fraction]) -> tuple[Fraction, list[Fraction]] | None:
        """Return γ and a multiplier y_r for each row of `exact_form` that prove F(u).

        ``u_i + cost_i − Σ_r y_r rows[r][i] >= γ`` for each d_i without an upper bound, and
        ``cost_j − Σ_r y_r rows[r][j] >= 0`` for each such z_j; what an upper bound forgives is
        charged at that bound. y_r >= 0 where only `row_lower` bounds the row, <= 0 where only
        `row_upper` does. None means that a linear program has to be solved for them.
        """
        return None

    def exact_auxiliaries(self, d: Sequence[Fraction]) -> list[Fraction] | None:
        """Return the z at which `exact_form` attains f(d); None: a linear program finds them."""
        return None

    def exact_caps(self, m: int) -> list[Groups]:
        """Return groups of examples with the caps that f puts on their total weight."""
        return []

    def exact_point(self, d: Sequence[float]) -> list[Fraction]:
        """Return a point of the simplex near `d` in fractions, where f is finite if that is easy.

        By default the point is within 2^-90 of d / Σd and within `exact_caps`. Certificates move it
        towards `center(m)` if that is not enough.
        """
        return within_caps(d, self.exact_caps(len(d)))


def description_of(f: Relaxation) -> Description:
    """Return the description of f, which is f itself, or an empty one if f has none."""
    return f if isinstance(f, Description) else Description()
