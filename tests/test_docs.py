"""What the README and the guide show is what happens."""

from __future__ import annotations

import ast
import contextlib
import doctest
import inspect
import io
import json
import pkgutil
import re
import shlex
import subprocess
import sys
import textwrap
import types
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import relaxboost as rb
from docs import family_tables
from docs.hooks import gallery, reference, scripts
from docs.hooks.claim_pages.pages import details_of, file_of
from relaxboost.certificates import check, check_enclosed
from relaxboost.commands.cli import main
from relaxboost.instances import generators
from relaxboost.relaxations.bounds import level_of
from relaxboost.solvers import METHODS, Method

ROOT = Path(__file__).parent.parent
MOST_WORDS = 30_000  # of prose in the pages of docs, but for the generated page suite.md
NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?"


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), re.DOTALL)


def run_console(path: Path, block: str) -> None:
    """Run the commands of a block, and check that they print the lines below them, in order.

    A line that ends with a backslash continues on the next line.
    """
    block = re.sub(r" *\\\n *", " ", block)
    for given in re.split(r"^\$ relaxboost ", block, flags=re.MULTILINE)[1:]:
        command, *shown = given.splitlines()
        out = io.StringIO()
        redirected = contextlib.redirect_stdout(out), contextlib.redirect_stderr(out)
        with redirected[0], redirected[1], contextlib.suppress(SystemExit):
            main(shlex.split(command))
        printed = iter(out.getvalue().splitlines())
        for line in shown:
            assert any(agree(one, line) for one in printed), (path.name, line, out.getvalue())


def agree(printed: str, shown: str) -> bool:
    """Return whether two texts are equal but for the last digits of numbers."""
    if re.sub(NUMBER, "#", printed) != re.sub(NUMBER, "#", shown):
        return False
    for one, other in zip(*(re.findall(NUMBER, text) for text in (printed, shown)), strict=True):
        unit = 10.0 ** Decimal(other).as_tuple().exponent if "." in other else 0.0
        close = {"rel": 1e-4, "abs": max(2e-5, 1.01 * unit)}
        if float(one) != pytest.approx(float(other), **close):
            return False
    return True


def run_page(path: Path, module: types.ModuleType) -> list[tuple[str, str | None, str]]:
    """Run the blocks of a page one after the other; return (code, shown, printed) for each.

    A block with a title is added to the file of this name instead. The blocks of commands are
    run and checked, too.
    """
    result = []
    pattern = r"```(\w+)(?: title=\"([\w.]+)\")?\n(.*?)```(?:\n\n```\n(.*?)```)?"
    for language, title, code, shown in re.findall(pattern, path.read_text(), re.DOTALL):
        if title:
            with Path(title).open("a", encoding="utf-8") as file:
                file.write(code)
        elif language == "console":
            run_console(path, code)
        elif language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(code, path.name, "exec", dont_inherit=True), vars(module))
            result.append((code, shown or None, out.getvalue()))
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


@pytest.mark.parametrize("name", gallery.NAMES)
def test_the_gallery_draws_what_it_shows(name, monkeypatch, tmp_path):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    title, sentences, code = gallery.parts(name)
    assert title
    assert sentences.endswith(".")
    assert len(code.splitlines()) <= 40
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(code, f"{name}.py", "exec", dont_inherit=True), vars(types.ModuleType(name)))
    plt.close("all")
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.png"]


def test_the_gallery_shows_every_script_and_every_picture():
    listed = sorted(gallery.NAMES)
    assert listed == sorted(path.stem for path in gallery.SCRIPTS.glob("*.py"))
    kept = {path.stem: path.stat().st_size for path in (ROOT / "docs/images/gallery").iterdir()}
    assert sorted(kept) == listed
    assert max(kept.values()) <= 45_000
    assert sum(kept.values()) <= 500_000


def test_the_pictures_of_the_pages_stay_small():
    pictures = [path for path in (ROOT / "docs/images").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in pictures) <= 1_100_000


def tables_without_a_blank_line(text: str) -> list[str]:
    """Return the first row of each table that follows another line, which breaks the table."""
    found, before, in_code = [], "", False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
        is_row, follows = line.lstrip().startswith("|"), before.strip()
        if is_row and follows and not follows.startswith("|") and not in_code:
            found.append(line)
        before = line
    return found


