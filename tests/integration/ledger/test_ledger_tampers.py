"""200 of 200 random edits of a ledger's database are found by ``verify``."""

import random
import shutil
import sqlite3

import pytest
from sqlalchemy import Boolean, Column, MetaData, Table, Text

from tests.support.installations.stored_ledgers import StoredLedger

policy = MetaData()
person = Table(
    "person",
    policy,
    Column("name", Text, primary_key=True),
    Column("active", Boolean, nullable=False),
)
TABLES = ("chain", "budget_limit", "budget_counter", "charge", "answer", "person")
LEASES = {"lease_boot", "held_boot", "attempts"}  # who works now: in no entry


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A closed ledger with every kind of entry but reconcile."""
    stored = StoredLedger(tmp_path_factory.mktemp("ledger"))
    policy.create_all(stored.databases.writer)
    ledger = stored.create()
    with ledger.recorded("hire", "local:test") as change:
        for number in range(4):
            change.insert(person, {"name": f"p{number}", "active": True})
        change.update(person, {"name": "p1"}, {"active": False})
    for number in range(12):
        if number == 4:
            pieces = [b"<", (0, 6), b">"]
            ledger.store_free(stored.request("0"), "q1", b"<answer>", pieces)
        request = stored.request("0.1", idempotency_key=f"k{number}", fingerprint="f")
        paid = ledger.charge(request).charge
        if number % 4 == 0:
            ledger.fail(paid.query_id)
        elif number % 4 < 3:
            ledger.store_answer(paid, f"answer {number}".encode())
    ledger.store_free(stored.request("0"), "q1", b"free")
    ledger.charge(stored.request("99"))
    assert ledger.verify([person]).ok
    stored.databases.close()
    with sqlite3.connect(stored.database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return stored.folder


@pytest.fixture
def edited(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "copy")
    connection = sqlite3.connect(tmp_path / "copy" / "ledger.sqlite")
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    yield connection
    connection.close()


def problems(folder):
    stored = StoredLedger(folder)
    try:
        return stored.ledger().verify([person]).problems
    finally:
        stored.databases.close()


def flipped(dice, value):
    if value is None:
        return "x"
    if isinstance(value, int):
        return value ^ (1 << dice.randrange(40))
    place = dice.randrange(len(value))
    if isinstance(value, bytes):
        return value[:place] + bytes([value[place] ^ 1]) + value[place + 1 :]
    return value[:place] + chr(ord(value[place]) ^ 1) + value[place + 1 :]


def retyped(dice, value):
    if isinstance(value, bytes):
        return value.decode()
    return value.encode() if isinstance(value, str) else "words"


def tamper(connection, dice):
    """Make one random edit; return False where it changed nothing."""
    table = dice.choice(TABLES)
    rows = [row[0] for row in connection.execute(f"SELECT rowid FROM {table}")]
    columns = connection.execute(f"PRAGMA table_info({table})")
    column = dice.choice([row[1] for row in columns if row[1] not in LEASES])
    row, other = dice.choice(rows), dice.choice(rows)
    read = f"SELECT {column} FROM {table} WHERE rowid = ?"
    old = connection.execute(read, (row,)).fetchone()[0]
    edit = dice.choice(["flip", "flip", "flip", "null", "type", "copy", "delete"])
    if edit == "delete":
        connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
        return True
    new = {
        "flip": lambda: flipped(dice, old),
        "null": lambda: None,
        "type": lambda: retyped(dice, old),
        "copy": lambda: connection.execute(read, (other,)).fetchone()[0],
    }[edit]()
    if new == old or (edit == "type" and old is None):
        return False
    try:
        connection.execute(
            f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, row)
        )
    except sqlite3.IntegrityError:
        return False
    return True


@pytest.mark.parametrize("seed", range(200))
def test_a_random_edit_is_found(edited, tmp_path, seed):
    dice = random.Random(seed)
    while not tamper(edited, dice):
        pass
    edited.commit()
    assert problems(tmp_path / "copy")


def test_the_untouched_copy_is_green(edited, tmp_path):
    assert problems(tmp_path / "copy") == ()


def test_two_entries_changing_places_are_found(edited, tmp_path):
    edited.executescript(
        "UPDATE chain SET seq = -1 WHERE seq = 5;"
        "UPDATE chain SET seq = 5 WHERE seq = 6;"
        "UPDATE chain SET seq = 6 WHERE seq = -1;"
    )
    assert problems(tmp_path / "copy")


def test_a_tail_cut_off_with_all_that_was_derived_from_it_is_found(edited, tmp_path):
    last = edited.execute("SELECT MAX(seq) FROM charge").fetchone()[0]
    nano = 10**8
    edited.executescript(
        f"DELETE FROM answer WHERE query_id IN "
        f"(SELECT query_id FROM charge WHERE seq >= {last - 1});"
        f"DELETE FROM charge WHERE seq >= {last - 1};"
        f"UPDATE charge SET state = 'running' WHERE seq = {last - 2};"
        f"DELETE FROM chain WHERE seq >= {last - 1};"
        f"UPDATE budget_counter SET nano_epsilon = nano_epsilon - {nano};"
    )
    found = problems(tmp_path / "copy")
    assert any("anchor" in problem for problem in found)
