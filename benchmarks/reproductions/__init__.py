"""Experiments of papers, run again on the public data: GB11's Figs. 1 to 3."""

from benchmarks.reproductions.experiments import EXPERIMENTS, DataSplit, Experiment, Half
from benchmarks.reproductions.reproducing import Effort, Outcome, reproduce

__all__ = ["EXPERIMENTS", "DataSplit", "Effort", "Experiment", "Half", "Outcome", "reproduce"]
