#!/usr/bin/env -S uv run --script

# /// script
# dependencies = ["nox>=2025.10.14"]
# ///
"""The commands of the Makefile in environments of nox, and the tests for each version of Python."""

from __future__ import annotations

import nox

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "uv|virtualenv"


@nox.session(python="3.11")
def check(session: nox.Session) -> None:
    """Run ruff and mypy, as `make check` does."""
    session.install("-e", ".[test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Run the tests, or those that arguments after `--` name."""
    session.install("-e", ".[test]")
    arguments = session.posargs or ["--numprocesses", "2", "--dist", "worksteal"]
    session.run("python", "-m", "pytest", *arguments)


@nox.session(python="3.12", default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation into site/, as `make docs` does."""
    session.install("-e", ".[docs]")
    session.run("mkdocs", "build", "--strict")


@nox.session(default=False)
def review(session: nox.Session) -> None:
    """Review this repository, as `make review` does."""
    session.install(*nox.project.dependency_groups(nox.project.load_toml(), "review"))
    session.run("repo-review", ".")
    session.run("zizmor", "--offline", ".")
    session.run("cffconvert", "--validate")


@nox.session(default=False)
def release(session: nox.Session) -> None:
    """Build the wheel and the sdist and use each, as `make release-check` does."""
    session.run("python", ".ci/release_check.py")


if __name__ == "__main__":
    nox.main()
