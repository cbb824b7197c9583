"""Several processes serve one ledger on PostgreSQL: they race, die, and lose it."""

import os
import random
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from server.configuration.settings import SettingsError
from tests.crash.instruments.books import (
    answers,
    charges,
    outwait_leases,
    postgres,
    problems,
    settle,
    spent,
)
from tests.crash.instruments.kills import SCOPES, run_kills, total_charged
from tests.crash.instruments.processes import becomes, get, lines, question
from tests.crash.instruments.races import run_races
from tests.effort import IS_LONG, rounds
from tests.support.installations.clusters import Cluster
from tests.support.installations.harness import Installation, free_port

pytestmark = pytest.mark.thorough
WORKERS = 4 if IS_LONG else 2
NANO = 10**9


@pytest.fixture
def installation(tmp_path, cluster):
    installation = Installation(tmp_path, url=cluster.database(), workers=WORKERS)
    installation.create().load()
    return installation


@pytest.fixture
def own_cluster(cluster):
    """A PostgreSQL of this test's own, to stop and start."""
    own = Cluster().create()
    yield own
    own.close()


def workers_of(server):
    path = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    return [int(pid) for pid in path.read_text().split()]


def assert_balanced(installation):
    settle(installation)
    assert problems(installation) == []
    for scope in SCOPES:
        assert spent(installation, scope) == total_charged(installation)


def test_of_64_clients_one_gets_the_last_epsilon_whichever_process_they_meet(
    nursery, installation, key
):
    races = list(run_races(nursery, installation, key, rounds(10, 3)))
    assert [race for race in races if not race.is_right] == []
    assert problems(installation) == []


def test_after_each_kill_of_all_processes_every_answer_that_was_seen_is_there(
    nursery, installation, key
):
    findings = run_kills(nursery, installation, key, rounds(2, 1))
    assert findings.wrong == []
    assert_balanced(installation)


