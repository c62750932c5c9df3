"""The generator of the pages and pictures about claims, which runs when mkdocs builds."""
