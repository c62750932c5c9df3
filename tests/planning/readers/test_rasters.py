"""Layers of rasters, from small files written here."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relaxboost._core.errors import InputError, MissingDependencyError
from relaxboost.planning.readers import read_layers

ELEVATION = np.arange(12, dtype=np.uint16).reshape(3, 4)
BANDS = np.arange(24.0).reshape(3, 4, 2)


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def save_tiff(path, bands, descriptions=(), **profile):
    rasterio = pytest.importorskip("rasterio")
    bands = np.asarray(bands)
    scales, offsets = profile.pop("scales", None), profile.pop("offsets", None)
    profile.setdefault("transform", rasterio.Affine(10, 0, 500, 0, -20, 900))
    count, height, width = bands.shape
    with rasterio.open(
        path, "w", driver="GTiff", count=count, height=height, width=width, dtype=bands.dtype,
        **profile,
    ) as file:  # fmt: skip
        file.write(bands)
        for k, said in enumerate(descriptions, start=1):
            file.set_band_description(k, said)
        if scales:
            file.scales, file.offsets = scales, offsets
    return path


def test_arrays_of_two_and_three_dimensions(tmp_path):
    path = save(tmp_path / "a.npz", rock=ELEVATION > 3, bands=BANDS, elevation=ELEVATION,
                geo=np.arange(4.0), where=np.array([["a", "b"]]))  # fmt: skip
    layers = read_layers(path)
    assert layers.names == ("rock", "bands_0", "bands_1", "elevation")
    assert (layers.values.dtype, layers.values.shape) == (np.float64, (4, 3, 4))
    assert layers.values[0].sum() == 8
    assert np.array_equal(layers.values[2], BANDS[..., 1])
    assert (layers.transform, layers.crs) == (None, None)
    some = read_layers(str(path), ["elevation", "bands_0"])
    assert some.names == ("elevation", "bands_0")
    assert np.array_equal(some.values, [ELEVATION, BANDS[..., 0]])
    assert read_layers(path, "rock").names == ("rock",)


@pytest.mark.parametrize(
    ("beside", "shape", "axis"),
    [
        (None, (3, 4, 2), -1),
        (None, (2, 3, 4), 0),
        ((3, 4), (3, 4, 9), -1),
        ((3, 4), (9, 3, 4), 0),
        ((3, 3), (3, 3, 4), -1),
        ((3, 3), (4, 3, 3), 0),
        ((7, 7), (4, 3, 2), -1),
    ],
)
def test_which_axis_counts_the_bands(tmp_path, beside, shape, axis):
    cube = np.random.default_rng(0).random(shape)
    others = {} if beside is None else {"beside": np.zeros(beside)}
    names = [f"cube_{k}" for k in range(shape[axis])]
    layers = read_layers(save(tmp_path / "a.npz", cube=cube, **others), names)
    assert np.array_equal(layers.values, np.moveaxis(cube, axis, 0))


def test_an_array_alone(tmp_path):
    np.save(tmp_path / "slope.npy", np.array([[1, np.nan], [2, 3]]))
    layers = read_layers(tmp_path / "slope.npy")
    assert layers.names == ("slope",)
    assert np.isnan(layers.values).tolist() == [[[False, True], [False, False]]]
    np.save(tmp_path / "cube.npy", BANDS)
    assert read_layers(tmp_path / "cube.npy").names == ("cube_0", "cube_1")


@pytest.mark.parametrize(
    ("arrays", "names", "said"),
    [
        ({}, None, "has no layers: numbers in two or three dimensions (it has nothing)"),
        (
            {"geo": np.arange(4)},
            None,
            "has no layers: numbers in two or three dimensions (it has geo",
        ),
        ({"a": np.zeros((0, 3))}, None, "has no layers"),
        ({"a": np.array([["x"]])}, None, "has no layers"),
        ({"a": np.zeros((2, 2, 2, 2))}, None, "has no layers"),
        ({"a": np.zeros((2, 3), complex)}, None, "a is complex"),
        ({"a": np.zeros((3, 4, 3))}, None, "a of shape (3, 4, 3) may be (H, W, bands) or"),
        ({"b": np.zeros((3, 3)), "a": np.zeros((3, 3, 3))}, None, "a of shape (3, 3, 3) may be"),
        (
            {"a": np.zeros((2, 3)), "b": np.zeros((3, 2)), "c": np.zeros((2, 3))},
            None,
            "all layers must have one shape, and they have a, c: (2, 3); b: (3, 2)",
        ),
        ({"a_0": np.zeros((4, 3)), "a": np.zeros((4, 3, 2))}, None, "more than one layer 'a_0'"),
        ({"a": np.array([[0, 1], [np.inf, 0]])}, None, "a is infinite in row 1, column 0"),
        ({"a": np.array([[0, -np.inf]])}, None, "a is infinite in row 0, column 1"),
        ({"a": ELEVATION}, ["b"], "names are 'b'; they must be different ones of the layers of"),
        ({"a": ELEVATION}, ["a", "a"], "names are 'a', 'a'; they must be different"),
        ({"a": ELEVATION}, [], "names are none; they must be"),
        ({"a": np.array([[object()]])}, None, "cannot be read as an array file of numbers"),
    ],
)
def test_wrong_archives(tmp_path, arrays, names, said):
    path = save(tmp_path / "wrong.npz", **arrays)
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        read_layers(path, names)
    assert str(path) in str(raised.value)


def test_files_of_no_use(tmp_path):
    with pytest.raises(InputError, match=r"missing.tif does not exist.*https://opentopography"):
        read_layers(tmp_path / "missing.tif")
    with pytest.raises(InputError, match=r"is a folder.*https://opentopography"):
        read_layers(tmp_path)
    (tmp_path / "a.png").touch()
    with pytest.raises(InputError, match=r"a.png must end in one of .npz, .npy, .tif, .tiff"):
        read_layers(tmp_path / "a.png")
    whole = save(tmp_path / "whole.npz", a=ELEVATION).read_bytes()
    for name in ("wrong.npz", "wrong.npy"):
        for content in (b"", b"elevation\n", whole[: len(whole) // 2]):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(InputError, match=f"{name}: cannot be read as an array file"):
                read_layers(tmp_path / name)
    np.save(tmp_path / "a.npy", ELEVATION)
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-3])
    with pytest.raises(InputError, match=r"a.npy: cannot be read"):
        read_layers(tmp_path / "a.npy")


def test_a_geotiff(tmp_path):
    bands = np.array([ELEVATION, ELEVATION * 2, ELEVATION], dtype=np.float32)
    bands[1, 0, 1] = -9999
    bands[2, 2, 3] = np.nan
    path = save_tiff(
        tmp_path / "a.tif", bands, ["elevation", "slope"], nodata=-9999, crs="EPSG:32717"
    )
    layers = read_layers(path)
    assert layers.names == ("elevation", "slope", "band_3")
    assert layers.values.dtype == np.float64
    assert type(layers.values) is np.ndarray
    wanted = bands.astype(float)
    wanted[1, 0, 1] = np.nan
    assert np.array_equal(layers.values, wanted, equal_nan=True)
    assert layers.transform == (10, 0, 500, 0, -20, 900)
    assert layers.crs == "EPSG:32717"
    assert read_layers(path, ["band_3", "slope"]).names == ("band_3", "slope")
    with pytest.raises(InputError, match=r"names are 'ndvi'.*'elevation', 'slope', 'band_3'"):
        read_layers(path, ["ndvi"])


def test_a_geotiff_of_whole_numbers_without_a_place(tmp_path):
    rasterio = pytest.importorskip("rasterio")
    with pytest.warns(rasterio.errors.NotGeoreferencedWarning):
        path = save_tiff(
            tmp_path / "A.TIFF", [ELEVATION], nodata=0, transform=rasterio.Affine.identity()
        )
    layers = read_layers(path)
    assert np.isnan(layers.values).sum() == 1
    assert np.nansum(layers.values) == 66
    assert (layers.names, layers.transform, layers.crs) == (("band_1",), None, None)


def test_scales_and_offsets_are_applied(tmp_path):
    path = save_tiff(
        tmp_path / "a.tif", [ELEVATION, ELEVATION], scales=(0.5, 1), offsets=(-10, 0), nodata=3
    )
    values = read_layers(path).values
    assert values[0, 1].tolist() == [-8, -7.5, -7, -6.5]
    assert np.isnan(values).sum() == 2
    assert values[1, 1, 0] == 4


def test_wrong_geotiffs(tmp_path):
    path = save_tiff(tmp_path / "a.tif", np.random.default_rng(0).random((2, 50, 50)))
    content = path.read_bytes()
    for wrong in (b"", b"II*\0", content[: len(content) // 2], b"a text\n"):
        path.write_bytes(wrong)
        with pytest.raises(InputError, match=r"a.tif: cannot be read as a GeoTIFF"):
            read_layers(path)
    save_tiff(path, np.full((1, 2, 2), np.inf))
    with pytest.raises(InputError, match="band_1 is infinite in row 0, column 0"):
        read_layers(path)
    save_tiff(path, np.ones((1, 2, 2), np.complex64))
    with pytest.raises(InputError, match="band_1 is complex"):
        read_layers(path)
    save_tiff(path, np.ones((2, 2, 2)), ["a", "a"])
    with pytest.raises(InputError, match="more than one layer 'a'"):
        read_layers(path)


def test_without_rasterio(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rasterio", None)
    (tmp_path / "a.tif").touch()
    with pytest.raises(MissingDependencyError, match=r"pip install '.\[rasters\]'"):
        read_layers(tmp_path / "a.tif")
    assert read_layers(save(tmp_path / "a.npz", a=ELEVATION)).names == ("a",)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), tiff=st.booleans())
def test_what_is_written_is_read(tmp_path, data, tiff):
    names = data.draw(
        st.lists(st.from_regex(r"\A[a-z]{1,8}\Z"), min_size=1, max_size=4, unique=True)
    )
    height, width = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    size = len(names) * height * width
    cell = st.one_of(st.just(np.nan), st.floats(allow_infinity=False))
    drawn = data.draw(st.lists(cell, min_size=size, max_size=size))
    values = np.array(drawn).reshape(len(names), height, width)
    if tiff:
        path = save_tiff(tmp_path / "drawn.tif", values, names, nodata=np.nan)
    else:
        path = save(tmp_path / "drawn.npz", **dict(zip(names, values, strict=True)))
    layers = read_layers(path)
    assert layers.names == tuple(names)
    assert np.array_equal(layers.values, values, equal_nan=True)
