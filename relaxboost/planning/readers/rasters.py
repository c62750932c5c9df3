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
from relaxboost._core.errors import InputError, MissingDependencyError
from relaxboost.planning.readers.fields import archive
from relaxboost.planning.readers.places import SOURCES

ARRAYS = (".npz", ".npy")
TIFFS = (".tif", ".tiff")

_NAMED = list[tuple[str, NDArray[Any]]]


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
    others: dict[str, NDArray[Any]] = {}  # noqa: RUF012  (a field of a tuple, never written to)
    """What else an .npz file has: arrays that are not numbers in two or three dimensions."""


def read_layers(path: str | PathLike[str], names: Sequence[str] | None = None) -> Layers:
    """Read the layers of a GeoTIFF (.tif, .tiff), of an .npz or of an .npy file.

    Every array of two dimensions is a layer with the name of the array (in an .npy file, of the
    file). One of three dimensions is several, ``name_0``, ``name_1`` and so on. Which axis counts
    them is told by the layers of two dimensions beside it, if one of (H, W, B) and (B, H, W) has
    their shape, and otherwise is the shorter of the first and the last. Other arrays are in
    `others`. True and false are 1 and 0. Here only NaN means no data: other marks, such as the
    class 0 of land cover, stay what they are.

    The bands of a GeoTIFF have its descriptions as names, or ``band_1``, ``band_2`` ... where it
    has none. No-data values and masks become NaN. If a band says a scale and an offset, values
    are multiplied by the one and added to the other.

    Parameters
    ----------
    path : path
    names : sequence of str, optional
        The layers wanted, in this order. By default all, in the order of the file.

    Returns
    -------
    Layers

    Raises
    ------
    InputError
        If the file is missing, of another kind or damaged; has no layers, or not those in
        `names`; two have the same name; the layers wanted differ in shape (naming them); an axis
        of bands cannot be told; or a value is infinite or complex.
    MissingDependencyError
        If the file is a GeoTIFF, and rasterio is not installed.

    Examples
    --------
    >>> layers = read_layers("ta.tif", ["elev", "slope"])  # doctest: +SKIP
    >>> layers.values.shape  # doctest: +SKIP
    (2, 415, 383)
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {what}; name another file, or get it from {SOURCES['rasters']}")
    if suffix in TIFFS:
        layers, (transform, crs) = _geotiff(path)
        others: dict[str, NDArray[Any]] = {}
    elif suffix in ARRAYS:
        layers, others = _arrays(path)
        transform = crs = None
    else:
        raise InputError(f"{path} must end in one of {', '.join(ARRAYS + TIFFS)}")
    layers = _selected(path, layers, names)
    _check_shapes(path, layers)
    values = np.stack([layer for _, layer in layers]).astype(np.float64)
    infinite = np.argwhere(np.isinf(values))
    if infinite.size:
        layer, row, column = infinite[0]
        raise InputError(
            f"{path}: {layers[layer][0]} is infinite in row {row}, column {column}; write NaN "
            "where there is no data"
        )
    return Layers(tuple(name for name, _ in layers), values, transform, crs, others)


def _selected(path: Path, layers: _NAMED, names: Sequence[str] | None) -> _NAMED:
    """Return the layers wanted, or raise where a name is unknown or not the name of one."""
    read = [name for name, _ in layers]
    repeated = sorted({name for name in read if read.count(name) > 1})
    if repeated:
        raise InputError(f"{path} has more than one layer {repeated[0]!r}; rename one")
    if names is None:
        return layers
    wanted = [names] if isinstance(names, str) else list(names)
    if not wanted or len(set(wanted)) < len(wanted) or not set(wanted) <= set(read):
        raise InputError(
            f"names are {', '.join(map(repr, wanted)) or 'none'}; they must be different ones "
            f"of the layers of {path}: {', '.join(map(repr, read))}"
        )
    return [layers[read.index(name)] for name in wanted]


def _arrays(path: Path) -> tuple[_NAMED, dict[str, NDArray[Any]]]:
    held = archive(path)
    numeric = {
        name: array
        for name, array in held.items()
        if array.ndim in (2, 3) and array.dtype.kind in "fiubc" and array.size
    }
    broken = [name for name, array in numeric.items() if array.dtype.kind == "c"]
    if broken:
        raise InputError(f"{path}: {broken[0]} is complex; save its real or its absolute values")
    flat = {name: array.shape for name, array in numeric.items() if array.ndim == 2}
    layers: _NAMED = []
    for name, array in numeric.items():
        if array.ndim == 2:
            layers.append((name, array))
            continue
        axis = _band_axis(path, name, array.shape, set(flat.values()))
        bands = np.moveaxis(array, axis, 0)
        layers.extend((f"{name}_{k}", band) for k, band in enumerate(bands))
    if not layers:
        has = ", ".join(f"{name} of shape {array.shape}" for name, array in held.items())
        raise InputError(
            f"{path} has no layers: numbers in two or three dimensions (it has {has or 'nothing'})"
        )
    return layers, {name: array for name, array in held.items() if name not in numeric}


def _band_axis(path: Path, name: str, shape: tuple[int, ...], flat: set[tuple[int, ...]]) -> int:
    """Return which axis of an array counts its bands, the last or the first."""
    last, first = shape[:2] in flat, shape[1:] in flat
    if last != first:
        return -1 if last else 0
    if shape[0] == shape[-1]:
        raise InputError(
            f"{path}: {name} of shape {shape} may be (H, W, bands) or (bands, H, W); save its "
            "bands as arrays of two dimensions"
        )
    return -1 if shape[-1] < shape[0] else 0


def _check_shapes(path: Path, layers: _NAMED) -> None:
    """Raise if layers differ in shape, with those of each."""
    shapes: dict[tuple[int, ...], list[str]] = {}
    for name, layer in layers:
        shapes.setdefault(layer.shape, []).append(name)
    if len(shapes) > 1:
        listed = "; ".join(f"{', '.join(names)}: {shape}" for shape, names in shapes.items())
        raise InputError(
            f"{path}: all layers must have one shape, and they have {listed}; give names "
            "of some that have, or resample them to one grid"
        )


def _geotiff(path: Path) -> tuple[_NAMED, tuple[tuple[float, ...] | None, str | None]]:
    try:
        import rasterio
        from rasterio.errors import NotGeoreferencedWarning
    except ImportError:
        raise MissingDependencyError(
            "GeoTIFF needs rasterio; pip install relaxboost[rasters]"
        ) from None
    try:
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            # A picture without a place is a fine grid.
            warnings.simplefilter("ignore", NotGeoreferencedWarning)
            with rasterio.open(path, driver="GTiff") as file:
                if any(np.dtype(kind).kind == "c" for kind in file.dtypes):
                    raise InputError(f"{path}: its bands are complex; save their absolute values")
                read = file.read(masked=True).astype(np.float64)
                factors = np.reshape(file.scales, (-1, 1, 1)), np.reshape(file.offsets, (-1, 1, 1))
                values = (read * factors[0] + factors[1]).filled(np.nan)
                names = tuple(
                    said or f"band_{k}" for k, said in enumerate(file.descriptions, start=1)
                )
                placed = None if file.transform.is_identity else tuple(file.transform)[:6]
                crs = file.crs.to_string() if file.crs else None
    except InputError:
        raise
    except Exception as error:  # a damaged file raises GDAL's errors as well as Python's
        raise InputError(
            f"{path}: cannot be read as a GeoTIFF ({error}); get the file again"
        ) from None
    return list(zip(names, values, strict=True)), (placed, crs)