MARKDOWN = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"),
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "relaxboost" / "certificates" / "FORMAT.md",
]


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: path.stem)
def test_a_table_of_a_page_has_a_blank_line_before_it(path):
    assert tables_without_a_blank_line(path.read_text(encoding="utf-8")) == []


def test_a_table_right_after_a_sentence_is_found():
    table = "| a |\n|---|\n| 1 |\n"
    assert tables_without_a_blank_line(f"A sentence.\n{table}") == ["| a |"]
    assert tables_without_a_blank_line(f"A sentence.\n\n{table}") == []
    assert tables_without_a_blank_line(f"```\n| no table\n```\n\n{table}") == []


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: path.stem)
def test_a_line_with_an_anchor_has_no_other_braces(path):
    """Markdown takes all from the first to the last brace of a line for the attributes."""
    for line in path.read_text(encoding="utf-8").splitlines():
        text = re.sub(r"`+[^`]*`+|\$[^$]*\$", "", line)
        assert "{#" not in text or text.count("{") == text.count("}") == 1, line


def test_all_pages_can_be_read():
    pages = set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "suite.md"}
    count = sum(map(words, pages))
    assert count <= MOST_WORDS, (
        f"the prose has {count} words, and MOST_WORDS in tests/test_docs.py allows {MOST_WORDS}: "
        f"cut {count - MOST_WORDS} words where pages repeat each other"
    )


def test_the_booster_of_the_reference_solves_a_game_by_its_name(monkeypatch):
    """CONTRIBUTING sends maintainers to the docstring of `Method`."""
    code = "".join(one.source for one in doctest.DocTestParser().get_examples(Method.__doc__))
    module = types.ModuleType("a_booster")
    monkeypatch.setitem(sys.modules, "a_booster", module)  # where dataclasses look types up
    exec(compile(code, "Method", "exec", dont_inherit=True), vars(module))
    monkeypatch.setitem(METHODS, "fictitious-play", None)  # the name is removed after the test
    del METHODS["fictitious-play"]
    named = type("Named", (module.FictitiousPlay,), {"name": "fictitious-play"})
    assert METHODS["fictitious-play"] is named
    found = rb.solve(module.game, 0.1, "fictitious-play", max_rounds=2000)
    value = rb.solve(module.game, 1e-6)
    assert found.lower <= value.upper
    assert found.upper >= value.lower
    assert found.gap <= 0.1
    assert {record.inner for record in found.history} == {"fictitious"}


def test_the_generator_of_contributing_makes_a_matrix(monkeypatch):
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (code,) = re.findall(r"^ {8}def ternary.*\n(?: {8}.*\n)+", text, re.MULTILINE)
    names = dict(vars(generators))
    exec(compile(textwrap.dedent(code), "CONTRIBUTING.md", "exec", dont_inherit=True), names)
    assert "in `_MAKERS` below it" in text
    assert [make.__name__ for make in generators._MAKERS] == [*generators._KINDS]
    monkeypatch.setitem(generators._KINDS, "ternary", names["ternary"])
    assert {*generators.generate("ternary", 9, 9, 0).flat} == {-1.0, 0.0, 1.0}


def test_the_docstring_of_inner_explains_every_word():
    text = (ROOT / "relaxboost" / "game" / "solution.py").read_text()
    (record,) = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and node.name == "RoundRecord"
    ]
    (place,) = [
        i
        for i, node in enumerate(record.body)
        if isinstance(node, ast.AnnAssign) and node.target.id == "inner"
    ]
    explained = record.body[place + 1].value.value
    assigned = [
        line
        for path in (ROOT / "relaxboost" / "solvers").rglob("*.py")
        for line in re.findall(r"^ +(?:self\.)?inner = (.*)$", path.read_text(), re.MULTILINE)
    ]
    used = set(re.findall(r'"([\w-]+)"', " ".join(assigned)))
    assert {"start", "lp", "conic", "hedge"} <= used
    missing = sorted(word for word in used if f'"{word}"' not in explained)
    assert not missing, f"the docstring of RoundRecord.inner in game/solution.py lacks {missing}"


def test_the_bracket_of_the_page_of_the_game_encloses_its_value_closely():
    lower, upper = rb.Game([[0.5, 0.9], [-0.7, 0.3]]).bracket([2, 7], [-1, 2])
    assert lower <= 13 / 30 <= upper
    assert upper - lower <= 8e-15


