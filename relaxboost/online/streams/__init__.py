"""Base functions, streams of examples, and progressive learning from streams."""
