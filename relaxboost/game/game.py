"""The game (A, f) over a domain of w: validation, digest, the cvxpy problems, and the bracket."""

from __future__ import annotations

import hashlib
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost._core.arrays import Vector, no_number
from relaxboost._core.errors import InputError
from relaxboost._core.html import DIGEST_CHARACTERS, card
from relaxboost._core.parameters import is_given
from relaxboost.game import bounds, programs
from relaxboost.game.domains import Domain, L1Ball
from relaxboost.matrices import MarginMatrix, as_matrix
from relaxboost.relaxations import HardMargin, LinearForm, Relaxation, numerical
from relaxboost.relaxations.bounds import LEVELS, Level, bounds_of, level_of
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.relaxations.description import Description, description_of
from relaxboost.relaxations.own import resolved


class Game:
    """The relaxed weak-learning game of a margin matrix A and a relaxation f.

    Its value is ρ = min over d in the simplex of f(d) + ‖Aᵀd‖_inf = max over ‖w‖_1 <= 1 of
    F(A w), with the relaxed margin F(u) = min over d of <d, u> + f(d). Over another set or
    penalty, ρ = min over d of f(d) + g(Aᵀd) = max over w of F(A w) − g*(w).

    Parameters
    ----------
    A : array, scipy.sparse matrix, or a matrix from `relaxboost.matrices`
        Shape (m, n): m examples, n hypotheses, A[i, j] = y_i h_j(x_i) in [−1, 1].
    relaxation : Relaxation
        By default the hard margin, f = 0.
    over : Domain
        The domain of w: `L1Ball(radius)`, `Simplex(radius)`, `FullSimplex(radius)`,
        `L2Ball(radius)`, or the penalty `SquaredNorm(weight)` instead of a set. The default is the
        unit l1 ball.

    Raises
    ------
    InputError
        If A is not a non-empty matrix of numbers in [−1, 1], the relaxation does not fit m, or
        `over` is not a domain or needs edges that A does not enumerate.

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
    """

    def __init__(
        self, A: Any, relaxation: Relaxation | None = None, over: Domain | None = None
    ) -> None:
        relaxation = HardMargin() if relaxation is None else relaxation
        if not is_given(relaxation, Relaxation):
            write = (
                f"{relaxation.__name__}(...)"
                if isinstance(relaxation, type)
                else "Capped(k=3), say"
            )
            raise InputError(
                f"relaxation must be one of relaxboost's or a subclass of Relaxation, "
                f"got {relaxation!r}; write {write}"
            )
        over = L1Ball() if over is None else over
        if not is_given(over, Domain):
            hint = f"; write {over.__name__}(...)" if isinstance(over, type) else ""
            raise InputError(
                "over must be L1Ball(radius), Simplex(radius), FullSimplex(radius), "
                "L2Ball(radius), SquaredNorm(weight) or another Domain, a compact set or a penalty "
                "that grows faster than the margins, so that every d gives a finite upper bound; "
                f"got {over!r}{hint}"
            )
        self._matrix = as_matrix(A)
        self._relaxation = resolved(relaxation, self._matrix.m)
        over.check(self._matrix)
        self._over = over

    @property
    def matrix(self) -> MarginMatrix:
        """The margin matrix."""
        return self._matrix

    @property
    def relaxation(self) -> Relaxation:
        """The relaxation, with every parameter resolved for this m."""
        return self._relaxation

    @property
    def over(self) -> Domain:
        """The domain of w."""
        return self._over

    @property
    def m(self) -> int:
        """Number of examples."""
        return self._matrix.m

    @property
    def n(self) -> int | None:
        """Number of hypotheses; None if they are not enumerated."""
        return self._matrix.n

    @cached_property
    def linear_form(self) -> LinearForm | None:
        """f as a linear program in doubles, computed once; None if f is not polyhedral."""
        return description_of(self._relaxation).linear_form(self.m)

    @cached_property
    def cone_form(self) -> ConeForm | None:
        """f as a cone program in doubles, computed once; None if cvxpy needs other cones."""
        f = self._relaxation
        if isinstance(f, Description):
            return f.cone_form(self.m)
        return numerical.solver_form(f, self.m)

    @property
    def level(self) -> Level:
        """The level of proof of the game's brackets: the weaker one of the levels of f and g.

        If f is polyhedral, the level of a certificate may be stronger.
        """
        return min(level_of(self._relaxation), self._over.level, key=LEVELS.index)

    @property
    def entropy_range(self) -> float:
        """A bound on max h − min h over the d at which f is finite, for the negative entropy h."""
        return bounds_of(self._relaxation).entropy_range(self.m)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the canonical content: matrix, relaxation and domain, exactly."""
        key = f"{self._matrix.digest()} {self._relaxation.key()} {self._over.key()}"
        return hashlib.sha256(f"relaxboost game v1 {key}".encode()).hexdigest()

    def _repr_html_(self) -> str:
        facts: dict[str, Any] = {"examples": self.m, "hypotheses": self.n, "over": self.over}
        facts["digest"] = self.digest[:DIGEST_CHARACTERS]
        return card(f"Game, {self.relaxation}", facts)

    def __repr__(self) -> str:
        over = "" if self._over == L1Ball() else f", over={self._over!r}"
        return f"Game({self._matrix!r}, {self._relaxation!r}{over})"

    def primal(self) -> Any:
        """Return the unsolved cvxpy problem min f(d) + g(Aᵀd) over the simplex.

        For the unit l1 ball that is min f(d) + v subject to |Aᵀd| <= v. Its variables are named
        ``d`` and ``v`` (the bound on the edges; over Euclidean sets the edges themselves).
        ``problem.var_dict`` returns them by name.
        """
        return programs.primal(self._matrix.tocvxpy(), self._relaxation, self._over).problem

    def dual(self) -> Any:
        """Return the unsolved cvxpy problem max γ − f*(x) − g*(w) subject to x >= γ − u, u <= A w.

        w is in the domain. The variables are named ``w``, ``u`` and ``gamma`` (and ``x`` if f needs
        it). The multipliers of ``u <= A @ w``, the first constraint, are a d >= 0 of the primal.
        """
        return programs.dual(self._matrix.tocvxpy(), self._relaxation, self._over).problem

    def bracket(self, d: ArrayLike, w: Any) -> tuple[float, float]:
        """Return (lower, upper) with lower <= ρ <= upper from any nearly feasible pair.

        Both points are repaired first: `d` is clipped and moved into the simplex and the domain of
        f, and `w` is scaled into its domain. The bounds are evaluated at the repaired points and
        rounded outwards. They are valid for every pair, and far apart if the pair is far from
        optimal.

        Parameters
        ----------
        d : array of shape (m,)
            Finite numbers, one at least positive.
        w : array of shape (n,), pair (support, coefficients), or dict {column: weight}
            Finite weights. A tuple of numbers is an array.

        Raises
        ------
        InputError
            For wrong shapes or values that cannot be repaired.
        """
        support, coefficients = self.repair_w(w)
        lower, _ = bounds.evaluate_lower(
            self._matrix, self._relaxation, support, coefficients, self._over
        )
        d = self.repair_d(d)
        return lower, bounds.evaluate_upper(self._matrix, self._relaxation, d, self._over)

    def repair_d(self, d: ArrayLike) -> Vector:
        """Return a d of the simplex near `d` at which f is finite."""
        d = _numbers("d", d)
        if d.shape != (self.m,):
            raise InputError(f"d has shape {d.shape}, and this game has m = {self.m} examples")
        return self._relaxation.repair(d)

    def repair_w(self, w: Any) -> tuple[NDArray[np.int64], Vector]:
        """Return (support, coefficients) of a w of the domain near `w`; each column occurs once."""
        support, coefficients = self.read_w(w)
        coefficients = self._over.repair(coefficients)
        used = coefficients != 0.0
        return support[used], coefficients[used]

    def read_w(self, w: Any) -> tuple[NDArray[np.int64], Vector]:
        """Return (support, coefficients) of unrepaired finite weights; each column occurs once."""
        if isinstance(w, dict):
            w = list(w), list(w.values())
        if isinstance(w, tuple) and not all(isinstance(entry, Real) for entry in w):
            support, coefficients = self._sparse_w(w)
        else:
            dense = _numbers("w", w)
            if dense.shape != (self.n,):
                raise InputError(f"w has shape {dense.shape}, and this game has n = {self.n}")
            support = np.flatnonzero(dense)
            coefficients = dense[support]
        wrong = np.flatnonzero(~np.isfinite(coefficients))
        if wrong.size:
            first = wrong[0]
            raise InputError(
                f"w has nan or infinite entries, first {coefficients[first]} of column "
                f"{support[first]}; weights are finite numbers"
            )
        return support, coefficients

    def _sparse_w(self, w: tuple[Any, ...]) -> tuple[NDArray[np.int64], Vector]:
        if len(w) != 2:
            raise InputError("w as a tuple is (support, coefficients), two vectors of one length")
        coefficients = _numbers("coefficients", w[1])
        given = np.asarray(w[0])
        support = given.astype(np.int64) if given.dtype.kind in "iu" or not given.size else given
        if support.dtype != np.int64:
            raise InputError(f"support holds column numbers, got dtype {given.dtype}")
        if support.ndim != 1 or support.shape != coefficients.shape:
            raise InputError("w = (support, coefficients) needs two vectors of one length")
        known = self._matrix.known
        if support.size and not 0 <= support.min() <= support.max() < known:
            raise InputError(f"support names columns outside 0..{known - 1}")
        if (support[1:] > support[:-1]).all():  # sorted already, as solvers return them
            return support, coefficients
        columns, where = np.unique(support, return_inverse=True)
        if columns.size < support.size:  # the weights of a column that occurs twice are added
            total = np.zeros(columns.size)
            np.add.at(total, where, coefficients)
            return columns, total
        return support, coefficients


def _numbers(name: str, given: Any) -> Vector:
    """Return a copy of `given` as a float64 array, or raise an InputError."""
    if given is None:
        raise InputError(f"{name} is None; a variable of cvxpy has a value once it is solved for")
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
