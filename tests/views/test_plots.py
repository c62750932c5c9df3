"""Pictures of relaxations: what is drawn, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from matplotlib.figure import Figure

import relaxboost as rb
from relaxboost.views import plots


def test_portrait_shows_f_its_conjugate_and_the_distribution():
    capped, norm = rb.Capped(k=2.5), rb.NormPenalty(2, 0.5)
    u = [0.3, -0.1, 0.2, 0.0, 0.5]
    price, conjugate, preferred = plots.portrait(capped, norm, margins=u, beta=0.1)
    of_capped, of_norm, bar = price.get_lines()
    assert of_capped.get_xdata()[-1] == pytest.approx(0.4, abs=1e-9)
    assert set(bar.get_xdata()) == {of_capped.get_xdata()[-1]}
    assert of_norm.get_ydata()[-1] == pytest.approx(0.5)  # all weight on one example
    of_capped, of_norm, _ = conjugate.get_lines()
    assert of_capped.get_ydata()[-1] == pytest.approx(1 / 2.5)
    assert of_norm.get_xdata()[-1] == pytest.approx(0.5)  # infinite where |t| > 0.5
    drawn = preferred.get_lines()[0].get_ydata()
    assert np.array_equal(drawn, capped.distribution(np.sort(u), 0.1))


def test_portrait_names_what_is_no_relaxation():
    for given in ((), (rb.Capped,)):
        with pytest.raises(rb.InputError, match="portrait needs at least one relaxation"):
            plots.portrait(*given, margins=[0.0, 1.0])


def walls(axes):
    drawn = [line.get_xdata() for line in axes.get_lines()]
    return [x[0] for x in drawn if len(x) == 2 and x[0] == x[1]]


def test_walls_stand_where_f_becomes_infinite():
    """A cap of 1/20 between grid points; w² + (1 − w)²/56 = 0.09 on the line; f* of the hard margin
    is infinite from 0 on."""
    axes = plots.draw_penalty(rb.Capped(k=20), rb.NormBall(2, 0.3), rb.HardMargin(), m=57)
    root = (1 + np.sqrt(1 - 57 * (1 - 56 * 0.09))) / 57
    assert walls(axes) == pytest.approx([1 / 20, root], abs=1e-9)
    axes = plots.draw_conjugate(rb.HardMargin(), rb.NormPenalty(2, 1 / 3), m=5)
    assert walls(axes) == pytest.approx([0, 1 / 3], abs=1e-9)


def test_a_curve_may_have_walls_at_both_ends():
    """With these caps the uniform distribution is too dear, and so is all weight on one example."""
    axes = Figure().subplots()
    assert plots.draw_penalty(rb.Caps([0.6, 0.3, 0.3]), m=3, axes=axes) is axes
    assert walls(axes) == pytest.approx([0.4, 0.6], abs=1e-9)
    curve = axes.get_lines()[0].get_xdata()
    assert (curve[0], curve[-1]) == pytest.approx((0.4, 0.6), abs=1e-9)


@dataclass(frozen=True)
class LongCaps(rb.Relaxation):
    """Caps with a long repr, whose formula of the center is missing unless `centred`."""

    caps: tuple[float, ...]
    centred: bool = True

    def cvxpy_penalty(self, d):
        return 0.0, [d <= np.array(self.caps)]

    def penalty(self, d):
        return 0.0 if (d <= np.array(self.caps) + 1e-12).all() else np.inf

    def center(self, m):
        return np.array(self.caps) / sum(self.caps) if self.centred else super().center(m)


def test_the_line_of_f_goes_through_a_center_that_is_not_uniform():
    caps = np.full(60, 0.05)
    caps[:5] = 0.005
    axes = plots.draw_penalty(rb.Caps(caps), m=60)
    curve = axes.get_lines()[0].get_xdata()
    assert curve.size
    assert curve[0] <= 0.05 / caps.sum()
    assert curve[-1] == pytest.approx(0.05, abs=1e-9)
    axes = plots.draw_penalty(LongCaps(tuple(caps.tolist()), centred=False), m=60)
    said = axes.get_legend().get_texts()[0].get_text()
    assert "infinite along this line" in said.replace("\n", " ")


@pytest.mark.filterwarnings("error")
def test_legends_cut_a_long_repr():
    f = LongCaps((0.0512345,) * 60)
    panels = plots.portrait(f, f, margins=np.linspace(0, 1, 60))
    panels[0].figure.canvas.draw()
    margins, _ = plots.overview(rb.solve(rb.Game(np.eye(60)[:, :2], f), tol=1))
    for axes in (*panels, margins):
        for text in axes.get_legend().get_texts():
            assert text.get_text().startswith("LongCaps(caps=(0.0512345,")
            assert len(text.get_text()) < 200


def test_other_arguments_of_pictures_are_refused():
    with pytest.raises(rb.InputError, match=r"draw_margins needs a dictionary .* got ndarray"):
        plots.draw_margins(np.ones(3))
    with pytest.raises(rb.InputError, match="overview needs at least one Solution"):
        plots.overview(np.ones(3))
