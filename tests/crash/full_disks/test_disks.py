"""L8: no answer without a durable charge; and all is well again by itself."""

import random
import sqlite3

import pytest

from tests.crash.instruments.books import database, problems, settle, spent
from tests.crash.instruments.disks import Trouble, ask_in_trouble, run_full_disks
from tests.crash.instruments.kills import total_charged
from tests.crash.instruments.processes import becomes, lines, question
from tests.crash.instruments.traces import failing, require_strace
from tests.effort import in_the_audits, rounds

pytestmark = pytest.mark.thorough


@pytest.fixture
def server(nursery, installation, key):
    with nursery.serving(installation) as server, lines(server.port, key, 1) as (line,):
        assert line.ask().status == 200
        yield server


@pytest.fixture
def trouble(server, installation, key):
    return Trouble(server, installation, key)


def assert_balanced(installation):
    settle(installation)
    assert problems(installation) == []
    assert spent(installation, "population:people") == total_charged(installation)


def test_on_a_full_disk_nothing_is_answered_unpaid_and_service_resumes(
    trouble, server, installation
):
    run_full_disks(trouble, random.Random(), rounds(8, 4))
    assert trouble.wrong == []
    assert trouble.codes["ledger_unavailable", False] > 0
    assert server.alive
    assert_balanced(installation)


@pytest.mark.parametrize(
    ("calls", "path", "charged"),
    [
        ("fdatasync", None, False),
        ("fsync", "anchor", True),
        in_the_audits(("pwrite64", "anchor", True)),
        in_the_audits(("fsync,fdatasync", None, False)),
    ],
)
def test_a_sync_that_fails_brings_503_and_service_resumes(
    trouble, server, calls, path, charged
):
    require_strace()
    installation = trouble.installation
    where = None if path is None else installation.anchor
    ask_in_trouble(trouble, "sync", failing(server.pid, calls, path=where))
    assert trouble.wrong == []
    assert trouble.statuses[503] == 4
    assert trouble.codes["ledger_unavailable", charged] >= 1
    assert becomes(server.port, "/readyz", 200)
    assert_balanced(installation)


def test_a_database_locked_by_another_writer_brings_503_and_service_resumes(
    server, installation, key
):
    before = spent(installation, "population:people")
    with database(installation) as held, lines(server.port, key, 1) as (line,):
        held.execute("BEGIN IMMEDIATE")
        response = line.ask(question("0.5"), idempotency_key="locked")
        assert (response.status, response.json()["type"]) == (503, "ledger_unavailable")
        assert "query_id" not in response.json()
        held.rollback()
        assert spent(installation, "population:people") == before
        assert line.ask(question("0.5"), idempotency_key="locked").status == 200
    assert_balanced(installation)


def test_a_database_that_cannot_be_written_brings_503_and_nothing_is_charged(
    trouble, server, installation
):
    require_strace()
    before = spent(installation, "population:people")
    log = installation.data / "curator.sqlite-wal"
    read_only = failing(server.pid, "pwrite64", error="EROFS", path=log)
    ask_in_trouble(trouble, "readonly", read_only)
    assert trouble.wrong == []
    assert trouble.statuses == {503: 4}
    assert trouble.codes == {("ledger_unavailable", False): 4}
    assert spent(installation, "population:people") == before + 4 * 500_000_000
    assert_balanced(installation)


def test_no_reader_of_the_server_can_write(installation):
    with (
        installation.services() as services,
        services.databases.reader.connect() as connection,
        pytest.raises(Exception, match="readonly") as caught,
    ):
        connection.exec_driver_sql("DELETE FROM chain")
    assert isinstance(caught.value.orig, sqlite3.OperationalError)