FRONT_DOORS = [
    "theorem.md", "my_relaxation.md", "my_solver.md", "routes.md", "online_tutorial.md",
    "choose.md", "verify.md", "x_and_y.md",
]  # fmt: skip
PAGES = [
    *FRONT_DOORS, "boosters.md", "game.md", "methods.md", "large_data.md", "resume.md", "trace.md",
    "relaxations.md", "conditions.md", "certificates.md", "instances.md", "ensembles.md",
    "scikit_learn.md", "checking-claims.md", "own_claim.md", "worst_case.md", "export.md",
    "custom_loss.md", "custom_learner.md", "custom_proxy.md", "faster_relaxation.md",
    "functional.md", "losses.md", "online.md", "online_learners.md", "planning.md",
    "path_costs.md", "portfolios.md", "questions.md", "index.md",
]  # fmt: skip


def words(path: Path) -> int:
    """Return the number of words of prose of a page: no code, table, formula, quotation or markup.

    A new row, option or example shortens no sentence elsewhere.
    """
    text = path.read_text(encoding="utf-8")
    for not_prose in (
        r"^ *```.*?^ *```",
        r"\$\$.*?\$\$",
        r"\$[^$\n]+\$",
        r"^ *\|[^\n]*",
        r"^ *>[^\n]*",  # a quotation of a paper
        r"\A---\n.*?^---",
        r"<!--.*?-->",
        r"\{#[^}]*\}",  # an anchor
        r"(?<=\])\([^)]*\)",  # the target of a link
    ):
        text = re.sub(not_prose, "", text, flags=re.DOTALL | re.MULTILINE)
    return len(re.findall(r"\S*\w\S*", text))


def test_only_prose_counts_as_words(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "---\nhide: x\n---\none\n\n<!--losses-->\n\n| a | b |\n|---|---|\n| C | d e |\n\n"
        "<!--end-->\n\ntwo $a + b$\n\n```python\nx = 3\n```\n\n$$a + b$$\n\n"
        "* [three](there.md)\n\n  ```\n  no\n  ```\n\n## four {#fourth}\n"
    )
    assert words(page) == 4


@pytest.mark.parametrize("page", FRONT_DOORS)
def test_front_doors_are_one_page_each_and_linked(page):
    most = 900 if page == "x_and_y.md" else 700
    assert words(ROOT / "docs" / page) <= most
    assert page in (ROOT / "README.md").read_text()
    assert page in (ROOT / "docs" / "index.md").read_text()


def test_the_first_screen_of_the_readme():
    text = (ROOT / "README.md").read_text()
    assert len(text.split("![")[0].split()) <= 300
    assert len(re.findall(r"^\|", text, re.MULTILINE)) <= 12  # ten rows


def test_the_example_of_the_format_of_certificates_is_accepted(tmp_path):
    (example,) = blocks(ROOT / "relaxboost" / "certificates" / "FORMAT.md", "json")
    (tmp_path / "example.json").write_text(example)
    found = rb.check_certificate(tmp_path / "example.json")
    assert found.ok
    assert found.lower == found.upper == Fraction(1, 4)


def test_the_checker_knows_the_example_of_each_kind_in_the_format():
    """Each example is for m = 3, as the page says, so the checker can evaluate it."""
    text = (ROOT / "relaxboost" / "certificates" / "FORMAT.md").read_text(encoding="utf-8")
    examples = [
        json.loads(line) for line in re.findall(r'^    (\{"kind": .*\})$', text, re.MULTILINE)
    ]
    real = check_enclosed.balls(64, check)
    assert {example["kind"] for example in examples} == {*real.kinds, "scaled", "sum"}
    for example in examples:
        f, _ = check.relaxation(check.Fields(example, "example"), 3, real)
        assert f([Fraction(1, 3)] * 3, None) >= 0, example


def test_the_trace_is_explained_in_a_page():
    assert words(ROOT / "docs" / "trace.md") <= 500


