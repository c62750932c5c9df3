"""Readers of public data sets in the formats they are published in, from a folder of the user's."""

from relaxboost.readers.labelled import LABELLED, Labelled, read_labelled
from relaxboost.readers.places import ENVIRONMENT, SOURCES, data_folder
from relaxboost.readers.ranked import RANKED, Ranked, concatenated, read_fold, read_ranked

__all__ = [
    "ENVIRONMENT",
    "LABELLED",
    "RANKED",
    "SOURCES",
    "Labelled",
    "Ranked",
    "concatenated",
    "data_folder",
    "read_fold",
    "read_labelled",
    "read_ranked",
]
