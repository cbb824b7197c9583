"""``curator doctor`` and ``curator db upgrade``."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from budget.storage.databases import Databases
from budget.storage.process_lock import ProcessLock
from server.persistence.schema import upgrade
from tests.cli.conftest import Commands
from tests.crash.instruments.disks import filled, small_disk
from tests.support.installations.harness import Installation


def examined(commands, code=0):
    done = commands.run("doctor", "--json", code=code)
    found = json.loads(done.stdout)
    assert found["ok"] is (code == 0)
    return {(f["check"], f["state"]) for f in found["findings"]}, done.stdout


def test_a_sound_installation_has_no_failure(loaded):
    found, text = examined(loaded)
    assert {check for check, _ in found} == {
        "settings", "safety", "disk space", "file system", "open files", "anchor",
        "database settings", "parser", "ledger", "files", "snapshots", "releases",
        "servers", "clock", "projects", "caps", "incidents",
    }  # fmt: skip
    assert ("settings", "warn") in found  # the tests turn slots off
    assert (loaded.installation.data / "secret.key").read_text().strip() not in text
    assert loaded.run("doctor").stdout.count("ok    ") >= 10


def test_a_small_disk_is_enough_for_the_anchor(bare):
    with small_disk(bare.installation.anchor.parent, 1 << 20) as folder:
        bare.run("init", "--single-custodian")
        assert ("disk space", "fail") not in examined(bare)[0]
        with filled(folder, 64 << 10):
            assert ("disk space", "fail") in examined(bare, code=1)[0]


def test_an_empty_folder_stays_empty(bare):
    bare.installation.data.mkdir(mode=0o700)
    examined(bare, code=1)
    for words in (("ledger", "verify"), ("principal", "list"), ("db", "upgrade")):
        assert "run 'curator init' first" in bare.said(*words)
    assert [*bare.installation.data.iterdir()] == []


def _nearly_spend(commands):
    commands.run("population", "cap", "people", "0")


def _end_soon(commands):
    soon = datetime.now(UTC).date() + timedelta(days=3)
    commands.run(
        "project", "create", "short", "--dataset", "clinic", "--principal", "ada",
        "--allotment", "1", "--expires", soon,
    )  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("trouble", "check", "state"),
    [
        (lambda c: c.installation.data.chmod(0o755), "safety", "fail"),
        (lambda c: c.installation.anchor.unlink(), "anchor", "fail"),
        (
            lambda c: (c.installation.data / "secret.key").write_text("00" * 32),
            "files",
            "fail",
        ),
        (
            lambda c: [
                p.unlink() for p in (c.installation.data / "snapshots").iterdir()
            ],
            "snapshots",
            "fail",
        ),
        (_nearly_spend, "caps", "warn"),
        (_end_soon, "projects", "warn"),
    ],
)
def test_each_trouble_is_found(loaded, trouble, check, state):
    trouble(loaded)
    found, _ = examined(loaded, code=1 if state == "fail" else 0)
    assert (check, state) in found


def test_an_edited_ledger_is_found(loaded):
    database = loaded.installation.data / "curator.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE budget_limit SET nano_epsilon = nano_epsilon + 1")
        connection.commit()
    found, _ = examined(loaded, code=1)
    assert ("ledger", "fail") in found


def test_the_doctor_needs_no_installation_to_look(bare):
    found, _ = examined(bare, code=1)
    assert ("catalogue", "fail") in found


@pytest.fixture
def old(installation):
    """Commands on an installation whose schema is an earlier version's."""
    installation.create()
    (installation.data / "curator.sqlite").unlink()
    databases = Databases(installation.settings.url)
    with databases.writer.begin() as connection:
        upgrade(connection, "0002")
    databases.close()
    return Commands(installation)


@pytest.mark.parametrize(
    "command", [("serve", "--port", "1"), ("dataset", "list"), ("ledger", "verify")]
)
def test_an_old_schema_is_refused_until_it_is_upgraded(old, command):
    said = old.said(*command)
    assert "has the schema 0002" in said
    assert "type 'curator db upgrade'" in said


def test_an_upgrade_is_one_deliberate_command(old):
    assert old.json("db", "upgrade") == {"from": "0002", "to": "0014", "changed": True}
    assert old.json("db", "upgrade")["changed"] is False
    assert old.json("dataset", "list")["items"] == []


def test_no_upgrade_without_an_installation_or_beside_a_server(bare, tmp_path):
    assert "run 'curator init' first" in bare.said("db", "upgrade")
    installation = Installation(tmp_path).create()
    with ProcessLock(installation.settings.lock_file):
        assert "another server" in bare.said("db", "upgrade")