def test_a_second_parent_over_copied_data_and_anchor_refuses_while_the_first_lives(
    nursery, installation, tmp_path_factory
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for part in ("data", "anchor"):
        shutil.copytree(installation.folder / part, elsewhere / part)
    clone = Installation(elsewhere, url=installation.url, workers=WORKERS)
    with nursery.serving(installation):
        done = clone.curator("serve", "--port", str(free_port()))
        assert done.returncode == 1
        assert "this ledger is served by" in done.stderr
        assert "type 'curator serve' again" in done.stderr
        told = installation.curator("doctor").stdout + clone.curator("doctor").stdout
        assert "with another anchor or host than this" in told
    outwait_leases(installation)
    with nursery.serving(clone) as server:
        assert get(server.port, "/readyz") == 200


def test_a_killed_worker_is_replaced_and_what_it_had_in_flight_is_answered_once(
    nursery, installation, key
):
    dice = random.Random()
    names = [f"worker-{number}" for number in range(24)]
    with nursery.serving(installation) as server:
        before = workers_of(server)
        assert len(before) == WORKERS
        with lines(server.port, key, len(names)) as clients:
            for client, name in zip(clients, names, strict=True):
                client.hold(question("0.25"), idempotency_key=name)
            for client in clients:
                client.release()
            time.sleep(dice.uniform(0, 0.2))
            os.kill(dice.choice(before), signal.SIGKILL)
            seen = {
                name: response.body
                for client, name in zip(clients, names, strict=True)
                if (response := client.read()) is not None
            }
        with lines(server.port, key, 1) as (client,):
            for name in names:
                again = client.insist(question("0.25"), idempotency_key=name)
                assert again.status == 200
                assert seen.get(name, again.body) == again.body
        assert len(set(before) & set(workers_of(server))) == WORKERS - 1
        assert len(workers_of(server)) == WORKERS
    assert len(charges(installation)) == len(names)
    assert spent(installation, SCOPES[0]) == len(names) * NANO // 4
    assert_balanced(installation)


def test_a_stopping_server_finishes_what_is_in_flight_and_leaves_no_process(
    nursery, installation, key
):
    installation.slot_ms = 300
    few = {"CURATOR_PERMITS": "8"}
    with nursery.serving(installation, environment=few) as server:
        workers = workers_of(server)
        with lines(server.port, key, 6) as clients:
            for client in clients:
                client.hold().release()
            while len(charges(installation)) < len(clients):
                time.sleep(0.01)
            os.kill(server.pid, signal.SIGTERM)
            assert [client.read().status for client in clients] == [200] * 6
        deadline = time.monotonic() + 30
        while server.alive and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not server.alive
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    with postgres(installation) as held:
        assert held.execute("SELECT count(*) FROM boot").fetchone() == (0,)
        assert held.execute(
            "SELECT count(*) FROM charge WHERE held_boot IS NOT NULL"
        ).fetchone() == (0,)


def test_workers_end_with_their_parent(nursery, installation):
    with nursery.serving(installation) as server:
        workers = workers_of(server)
        os.kill(server.pid, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and any(
            Path(f"/proc/{pid}").exists() for pid in workers
        ):
            time.sleep(0.02)
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def asked_while_in_flight(nursery, installation, key, epsilon, slot_ms):
    """Ask four times under one name, while the first's reply waits for its slot.

    One process reads a caller's questions a quarter of a slot apart: of four that it
    gets the last one is read within the slot, too.

    Returns:
        The statuses of the three before it left: they are replayed afterwards.
    """
    installation.slot_ms = slot_ms
    few = {"CURATOR_PERMITS": "8"}
    body = question(epsilon, reuse="allow")
    with (
        nursery.serving(installation, environment=few) as server,
        lines(server.port, key, 1) as (first,),
        lines(server.port, key, 3) as others,
        lines(server.port, key, 3) as later,  # those others are idle for too long
    ):
        stored = len(answers(installation))
        first.hold(body, idempotency_key=epsilon).release()
        while len(answers(installation)) == stored:
            time.sleep(0.01)
        for other in others:  # any of the processes may accept
            other.hold(body, idempotency_key=epsilon).release()
        statuses = {other.read().status for other in others}
        assert first.read().status == 200
        for other in later:
            other.hold(body, idempotency_key=epsilon).release()
        for other in later:
            assert other.read().headers.get("idempotency-replayed") == "true"
    return statuses


def test_an_answer_is_in_flight_at_every_process_until_its_reply_left(
    nursery, installation, key
):
    statuses = set()
    # A busy machine may let a slot pass meanwhile: again, with a longer one.
    tries = [("0.25", 2_500), ("0.5", 10_000), ("1", 30_000)]
    for number, (epsilon, slot_ms) in enumerate(tries, start=1):
        statuses = asked_while_in_flight(nursery, installation, key, epsilon, slot_ms)
        assert len(charges(installation)) == number
        if statuses == {409}:
            break
    assert statuses == {409}


def insist(client, name):
    """Ask until the database is noticed again, a second or so."""
    deadline = time.monotonic() + 30
    while True:
        again = client.insist(question("0.25"), idempotency_key=name)
        if again.status != 503 or time.monotonic() > deadline:
            return again
        time.sleep(0.2)


def ask_to_read(port, path, key):
    told = {"Authorization": f"Bearer {key}"}
    return httpx.get(f"http://127.0.0.1:{port}{path}", headers=told, timeout=60)


def test_a_database_that_stops_in_flight_and_comes_back_loses_no_charge(
    nursery, tmp_path, own_cluster
):
    cluster = own_cluster
    installation = Installation(tmp_path, url=cluster.database(), workers=WORKERS)
    installation.create().load()
    key = installation.analyst()
    names = [f"away-{number}" for number in range(16)]
    with nursery.serving(installation) as server:
        with (
            lines(server.port, key, len(names)) as clients,
            ThreadPoolExecutor(1) as other,
        ):
            for client, name in zip(clients, names, strict=True):
                client.hold(question("0.25"), idempotency_key=name)
            for client in clients:
                client.release()
            other.submit(cluster.stop, signal.SIGQUIT).result()
            first = [client.read() for client in clients]
            while_away = [client.ask(idempotency_key="new") for client in clients[:4]]
        assert {r.status for r in first} <= {200, 503, 504}
        assert {(r.status, r.json()["type"]) for r in while_away} == {
            (503, "ledger_unavailable")
        }
        for path in ("/v1/budget", "/v1/datasets", "/v1/queries"):
            read = ask_to_read(server.port, path, key)
            assert (read.status_code, read.json()["type"]) == (
                503,
                "ledger_unavailable",
            )
        assert becomes(server.port, "/readyz", 503)
        cluster.start()
        outwait_leases(installation)
        with lines(server.port, key, 1) as (client,):
            for name, early in zip(names, first, strict=True):
                again = insist(client, name)
                if early.status == 200:
                    assert again.body == early.body
                assert again.status in {200, 504}
            deadline = time.monotonic() + 30
            while get(server.port, "/readyz") != 200:
                assert time.monotonic() < deadline
        assert spent(installation, SCOPES[0]) == len(names) * NANO // 4
        assert_balanced(installation)


def test_a_database_put_back_while_it_was_away_is_not_served(
    nursery, installation, key, cluster
):
    name = installation.url.rpartition("/")[2]
    with cluster.admin() as admin:
        admin.execute(f"CREATE DATABASE {name}_old TEMPLATE {name}")
    with nursery.serving(installation) as server, lines(server.port, key, 8) as clients:
        assert clients[0].ask().status == 200
        with cluster.admin() as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {name}_old")
        for client in clients:
            response = client.ask()
            assert response.status == 503
        time.sleep(1.2)
        codes = {client.ask().json()["type"] for client in clients}
        assert codes == {"anchor_mismatch"}
        assert becomes(server.port, "/readyz", 503)
    assert charges(installation) == {}


def test_several_workers_on_sqlite_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(SettingsError, match="one process"):
        _ = Installation(tmp_path, workers=2).settings
