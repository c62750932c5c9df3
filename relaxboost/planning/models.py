"""Learned costs as files: JSON that says all it needs, and is checked field by field when read."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.files import check_output, write_atomically
from relaxboost.planning.fitting import Fit
from relaxboost.planning.graphs import Graph, check_names
from relaxboost.planning.oracle import NEGATIVE

Array = NDArray[np.float64]

FORMAT = "relaxboost.planning.linear"
VERSION = 1


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Linear costs c = B X w as they were saved: what a `Fit` is without its tasks.

    Attributes
    ----------
    w : array of shape (d,)
    names : tuple of str
        Of the features.
    lower, upper : float
        The bracket of the least objective, as the fit had it; the file does not prove it.
    status, method : str
    rounds : int
    exact : bool
        See `Fit`.
    regulariser : str
        Such as ``"Ridge(strength=0.01)"``.
    losses : tuple of str
        Of the tasks, each kind once, such as ``"Missed(weight=None, scale=1.0)"``.
    nonnegative : bool
    negative : str
    power : int
        See `Problem`.
    """

    w: Array
    names: tuple[str, ...]
    lower: float
    upper: float
    status: str
    method: str
    rounds: int
    exact: bool
    regulariser: str
    losses: tuple[str, ...]
    nonnegative: bool
    negative: str
    power: int

    def costs(self, graph: Graph) -> Array:
        """Return arc costs of a graph with the features that were learned from."""
        check_names(graph, self.names, "the costs were learned on")
        made: Array = graph.arc_features @ self.w
        return made


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
    content = {
        "format": FORMAT,
        "version": VERSION,
        "names": list(model.names),
        "weights": model.w.tolist(),
        "lower": model.lower,
        "upper": model.upper,
        "status": model.status,
        "method": model.method,
        "rounds": model.rounds,
        "exact": model.exact,
        "regulariser": model.regulariser,
        "losses": list(model.losses),
        "nonnegative": model.nonnegative,
        "negative": model.negative,
        "power": model.power,
    }
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
    fields = _Fields(file, content)
    if content.get("format") != FORMAT:
        raise InputError(
            f"{file} is no model of learned costs (format is {content.get('format')!r}, not "
            f"{FORMAT!r}); relaxboost plan fit --out, or planning.save_model, makes one"
        )
    if content.get("version") != VERSION or isinstance(content.get("version"), bool):
        raise InputError(
            f"{file} has version {content.get('version')!r} of the format; this relaxboost reads "
            f"version {VERSION}"
        )
    names = fields.many("names", "different names of features", _is_name)
    if len(set(names)) != len(names) or not names:
        fields.wrong("names", "at least one, each once")
    w = np.array(fields.many("weights", "finite numbers", _is_number), dtype=np.float64)
    if w.size != len(names):
        fields.wrong("weights", f"as many as names, {len(names)}")
    lower = fields.one("lower", "a finite number >= 0", lambda x: _is_number(x) and x >= 0.0)
    above = f"a finite number >= lower, {lower}"
    model = LinearModel(
        w=w,
        names=tuple(names),
        lower=float(lower),
        upper=float(fields.one("upper", above, lambda x: _is_number(x) and x >= lower)),
        status=fields.one("status", "a name", _is_name),
        method=fields.one("method", "a name", _is_name),
        rounds=fields.one("rounds", "a whole number >= 1", lambda x: type(x) is int and x >= 1),
        exact=fields.one("exact", "true or false", lambda x: isinstance(x, bool)),
        regulariser=fields.one("regulariser", "a description", _is_name),
        losses=tuple(fields.many("losses", "descriptions", _is_name)),
        nonnegative=fields.one("nonnegative", "true or false", lambda x: isinstance(x, bool)),
        negative=fields.one("negative", f"one of {', '.join(NEGATIVE)}", lambda x: x in NEGATIVE),
        power=fields.one("power", "1 or 2", lambda x: type(x) is int and x in (1, 2)),
    )
    if model.nonnegative and (w < 0.0).any():
        fields.wrong("weights", ">= 0, as nonnegative says")
    fields.nothing_else()
    return model


def _without_tasks(fit: Any) -> LinearModel:
    if not isinstance(fit, Fit):
        raise InputError(
            f"only linear costs can be saved as JSON, a Fit of planning.fit; got "
            f"{type(fit).__name__}; pickle keeps costs that were boosted"
        )
    problem = fit.problem
    losses = dict.fromkeys(repr(task.loss) for task in problem.tasks)
    return LinearModel(
        w=fit.w,
        names=fit.names,
        lower=float(fit.lower),
        upper=float(fit.upper),
        status=fit.status,
        method=fit.method,
        rounds=fit.rounds,
        exact=bool(fit.exact),
        regulariser=repr(problem.regulariser),
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


class _Fields:
    """The fields of a file, each read once and checked."""

    def __init__(self, file: Path, content: dict[str, Any]) -> None:
        self.file, self.content = file, content
        self.read = {"format", "version"}

    def one(self, name: str, rule: str, holds: Callable[[Any], bool]) -> Any:
        """Return a field, or raise where it is missing or breaks its rule."""
        if name not in self.content:
            raise InputError(f"{self.file} lacks the field {name!r}; write the model again")
        self.read.add(name)
        # Lists and objects are in no range of names, and cannot be looked up in one.
        value = self.content[name]
        if isinstance(value, list | dict) or not holds(value):
            self.wrong(name, rule)
        return value

    def many(self, name: str, rule: str, holds: Callable[[Any], bool]) -> Any:
        """Return a field that is a list, whose entries are checked."""
        if name not in self.content:
            raise InputError(f"{self.file} lacks the field {name!r}; write the model again")
        self.read.add(name)
        value = self.content[name]
        if not isinstance(value, list) or not all(map(holds, value)):
            self.wrong(name, f"a list of {rule}")
        return value

    def wrong(self, name: str, rule: str) -> None:
        """Raise for a field."""
        shown = json.dumps(self.content[name])
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise InputError(f"{self.file}: {name} must be {rule}, got {shown}")

    def nothing_else(self) -> None:
        """Raise where there are fields that nothing reads."""
        more = sorted(set(self.content) - self.read)
        if more:
            raise InputError(f"{self.file} has unknown fields: {', '.join(more)}; remove them")


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and _finite(x)


def _finite(x: float) -> bool:
    try:
        return math.isfinite(float(x))
    except OverflowError:  # a whole number beyond doubles
        return False


def _is_name(x: Any) -> bool:
    return isinstance(x, str) and bool(x)
