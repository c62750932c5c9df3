"""The options of `relaxboost online`, with the stream and learner that they describe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.tables import listed, read_header
from relaxboost.commands.style import (
    DOMAINS,
    check_name,
    columns_of,
    note,
    note_huge,
    spoken_input,
)

METHODS = {
    "hedged-descent": "HedgedDescent",
    "mirror-descent": "MirrorDescent",
    "mirror-steps": "MirrorSteps",
    "gradient-descent": "GradientDescent",
    "exponentiated-gradient": "ExponentiatedGradient",
}
"""The class names of the learners, by their names on the command line."""
ROWS_IN_SAMPLE = 1000
"""The number of initial rows from which --base computes feature ranges and stump thresholds."""
NARROW_SHARE_OF_RANGE = 0.1
"""The width of a narrow interval, as a fraction of a feature's range. If an interval of this width
around the median contains nearly all values, a note says that linear functions hardly distinguish
them."""
MIN_NEAR_SHARE = 0.99
"""The fraction of values that counts as nearly all. If at least this fraction of the values, but
not all, lie in a narrow range, a note says that the values outside may be errors."""
WITH_RADIUS = ("radius", "over", "proxy", "schedule", "horizon")
"""The options that only learners with a radius accept."""
# Only methods with a radius accept these losses.
NEED_RADIUS = ("inner", "exponential")


def _note_wild(names: Sequence[str], numbers: Any) -> None:
    for name, x in zip(names, numbers.T, strict=True):
        low, high = x.min(), x.max()
        median = np.median(x)
        # Differences of halves do not overflow.
        away = abs(x / 2.0 - median / 2.0)
        near = away <= (high / 2.0 - low / 2.0) * NARROW_SHARE_OF_RANGE / 2.0
        # A column in which nearly all values are equal, such as a rare mark, has no outliers.
        if near.mean() < MIN_NEAR_SHARE or near.all() or np.ptp(x[near]) == 0.0:
            continue
        end, value = ("largest", high) if away[x.argmax()] >= away.max() else ("smallest", low)
        note(
            f"{near.sum()} of the first {len(x)} values of {name!r} lie within "
            f"{NARROW_SHARE_OF_RANGE:.0%} of its range, so linear functions hardly distinguish "
            f"them; the {end} value is {value:g}. If it is wrong, correct it; otherwise --base "
            "stumps may predict better"
        )


class StreamOptions(SimpleNamespace):
    """The options of `relaxboost online`, with one attribute for each option."""

    def opened(self) -> Any:
        """Return the stream of examples, with the base functions of --base."""
        from relaxboost.online import stream

        if self.label is None and self.loss != "inner":
            said = f"--loss {self.loss} needs --label, the name of the label column"
            if isinstance(self.stream, Path) and not self.stream.is_dir():
                said += f"; the columns are {listed(read_header(self.stream, self.sep))}"
            raise InputError(said)
        given = stream(
            self.stream,
            self.label,
            classes=self._classes(),
            sep=self.sep,
            drop=columns_of(self.drop),
            categories=columns_of([self.categories or ""]),
        )
        found = given.through(self._base_of(given))
        piped = not isinstance(self.stream, Path)
        found.name = "standard input" if piped else spoken_input(found.name)
        return found

    def _base_of(self, given: Any) -> Any:
        from relaxboost.online import Experts, LinearBasis, StumpBasis, WithIntercept

        # The costs of experts are not scaled, because they are the losses of the experts.
        base = self.base or ("experts" if self.loss == "inner" else "linear")
        if base == "experts":
            return Experts(1.0 if self.bound is None else self.bound)

        def from_sample(numbers: Any) -> Any:
            names = given.columns[: numbers.shape[1]]
            note_huge(names, numbers)
            if base == "stumps":
                return StumpBasis.at_quantiles(numbers, cuts=self.cuts)
            # The note is printed for linear functions only, because an outlier changes their scale
            # but hardly the quantiles for stumps.
            _note_wild(names, numbers)
            return LinearBasis.spanning(numbers)

        made = given.encoded(from_sample, ROWS_IN_SAMPLE)
        # A learner that was saved without an intercept continues without it.
        if self.no_intercept or self.was_saved_without_intercept():
            return made
        return WithIntercept(made)

    def saved(self) -> dict[str, Any]:
        """Return the state of the learner in the --save file, or an empty dictionary if there is
        none."""
        from relaxboost.online.saving import read_state

        save = getattr(self, "save", None)
        return read_state(save) if save is not None and save.exists() else {}

    def was_saved_without_intercept(self) -> bool:
        """Return whether the --save file contains a learner without an intercept."""
        from relaxboost.online.streams.bases import WITH_INTERCEPT

        origin = self.saved().get("origin")
        base = origin.get("base functions") if isinstance(origin, dict) else None
        return isinstance(base, str) and not re.search(f"^experts |{WITH_INTERCEPT} ", base)

    def _classes(self) -> tuple[Any, Any] | None:
        if self.classes is None:
            return None
        pair = [part.strip() for part in self.classes.split(",")]
        if len(pair) != 2:
            raise InputError(
                "--classes must contain two labels, the negative label first, for example no,yes"
            )
        # Labels in files are numbers or words; 0,1 must not become the words "0" and "1".
        try:
            return float(pair[0]), float(pair[1])
        except ValueError:
            return pair[0], pair[1]

    def label_of(self, sign: int) -> Any:
        """Return the label of the class −1 or +1, which --classes may set."""
        pair = self._classes() or (-1, 1)
        return pair[sign > 0]

    def chosen(self) -> str:
        """Return the name of the learner on the command line.

        Without --method, it is the learner that fits the other options and the --save file.
        """
        if self.method is not None:
            return str(self.method)
        if self.radius == "auto":
            return "hedged-descent"
        if any(getattr(self, name) is not None for name in WITH_RADIUS) or self.loss in NEED_RADIUS:
            return "mirror-descent"
        kept = str(self.saved().get("method"))
        return "mirror-descent" if kept.startswith("MirrorDescent(") else "hedged-descent"

    def _check_radius(self, name: str) -> None:
        if name != "hedged-descent":
            if self.radius == "auto":
                raise InputError(f"--method {name} needs a radius; pass a number to --radius")
            return
        for option in ("over", "proxy", "schedule", "horizon"):
            if getattr(self, option) is not None:
                remedy = "leave it out, or choose another --method"
                if self.radius == "auto":
                    remedy = "pass a number to --radius"
                raise InputError(
                    f"--{option} needs a radius, but hedged descent has none; {remedy}"
                )

    def learner(self, name: str, stream: Any) -> tuple[Any, int]:
        """Return the learner with the given name and these options, and the number of base
        functions."""
        import relaxboost as rb
        from relaxboost.online.proxies import PROXIES
        from relaxboost.online.schedules import SCHEDULES

        self._check_radius(name)
        check_name("--proxy", self.proxy, PROXIES)
        check_name("--schedule", self.schedule or "growing", SCHEDULES)
        kind = getattr(rb.online, METHODS[name])
        size = stream.base.size(stream.head(1)[0].shape[1])
        radius = 1.0 if self.radius in (None, "auto") else self.radius
        options: dict[str, Any] = {} if self.targets is None else {"targets": self.targets}
        over: Any = rb.L2Ball(radius)
        # Each method gets the set of weights and the proxy for which its regret bound is known.
        if name != "hedged-descent":
            greedy = {"gradient-descent": "l2", "mirror-steps": "l2"}
            over = getattr(rb, DOMAINS[self.over or greedy.get(name, "l1")])(radius)
            squared = isinstance(over, rb.L2Ball) or name in greedy
            options["proxy"] = self.proxy or ("squared-l2" if squared else "entropy")
            options["schedule"] = self.schedule or "growing"
            if self.horizon is not None:
                options["schedule"] = rb.online.Horizon(self.horizon)
        made = kind(self.loss, over, **options)
        bound = self.bound
        if bound is None:
            bound = stream.base.bound_in(made.proxy.norm, size)
        return replace(made, bound=bound), size
