"""The report of `certify_ensemble`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError, brief
from relaxboost._core.html import card, shown
from relaxboost._core.rounding import float_down, float_up, show_bracket
from relaxboost.certificates import Certificate, Verdict, check
from relaxboost.estimators.ensembles.members import Members, ask
from relaxboost.game.game import Game
from relaxboost.relaxations import HardMargin

Interval = tuple[Fraction, Fraction]


def numbers(vector: Any, length: int) -> list[Fraction]:
    """Return a vector stored in a certificate as a list of Fractions."""
    if isinstance(vector, list):  # A numerical certificate contains doubles.
        return [Fraction(float(x)) for x in vector]
    return check.Fields({"numbers": vector}, "it").vector("numbers", length)


@dataclass(frozen=True, eq=False)
class EnsembleReport:
    """The certified margin of an ensemble, and the optimal margin of its hypotheses.

    The columns of the report are the hypotheses that are not 0 on all of X, each divided by its
    largest absolute value. If the ensemble has an intercept, the last column is the constant
    hypothesis 1. `str()` formats the report as a table.
    """

    kind: str
    """The class name of the certified estimator, or "(H, weights)"."""
    classes: tuple[Any, Any]
    """The labels that stand for −1 and +1 in the margins."""
    members: Members = field(repr=False)
    kept: Whole = field(repr=False)
    """The indices of the ensemble's hypotheses that are columns of the report."""
    all_scales: Array = field(repr=False)
    """The largest absolute value of each hypothesis, 0 if the hypothesis is not a column."""
    game: Game
    certificate: Certificate
    """The certificate of the ensemble's margin. Its lower bound is proved by the ensemble's
    weights, and its upper bound holds for the optimum ρ."""
    optimum: Certificate
    """The certificate of the optimum ρ. The weights `reoptimised` prove its lower bound."""
    margin: Interval
    """A lower and an upper bound on F(A w), the relaxed margin of the ensemble."""
    tol: float
    """The requested gap between the bounds on the optimum."""

    @property
    def distance(self) -> Interval:
        """A lower and an upper bound on ρ − F(A w), the distance to the optimum."""
        low, high = self.margin
        # The ensemble is one of the points over which ρ is the maximum.
        return max(Fraction(0), self.optimum.lower - high), self.optimum.upper - low

    @property
    def intercept(self) -> float | None:
        """The intercept of the ensemble, before all weights are divided by ‖w‖_1."""
        return self.members.intercept

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the hypotheses that are columns of the report."""
        last = () if self.intercept is None else ("intercept",)
        return (*(self.members.names[j] for j in self.kept.tolist()), *last)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The names of the hypotheses that are 0 on every example, and so are not columns."""
        kept = set(self.kept.tolist())
        return tuple(name for j, name in enumerate(self.members.names) if j not in kept)

    @property
    def scales(self) -> Array:
        """The number by which each hypothesis was divided, 1 for the intercept."""
        last = [] if self.intercept is None else [1.0]
        return np.append(self.all_scales[self.kept], last)

    @property
    def weights(self) -> Array:
        """The ensemble's weights of the columns, with absolute values that sum to 1."""
        return self._dense(self.certificate)

    @property
    def reoptimised(self) -> Array:
        """The weights of the columns that prove the lower bound on the optimum."""
        return self._dense(self.optimum)

    def _dense(self, certificate: Certificate) -> Array:
        columns = certificate.document["columns"]
        w = np.zeros(len(self.names))
        w[columns] = [float(c) for c in numbers(certificate.document["w"], len(columns))]
        return w

    @property
    def margins(self) -> Array:
        """The margin of the ensemble on each example."""
        return self._margins(self.weights)

    @property
    def reoptimised_margins(self) -> Array:
        """The margin of each example under the re-optimised weights."""
        return self._margins(self.reoptimised)

    def _margins(self, w: Array) -> Array:
        return self.game.matrix.margins(range(w.size), w)

    def decision(self, X: Any, *, reoptimised: bool = True) -> Array:
        """Return the decision Σ_j w_j h_j(x) for each row of X, positive for the class +1.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            New examples, in the form that the estimator expects. For (H, weights), the predictions
            of the hypotheses on the new examples.
        reoptimised : bool
            Whether to use the re-optimised weights instead of the ensemble's weights divided by
            ‖w‖_1.

        Returns
        -------
        array of shape (rows of X,)
            The decision value of each row.

        Raises
        ------
        InputError
            If the estimator cannot predict on X.
        """
        H = ask(self.members, self.members.predict, X)
        if H.shape[1] != len(self.members.names):
            raise InputError(
                f"X has {H.shape[1]} columns, but this ensemble was given as the predictions of "
                f"{len(self.members.names)} hypotheses; pass their predictions on the new examples"
            )
        w = self.reoptimised if reoptimised else self.weights
        votes = H[:, self.kept] / self.all_scales[self.kept]
        constant = 0.0 if self.intercept is None else w[-1]
        return np.asarray(votes @ w[: self.kept.size] + constant)

    def predict(self, X: Any, *, reoptimised: bool = True) -> NDArray[Any]:
        """Return the predicted class of each new example, given by the sign of `decision`.

        The decision 0 counts as negative.

        Warns
        -----
        UserWarning
            If the weights of all hypotheses except the intercept are 0, so that every example gets
            the same label. Such weights are optimal if no vote of the hypotheses increases the
            relaxed margin.
        """
        w = self.reoptimised if reoptimised else self.weights
        if not w[: self.kept.size].any():
            warnings.warn(
                "all re-optimised weights are 0, so every example gets the same label; "
                "call predict with reoptimised=False, or certify the ensemble with "
                f"{self._softer()}",
                UserWarning,
                stacklevel=2,
            )
        return np.asarray(self.classes)[(self.decision(X, reoptimised=reoptimised) > 0.0) * 1]

    def check(self) -> tuple[Verdict, Verdict]:
        """Check `certificate` and `optimum`, and return both verdicts."""
        A = self.game.matrix
        return self.certificate.check(A), self.optimum.check(A)

    def __str__(self) -> str:
        game = self.game
        n = len(self.members.names)
        numerical = self.certificate.level == "numerical"
        proof = "bracketed, numerical" if numerical else f"certified, {self.certificate.level}"
        lines = [
            f"{self.kind}: {n} hypotheses on {game.m} examples, {brief(game.relaxation)}; "
            f"+1 is {self.members.positive(self.classes)}",
            f"scales      {self._say_scales()}",
            f"intercept   {self._say_intercept()}",
        ]
        if self.dropped:
            more = f" and {len(self.dropped) - 4} more" * (len(self.dropped) > 4)
            lines.append(f"dropped     {', '.join(self.dropped[:4])}{more}: 0 on all of X")
        rows = (
            ("margin of the ensemble, F(Aw)", self.margin),
            ("best of its hypotheses, rho", (self.optimum.lower, self.optimum.upper)),
            ("the ensemble is short of it by", self.distance),
        )
        lines += ["", f"  {proof + ':':<32}{'at least':>18}{'at most':>18}"]
        for name, ends in rows:
            low, high = _shown(ends)
            lines.append(f"  {name:<32}{low:>18}{high:>18}")
        # The optimum may be w = 0, because it has a larger hard margin than votes that err.
        if not self.reoptimised.any():
            lines.append(
                "  (the best weights are 0: all margins are 0, and no vote decides; "
                f"try {self._softer()})"
            )
        if self.optimum.gap > self.tol:
            lines.append(f"  (the bounds on rho differ by more than tol = {self.tol:g})")
        heads = ("least", "5%", "25%", "median", "mean")
        lines += ["", f"  {'margins':<15}{'weights':>8}" + "".join(f"{h:>9}" for h in heads)]
        lines[-1] += f"{'wrong':>8}"
        for name, w in (("the ensemble", self.weights), ("re-optimised", self.reoptimised)):
            u = self._margins(w)
            values = [*np.quantile(u, (0.0, 0.05, 0.25, 0.5)).tolist(), float(u.mean())]
            cells = "".join(f"{value:>9.4f}" for value in values)
            used = int(np.count_nonzero(w))
            wrong = f"{float(np.mean(u <= 0.0)):.1%}" if used else "-"
            lines.append(f"  {name:<15}{used:>8}{cells}{wrong:>8}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        title, _, rest = str(self).partition("\n")
        return card(title, {}, f"<pre>{shown(rest)}</pre>")

    def _softer(self) -> str:
        # The example need not be softer than a relaxation that the user chose.
        is_hard = isinstance(self.game.relaxation, HardMargin)
        return "rb.Capped(fraction=0.1)" if is_hard else "a softer relaxation"

    def _say_scales(self) -> str:
        scales = self.scales[: self.kept.size]
        if not scales.size:
            return "none: there is only the intercept"
        if (scales == 1.0).all():
            return "1: no hypothesis exceeds 1 on X"
        low, high = scales.min(), scales.max()
        return f"each hypothesis divided by its largest value, {low:.4g} to {high:.4g}"

    def _say_intercept(self) -> str:
        if self.intercept is None:
            return "none"
        own = abs(self.weights[-1])
        best = abs(self.reoptimised[-1])
        return (
            f"{self.intercept:.4g}, as the hypothesis 1: {own:.1%} of the weight, {best:.1%} when "
            "re-optimised"
        )

    def data(self) -> dict[str, Any]:
        """Return the report as JSON data, with bounds rounded outwards to doubles."""
        columns = zip(
            self.names,
            self.scales.tolist(),
            self.weights.tolist(),
            self.reoptimised.tolist(),
            strict=True,
        )
        return {
            "ensemble": self.kind,
            "examples": self.game.m,
            "hypotheses": len(self.members.names),
            "classes": [str(c) for c in self.classes],
            "relaxation": repr(self.game.relaxation),
            "level": self.certificate.level,
            "margin": list(outwards(self.margin)),
            "optimum": list(outwards((self.optimum.lower, self.optimum.upper))),
            "distance": list(outwards(self.distance)),
            "tol": self.tol,
            "intercept": self.intercept,
            "dropped": list(self.dropped),
            "columns": [
                {"name": name, "scale": scale, "weight": w, "reoptimised": best}
                for name, scale, w, best in columns
            ],
            "game_digest": self.game.digest,
            "certificate_digest": self.certificate.digest,
            "optimum_digest": self.optimum.digest,
        }


def outwards(ends: Interval) -> tuple[float, float]:
    """Round the ends of an interval outwards to doubles."""
    return float_down(ends[0]), float_up(ends[1])


def _shown(ends: Interval) -> tuple[str, str]:
    # A point is shown exactly, if it is short.
    exact = str(ends[0])
    return (
        (exact, exact) if ends[0] == ends[1] and len(exact) < 16 else show_bracket(*outwards(ends))
    )
