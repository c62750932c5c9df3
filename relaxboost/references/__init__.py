"""Games to test solvers against: their optimum is known, or proved."""

from relaxboost.references.planting import Plant, plant, planted

__all__ = ["Plant", "plant", "planted"]
