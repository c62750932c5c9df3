"""GB11's Fig. 1 on tiny data in the real formats: the tasks drawn, their scores, the findings."""

from __future__ import annotations

import csv
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.reproductions import EXPERIMENTS, Effort, demonstrations, findings, reproduce
from benchmarks.reproductions.__main__ import main
from benchmarks.reproductions.demonstrations import LOSS, WINDOW, arrays, drawn, expert, missed
from benchmarks.reproductions.runs import COLUMNS, follow
from benchmarks.reproductions.summary import _ends
from relaxboost._core.errors import InputError
from relaxboost.planning import shortest_path
from tests.benchmarks.readers.test_borlange import texts_of, write_texts


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A raster of four windows, and trips on a ladder of one-way links."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[: 2 * WINDOW, : 2 * WINDOW + 5]
    height = 1900.0 + 150.0 * np.sin(rows / 7.0) * np.cos(columns / 9.0)
    cover = np.where(columns % 24 < 9, 42, np.where(rows % 30 < 12, 52, 31)).astype(np.uint8)
    (folder / "terrain").mkdir()
    np.savez(
        folder / "terrain" / "zion_srtm_nlcd.npz",
        elevation_m=height.astype(np.uint16),
        nlcd2011=cover,
        geo=np.zeros(4),
    )
    links = 24
    arcs = [(i, j) for i in range(1, links + 1) for j in (i + 1, i + 2, i - 1) if 1 <= j <= links]
    trips = []
    for _ in range(16):
        first, trip = int(rng.integers(1, 9)), []
        while first <= 18:
            trip.append(first)
            first += int(rng.integers(1, 3))
        trips.append(trip)
    time = [0.2 + 0.1 * (j % 3) for _, j in arcs]
    angle = [None if j == links else -1.0 + (j % 3) for _, j in arcs]
    write_texts(folder, texts_of(arcs, time, angle, [(links + trip[-1], trip) for trip in trips]))
    return folder


def ends(task):
    return task.demonstration.nodes[0], task.demonstration.nodes[-1]


def test_windows_are_disjoint_and_the_expert_is_followed(data):
    train, test = drawn("terrain", data, False)(1)
    assert (len(train), len(test)) == (6, 6)
    graphs = {task.graph for task in [*train, *test]}
    assert len(graphs) == 4
    assert {task.graph for task in train}.isdisjoint({task.graph for task in test})
    for task in test:
        costs = task.graph.costs(expert(task.graph.features))
        plan = shortest_path(task.graph, costs, *ends(task))
        assert task.demonstration.cost(costs) == pytest.approx(plan.cost)
    again, _ = drawn("terrain", data, False)(1)
    assert [bytes(a) for a in arrays(again)] == [bytes(a) for a in arrays(train)]
    problem = EXPERIMENTS["gb11-fig1"].problems("terrain", data, 2, False)
    assert problem(1).digest() == problem(1).digest() != problem(0).digest()


def test_trips_are_paths_to_their_destinations(data):
    train, test = drawn("borlange", data, False)(0)
    assert (len(train), len(test)) == (8, 8)
    for task in train:
        nodes = task.demonstration.nodes
        assert nodes[-1] == 24 + nodes[-2]
        assert all(b - a in (1, 2) for a, b in pairwise(nodes[:-1]))
    X = train[0].graph.features
    assert set(X[:, 3]) == {0.0, 1.0}
    assert X[:, 1].any()


def test_the_score_counts_missed_arcs_and_lets_ties_be(data):
    train, _ = drawn("terrain", data, True)(0)
    risk = LOSS.bind(train)
    X = risk.features
    assert missed(risk)(expert(X) - 1.0) == 0.0  # F at which costs are the expert's
    F = np.zeros(len(X))
    shares = []
    for task in train:
        plan = shortest_path(task.graph, task.graph.costs(np.ones(WINDOW**2)), *ends(task))
        shares.append(1.0 - np.isin(task.demonstration.arcs, plan.path.arcs).mean())
    assert missed(risk)(F) == pytest.approx(np.mean(shares))
    assert missed(risk)(F - 5.0) > 0.0  # all negative, so all at the floor


