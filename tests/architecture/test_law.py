"""The law lies in the tree, and what code and pages cite of it exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAW = ROOT / "docs/law"
SUFFIXES = {".py", ".md", ".toml", ".html", ".yaml"}
FOLDERS = sorted(
    path
    for path in ROOT.iterdir()
    if path.is_dir() and not path.name.startswith(".") and path.name != "build"
)
CITED = re.compile(
    r"\b(PRIVACY|CONTRACT)(?:,? section| rule)? (\d+(?:(?:,| and) \d+)*)"
)


def sections(page):
    text = (LAW / f"{page.lower()}.md").read_text("utf-8")
    return {int(number) for number in re.findall(r"^## (\d+)\. ", text, re.MULTILINE)}


def citations(text):
    """Yield page and number of each section that a text cites."""
    for page, numbers in CITED.findall(re.sub(r"\s+(?:#\s+)?", " ", text)):
        for number in re.findall(r"\d+", numbers):
            yield page, int(number)


def texts():
    for folder in FOLDERS:
        for path in folder.rglob("*"):
            if path.suffix in SUFFIXES and path != Path(__file__):
                yield path, path.read_text("utf-8")


@pytest.mark.parametrize(("page", "last"), [("PRIVACY", 8), ("CONTRACT", 6)])
def test_sections_are_numbered_without_a_gap(page, last):
    assert sections(page) == set(range(1, last + 1))


def test_every_section_that_is_cited_exists():
    known = {(page, one) for page in ("PRIVACY", "CONTRACT") for one in sections(page)}
    cited = {(path, *cited) for path, text in texts() for cited in citations(text)}
    assert len(cited) > 50
    assert [where for where in sorted(cited) if where[1:] not in known] == []


def test_several_sections_in_one_citation_are_all_read():
    told = "as PRIVACY 5, 6 and 12 have it, and\n    # CONTRACT 9"
    assert list(citations(told)) == [
        ("PRIVACY", 5),
        ("PRIVACY", 6),
        ("PRIVACY", 12),
        ("CONTRACT", 9),
    ]


def test_no_page_cites_a_law_that_is_not_in_the_tree():
    found = [
        str(path)
        for path, text in texts()
        if path.name != "test_law.py"
        and re.search(r"ARCHITECTURE \d|PRIVACY\.md", text)
    ]
    assert found == []
