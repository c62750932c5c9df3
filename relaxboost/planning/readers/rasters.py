"""Layers of a terrain or an image on one grid, from NumPy's files."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.planning.readers.fields import archive
from relaxboost.planning.readers.places import SOURCES

ARRAYS = (".npz", ".npy")


class Layers(NamedTuple):
    """Layers of one shape."""

    names: tuple[str, ...]
    """The name of each layer, no two the same."""
    values: Array
    """Shape (L, H, W); not finite where there is no data."""


def read_layers(path: str | PathLike[str], names: Sequence[str] | None = None) -> Layers:
    """Read the layers of an .npz or of an .npy file.

    Every array of two dimensions is a layer with the name of the array (in an .npy file, of the
    file). One of shape (B, H, W) is several, ``name_0``, ``name_1`` and so on. Other arrays are
    left out. True and false are 1 and 0. What is not finite means no data.

    A GeoTIFF becomes such a file by rasterio: ``np.savez("land.npz", height=file.read(1,
    masked=True).astype(float).filled(np.nan))``.

    Parameters
    ----------
    path : path
    names : sequence of str, optional
        The layers wanted, in this order. By default all, in the order of the file.

    Raises
    ------
    InputError
        If the file is missing, of another kind or damaged; has no layers, or not those in
        `names`; two have the same name; the layers wanted differ in shape (naming them); or
        bands come last.
    """
    path = Path(path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {what}; name another file, or get it from {SOURCES['rasters']}")
    if path.suffix.lower() not in ARRAYS:
        raise InputError(
            f"{path} must end in {' or '.join(ARRAYS)}; save layers of other files with numpy.savez"
        )
    held = _layers(path)
    wanted = list(held) if names is None else [names] if isinstance(names, str) else list(names)
    if not wanted or len(set(wanted)) < len(wanted) or not set(wanted) <= set(held):
        raise InputError(
            f"names are {', '.join(map(repr, wanted)) or 'none'}; they must be different ones "
            f"of the layers of {path}: {', '.join(map(repr, held))}"
        )
    shapes: dict[tuple[int, ...], list[str]] = {}
    for name in wanted:
        shapes.setdefault(held[name].shape, []).append(name)
    if len(shapes) > 1:
        listed = "; ".join(f"{', '.join(named)}: {shape}" for shape, named in shapes.items())
        raise InputError(
            f"{path}: all layers must have one shape, and they have {listed}; give names "
            "of some that have, or resample them to one grid"
        )
    return Layers(tuple(wanted), np.stack([held[name] for name in wanted]).astype(np.float64))


def _layers(path: Path) -> dict[str, Array]:
    """Return the arrays of numbers that have a shape (H, W) by name, and bands of (B, H, W)."""
    held = archive(path)
    layers: dict[str, Array] = {}
    for name, array in held.items():
        if array.ndim not in (2, 3) or array.dtype.kind not in "fiub" or not array.size:
            continue
        if array.ndim == 3 and array.shape[2] < array.shape[0]:
            raise InputError(
                f"{path}: {name} of shape {array.shape} looks like (H, W, bands); save (bands, H, "
                "W), with numpy.moveaxis(array, -1, 0), or each band by itself"
            )
        parts = [array] if array.ndim == 2 else array
        bands = {name if array.ndim == 2 else f"{name}_{k}": part for k, part in enumerate(parts)}
        again = set(bands) & set(layers)
        if again:
            raise InputError(f"{path} has more than one layer {again.pop()!r}; rename one")
        layers |= bands
    if not layers:
        has = ", ".join(f"{name} of shape {array.shape}" for name, array in held.items())
        raise InputError(
            f"{path} has no layers: numbers in two or three dimensions (it has {has or 'nothing'})"
        )
    return layers
