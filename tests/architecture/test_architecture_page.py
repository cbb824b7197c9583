"""The page of the architecture names files that are there, and every package."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text("utf-8")
PACKAGES = (
    *("privacy", "query_lang", "mechanisms", "budget"),
    *("engines", "release", "upstream", "server", "tests"),
)
PATHS = re.compile(rf"`((?:{'|'.join(PACKAGES)})(?:/[\w{{}},]+)*(?:\.py)?)`")


def spelled_out(path):
    """Return the paths that braces stand for, as a shell expands them."""
    found = re.search(r"\{([\w,]+)\}", path)
    if found is None:
        return [path]
    start, end = path[: found.start()], path[found.end() :]
    return [f"{start}{each}{end}" for each in found.group(1).split(",")]


NAMED = sorted({one for path in PATHS.findall(TEXT) for one in spelled_out(path)})


def test_the_page_names_files():
    assert sum(path.endswith(".py") for path in NAMED) > 30


@pytest.mark.parametrize("path", NAMED)
def test_what_the_page_names_is_there(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_room_of_a_package_is_on_the_page(package):
    rooms = [
        folder.name
        for folder in (ROOT / package).iterdir()
        if folder.is_dir() and any(folder.rglob("*.py"))
    ]
    assert [room for room in rooms if room not in TEXT] == []


FILES = [
    f"/{path.relative_to(ROOT)}"
    for package in (*PACKAGES, "clients/python")
    for path in (ROOT / package).rglob("*.py")
]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w/]+\.py)`", TEXT))))
def test_files_that_are_named_in_short_are_there(name):
    assert any(path.endswith(f"/{name}") for path in FILES)
