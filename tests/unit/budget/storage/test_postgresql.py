"""PostgreSQL under the ledger: refusals in words, leases, and a connection lost."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from sqlalchemy import event, make_url, text, update

from budget.charging import server_processes
from budget.ledger import FailedReplay, InFlight, Ledger, Replay, UncertainError
from budget.reading.listing import Seen
from budget.storage.databases import Databases
from budget.storage.postgresql import DatabaseUnreachableError
from budget.storage.silences import SilentError, heard
from budget.storage.tables import charge, server_process
from privacy.errors import LedgerUnavailableError
from server.configuration.settings import read_settings
from tests.support.installations.stored_ledgers import PostgresStoredLedger


@pytest.fixture
def stored(tmp_path, cluster, empty_database):
    stored = PostgresStoredLedger(tmp_path, cluster, empty_database)
    yield stored
    stored.databases.close()


def remedy(url):
    databases = Databases(str(url))
    with pytest.raises(DatabaseUnreachableError) as caught, databases.writer.connect():
        pass
    databases.close()
    assert "reached now" in str(caught.value)  # what HTTP shows
    return caught.value.remedy


def test_a_wrong_password_is_named_and_never_shown(empty_database):
    url = make_url(empty_database).set(password="hunter2")  # noqa: S106 - a wrong one
    said = remedy(url.render_as_string(hide_password=False))
    assert "password authentication failed" in said
    assert "hunter2" not in said


def test_a_server_that_is_away_and_a_missing_database_are_told_apart(empty_database):
    url = make_url(empty_database)
    away = url.set(port=1).render_as_string(hide_password=False)
    missing = url.set(database="nowhere").render_as_string(hide_password=False)
    assert "refused" in remedy(away)
    assert '"nowhere" does not exist' in remedy(missing)


def test_without_the_driver_it_says_what_to_install(empty_database):
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from budget.storage.databases import Databases\n"
        "from budget.storage.postgresql import DatabaseUnreachableError\n"
        "try:\n    Databases(sys.argv[1])\n"
        "except DatabaseUnreachableError as error:\n    print(error.remedy)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, empty_database],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pip install --require-hashes -r requirements/postgres.txt" in done.stdout


def test_a_server_that_may_forget_commits_is_refused(cluster, empty_database):
    with cluster.admin() as admin:
        admin.execute("ALTER ROLE curator SET synchronous_commit = off")
        try:
            assert "synchronous_commit" in remedy(empty_database)
        finally:
            admin.execute("ALTER ROLE curator RESET synchronous_commit")


def test_a_live_writer_stays_durable_when_the_server_is_set_otherwise(cluster, stored):
    def told(engine):
        with engine.begin() as connection:
            return connection.exec_driver_sql("SHOW synchronous_commit").scalar_one()

    stored.create()
    assert told(stored.databases.reader) == "on"
    with cluster.admin() as admin:
        admin.execute("ALTER SYSTEM SET synchronous_commit = off")
        try:
            admin.execute("SELECT pg_reload_conf()")
            deadline = time.monotonic() + 20
            while told(stored.databases.reader) == "on" and time.monotonic() < deadline:
                time.sleep(0.02)
            assert told(stored.databases.reader) == "off"  # a live connection follows
            assert told(stored.databases.writer) == "on"
        finally:
            admin.execute("ALTER SYSTEM RESET synchronous_commit")
            admin.execute("SELECT pg_reload_conf()")


def test_a_database_in_another_encoding_is_refused(cluster, empty_database):
    with cluster.admin() as admin:
        admin.execute(
            "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'"
        )
    assert "UTF8" in remedy(cluster.url_of("latin"))


def test_a_plain_url_means_the_same_driver(tmp_path):
    told = "postgresql://ada:secret@db/curator"
    settings = read_settings(
        data=tmp_path / "d", anchor=tmp_path / "a", database_url=told
    )
    assert settings.url == "postgresql+psycopg://ada:secret@db/curator"
    assert "secret" not in repr(settings)


def test_a_server_that_says_nothing_is_given_up(stored):
    databases = stored.databases
    for engine in (databases.reader, databases.writer, databases.work):
        with databases.unchecked(), engine.connect() as connection:
            backend = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
            os.kill(backend, signal.SIGSTOP)
            databases.bound_silence(0.5)
            try:
                with pytest.raises(LedgerUnavailableError, match="cannot be reached"):
                    connection.execute(text("SELECT 1"))
            finally:
                databases.silent_seconds = None
                os.kill(backend, signal.SIGCONT)
        with databases.unchecked(), engine.connect() as connection:
            assert connection.execute(text("SELECT 1")).scalar_one() == 1


def test_what_brings_something_now_and_then_is_waited_for():
    def waiting():
        got = []
        while len(got) < 3:
            got.append((yield 1))
        return got

    now = iter([0, 4, 9, 14])
    gen = heard(waiting(), 5, lambda: next(now))
    assert next(gen) == 1
    assert gen.send(1) == 1  # at 4
    assert gen.send(0) == 1  # at 9: five seconds later
    with pytest.raises(SilentError):
        gen.send(0)
    gen = heard(waiting(), 5, lambda: 0)
    next(gen)
    gen.send(1)
    gen.send(2)
    with pytest.raises(StopIteration) as ended:
        gen.send(3)
    assert ended.value.value == [1, 2, 3]


def test_readers_cannot_write(stored):
    stored.create()
    with (
        stored.databases.reader.connect() as connection,
        pytest.raises(Exception, match="read-only"),
    ):
        connection.exec_driver_sql("DELETE FROM chain")


def test_writers_wait_for_one_another_even_without_the_anchors_lock(stored):
    stored.create()
    order, began = [], threading.Event()

    def second():
        other = Databases(stored.url)
        began.set()
        with other.writer.begin():
            order.append("second")
        other.close()

    with stored.databases.writer.begin():
        thread = threading.Thread(target=second)
        thread.start()
        began.wait()
        thread.join(0.3)
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]


class Process:
    """One of several processes that serve a ledger."""

    def __init__(self, stored, name):
        self.stored = stored
        self.name = name
        self.unreleased = set()
        self.ledger = Ledger(
            stored.databases,
            stored.anchor,
            unreleased=lambda: self.unreleased,
            worker_id=name,
        )
        with stored.databases.work.begin() as connection:
            server_processes.renew(connection, name)

    def die(self):
        with self.stored.databases.work.begin() as connection:
            connection.execute(
                update(server_process)
                .where(server_process.c.id == self.name)
                .values(
                    renewed_ms=server_process.c.renewed_ms - server_processes.LIFE_MS
                )
            )


@pytest.fixture
def processes(stored):
    stored.create()
    return Process(stored, "one"), Process(stored, "two")


def test_a_lease_is_lost_when_its_process_is_not_renewed_and_then_alone(
    stored, processes
):
    one, two = processes
    paid = one.ledger.charge(stored.request())
    assert two.ledger.take_up()[0] == []
    one.die()
    assert one.ledger.take_up()[0] == []  # what is its own is not orphaned to it
    assert [o.charge for o in two.ledger.take_up()[0]] == [paid.charge]
    with pytest.raises(LedgerUnavailableError):
        one.ledger.store_answer(paid.charge, b"late")
    assert two.ledger.store_answer(paid.charge, b"noisy") == b"noisy"


def test_an_answer_is_in_flight_to_all_until_released_or_its_process_died(
    stored, processes
):
    one, two = processes
    keyed = {"idempotency_key": "k", "fingerprint": "f"}
    paid = one.ledger.charge(stored.request(**keyed))
    one.ledger.store_answer(paid.charge, b"noisy")
    for process in processes:
        assert process.ledger.take_up() == ([], [])
        assert process.ledger.lookup_key("ada", "k", "f") == InFlight()
        assert process.ledger.query(paid.charge.query_id).held
        reusable = process.ledger.find_reusable(
            "how many", paid.charge.loss, project="study"
        )
        assert reusable is None
    two.ledger.release([paid.charge.query_id])  # not its own to release
    assert two.ledger.lookup_key("ada", "k", "f") == InFlight()
    one.die()
    assert two.ledger.lookup_key("ada", "k", "f") == InFlight()  # until the next tick
    _, (taken,) = two.ledger.take_up()
    assert taken.query_id == paid.charge.query_id
    assert two.ledger.lookup_key("ada", "k", "f") == InFlight()  # until its slot
    two.ledger.release([taken.query_id])
    assert two.ledger.lookup_key("ada", "k", "f") == Replay(
        paid.charge.query_id, b"noisy"
    )


def test_a_release_that_a_crash_of_the_database_forgot_is_made_again(stored, processes):
    one, two = processes
    keyed = {"idempotency_key": "k", "fingerprint": "f"}
    paid = one.ledger.charge(stored.request(**keyed))
    one.unreleased.add(paid.charge.query_id)
    one.ledger.store_answer(paid.charge, b"noisy")  # as after the crash: still held
    one.ledger.release_forgotten()
    assert two.ledger.lookup_key("ada", "k", "f") == InFlight()
    assert listed_state(two.ledger) == "in_flight"
    one.unreleased.clear()  # its reply has left
    two.ledger.release_forgotten()  # not its own
    assert two.ledger.lookup_key("ada", "k", "f") == InFlight()
    one.ledger.release_forgotten()
    assert two.ledger.lookup_key("ada", "k", "f") == Replay(
        paid.charge.query_id, b"noisy"
    )
    assert listed_state(two.ledger) == "answered"


def listed_state(ledger):
    """Return the state of the newest line that the ledger's list shows."""
    seen = Seen(populations=None, ends=())
    ((line,), _) = ledger.lines(seen, lambda _: (), limit=1, cursor=None)
    return line["state"]


