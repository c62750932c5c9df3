"""Base functions, example streams, and progressive learning."""
