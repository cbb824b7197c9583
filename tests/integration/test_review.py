"""Holes that a review found, and that stay closed."""

import sqlite3
import time

import pytest

from budget.chain.anchor import AnchorFile, AnchorRecord
from privacy.errors import AnchorMismatchError
from server.configuration.settings import SettingsError, read_settings
from server.persistence.schema import RECORDED_TABLES
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.services.errors import CommandRefusedError
from server.web import Server
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)


@pytest.fixture
def installation(tmp_path):
    installation = Installation(tmp_path).create()
    installation.load()
    return installation


def edit(installation, statement):
    with sqlite3.connect(installation.data / "curator.sqlite") as database:
        assert database.execute(statement).rowcount > 0


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE snapshot SET schema = replace(schema, '10', '1')",
        "UPDATE key SET revoked = 1",
        "UPDATE project SET private_history = 1",
    ],
)
def test_an_edited_catalogue_is_not_served(installation, statement):
    installation.analyst()
    edit(installation, statement)
    server = Server(installation.settings)
    with pytest.raises(AnchorMismatchError, match="edited"):
        server.start()
    server.stop()


def test_after_a_mismatch_every_route_says_so(installation):
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        assert ask(http).status_code == 200
        installation.anchor.unlink()
        assert ask(http).json()["type"] == "anchor_mismatch"
        for path in ("/v1/budget", "/v1/queries", "/v1/datasets"):
            assert http.get(path).status_code == 503
        deadline = time.monotonic() + 30
        while http.get("/readyz").status_code != 503:  # looked at each second
            assert time.monotonic() < deadline


def test_lowered_totals_in_the_anchor_are_found(installation):
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        assert ask(http).status_code == 200
    record = AnchorFile(installation.anchor).read()
    with AnchorFile(installation.anchor).locked() as held:
        held.write(
            AnchorRecord(
                record.ledger_id, record.head, {"people": 0}, record.generation + 1
            )
        )
    with installation.services() as services:
        assert not services.ledger.verify(RECORDED_TABLES).ok


def test_a_column_that_was_dropped_comes_back_as_it_was(installation):
    full = installation.write_manifest()
    text = full.read_text()
    start, end = text.index("  - name: age"), text.index("  - name: ward")
    dropped = full.with_name("dropped.yaml")
    dropped.write_text(text[:start] + text[end:])
    changed = full.with_name("changed.yaml")
    changed.write_text(text.replace("{min: 0, max: 120}", "{min: 0, max: 90}"))
    with installation.services() as services:
        service = LoadService(services, "local:test")
        service.load(dropped, LoadChoices(), None)
        with pytest.raises(CommandRefusedError, match=r"visits\.age: domain"):
            service.load(changed, LoadChoices(), None)
        service.load(full, LoadChoices(), None)


def test_which_rows_are_kept_is_not_changed_in_silence(installation):
    path = installation.write_manifest()
    path.write_text(
        path.read_text().replace(
            "max_rows_per_unit: 10", "max_rows_per_unit: 10\n  keep: {first_by: day}"
        )
    )
    with (
        installation.services() as services,
        pytest.raises(CommandRefusedError, match="visits: keep"),
    ):
        LoadService(services, "local:test").load(path, LoadChoices(), None)


def test_an_anchor_beside_the_database_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="beside the database"):
        read_settings(
            data=tmp_path / "data",
            anchor=tmp_path / "db" / "anchor",
            database_url=f"sqlite:///{tmp_path / 'db' / 'x.sqlite'}",
        )


def test_what_a_killed_load_left_is_deleted_at_start(installation):
    spill = installation.data / "snapshots" / "s_dead.duckdb.spill"
    spill.mkdir()
    (spill / "rows").write_text("raw")
    server = Server(installation.settings)
    server.start()
    server.stop()
    assert not spill.exists()
    assert len(list((installation.data / "snapshots").iterdir())) == 1


def test_exports_tell_nothing_of_how_long_execution_took(installation):
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        ask(http)
    with installation.services() as services:
        charged, answered = services.ledger.export()[-2:]
    assert (charged["kind"], answered["kind"]) == ("charge", "answered")
    assert charged["time"] == answered["time"]


def test_a_free_answer_warns_in_the_askers_own_words(installation):
    key = installation.analyst()
    one = "SELECT COUNT(*) FROM visits WHERE ward = 'cellar'"
    other = "SELECT COUNT(*)\nFROM visits\nWHERE ward = 'cellar'"
    with serve_in_thread(installation) as url, client(url, key) as http:
        ask(http, one, options={})
        free = ask(http, other, options={}).json()
        plain = http.post(
            "/v1/datasets/clinic/plan", json={"sql": other, "epsilon": "1"}
        ).json()
    assert free["charge"]["reused"]
    assert free["warnings"] == plain["warnings"] != []


@pytest.mark.parametrize("cut", ["schema", "ledger", "anchor"])
def test_an_init_that_was_cut_off_can_be_run_again(tmp_path, monkeypatch, cut):
    installation = Installation(tmp_path)
    names = {
        "schema": "budget.ledger.Ledger.initialise",
        "ledger": "budget.chain.anchor.AnchorFile.create",
        "anchor": "budget.ledger.Ledger.recorded",
    }

    def die(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(names[cut], die)
        with pytest.raises(KeyboardInterrupt):
            installation.initialise()
    installation.initialise()
    with pytest.raises(CommandRefusedError):
        installation.initialise()
    installation.load()
    with installation.services() as services:
        assert services.ledger.verify(RECORDED_TABLES).ok
