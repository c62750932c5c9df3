"""Networks of links as graphs to plan on: links are nodes, and arcs lead from link to link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost import planning
from relaxboost.errors import InputError
from relaxboost.readers.borlange import Routes, left_turns, link_constants, u_turns

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

PLAIN = ("time", "left turn", "u-turn", "link")
"""The features of the recursive logit's authors."""

_STRAIGHT = 40.0  # degrees, as for left turns
_SLIGHT = 15.0
_CLASSES = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Quantiles of traffic between which links are of a class."""


def link_graph(
    routes: Routes, features: str = "plain", *, trips: int = 4000, seed: int = 0
) -> planning.Graph:
    """Return the network as a graph whose nodes are links and destinations, labelled as in files.

    Arcs are those of `routes.arcs`, then those of `routes.destination_arcs`, whose features are 0:
    the time of an arc is that of the link it leads to, and a destination is no road.

    Parameters
    ----------
    routes : Routes
    features : {"plain", "rich"}
        ``"plain"``: `PLAIN`. ``"rich"`` adds what the network tells about them, all >= 0: turns at
        junctions only, which are links that lead on to more than one other without a u-turn; how
        many ways lead on, and in; and by `planning.traffic` of random quickest trips the class of
        a link from side street (0) to main road (5), as minutes in each class and as a constant
        for each, and how much busier or quieter the link is than the one before, in logarithms.
        No trip of `routes` is looked at.
    trips, seed
        Of `planning.traffic`.

    Returns
    -------
    planning.Graph
    """
    if features not in ("plain", "rich"):
        raise InputError(f'features must be "plain" or "rich", got {features!r}')
    tail, head = np.concatenate([routes.arcs, routes.destination_arcs]).T
    labels = np.unique(np.concatenate([np.arange(1, routes.links + 1), head]))
    place = np.searchsorted(labels, tail), np.searchsorted(labels, head)
    columns = {
        "time": routes.time,
        "left turn": left_turns(routes),
        "u-turn": u_turns(routes),
        "link": link_constants(routes),
    }
    if features == "rich":
        columns |= _turns(routes)
        columns |= _hierarchy(routes, *place, len(labels), trips, seed)
    X = np.zeros((len(tail), len(columns)))
    X[: len(routes.arcs)] = np.stack(list(columns.values()), axis=1)
    return planning.Graph(*place, X, nodes=len(labels), names=list(columns), labels=labels.tolist())


def link_tasks(
    routes: Routes,
    graph: planning.Graph,
    loss: planning.PathLoss | None = None,
    trips: Whole | None = None,
) -> list[planning.Task]:
    """Return trips as tasks, each from its first link to its destination.

    Parameters
    ----------
    routes : Routes
    graph : Graph
        Of `link_graph`, or with its labels.
    loss : PathLoss, optional
        By default `planning.Missed()`.
    trips : array of int, optional
        Which trips, from 0; by default all.
    """
    which = range(len(routes.paths)) if trips is None else trips
    made = []
    for k in which:
        nodes = [*routes.paths[k].tolist(), int(routes.destinations[k])]
        made.append(planning.Task(graph, nodes[0], nodes[-1], nodes, loss, name=f"trip {k}"))
    return made


def _turns(routes: Routes) -> dict[str, Array]:
    """Return features of turns and junctions."""
    tail, head = routes.arcs.T - 1
    degrees = np.degrees(np.nan_to_num(routes.turn_angle))
    forward = u_turns(routes) == 0.0
    out = np.bincount(tail[forward], minlength=routes.links)[tail]
    into = np.bincount(head[forward], minlength=routes.links)[head]
    junction = out > 1
    right = forward & (degrees > _STRAIGHT)
    slight = (np.abs(degrees) > _SLIGHT) & (np.abs(degrees) <= _STRAIGHT)
    found = {
        "left at junction": (left_turns(routes) > 0.0) & junction,
        "right at junction": right & junction,
        "junction": junction,
        "large junction": out > 2,
        "slight turn": slight,
        "merging": into > 1,
    }
    return {name: values.astype(np.float64) for name, values in found.items()}


def _hierarchy(
    routes: Routes, tail: Whole, head: Whole, nodes: int, trips: int, seed: int
) -> dict[str, Array]:
    """Return features of how busy links are in random trips.

    Trips are the quickest with turns that take a few seconds, which are less prone to short cuts
    through side streets than the quickest without.
    """
    road = len(routes.arcs)
    minutes = np.zeros(len(tail))
    minutes[:road] = routes.time + 0.2 * left_turns(routes) + u_turns(routes) + 0.03
    graph = planning.Graph(tail, head, minutes, nodes=nodes)
    passed = planning.traffic(graph, minutes, trips, seed)
    into = np.bincount(head, weights=passed, minlength=nodes)
    here, before = into[head[:road]], into[tail[:road]]
    found = {}
    edges = np.quantile(here, _CLASSES[1:-1])
    kind = np.digitize(here, edges)
    for k in range(len(_CLASSES) - 1):
        found[f"time in class {k}"] = routes.time * (kind == k)
        found[f"link of class {k}"] = (kind == k).astype(np.float64)
    rise = np.log1p(here) - np.log1p(before)
    found["busier"], found["quieter"] = np.maximum(rise, 0.0), np.maximum(-rise, 0.0)
    return found