@pytest.mark.parametrize("page", PAGES)
def test_pages_print_what_they_show(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where a page may write files
    module = types.ModuleType("a_page")
    monkeypatch.setitem(sys.modules, "a_page", module)  # so that its classes can be pickled
    ran = run_page(ROOT / "docs" / page, module)
    assert ran
    for code, shown, printed in ran:
        assert (shown is None) == (printed == ""), f"shown {shown!r}, printed {printed!r} by {code}"
        assert agree(printed, shown or ""), f"shown {shown!r}, printed {printed!r} by {code}"


OURS = {"Automatic", "FullyCorrective", "InteriorPoint"}  # of no paper, and without a guarantee


@pytest.mark.parametrize("name", sorted(family_tables.EXPORTED.keys() - OURS))
def test_pages_have_the_guarantee_and_the_paper_of_every_published_method(name):
    stored = family_tables.word(family_tables.EXPORTED[name])
    guarantees = (ROOT / "docs" / "methods.md").read_text().split("{#guarantees}")[1]
    assert f"| {stored} |" in guarantees, f"docs/methods.md needs the guarantee of {name}"
    assert f"`{name}`" in (ROOT / "paper.bib").read_text(), f"add the paper of {name} to paper.bib"


SYMMETRIC = ("HardMargin", "Capped", "NormBall", "ChiSquareBall", "KLPenalty", "BinaryEntropy")


def test_the_tables_are_what_the_classes_say():
    pages = "\n".join(page.read_text() for page in family_tables.PAGES)
    assert family_tables.render(pages) == pages, "run `make tables`"
    for name in family_tables.TABLES:
        table = pages.split(f"<!--{name}-->\n\n")[1].split("\n\n<!--end-->")[0]
        empty = [row for row in table.split("\n") if "" in family_tables.cells(row)]
        assert not empty, f"write the empty cells of {empty}"


def test_a_row_of_a_table_follows_the_family_and_keeps_what_was_written(monkeypatch):
    page = family_tables.PAGES[0].read_text()
    level = "| `HardMargin()` | every label is right | set, polyhedral | exact | γ |\n"
    assert level in page
    wrong = level.replace("exact", "enclosed").replace("every label is right", "never")
    assert family_tables.render(page.replace(level, wrong)) == page.replace(
        "every label is right", "never"
    )
    added = family_tables.render(page.replace(level, ""))
    assert "| `HardMargin()` |  | set, polyhedral | exact | γ |\n\n<!--end-->" in added
    methods = re.sub(r"\| `Hedge\(\).*\n", "", family_tables.PAGES[2].read_text())
    assert '| `Hedge()` | `"hedge"` |  |  |\n' in family_tables.render(methods)


@pytest.mark.parametrize("name", family_tables.EXAMPLES)
def test_traits_of_relaxations_agree(name):
    f = family_tables.EXAMPLES[name]
    assert (level_of(f) == "exact") == f.traits.polyhedral
    assert f.traits.smooth == (f.curvature(family_tables.M) > 0)
    assert f.traits.symmetric or name not in SYMMETRIC
    assert f.witness(np.linspace(0.0, 1.0, family_tables.M))._fields[0] == "gamma"


ALL, FIRST, BUT_THIRD = ["holds"] * 3, ["holds", "fails", "fails"], ["holds", "holds", "fails"]


@pytest.mark.parametrize(
    ("f", "verdicts"),
    [
        *((family_tables.EXAMPLES[name], ALL) for name in ("HardMargin", "SpectralRisk")),
        *((family_tables.EXAMPLES[name], ALL) for name in family_tables.EXAMPLES if "Cap" in name),
        *((family_tables.EXAMPLES[name], ALL) for name in family_tables.EXAMPLES if "Norm" in name),
        (family_tables.EXAMPLES["MahalanobisBall"], BUT_THIRD),
        (family_tables.EXAMPLES["MahalanobisPenalty"], BUT_THIRD),
        (rb.relaxations.MahalanobisBall(np.diag([1.0, 2.0, 3.0, 4.0]), 3), ALL),
        (rb.relaxations.ChiSquarePenalty(0.3), BUT_THIRD),
        (rb.relaxations.PowerPenalty(2, 0.3), BUT_THIRD),
        (rb.relaxations.ChiSquareBall(1.5), BUT_THIRD),
        (rb.relaxations.ChiSquareBall(0.5), FIRST),
        (rb.relaxations.TotalVariationBall(0.6), BUT_THIRD),
        (rb.relaxations.TotalVariationBall(0.4), FIRST),
        (rb.relaxations.PowerBall(2, 0.6), BUT_THIRD),
        (rb.relaxations.PowerBall(2, 0.4), FIRST),
        (rb.relaxations.PowerPenalty(1.5, 0.3), FIRST),
        *((family_tables.EXAMPLES[name], FIRST) for name in ("HellingerPenalty", "HellingerBall")),
        *((family_tables.EXAMPLES[name], FIRST) for name in ("KLPenalty", "KLBall")),
        (family_tables.EXAMPLES["BinaryEntropy"], FIRST),
    ],
    ids=str,
)
def test_the_conditions_that_the_page_of_conditions_lists(f, verdicts):
    assert [c.verdict for c in rb.check_conditions(f, family_tables.M)] == verdicts


def test_the_page_of_a_faster_relaxation_includes_the_example():
    text = (ROOT / "docs" / "faster_relaxation.md").read_text()
    script = (ROOT / "examples" / "prototype_a_relaxation.py").read_text()
    definition = script.split("[start:definition]\n")[1].split("# --8<-- [end:definition]")[0]
    assert definition.strip() in text


def formulas(code: str) -> dict[str, str]:
    """Return the body of each method in a program, without docstrings and annotations."""
    functions = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        function.returns = None
        for argument in function.args.args:
            argument.annotation = None
        if ast.get_docstring(function):
            function.body = function.body[1:]
    return {function.name: ast.unparse(function.body) for function in functions}


def test_the_example_of_a_proof_has_the_formulas_of_the_page():
    path = ROOT / "docs" / "faster_relaxation.md"
    page = formulas("\n".join(blocks(path, "python")))
    example = formulas((ROOT / "examples" / "prove_a_relaxation.py").read_text())
    assert {"f_star", "witness", "lower_bound", "penalty_bound"} <= page.keys()
    for name, body in page.items():
        assert body == example[name], name
    # The tables of the page also name the methods whose formulas only the example has.
    named = set(re.findall(r"^\| `(\w+)\(", path.read_text(), re.MULTILINE))
    assert {"_distribution", "penalty", "relaxed_margin"} <= named <= example.keys()


def names_on_the_api_page():
    text = "\n".join(reference.pages().values())
    found = re.findall(r"^::: relaxboost\.([\w.]+)$", text, re.MULTILINE)
    return {re.sub(r"(\.\w+)\1$", r"\1", name) for name in found}


def test_scalar_products_of_docstrings_are_shown():
    shown = reference.on_page_content
    assert shown('<p id="a, b">the <em>sum</em> <w_{i−1}, h> + <f(x), g(x)></p>') == (
        '<p id="a, b">the <em>sum</em> &lt;w_{i−1}, h&gt; + &lt;f(x), g(x)&gt;</p>'
    )


def test_names_in_descriptions_link_to_their_pages():
    html = "<b><code>path</code></b> <code>{}</code>"

    def link(name, page="online.regret"):
        found = reference.linked(html.format(name), page).removeprefix(html[:24])
        return re.sub(r'.*href="\.\./(\S+)/".*', r"\1", found) if "href" in found else ""

    assert link("hindsight") == "online.hindsight"
    assert link("Solution.bound") == "game.Solution"
    assert link("solve") == "solvers.solve.solve"
    assert link("compare") == "game.compare"
    assert link("compare", "planning.fit") == "planning.compare"
    # The method of an estimator, an argument of this page, the page itself, no name.
    unlinked = {"fit", "path", "regret", "regret.lower", "X"}
    assert not any(map(link, unlinked))
    assert not link("path", "solvers.solve.solve")


def test_the_call_of_a_record_is_folded():
    record, other = (
        types.SimpleNamespace(meta={"record": is_record}) for is_record in (True, False)
    )
    call = '<div class="doc-signature highlight"><span>Fit(w)</span></div>\n'
    page = f"<h1>Fit</h1>\n{call}{call}"
    assert reference.on_page_content(page, page=other) == page
    folded = reference.on_page_content(page, page=record)
    assert folded.count("<details>") == 1
    assert folded.count(call.strip()) == 2
    plain = '<div class="doc-signature highlight">Hinge</span><span class="p">()</span></div>\n'
    assert reference.on_page_content(plain, page=record) == plain


def test_an_attribute_is_described_once_on_its_page():
    def listed(link, text):
        described = f'<div class="doc-md-description">\n<p>{text}</p>\n</div>'
        return f"<li>\n<b><code>{link}</code></b> (<code>int</code>)\n{described}\n</li>"

    def section(anchor, text):
        head = f'<div class="doc doc-object doc-attribute">\n<h2 id="{anchor}">{anchor}</h2>\n'
        signature = f'<div class="doc-signature highlight"><pre>{anchor}: int</pre></div>'
        return f'{head}{signature}<div class="doc doc-contents ">{text}</div>\n</div>'

    m, n = '<a class="x" href="#G.m">m</a>', '<a class="x" href="#G.n">n</a>'
    moved = '<span id="G.m">m</span>'
    longer = section("G.n", "<p>Columns.</p><p>Or None.</p>")
    page = f"{listed(m, 'Rows.')}{listed(n, 'Columns.')}{section('G.m', '<p>Rows.</p>')}{longer}"
    both = '<span id="G.n">n</span>', "Columns.</p><p>Or None."
    once = f"{listed(moved, 'Rows.')}{listed(*both)}"
    assert reference.without_repeated_attributes(page) == once
    other = page.replace("Rows.", "Examples.", 1).replace("Columns.", "Hypotheses.", 1)
    assert reference.without_repeated_attributes(other) == other


def test_built_pages_load_nothing_from_a_network():
    checked = reference.on_post_page
    page = '<a href="https://x.org">x</a><script src="js/theme.js"></script>'
    assert checked(page) == page
    for odd in ('<script async src="//cdn.org/a.js">', "<link href='https://cdn.org/a.css'>"):
        with pytest.raises(ValueError, match=r"loads from a network: <.*cdn\.org/a"):
            checked(page + odd)


def test_no_line_of_a_docstring_is_a_quote_to_markdown():
    for path in (ROOT / "relaxboost").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if not re.search(r"^\s+>", text, re.MULTILINE):  # parsing all files takes seconds
            continue
        for node in ast.walk(ast.parse(text)):
            kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
            told = (ast.get_docstring(node) or "") if isinstance(node, kinds) else ""
            told = told.split("Examples\n--------")[0]
            assert not re.search(r"^\s*>", told, re.MULTILINE), (path.name, told)


def test_every_name_on_the_api_page_is_there():
    for name in names_on_the_api_page():
        assert pkgutil.resolve_name(f"relaxboost.{name}") is not None, name


@pytest.mark.parametrize("path", reference.ORDER)
def test_a_page_with_an_own_order_has_all_members(path):
    shown = pkgutil.resolve_name(f"relaxboost.{path}")
    members = {*vars(shown).get("__annotations__", ()), *vars(shown)}
    assert sorted(reference.ORDER[path]) == sorted(n for n in members if not n.startswith("_"))


def test_every_public_name_is_on_the_api_page():
    shown = names_on_the_api_page()
    for room in ("relaxations.", "solvers.", "game.", "certificates.", "claims.", "estimators."):
        shown |= {name.removeprefix(room) for name in shown}
    for name in rb.__all__:
        member = getattr(rb, name)
        if not isinstance(member, types.ModuleType):
            assert name in shown, f"docs/api.md lacks ::: relaxboost.{name}"
        elif name not in shown:  # then what it exports is
            folders = [sys.modules.get(f"relaxboost.{page}") for page in shown]
            listed = {inner for folder in folders for inner in getattr(folder, "__all__", ())}
            names = [
                x for x in member.__all__ if not isinstance(getattr(member, x), types.ModuleType)
            ]
            for inner in names:
                there = inner in listed or {inner, f"{name}.{inner}"} & shown
                assert there, f"docs/api.md lacks ::: relaxboost.{name}.{inner}"


BUILT = {"claims/index.md"} | {
    f"claims/{page(source)}" for source in rb.claims.sources() for page in (file_of, details_of)
}
BUILT |= {*gallery.pages(), *reference.pages()}
BUILT |= {f"notebooks/{path.stem}.md" for path in (ROOT / "docs/notebooks").glob("*.ipynb")}
BUILT |= {
    "command_line.md",
    "certificate_format.md",
    "checker/example.json",
    "papers.md",
    "paper.bib",
}
"""The pages and files that mkdocs makes."""


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        *sorted(p.name for p in (ROOT / "docs").glob("*.md")),
    ],
)
def test_links_lead_somewhere(page):
    path = ROOT / page if (ROOT / page).exists() else ROOT / "docs" / page
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        if "://" not in target and target.partition("?")[0] not in BUILT | {""}:
            assert (path.parent / target).exists(), f"{page} links to {target}"
    for name in re.findall(r"`((?:tests|docs|benchmarks|examples)/[\w/]+\.\w+)`", path.read_text()):
        assert (ROOT / name).exists(), f"{page} names {name}"


