"""Learned costs as files: JSON that says all it needs, and is checked field by field when read."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.files import check_output, write_atomically
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.fitting import Fit
from relaxboost.planning.oracle import NEGATIVE

FORMAT = "relaxboost.planning.linear"
VERSION = 1


@dataclass(frozen=True, eq=False)
class LinearModel(LinearCosts):
    """Linear costs c = B X w as they were saved: what a `Fit` is without its tasks.

    The file does not prove the bracket. Problem and losses are in words.

    Attributes
    ----------
    regulariser : str
        Such as ``"Ridge(strength=0.01), w times [2.5, 0.1]"``.
    losses : tuple of str
        Of the tasks, each kind once, such as ``"Missed(weight=None, scale=1.0)"``.
    nonnegative : bool
    negative : str
    power : int
        See `Problem`.
    """

    regulariser: str
    losses: tuple[str, ...]
    nonnegative: bool
    negative: str
    power: int


def save_model(fit: Fit | LinearModel, path: str | os.PathLike[str]) -> None:
    """Write learned linear costs to a JSON file, whole or not at all.

    The same costs make the same bytes: numbers are written so that reading gives them back to the
    bit. Only linear costs can be saved; boosted ones have hypotheses of any class, which JSON
    cannot hold.

    Parameters
    ----------
    fit : Fit or LinearModel
    path : path
        Ends in .json.

    Raises
    ------
    InputError
        For other costs, and where the file cannot be written.
    """
    target = check_output(path, (".json",))
    model = fit if isinstance(fit, LinearModel) else _without_tasks(fit)
    content = {"format": FORMAT, "version": VERSION}
    content |= {_STORED.get(name, name): value for name, value in vars(model).items()}
    content |= {"names": list(model.names), "losses": list(model.losses)}
    content["weights"] = model.w.tolist()
    content = {name: content[name] for name in ("format", "version", *_RULES)}
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(target, (text + "\n").encode())


def load_model(path: str | os.PathLike[str]) -> LinearModel:
    """Read learned linear costs from a file of `save_model`.

    Raises
    ------
    InputError
        If the file is missing or no JSON, of another format or version, or a field is missing,
        unknown or out of its range, with its name.
    """
    file = Path(path)
    content = _read(file)
    if content.pop("format", None) != FORMAT:
        raise InputError(
            f"{file} is no model of learned costs, as its format is not {FORMAT!r}; relaxboost "
            "plan fit --out, or planning.save_model, makes one"
        )
    version = content.pop("version", None)
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            f"{file} has version {version!r} of the format; this relaxboost reads version {VERSION}"
        )
    for name, (rule, holds) in _RULES.items():
        if name not in content:
            raise InputError(f"{file} lacks the field {name!r}; write the model again")
        _check(file, content, name, rule, holds)
    if more := sorted(set(content) - set(_RULES)):
        raise InputError(f"{file} has unknown fields: {', '.join(more)}; remove them")
    d, lower = len(content["names"]), content["lower"]
    _check(file, content, "names", "at least one, each once", lambda x: d == len(set(x)) > 0)
    _check(file, content, "weights", f"as many as names, {d}", lambda x: len(x) == d)
    _check(file, content, "upper", f"a finite number >= lower, {lower}", lambda x: x >= lower)
    if content["nonnegative"]:
        _check(file, content, "weights", ">= 0, as nonnegative says", lambda x: min(x) >= 0.0)
    content |= {name: float(content[name]) for name in ("lower", "upper")}
    content |= {name: tuple(content[name]) for name in ("names", "losses")}
    return LinearModel(w=np.array(content.pop("weights"), dtype=np.float64), **content)


def _without_tasks(fit: Any) -> LinearModel:
    if not isinstance(fit, Fit):
        raise InputError(
            f"only linear costs can be saved as JSON, a Fit of planning.fit; got "
            f"{type(fit).__name__}; pickle keeps costs that were boosted"
        )
    problem = fit.problem
    common = {field.name: getattr(fit, field.name) for field in fields(LinearCosts)}
    losses = dict.fromkeys(repr(task.loss) for task in problem.tasks)
    return LinearModel(
        **common,
        regulariser=problem.described,
        losses=tuple(losses),
        nonnegative=problem.nonnegative,
        negative=problem.oracle.negative,
        power=problem.oracle.power,
    )


def _read(file: Path) -> dict[str, Any]:
    if not file.is_file():
        what = "is no file" if file.exists() else "does not exist"
        raise InputError(f"{file} {what}; name a model written by relaxboost plan fit --out")
    try:
        content = json.loads(file.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file} cannot be read as JSON: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{file} is no model of learned costs: it must be a JSON object")
    return content


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def _check(
    file: Path, content: dict[str, Any], name: str, rule: str, holds: Callable[[Any], bool]
) -> None:
    """Raise for a field that breaks a rule."""
    if not holds(content[name]):
        shown = json.dumps(content[name])
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise InputError(f"{file}: {name} must be {rule}, got {shown}")


def _is_number(x: Any) -> bool:
    try:
        return type(x) in (int, float) and math.isfinite(float(x))
    except OverflowError:  # a whole number beyond doubles
        return False


def _is_name(x: Any) -> bool:
    return isinstance(x, str) and bool(x)


def _all(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, list) and all(map(holds, x))


_STORED = {"w": "weights"}
_NAME = ("a name", _is_name)
_FLAG = ("true or false", lambda x: isinstance(x, bool))
_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "names": ("a list of different names of features", _all(_is_name)),
    "weights": ("a list of finite numbers", _all(_is_number)),
    "lower": ("a finite number >= 0", lambda x: _is_number(x) and x >= 0.0),
    "upper": ("a finite number >= lower", _is_number),
    "status": _NAME,
    "method": _NAME,
    "rounds": ("a whole number >= 1", lambda x: type(x) is int and x >= 1),
    "exact": _FLAG,
    "regulariser": ("a description", _is_name),
    "losses": ("a list of descriptions", _all(_is_name)),
    "nonnegative": _FLAG,
    "negative": (
        f"one of {', '.join(NEGATIVE)}",
        lambda x: isinstance(x, str) and x in NEGATIVE,
    ),
    "power": ("1 or 2", lambda x: type(x) is int and x in (1, 2)),
}
"""The fields of a file in their order, and what each must be."""