@pytest.mark.filterwarnings("ignore:feature u-turn is 0")
def test_a_run_is_that_of_the_planning_boost(data):
    from relaxboost.functional import Residual, Stopping
    from relaxboost.planning import PlanningLoss, boost

    experiment = EXPERIMENTS["gb11-fig1"]
    problem = experiment.problems("borlange", data, 1, False)(0)
    run = follow(experiment, problem, "residual", 0.25, 4)
    even = PlanningLoss("additive", base=1.0)
    unit = boost(tuple(problem.train.y), experiment.learner, even, stopping=1).scale
    found = boost(
        tuple(problem.train.y),
        experiment.learner,
        even,
        algorithm=Residual(scale=0.25 * unit),
        stopping=Stopping(4, validation=tuple(problem.test.y)),
    )
    assert [row[1] for row in run["rows"]] == [r.value for r in found.history]
    assert [row[3] for row in run["rows"]] == pytest.approx([r.validation for r in found.history])


def test_the_figure_is_made_and_resumed(data, tmp_path, capsys):
    arguments = ["gb11-fig1", "--data", str(data), "--learners", "4", "--seeds", "2"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "terrain: 6 + 6 paths" in text
    for line in ("the new algorithms have lower test loss", "naive levels off"):
        assert text.count(line) == 2
    assert len(list((tmp_path / "runs").glob("*.json"))) == 2 * 3 * (4 + 1)
    kept = {p.name: p.read_bytes() for p in tmp_path.glob("gb11*")}
    assert kept["gb11-fig1.png"].startswith(b"\x89PNG")
    rows = list(csv.DictReader(kept["gb11-fig1.csv"].decode().splitlines()))
    assert {"train_missed", "test_missed"} < set(rows[0])
    reproduce("gb11-fig1", data, tmp_path, effort=Effort(4, 2))
    assert {p.name: p.read_bytes() for p in tmp_path.glob("gb11*")} == kept


def test_wide_numbers_stay_apart():
    ends = {"learners": 4, "rounds": 4, "splits": 4}
    ends |= {column: dict.fromkeys(("median", "low", "high"), 123.4) for column in COLUMNS[1:]}
    one = {"scale": 1.0, "train": 6, "test": 6, "splits": ["drawn"], "ends": {"naive": ends}}
    one["line_search"] = False
    text = "".join(_ends("terrain", one, "missed"))
    assert text.count(" 123.4000 [123.400, 123.400]") == 4


def test_missing_files_and_maps_too_small_are_named(tmp_path):
    with pytest.raises(InputError, match=r"terrain needs zion_srtm_nlcd\.npz, arrays elevation_m"):
        reproduce("gb11-fig1", tmp_path)
    with pytest.raises(InputError, match=r"borlange needs linkIncidence\.txt"):
        reproduce("gb11-fig1", tmp_path, sets=["borlange"])
    flat = np.full((WINDOW, WINDOW), 52)
    np.savez(tmp_path / "zion_srtm_nlcd.npz", elevation_m=flat, nlcd2011=flat)
    with pytest.raises(InputError, match="needs two windows of 48 x 48"):
        reproduce("gb11-fig1", tmp_path, tmp_path / "o", sets=["terrain"])


def test_findings_follow_the_numbers():
    def line(last, flat=False):
        share = np.minimum(np.arange(41) / (4 if flat else 40), 1.0)
        losses = (5.0 + (last - 5.0) * share).tolist()
        return [{"rows": [[n, x, 0.5, x, 0.5] for n, x in enumerate(losses)]}]

    stuck = {"naive": line(4.0, flat=True), "repeated": line(2.0), "residual": line(1.5)}
    grid = {1.0: {name: runs[0] for name, runs in stuck.items()}}
    lower, level, step, least = findings.planning("terrain", stuck, grid)
    assert (lower.agrees, level.agrees, step.agrees, least.agrees) == (True, True, None, None)
    assert "repeated ends at 2.000" in lower.numbers
    assert "repeated is lower in 1, residual is lower in 1; so in 1 of 1 runs" in lower.numbers
    fine = {**stuck, "naive": line(1.0)}
    lower, level, *_ = findings.planning("terrain", fine, grid)
    assert (lower.agrees, level.agrees) == (False, False)
    assert EXPERIMENTS["gb11-fig1"].default == demonstrations.PLANNED
