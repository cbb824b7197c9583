"""``curator backup create | restore``, and what a restore asks for."""

import contextlib
import json
import shutil
import sqlite3
import stat
import tarfile
import threading
from unittest import mock

import pytest

from privacy.errors import AnchorMismatchError
from server.bootstrap import job_kinds, make_runner
from server.use_cases.operations import postgres_dump
from server.use_cases.operations.postgres_dump import dump_postgres, restore_words
from server.use_cases.services.errors import CommandRefusedError
from tests.cli.conftest import Commands
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    ask,
    client,
    serve_in_process,
    serve_in_thread,
)

pytestmark = pytest.mark.long


def spent(commands):
    return commands.json("population", "show", "people")["spent"]


def modes(path):
    return stat.S_IMODE(path.stat().st_mode)


def emptied(commands):
    """Lose the data; the anchor stays."""
    shutil.rmtree(commands.installation.data)


def unserved(commands):
    """Return the words with which a server of its own refuses to start."""
    done = commands.installation.curator("serve", "--port", "0")
    assert done.returncode == 1
    return done.stderr


def charge(commands, epsilon):
    """Ask one question of a server of its own."""
    key = commands.json("key", "create", "ada")["key"]
    with (
        serve_in_thread(commands.installation) as url,
        client(url, key) as http,
    ):
        assert ask(http, epsilon=epsilon).status_code == 200


@pytest.mark.parametrize("name", ["copy", "copy.tar"])
def test_a_restored_backup_serves_only_after_it_is_reconciled(loaded, tmp_path, name):
    charge(loaded, "0.5")
    made = loaded.json("backup", "create", tmp_path / name)
    charge(loaded, "0.25")
    emptied(loaded)
    restored = loaded.json("backup", "restore", tmp_path / name)
    assert (restored["entries"], restored["head"]) == (made["entries"], made["head"])
    assert "curator ledger reconcile --reason" in restored["next"][0]
    assert "see 'curator ledger reconcile" in unserved(loaded)
    loaded.run("ledger", "reconcile", "--reason", "the disk failed")
    assert spent(loaded) == "0.75"
    assert loaded.json("ledger", "verify")["ok"]
    charge(loaded, "0.125")
    assert spent(loaded) == "0.875"


def test_no_file_is_deleted_by_a_ledger_that_was_put_back(loaded):
    installation = loaded.installation
    database = installation.data / "curator.sqlite"
    with contextlib.closing(sqlite3.connect(database)) as live:
        live.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    old = database.read_bytes()
    installation.load([*DEFAULT_ROWS, "500,F,30,north,2024-01-11,n"])
    for path in installation.data.glob("curator.sqlite*"):
        path.unlink()
    database.write_bytes(old)
    before = sorted(installation.data.glob("*/*"))
    with installation.services() as services:
        with pytest.raises(AnchorMismatchError):
            make_runner(services, threading.Event())
        with pytest.raises(AnchorMismatchError):
            job_kinds(services)["dataset.load"].clean()
    assert sorted(installation.data.glob("*/*")) == before


def test_no_file_is_deleted_where_the_secret_is_anothers(loaded):
    installation = loaded.installation
    left_behind = installation.data / "snapshots" / "s_0.duckdb"
    left_behind.touch()
    (installation.data / "secret.key").write_text("ab" * 32)
    with (
        installation.services() as services,
        pytest.raises(CommandRefusedError, match="secret"),
    ):
        make_runner(services, threading.Event())
    assert left_behind.exists()


@pytest.mark.parametrize("name", ["copy", "copy.tar"])
def test_a_backup_is_for_its_owner_alone_and_holds_no_anchor(loaded, tmp_path, name):
    done = loaded.run("backup", "create", tmp_path / name)
    assert "holds the secret and the rows of patients" in done.stderr
    target = tmp_path / name
    if target.is_dir():
        assert modes(target) == 0o700
        files = [path for path in target.rglob("*") if path.is_file()]
        loose = [p.name for p in files if modes(p) & 0o077 and p.suffix != ".duckdb"]
        assert loose == []
        names = {path.relative_to(target).as_posix() for path in files}
    else:
        assert modes(target) == 0o600
        with tarfile.open(target) as tar:
            names = set(tar.getnames())
    assert not any("anchor" in one for one in names)
    assert {"manifest.json", "secret.key", "curator.sqlite"} <= names
    assert sum(one.startswith("snapshots/") for one in names) == 1
    assert sum(one.startswith("overlap/") for one in names) >= 1
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("copy")] == [name]


def test_a_backup_without_snapshots_has_none_and_its_restore_says_so(loaded, tmp_path):
    done = loaded.run("backup", "create", tmp_path / "b", "--without-snapshots")
    assert "rows of patients" not in done.stderr
    assert not (tmp_path / "b" / "snapshots").exists()
    emptied(loaded)
    restored = loaded.json("backup", "restore", tmp_path / "b")
    assert restored["snapshots"] is False
    assert "load each dataset again" in restored["next"][-1]
    assert "active snapshot of dataset 'clinic' is missing" in unserved(loaded)


