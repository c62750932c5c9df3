"""The files around the package agree with each other: version, addresses, workflows, recipe."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import relaxboost as rb

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def loaded(name: str | Path):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_version_is_the_same_everywhere():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = {
        "relaxboost/__init__.py": rb.__version__,
        "CITATION.cff": loaded("CITATION.cff")["version"],
        "CHANGELOG.md": re.search(r"^## (\S+)", changes, re.MULTILINE)[1],
        "recipe/recipe.yaml": loaded("recipe/recipe.yaml")["context"]["version"],
    }
    assert versions == dict.fromkeys(versions, PROJECT["version"])


def test_every_address_of_the_project_is_that_of_pyproject():
    urls = PROJECT["urls"]
    home = urls["Repository"]
    assert urls["Homepage"] == home
    assert all(urls[name].startswith(f"{home}/") for name in ("Issues", "Changelog"))
    allowed = {"github.com": home, "readthedocs.io": urls["Documentation"]}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    names = {"CITATION.cff", "recipe/recipe.yaml", ".github/ISSUE_TEMPLATE/config.yml", *listed}
    for name in names:
        if not name.endswith((".md", ".toml", ".yml", ".yaml", ".cff", ".bib", "pyproject.toml")):
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        own = r"https://(?:(github\.com)/[\w.-]+/relaxboost|[\w-]*relaxboost[\w-]*\.(readthedocs\.io))"
        for found in re.finditer(own, text):
            assert found[0] == allowed[found[1] or found[2]], f"{name} has {found[0]}"


def test_an_extra_of_the_project_itself_has_no_marker():
    """Hatchling drops such a marker from the metadata of the wheel."""
    for needs in PROJECT["optional-dependencies"].values():
        assert not [need for need in needs if need.startswith("relaxboost[") and ";" in need]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_few_permissions(path):
    workflow = loaded(path)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        # Only the upload to PyPI may ask for an identity, and it does not check the source out.
        publishes = (path.name, name) == ("publish.yml", "publish")
        assert job["permissions"] == ({"id-token": "write"} if publishes else {"contents": "read"})
        assert job["timeout-minutes"] <= 60
        for step in job["steps"]:
            uses = step.get("uses", "")
            assert not uses or re.search(r"@[0-9a-f]{40}$", uses), f"{uses} may change"
            if uses.startswith("actions/checkout@"):
                assert not publishes
                assert step["with"] == {"persist-credentials": False}


def test_workflows_use_targets_of_the_makefile_and_all_versions_of_python():
    made = (ROOT / "Makefile").read_text()
    for path in WORKFLOWS:
        for target in re.findall(r"run: make (\S+)", path.read_text()):
            assert re.search(rf"^{target}:", made, re.MULTILINE), target
    versions = loaded(".github/workflows/tests.yml")["jobs"]["tests"]["strategy"]["matrix"][
        "python"
    ]
    start = "Programming Language :: Python :: 3."
    claimed = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if one.startswith(start)]
    assert versions == claimed
    assert PROJECT["requires-python"] == f">={versions[0]}"


def test_the_oldest_numpy_is_that_of_pyproject():
    (numpy,) = (one for one in PROJECT["dependencies"] if one.startswith("numpy"))
    oldest = (ROOT / ".github" / "oldest-numpy.txt").read_text().strip()
    assert oldest == numpy.replace(">=", "==") + ".*"


def test_the_recipe_requires_what_the_package_requires():
    recipe = loaded("recipe/recipe.yaml")
    python, *others = recipe["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert PROJECT["requires-python"] == f">={recipe['context']['python_min']}"
    assert sorted(one.replace(" ", "") for one in others) == sorted(PROJECT["dependencies"])
    (command,) = recipe["build"]["python"]["entry_points"]
    assert command == "relaxboost = " + PROJECT["scripts"]["relaxboost"]


def test_the_citation_has_the_keys_of_its_format():
    citation = loaded("CITATION.cff")
    needed = {"cff-version", "message", "title", "authors"}
    known = {"abstract", "keywords", "license", "references", "repository-code", "type", "url"}
    assert needed <= citation.keys() <= needed | known | {"version", "date-released", "doi"}
    assert citation["authors"] == PROJECT["authors"]
    assert citation["license"] == PROJECT["license"]
    assert citation["keywords"] == PROJECT["keywords"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_forms_of_issues_can_be_filled_in(path):
    form = loaded(path)
    if path.name == "config.yml":
        assert all(link.keys() == {"name", "url", "about"} for link in form["contact_links"])
        return
    assert {"name", "description", "body"} <= form.keys()
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in fields}) == len(fields)
    assert all(part["attributes"]["label"] for part in fields)


def test_the_paper_is_short_and_its_references_exist():
    text = (ROOT / "paper.md").read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    assert len(body.split()) <= 1000
    assert yaml.safe_load(head)["bibliography"] == "paper.bib"
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper.bib").read_text(), re.MULTILINE)
    assert len(set(entries)) == len(entries)
    assert set(re.findall(r"@(\w+)", body)) <= set(entries)