def test_a_failed_orphan_shows_only_once_its_entry_is_anchored(stored, processes):
    one, two = processes
    keyed = {"idempotency_key": "k", "fingerprint": "f"}
    paid = one.ledger.charge(stored.request(**keyed))
    with stored.databases.work.begin() as connection:
        connection.execute(update(charge).values(attempts=3, lease_boot=None))
    assert two.ledger.take_up()[0] == []
    assert one.ledger.lookup_key("ada", "k", "f") == InFlight()
    two.ledger.release_forgotten()
    assert one.ledger.lookup_key("ada", "k", "f") == FailedReplay(paid.charge.query_id)


@pytest.mark.parametrize("came_through", [True, False])
def test_a_connection_lost_at_the_commit_is_settled_by_recovery(stored, came_through):
    ledger = stored.create()

    @event.listens_for(stored.databases.writer, "commit", once=True)
    def lose(connection):
        driver = connection.connection.driver_connection
        pid = driver.info.backend_pid
        if came_through:
            driver.execute("COMMIT")
            driver.execute("SELECT 1")  # so that there is a commit to lose
        with stored.cluster.admin() as admin:
            admin.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])

    request = stored.request()
    with pytest.raises(UncertainError) as caught:
        ledger.charge(request)
    assert caught.value.query_id is None
    ledger.give_up(request.query_id)
    claimed = [orphan.charge.query_id for orphan in ledger.take_up()[0]]
    assert claimed == ([request.query_id] if came_through else [])
    assert stored.anchor.read().head.seq == len(ledger.export())
    assert ledger.verify([]).ok
