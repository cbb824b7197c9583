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
for words in " ".join(sys.argv[1:]).split(" , "):
    sys.argv = ["curator", *words.split()]
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


HEAVY = {"duckdb", "numpy", "query_lang", "sqlglot", "opendp", "fastapi", "scipy"}


def started(commands, environment=None):
    """Run commands in one process; return what each said, and all that is loaded.

    One after the other: what one of them loads is there in all that follow.
    """
    done = subprocess.run(
        [sys.executable, "-c", STARTED, " , ".join(commands)],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    *parts, last = done.stdout.split("MODULES")
    lines = [part.partition("\n") for part in (*parts, last)]
    assert len(lines) == len(commands) + 1, done.stderr
    said = [lines[0][0] + lines[0][2], *(line[2] for line in lines[1:-1])]
    return said, [set(line[0].split()) for line in lines[1:]], done.stderr


def test_the_list_and_an_analysts_commands_start_without_the_server():
    said, loaded, complaints = started(["--help", "--version", "budget --help"])
    assert all(each.strip() for each in said)
    heavy = {"sqlalchemy", "duckdb", "numpy", "query_lang", "budget", "fastapi"}
    assert heavy.isdisjoint(loaded[-1]), complaints


def test_what_touches_no_rows_starts_without_engine_language_and_noise():
    commands = [
        *("principal list", "key list", "project list", "ledger export"),
        "ledger move --to postgresql://nobody/x",
        *("db upgrade", "init", "ledger verify", "doctor --help"),
        *("job list", "job --help", "demo --help", "demo --notes --linking"),
    ]
    told = {k: v for k, v in os.environ.items() if not k.startswith("CURATOR_")}
    _, loaded, complaints = started(commands, told)
    for command, modules in zip(commands, loaded, strict=True):
        assert "sqlalchemy" in modules, command
        assert HEAVY & modules == set(), (command, complaints)


def test_the_ledger_without_releases_and_the_list_of_jobs_are_read_without_them_too(
    tmp_path,
):
    made = Installation(tmp_path).create()
    commands = ["ledger verify", "job list"]
    _, loaded, complaints = started(commands, made.environment)
    assert complaints == ""  # nothing was refused
    for command, modules in zip(commands, loaded, strict=True):
        assert HEAVY & modules == set(), command


def test_a_command_that_is_none_is_told():
    done = subprocess.run(
        [sys.executable, "-c", STARTED, "bugdet"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert "No such command 'bugdet'" in done.stderr
