"""Layers of rasters, from small files written here."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.readers import read_layers
from relaxboost._core.errors import InputError

ELEVATION = np.arange(12, dtype=np.uint16).reshape(3, 4)
BANDS = np.arange(24.0).reshape(2, 3, 4)


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_arrays_of_two_and_three_dimensions(tmp_path):
    path = save(tmp_path / "a.npz", rock=ELEVATION > 3, bands=BANDS, elevation=ELEVATION,
                geo=np.arange(4.0), where=np.array([["a", "b"]]))  # fmt: skip
    layers = read_layers(path)
    assert list(layers) == ["rock", "bands_0", "bands_1", "elevation"]
    assert {(layer.dtype, layer.shape) for layer in layers.values()} == {(np.dtype(float), (3, 4))}
    assert layers["rock"].sum() == 8
    assert np.array_equal(layers["bands_1"], BANDS[1])


def test_an_array_alone(tmp_path):
    np.save(tmp_path / "slope.npy", np.array([[1, np.nan], [2, 3]]))
    layers = read_layers(tmp_path / "slope.npy")
    assert np.isnan(layers.pop("slope")).tolist() == [[False, True], [False, False]]
    assert not layers
    np.save(tmp_path / "cube.npy", BANDS)
    assert list(read_layers(tmp_path / "cube.npy")) == ["cube_0", "cube_1"]


NEEDS = "needs layers, numbers in two or three dimensions, all of one height and width; it has "


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({}, NEEDS + "nothing"),
        ({"geo": np.arange(4)}, NEEDS + "geo of shape (4,)"),
        ({"a": np.zeros((0, 3))}, NEEDS + "a of shape (0, 3)"),
        ({"a": np.array([["x"]])}, NEEDS),
        ({"a": np.zeros((2, 2, 2, 2))}, NEEDS),
        ({"a": np.zeros((2, 3), complex)}, NEEDS),
        ({"a": np.zeros((3, 4, 2))}, "a of shape (3, 4, 2) looks like (H, W, bands); save"),
        (
            {"a": np.zeros((2, 3)), "b": np.zeros((3, 2))},
            NEEDS + "a of shape (2, 3), b of shape (3, 2)",
        ),
        ({"a_0": np.zeros((4, 3)), "a": np.zeros((2, 4, 3))}, "more than one layer 'a_0'"),
        ({"a": np.array([[object()]])}, "cannot be read as an array file of numbers"),
    ],
)
def test_wrong_archives(tmp_path, arrays, said):
    path = save(tmp_path / "wrong.npz", **arrays)
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        read_layers(path)
    assert str(path) in str(raised.value)


def test_files_of_no_use(tmp_path):
    with pytest.raises(InputError, match=r"missing.npz does not exist.*https://opentopography"):
        read_layers(tmp_path / "missing.npz")
    with pytest.raises(InputError, match=r"is a folder.*https://opentopography"):
        read_layers(tmp_path)
    (tmp_path / "a.tif").write_bytes(b"II*\0")
    with pytest.raises(InputError, match=r"a.tif: cannot be read as an array.*numpy.savez"):
        read_layers(tmp_path / "a.tif")
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


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_is_written_is_read(tmp_path, data):
    names = data.draw(
        st.lists(st.from_regex(r"\A[a-z]{1,8}\Z"), min_size=1, max_size=4, unique=True)
    )
    height, width = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    size = len(names) * height * width
    cell = st.one_of(st.just(np.nan), st.floats(allow_infinity=False))
    drawn = data.draw(st.lists(cell, min_size=size, max_size=size))
    values = np.array(drawn).reshape(len(names), height, width)
    path = save(tmp_path / "drawn.npz", **dict(zip(names, values, strict=True)))
    layers = read_layers(path)
    assert list(layers) == names
    assert np.array_equal(list(layers.values()), values, equal_nan=True)
