"""Experiments of papers, run again on the public data: GB11's Figs. 1 to 3."""

from relaxboost.reproductions.experiments import EXPERIMENTS, Experiment, Half, Problem
from relaxboost.reproductions.reproducing import Outcome, reproduce

__all__ = ["EXPERIMENTS", "Experiment", "Half", "Outcome", "Problem", "reproduce"]
