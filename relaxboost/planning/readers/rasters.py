"""Layers of a terrain or an image on one grid: GeoTIFF, or NumPy's files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, MissingDependencyError, install
from relaxboost.planning.readers.fields import archive
from relaxboost.planning.readers.places import SOURCES

ARRAYS = (".npz", ".npy")
TIFFS = (".tif", ".tiff")

_Named = list[tuple[str, NDArray[Any]]]


class Layers(NamedTuple):
    """Layers of one shape."""

    names: tuple[str, ...]
    """The name of each layer, no two the same."""
    values: Array
    """Shape (L, H, W); NaN where there is no data, otherwise finite."""
    transform: tuple[float, ...] | None = None
    """Six numbers a, b, c, d, e, f of a GeoTIFF that has a place: the upper left corner of the cell
    in row r and column k is at x = a k + b r + c, y = d k + e r + f. Otherwise None."""
    crs: str | None = None
    """The coordinates that x and y are in, such as EPSG:32717, or as well-known text; or None."""


def read_layers(path: str | PathLike[str], names: Sequence[str] | None = None) -> Layers:
    """Read the layers of a GeoTIFF (.tif, .tiff), of an .npz or of an .npy file.

    Every array of two dimensions is a layer with the name of the array (in an .npy file, of the
    file). One of three dimensions is several, ``name_0``, ``name_1`` and so on. Which axis counts
    them is told by layers of two dimensions beside it, if one of (H, W, B) and (B, H, W) has their
    shape. Otherwise it is the shorter of the first and the last. Other arrays are left out.
    True and false are 1 and 0. Here only NaN means no data.

    The bands of a GeoTIFF have its descriptions as names, or ``band_1``, ``band_2`` ... where it
    has none. No-data values and masks become NaN, and scales and offsets are applied.

    Parameters
    ----------
    path : path
    names : sequence of str, optional
        The layers wanted, in this order. By default all, in the order of the file.

    Raises
    ------
    InputError
        If the file is missing, of another kind or damaged; has no layers, or not those in
        `names`; two have the same name; the layers wanted differ in shape (naming them); an axis
        of bands cannot be told; or a value is infinite or complex.
    MissingDependencyError
        If the file is a GeoTIFF, and rasterio is not installed.
    """
    path = Path(path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {what}; name another file, or get it from {SOURCES['rasters']}")
    if path.suffix.lower() not in ARRAYS + TIFFS:
        raise InputError(f"{path} must end in one of {', '.join(ARRAYS + TIFFS)}")
    tiff = path.suffix.lower() in TIFFS
    layers, transform, crs = _geotiff(path) if tiff else (_arrays(path), None, None)
    layers = _selected(path, layers, names)
    shapes: dict[tuple[int, ...], list[str]] = {}
    for name, layer in layers:
        shapes.setdefault(layer.shape, []).append(name)
        if layer.dtype.kind == "c":
            raise InputError(f"{path}: {name} is complex; save its real or its absolute values")
        infinite = np.argwhere(np.isinf(layer))
        if infinite.size:
            raise InputError(
                f"{path}: {name} is infinite in row {infinite[0][0]}, column {infinite[0][1]}; "
                "write NaN where there is no data"
            )
    if len(shapes) > 1:
        listed = "; ".join(f"{', '.join(named)}: {shape}" for shape, named in shapes.items())
        raise InputError(
            f"{path}: all layers must have one shape, and they have {listed}; give names "
            "of some that have, or resample them to one grid"
        )
    values = np.stack([layer for _, layer in layers]).astype(np.float64)
    return Layers(tuple(name for name, _ in layers), values, transform, crs)


def _selected(path: Path, layers: _Named, names: Sequence[str] | None) -> _Named:
    """Return the layers wanted, or raise where a name is unknown or not the name of one."""
    held = dict(layers)
    if len(held) < len(layers):
        read = [name for name, _ in layers]
        again = next(name for name in read if read.count(name) > 1)
        raise InputError(f"{path} has more than one layer {again!r}; rename one")
    wanted = list(held) if names is None else [names] if isinstance(names, str) else list(names)
    if not wanted or len(set(wanted)) < len(wanted) or not set(wanted) <= set(held):
        raise InputError(
            f"names are {', '.join(map(repr, wanted)) or 'none'}; they must be different ones "
            f"of the layers of {path}: {', '.join(map(repr, held))}"
        )
    return [(name, held[name]) for name in wanted]


def _arrays(path: Path) -> _Named:
    held = archive(path)
    numeric = {n: a for n, a in held.items() if a.ndim in (2, 3) and a.dtype.kind in "fiubc"}
    flat = {array.shape for array in numeric.values() if array.ndim == 2}
    layers: _Named = []
    for name, array in numeric.items():
        if array.ndim == 2 and array.size:
            layers.append((name, array))
        elif array.size:
            bands = np.moveaxis(array, _band_axis(path, name, array.shape, flat), 0)
            layers.extend((f"{name}_{k}", band) for k, band in enumerate(bands))
    if not layers:
        has = ", ".join(f"{name} of shape {array.shape}" for name, array in held.items())
        raise InputError(
            f"{path} has no layers: numbers in two or three dimensions (it has {has or 'nothing'})"
        )
    return layers


def _band_axis(path: Path, name: str, shape: tuple[int, ...], flat: set[tuple[int, ...]]) -> int:
    """Return which axis of an array counts its bands, the last or the first."""
    last, first = shape[:2] in flat, shape[1:] in flat
    if last == first and shape[0] == shape[-1]:
        raise InputError(
            f"{path}: {name} of shape {shape} may be (H, W, bands) or (bands, H, W); save its "
            "bands as arrays of two dimensions"
        )
    return -1 if (last if last != first else shape[-1] < shape[0]) else 0


def _geotiff(path: Path) -> tuple[_Named, tuple[float, ...] | None, str | None]:
    try:
        import rasterio
        from rasterio.errors import NotGeoreferencedWarning
    except ImportError:
        raise MissingDependencyError(f"GeoTIFF needs rasterio; {install('rasters')}") from None
    try:
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            # A picture without a place is a fine grid.
            warnings.simplefilter("ignore", NotGeoreferencedWarning)
            with rasterio.open(path, driver="GTiff") as file:
                read = file.read(masked=True)
                kind = np.complex128 if read.dtype.kind == "c" else np.float64
                factors = np.reshape(file.scales, (-1, 1, 1)), np.reshape(file.offsets, (-1, 1, 1))
                values = (read.astype(kind) * factors[0] + factors[1]).filled(np.nan)
                names = [said or f"band_{k}" for k, said in enumerate(file.descriptions, start=1)]
                placed = None if file.transform.is_identity else tuple(file.transform)[:6]
                crs = file.crs.to_string() if file.crs else None
    except Exception as error:  # a damaged file raises GDAL's errors as well as Python's
        raise InputError(
            f"{path}: cannot be read as a GeoTIFF ({error}); get the file again"
        ) from None
    return list(zip(names, values, strict=True)), placed, crs
