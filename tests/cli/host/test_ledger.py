import json
import sqlite3

import pytest
from typer.testing import CliRunner

from server.main import cli
from tests.support.installations.harness import ask, client, serve_in_thread

MEMBERS = {
    *("seq", "kind", "time", "query_id", "population", "project", "principal"),
    *("epsilon", "hash"),
}


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_whole_ledger_verifies(loaded, as_json):
    assert "ok" in loaded.run("ledger", "verify", *as_json).stdout


def test_an_export_lists_every_entry_in_the_contracts_shape(loaded):
    issued = loaded.json("key", "create", "ada")
    with (
        serve_in_thread(loaded.installation) as url,
        client(url, issued["key"]) as http,
    ):
        query_id = ask(http, epsilon="0.5").json()["query_id"]
        assert ask(http, epsilon="5").status_code == 402
    entries = loaded.json("ledger", "export")
    assert all(entry.keys() >= MEMBERS for entry in entries)
    assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
    mine = [e for e in entries if e["query_id"] == query_id]
    assert [(e["kind"], e["epsilon"]) for e in mine if e["kind"] == "charge"] == [
        ("charge", "0.5")
    ]
    assert [e["kind"] for e in mine] == ["charge", "answered"]
    assert entries[-1]["kind"] == "refused"
    assert "charge" in loaded.run("ledger", "export").stdout


def test_a_tampered_ledger_is_red_and_exits_with_1(loaded):
    path = loaded.installation.data / "curator.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE budget_limit SET nano_epsilon = nano_epsilon + 1")
    connection.close()
    found = json.loads(loaded.run("ledger", "verify", "--json", code=1).stdout)
    assert not found["ok"]
    assert found["problems"]


def test_a_missing_anchor_is_red(loaded):
    loaded.installation.anchor.unlink()
    assert "anchor" in loaded.run("ledger", "verify", code=1).stdout


@pytest.mark.parametrize(
    "content", [b"\xff" * 64, b"zz" * 32, None], ids=["bytes", "letters", "gone"]
)
def test_a_secret_that_cannot_be_read_is_said_without_a_traceback(loaded, content):
    secret = loaded.installation.data / "secret.key"
    secret.unlink() if content is None else secret.write_bytes(content)
    said = " ".join(loaded.said("release", "key").split())
    assert "secret.key is missing or not this installation's" in said
    assert loaded.json("ledger", "verify")["ok"]  # no release's files need it


def test_a_whole_ledger_has_nothing_to_reconcile(loaded):
    said = loaded.said("ledger", "reconcile", "--reason", "just so")
    assert "nothing to do" in said


def test_reconciling_after_a_lost_anchor_revokes_every_key(loaded):
    loaded.installation.anchor.unlink()
    assert loaded.said("principal", "create", "eve", "--role", "analyst")
    done = loaded.json("ledger", "reconcile", "--reason", "the disk burnt")
    assert done["reconciled"] is True
    assert "ada" in done["not_disabled"], "whoever may be back is named"
    assert {each["epsilon_cap"] for each in done["populations"]} == {"0"}
    assert all(key["revoked"] for key in loaded.json("key", "list")["items"])
    assert loaded.json("ledger", "verify")["ok"]


def test_the_openapi_command_needs_no_installation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["openapi"])
    assert json.loads(done.stdout)["info"]["title"] == "Curator HTTP interface"
