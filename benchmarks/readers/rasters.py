"""Layers of a terrain or an image on one grid, from NumPy's files."""

from __future__ import annotations

from os import PathLike

import numpy as np

from benchmarks.readers.fields import archive
from benchmarks.readers.places import SOURCES, located
from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError


def read_layers(path: str | PathLike[str]) -> dict[str, Array]:
    """Read the layers of an .npz or of an .npy file: a dict of arrays of shape (H, W), in doubles.

    Every array of two dimensions is a layer with the name of the array (in an .npy file, of the
    file). An array of shape (B, H, W) gives the layers ``name_0``, ``name_1`` and so on. Other
    arrays are left out. True and false are 1 and 0; values that are not finite mean no data.

    A GeoTIFF becomes such a file by rasterio: ``np.savez("land.npz", height=file.read(1,
    masked=True).astype(float).filled(np.nan))``.

    Raises
    ------
    InputError
        If the file is missing, damaged or of another kind, if it has no layers, if two layers have
        the same name or different shapes, or if bands are the last dimension.
    """
    path = located(path, SOURCES["rasters"])
    held, layers = archive(path), dict[str, Array]()
    for name, array in held.items():
        if array.ndim not in (2, 3) or array.dtype.kind not in "fiub" or not array.size:
            continue
        if array.ndim == 3 and array.shape[2] < array.shape[0]:
            raise InputError(
                f"{path}: {name} of shape {array.shape} looks like (H, W, bands); save (bands, H, "
                "W), with numpy.moveaxis(array, -1, 0), or each band by itself"
            )
        parts = {name: array}
        if array.ndim == 3:
            parts = {f"{name}_{k}": part for k, part in enumerate(array)}
        again = set(parts) & set(layers)
        if again:
            raise InputError(f"{path} has more than one layer {again.pop()!r}; rename one")
        layers |= {name: part.astype(np.float64) for name, part in parts.items()}
    if len({layer.shape for layer in layers.values()}) != 1:
        has = ", ".join(f"{name} of shape {array.shape}" for name, array in held.items())
        raise InputError(
            f"{path} needs layers, numbers in two or three dimensions, all of one height and "
            f"width; it has {has or 'nothing'}"
        )
    return layers
