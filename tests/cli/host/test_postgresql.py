"""The commands on PostgreSQL."""

import json
import shutil
import subprocess

import pytest
from sqlalchemy import make_url

from privacy.losses import Loss
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.populations import PopulationService
from server.use_cases.operations.backup import create_backup, restore_backup
from server.use_cases.oversight.auditing import AuditService
from server.use_cases.services.errors import CommandRefusedError
from tests.support.installations.harness import (
    Installation,
    client,
    free_port,
    serve_in_process,
)

pytestmark = pytest.mark.long


@pytest.fixture
def installation(tmp_path, cluster):
    installation = Installation(tmp_path, url=cluster.database()).create()
    installation.load()
    installation.analyst()
    return installation


def run(installation, *arguments):
    done = installation.curator(*arguments)
    assert "throwaway" not in done.stdout + done.stderr  # the password
    assert "Traceback" not in done.stderr
    return done


def service(services):
    return AuditService(services, "local:test")


def test_the_ledgers_commands_work_on_postgresql(installation, cluster):
    name = installation.url.rpartition("/")[2]
    with cluster.admin() as admin:
        admin.execute(f"CREATE DATABASE {name}_old TEMPLATE {name}")
    with installation.services() as services:
        PopulationService(services, "local:test").set_cap("people", Loss.parse("90"))
        assert service(services).export()[-1]["action"] == "population.cap"
    verified = run(installation, "ledger", "verify", "--json")
    assert json.loads(verified.stdout)["ok"]
    with cluster.admin() as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
        admin.execute(f"ALTER DATABASE {name}_old RENAME TO {name}")
    refused = run(installation, "serve", "--port", "0", "--workers", "2")
    assert (refused.returncode, "reconcile" in refused.stderr) == (1, True)
    reconciled = run(installation, "ledger", "reconcile", "--reason", "put back")
    assert reconciled.returncode == 0
    with installation.services() as services:
        assert service(services).verify()["problems"] == []


def test_a_restored_dump_is_brought_back_before_anything_else(
    installation, cluster, tmp_path
):
    """On a new host, which has no anchor and whose database is empty."""
    create_backup(installation.settings, tmp_path / "b.tar", snapshots=False)
    (tmp_path / "other").mkdir()
    restored = Installation(tmp_path / "other", url=cluster.database())
    restore_backup(restored.settings, tmp_path / "b.tar")
    for command in (("init", "--single-custodian"), ("serve", "--port", "0")):
        done = run(restored, *command)
        assert (done.returncode, "pg_restore" in done.stderr) == (1, True)
    assert not restored.anchor.exists()


def test_a_restore_ends_with_the_reconciliation_and_not_before(
    installation, cluster, tmp_path
):
    """The live database is no place of the dump; its files are of another time."""
    create_backup(installation.settings, tmp_path / "b.tar", snapshots=True)
    with installation.services() as services:
        PeopleService(services, "local:test").create_principal("late", "analyst")
    shutil.rmtree(installation.data)
    restore_backup(installation.settings, tmp_path / "b.tar")
    dump = installation.data / "ledger.dump"
    for command in (
        ("serve", "--port", "0"),
        ("worker",),
        ("principal", "create", "eve", "--role", "analyst"),
    ):
        done = run(installation, *command)
        assert (done.returncode, "pg_restore" in done.stderr) == (1, True), done.stderr
        assert "curator ledger reconcile" in done.stderr
    installation.url = cluster.database()
    plain = make_url(installation.url).set(drivername="postgresql")
    target = f"--dbname={plain.render_as_string(hide_password=False)}"
    subprocess.run(
        ["pg_restore", "--no-owner", "--exit-on-error", target, dump], check=True
    )
    assert run(installation, "principal", "list").returncode == 1
    done = run(installation, "ledger", "reconcile", "--reason", "disk failed")
    assert done.returncode == 0, done.stderr
    assert not dump.exists()
    assert run(installation, "principal", "list").returncode == 0


def test_a_second_init_and_an_unreachable_database_are_refused_in_a_sentence(
    installation, tmp_path
):
    (tmp_path / "other").mkdir()
    second = Installation(tmp_path / "other", url=installation.url)
    with pytest.raises(CommandRefusedError, match="exists in the database"):
        second.create()
    assert not second.anchor.exists()
    second.url = f"postgresql://ada:throwaway@127.0.0.1:{free_port()}/nothing"
    done = run(second, "init")
    assert (done.returncode, "cannot be reached" in done.stderr) == (1, True)


def test_several_processes_share_one_rate_limit(installation):
    """New connections go to any of the processes; together they let 5 a minute in."""
    with installation.services() as services:
        key = PeopleService(services, "local:test").create_key("ada")["key"]
    limited = {"CURATOR_WORKERS": "2", "CURATOR_RATE_LIMIT": "5"}
    with serve_in_process(installation, environment=limited) as url:
        replies = []
        for _ in range(12):
            with client(url, key) as http:
                replies.append(http.get("/v1/budget"))
    statuses = [reply.status_code for reply in replies]
    assert statuses == [200] * 5 + [429] * 7
    assert 1 <= int(replies[-1].headers["retry-after"]) <= 12
