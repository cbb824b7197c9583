"""``curator dataset snapshot``: list, switch, erase."""

import pytest

from tests.support.installations.harness import (
    DEFAULT_ROWS,
    ask,
    client,
    serve_in_thread,
)

COUNT = "SELECT COUNT(*) FROM visits"


@pytest.fixture
def two(loaded):
    """Commands on a dataset with an older snapshot and an active one."""
    loaded.installation.load(DEFAULT_ROWS[:50])
    return loaded


def ids(two):
    items = two.json("dataset", "snapshot", "list", "clinic")["items"]
    return [item["id"] for item in items]


def states(two):
    items = two.json("dataset", "snapshot", "list", "clinic")["items"]
    return [item["state"] for item in items]


def test_snapshots_are_listed_oldest_first(two):
    assert states(two) == ["kept", "active"]


@pytest.mark.long
def test_activating_an_older_snapshot_is_recorded(two):
    older, _ = ids(two)
    two.json("dataset", "snapshot", "activate", older)
    assert states(two) == ["active", "kept"]
    entry = two.json("ledger", "export")[-1]
    assert (entry["kind"], entry["action"]) == ("admin", "snapshot.activate")
    assert two.json("ledger", "verify")["ok"]


@pytest.mark.parametrize("command", ["activate", "remove"])
def test_a_datasets_name_in_the_ids_place_is_told_what_lists_the_ids(two, command):
    said = two.said("dataset", "snapshot", command, "clinic")
    assert "'clinic' is a dataset" in said
    assert "'curator dataset snapshot list clinic' lists" in said
    said = two.said("dataset", "snapshot", command, "s_0")
    assert "there is no snapshot 's_0'" in said
    assert "'curator dataset snapshot list DATASET' lists" in said


def test_the_active_snapshot_cannot_be_removed(two):
    _, newer = ids(two)
    said = two.said("dataset", "snapshot", "remove", newer)
    assert "is the active snapshot" in said
    assert states(two) == ["kept", "active"]


def test_removing_a_snapshot_erases_its_file_and_nothing_else(two):
    older, newer = ids(two)
    data = two.installation.data
    overlap = {path.name for path in (data / "overlap").iterdir()}
    two.json("dataset", "snapshot", "remove", older)
    assert [p.name for p in (data / "snapshots").iterdir()] == [f"{newer}.duckdb"]
    assert {path.name for path in (data / "overlap").iterdir()} == overlap
    assert states(two) == ["removed", "active"]
    assert two.json("ledger", "verify")["ok"]
    assert "was removed" in two.said("dataset", "snapshot", "activate", older)


def test_a_file_that_a_crash_left_is_erased_at_the_next_start(two):
    older, _ = ids(two)
    file = two.installation.data / "snapshots" / f"{older}.duckdb"
    kept = file.read_bytes()
    two.json("dataset", "snapshot", "remove", older)
    file.write_bytes(kept)
    with serve_in_thread(two.installation):
        assert not file.exists()


@pytest.mark.parametrize("verb", ["activate", "remove"])
def test_an_unknown_snapshot_is_refused(two, verb):
    assert "there is no snapshot" in two.said("dataset", "snapshot", verb, "s_none")


@pytest.mark.long
def test_other_declarations_need_a_reason(loaded):
    installation = loaded.installation
    path = installation.write_manifest(max_rows=9)
    loaded.run("dataset", "load", path, "--accept-changes", "--reason", "protocol 2")
    older, _ = ids(loaded)
    said = loaded.said("dataset", "snapshot", "activate", older)
    assert "visits: max_rows_per_unit differs" in said
    loaded.run("dataset", "snapshot", "activate", older, "--reason", "back again")
    assert states(loaded) == ["active", "kept"]


def test_a_running_server_answers_from_what_was_activated_and_keeps_old_answers(loaded):
    installation = loaded.installation
    key = loaded.json("key", "create", "ada")["key"]
    with serve_in_thread(installation) as url, client(url, key) as http:
        first = ask(http, epsilon="0.5", options={}).json()
        newer = installation.load(DEFAULT_ROWS[:50])
        second = ask(http, epsilon="0.5", options={}).json()
        assert (first["snapshot"], second["snapshot"]) == (ids(loaded)[0], newer)
        loaded.json("dataset", "snapshot", "remove", first["snapshot"])
        again = http.get(f"/v1/queries/{first['query_id']}").json()
        assert again["answer"]["rows"] == first["rows"]
        assert not second["charge"]["reused"]
        assert ask(http, epsilon="0.5", options={}).json()["charge"]["reused"]
