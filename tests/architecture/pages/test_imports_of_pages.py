"""What a page or a notebook imports from this project exists.

Slow tests run most of the pages; a renamed class has to show before those do.
"""

import ast
import importlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))
OURS = ("curator_client", "server", "query_lang", "mechanisms", "budget", "release")
PYTHON = re.compile(r"^( *)```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def programs(path):
    """Return the Python texts of one page or notebook."""
    text = path.read_text("utf-8")
    if path.suffix == ".ipynb":
        return [
            "".join(line for line in cell["source"] if not line.startswith(("%", "!")))
            for cell in json.loads(text)["cells"]
            if cell["cell_type"] == "code" and "".join(cell["source"])[:2] != "%%"
        ]
    return [
        re.sub(rf"^{i}", "", body, flags=re.MULTILINE)
        for i, body in PYTHON.findall(text)
    ]


def missing(program):
    """Return each of our names that a program imports and nothing has."""
    found = []
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in OURS:
            module = importlib.import_module(node.module)
            found += [a.name for a in node.names if not hasattr(module, a.name)]
    return found


@pytest.mark.parametrize(
    "path",
    [path for path in (*PAGES, *NOTEBOOKS) if "curator_client" in path.read_text()],
    ids=lambda path: path.name,
)
def test_what_it_imports_from_this_project_exists(path):
    assert [name for program in programs(path) for name in missing(program)] == []


def test_a_name_that_was_renamed_is_found():
    assert missing("from curator_client import Curator, NotFound") == ["NotFound"]


def test_the_pages_import_something():
    texts = [text for path in (*PAGES, *NOTEBOOKS) for text in programs(path)]
    assert sum("from curator_client" in text for text in texts) > 5
