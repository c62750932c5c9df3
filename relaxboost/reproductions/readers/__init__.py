"""Readers of public data sets for learning, labelled and ranked, from a folder of the user's."""

from relaxboost.reproductions.readers.labelled import LABELLED, Labelled, read_labelled
from relaxboost.reproductions.readers.ranked import (
    RANKED,
    Ranked,
    concatenated,
    read_fold,
    read_ranked,
)

__all__ = [
    "LABELLED",
    "RANKED",
    "Labelled",
    "Ranked",
    "concatenated",
    "read_fold",
    "read_labelled",
    "read_ranked",
]
