"""Named classes are found by their names, and no name stands for two."""

from __future__ import annotations

import pytest

from relaxboost import InputError
from relaxboost._core.registry import Registry


def test_classes_enter_by_a_name_of_their_own():
    known: Registry = Registry("colour")

    class Base:
        name = ""

        def __init_subclass__(cls):
            known.add(cls)

    class Red(Base):
        name = "red"

    class Dark(Red):
        pass

    assert known == {"red": Red}

    def again():
        class Blue(Base):
            name = "blue"

        return Blue

    first, second = again(), again()
    assert first is not second
    assert known["blue"] is second  # a cell of a notebook that was run twice

    with pytest.raises(InputError, match=r"colour 'red' is already .*Red; give .*Crimson another"):

        class Crimson(Base):
            name = "red"

    assert known["red"] is Red
