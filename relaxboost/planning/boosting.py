"""The function `boost`, which learns nonlinear arc costs by functional gradient descent."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relaxboost import functional
from relaxboost._core.compiled import is_interrupt
from relaxboost._core.errors import InputError, number_of
from relaxboost._core.loop import Clock
from relaxboost._core.names import explains_arguments
from relaxboost._core.seeds import Rng, accepts_seed, seed_of
from relaxboost.functional import Algorithm, Boosted, Stopping, WeakLearner
from relaxboost.functional.algorithms import algorithm_of
from relaxboost.planning.boosted_costs import BoostedCosts
from relaxboost.planning.features import same_names
from relaxboost.planning.problem import zero_features
from relaxboost.planning.risk import Linear, PlanningLoss, PlanningRisk
from relaxboost.planning.starting import (
    MIN_RELATIVE_COST,
    ChosenRounds,
    LinearStart,
    choose_rounds,
    linear_start,
)
from relaxboost.planning.tasks import Task, checked_tasks

FOLDS = "folds"
"""The value of `Stopping.validation` that makes `boost` choose the number of rounds by
cross-validation."""

STOPPING = "pass the number of rounds as stopping=, as in boost(tasks, learner, stopping=100)"
"""The advice for callers who pass the number of rounds under a wrong argument name."""


@accepts_seed
@explains_arguments(
    rounds=STOPPING,
    max_rounds=STOPPING,
    time_limit="pass stopping=Stopping(time_limit=...), with Stopping from relaxboost.functional",
    base="pass a loss, such as PlanningLoss(base=...)",
)
def boost(
    tasks: Sequence[Task],
    learner: WeakLearner,
    loss: PlanningLoss | None = None,
    *,
    algorithm: str | Algorithm = "residual",
    stopping: int | Stopping | None = None,
    warm_start: BoostedCosts | None = None,
    rng: Rng = 0,
) -> BoostedCosts:
    """Learn nonlinear site costs from demonstrations by functional gradient descent.

    The algorithm minimises the maximum-margin planning loss over sums F of weak hypotheses. The
    default link, ``"exponential"``, multiplies initial costs by exp(F), as in LEARCH (Ratliff,
    Silver & Bagnell). The link ``"additive"`` adds F to the initial costs.

    By default, boosting starts from the linear costs that `fit` learns, and cross-validation on
    held-out trips chooses the number of rounds. If the linear costs are better, this number is 0.
    ``boost(tasks, learner, PlanningLoss(base=1.0), stopping=100)`` starts from constant costs and
    runs 100 rounds.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks to learn from. Their graphs have the same features.
    learner : WeakLearner
        A weak learner of `functional`, such as `RegressionStumps()`, `Trees(max_depth=3)` or
        `Networks(5)`.
    loss : PlanningLoss, optional
        The loss, which sets the link, the base and the treatment of negative costs. The default is
        ``PlanningLoss()``. If the loss has no base, the base is the linear costs that `fit` learns
        from the tasks, or 1 if a feature is negative or if `fit` learns only zero costs.
    algorithm : {"residual", "repeated", "naive"} or Algorithm
        The algorithm, as in `functional.boost`, with two differences. First, if cross-validation
        chooses the number of rounds, the result is the mean iterate. Otherwise the result is the
        iterate with the least loss on the validation tasks or, without validation tasks, on
        `tasks`. Second, step sizes proportional to 1/√t in round t are scaled. The first step
        changes linear costs by a twentieth, and other initial costs by a quarter.
        ``step="line-search"`` is not available for the exponential link.
    stopping : int or Stopping, optional
        The stopping rule. An int is the number of rounds. ``Stopping(validation=tasks)`` takes
        held-out tasks on any graphs with the same features. The default, ``Stopping(100,
        validation="folds")``, chooses at most 100 rounds by cross-validation on three folds of the
        tasks, and then runs the chosen number of rounds on all tasks. Overlapping trips are always
        in the same fold. The scores, in `BoostedCosts.choice`, are the mean F1 scores of the arcs
        of plans for held-out trips. If there are fewer than six clusters of overlapping trips, all
        rounds are run. The callback is called only in the final run.
    warm_start : BoostedCosts, optional
        The result of an earlier run with the same tasks and settings. The new run continues the
        earlier run as if it had not been interrupted, and the limit on rounds includes the earlier
        rounds. The default of `stopping` is then the number of rounds that the earlier run chose by
        cross-validation, or 100. If the earlier run made no rounds, or if a time limit ended the
        fit of its linear costs, the new run starts at round 0.
    rng : int, numpy.random.Generator or None
        The seed for learners that make random choices: an integer >= 0, a generator from which a
        seed is drawn, or None for a new seed.

    Returns
    -------
    BoostedCosts
        The learned costs. After Ctrl-C they are the best costs so far, or the costs before the
        first round if cross-validation was not finished. Their status is then "interrupted".

    Warns
    -----
    UserWarning
        If a feature is 0 on every arc, or if cross-validation chooses 0 rounds.

    Raises
    ------
    InputError
        If graphs have different features, if the base does not fit a graph, or if options
        contradict each other.
    KeyboardInterrupt
        After Ctrl-C while the linear costs before the first round are learned.

    References
    ----------
    Grubb & Bagnell (2011), Sec. 5, Fig. 1; Ratliff, Silver & Bagnell (2009), LEARCH.

    Examples
    --------
    Linear costs cannot express that an expert avoids middle values of a feature.

    >>> import numpy as np
    >>> from relaxboost import functional as fn, planning as pl
    >>> rng = np.random.default_rng(0)
    >>> field = pl.grid(rng.random((3, 20, 20)))
    >>> middling = np.exp(-(((field.features[:, 2] - 0.5) / 0.15) ** 2))
    >>> secret = field.costs(0.2 + 2.0 * middling)
    >>> pairs = rng.permutation(field.nodes)[:60].reshape(30, 2)
    >>> plans = [pl.shortest_path(field, secret, *map(field.label, pair)) for pair in pairs]
    >>> shown = [pl.Task.along(plan.path) for plan in plans]
    >>> loss = pl.PlanningLoss(base=1.0)
    >>> boosted = pl.boost(shown[:20], fn.RegressionStumps(), loss, stopping=40)
    >>> constant = field.costs(np.ones(field.size))
    >>> for costs in (constant, boosted):
    ...     pl.evaluate(shown[20:], costs).metric("arc_recall") > 0.4
    False
    True
    """
    tasks = checked_tasks(tasks)
    graphs = list(dict.fromkeys(task.graph for task in tasks))
    same_names(graphs)
    method = algorithm_of(algorithm)
    _check_options(loss, method, warm_start)
    given, before = _continued(loss, warm_start)
    stop, by_folds = _stopping(stopping, tasks, given, before)
    begun = choice = None
    if before is not None:
        begun = before.begun
        # A run that ended in the rounds after its folds takes the rounds that are left.
        choice = before.choice if stopping is None else None
    # Single rounds may raise the loss, because steps in 1/√t do not depend on it.
    method = method.filled(iterate="average" if by_folds or choice is not None else "best")
    if zeros := zero_features(graphs):
        warnings.warn(zeros, UserWarning, stacklevel=4)
    seed = seed_of(rng)
    clock = Clock(stop.time_limit)
    if given.base is None:
        begun = linear_start(tasks, given.link, clock)
        given = replace(given, base=begun.base)
    run = _Run(tasks, given, learner, method, stop, clock, seed)
    try:
        if by_folds:
            choice = run.choose(begun)
        made = run.finish(choice, before)
    except (KeyboardInterrupt, SystemError) as error:
        # The costs before the first round are known, and the result of Ctrl-C.
        if not is_interrupt(error) or before is not None:
            raise
        choice = ChosenRounds(0, (), math.nan, 0, "interrupted")
        made = run.finish(choice, None)
    return _reported(*made, choice, begun, clock)


@dataclass(frozen=True)
class _Run:
    tasks: Sequence[Task]
    loss: PlanningLoss
    learner: WeakLearner
    method: Algorithm
    stop: Stopping
    clock: Clock
    seed: int

    def choose(self, begun: LinearStart | None) -> ChosenRounds:
        """Choose the number of rounds by cross-validation."""
        average = self.method.iterate == "average"
        # The training loss of the mean of the rounds is not computed, because the scores do not
        # need it and it costs a third of the time.
        method = copy(self.method)
        method.iterate = "last"
        # Without learned linear costs, each fold starts from the base of the loss.
        strength = math.nan if begun is None else begun.strength

        def train(shown: list[Task], loss: PlanningLoss, watch: Any) -> str:
            fold = replace(self, tasks=shown, loss=loss, method=method)
            return fold.descend(replace(self.stop, time_limit=None, callback=watch))[0].status

        rounds = self.stop.max_rounds
        return choose_rounds(self.tasks, self.loss, strength, average, train, rounds, self.clock)

    def finish(
        self, choice: ChosenRounds | None, before: BoostedCosts | None
    ) -> tuple[Boosted, PlanningRisk, float]:
        """Run boosting on all tasks in the remaining time, and return the results of `descend`.

        The run makes at most the number of rounds that cross-validation chose, if there is a
        `choice`.
        """
        stop = self.stop
        if choice is not None and choice.rounds == 0:
            # If the chosen number of rounds is 0, the run ends before it calls the weak learner.
            stop = replace(stop, time_limit=None, callback=lambda state: True)
        elif choice is not None:
            stop = replace(stop, max_rounds=choice.rounds)
        if stop.time_limit is not None:
            stop = replace(stop, time_limit=max(self.clock.left, 1e-9))
        return self.descend(stop, before)

    def descend(
        self, stop: Stopping, before: BoostedCosts | None = None
    ) -> tuple[Boosted, PlanningRisk, float]:
        """Run boosting on the given tasks.

        Return the boosted function, the planning loss of the tasks, and the factor by which all
        step sizes were multiplied.
        """
        # The weights of sites count visits of plans at F = 0, which an unweighted risk can make.
        risk = self.loss.bind(self.tasks, self.loss.bind(self.tasks).visited())
        scale = self.method.scale
        if scale is None:
            step = self.method.step
            by_root = step == "1/sqrt(t)" or (step is None and not self.loss.strength)
            scale = first_step(risk) if by_root else 1.0
        boosted = functional.boost(
            risk.features,
            risk,
            self.learner,
            algorithm=self.method.filled(scale=scale),
            stopping=stop,
            warm_start=None if before is None else before.boosted,
            rng=self.seed,
        )
        return boosted, risk, float(scale)


def _reported(
    boosted: Boosted,
    risk: PlanningRisk,
    scale: float,
    choice: ChosenRounds | None,
    begun: LinearStart | None,
    clock: Clock,
) -> BoostedCosts:
    if choice is not None:
        boosted = _with_choice(replace(boosted, seconds=clock.seconds), choice)
    # These numbers describe the iterate that predictions use, which may differ from the last
    # iterate.
    F = boosted.decision(risk.features)
    usual = float(np.abs(risk.site_costs(risk.zero())).mean())
    return BoostedCosts(
        boosted=boosted,
        loss=risk.loss,
        names=risk.oracle.graphs[0].names,
        status=boosted.status,
        scale=scale,
        inexact=sum(not one.exact for one in risk.oracle.evaluate(risk.arc_costs(F)).each),
        negative=int((risk.site_costs(F) < 0.0).sum()),
        sites=risk.sites,
        # The floor is a fraction of the mean cost. If all costs are 0, it is a fraction of 1.
        floor=MIN_RELATIVE_COST * (usual or 1.0),
        choice=choice,
        begun=begun,
    )


def _continued(
    loss: PlanningLoss | None, warm_start: BoostedCosts | None
) -> tuple[PlanningLoss, BoostedCosts | None]:
    if warm_start is None:
        return PlanningLoss() if loss is None else loss, None
    made = warm_start.loss if loss is None else loss
    begun = warm_start.begun
    # A run without rounds, or from unfinished linear costs, is not continued but started again.
    is_begun = warm_start.boosted.rounds > 0 and (begun is None or not begun.ended)
    base = None if loss is None else loss.base
    if base is None and (is_begun or begun is None):
        base = warm_start.loss.base
    return replace(made, base=base), warm_start if is_begun else None


def _stopping(
    given: int | Stopping | None,
    tasks: Sequence[Task],
    loss: PlanningLoss,
    warm_start: BoostedCosts | None,
) -> tuple[Stopping, bool]:
    """Return the stopping rule, and whether cross-validation chooses the number of rounds."""
    if given is None:
        # A warm start continues the rounds that were chosen before.
        given = Stopping(validation=FOLDS) if warm_start is None else Stopping()
    stop = Stopping.of(given)
    held = stop.validation
    if held is None:
        return stop, False
    if isinstance(held, str):
        if held != FOLDS:
            raise InputError(
                f'validation must be a list of held-out tasks or "{FOLDS}", got {held!r}'
            )
        if warm_start is not None:
            raise InputError(
                f'validation="{FOLDS}" cannot be combined with warm_start; pass the number of '
                "rounds instead"
            )
        if stop.patience is not None:
            raise InputError(
                f'validation="{FOLDS}" always tries max_rounds rounds and cannot be combined with '
                "patience; leave patience out"
            )
        return replace(stop, validation=None), True
    held = checked_tasks(held)
    same_names([tasks[0].graph, *(task.graph for task in held)])
    # `functional.boost` takes validation data as pairs of features and targets.
    return replace(stop, validation=(loss.bind(held).features, held)), False


def _with_choice(boosted: Boosted, choice: ChosenRounds) -> Boosted:
    tried = len(choice.scores) - 1
    status = boosted.status
    # A choice of 0 rounds ends the run by a callback.
    if (choice.rounds == 0 and status == "callback") or (choice.folds and status == "max_rounds"):
        status = choice.ended or ("early stopping" if choice.rounds < tried else "max_rounds")
    if choice.rounds == 0 and not choice.ended:
        warnings.warn(
            f"held-out trips do not show that boosting helps: the mean F1 of plans is "
            f"{choice.scores[0]:.3f} without it, and at most {max(choice.scores):.3f} with up to "
            f"{number_of(tried, 'round')}. The result has the costs before the first round: linear "
            "costs, or those given by base=; give more trips, other features or another "
            f"learner, or stopping={tried} to make all rounds",
            UserWarning,
            stacklevel=6,
        )
    return replace(boosted, status=status)


def _check_options(loss: Any, algorithm: Algorithm, warm_start: Any) -> None:
    if not isinstance(loss, PlanningLoss | None):
        raise InputError(f"loss must be a PlanningLoss, such as PlanningLoss(), got {loss!r}")
    link = PlanningLoss.link if loss is None else loss.link
    if link == "exponential" and algorithm.step == "line-search":
        raise InputError(
            'step="line-search" needs the derivative of the loss with respect to F, but the '
            "exponential link computes the gradient with respect to the costs; use "
            'step="1/sqrt(t)" or a number'
        )
    if warm_start is not None and not isinstance(warm_start, BoostedCosts):
        raise InputError(f"warm_start must be the result of planning.boost, got {warm_start!r:.60}")
    if warm_start is not None and warm_start.boosted.state is None:
        raise InputError(
            "warm_start has no state to continue from, because files contain only costs; pass the "
            "object that planning.boost returned, or a pickle of it"
        )


def first_step(risk: PlanningRisk) -> float:
    """Return the size of the first boosting step, along the gradient at F = 0.

    With the additive link, the step changes the costs by a quarter of their mean size. With the
    exponential link, it changes F by 1/4. If boosting starts from linear costs, which are already
    good, the factor is 1/20 instead of 1/4. Sizes are L² norms with the weights of `risk.measure`.
    """
    F = risk.zero()
    # The gradient is 0 if all demonstrations are optimal by the margin at the start.
    length = risk.measure.norm(risk.evaluate(F)[1])
    if length == 0.0:
        return 1.0
    # With the exponential link, a change of F is a relative change of costs.
    size = 1.0
    if risk.loss.link == "additive":
        size = float(np.abs(risk.site_costs(F)).mean()) or 1.0
    share = 0.05 if isinstance(risk.loss.base, Linear) else 0.25
    return share * size / length
