"""Errors planted in true statements, of which `check` alone has to refute nearly all."""
