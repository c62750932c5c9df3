"""Experiments of papers, run again on the public data: GB11's Figs. 1 to 3."""

from relaxboost.reproductions.experiments import EXPERIMENTS, DataSplit, Experiment, Half
from relaxboost.reproductions.reproducing import Effort, Outcome, reproduce

__all__ = ["EXPERIMENTS", "DataSplit", "Effort", "Experiment", "Half", "Outcome", "reproduce"]
