"""The TypeScript page's own program, by its own commands, asks the server."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from server.api.app import openapi_document
from tests.contract.fuzz import serve_target

pytestmark = pytest.mark.thorough
PAGE = Path(__file__).parents[2] / "docs/other-clients.md"
PART = PAGE.read_text("utf-8").partition("\n## TypeScript\n")[2].partition("\n## ")[0]
OURS = {
    "FROM patients": "FROM visits",
    "COUNT(*) AS": "COUNT(DISTINCT patient_id) AS",
    'dataset: "hospital"': 'dataset: "clinic"',
}
"""What the page's question is called in the installation that is asked here."""


def commands():
    """Return the page's lines for a shell: two that make a project, two that use it."""
    (block,) = re.findall(r"^```sh\n(.*?)^```$", PART, re.MULTILINE | re.DOTALL)
    return block.splitlines()


def checks():
    """Return the line that checks a program's types."""
    (line,) = re.findall(r"`(npx tsc [^`]*)`", PART)
    return line


def program(url):
    """Return the page's program, for a server of ours."""
    (text,) = re.findall(r"^```ts\n(.*?)^```$", PART, re.MULTILINE | re.DOTALL)
    for theirs, ours in {**OURS, "http://127.0.0.1:8000": url}.items():
        assert theirs in text
        text = text.replace(theirs, ours)
    return text


def run(line, folder, **environment):
    return subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env={**os.environ, "npm_config_update_notifier": "false", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    if shutil.which("npm") is None:
        pytest.skip("npm (of node) is not installed")
    folder = tmp_path_factory.mktemp("typescript")
    made = run(commands()[0], folder)
    assert made.returncode == 0, made.stderr
    installed = run(f"{commands()[1]} --no-audit --no-fund --ignore-scripts", folder)
    if installed.returncode != 0:
        pytest.skip("npm cannot install the page's packages here")
    (folder / "openapi.json").write_text(json.dumps(openapi_document()), "utf-8")
    line = commands()[2].replace("http://127.0.0.1:8000/openapi.json", "openapi.json")
    generated = run(line, folder)
    assert generated.returncode == 0, generated.stdout + generated.stderr
    return folder


def test_the_program_of_the_page_compiles_asks_and_gets_rows(project, tmp_path):
    with serve_target(tmp_path / "served") as target:
        (project / "ask.ts").write_text(program(target.url), "utf-8")
        checked = run(checks(), project)
        assert checked.returncode == 0, checked.stdout
        asked = run(commands()[3], project, KEY=target.key)
    assert asked.returncode == 0, asked.stderr
    rows = r"\[ \[ 'F', -?\d+ \], \[ 'M', -?\d+ \](, \[ null, -?\d+ \])? \] undefined"
    assert re.fullmatch(rows, asked.stdout.strip())


def test_a_number_as_epsilon_does_not_compile(project):
    wrong = program("http://127.0.0.1").replace('epsilon: "0.1"', "epsilon: 0.1")
    (project / "ask.ts").write_text(wrong, "utf-8")
    checked = run(checks(), project)
    assert checked.returncode != 0
    assert "'number' is not assignable to type 'string'" in checked.stdout
