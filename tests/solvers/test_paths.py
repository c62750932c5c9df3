"""A path: every solution is that of its game, in the order given."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import relaxboost as rb


@pytest.fixture
def A(rng):
    return np.clip(rng.uniform(-1, 1, (80, 40)) + 0.1, -1, 1)


def same(found, games, tol=1e-6):
    assert len(found) == len(games)
    for solution, game in zip(found, games, strict=True):
        assert solution.game.digest == game.digest
        assert solution.status == "optimal"
        assert solution.gap <= tol
        assert rb.compare(solution, rb.solve(game, tol))


def test_a_grid_of_caps_in_the_order_given(A):
    ks = [3, 40, 10.5, 10, 40]
    found = rb.path(rb.Game(A, rb.Capped(k=1)), 1e-6, k=ks)
    same(found, [rb.Game(A, rb.Capped(k)) for k in ks])
    assert found[1].seconds >= found[4].seconds  # the second of two equals has the first's pair
    assert (found[4].rounds, found[4].lower) == (0, found[1].lower)


def test_fractions_weights_and_radii(A):
    fractions = [0.1, 0.5]
    same(
        rb.path(rb.Game(A, rb.Capped(fraction=0.2)), 1e-6, fraction=fractions),
        [rb.Game(A, rb.Capped(fraction=x)) for x in fractions],
    )
    game = rb.Game(A, rb.NormPenalty(np.inf, 1), over=rb.L1Ball(2))
    same(
        rb.path(game, 1e-6, weight=[1, 2, 4]),
        [rb.Game(A, rb.NormPenalty(np.inf, x), over=rb.L1Ball(2)) for x in (1, 2, 4)],
    )


def test_any_games_of_one_matrix(A):
    families = (
        rb.HardMargin(),
        rb.Capped(4),
        rb.relaxations.SpectralRisk([3, 20], [0.5, 0.5]),
        rb.CVaR(0.8),
    )
    games = [rb.Game(A, f) for f in families]
    same(rb.path(iter(games), 1e-6), games)


def test_a_path_takes_fewer_rounds_than_its_games(A):
    ks = np.linspace(5, 40, 12)
    rounds = sum(s.rounds for s in rb.path(rb.Game(A, rb.Capped(1)), 1e-6, k=ks))
    assert rounds < sum(rb.solve(rb.Game(A, rb.Capped(k)), 1e-6).rounds for k in ks) / 3


def test_a_path_of_one_linear_program_takes_few_rounds(A):
    """Each game begins with the columns and the basis of the one before."""
    ks = np.linspace(5, 20, 8)
    method = rb.solvers.LPBoost()
    found = rb.path(rb.Game(A, rb.Capped(1)), 1e-7, method, k=ks)
    truth = [rb.solve(rb.Game(A, rb.Capped(k)), 1e-7, method) for k in ks]
    assert all(rb.compare(a, b) for a, b in zip(found, truth, strict=True))
    assert sum(s.rounds for s in found) < sum(s.rounds for s in truth) / 2


def test_after_ctrl_c_every_bracket_holds(A, monkeypatch):
    paths = import_module("relaxboost.solvers.path")

    own, calls = paths.solve_next, []

    def pressed(game, tol, rtol, method, limits, *others):
        def stop(state):
            raise KeyboardInterrupt

        calls.append(limits.max_rounds)
        limits = replace(limits, callback=stop if len(calls) == 2 else None)
        return own(game, tol, rtol, method, limits, *others)

    monkeypatch.setattr(paths, "solve_next", pressed)
    ks = [5, 10, 20, 30]
    found = rb.path(rb.Game(A, rb.Capped(1)), 1e-9, k=ks)
    assert calls == [None, None, 1, 1]
    assert [s.status for s in found] == ["interrupted", "interrupted", "interrupted", "optimal"]
    for solution, k in zip(found, ks, strict=True):
        truth = rb.solve(rb.Game(A, rb.Capped(k)), 1e-9)
        assert solution.lower <= truth.upper
        assert solution.upper >= truth.lower


@pytest.mark.parametrize("compiled", [False, True])
def test_ctrl_c_before_a_run_has_begun_loses_nothing(A, monkeypatch, compiled):
    """Also where numba is on, which makes another error of it."""
    paths = import_module("relaxboost.solvers.path")

    own, calls = paths.solve_next, []

    def pressed(*args):
        calls.append(args[4].max_rounds)
        if len(calls) == 2:
            if compiled:
                raise SystemError from KeyboardInterrupt()
            raise KeyboardInterrupt
        return own(*args)

    monkeypatch.setattr(paths, "solve_next", pressed)
    found = rb.path(rb.Game(A, rb.Capped(1)), 1e-9, k=[5, 10, 20])
    assert calls == [None, None, 1, 1]
    assert [s.status for s in found] == ["interrupted", "interrupted", "optimal"]


@pytest.mark.parametrize("compiled", [False, True])
def test_ctrl_c_while_a_solution_is_made_keeps_it(A, monkeypatch, compiled):
    solving = import_module("relaxboost.solvers.solve")

    own, calls = solving._Job.finish, []

    def pressed(*args):
        calls.append(args)
        if len(calls) == 2:
            if compiled:
                raise SystemError from KeyboardInterrupt()
            raise KeyboardInterrupt
        return own(*args)

    monkeypatch.setattr(solving._Job, "finish", pressed)
    found = rb.path(rb.Game(A, rb.Capped(1)), 1e-9, k=[5, 10, 20])
    assert found[2].status == "optimal"
    assert found[1].status == "interrupted"
    assert found[1].gap <= 1e-9
    assert found[0].rounds <= 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (rb.path, "pass exactly one parameter of the relaxation, .* Capped are: k, fraction"),
        (lambda g: rb.path(g, k=[3], fraction=[0.1]), "pass exactly one parameter"),
        (lambda g: rb.path(g, weight=[3]), "the parameters of Capped are: k, fraction"),
        (lambda g: rb.path(g, k=[]), r"k= needs at least one value, .* got \[\]"),
        (lambda g: rb.path(g, k=3), "k= needs at least one value, .* got 3"),
        (lambda g: rb.path(g, k=np.array(3)), "k= needs at least one value, .* array"),
        (lambda g: rb.path(g, k=[3, 500]), "needs 1 <= k <= m"),
        (lambda g: rb.path([]), "path needs a Game with a grid"),
        (lambda g: rb.path([g, 3]), "path needs a Game with a grid"),
        (lambda g: rb.path(3), "path needs a Game with a grid"),
        (lambda g: rb.path([g], k=[3]), "k= is for a path of one game"),
        (lambda g: rb.path([g, rb.Game(np.ones((2, 2)))]), "the same hypotheses"),
        (lambda g: rb.path(rb.Game(g.matrix), k=[3]), "has no parameter"),
    ],
)
def test_what_is_no_path(A, make, message):
    with pytest.raises(rb.InputError, match=message):
        make(rb.Game(A, rb.Capped(5)))


def test_a_method_that_cannot_start_from_a_solution_has_no_path(A):
    with pytest.raises(rb.InputError, match="but the games of a path start from previous"):
        rb.path(rb.Game(A, rb.Capped(1)), 0.1, "hedge", k=[5, 10])
