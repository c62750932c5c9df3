"""Reruns of published experiments on public data: Figs. 1 to 3 of Grubb & Bagnell (2011)."""

from benchmarks.reproductions.experiments import EXPERIMENTS, DataSplit, Experiment, Half
from benchmarks.reproductions.reproducing import Effort, Outcome, reproduce

__all__ = ["EXPERIMENTS", "DataSplit", "Effort", "Experiment", "Half", "Outcome", "reproduce"]
