"""Who is alive, by the database's clock."""

import time

import pytest
from sqlalchemy import select, update

from budget import boots
from budget.tables import boot, metadata


@pytest.fixture
def databases(desk):
    metadata.create_all(desk.databases.writer)
    return desk.databases


def alive(databases):
    with databases.reader.connect() as connection:
        return boots.alive(connection)


def age(databases, name, milliseconds):
    with databases.work.begin() as connection:
        connection.execute(
            update(boot)
            .where(boot.c.id == name)
            .values(renewed_ms=boot.c.renewed_ms - milliseconds)
        )


def test_a_boot_lives_for_fifteen_seconds_after_its_last_renewal(databases):
    with databases.work.begin() as connection:
        boots.renew(connection, "one")
        boots.renew(connection, "two")
    age(databases, "one", 12_000)
    assert alive(databases) == {"one", "two"}
    age(databases, "one", 3_001)
    assert alive(databases) == {"two"}
    with databases.work.begin() as connection:
        boots.renew(connection, "one")
    assert alive(databases) == {"one", "two"}


def test_a_clock_that_was_set_back_keeps_no_dead_boot_alive(databases):
    with databases.work.begin() as connection:
        boots.renew(connection, "one")
    age(databases, "one", -10_000)
    assert alive(databases) == {"one"}
    age(databases, "one", -60_000)
    assert alive(databases) == set()
    with databases.work.begin() as connection:
        boots.renew(connection, "one")
    assert alive(databases) == {"one"}


def test_a_boot_that_ended_is_dead_at_once(databases):
    heartbeat = boots.Heartbeat(databases, "one")
    heartbeat.start()
    assert alive(databases) == {"one"}
    heartbeat.stop()
    assert alive(databases) == set()


def test_a_heartbeat_renews_from_its_own_thread(databases, monkeypatch):
    monkeypatch.setattr(boots, "RENEW_SECONDS", 0.01)
    heartbeat = boots.Heartbeat(databases, "one")
    heartbeat.start()
    age(databases, "one", 60_000)
    deadline = time.monotonic() + 10
    while not alive(databases) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert alive(databases) == {"one"}
    heartbeat.stop()


def test_the_databases_clock_is_this_hosts_here(databases):
    with databases.reader.connect() as connection:
        told = connection.execute(select(boots.now_ms())).scalar_one()
    assert abs(told - time.time() * 1000) < 2_000
