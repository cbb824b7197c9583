"""The client keeps to the Python that it promises."""

import ast
import tomllib
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[3] / "clients/python"
SOURCES = sorted(CLIENT.rglob("*.py"))
LATER = {"tomllib", "StrEnum", "Self", "ExceptionGroup", "TaskGroup", "UTC", "batched"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_each_file_is_of_python_3_10(path):
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 10))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    later = names & LATER
    assert later <= ({"tomllib"} if path.name == "settings.py" else set())


def test_there_are_files_to_read():
    assert len(SOURCES) > 10


def test_the_client_depends_on_httpx_and_what_checks_signatures_alone():
    text = (CLIENT / "pyproject.toml").read_text("utf-8")
    assert 'requires-python = ">=3.10"' in text
    needed = tomllib.loads(text)["project"]["dependencies"]
    assert needed == ["httpx>=0.28", "cryptography>=45"]
