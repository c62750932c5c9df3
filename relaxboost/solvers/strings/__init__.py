"""Taut strings: first-order steps on all stumps, with the cuts of each feature solved exactly."""