def test_the_demo_runs_and_draws(tmp_path):
    picture = tmp_path / "demo.png"
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "breast_cancer.py"), str(picture), "2"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.count("all 6 brackets overlap: True") == 2
    gaps = re.findall(r"^  reference \(HIGHS\) +\S+, +\S+ +(\S+) ", result.stdout, re.MULTILINE)
    assert len(gaps) == 2
    assert all(float(gap) <= 1e-6 for gap in gaps)
    data = rb.matrices.datasets.breast_cancer()
    matrix = rb.matrices.stumps(data.X, data.y, max_cuts=2)
    shown = re.findall(r"overlap: True;  (\S+) <= rho <= (\S+)", result.stdout)
    for f, (lower, upper) in zip((rb.HardMargin(), rb.Capped(k=56)), shown, strict=True):
        found = rb.solve(rb.Game(matrix, f), 1e-10)
        assert float(lower) <= found.upper + 1e-12
        assert found.lower <= float(upper) + 1e-12
        assert float(upper) - float(lower) <= 1e-9
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("y_n, f_{t−1}", "y<sub>n</sub>, f<sub>t−1</sub>"),
        ("βε_t², −αθ_i e^i", "βε<sub>t</sub>², −αθ<sub>i</sub> e<sup>i</sup>"),
        ("w ∈ B_1^n", "w ∈ B<sub>1</sub><sup>n</sup>"),
        ("‖Aᵀd_t‖_∞", "‖Aᵀd<sub>t</sub>‖<sub>∞</sub>"),
        ("R^m_+ e^{j_t}", "R<sup>m</sup><sub>+</sub> e<sup>j<sub>t</sub></sup>"),
        ("a &lt;= max_{i in g} u", "a ≤ max<sub>i ∈ g</sub> u"),
        ("n_jobs, <code>d_i</code>, x86_64", "n_jobs, <code>d_i</code>, x86_64"),
        (
            '<div class="highlight"><pre><span></span><code>F = Σ u_i\n</code></pre></div>',
            '<div class="formula">F = Σ u<sub>i</sub></div>',
        ),
    ],
)
def test_formulas_of_docstrings_are_set(written, shown):
    page = types.SimpleNamespace(file=types.SimpleNamespace(src_uri="api/game.Game.md"))
    assert scripts.on_page_content(written, page) == shown


