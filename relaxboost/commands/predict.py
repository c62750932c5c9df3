"""The command `relaxboost predict`, which predicts labels with a model of `relaxboost solve
--model`."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import click

from relaxboost._core import tables
from relaxboost._core.errors import InputError, few
from relaxboost._core.files import check_input, check_output, shallow, write_atomically
from relaxboost.commands.style import InputFile, OutputFile, Verb, check_there, sep_option, show

FORMAT = "relaxboost stumps 1"
"""The entry "format" in the files of `relaxboost solve --model`."""


@click.command(
    cls=Verb,
    epilog="""
\b
Exit status: 0 done, 2 bad input.

\b
Examples:
  relaxboost solve data.csv --label y --k 2 --model model.json
  relaxboost predict model.json data.csv
  relaxboost predict model.json new.csv --out labels.csv
""",
)
@click.argument("model", type=InputFile())
@click.argument("rows", type=InputFile())
@sep_option
@click.option(
    "--out",
    type=OutputFile(".csv"),
    help="Write the labels and scores to this file. An existing file is overwritten.",
)
def predict(model: Path, rows: Path, sep: str, out: Path | None, as_json: bool) -> None:
    """Predict a label for each row of a CSV, with a MODEL written by solve --model.

    Prints a CSV with the line, the label and the score of each row. The score is the weighted sum
    of the votes. The label is the second class of the model if the score is positive, and the first
    class otherwise. The CSV needs only the columns that the stumps read.
    """
    import numpy as np  # The import is here because --help does not need it.

    check_there(model, rows)
    content = _read_model(model)
    if out is not None:
        check_output(out, (".csv",))
    stumps = content["stumps"]
    words = [stump["feature"] for stump in stumps if "yes" in stump]
    # The label column, if the file has one, is like any other column that no stump reads.
    table = tables.read_csv(rows, sep, words, label="")
    votes = (stump["weight"] * _votes(stump, table, rows) for stump in stumps)
    scores = sum(votes, np.zeros(len(table))).tolist()
    labels = [content["classes"][score > 0.0] for score in scores]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    # The numbers of lines are printed, because empty lines of the file are left out.
    lines = table.index.tolist()
    writer.writerows([("line", "label", "score"), *zip(lines, labels, scores, strict=True)])
    if out is not None:
        write_atomically(out, text.getvalue().encode())
    shown = text.getvalue().rstrip("\n") if out is None else f"written:    {out}"
    show(as_json, {"lines": lines, "labels": labels, "scores": scores}, shown)


def described(features: Any, y: Any, solution: Any) -> bytes:
    """Return the content of a model file: the decision stumps with nonzero weight in a solution."""
    import numpy as np

    from relaxboost.estimators.margin_columns import CutColumns
    from relaxboost.estimators.tables import Features

    # The columns are computed again, because the margin matrix contains only their values.
    table = Features.of(features)
    cuts = CutColumns.of(table, table.numbers(features), y.signs, np.ones(y.signs.size))
    stumps: list[dict[str, Any]] = []
    for j, weight in zip(solution.support.tolist(), solution.coefficients.tolist(), strict=True):
        stump = solution.game.matrix.hypothesis(j)
        column = stump.feature
        threshold = stump.threshold
        fill = float(cuts.fill[column])
        f = int(cuts.source[column])
        made: dict[str, Any] = {"feature": cuts.table.names[f], "weight": weight}
        # A comparison with nan is False: without missing values in training the vote is 0.
        made["missing"] = int(fill > threshold) - int(fill <= threshold)
        levels = cuts.table.levels[f]
        rank = cuts.ranks[f]
        if not cuts.low[column] <= threshold < cuts.high[column]:
            made["known"] = -made["missing"]
        elif levels is None or rank is None:
            made["above"] = threshold
        else:
            ranked = list(zip(map(str, levels), rank > threshold, strict=True))
            made["yes"] = [word for word, is_above in ranked if is_above]
            made["no"] = [word for word, is_above in ranked if not is_above]
        stumps.append(made)
    content = {"format": FORMAT, "classes": list(map(str, y.classes)), "stumps": stumps}
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _votes(stump: dict[str, Any], table: Any, rows: Path) -> Any:
    """Return the vote of a decision stump for each row: 1, −1, or 0 if it does not vote."""
    import numpy as np

    name = stump["feature"]
    if name not in table.columns:
        raise tables.no_column(rows, name, table.columns)
    column = table[name]
    missing = column.isna().to_numpy()
    if "known" in stump:
        votes: Any = stump["known"]
    elif "yes" in stump:
        sides = dict.fromkeys(stump["no"], -1) | dict.fromkeys(stump["yes"], 1)
        votes = column.map(sides).to_numpy(dtype=np.float64)
        unknown = np.isnan(votes) & ~missing
        if unknown.any():
            place = int(unknown.argmax())
            raise InputError(
                f"{rows}, line {table.index[place]}: {name} is {column.iloc[place]!r}, which "
                "did not occur in training; leave the cell empty, or use one of "
                f"{few(list(sides), 6, repr)}"
            )
    elif column.dtype.kind in "biuf":
        votes = np.where(column > stump["above"], 1.0, -1.0)
    else:
        odd = column.dropna().iloc[0]
        raise InputError(
            f"{rows}: column {name} has words such as {odd!r}, but the model needs numbers; write "
            "numbers, or leave the cells empty"
        )
    return np.where(missing, stump["missing"], votes)


def _read_model(path: Path) -> dict[str, Any]:
    try:
        with shallow():
            content = json.loads(check_input(path).read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r:.60}")
        classes = content["classes"]
        sound = isinstance(classes, list) and [*map(type, classes)] == [str, str]
        sound = sound and all(map(_is_stump, content["stumps"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        _refuse_learner(path)
        said = "it is not a text file" if isinstance(error, UnicodeDecodeError) else error
        raise InputError(
            f"{path} is not a stump model ({said}); pass a file written by relaxboost solve --model"
        ) from None
    if not sound:
        raise InputError(f"{path} is damaged; write the model again with relaxboost solve --model")
    return dict(content)


def _refuse_learner(path: Path) -> None:
    from relaxboost.online.saving import read_state

    try:
        read_state(path)
    except InputError:
        return
    raise InputError(
        f"{path} is a saved online learner; predict the rows of a stream with relaxboost "
        f"online run STREAM --save {path} --resume --predictions FILE, and rows without labels "
        "with relaxboost.online.load in Python"
    )


def _is_stump(stump: Any) -> bool:
    one_of = [key for key in ("known", "above", "yes") if key in stump]
    numbers = [stump["weight"], stump.get("above", 0.0)]
    texts = [stump["feature"], *stump.get("yes", []), *stump.get("no", [])]
    return (
        len(one_of) == 1
        and ("yes" in stump) == ("no" in stump)
        and {stump["missing"], stump.get("known", 0)} <= {-1, 0, 1}
        and all(type(x) in (int, float) and abs(x) <= sys.float_info.max for x in numbers)
        and all(isinstance(x, str) for x in texts)
    )
