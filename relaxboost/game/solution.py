"""The result of a solver: a pair of points (d, w), and the bracket that they prove."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.html import card, table
from relaxboost._core.rounding import show_bracket
from relaxboost.game.comparison import Bracketed
from relaxboost.relaxations import Witness
from relaxboost.relaxations.bounds import bounds_of

if TYPE_CHECKING:
    from relaxboost.game.game import Game


_RHO = "rho lies between its lower and upper"
_ELSEWHERE = {
    **dict.fromkeys(("value", "rho", "objective", "optval", "fun"), _RHO),
    **dict.fromkeys(("weights", "x"), "w has those of the hypotheses, d those of the examples"),
    **dict.fromkeys(("success", "converged"), "its status says how it ended"),
    **dict.fromkeys(("iterations", "n_iter", "nit"), "rounds has their number"),
    **dict.fromkeys(
        ("certificate", "save"), "relaxboost.certify(solution).save(path) writes a proof"
    ),
    "plot": "relaxboost.views.plots.overview(solution) draws it",
}
"""Other names of the fields of a solution, from other packages, for error messages."""


class Basis(NamedTuple):
    """The basis of a restricted program, from which a program of the same form can start."""

    columns: tuple[tuple[int, int], ...]
    """The (number, sign) of its columns, with zero or non-zero weight."""
    sides: str = ""
    """For a linear program, a letter for each variable, fixed row and column: B for basic, L and U
    for at the lower and upper bound, Z for free at zero. It is "" for a program without a basis."""


class RoundRecord(NamedTuple):
    """A record of a round. The last record has the certified bounds; all others have estimates."""

    round: int
    """The number of calls to the weak learner so far."""
    seconds: float
    lower: float
    """The best lower bound so far."""
    upper: float
    """The best upper bound so far."""
    smoothed_gap: float
    """The tested gap <d_t, A(e_j − w_t)> of SS09 Fig. 1, in general g(Aᵀd_t) + g*(w_t) − <d_t,
    Aw_t>; nan for methods without smoothing."""
    columns: int
    """The number of columns with non-zero weight."""
    step: float
    """The step size that led to this round (for AdaBoost, η); nan if all weights changed."""
    inner: str
    """How d_t was computed. For "auto": "start" (the first round), "walk", "lost" (a walk that did
    not end), "balance" (the test for a value of zero), "strings", "interior", "smoothed" (pairwise
    steps), "lp" or "conic" (column generation), "cuts" (cutting planes), "hull" (fully corrective
    steps) and "general". For AdaBoost: "exponential"; TotalBoost and SoftBoost: "projection";
    SmoothBoost: "measure"; Hedge: "hedge". A run is also "lost" if solvers fail at its start."""


OPTIMAL_GAP = 1e-6
"""The largest gap at which texts call a solution optimal. Margins are in [−1, 1], so this is the
relative accuracy at which general-purpose solvers report an optimum."""


@dataclass(frozen=True, eq=False)
class Solution(Bracketed):
    """A feasible d and w of a game and the bracket that they prove, from `solve` or `reference`.

    `lower` is F(Aw) − g*(w) and `upper` is f(d) + g(Aᵀd); over the unit l1 ball they are F(Aw) and
    f(d) + ‖Aᵀd‖_inf. Both are recomputed at the end and rounded outwards, so that lower <= ρ <=
    upper. `gap` is the accuracy. d and w may come from different rounds.

    Examples
    --------
    >>> import relaxboost as rb
    >>> vote = rb.solve(rb.Game([[1, 0], [0, 1]]), tol=1e-6)
    >>> vote.status, round(vote.lower, 4), round(vote.upper, 4)
    ('optimal', 0.5, 0.5)
    >>> [(round(weight, 4), name) for weight, name in vote.hypotheses()]
    [(0.5, 'h0'), (0.5, 'h1')]
    >>> vote.margins.round(4).tolist()
    [0.5, 0.5]
    """

    game: Game
    support: NDArray[np.int64]
    """The columns with non-zero weight, in increasing order."""
    coefficients: Vector
    """Their signed weights; w is in the game's domain, by default ‖w‖_1 <= 1."""
    d: Vector
    """The distribution over the examples, shape (m,)."""
    witness: Witness
    """The witness of F at the margins, which proves `lower`."""
    lower: float
    upper: float
    status: str
    """The status: optimal, max_rounds, time_limit, callback, interrupted, stalled, inaccurate or
    failed."""
    tol: float
    """The requested gap."""
    method: str
    """The name of the method. If a method has several kinds of rounds, their names follow (those of
    `RoundRecord.inner`, but with the name of the steps instead of "smoothed")."""
    rounds: int
    """The number of calls to the weak learner, including those before a checkpoint. For a
    reference, the number of times that a solver ran on the columns."""
    seconds: float
    """The seconds of the run, including those before a checkpoint."""
    bound: float = float("nan")
    """64 log(m) / tol², the rounds Fig. 1 needs at most for a certified gap (32 log(m) / tol² for
    its own test) over the unit l1 ball; `Domain.rounds_bound` for others. Proved for ERLPBoost and
    for the steps "fig1" and "line-search" of Corrective; nan for its other steps, or if
    beta was chosen by hand or the weak learner has slack. For AdaBoost*, 2 log(m) / tol² rounded
    up and a round to look. TotalBoost, SoftBoost, MLPBoost and Hedge have the bounds of their own
    theorems (`Method.rounds_bound`). nan for all other methods, "auto" among them."""
    message: str = ""
    """The status in a sentence."""
    history: tuple[RoundRecord, ...] = field(default=(), repr=False)
    rtol: float = 0.0
    """The requested gap relative to |ρ|, an alternative to `tol`; 0 if none was requested."""
    basis: Basis | None = field(default=None, repr=False)
    """The basis of the last restricted program, for later runs; None if no such program ran."""
    trace: tuple[str, ...] = field(default=(), repr=False)
    """The decisions of the run and their reasons, one sentence each, in their order."""

    def __post_init__(self) -> None:
        self._freeze()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()  # pickle does not keep this flag

    def _freeze(self) -> None:
        """Make the arrays read-only, because the bracket belongs to these points."""
        for array in (self.support, self.coefficients, self.d):
            array.flags.writeable = False

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise an AttributeError that says which attribute to use instead of `name`."""
            if name not in _ELSEWHERE:  # repeats the original error, also from within a property
                return object.__getattribute__(self, name)
            message = f"a Solution has no {name!r}; {_ELSEWHERE[name]}"
            raise AttributeError(message, name=name, obj=self)

    @property
    def gap(self) -> float:
        """The gap upper − lower."""
        return self.upper - self.lower

    @property
    def outcome(self) -> str:
        """The status in words, with "gap reached" instead of "optimal" if the gap is above 1e-6."""
        is_coarse = self.status == "optimal" and self.gap > OPTIMAL_GAP
        return "gap reached" if is_coarse else self.status

    @property
    def game_digest(self) -> str:  # type: ignore[override]
        """The digest of the game, `Game.digest`."""
        return self.game.digest

    @property
    def label(self) -> str:  # type: ignore[override]
        """The name of the method."""
        return self.method

    @property
    def learner(self) -> object | None:
        """The matrix if it does not enumerate its columns, else None."""
        return self.game.matrix if self.game.n is None else None

    @property
    def doubt(self) -> float:
        """1e-7 for a relaxation whose level is numerical, else 0."""
        return 0.0 if bounds_of(self.game.relaxation).is_proved else 1e-7

    @property
    def gamma(self) -> float:
        """The threshold γ of the witness, from which hinge losses of margins are measured."""
        return self.witness.gamma

    @property
    def w(self) -> Vector:
        """The weights as a dense vector of shape (n,)."""
        n = self.game.n
        if n is None:
            raise InputError(
                "w has no fixed length for a weak learner whose hypotheses are not enumerated; "
                "use support and coefficients"
            )
        w = np.zeros(n)
        w[self.support] = self.coefficients
        return w

    @property
    def margins(self) -> Vector:
        """The margins A w, shape (m,)."""
        return self.game.matrix.margins(self.support, self.coefficients)

    def hypotheses(self, most: int | None = None) -> list[tuple[float, str]]:
        """Return (weight > 0, name) for each hypothesis used, by decreasing weight."""
        order = np.lexsort((self.support, -np.abs(self.coefficients)))[:most]
        describe = self.game.matrix.describe
        return [
            (abs(c), describe(j, 1 if c > 0 else -1))
            for j, c in zip(
                self.support[order].tolist(), self.coefficients[order].tolist(), strict=True
            )
        ]

    def __str__(self) -> str:
        lower, upper = show_bracket(self.lower, self.upper)
        return f"{self.outcome}: {lower} <= rho <= {upper}"

    def _repr_html_(self) -> str:
        facts = {"game": self.game, "method": self.method, "rounds": self.rounds, "gap": self.gap}
        largest = self.hypotheses(10)
        votes = table(largest, ("weight", "hypothesis")) if largest else ""
        return card(str(self), facts, votes)

    def __repr__(self) -> str:
        lower, upper = show_bracket(self.lower, self.upper)
        return (
            f"Solution({lower} <= rho <= {upper}, gap {self.gap:.2g}, "
            f"{self.outcome}, {self.method}, {self.rounds} rounds, {len(self.support)} columns)"
        )
