"""L14: whatever is edited, ``ledger verify`` finds it."""

import contextlib
import json
import random
import shutil
import sqlite3

import pytest

from server.use_cases.oversight.auditing import AuditService
from tests.crash.instruments.books import database
from tests.crash.instruments.filled import assert_filled, fill
from tests.crash.instruments.tampers import run_tampers
from tests.effort import rounds
from tests.support.installations.harness import Installation

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def filled(tmp_path_factory, nursery):
    installation = Installation(tmp_path_factory.mktemp("filled")).create()
    fill(nursery, installation)
    assert_filled(installation)
    return installation


@pytest.fixture
def copied(filled, tmp_path):
    """A copy that a test may spoil."""
    for part in ("data", "anchor"):
        shutil.copytree(filled.folder / part, tmp_path / part)
    return Installation(tmp_path)


def test_all_random_edits_of_the_database_are_found(filled, tmp_path):
    dice = random.Random()
    state = random.getrandbits(64)
    dice.seed(state)
    missed = run_tampers(filled, tmp_path, dice, rounds(200, 80))
    assert missed == [], f"seed {state}"


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE budget_counter SET nano_epsilon = 0 WHERE scope = 'population:people'",
        "UPDATE key SET revoked = 0",
        "DELETE FROM chain WHERE seq = (SELECT max(seq) FROM chain)",
        "UPDATE alembic_version SET version_num = '9999'",
    ],
)
def test_the_command_is_red_on_an_edit(copied, edit):
    with database(copied) as held, held:
        held.execute(edit)
    done = copied.curator("ledger", "verify", "--json")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_is_green_on_a_whole_ledger(copied):
    done = copied.curator("ledger", "verify", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ok"]
    assert found["problems"] == []
    assert found["entries"] > 20


def test_charges_and_entries_are_one_to_one(filled):
    with database(filled) as held:
        rows = set(held.execute("SELECT query_id, seq, nano_epsilon > 0 FROM charge"))
    with filled.services() as services:
        entries = AuditService(services, "local:test").export()
    made = [
        (entry["query_id"], entry["seq"], int(entry["kind"] == "charge"))
        for entry in entries
        if entry["kind"] in {"charge", "free"}
    ]
    assert len(made) == len(set(made))
    assert set(made) == rows
    ended = [e["query_id"] for e in entries if e["kind"] in {"answered", "failed"}]
    assert sorted(ended) == sorted(query_id for query_id, _, paid in made if paid)


def test_a_page_that_was_overwritten_makes_verify_red_and_not_crash(copied):
    with contextlib.closing(
        sqlite3.connect(copied.data / "curator.sqlite")
    ) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    path = copied.data / "curator.sqlite"
    content = bytearray(path.read_bytes())
    content[4096 : 4096 * 30] = bytes(4096 * 29)
    path.write_bytes(content)
    done = copied.curator("ledger", "verify")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
