"""Instance spaces of claims. A space draws, changes, simplifies and writes instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.claims.fields import Field, Rng, Whole
from relaxboost.claims.instance import Instance

Values: TypeAlias = dict[str, Any]


class Space:
    """The instance space of a claim: the fields, and the ranges of the shared sizes.

    An example is ``Space(A=Matrix(), k=Whole(1, "m"))``.

    Parameters
    ----------
    sizes : mapping, optional
        The size range (least, largest) of drawn instances, by axis name. By default m is in 1..8
        and n in 1..6.
    **fields : Field
        The fields by name. Each is a `Matrix`, `Vector`, `Distribution`, `Weights`, `Real`, `Whole`
        or `Choice`.
    """

    def __init__(self, sizes: Mapping[str, tuple[int, int]] | None = None, **fields: Field) -> None:
        axes = _axes_of(fields)
        self.fields = fields
        self.first: list[Values] = []
        usual = {"m": (1, 8), "n": (1, 6)}
        self.sizes = {axis: (sizes or {}).get(axis, usual.get(axis, (1, 8))) for axis in axes}
        if unknown := set(sizes or {}) - axes:
            raise InputError(
                f"no field has an axis {', '.join(sorted(unknown))}. The axes are "
                f"{', '.join(sorted(axes)) or 'none'}"
            )
        for axis, size in self.sizes.items():
            if np.shape(size) != (2,) or not 1 <= size[0] <= size[1]:
                raise InputError(
                    f"sizes need 1 <= least <= largest, as pairs (least, largest), got {size} "
                    f"for {axis}"
                )

    def but(self, sizes: Mapping[str, tuple[int, int]] | None = None, **fields: Field) -> Space:
        """Return a copy of the space with other sizes, and with replaced or additional fields."""
        return Space(self.sizes if sizes is None else sizes, **{**self.fields, **fields})

    def including(self, *instances: Mapping[str, Any]) -> Space:
        """Return a copy of the space that draws the given instances first.

        The instances are in the format of `to_json`.
        """
        found = self.but()
        found.first = [self.from_json(written) for written in instances]
        return found

    def draw(self, rng: Rng, number: int = 0) -> Values:
        """Return the instance with the given number.

        The instances from `including` come first, and all others are random. Every third instance
        has a special form, at which inequalities tend to be tight. Instances with low numbers are
        small.
        """
        if number < len(self.first):
            return dict(self.first[number])
        sizes = {}
        for axis, (least, most) in sorted(self.sizes.items()):
            grown = least + round((most - least) * min(1.0, 0.3 + number / 20.0))
            sizes[axis] = int(rng.integers(least, max(least, grown) + 1))
        structured = number % 3 == 2
        values: Values = {}
        for name, field in self.fields.items():
            make = field.structured if structured else field.random
            values[name] = make(rng, {**sizes, **_numbers(values)})
        return values

    def neighbour(self, rng: Rng, values: Values) -> Values:
        """Return a random instance that differs from the given one in one field, row or column."""
        axes = sorted(self.sizes)
        if axes and rng.random() < 0.2:
            axis = axes[int(rng.integers(len(axes)))]
            least, most = self.sizes[axis]
            size = self.size(values, axis)
            if rng.random() < 0.5 and size > least:
                return self.without(values, axis, int(rng.integers(size)))
            if size < most:
                at = int(rng.integers(size))
                fields = self.fields.items()
                return self._repaired({n: f.doubled(values[n], axis, at) for n, f in fields})
        names = [name for name, field in self.fields.items() if field.varies]
        if not names:
            return values
        name = names[int(rng.integers(len(names)))]
        sizes = {**self._sizes(values), **_numbers(values)}
        near = self.fields[name].changed(rng, values[name], sizes)
        return self._repaired({**values, name: near})

    def smaller(self, values: Values) -> Iterator[Values]:
        """Yield simpler instances than the given one.

        Instances with fewer rows or columns come first, and instances with fewer digits follow.
        """
        for axis in sorted(self.sizes):
            size = self.size(values, axis)
            if size > self.sizes[axis][0]:
                for at in range(size):
                    fewer = self.without(values, axis, at)
                    yield fewer
                    # A condition such as k <= m − 2 needs a smaller k too.
                    for name in self._lowered(fewer):
                        yield self._repaired({**fewer, name: fewer[name] - 1})
        for name, field in self.fields.items():
            for simpler in field.simpler(values[name]):
                yield self._repaired({**values, name: simpler})

    def without(self, values: Values, axis: str, at: int) -> Values:
        """Return a copy of the instance without entry `at` of an axis, such as a row."""
        fields = self.fields.items()
        return self._repaired({n: field.fewer(values[n], axis, at) for n, field in fields})

    def size(self, values: Values, axis: str) -> int:
        """Return the size of an instance along an axis, e.g. its number of rows."""
        return self._sizes(values)[axis]

    def complexity(self, values: Values) -> float:
        """Return the length of an instance: the total length of its fields.

        The length of a number is its number of characters.
        """
        return sum(field.length(values[name]) for name, field in self.fields.items())

    def to_json(self, values: Values) -> dict[str, Any]:
        """Return an instance in a form that JSON can store: a dictionary with the data of each
        field.

        Short fractions become strings such as "1/10".
        """
        return {name: field.to_json(values[name]) for name, field in self.fields.items()}

    def from_json(self, written: Mapping[str, Any]) -> Values:
        """Return the instance for data in the format of `to_json`."""
        if not isinstance(written, Mapping):
            raise InputError(f"an instance must be a mapping from names to values, got {written!r}")
        if missing := set(self.fields) ^ set(written):
            raise InputError(
                f"an instance of this claim must have exactly the fields {', '.join(self.fields)}. "
                f"Missing or unknown: {', '.join(sorted(missing))}"
            )
        values = {name: _read(name, field, written[name]) for name, field in self.fields.items()}
        for name, near in self._repaired(values).items():
            if self.fields[name].strict and not np.allclose(near, values[name], 1e-9, 1e-12):
                raise InputError(
                    f"{name} = {written[name]!r} is outside its range. The nearest valid value is "
                    f"{self.fields[name].to_json(near)!r}"
                )
        return values

    def _sizes(self, values: Values) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for name, field in self.fields.items():
            for axis, size in field.extents(values[name]).items():
                if sizes.setdefault(axis, size) != size:
                    raise InputError(
                        f"all fields must have the same size along {axis}, but {name} has {size} "
                        f"entries and another field has {sizes[axis]}"
                    )
        return sizes

    def _lowered(self, values: Values) -> list[str]:
        sizes = {**self._sizes(values), **_numbers(values)}
        return [
            name
            for name, field in self.fields.items()
            if isinstance(field, Whole) and field.repaired(values[name] - 1, sizes) < values[name]
        ]

    def _repaired(self, values: Values) -> Values:
        sizes = self._sizes(values)
        repaired: Values = {}
        for name, field in self.fields.items():
            repaired[name] = field.repaired(values[name], {**sizes, **_numbers(repaired)})
        return repaired


def checked_space(id: str, given: object) -> Space:
    """Return the argument `space` of the claim `id`. Raise an InputError if it is not a `Space`."""
    if isinstance(given, Space):
        return given
    raise InputError(
        f"{id}: space must be a Space, got a {type(given).__name__}; write, for example, "
        "space=Space(A=Matrix())"
    )


def _axes_of(fields: Mapping[str, Any]) -> set[str]:
    """Return the axis names of the fields.

    Raise an InputError if a field or its name is invalid.
    """
    for name, field in fields.items():
        if not isinstance(field, Field):
            raise InputError(
                f"{name} must be a field, such as Matrix() or Real(0, 1), got {field!r}"
            )
        if hasattr(Instance, name):
            raise InputError(
                f"a field must not be called {name!r}, because every instance has an attribute of "
                "this name. Rename the field"
            )
    axes = {axis for field in fields.values() for axis in field.axes}
    known = axes | set(fields)
    for name, field in fields.items():
        bounds = (field.low, field.high) if isinstance(field, Whole) else ()
        unknown = [bound for bound in bounds if isinstance(bound, str) and bound not in known]
        if unknown:
            raise InputError(
                f"the bound {unknown[0]!r} of {name} must be a number, an axis or a field. The "
                f"names are {', '.join(sorted(known))}"
            )
    return axes


def _read(name: str, field: Field, written: Any) -> Any:
    try:
        value = field.from_json(written)
    except (InputError, ValueError, TypeError, ArithmeticError) as error:
        raise InputError(f"{name} = {written!r} cannot be read: {error}") from None
    if not isinstance(value, str) and np.isnan(value).any():
        raise InputError(f"{name} = {written!r} cannot be read: nan is not allowed")
    return value


def _numbers(values: Values) -> dict[str, Any]:
    return {name: value for name, value in values.items() if isinstance(value, (int, float))}
