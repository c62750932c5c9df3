"""Pictures of claims: what they show, and that they are the same each time."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from docs.hooks.claim_pages import pictures
from docs.hooks.claim_pages.pictures import draw_sides, sides, svg
from relaxboost.claims import at_most, equal
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
    content = svg(sides(verdict.decisive), claim.id)
    assert ET.fromstring(content).tag.endswith("svg")
    assert len(content) < 100_000


def test_pictures_are_the_same_each_time():
    both = [svg(sides(made.trace.check().decisive), "salt") for _ in range(2)]
    assert both[0] == both[1]
    assert b"<dc:date>" not in both[0]
    assert b">right side<" in both[0]  # which is text


def test_colours_are_told_apart_in_grey():
    def grey(colour):
        return np.dot(to_rgb(colour), [0.299, 0.587, 0.114])

    assert grey(pictures.RIGHT) - grey(pictures.LEFT) > 0.3


def test_the_trace_of_a_counterexample_is_marked():
    (axes,) = sides(made.trace.check().decisive).axes
    assert axes.get_title() == "loss & <bound>"
    left, right, ring = axes.lines
    np.testing.assert_allclose(left.get_ydata(), np.exp(-0.02 * np.arange(1, 61)))
    assert right.get_ydata()[-1] < left.get_ydata()[-1]
    assert legend(axes) == ["left side ≤", "right side", "too large"]
    assert ring.get_xdata()[0] == made.trace.check().counterexample.slack.round


def test_a_few_inequalities_are_bars_with_their_values():
    figure = sides(made.few.check().decisive)
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


def test_of_many_inequalities_the_nearest_to_failing_are_drawn():
    verdict = made.many.check()
    figure = sides(verdict.decisive)
    assert len(figure.axes[0].patches) == 12
    worst = sorted(verdict.decisive.slacks, key=lambda slack: slack.relative)[:6]
    assert len(verdict.decisive.slacks) > 6
    assert sorted(texts(figure)[:12:2]) == sorted(
        f"{slack.left:.5g}".replace("-", "−") for slack in worst
    )
