"""Commands start without what they do not need."""

import os
import subprocess
import sys

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from server.main import COMMANDS, cli
from tests.support.installations.harness import Installation

STARTED = """
import sys
from server.main import main
sys.argv = ["curator", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print("MODULES", *sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_tells_each_commands_own_sentence(name):
    group = get_command(cli)
    assert isinstance(group, TyperGroup)
    command = group.get_command(None, name)
    first, _, _ = " ".join(command.help.split()).partition(" Example: ")
    assert command.name == name
    assert first.startswith(COMMANDS[name][1])


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("budget", "--help")])
def test_the_list_and_an_analysts_commands_start_without_the_server(words):
    done = subprocess.run(
        [sys.executable, "-c", STARTED, *words],
        check=False,
        capture_output=True,
        text=True,
    )
    said, _, modules = done.stdout.partition("MODULES")
    assert said.strip()
    heavy = {"sqlalchemy", "duckdb", "numpy", "query_lang", "budget", "fastapi"}
    assert heavy.isdisjoint(modules.split()), done.stderr


@pytest.mark.parametrize(
    "words",
    [("principal", "list"), ("key", "list"), ("project", "list"), ("ledger", "export"),
     ("ledger", "move", "--to", "postgresql://nobody/x"), ("db", "upgrade"), ("init",),
     ("ledger", "verify"), ("doctor", "--help"), ("job", "list"), ("job", "--help")],
)  # fmt: skip
def test_what_touches_no_rows_starts_without_engine_language_and_noise(words):
    done = subprocess.run(
        [sys.executable, "-c", STARTED, *words],
        check=False,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("CURATOR_")},
    )
    _, _, modules = done.stdout.partition("MODULES")
    assert "sqlalchemy" in modules
    heavy = {"duckdb", "numpy", "query_lang", "sqlglot", "opendp", "fastapi", "scipy"}
    assert heavy & {*modules.split()} == set(), done.stderr


@pytest.mark.parametrize("words", [("ledger", "verify"), ("job", "list")])
def test_the_ledger_without_releases_and_the_list_of_jobs_are_read_without_them_too(
    tmp_path, words
):
    made = Installation(tmp_path).create()
    done = subprocess.run(
        [sys.executable, "-c", STARTED, *words],
        check=False,
        capture_output=True,
        text=True,
        env=made.environment,
    )
    _, _, modules = done.stdout.partition("MODULES")
    assert done.stderr == ""  # nothing was refused
    heavy = {"duckdb", "numpy", "query_lang", "sqlglot", "opendp", "fastapi", "scipy"}
    assert heavy & {*modules.split()} == set(), done.stderr


def test_a_command_that_is_none_is_told():
    done = subprocess.run(
        [sys.executable, "-c", STARTED, "bugdet"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert "No such command 'bugdet'" in done.stderr
