"""The class `Game`: a weak-learning game with its matrix, relaxation and domain."""

from __future__ import annotations

import hashlib
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost._core.arrays import Vector, no_number
from relaxboost._core.errors import InputError, brief, class_hint
from relaxboost._core.html import DIGEST_CHARACTERS, card
from relaxboost._core.parameters import is_given
from relaxboost.game import bounds, programs
from relaxboost.game.domains import Domain, L1Ball
from relaxboost.matrices import MarginMatrix, as_matrix
from relaxboost.relaxations import HardMargin, LinearForm, Relaxation
from relaxboost.relaxations.bounds import LEVELS, Level, bounds_of, level_of
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.relaxations.description import cone_form_of, description_of
from relaxboost.relaxations.own import resolved


class Game:
    """A weak-learning game: find the weighted vote with the largest relaxed margin.

    One player chooses hypothesis weights w, which form a vote. The other player chooses a
    distribution d over the examples. The value ρ of the game has two formulas:

    * ρ is the maximum over all w with ‖w‖_1 <= 1 of the relaxed margin F(A w). Here A is the margin
      matrix, f is the relaxation, and F(u) is the minimum over all d of <d, u> + f(d). For f = 0,
      this is the smallest margin.
    * ρ is the minimum over all d of f(d) + ‖Aᵀd‖_inf. The edges Aᵀd say how well each hypothesis
      predicts the labels of examples drawn from d.

    For other domains of w, ρ = max over w of F(A w) − g*(w) = min over d of f(d) + g(Aᵀd). The cost
    g*(w) of a set is 0 inside and infinite outside; for `SquaredNorm`, it is the penalty. The
    function g is the conjugate of g*.

    Most users need only `bracket`, `m`, `n`, `relaxation` and `over`. The methods `repair_d`,
    `repair_w` and `read_w`, and the attributes `linear_form`, `cone_form` and `entropy_range`, are
    for programs that extend relaxboost.

    Parameters
    ----------
    A : array, scipy.sparse matrix, or MarginMatrix
        The margin matrix of shape (m, n) for m examples and n hypotheses, with A[i, j] = y_i
        h_j(x_i) in [−1, 1]. Entries are stored as floats, also for exact proofs, so 1/10 means the
        nearest float.
    relaxation : Relaxation
        The relaxation f. By default f = 0, the hard margin.
    over : Domain
        The domain of w: `L1Ball(radius)`, `Simplex(radius)`, `FullSimplex(radius)`,
        `L2Ball(radius)`, or the penalty `SquaredNorm(weight)` instead of a set. The default is the
        unit l1 ball.

    Raises
    ------
    InputError
        If A is not a non-empty matrix of numbers in [−1, 1], if the relaxation does not fit m, if
        `over` is not a domain, or if A belongs to a weak learner that does not list its hypotheses
        and `over` is not an `L1Ball`.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Definition 6, Thm 7; Thm 3 for the equality; Sec. 6 for other
    domains.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, 0], [0, 1], [1, 1]], rb.Capped(k=2))
    >>> game
    Game(DenseMatrix(3 examples, 2 hypotheses), Capped(k=2))
    >>> lower, upper = game.bracket(d=[0.5, 0.5, 0.0], w=[0.5, 0.5])
    >>> round(lower, 9), round(upper, 9)
    (0.5, 0.5)
    >>> rb.solve(game).status
    'optimal'
    """

    def __init__(
        self, A: Any, relaxation: Relaxation | None = None, over: Domain | None = None
    ) -> None:
        relaxation = HardMargin() if relaxation is None else relaxation
        if not is_given(relaxation, Relaxation):
            write = "Capped(k=3), for example"
            if isinstance(relaxation, type):
                write = f"{relaxation.__name__}(...)"
            elif isinstance(relaxation, Domain):
                write = f"Game(A, over={relaxation!r})"
            raise InputError(
                f"relaxation must be one of relaxboost's relaxations or an instance of a subclass "
                f"of Relaxation, got {brief(relaxation)}; write {write}"
            )
        over = L1Ball() if over is None else over
        if not is_given(over, Domain):
            raise InputError(
                "over must be L1Ball(radius), Simplex(radius), FullSimplex(radius), "
                "L2Ball(radius), SquaredNorm(weight) or another Domain (a compact set or a "
                f"penalty that grows faster than the margins), got {over!r}{class_hint(over)}"
            )
        self._matrix = as_matrix(A)
        self._relaxation = resolved(relaxation, self._matrix.m)
        over.check(self._matrix)
        self._over = over

    @property
    def matrix(self) -> MarginMatrix:
        """The margin matrix A, with a row for each example and a column for each hypothesis."""
        return self._matrix

    @property
    def relaxation(self) -> Relaxation:
        """The relaxation f of the game.

        Parameters that depend on the number of examples, such as `Capped(fraction=0.1)`, are
        resolved for this game.
        """
        return self._relaxation

    @property
    def over(self) -> Domain:
        """The domain of the hypothesis weights, such as the unit l1 ball."""
        return self._over

    @property
    def m(self) -> int:
        """The number of examples, which are the rows of the margin matrix."""
        return self._matrix.m

    @property
    def n(self) -> int | None:
        """The number of hypotheses, which are the columns of the margin matrix.

        It is None for a weak learner that does not list its hypotheses.
        """
        return self._matrix.n

    @cached_property
    def linear_form(self) -> LinearForm | None:
        """The relaxation as a linear program in doubles, or None if it is not polyhedral."""
        return description_of(self._relaxation).linear_form(self.m)

    @cached_property
    def cone_form(self) -> ConeForm | None:
        """The relaxation as a cone program in doubles.

        It is None if there is no cone program, or if solvers should use another form.
        """
        return cone_form_of(self._relaxation, self.m)

    @property
    def level(self) -> Level:
        """The level of proof of the bounds on the game value.

        Bounds are computed in fractions ("exact"), in intervals ("enclosed"), or by a general
        solver without proof ("numerical"). The level is the weaker one of the relaxation and the
        domain. If the relaxation is polyhedral, a certificate may have a stronger level.
        """
        return min(level_of(self._relaxation), self._over.level, key=LEVELS.index)

    @property
    def entropy_range(self) -> float:
        """An upper bound on the range of Σ d_i log d_i over distributions d with finite f(d)."""
        return bounds_of(self._relaxation).entropy_range(self.m)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 digest of the margin matrix, the relaxation and the domain, in hexadecimal.

        If the matrix belongs to a weak learner, the digest does not cover the columns.
        """
        key = " ".join(self.parts.values())
        return hashlib.sha256(f"relaxboost game v1 {key}".encode()).hexdigest()

    @property
    def parts(self) -> dict[str, str]:
        """A text for each of the three parts of the game, by the keys "A", "f" and "over".

        The text for "A" is the digest of the margin matrix. The other two identify the relaxation
        and the domain with their parameters.
        """
        f = self._relaxation.key()
        return {"A": self._matrix.digest(), "f": f, "over": self._over.key()}

    def _repr_html_(self) -> str:
        facts: dict[str, Any] = {"examples": self.m, "hypotheses": self.n, "over": self.over}
        facts["digest"] = self.digest[:DIGEST_CHARACTERS]
        return card(f"Game, {brief(self.relaxation)}", facts)

    def __repr__(self) -> str:
        over = "" if self._over == L1Ball() else f", over={self._over!r}"
        return f"Game({self._matrix!r}, {brief(self._relaxation)}{over})"

    def primal(self) -> Any:
        """Return the unsolved primal problem as a cvxpy problem.

        The problem minimises f(d) + g(Aᵀd) over the distributions d. For the unit l1 ball it is min
        f(d) + v subject to |Aᵀd| <= v. The variables ``d`` and ``v`` can be looked up in
        ``problem.var_dict``. The variable ``v`` is the bound on the edges or, for a Euclidean
        domain, the vector of the edges.
        """
        return programs.primal(self._matrix.tocvxpy(), self._relaxation, self._over).problem

    def dual(self) -> Any:
        """Return the unsolved dual problem as a cvxpy problem.

        The problem maximises γ − f*(x) − g*(w) subject to x >= γ − u and u <= A w, with w in the
        domain. The variables are named ``w``, ``u`` and ``gamma``, and ``x`` if f needs it. The
        multipliers of the first constraint, ``u <= A @ w``, are the distribution d of the primal
        problem.
        """
        return programs.dual(self._matrix.tocvxpy(), self._relaxation, self._over).problem

    def bracket(self, d: ArrayLike, w: Any) -> tuple[float, float]:
        """Return the bounds (lower, upper) on the value ρ that a pair (d, w) proves.

        First `d` is clipped and moved into the simplex and the domain of f, and `w` is scaled into
        its domain. The bounds are evaluated at these points and rounded outwards, so lower <= ρ <=
        upper for every pair. They are far apart if the pair is far from optimal.

        Parameters
        ----------
        d : array of shape (m,)
            The weights of the examples. They must be finite, and at least one must be positive.
        w : array of shape (n,), pair (support, coefficients), or dict {column: weight}
            The weights of the hypotheses, which must be finite. A tuple of numbers is treated as an
            array.

        Raises
        ------
        InputError
            If a shape is wrong, or if values cannot be repaired.
        """
        support, coefficients = self.repair_w(w)
        lower, _ = bounds.evaluate_lower(
            self._matrix, self._relaxation, support, coefficients, self._over
        )
        d = self.repair_d(d)
        return lower, bounds.evaluate_upper(self._matrix, self._relaxation, d, self._over)

    def repair_d(self, d: ArrayLike) -> Vector:
        """Return a distribution near `d` at which the relaxation is finite."""
        d = _numbers("d", d)
        if d.shape != (self.m,):
            raise InputError(
                f"d must have shape ({self.m},), with one entry for each example, got {d.shape}"
            )
        return self._relaxation.repair(d)

    def repair_w(self, w: Any) -> tuple[NDArray[np.int64], Vector]:
        """Return weights near `w` in the domain of the game, as a pair (support, coefficients).

        The pair contains the column indices and the values of the nonzero weights. No index occurs
        twice.
        """
        support, coefficients = self.read_w(w)
        coefficients = self._over.repair(coefficients)
        used = coefficients != 0.0
        return support[used], coefficients[used]

    def read_w(self, w: Any) -> tuple[NDArray[np.int64], Vector]:
        """Return the weights `w` as a pair (support, coefficients), even if they are infeasible.

        The pair contains the column indices and the values of the nonzero weights. No index occurs
        twice.
        """
        if isinstance(w, dict):
            w = list(w), list(w.values())
        if isinstance(w, tuple) and not all(isinstance(entry, Real) for entry in w):
            support, coefficients = self._sparse_w(w)
        else:
            dense = _numbers("w", w)
            if dense.shape != (self.n,):
                raise InputError(
                    f"w must have shape ({self.n},), with one weight for each hypothesis, got "
                    f"{dense.shape}"
                )
            support = np.flatnonzero(dense)
            coefficients = dense[support]
        wrong = np.flatnonzero(~np.isfinite(coefficients))
        if wrong.size:
            first = wrong[0]
            raise InputError(
                f"w has entries that are nan or infinite, the first of them {coefficients[first]} "
                f"for column {support[first]}; weights must be finite numbers"
            )
        return support, coefficients

    def _sparse_w(self, w: tuple[Any, ...]) -> tuple[NDArray[np.int64], Vector]:
        if len(w) != 2:
            raise InputError(
                "w as a tuple must be (support, coefficients), two vectors of the same length"
            )
        coefficients = _numbers("coefficients", w[1])
        given = np.asarray(w[0])
        support = given.astype(np.int64) if given.dtype.kind in "iu" or not given.size else given
        if support.dtype != np.int64:
            raise InputError(f"support must contain column numbers, got dtype {given.dtype}")
        if support.ndim != 1 or support.shape != coefficients.shape:
            raise InputError("w = (support, coefficients) needs two vectors of the same length")
        known = self._matrix.known
        if support.size and not 0 <= support.min() <= support.max() < known:
            raise InputError(f"support contains columns outside 0..{known - 1}")
        # Solvers return indices in increasing order, and these need no search for duplicates.
        if (support[1:] > support[:-1]).all():
            return support, coefficients
        columns, where = np.unique(support, return_inverse=True)
        # If a column occurs twice, its weights are added.
        if columns.size < support.size:
            total = np.zeros(columns.size)
            np.add.at(total, where, coefficients)
            return columns, total
        return support, coefficients


def check_game(given: Any, needing: str) -> None:
    """Raise an InputError if `given` is not a Game.

    `needing` is the beginning of the message, such as "solve needs".
    """
    if isinstance(given, Game):
        return
    is_solution = isinstance(getattr(given, "game", None), Game)
    remedy = "pass its game, as in solution.game" if is_solution else "write Game(A, f)"
    raise InputError(f"{needing} a Game, got {type(given).__name__}; {remedy}")


def _numbers(name: str, given: Any) -> Vector:
    """Return a copy of a user's vector as an array of doubles.

    Raise an InputError that mentions `name` if it does not consist of numbers.
    """
    if given is None:
        raise InputError(
            f"{name} is None; a cvxpy variable has a value only after its problem has been solved"
        )
    try:
        array = np.asarray(given)
    except ValueError:
        raise InputError(f"{name} must be a vector of numbers, got {given!r:.60}") from None
    if array.dtype.kind in "OUS":
        at = no_number(array)
        if at is not None:
            place = f"{name}[{', '.join(map(str, at))}]" if at else name
            raise InputError(f"{name} must be a vector of numbers, got {place} = {array[at]!s:.60}")
    elif array.dtype.kind not in "iuf":
        raise InputError(f"{name} must be a vector of numbers, got dtype {array.dtype}")
    return array.astype(np.float64)
