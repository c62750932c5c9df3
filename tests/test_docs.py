"""What the README and the guide show is what happens."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?"


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), re.DOTALL)


def section(match: re.Match) -> str:
    """Return what a snippet line of the documentation stands for."""
    path, name = match.groups()
    text = (ROOT / path).read_text()
    return text.split(f"[start:{name}]\n")[1].split(f"# --8<-- [end:{name}]")[0]


def sessions(path: Path) -> list[tuple[str, str | None]]:
    """Return the python blocks of a page, each with the output shown after it, or None."""
    text = re.sub(r'--8<-- "([^":]+):(\w+)"', section, path.read_text())
    pattern = r"```python\n(.*?)```(?:\n\n```\n(.*?)```)?"
    return [(code, shown or None) for code, shown in re.findall(pattern, text, re.DOTALL)]


def run_page(path: Path, module: types.ModuleType) -> list[tuple[str, str | None, str]]:
    """Run the blocks of a page one after the other; return (code, shown, printed) for each."""
    result = []
    for code, shown in sessions(path):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, path.name, "exec"), vars(module))
        result.append((code, shown, out.getvalue()))
    return result


def test_readme_example_prints_what_it_shows():
    code = blocks(ROOT / "README.md", "python")
    assert len(code) == 1
    lines = [line for line in code[0].splitlines() if line.strip()]
    assert len(lines) <= 15
    shown = re.search(
        r"```python\n.*?```\n\n```\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code[0]], capture_output=True, text=True, check=True
    )
    assert result.stdout == shown.group(1)
    assert result.stderr == ""


def test_readme_commands_work(tmp_path):
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text
    commands = re.findall(r"^relaxboost (solve --dataset .*)$", text, re.MULTILINE)
    assert commands
    for command in commands:
        result = subprocess.run(
            [sys.executable, "-m", "relaxboost", *command.split()],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=True,
        )
        assert "<= rho <=" in result.stdout


def test_guide_examples_run():
    code = "\n".join(blocks(ROOT / "docs" / "guide.md", "python"))
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    agreement, lower, accuracy, *conditions, bracket = result.stdout.splitlines()
    assert float(accuracy) > 0.98
    assert "agree: 0.4333" in agreement
    assert float(lower) > 0.0
    assert [row.split()[0] for row in conditions] == ["(i)", "(ii)", "(iii)"]
    assert "<= rho <=" in bracket


def test_guide_bracket_is_as_shown():
    import relaxboost as rb

    game = rb.Game([[0.5, 0.9], [-0.7, 0.3]])
    text = (ROOT / "docs" / "guide.md").read_text()
    shown = re.search(r"# \((0\.\d+), (0\.\d+)\)", text)
    # The last digits depend on whether the machine fuses multiplication and addition.
    assert game.bracket([2, 7], [-1, 2]) == pytest.approx(
        tuple(map(float, shown.groups())), abs=4e-15
    )


@pytest.mark.parametrize("page", ["relaxations.md", "prototyping.md"])
def test_pages_print_what_they_show(page, monkeypatch):
    module = types.ModuleType("a_page")
    monkeypatch.setitem(sys.modules, "a_page", module)  # so that its classes can be pickled
    ran = run_page(ROOT / "docs" / page, module)
    assert len(ran) > 5
    for code, shown, printed in ran:
        assert (shown is None) == (printed == ""), f"shown {shown!r}, printed {printed!r} by {code}"
        # The last digits of what a solver finds are its own.
        assert re.sub(NUMBER, "#", printed) == re.sub(NUMBER, "#", shown or ""), code
        numbers = [list(map(float, re.findall(NUMBER, text))) for text in (printed, shown or "")]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-4, abs=2e-5), code


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *sorted(p.name for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(page):
    path = ROOT / page if (ROOT / page).exists() else ROOT / "docs" / page
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{page} links to {target}"
    for name in re.findall(r"`((?:tests|docs|benchmarks|examples)/[\w/]+\.\w+)`", path.read_text()):
        assert (ROOT / name).exists(), f"{page} names {name}"


def test_the_demo_runs_and_draws(tmp_path):
    picture = tmp_path / "demo.png"
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "breast_cancer.py"), str(picture)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.count("all 6 brackets overlap: True") == 2
    assert "0.142938287812 <= rho <= 0.142938287813" in result.stdout
    assert "0.168663002143 <= rho <= 0.168663002144" in result.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
