"""A ledger moves to PostgreSQL: one of the two serves at any moment, and never both."""

import json
import shutil
import signal

import pytest
from sqlalchemy import insert, inspect

from budget.storage.databases import Databases
from server.persistence.linkage_tables import linkage_decision
from tests.crash.instruments.books import database, outwait_leases, problems, spent
from tests.crash.instruments.processes import lines, question
from tests.crash.moving.move_kills import SOURCE_GOES_ON, TARGET_GOES_ON
from tests.crash.moving.moves import (
    DECISION,
    all_rows,
    copy_of,
    filled,
    move,
    move_until,
    on_postgresql,
)

pytestmark = pytest.mark.thorough
PEOPLE = "population:people"
BEFORE_COMMIT = SOURCE_GOES_ON[:4]
COPIED = SOURCE_GOES_ON[4:]


@pytest.fixture(scope="module")
def made(nursery, tmp_path_factory):
    """An installation, the key of who asked it, and the answer."""
    return filled(nursery, tmp_path_factory.mktemp("made"))


@pytest.fixture
def old(made, tmp_path):
    """A copy of it, on SQLite, that a test may spoil."""
    return copy_of(made[0], tmp_path)


@pytest.fixture
def new(old, empty_database):
    """The same once its ledger is in PostgreSQL."""
    return on_postgresql(old, empty_database)


def writes(installation, name):
    """Whether a command that writes to the ledger is done; it says why it is not."""
    done = installation.curator("principal", "create", name, "--role", "analyst")
    assert "Traceback" not in done.stderr
    assert "throwaway" not in done.stdout + done.stderr  # the password
    return done.returncode == 0


REFUSED = (
    ("serve", "--port", "0"),
    ("ledger", "reconcile", "--reason", "a test"),
    ("backup", "create", "backup.tar"),
    ("db", "upgrade"),
    ("worker",),
)


def is_moved(new, commands=REFUSED[:1]):
    """Whether the old file refuses, in words, and the new ledger is whole."""
    for command in commands:
        done = on_postgresql(new, "").curator(*command)
        assert (done.returncode, "was moved to" in done.stderr) == (1, True), command
    assert problems(new) == []
    return True


def test_a_move_carries_every_row_and_its_ledger_goes_on(nursery, made, old, new):
    before, paid = all_rows(old), spent(old, PEOPLE)
    anchor = old.anchor.read_bytes()
    done = move(old, new.url)
    assert done.returncode == 0, done.stderr
    after = all_rows(new)
    entry = after["chain"].pop()
    assert after == before
    assert json.loads(entry[3])["action"] == "ledger.move"
    assert json.loads(entry[3])["facts"]["entries"] == len(before["chain"])
    assert old.anchor.read_bytes() != anchor
    assert is_moved(new, REFUSED)
    assert on_postgresql(new, "").curator("init", "--single-custodian").returncode == 1
    assert spent(new, PEOPLE) == paid
    outwait_leases(new)
    with nursery.serving(new) as server, lines(server.port, made[1], 1) as (line,):
        assert line.ask(question("1"), idempotency_key="once").body == made[2]
        assert line.ask(question("1")).status == 200
    assert problems(new) == []


def test_numbers_that_postgresql_gives_go_on_after_those_that_were_copied(old, new):
    assert move(old, new.url).returncode == 0
    with new.services() as services, services.databases.work.begin() as connection:
        made = connection.execute(
            insert(linkage_decision)
            .values(id="d8", **DECISION)
            .returning(linkage_decision.c.number)
        )
        assert made.scalar_one() == 8


@pytest.mark.parametrize("point", SOURCE_GOES_ON)
def test_killed_before_the_closing_the_old_file_serves_and_the_move_is_done_again(
    old, new, point
):
    assert move_until(point, old, new.url).returncode == -signal.SIGKILL
    assert old.curator("ledger", "verify").returncode == 0
    if point in BEFORE_COMMIT:
        assert tables_of(new.url) == []
        assert writes(old, "eve")
    assert move(old, new.url).returncode == 0
    assert is_moved(new)
    assert writes(new, "zoe")


@pytest.mark.parametrize("point", TARGET_GOES_ON)
def test_killed_after_the_closing_the_new_ledger_serves_at_once(old, new, point):
    assert move_until(point, old, new.url).returncode == -signal.SIGKILL
    assert writes(new, "eve")
    assert move(old, new.url).returncode == 0
    assert is_moved(new)


@pytest.mark.parametrize("point", TARGET_GOES_ON)
def test_killed_after_the_closing_the_same_command_ends_the_move(old, new, point):
    assert move_until(point, old, new.url).returncode == -signal.SIGKILL
    assert move(old, new.url).returncode == 0
    assert is_moved(new)