def test_formulas_of_claims_are_set():
    page = types.SimpleNamespace(file=types.SimpleNamespace(src_uri="claims/ss09.md"))
    html = "<code>f_t &lt;= g</code>, <code>d_i</code><pre><span></span><code>A_i = 1</code></pre>"
    formula = '<span class="inline-formula">f<sub>t</sub> ≤ g</span>'
    assert scripts.on_page_content(html, page) == html.replace("<code>f_t &lt;= g</code>", formula)


def described(docstring):
    """Return the names that the section Parameters or Attributes of a docstring describes."""
    section = r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)"
    texts = re.findall(section, inspect.cleandoc(docstring), re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^(\*{0,2}\w[^:\n]*)", "\n".join(texts), re.MULTILINE)
    return {name.strip(" *") for line in lines for name in line.split(",")}


PUBLIC = {
    entry.path: entry.value
    for _, _, listed in reference.entries()
    for entry in listed
    if callable(entry.value)
}


@pytest.mark.parametrize("path", PUBLIC)
def test_every_parameter_of_a_public_name_is_described(path):
    shown = PUBLIC[path]
    text = shown.__doc__ or ""
    if inspect.isclass(shown):
        if reference.is_record(shown):
            # Users create relaxations, so a relaxation without described parameters has none.
            is_relaxation = issubclass(shown, rb.Relaxation) and not inspect.isabstract(shown)
            assert not (is_relaxation and inspect.signature(shown).parameters)
            return
        text = reference.with_parameters(inspect.cleandoc(text), shown)
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    named = inspect.signature(shown).parameters.values()
    assert {p.name for p in named if p.kind not in kinds} <= described(text)
