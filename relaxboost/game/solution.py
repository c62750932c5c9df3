"""The solution of a game: a distribution d and weights w, and the bounds that they prove."""

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
"""Names that other packages use for attributes of a solution, each with a hint for the error
message."""


class Basis(NamedTuple):
    """The simplex basis of a restricted master program, for a warm start.

    A restricted master program is the linear program of a game with some of its columns.
    """

    columns: tuple[tuple[int, int], ...]
    """A pair (index, sign) for each column of the restricted master program: its index in the
    margin matrix, and the sign that multiplies it. Columns with weight zero are included."""
    sides: str = ""
    """The basis of a linear program: a letter for each variable, each fixed row and each column.

    The letters are B (basic), L (at the lower bound), U (at the upper bound) and Z (free at zero).
    The string is empty for a program without a basis.
    """


class RoundRecord(NamedTuple):
    """The state of a run after a round.

    The bounds of the last record are certified, and those of all other records are estimates.
    """

    round: int
    """The number of rounds so far, including the rounds before a checkpoint."""
    seconds: float
    """The duration of the run so far in seconds, including the time before a checkpoint."""
    lower: float
    """The best lower bound on the game value so far."""
    upper: float
    """The best upper bound on the game value so far."""
    smoothed_gap: float
    """The gap of the smoothed game, which methods with smoothing test. It is nan for other methods.

    The gap is g(Aᵀd_t) + g*(w_t) − <d_t, Aw_t> for the distribution d_t and the weights w_t of the
    round, the margin matrix A, the weight penalty g*, and its conjugate g. For the unit l1 ball it
    is the gap <d_t, A(e_j − w_t)> of Shalev-Shwartz & Singer (2009), Fig. 1, where e_j is the unit
    vector of the best hypothesis.
    """
    columns: int
    """The number of columns with nonzero weight in this round."""
    step: float
    """The step size of this round, such as η for AdaBoost. It is nan if no single number describes
    the step."""
    inner: str
    """A word for the algorithm that computed the distribution of this round.

    The method "auto" uses the words "start" (the first round), "walk" (the parametric simplex
    method), "lost" (the parametric simplex method failed, or another algorithm could not start),
    "balance" (the test for a value of zero), "strings" (taut-string steps), "interior" (the
    interior point method), "smoothed" (pairwise steps), "lp" or "conic" (column generation), "cuts"
    (cutting planes), "hull" (fully corrective steps) and "general" (a general convex solver). The
    other methods use some of these words too: Corrective, ERLPBoost and MLPBoost use "smoothed",
    and LPBoost uses "lp" or "conic". The word is "exponential" for AdaBoost and AdaBoost*,
    "projection" for TotalBoost and SoftBoost, "measure" for SmoothBoost, and "hedge" for Hedge."""


OPTIMAL_GAP = 1e-6
"""The largest gap at which messages describe a solution as optimal.

General solvers report an optimum at about the same accuracy, relative to margins in [−1, 1].
"""