def test_a_backup_taken_while_questions_run_is_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    installation = Installation(tmp_path).create()
    installation.load()
    key = installation.analyst()
    commands = Commands(installation)
    with serve_in_process(installation) as url:
        ended = threading.Event()

        def go_on():
            with client(url, key) as http:
                while not ended.is_set():
                    assert ask(http, epsilon="0.01").status_code == 200

        asking = threading.Thread(target=go_on)
        asking.start()
        try:
            for name in ("one", "two", "three"):
                commands.run("backup", "create", tmp_path / name)
        finally:
            ended.set()
            asking.join()
        with client(url, key) as http:
            assert ask(http, epsilon="0.01").status_code == 200
    charged = spent(commands)
    emptied(commands)
    commands.run("backup", "restore", tmp_path / "two")
    commands.run("ledger", "reconcile", "--reason", "tried")
    assert commands.json("ledger", "verify")["ok"]
    assert spent(commands) == charged


def _flip(path):
    path.chmod(0o600)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


SPOILERS = {
    "a changed secret": lambda b: _flip(b / "secret.key"),
    "a changed ledger": lambda b: _flip(b / "curator.sqlite"),
    "a missing overlap": lambda b: next((b / "overlap").iterdir()).unlink(),
    "a stranger": lambda b: (b / "curator.env").write_text("CURATOR_HOST=x"),
    "no manifest": lambda b: (b / "manifest.json").unlink(),
    "an empty manifest": lambda b: (b / "manifest.json").write_text("{}"),
    "another format": lambda b: (b / "manifest.json").write_text(
        (b / "manifest.json").read_text().replace('"format": 1', '"format": 2')
    ),
    "a way out": lambda b: (b / "manifest.json").write_text(
        (b / "manifest.json").read_text().replace("secret.key", "../secret.key")
    ),
}


@pytest.mark.parametrize("how", sorted(SPOILERS))
def test_a_backup_that_is_not_whole_leaves_nothing_in_data(loaded, tmp_path, how):
    loaded.run("backup", "create", tmp_path / "b")
    SPOILERS[how](tmp_path / "b")
    emptied(loaded)
    assert loaded.said("backup", "restore", tmp_path / "b").startswith("refused: ")
    assert not any(loaded.installation.data.iterdir())


def test_restoring_over_an_installation_is_refused(loaded, tmp_path):
    loaded.run("backup", "create", tmp_path / "b")
    assert "is not empty" in loaded.said("backup", "restore", tmp_path / "b")
    assert loaded.json("ledger", "verify")["ok"]


def test_no_backup_goes_over_a_file_or_into_data(loaded, tmp_path):
    (tmp_path / "b").write_text("kept")
    assert "exists" in loaded.said("backup", "create", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "kept"
    inside = loaded.installation.data / "b.tar"
    assert "lies inside CURATOR_DATA" in loaded.said("backup", "create", inside)
    nowhere = tmp_path / "none" / "b.tar"
    assert "there is no folder" in loaded.said("backup", "create", nowhere)


def test_without_pg_dump_the_refusal_says_what_to_type(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    url = "postgresql+psycopg://ada:pa55word@db:5433/books"
    with pytest.raises(CommandRefusedError) as refused:
        dump_postgres(url, tmp_path / "x")
    said = str(refused.value)
    assert "--dbname=postgresql://ada@db:5433/books" in said
    assert "pa55word" not in said + restore_words(url, tmp_path / "x")


@pytest.fixture
def quoting_pg_dump(tmp_path, monkeypatch):
    """A pg_dump that writes down its command line and its password."""
    tool = tmp_path / "bin" / "pg_dump"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@ -- $PGPASSWORD" > {tmp_path}/told\n')
    tool.chmod(0o700)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")
    monkeypatch.setattr(postgres_dump, "create_engine", mock.MagicMock())
    monkeypatch.setattr(postgres_dump, "head_of", mock.MagicMock())
    return tmp_path / "told"


def test_no_secret_is_on_the_command_line_of_pg_dump(quoting_pg_dump, tmp_path):
    url = "postgresql+psycopg://db/books?user=ada&password=pa55word&sslmode=require"
    dump_postgres(url, tmp_path / "x")
    line, _, told = quoting_pg_dump.read_text().partition(" -- ")
    assert "pa55word" not in line
    assert line.endswith("--dbname=postgresql://db/books?sslmode=require&user=ada")
    assert told == "pa55word\n"
    with pytest.raises(CommandRefusedError, match="sslpassword") as refused:
        dump_postgres(f"{url}&sslpassword=s3cret", tmp_path / "y")
    assert "s3cret" not in str(refused.value)


def test_the_manifest_tells_digests_and_the_head(loaded, tmp_path):
    loaded.run("backup", "create", tmp_path / "b")
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_text())
    assert manifest["ledger"]["head"] == loaded.json("ledger", "export")[-1]["hash"]
    assert all(len(f["sha256"]) == 64 for f in manifest["files"].values())
