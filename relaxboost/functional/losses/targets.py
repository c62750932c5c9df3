"""The registry of losses, and the conversion of targets to numbers, indices or signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.registry import Registry

LOSSES: Registry[Any] = Registry("loss")
"""The classes of losses by name."""


def fitting(*tasks: str) -> str:
    """Return the names of the losses for the given tasks, such as "Squared() or Huber()"."""
    *most, last = [f"{kind.__name__}()" for kind in LOSSES.values() if kind.task in tasks]
    return f"{', '.join(most)} or {last}" if most else last


def _numbers(y: Any, loss: Any) -> Array:
    given = _array(y)
    try:
        # NumPy would convert strings such as "1" to numbers.
        values = given.flat if given.dtype.kind == "O" else ()
        if given.dtype.kind not in "biufO" or any(isinstance(v, str) for v in values):
            raise TypeError("not numbers")
        targets = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        got = f"labels such as {np.asarray(y).ravel().tolist()[0]!r}" if np.size(y) else "nothing"
        raise InputError(
            f"{loss!r} needs numbers as targets, got {got}; for labels of two classes use "
            f"{fitting('binary')}, for labels of more classes {fitting('multiclass')}"
        ) from error
    if targets.ndim != 1:
        raise InputError(f"targets must have shape (N,), got {targets.shape}")
    bad = np.flatnonzero(~np.isfinite(targets))
    if bad.size:
        raise InputError(
            f"targets must be finite; example {bad[0]} has {targets[bad[0]]}; leave this example "
            "out"
        )
    return targets


def labels(y: Any, classes: Any, loss: Any) -> tuple[Whole, Any]:
    """Return the class index of each label, and the list of classes.

    By default the classes are the distinct labels, sorted. `loss` is used only in error messages.
    """
    y = _array(y)
    if y.ndim != 1:
        raise InputError(f"labels must have shape (N,), got {y.shape}")
    if y.size == 0:
        raise InputError("there are no examples; pass at least one")
    _check_labels(y, loss)
    try:
        known = np.unique(y) if classes is None else np.asarray(classes)
    except TypeError as error:
        raise InputError(
            f"labels cannot be sorted, because they have different types ({error}); make all "
            "labels strings, or all labels integers"
        ) from error
    if known.size < 2:
        raise InputError(
            f"{loss!r} needs at least two classes, but all labels are {known.tolist()[0]!r}; "
            "add examples of another class"
        )
    # A dictionary compares labels exactly, also of mixed kinds.
    places = {label: number for number, label in enumerate(known.tolist())}
    found = [places.get(label, -1) for label in y.tolist()]
    if -1 in found:
        unknown = y.tolist()[found.index(-1)]
        raise InputError(
            f"label {unknown!r} is not among the classes, which are {known.tolist()}; leave out "
            "the examples with this label, or train a new model"
        )
    return np.array(found, dtype=np.int64), known


def decided(F: Array, classes: Any) -> Any:
    """Return the predicted label for each row of the outputs F.

    If `classes` is None, return F.
    """
    if classes is None:
        return F
    return classes[(F > 0.0).astype(int) if F.ndim == 1 else F.argmax(axis=1)]


def targets_of(loss: Any, y: Any, groups: Any, classes: Any) -> tuple[Any, Any]:
    """Return the validated targets and the list of classes, which is None for numeric targets.

    The targets are numbers for regression and ranking, ±1 for two classes, and otherwise class
    indices.

    Raises
    ------
    InputError
        If the targets do not suit the loss, or if groups are passed but the loss is not a ranking
        loss.
    """
    if groups is not None and loss.task != "ranking":
        raise InputError(
            f"{loss!r} is not a ranking loss, and does not accept groups; leave groups out, or use "
            f"{fitting('ranking')}"
        )
    if loss.task not in ("binary", "multiclass"):
        return _numbers(y, loss), None
    places, known = labels(y, classes, loss)
    if loss.task == "multiclass":
        return places, known
    if known.size != 2:
        raise InputError(
            f"{loss!r} is for two classes, but the labels have {known.size} classes; use "
            f"{fitting('multiclass')}"
        )
    return np.where(places == 1, 1.0, -1.0), known


def _check_labels(y: Any, loss: Any) -> None:
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            bad = int(np.flatnonzero(~np.isfinite(y))[0])
            raise InputError(
                f"labels must not contain missing values; example {bad} has {y[bad]}; leave this "
                "example out"
            )
        # Fractions are nearly always targets of regression in the wrong estimator.
        broken = np.flatnonzero(y != np.floor(y))
        if broken.size:
            raise InputError(
                f"{loss!r} needs labels, but example {broken[0]} has {y[broken[0]]}, which is not "
                f"an integer; for real targets use {fitting('regression')}, or pass the labels as "
                "strings"
            )
    elif y.dtype.kind == "O":
        missing = [n for n, v in enumerate(y.tolist()) if v is None or v != v]
        if missing:
            raise InputError(
                f"labels must not contain missing values; example {missing[0]} has none"
            )


def _array(y: Any) -> Any:
    try:
        return np.asarray(y)
    except ValueError as error:  # NumPy raises this error for ragged lists.
        raise InputError(
            f"targets must have shape (N,), with one target for each row: {error}"
        ) from error