@pytest.mark.parametrize("point", COPIED)
def test_of_two_that_hold_the_anchor_the_first_that_writes_is_the_ledger(
    old, new, point
):
    assert move_until(point, old, new.url).returncode == -signal.SIGKILL
    assert writes(old, "eve")
    assert not writes(new, "zoe")
    refused = move(old, new.url)
    assert (refused.returncode, "went on since" in refused.stderr) == (1, True)
    assert writes(old, "ann")


@pytest.mark.parametrize("point", COPIED)
def test_a_target_that_served_before_the_closing_keeps_the_ledger(old, new, point):
    assert move_until(point, old, new.url).returncode == -signal.SIGKILL
    assert writes(new, "zoe")
    assert not writes(old, "eve")
    assert move(old, new.url).returncode == 0
    assert is_moved(new)
    assert writes(new, "ann")


def test_a_copy_of_the_old_file_from_before_the_move_does_not_serve(old, new, tmp_path):
    kept = tmp_path / "kept"
    shutil.copytree(old.data, kept)
    assert move(old, new.url).returncode == 0
    shutil.rmtree(old.data)
    shutil.copytree(kept, old.data)
    assert not writes(old, "eve")
    done = old.curator("serve", "--port", "0")
    assert (done.returncode, "anchor" in done.stderr) == (1, True)
    assert writes(new, "zoe")


def test_a_process_that_had_the_old_file_open_writes_to_it_no_more(old, new):
    with database(old) as held:
        assert held.execute("SELECT COUNT(*) FROM job").fetchone() == (1,)
        assert move(old, new.url).returncode == 0
        for change in (
            "UPDATE job SET state = 'running'",
            "DELETE FROM rate",
            "INSERT INTO chain VALUES (999, 'admin', '', '{}', '')",
        ):
            if change.startswith("DELETE"):
                held.execute(change)  # of no row: nothing is written
                continue
            with pytest.raises(Exception, match="was moved to PostgreSQL"):
                held.execute(change)


def test_a_move_is_refused_while_a_server_runs_and_into_what_is_not_empty(
    nursery, old, new
):
    with nursery.serving(old):
        refused = move(old, new.url)
        assert (refused.returncode, "stop it" in refused.stderr) == (1, True)
    assert tables_of(new.url) == []
    databases = Databases(new.url)
    with databases.writer.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE theirs (n integer)")
    databases.close()
    refused = move(old, new.url)
    assert (refused.returncode, "not empty" in refused.stderr) == (1, True)
    assert tables_of(new.url) == ["theirs"]
    assert writes(old, "eve")


def test_a_move_of_an_edited_ledger_or_with_an_edited_copy_is_refused(old, new):
    assert move_until(COPIED[0], old, new.url).returncode == -signal.SIGKILL
    databases = Databases(new.url)
    with databases.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE text_span SET score = score + 1e-9")
    databases.close()
    refused = move(old, new.url)
    assert (refused.returncode, "text_span is not" in refused.stderr) == (1, True)
    with database(old) as held, held:
        held.execute("UPDATE budget_limit SET nano_epsilon = nano_epsilon + 1")
    refused = move(old, new.url)
    assert (refused.returncode, "was edited" in refused.stderr) == (1, True)


def test_a_move_is_refused_while_a_worker_runs_a_job(old, new):
    with database(old) as held, held:
        held.execute("UPDATE job SET state = 'running', lease_until_ms = 9e15")
    refused = move(old, new.url)
    assert (refused.returncode, "job_3" in refused.stderr) == (1, True)
    assert tables_of(new.url) == []


def test_a_text_that_postgresql_cannot_hold_is_named_and_nothing_is_moved(old, new):
    with database(old) as held, held:
        held.execute("UPDATE text_collection SET source = 'a' || char(0)")
    refused = move(old, new.url)
    assert (refused.returncode, "text_collection" in refused.stderr) == (1, True)
    assert tables_of(new.url) == []
    assert writes(old, "eve")


def test_a_move_to_anything_but_postgresql_or_from_it_is_refused(old, new, tmp_path):
    assert move(old, f"sqlite:///{tmp_path / 'x' / 'other.sqlite'}").returncode == 1
    assert move(old, "mysql://x").returncode == 2
    assert move(new, new.url).returncode == 1


def tables_of(url):
    databases = Databases(url)
    try:
        with databases.reader.connect() as connection:
            return inspect(connection).get_table_names()
    finally:
        databases.close()
