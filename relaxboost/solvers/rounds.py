"""The rounds all boosters share: price, yield the state, update."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from math import nan
from typing import Any

from relaxboost._core.arrays import Vector
from relaxboost.game.domains import Dense
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis
from relaxboost.matrices import Best
from relaxboost.relaxations import Witness
from relaxboost.solvers.hypothesis import CombinedHypothesis
from relaxboost.solvers.warm_start import WarmStart


@dataclass(slots=True)
class RoundState:
    """A round as it stands after the weak learner has answered and before the update.

    In round 1 w is the point that runs start from, w = 0 over balls. AdaBoost's `active` is w
    scaled to the size of the ball, and follows the w that is not: ``active.norm`` is its ‖w_t‖_1,
    ``active.raw`` its margins A w_t, and ``active.log_risk`` the logarithm of the exponential risk
    (1/m) Σ exp(−(A w_t)_i); over `L1Ball(r)`, ``active.u`` is r raw / norm.
    """

    round: int
    d: Vector
    """The distribution d_t shown to the weak learner."""
    best: Best | Dense
    """Its answer: an atom, or a dense w over a Euclidean set."""
    active: CombinedHypothesis
    """The combined hypothesis w_t, with its margins."""
    smoothed_gap: float
    """<d_t, A(e_j − w_t)>, the quantity SS09 Fig. 1 tests, in general
    g(Aᵀd_t) + g*(w_t) − <d_t, Aw_t>; nan where d_t is not smoothed."""
    lower: float
    """The lower bound that w_t proves: F(A w_t) − g*(w_t), from the cached margins. If the booster
    has a witness, the bound on F that the witness proves takes the place of F(A w_t)."""
    upper: float
    """f(d_t) + g(Aᵀd_t) with the slack, as computed."""
    step: float
    """The step that led to w_t; for AdaBoost η_{t−1} of the w that is not scaled."""
    inner: str
    """How d_t was made; `RoundRecord.inner` explains the words."""
    witness: Witness | None = None
    """What proves `lower`, where that is not F(A w_t)."""


class Booster(ABC):
    """A run of a method: holds d_t and w_t, and moves on when told the best column."""

    label: str = ""
    """The method, as `Solution.method` calls it."""
    steps: str = ""
    """Its word for smoothed rounds there; none where it has one kind of rounds only."""
    inner: str
    """How d_t is made, a word of `RoundRecord.inner`."""
    active: CombinedHypothesis
    """The combined hypothesis w_t."""
    d: Vector
    """The distribution d_t; a new array each round."""
    step: float = float("nan")
    """The step that led to w_t; nan where there is none."""
    work: float = 0.0
    """How much work the run has done, in passes over A. Each answer of the weak learner counts as
    one pass; a booster adds what its updates cost beyond that."""
    trace: tuple[str, ...] = ()
    """Why the run did what it did, a sentence for each decision."""
    witness: Witness | None = None
    """What proves nearly F(A w_t), where the booster knows it and f would ask a solver."""
    evaluated: tuple[float, float] | None = None
    """F(A w_t) and f(d_t), where the booster found them on its way."""

    def named(self, label: str, steps: str = "") -> Booster:
        """Return the booster, with the names that solutions show."""
        self.label, self.steps = label, steps
        return self

    def called(self, kinds: Iterable[str]) -> str:
        """Return the method and, where they may differ, the kinds of rounds there were."""
        if not self.steps:
            return self.label
        named = [kind for kind in kinds if kind not in ("start", "lost")]
        ran = [self.steps if kind == "smoothed" else kind for kind in named]
        return f"{self.label} ({', '.join(ran)})" if ran else self.label

    @property
    def current(self) -> Booster:
        """The run that makes the present rounds: of a portfolio, that of its phase."""
        return self

    def basis(self) -> Basis | None:
        """Return where its restricted program stands; None, the default, where there is none."""
        return None

    def warmed(self, start: WarmStart) -> Booster:
        """Return the booster, warm-started, before its first round.

        By default it stays where it is. `solve` keeps the bracket of the start in any case.
        """
        return self

    def ask(self, game: Game) -> Best | Dense:
        """Return the answer of the weak learner to d_t."""
        return game.over.best(game.matrix, self.d)

    @abstractmethod
    def advance(self, best: Any) -> Booster | None:
        """Take the answer `best` into account; return itself, None if nothing can change."""


class Rounds:
    """A state per round, numbered from `first`, until the booster cannot move, or for ever.

    The state's arrays belong to the round: d is never written to again, the active set lives on.
    """

    def __init__(self, game: Game, booster: Booster, first: int = 1) -> None:
        self._game, self._first = game, first
        self._value = game.relaxation.valuer()
        self.booster = booster
        """What runs, or ran last."""

    def __iter__(self) -> Iterator[RoundState]:
        """Run."""
        game, value = self._game, self._value
        relaxation, over = game.relaxation, game.over
        booster = self.booster
        for t in count(self._first):
            d = booster.d
            active = booster.active
            inner = booster.inner
            best = booster.ask(game)
            booster.work += 1.0
            u = active.u
            witness = booster.witness
            if booster.evaluated is not None:
                margin, penalty = booster.evaluated
            else:
                margin = value(u) if witness is None else relaxation.lower_bound(u, witness)
                penalty = relaxation.penalty(d)
            lower = margin - active.cost
            upper = penalty + over.value(best.edge + best.slack)
            yield RoundState(
                round=t,
                d=d,
                best=best,
                active=active,
                smoothed_gap=active.gap(d, best) if inner == "smoothed" else nan,
                lower=lower,
                upper=upper,
                step=booster.step,
                inner=inner,
                witness=witness,
            )
            following = booster.advance(best)
            if following is None:
                return
            self.booster = booster = following
