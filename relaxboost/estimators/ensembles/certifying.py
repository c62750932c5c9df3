"""The function `certify_ensemble`, which certifies the margin of a trained ensemble."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Flags, Whole
from relaxboost._core.errors import InputError, few
from relaxboost._core.parameters import positive
from relaxboost.certificates import certify, products
from relaxboost.estimators.ensembles.members import Members, ask, table, take_apart
from relaxboost.estimators.ensembles.report import EnsembleReport, numbers
from relaxboost.game.domains import Simplex
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.matrices.datasets import labels as two_labels
from relaxboost.matrices.labelled import check_names
from relaxboost.relaxations import Capped, Caps, HardMargin, Relaxation
from relaxboost.relaxations.bounds import level_of
from relaxboost.solvers.reference import reference
from relaxboost.solvers.solve import solve


def certify_ensemble(
    estimator: Any,
    X: Any,
    y: Any,
    relaxation: Relaxation | None = None,
    *,
    target: Any = None,
    level: str | None = None,
    tol: float = 1e-6,
) -> EnsembleReport:
    """Certify the relaxed margin of a trained ensemble, and its distance to the optimal margin.

    The ensemble is split into hypotheses h_j, such as trees, and their weights. Each h_j is divided
    by its largest absolute value, and its weight is multiplied by this value. For boosted trees,
    the largest value is taken over the leaves; for other hypotheses, over the predictions on X. An
    intercept becomes the constant hypothesis 1.

    Let A[i, j] = y_i h_j(x_i), and let w be the weights divided by ‖w‖_1. The report certifies
    the relaxed margin F(A w) of the ensemble, and the optimum ρ = max F(A w) over all weights of
    either sign with ‖w‖_1 <= 1. Its attribute `distance` is their difference.

    Parameters
    ----------
    estimator : fitted classifier or pipeline, Booster of XGBoost or LightGBM, or (H, weights)
        Supported classes of scikit-learn are AdaBoost and hard voting, whose hypotheses are votes
        −1 and +1; forests, bagging and soft voting, whose hypotheses are p(+1) − p(−1); and
        gradient boosting, whose hypotheses are leaf values times the learning rate.
        `FunctionalGradientClassifier`, `MarginBoostClassifier` with its votes, and pipelines that
        end in a supported classifier are also accepted. XGBoost and LightGBM models must be sums of
        trees: a classifier, which uses its best iteration, or a Booster. In the pair (H, weights),
        H has shape (m, n) and contains predictions, positive for the class +1. The n weights are
        finite, and negative weights negate hypotheses.
    X : array, sparse matrix or data frame with m rows
        The examples, in the form that the estimator expects. X is not used with (H, weights),
        and may then be None.
    y : array of shape (m,)
        The labels. The larger label, the second of the estimator's `classes_`, stands for +1. With
        (H, weights) and Boosters, the labels may be any two values.
    relaxation : Relaxation, optional
        The function F of the margins; by default the hard margin, which is their minimum.
    target : label, optional
        For more than two classes, the class that stands for +1 against all others. The hypotheses
        are the predictions for this class: votes ±1, 2p − 1, or scores. For Boosters, the target
        and the labels in y are class numbers from 0.
    level : {"exact", "enclosed", "numerical"}, optional
        The level of the certificates, as in `certify`; by default the strongest possible.
    tol : float
        The requested gap of the optimum, > 0.

    Returns
    -------
    EnsembleReport
        A printable report with both certificates, the distance as an interval, and the best
        weights.

    Raises
    ------
    InputError
        If the estimator is not a fitted, supported classifier; if it does not have exactly two
        classes and no target is passed; if a label is unknown; if the estimator cannot predict on
        X; if a prediction is not finite; if all predictions or all weights are zero; or if the sum
        of the hypotheses differs from the estimator's decision on X.

    Warns
    -----
    UserWarning
        If the ensemble is wrong on clearly more than half of the rows of X. Boosters and
        (H, weights) store no labels, so y may be encoded differently than in training.

    Notes
    -----
    The certificates hold for A as stored in doubles. Hypotheses other than votes are rounded once,
    when they are scaled.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Definition 6 and Thm 7: the game and its value.

    Examples
    --------
    Two hypotheses on four examples. The relaxed margin is the mean of the two lowest margins.

    >>> import relaxboost as rb
    >>> H = [[0.5, 2.0], [1.0, -2.0], [-2.0, 4.0], [1.0, 1.0]]
    >>> report = rb.certify_ensemble((H, [1, 1]), None, ["b", "a", "b", "b"], rb.Capped(2))
    >>> print(*report.margin)
    1/4 1/4
    """
    tol = positive("tol", tol)
    members = take_apart(estimator, target)
    if target is not None and members.target is None:
        raise InputError(
            f"target={target!r} is only for more than two classes, but this {members.kind} has "
            "two classes; leave target out"
        )
    _check_rows(estimator, X, y)
    classes, signs = _signs(members, y)
    # The call raises an error before the work starts if f does not fit.
    Game(np.ones((signs.size, 1)), relaxation)
    with _each_warning_once():
        H = _predictions(members, estimator, X)
        scales, kept, votes, coefficients = _scaled_columns(members, H)
        total = sum(map(abs, coefficients), Fraction(0))
        shares = [c / total for c in coefficients]
        decided = votes @ [float(c) for c in shares]
        # A certificate about wrongly read hypotheses would be wrong, so that their sum is checked
        # first.
        _check_decision(members, X, decided, total)
    _warn_of_codes(members.kind, signs * decided < 0.0, members.positive(classes))
    # The rest of the function uses only this matrix, whose entries are in [−1, 1].
    game = Game(signs[:, None] * votes, relaxation)
    w = {j: c for j, c in enumerate(shares) if c}
    above = _margin_above(game, w, level)
    solution = _optimum(game, tol)
    chosen = (list(w), _as_level(list(w.values()), game, level))
    certificate = certify(game, level, d=solution.d, w=chosen)
    best = certify(solution, level)
    return EnsembleReport(
        kind=members.kind,
        classes=classes,
        members=members,
        kept=kept,
        all_scales=scales,
        game=game,
        certificate=certificate,
        # The weights of the ensemble may prove a better lower bound than those of the solver.
        optimum=best if best.lower > certificate.lower else certificate,
        margin=(certificate.lower, max(above, certificate.lower)),
        tol=tol,
    )


def _scaled_columns(members: Members, H: Array) -> tuple[Array, Whole, Array, list[Fraction]]:
    """Scale the hypotheses so that their predictions lie in [−1, 1].

    Return the scale of each hypothesis, which is its largest absolute prediction, and the indices
    of the hypotheses that are not 0. For these hypotheses, also return the scaled predictions and
    weights. An intercept adds a column of ones, with the intercept as its weight.
    """
    scales = np.abs(H).max(axis=0)
    # The largest leaf bounds a tree on new examples too, so that the scale does not depend on X.
    if members.bounds is not None:
        scales = np.where(scales > 0.0, np.fmax(scales, members.bounds), 0.0)
    kept = np.flatnonzero(scales)
    # Exact coefficients give votes with whole weights an exact margin.
    columns = [H[:, j] / scales[j] for j in kept.tolist()]
    coefficients = [Fraction(members.weights[j]) * Fraction(scales[j]) for j in kept.tolist()]
    if members.intercept is not None:
        columns.append(np.ones(len(H)))
        coefficients.append(Fraction(members.intercept))
    if not any(coefficients):
        reason = "every weight is zero" if kept.size else "every hypothesis is zero on X"
        raise InputError(
            f"{reason}, and an ensemble without votes has no margin; pass an ensemble with votes"
        )
    return scales, kept, np.column_stack(columns), coefficients


def _signs(members: Members, y: Any) -> tuple[tuple[Any, Any], Array]:
    if members.classes is None:
        signs, names = two_labels(y)
        return names, signs
    labels = np.asarray(y)
    if labels.ndim != 1 or not labels.size:
        raise InputError(f"y must be a non-empty vector of labels, got shape {labels.shape}")
    known = members.known or members.classes
    unknown = sorted({str(v) for v in labels.tolist() if v not in known})
    if unknown:
        raise InputError(
            f"y has labels that this {members.kind} was not fitted on ({few(unknown, 6)}); its "
            "labels are " + " and ".join(map(repr, known))
        )
    plus = members.positive(members.classes)
    return members.classes, np.where(labels == plus, 1.0, -1.0)


@contextmanager
def _each_warning_once() -> Iterator[None]:
    # Many hypotheses may cause the same warning of a library.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for category, said in dict.fromkeys((one.category, str(one.message)) for one in caught):
        warnings.warn(said, category, stacklevel=4)


def _predictions(members: Members, estimator: Any, X: Any) -> Array:
    is_given = isinstance(estimator, tuple)
    H = members.predict(estimator[0]) if is_given else ask(members, members.predict, X)
    finite = np.isfinite(H)
    if not finite.all():
        row, column = np.unravel_index(int(np.argmin(finite)), H.shape)
        raise InputError(
            f"the prediction of {members.names[column]} is {H[row, column]} at row {row}; "
            "predictions must be finite"
        )
    return H


def _check_rows(estimator: Any, X: Any, y: Any) -> None:
    # The relaxation is checked later, because with a wrong number of labels its check would also
    # fail.
    name = "X"
    if isinstance(estimator, tuple):
        name = "H"
        rows = len(table(estimator[0]))
        if X is not None and _rows(X) != rows:
            raise InputError(
                f"X has {_rows(X)} rows, but H has {rows}; pass X=None, because X is not used"
            )
    else:
        rows = _rows(X)
    check_names(X)
    if y is None:
        raise InputError(f"y is None; pass the label of each row of {name}")
    try:
        labels = np.shape(y)
    except ValueError:  # A later check rejects labels that are not a vector.
        labels = ()
    if len(labels) == 1 and labels[0] not in (0, rows):
        raise InputError(
            f"{name} has {rows} rows, but y has {labels[0]} labels; pass one label for each row"
        )


def _rows(X: Any) -> int:
    shape = getattr(X, "shape", None) or np.shape(X)
    if len(shape) != 2 or not shape[0]:
        raise InputError(f"X must have a row for each example, got shape {tuple(shape)}")
    return int(shape[0])


def _check_decision(members: Members, X: Any, decided: Array, total: Fraction) -> None:
    """Raise an InputError unless the hypotheses add up to the ensemble's decision on X.

    The array `decided` contains the weighted sum of the hypotheses for each row, divided by
    `total`, the sum of the absolute weights.
    """
    error = 0.0
    wrong = 0
    if members.decision is not None:
        own = ask(members, members.decision, X) / float(total)
        error = float(np.abs(own - decided).max())
    if members.labels is not None and members.classes is not None:
        is_positive = np.asarray(members.labels(X)) == members.classes[1]
        # Ensembles have different rules for ties.
        clear = np.abs(decided) > members.rounding
        wrong = int(np.sum(is_positive[clear] != (decided[clear] > 0.0)))
    if not error <= members.rounding or wrong:
        raise InputError(
            f"the hypotheses of this {members.kind} do not add up to its decision on X: the "
            f"two differ by {error:.3g} times the largest possible decision, and in {wrong} "
            "labels; was the estimator changed after fit? Pass (H, weights) instead"
        )


def _warn_of_codes(kind: str, wrong: Flags, positive: Any) -> None:
    count = int(wrong.sum())
    m = wrong.size
    # The number of errors of random guessing has mean m/2 and standard deviation √m/2.
    if 2 * count - m > 2.0 * math.sqrt(m):
        warnings.warn(
            f"this {kind} is wrong on {count} of {m} examples, where +1 is {positive!r}. This is "
            "worse than chance; if the ensemble was trained with another encoding of the labels, "
            "pass y in that encoding. The certificates hold for y as given",
            UserWarning,
            stacklevel=3,
        )


def _as_level(values: list[Fraction], game: Game, level: str | None) -> list[Any]:
    return [float(v) for v in values] if _is_numerical(game, level) else list(values)


def _is_numerical(game: Game, level: str | None) -> bool:
    return (level_of(game.relaxation) if level is None else level) == "numerical"


def _margin_above(game: Game, w: dict[int, Fraction], level: str | None) -> Fraction:
    """Return a proved upper bound on the relaxed margin F(A w)."""
    # The bound is <d, A w> + f(d) for a feasible distribution d. Let ũ be A w, computed in doubles.
    # The game whose only column is ũ has the value F(ũ), and its certificate contains an exact d
    # with the bound f(d) + <d, ũ>. The effect of the rounding error of ũ is then added exactly.
    # With a common denominator the exact margins are sums of products of integers.
    below = math.lcm(*(c.denominator for c in w.values()))
    whole, shift = products.margins(game.matrix, list(w), [int(c * below) for c in w.values()])
    exact = [Fraction(x, below << shift) for x in whole]
    u = np.array([float(x) for x in exact])
    alone = Game(u[:, None], game.relaxation, Simplex())
    d: Any = None if _is_numerical(game, level) else _greedy(game.relaxation, exact)
    if d is None:
        d = game.relaxation.relaxed_margin(u)[1]
    certificate = certify(alone, level, d=d, w=([0], _as_level([Fraction(1)], game, level)))
    shares = numbers(certificate.document["d"], game.m)
    errors = (a * (x - Fraction(v)) for a, x, v in zip(shares, exact, u.tolist(), strict=True))
    return certificate.upper + sum(errors, Fraction(0))


def _greedy(f: Relaxation, u: list[Fraction]) -> list[Fraction] | None:
    """Return a rational distribution that minimises <d, u> if f only caps the entries of d, and
    None otherwise."""
    if isinstance(f, HardMargin):
        caps = [Fraction(1)] * len(u)
    elif isinstance(f, Capped):
        caps = [1 / Fraction(f.k)] * len(u)
    elif isinstance(f, Caps):
        caps = [Fraction(c) for c in f.caps]
    else:
        return None
    d = [Fraction(0)] * len(u)
    left = Fraction(1)
    # The examples with the lowest margins get as much weight as their caps allow.
    for i in sorted(range(len(u)), key=u.__getitem__):
        d[i] = min(caps[i], left)
        left -= d[i]
    return d


def _optimum(game: Game, tol: float) -> Solution:
    # The solver that is usually faster runs first. If its gap is too large, the other one runs too.
    f = game.relaxation
    boosted = f.traits.polyhedral and not isinstance(f, HardMargin)
    found = solve(game, tol, max_rounds=5000) if boosted else reference(game, tol=tol)
    if found.gap <= tol or found.status == "interrupted":
        return found
    # The bounds from both solvers are valid, whatever the solvers report.
    other = reference(game, tol=tol) if boosted else solve(game, tol, max_rounds=5000)
    return other if other.gap < found.gap else found
