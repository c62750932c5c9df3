"""Maps of MovingAI as graphs to plan on."""

from __future__ import annotations

import numpy as np

from relaxboost import planning
from relaxboost.readers.movingai import GridMap

FEATURES = ("step", "swamp", "near_wall")


def map_graph(grid: GridMap, neighbours: int = 8) -> planning.Graph:
    """Return the passable cells of a map as a graph whose nodes are (row, column).

    Features of a cell are ``step``, 1; ``swamp``, 1 in swamp and else 0; ``near_wall``, the share
    of the eight cells around it that are not passable, as those beyond the border are not.

    Parameters
    ----------
    grid : GridMap
    neighbours : {8, 4}
        Diagonal steps need both cells beside them passable, as the lengths of scenarios do.

    Returns
    -------
    planning.Graph
    """
    from scipy.ndimage import convolve

    around = np.ones((3, 3))
    around[1, 1] = 0.0
    blocked = convolve((~grid.passable).astype(float), around, mode="constant", cval=1.0) / 8.0
    swamp = np.isin(grid.terrain, ["S", "s"]).astype(float)
    layers = [np.ones(swamp.shape), swamp, blocked]
    return planning.grid(layers, grid.passable, names=FEATURES, neighbours=neighbours)
