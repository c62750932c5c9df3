"""Saving learned costs to JSON files, and loading them with a check of every field."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.files import check_output, shallow, write_atomically
from relaxboost.functional import (
    Boosted,
    BoostRecord,
    ClassificationStumps,
    RegressionStumps,
    StumpHypothesis,
    Term,
    Tree,
    Trees,
)
from relaxboost.functional.learners.base import numbers
from relaxboost.planning.boosted_costs import BoostedCosts
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.fitting import Fit
from relaxboost.planning.oracle import NEGATIVE
from relaxboost.planning.risk import Linear, PlanningLoss

FORMAT = "relaxboost.planning.linear"
BOOSTED = "relaxboost.planning.boosted"
VERSION = 1
"""The version of both file formats, linear and boosted."""


@dataclass(frozen=True, eq=False)
class LinearModel(LinearCosts):
    """Linear costs read by `load_model`.

    Unlike a `Fit`, they have no tasks, and the bounds `lower` and `upper` cannot be proved again.

    Attributes
    ----------
    regulariser : str
        A description of the regulariser of the fit, such as ``"Ridge(strength=0.01), w times [2.5,
        0.1]"``.
    losses : tuple of str
        The losses of the tasks from which the costs were learned, such as ``"Missed(weight=None,
        scale=1.0)"``.
    nonnegative : bool
        Whether the weights were restricted to w >= 0 in the fit, as in `Problem`.
    negative : str
        The treatment of negative costs in the fit, as in `Problem`.
    power : int
        The power of the losses: 1, or 2 in files from earlier versions, which squared the losses.
    """

    regulariser: str
    losses: tuple[str, ...]
    nonnegative: bool
    negative: str
    power: int


def save_model(costs: Fit | LinearModel | BoostedCosts, path: str | os.PathLike[str]) -> None:
    """Save learned costs to a JSON file.

    If an error occurs, no partial file is left behind. Equal costs produce identical files, and
    `load_model` restores every number exactly. Boosted costs can be saved if their weak hypotheses
    are stumps or trees.

    Parameters
    ----------
    costs : Fit, LinearModel or BoostedCosts
        The learned costs to save.
    path : path
        The path of the file, which must end in .json.

    Raises
    ------
    InputError
        If the costs are of another kind, or if the file cannot be written or loaded again.
    """
    target = check_output(path, (".json",))
    if isinstance(costs, BoostedCosts):
        content = {"format": BOOSTED, "version": VERSION} | _boosted_content(costs)
    else:
        model = costs if isinstance(costs, LinearModel) else _without_tasks(costs)
        held = vars(model) | {"weights": model.w.tolist()}
        content = {"format": FORMAT, "version": VERSION} | {name: held[name] for name in _LINEAR}
    try:
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    # JSON has no nan and no infinity, so that `dumps` rejects costs with such numbers.
    except ValueError as error:
        raise InputError(f"these costs cannot be saved: {error}") from None
    # The content is validated first, so that only files are written that `load_model` accepts.
    _model(target, json.loads(text))
    write_atomically(target, (text + "\n").encode())


def load_model(path: str | os.PathLike[str]) -> LinearModel | BoostedCosts:
    """Load learned costs from a file written by `save_model`.

    No code from the file is executed. Loaded boosted costs cannot be used for a warm start.

    Parameters
    ----------
    path : path
        The JSON file.

    Raises
    ------
    InputError
        If the file is missing or is not JSON, if its format or version is unknown, or if a field is
        missing, unknown or out of range.
    """
    file = Path(path)
    if not file.is_file():
        what = "is no file" if file.exists() else "does not exist"
        raise InputError(f"{file} {what}; pass a model written by relaxboost plan fit --out")
    try:
        with shallow():
            content = json.loads(file.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except (OSError, ValueError) as error:
        raise InputError(f"{file} is not a saved cost model: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{file} is not a saved cost model: the content must be a JSON object")
    return _model(file, content)


def _model(file: Path, content: dict[str, Any]) -> LinearModel | BoostedCosts:
    kind = content.pop("format", None)
    if kind not in (FORMAT, BOOSTED):
        raise InputError(
            f"{file} is not a saved cost model, because its format is neither {FORMAT!r} "
            f"nor {BOOSTED!r}; write a model with relaxboost plan fit --out or planning.save_model"
        )
    version = content.pop("version", None)
    # In Python True equals 1, but a version of true in a file is an error.
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            f"{file} has the format version {version!r}, but this version of relaxboost reads "
            f"only format version {VERSION}"
        )
    rules = _LINEAR if kind == FORMAT else _BOOSTED
    # Boosted costs of earlier versions have the field `power`, which is 1.
    if kind == BOOSTED and content.get("power") == 1:
        del content["power"]
    for name, (rule, holds) in rules.items():
        if name not in content:
            raise InputError(f"{file} lacks the field {name!r}; save the model again")
        _check(file, content, name, rule, holds)
    # An unknown field may change the meaning of costs, and must not be ignored.
    if more := sorted(set(content) - set(rules)):
        raise InputError(f"{file} has unknown fields: {', '.join(more)}; remove them")
    # Weights are matched to features by name, so that names must be unique.
    d = len(content["names"])
    _check(file, content, "names", "at least one, each once", lambda x: d == len(set(x)) > 0)
    return _linear(file, content) if kind == FORMAT else _boosted(file, content)


def _linear(file: Path, content: dict[str, Any]) -> LinearModel:
    d = len(content["names"])
    lower = content["lower"]
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
            "save_model takes a Fit from planning.fit, a LinearModel, or BoostedCosts from "
            f"planning.boost; got {type(fit).__name__}"
        )
    problem = fit.problem
    common = {field.name: getattr(fit, field.name) for field in fields(LinearCosts)}
    return LinearModel(
        **common,
        regulariser=problem.described,
        losses=tuple(dict.fromkeys(repr(task.loss) for task in problem.tasks)),
        nonnegative=problem.nonnegative,
        negative=problem.oracle.negative,
        power=1,
    )


def _boosted_content(costs: BoostedCosts) -> dict[str, Any]:
    boosted = costs.boosted
    loss = costs.loss
    base: Any = loss.base
    if isinstance(base, Linear):
        floor = {"floor": base.floor} if base.floor else {}
        base = {"weights": list(base.w), "names": list(base.names)} | floor
    elif callable(base):
        raise InputError(
            "these costs cannot be saved, because their base is a function; boost from a number "
            "or from linear costs"
        )
    learner = boosted.learner
    terms = [
        {"round": term.round, "coefficient": float(term.coefficient)} | term.hypothesis.described()
        for term in boosted.terms
    ]
    # A subclass of a learner may have hypotheses that the file format does not support.
    if _LEARNERS.get(type(learner).__name__, (None,))[0] is not type(learner):
        raise InputError(
            f"costs of {learner!r} cannot be saved; boost with RegressionStumps() or Trees()"
        )
    options = {name: vars(learner)[name] for name in signature(type(learner)).parameters}
    history = [
        [None if x != x else x if isinstance(x, int) else float(x) for x in record]
        for record in costs.history
    ]
    held = vars(loss) | vars(boosted) | vars(costs) | {"negative": loss.negative, "base": base}
    held |= {"learner": {"name": type(learner).__name__} | options, "terms": terms}
    held |= {"history": history, "below_zero": costs.negative}
    return {name: held[name] for name in _BOOSTED}


def _boosted(file: Path, content: dict[str, Any]) -> BoostedCosts:
    names = tuple(content["names"])
    rounds = content["rounds"]
    _check(file, content, "chosen", f"at most rounds, {rounds}", lambda x: x <= rounds)
    with _damage(file, "loss"):
        loss = _loss(content, names)
    with _damage(file, "history"):
        history = _history(content["history"], rounds)
    with _damage(file, "learner"):
        learner, kind = _learner(content["learner"], len(names))
    terms: list[Term] = []
    for place, one in enumerate(content["terms"]):
        with _damage(file, f"terms[{place}]"):
            t = one["round"]
            if type(t) is not int or not (terms[-1].round if terms else 1) <= t <= rounds:
                raise ValueError(
                    f"round must be from 1 to {rounds}, and terms must be in the order of their "
                    f"rounds, got round {t!r}"
                )
            coefficient = numbers("coefficient", one["coefficient"]).item()
            terms.append(Term(t, coefficient, kind.restored(one, len(names))))
    kept = {name: content[name] for name in ("rounds", "chosen", "iterate", "status", "seconds")}
    kept |= {"outputs": None, "classes": None, "state": None}
    boosted = Boosted(loss, learner, tuple(terms), history, **kept)
    kept = {name: content[name] for name in ("status", "scale", "inexact", "sites", "floor")}
    costs = BoostedCosts(boosted, loss, names, negative=content["below_zero"], **kept)
    _check_costs(file, content, costs)
    return costs


@contextmanager
def _damage(file: Path, where: str) -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError(
            f"{file}: {where} is damaged ({type(error).__name__}: {error}); save the model again"
        ) from None


def _loss(content: dict[str, Any], names: tuple[str, ...]) -> PlanningLoss:
    base = content["base"]
    if isinstance(base, dict):
        if not set(base["names"]) <= set(names):
            raise ValueError(f"the features of the base must be among {', '.join(names)}")
        weights = numbers("base weights", base["weights"], len(base["names"]))
        floor = numbers("base floor", base.get("floor", 0.0)).item()
        base = Linear(tuple(weights.tolist()), tuple(base["names"]), floor)
    return PlanningLoss(
        base=base, **{name: content[name] for name in ("link", "negative", "strength")}
    )


def _history(rows: Any, rounds: int) -> tuple[BoostRecord, ...]:
    # JSON has no nan, so that missing losses are null.
    filled = [[-1 if x is None else x for x in row] for row in rows]
    given = numbers("history", filled, rounds + 1, len(BoostRecord._fields))
    if not np.array_equal(given[:, 0], np.arange(rounds + 1)):
        raise ValueError(f"there must be one record for each round from 0 to {rounds}, in order")
    return tuple(BoostRecord._make(math.nan if x is None else x for x in row) for row in rows)


def _learner(given: Any, width: int) -> tuple[Any, Any]:
    """Return the weak learner of a file of boosted costs, and the class of its hypotheses."""
    options = dict(given)
    made, kind = _LEARNERS[options.pop("name")]
    if "monotone" in options:
        options["monotone"] = {int(k): sign for k, sign in options["monotone"].items()}
    columns = [*options.get("categorical", ()), *options.get("monotone", ())]
    learner = made(**options)
    if max(columns, default=0) >= width:
        raise ValueError(f"column indices must be between 0 and {width - 1}, got {columns}")
    return learner, kind


def _check_costs(file: Path, content: dict[str, Any], costs: BoostedCosts) -> None:
    terms: Any = costs.boosted.terms
    sizes = [abs(t.coefficient) * float(abs(t.hypothesis.leaves).max()) for t in terms]
    # Sums and squares of 1e100 are doubles, and a round multiplies no cost by exp(600).
    sound = sum(sizes) < 1e100 if costs.loss.link == "additive" else max(sizes, default=0.0) < 600.0
    _check(file, content, "terms", "small enough for finite costs", lambda _: sound)
    # Writing the costs again shows fields that the constructors changed or ignored.
    again = json.loads(json.dumps(_boosted_content(costs)))
    if odd := [name for name in _BOOSTED if again[name] != content[name]]:
        raise InputError(
            f"{file}: {odd[0]} has values that save_model does not write; save the model again"
        )


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def _check(
    file: Path, content: dict[str, Any], name: str, rule: str, holds: Callable[[Any], bool]
) -> None:
    if not holds(content[name]):
        shown = json.dumps(content[name])
        # A message must not repeat a whole table of terms.
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise InputError(f"{file}: {name} must be {rule}, got {shown}")


def _is_number(x: Any) -> bool:
    try:
        return type(x) in (int, float) and math.isfinite(float(x))
    except OverflowError:  # A whole number may be too large for a double.
        return False


def _is_name(x: Any) -> bool:
    return isinstance(x, str) and bool(x)


def _all(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, list) and all(map(holds, x))


def _is_count(x: Any) -> bool:
    return type(x) is int and x >= 0


_NAME = ("a name", _is_name)
_COUNT = ("a whole number >= 0", _is_count)
_NAMES = ("a list of different names of features", _all(_is_name))
_NEGATIVE = (f"one of {', '.join(NEGATIVE)}", lambda x: isinstance(x, str) and x in NEGATIVE)
_SIZE = ("a finite number >= 0", lambda x: _is_number(x) and x >= 0.0)
_FLAG = ("true or false", lambda x: isinstance(x, bool))
_LINEAR: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "names": _NAMES,
    "weights": ("a list of finite numbers", _all(_is_number)),
    # Rounded losses of demonstrations may be a little below 0.
    "lower": ("a finite number", _is_number),
    "upper": ("a finite number >= lower", _is_number),
    "status": _NAME,
    "method": _NAME,
    "rounds": ("a whole number >= 1", lambda x: _is_count(x) and x >= 1),
    "exact": _FLAG,
    "regulariser": ("a description", _is_name),
    "losses": ("a list of descriptions", _all(_is_name)),
    "nonnegative": _FLAG,
    "negative": _NEGATIVE,
    "power": ("1 or 2", lambda x: type(x) is int and x in (1, 2)),
}
"""The fields of a file of linear costs, in order. Each value is a rule in words, for error
messages, and a function that checks it."""
_BOOSTED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "names": _NAMES,
    "base": (
        "a number > 0, below 1e100, or weights and names",
        lambda x: isinstance(x, dict) or (_is_number(x) and 0.0 < x < 1e100),
    ),
    "negative": _NEGATIVE,
    **dict.fromkeys(("link", "status"), _NAME),
    **dict.fromkeys(("strength", "scale", "floor", "seconds"), _SIZE),
    **dict.fromkeys(("inexact", "below_zero", "sites", "rounds", "chosen"), _COUNT),
    "iterate": ("last, best or average", lambda x: x in ("last", "best", "average")),
    "learner": ("an object", lambda x: isinstance(x, dict)),
    **dict.fromkeys(("history", "terms"), ("a list", lambda x: isinstance(x, list))),
}
_LEARNERS: dict[str, tuple[type, Any]] = {
    "RegressionStumps": (RegressionStumps, StumpHypothesis),
    "ClassificationStumps": (ClassificationStumps, StumpHypothesis),
    "Trees": (Trees, Tree),
}
"""The weak learners that can be saved, by name, with the classes of their hypotheses."""
