"""What is told of a fit while it goes on: lines of text, and scikit-learn's callbacks."""

from __future__ import annotations

from typing import Any

from relaxboost.functional import Boosted, BoostState, Risk, Term, WeakLearner

try:  # scikit-learn >= 1.9
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing, where scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method."""
        return method


class Watcher:
    """The callback of a run of boosting: `verbose`, and what `set_callbacks` was given.

    `before` are the terms of the run that is gone on with.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        risk: Risk,
        learner: WeakLearner,
        before: tuple[Term, ...],
    ) -> None:
        self.estimator, self.X, self.y, self.risk, self.learner = estimator, X, y, risk, learner
        self.terms = list(before)
        self.every = max(1, estimator.max_rounds // 10) if estimator.verbose == 1 else 1
        self.context: Any = None
        if hasattr(estimator, "_init_callback_context") and hasattr(estimator, "_skl_callbacks"):
            self.context = estimator._init_callback_context(max_subtasks=estimator.max_rounds)
            self.context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def __call__(self, state: BoostState) -> bool:
        """Tell of a round; return whether a callback wants the fit to end."""
        if self.estimator.verbose and state.round % self.every == 0:
            print(f"round {state.round}: risk {state.value:.6g}")
        if self.context is None or state.direction is None:
            return False
        self.terms += state.terms
        told = {
            "estimator": self.estimator,
            "X": self.X,
            "y": self.y,
            "reconstruction_attributes": lambda: {"boosted_": self._boosted(state)},
        }
        round_ = self.context.subcontext(task_name="round")
        round_.call_on_fit_task_begin(**told)
        return bool(round_.call_on_fit_task_end(**told))

    def _boosted(self, state: BoostState) -> Boosted:
        """Return f_t as a run that ended here."""
        return Boosted(
            loss=self.risk.loss,
            learner=self.learner,
            terms=tuple(self.terms),
            history=(),
            rounds=state.round,
            chosen=state.round,
            iterate="last",
            status="callback",
            outputs=self.risk.outputs,
            classes=self.risk.classes,
            seconds=0.0,
            state=None,
        )

    def end(self) -> None:
        """Tell that the fit is at its end."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator, X=self.X, y=self.y)
