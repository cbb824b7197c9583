"""The commands on PostgreSQL."""

import json

import pytest

from tests.harness import Installation, free_port

pytestmark = pytest.mark.slow


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


def test_verify_export_and_reconcile_work_on_postgresql(installation, cluster):
    name = installation.url.rpartition("/")[2]
    with cluster.admin() as admin:
        admin.execute(f"CREATE DATABASE {name}_old TEMPLATE {name}")
    cap = run(installation, "population", "cap", "people", "90", "--json")
    assert json.loads(cap.stdout)["remaining"] == "90"
    verified = run(installation, "ledger", "verify", "--json")
    assert json.loads(verified.stdout)["ok"]
    exported = json.loads(run(installation, "ledger", "export", "--json").stdout)
    assert exported[-1]["action"] == "population.cap"
    with cluster.admin() as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
        admin.execute(f"ALTER DATABASE {name}_old RENAME TO {name}")
    assert run(installation, "ledger", "verify").returncode == 1
    refused = run(installation, "serve", "--port", "0", "--workers", "2")
    assert refused.returncode == 1
    reconciled = run(installation, "ledger", "reconcile", "--reason", "put back")
    assert reconciled.returncode == 0
    assert run(installation, "ledger", "verify").returncode == 0


def test_a_second_init_and_an_unreachable_database_are_refused_in_a_sentence(
    installation, tmp_path
):
    again = run(installation, "init")
    assert (again.returncode, "exists" in again.stderr) == (1, True)
    (tmp_path / "other").mkdir()
    there = Installation(tmp_path / "other", url=installation.url)
    second = run(there, "init")
    assert (second.returncode, "exists" in second.stderr) == (1, True)
    assert not there.anchor.exists()
    away = Installation(
        tmp_path / "other",
        url=f"postgresql://ada:throwaway@127.0.0.1:{free_port()}/nothing",
    )
    done = run(away, "init")
    assert (done.returncode, "cannot be reached" in done.stderr) == (1, True)
