"""The page of papers, which mkdocs makes from paper.bib when it builds."""

import re
import unicodedata
from pathlib import Path
from typing import Any

BIBLIOGRAPHY = Path(__file__).parents[2] / "paper.bib"

VENUES = {
    "article": ("journal", "volume", "year"),
    "book": ("publisher", "year"),
    "inproceedings": ("booktitle", "year"),
    "misc": ("howpublished", "year"),
    "unpublished": ("note",),
}
"""The fields that an entry of each kind must have, besides its author, title and `takes`."""

INTRODUCTION = """# Papers

This page lists the papers and books from which the package takes mathematics, and papers about related software. They are sorted by the first author. Most of the package follows Shalev-Shwartz & Singer (SS09). You can download the list [as BibTeX](paper.bib).

The code in the last column links to the [claims](claims/index.md) about a paper. The names of these claims begin with it. [Findings](findings.md) describes the errors that we found, and the docstrings of the [API](api.md) cite further sources.

| paper | what the package takes from it | claims |
|---|---|---|
"""  # noqa: E501


def read(text: str) -> dict[str, dict[str, str]]:
    """Return the fields of each entry by its key; "kind" is the kind of the entry.

    Each field must be on its own line, with its value in braces.
    """
    found: dict[str, dict[str, str]] = {}
    for kind, key, body in re.findall(r"^@(\w+)\{(.*),\n((?:.*\n)*?)\}$", text, re.MULTILINE):
        if key in found:
            raise ValueError(f"paper.bib has two entries {key}")
        if kind not in VENUES:
            raise ValueError(f"{key} in paper.bib is of the kind {kind}, and not of {[*VENUES]}")
        lines = [re.fullmatch(r" +(\w+) += \{(.*)\},?", line) for line in body.splitlines()]
        if not all(lines):
            raise ValueError(f"each field of {key} in paper.bib must be on one line, in braces")
        found[key] = {"kind": kind} | {line[1]: line[2] for line in lines if line}
        for name in ("author", "title", *VENUES[kind], "takes"):
            if not found[key].get(name):
                raise ValueError(f"the entry {key} of paper.bib needs the field {name}")
    if len(found) != text.count("\n@"):
        raise ValueError("an entry of paper.bib does not end with } on its own line")
    return found


def authors(text: str) -> str:
    """Return the authors with initials, such as "J.-M. Eber and D. Heath"."""
    names = []
    for author in text.split(" and "):
        surname, _, given = author.partition(", ")
        initials = " ".join(re.sub(r"(\w)[\w.]*", r"\1.", part) for part in given.split())
        names.append(f"{initials} {surname}".strip())
    if names[-1] == "others":
        return f"{', '.join(names[:-1])} et al."
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def row(entry: dict[str, str]) -> str:
    """Return the row of an entry."""
    plain = {name: re.sub(r"[{}\\]", "", value) for name, value in entry.items()}
    year = f" ({plain['year']})" if "year" in plain else ""
    title = f"*{plain['title']}*"
    if "doi" in plain:
        title = f"[{title}](<https://doi.org/{plain['doi']}>)"
    venue = f"{plain[VENUES[entry['kind']][0]]} {plain.get('volume', '')}".strip()
    if "remark" in plain:
        venue += f"; {plain['remark']}"
    code = plain.get("claims", "")
    claims = f"[{code}](claims/{code.lower()}.md)" if code else ""
    return f"| {authors(plain['author'])}{year}, {title}, {venue} | {entry['takes']} | {claims} |\n"


def order(entry: dict[str, str]) -> tuple[str, str]:
    """Return the first surname without a particle such as "de", and the year."""
    surname = re.sub(r"^[a-z ]+", "", entry["author"].partition(",")[0])
    return unicodedata.normalize("NFD", surname).casefold(), entry.get("year", "")


def page() -> str:
    """Return the page in Markdown."""
    entries = read(BIBLIOGRAPHY.read_text(encoding="utf-8")).values()
    return INTRODUCTION + "".join(map(row, sorted(entries, key=order)))


def on_files(files: Any, config: Any, **_: object) -> Any:
    """Add the page, and the file from which it is made."""
    from mkdocs.structure.files import File  # which the tests do without

    files.append(File.generated(config, "papers.md", content=page()))
    files.append(File.generated(config, "paper.bib", abs_src_path=str(BIBLIOGRAPHY)))
    return files
