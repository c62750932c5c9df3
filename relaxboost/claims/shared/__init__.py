"""The mathematics that several sources share. The engine that checks claims does not use it."""
