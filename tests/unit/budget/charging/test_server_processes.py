"""Who is alive, by the database's clock."""

import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import select, update

from budget.charging import server_processes
from budget.storage.databases import Databases
from budget.storage.tables import metadata, server_process


@pytest.fixture
def databases(stored):
    metadata.create_all(stored.databases.writer)
    return stored.databases


def alive(databases):
    with databases.reader.connect() as connection:
        return server_processes.alive(connection)


def age(databases, name, milliseconds):
    with databases.work.begin() as connection:
        connection.execute(
            update(server_process)
            .where(server_process.c.id == name)
            .values(renewed_ms=server_process.c.renewed_ms - milliseconds)
        )


def test_a_boot_lives_for_fifteen_seconds_after_its_last_renewal(databases):
    with databases.work.begin() as connection:
        server_processes.renew(connection, "one")
        server_processes.renew(connection, "two")
    age(databases, "one", 12_000)
    assert alive(databases) == {"one", "two"}
    age(databases, "one", 3_001)
    assert alive(databases) == {"two"}
    with databases.work.begin() as connection:
        server_processes.renew(connection, "one")
    assert alive(databases) == {"one", "two"}


def test_a_clock_that_was_set_back_keeps_no_dead_boot_alive(databases):
    with databases.work.begin() as connection:
        server_processes.renew(connection, "one")
    age(databases, "one", -10_000)
    assert alive(databases) == {"one"}
    age(databases, "one", -60_000)
    assert alive(databases) == set()
    with databases.work.begin() as connection:
        server_processes.renew(connection, "one")
    assert alive(databases) == {"one"}


def test_a_boot_that_ended_is_dead_at_once(databases):
    heartbeat = server_processes.Heartbeat(databases, "one", Path("anchor"))
    heartbeat.start()
    assert alive(databases) == {"one"}
    heartbeat.stop()
    assert alive(databases) == set()


def test_a_heartbeat_renews_from_its_own_thread(databases, monkeypatch):
    monkeypatch.setattr(server_processes, "RENEW_SECONDS", 0.01)
    heartbeat = server_processes.Heartbeat(databases, "one", Path("anchor"))
    heartbeat.start()
    age(databases, "one", 60_000)
    deadline = time.monotonic() + 10
    while not alive(databases) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert alive(databases) == {"one"}
    heartbeat.stop()


def test_a_heartbeat_tells_of_an_anchor_that_came_back_as_another_file(
    databases, monkeypatch, tmp_path
):
    """Else a worker that starts anew is refused by the one that goes on."""
    monkeypatch.setattr(server_processes, "RENEW_SECONDS", 0.01)
    anchor, away = tmp_path / "a.anchor", tmp_path / "away"
    anchor.write_text("a record")
    beat = server_processes.Heartbeat(databases, "one", anchor)
    beat.start()
    try:
        anchor.rename(away)
        time.sleep(0.1)  # some renewals without it
        anchor.write_text("a record")
        here = server_processes.HostIdentity.of(anchor)
        assert here != server_processes.HostIdentity.of(away)
        until = time.monotonic() + 30
        while place_of(databases) != here.digest:
            assert time.monotonic() < until
            time.sleep(0.01)
        register(databases, "two", here)
    finally:
        beat.stop()


def test_a_heartbeat_lives_on_where_the_anchors_folder_may_not_be_read(
    databases, monkeypatch, tmp_path
):
    monkeypatch.setattr(server_processes, "RENEW_SECONDS", 0.01)
    beat = server_processes.Heartbeat(databases, "one", tmp_path / "a.anchor")
    beat.start()
    before = place_of(databases)

    def refused(*_args, **_more):
        raise PermissionError

    try:
        monkeypatch.setattr(Path, "stat", refused)
        age(databases, "one", 60_000)
        until = time.monotonic() + 30
        while not alive(databases):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert place_of(databases) == before
    finally:
        monkeypatch.undo()
        beat.stop()


def place_of(databases):
    with databases.reader.connect() as connection:
        (told,) = server_processes.serving(connection)
    return told.place


def test_the_databases_clock_is_this_hosts_here(databases):
    with databases.reader.connect() as connection:
        told = connection.execute(select(server_processes.now_ms())).scalar_one()
    assert abs(told - time.time() * 1000) < 2_000


HERE, ELSEWHERE = (
    server_processes.HostIdentity("here", "a" * 64),
    server_processes.HostIdentity("elsewhere", "b" * 64),
)


def register(databases, name, place):
    with databases.work.begin() as connection:
        server_processes.register(connection, name, place)


def test_a_ledger_that_another_host_serves_is_refused_until_that_one_is_dead(
    databases,
):
    register(databases, "one", HERE)
    register(databases, "two", HERE)
    if not databases.is_shared:  # its lock is a file's, and a copy has its own rows
        register(databases, "three", ELSEWHERE)
        return
    with pytest.raises(
        server_processes.ServedElsewhereError, match=r"served by here since 2\d+-"
    ):
        register(databases, "three", ELSEWHERE)
    assert alive(databases) == {"one", "two"}
    for name in ("one", "two"):
        age(databases, name, server_processes.LIFE_MS + 1)
    register(databases, "three", ELSEWHERE)
    with pytest.raises(server_processes.ServedElsewhereError, match="elsewhere"):
        register(databases, "four", HERE)


def test_of_two_hosts_that_begin_at_once_one_serves(stored, databases):
    if not databases.is_shared:
        pytest.skip("a copied file cannot tell")
    both, outcomes = threading.Barrier(2), []

    def begin(name, place):
        other = Databases(stored.url)
        both.wait(30)
        try:
            register(other, name, place)
            outcomes.append("serves")
        except server_processes.ServedElsewhereError:
            outcomes.append("refused")
        finally:
            other.close()

    threads = [
        threading.Thread(target=begin, args=told)
        for told in (("one", HERE), ("two", ELSEWHERE))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) == ["refused", "serves"]


def test_a_boot_says_where_it_serves_and_since_when(databases):
    register(databases, "one", HERE)
    age(databases, "one", 3_000)
    with databases.reader.connect() as connection:
        (told,) = server_processes.serving(connection)
    assert (told.host, told.place) == ("here", "a" * 64)
    assert 3 <= told.seen_seconds < 15
    assert abs(told.since.timestamp() - time.time()) < 60
    with databases.work.begin() as connection:
        connection.execute(update(server_process).values(since_ms=None, host=None))
        (told,) = server_processes.serving(connection)
    assert str(told).startswith("an unknown host since an unknown time, last seen")


def test_a_place_is_its_machine_and_its_anchors_file(tmp_path, monkeypatch):
    anchor, copied = tmp_path / "anchor", tmp_path / "copy"
    anchor.write_text("x")
    copied.write_text("x")
    linked = tmp_path / "link"
    linked.symlink_to(anchor)
    here = server_processes.HostIdentity.of(anchor)
    assert server_processes.HostIdentity.of(linked) == here
    assert server_processes.HostIdentity.of(copied) != here
    assert server_processes.HostIdentity.of(tmp_path / "none") != here
    monkeypatch.setattr(server_processes, "_MACHINE", copied)
    assert server_processes.HostIdentity.of(anchor) != here
    monkeypatch.setattr(server_processes, "_MACHINE", tmp_path / "none")
    assert server_processes.HostIdentity.of(anchor) != here
