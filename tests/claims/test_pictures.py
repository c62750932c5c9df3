"""Pictures of verdicts: what the panels show, and that they are the same each time."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import relaxboost as rb
from relaxboost.claims import at_most, equal
from relaxboost.claims.publishing import pictures
from relaxboost.claims.publishing.pictures import draw_sides, picture, svg
from relaxboost.claims.verdict import Evidence
from tests.claims import made


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize("claim", made.DRAWN, ids=lambda claim: claim.id)
@pytest.mark.parametrize("attack", [False, True])
def test_every_kind_is_drawn_without_a_warning(claim, attack):
    verdict = claim.attack(60) if attack else claim.check()
    figure = picture(claim, verdict)
    assert len(figure.axes) == 3
    shown = " ".join(figure.get_suptitle().split())
    assert shown == f"{claim.id}: {claim.stated.words}"
    content = svg(figure, claim.id)
    assert ET.fromstring(content).tag.endswith("svg")
    assert len(content) < 100_000


def test_pictures_are_the_same_each_time():
    both = [svg(picture(made.trace, made.trace.check()), "salt") for _ in range(2)]
    assert both[0] == both[1]
    assert b"<dc:date>" not in both[0]
    assert b">counterexample<" in both[0]  # which is text


def test_a_title_and_data_may_have_a_dollar():
    figure = picture(made.few, made.few.check(), "a $x_$ b")
    assert b"a $x_$ b" in svg(figure, "salt")


def test_colours_are_told_apart_in_grey():
    def grey(colour):
        return np.dot(to_rgb(colour), [0.299, 0.587, 0.114])

    assert grey(pictures.RIGHT) - grey(pictures.LEFT) > 0.3
    shades = [grey(x) for x in (pictures.WRONG, pictures.OPEN, pictures.HELD)]
    assert min(np.diff(shades)) > 0.1


def test_the_trace_of_a_counterexample_is_marked():
    figure = picture(made.trace, made.trace.check())
    sides = figure.axes[0]
    assert sides.get_title() == "loss & <bound>"
    left, right, ring = sides.lines
    np.testing.assert_allclose(left.get_ydata(), np.exp(-0.02 * np.arange(1, 61)))
    assert right.get_ydata()[-1] < left.get_ydata()[-1]
    assert legend(sides) == ["left side ≤", "right side", "too large"]
    assert ring.get_xdata()[0] == made.trace.check().counterexample.slack.round
    assert figure.axes[2].get_title(loc="left") == "counterexample"
    assert texts(figure)[-1].splitlines() == [
        "A = [1/3  1]",
        "    [ -1  0]",
        "d = [1/3  2/3]",
        "epsilon = 1/10",
    ]


def test_a_few_inequalities_are_bars_with_their_values():
    figure = picture(made.few, made.few.check())
    assert texts(figure)[:2] == ["0.25", "−0.5"]
    assert "∞" in texts(figure)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "square", "finite", "range"
    ]  # fmt: skip


def test_an_equation_is_told_from_an_inequality():
    equation, inequality = equal(1, 2, "sum"), at_most(1, 2, "loss")
    for slacks, shown, names in (
        ((equation,), "left side =", []),
        ((equation, inequality), "left side", ["sum (=)", "loss (≤)"]),
    ):
        axes = Figure().subplots()
        draw_sides(axes, Evidence("instance 0", {}, equation, "refuted", slacks, ()))
        assert legend(axes) == [shown, "right side"]
        assert [label.get_text() for label in axes.get_yticklabels()] == names


def test_one_round_that_is_too_large_is_seen():
    slacks = tuple(at_most(t, 1.5, "loss", t) for t in (1, 2))
    axes = Figure().subplots()
    draw_sides(axes, Evidence("instance 0", {}, slacks[1], "refuted", slacks, ()))
    corners = axes.collections[0].get_paths()[0].vertices
    assert {tuple(corner) for corner in corners} == {(1.5, 1.5), (2, 1.5), (2, 2)}


def test_pairs_of_different_size_have_their_own_scale():
    slacks = tuple(at_most(size, 2 * size, "size") for size in (1, 1000))
    axes = Figure().subplots()
    draw_sides(axes, Evidence("instance 0", {}, slacks[0], "holds", slacks, ()))
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], [0.5, 1, 0.5, 1])
    assert [text.get_text() for text in axes.texts] == ["1", "2", "1000", "2000"]
    assert axes.get_xlabel() == "each pair to its own scale"


def test_what_is_equal_but_for_noise_has_slack_0():
    verdict = made.same.check()
    verdict.stated.slacks[0] = -1e-8
    verdict.stated.outcomes[0] = "tight"
    assert picture(made.same, verdict).axes[1].get_title().endswith(": 0, both sides are equal")


def test_of_many_inequalities_the_nearest_to_failing_are_drawn():
    verdict = made.many.check()
    figure = picture(made.many, verdict)
    assert len(figure.axes[0].patches) == 12
    worst = sorted(verdict.decisive.slacks, key=lambda slack: slack.relative)[:6]
    assert len(verdict.decisive.slacks) > 6
    assert sorted(texts(figure)[:12:2]) == sorted(
        f"{slack.left:.5g}".replace("-", "−") for slack in worst
    )
    assert figure.axes[2].get_title(loc="left") == "instance of least slack"


def test_the_slacks_are_all_counted():
    verdict = made.few.check()
    slacks = picture(made.few, verdict).axes[1]
    bars = [patch.get_height() for patch in slacks.patches]
    assert sum(bars) == verdict.stated.tried
    assert legend(slacks)[0] == f"refuted: {verdict.stated.counts['refuted']}"
    assert slacks.get_ylim()[1] > 1.25 * max(bars)  # the legend hides none


def test_other_readings_are_not_called_corrected():
    claim = rb.claims.get("DEK11-majority-zero")
    assert legend(picture(claim, claim.check(2)).axes[1])[-1] == "other readings: 3"


def test_an_equality_that_holds_has_slack_0():
    title = picture(made.same, made.same.check()).axes[1].get_title()
    assert title == "slack of 10 instances: 0, both sides are equal"


def test_large_matrices_are_named_by_their_size():
    assert " matrix)" in texts(picture(made.large, made.large.check()))[-1]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(rb.InputError, match="no instance met"):
        picture(made.never, made.never.check())
    with pytest.raises(rb.InputError, match="must be about MADE-few"):
        picture(made.few, made.trace.check())