@dataclass(frozen=True, eq=False)
class Solution(Bracketed):
    """Feasible points d and w of a game, and the bounds on its value ρ that they prove.

    `solve` and `reference` return a Solution; users do not create one. The hypothesis weights w
    prove the bound `lower`, and the distribution d proves the bound `upper`. They may come from
    different rounds. Both bounds are recomputed at the end of the run and rounded outwards, so
    lower <= ρ <= upper. The difference `gap` is the accuracy.

    Most users need `lower`, `upper`, `status`, `w`, `d`, `margins` and the method `hypotheses`.
    The attributes `basis`, `witness`, `learner`, `game_digest`, `game_parts`, `label` and `doubt`
    are for programs that extend relaxboost.

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
    """The game that was solved."""
    support: NDArray[np.int64]
    """The indices of the hypotheses (columns of the margin matrix) with nonzero weight, in
    increasing order."""
    coefficients: Vector
    """The weight of each hypothesis in `support`, with its sign. The weights lie in the domain of
    the game."""
    d: Vector
    """The distribution that proves the bound `upper`, with an entry for each example."""
    witness: Witness
    """The data, such as a threshold γ on the margins, that prove the bound `lower` for the weights
    w."""
    lower: float
    """The lower bound on the game value ρ that the weights w prove. For the unit l1 ball it is the
    relaxed margin F(A w). For other domains it is F(A w) − g*(w), where g* is the weight penalty.
    """
    upper: float
    """The upper bound on the game value ρ that the distribution d proves. For the unit l1 ball it
    is f(d) + ‖Aᵀd‖_inf, where f is the relaxation and the norm is the largest absolute edge. For
    other domains it is f(d) + g(Aᵀd), where g is the conjugate of the weight penalty."""
    status: str
    """The reason why the run ended: "optimal", "max_rounds", "time_limit", "callback",
    "interrupted", "stalled", "failed" or "inaccurate". The section Returns of `solve` explains
    these words."""
    tol: float
    """The requested gap. The run ends when upper − lower is at most `tol`."""
    method: str
    """The name of the method that solved the game, often with an option in parentheses, as in
    "corrective (pairwise)". For "auto", the parentheses contain the kinds of the rounds, as in
    "auto (interior)". These are the names in `RoundRecord.inner`, except that "pairwise" replaces
    "smoothed"."""
    rounds: int
    """The number of rounds of the run, including the rounds before a checkpoint. For `reference`,
    it is the number of problems sent to the solver."""
    seconds: float
    """The duration of the run in seconds, including the time before a checkpoint."""
    bound: float = float("nan")
    """The number of rounds after which a theorem guarantees the gap `tol`, from the method
    `rounds_bound` of the booster. It is nan if no theorem applies, for example for "auto", for
    steps of Corrective other than "fig1" and "line-search", or if the caller passed beta."""
    message: str = ""
    """The reason why the run ended, with a warning if the result may be misleading."""
    history: tuple[RoundRecord, ...] = field(default=(), repr=False)
    """A `RoundRecord` for each round of the run. The history of a long run keeps only some of the
    rounds."""
    rtol: float = 0.0
    """The requested relative gap. The run also ends when upper − lower is at most `rtol` times |ρ|.
    If it is 0, only `tol` counts."""
    basis: Basis | None = field(default=None, repr=False)
    """The simplex basis at the end of column generation, for a warm start. It is None without
    column generation."""
    trace: tuple[str, ...] = field(default=(), repr=False)
    """The decisions of the run in order. Each entry is a sentence with a decision and its reason.
    """

    def __post_init__(self) -> None:
        self._freeze()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()  # The arrays must be frozen again, because pickle does not keep this flag.

    def _freeze(self) -> None:
        # The bounds are proved only for these arrays, so they must not change.
        for array in (self.support, self.coefficients, self.d):
            array.flags.writeable = False

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # The second lookup repeats the original error, also if a property has raised it.
            if name not in _ELSEWHERE:
                return object.__getattribute__(self, name)
            message = f"a Solution has no {name!r}; {_ELSEWHERE[name]}"
            raise AttributeError(message, name=name, obj=self)

    @property
    def gap(self) -> float:
        """The difference upper − lower of the two bounds."""
        return self.upper - self.lower

    @property
    def outcome(self) -> str:
        """The status for printing: "gap reached" if the status is "optimal" and the gap exceeds
        1e-6, and otherwise the status.
        """
        is_coarse = self.status == "optimal" and self.gap > OPTIMAL_GAP
        return "gap reached" if is_coarse else self.status

    @property
    def game_digest(self) -> str:  # type: ignore[override]
        """The digest `Game.digest`, by which `compare` recognises equal games."""
        return self.game.digest

    @property
    def game_parts(self) -> dict[str, str]:
        """The texts `Game.parts`, from which `compare` says how two games differ."""
        return self.game.parts

    @property
    def label(self) -> str:  # type: ignore[override]
        """The name of this solution in messages of `compare`: its method."""
        return self.method

    @property
    def learner(self) -> object | None:
        """The margin matrix if it belongs to a weak learner, and otherwise None."""
        return self.game.matrix if self.game.n is None else None

    @property
    def doubt(self) -> float:
        """The error that `compare` tolerates in these bounds: 0 if they are proved, and 1e-7 if a
        general solver computed them without proof.
        """
        return 0.0 if bounds_of(self.game.relaxation).is_proved else 1e-7

    @property
    def gamma(self) -> float:
        """The threshold γ on the margins from the proof of the bound `lower`.

        In a game with a cap on d, an example with the margin u has the hinge loss max(0, γ − u).
        """
        return self.witness.gamma

    @property
    def w(self) -> Vector:
        """The hypothesis weights that prove the bound `lower`, with an entry for each column of the
        margin matrix.
        """
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
        """The margins of the vote w, with an entry for each example."""
        return self.game.matrix.margins(self.support, self.coefficients)

    def hypotheses(self, most: int | None = None) -> list[tuple[float, str]]:
        """Return a pair (weight, name) for each hypothesis with nonzero weight, largest weight
        first.

        All returned weights are positive: a hypothesis with a negative weight is returned as its
        negation, with a name that shows this. If `most` is given, at most `most` pairs are
        returned.
        """
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
