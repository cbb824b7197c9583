"""Nothing that we say installs a stranger's package: only paths and locked files."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from server.version import VERSION

ROOT = Path(__file__).parents[2]
OURS = ("pyproject.toml", "clients/python/pyproject.toml")
FOLDERS = (
    "privacy", "query_lang", "mechanisms", "budget", "engines", "release", "upstream",
    "server", "clients", "docs", "examples", "scripts", "tests", "benchmarks",
)  # fmt: skip
UNREAD = ("CHANGELOG.md", "tests/architecture/test_installing.py", "tests/mutants/")
INSTALLS = re.compile(
    r"\bpip[0-9.]*\s+(?:[\w-]+\s+)?(?:install|download|wheel)\s+([^`\n]*)"
)
FETCHERS = re.compile(
    r"\b(?:pipx|uvx|easy_install|uv +(?:tool|add|run|pip)|poetry +add|pdm +add"
    r"|hatch +run|(?:conda|mamba) +install)\b"
)
TAKES_A_VALUE = {"-r", "--requirement", "-e", "--only-binary", "-w"}


def texts():
    """Return (path, text) of each file that people read, of notebooks their sources."""
    files = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    for path in files:
        name = str(path.relative_to(ROOT))
        if name.startswith(UNREAD) or "__pycache__" in name:
            continue
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        if name.endswith(".ipynb"):
            cells = json.loads(text)["cells"]
            text = "\n".join("".join(cell["source"]) for cell in cells)
        yield name, text


def strangers(text):
    """Return the words after an installer's command that name no path of ours."""
    found = [match[0] for match in FETCHERS.finditer(text)]
    for match in INSTALLS.finditer(text.replace("\\\n", " ")):
        found += _names(match[1])
    return found


def _names(words):
    names, is_value = [], False
    for raw in words.split():
        word = raw.lstrip("\"'")
        if word.startswith("#"):
            break
        if is_value or word.startswith("-"):
            is_value = word in TAKES_A_VALUE
        elif not word.startswith((".", "/", "$", "{")):
            names.append(word)
        if raw != "." and raw[-1] in "\"',;:)." and raw[0] not in "\"'":
            break  # its quotation ends here
    return names


def test_no_text_of_ours_installs_a_package_by_its_name():
    said = {name: found for name, text in texts() if (found := strangers(text))}
    assert said == {}


@pytest.mark.parametrize(
    "text",
    ["pip install 'curator[postgres]'", "type `pip install curator-client`",
     "pip3 install --upgrade curator", "uvx curator serve", "pipx install curator",
     "uv pip install curator", "conda install curator", "pip install -q \\\n  pandas",
     '"needs it: pip install pandas"', "python -m pip install curator",
     "pip install -r requirements/app.txt curator"],
)  # fmt: skip
def test_a_packages_name_is_found(text):
    assert strangers(text)


@pytest.mark.parametrize(
    "text",
    ["pip install ./clients/python  # or so", 'type "pip install ./clients/python"',
     'pip install "./clients/python[pandas,plot]"', "run `pip install .` and go on",
     "pip install --require-hashes -r requirements/app.txt, then go on",
     "pip install --no-deps -e . -e clients/python",
     "pip install --no-cache-dir --no-index \\\n  --no-deps . ./clients/python"],
)  # fmt: skip
def test_a_path_and_a_locked_file_are_not(text):
    assert strangers(text) == []


@pytest.mark.parametrize("file", OURS)
def test_no_index_takes_a_distribution_of_ours(file):
    project = tomllib.loads((ROOT / file).read_text("utf-8"))["project"]
    assert "Private :: Do Not Upload" in project["classifiers"]
    assert project["name"].startswith("curator-query-")


def test_the_version_is_written_once_for_the_server_and_is_the_clients():
    server, client = (tomllib.loads((ROOT / file).read_text("utf-8")) for file in OURS)
    assert server["project"]["dynamic"] == ["version"]
    found = server["tool"]["setuptools"]["dynamic"]["version"]
    assert found == {"attr": "server.version.VERSION"}
    assert client["project"]["version"] == VERSION


def test_no_code_asks_an_installers_records_for_itself():
    asking = [
        name
        for name, text in texts()
        if name.endswith(".py")
        and not name.startswith(("tests/", "benchmarks/", "scripts/image/"))
        if "importlib.metadata" in text
    ]
    assert asking == []
