"""The mathematics that several sources share; the engine of claims does not use it."""
