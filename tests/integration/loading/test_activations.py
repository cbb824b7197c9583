"""Activating an older snapshot: what it publishes is held against who is recorded."""

import json
from types import SimpleNamespace

import pytest

from privacy.errors import CuratorError
from server.persistence.schema import RECORDED_TABLES
from server.use_cases.custody.people import PeopleService
from server.use_cases.datasets import snapshots as activating
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.loading import activations
from server.use_cases.loading.activations import Held
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.loading.shown_content import Shown
from server.use_cases.loading.versions import Versions
from server.use_cases.oversight.statements import StatementService
from server.use_cases.services.errors import BusyError, CommandRefusedError
from tests.effort import gate_first
from tests.support.data.published_codes import Publisher
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    STRANGERS,
    Installation,
    client,
    serve_in_thread,
)

pytestmark = pytest.mark.long

IDS = [str(unit) for unit in range(501, 511)]
NEWCOMERS = [f"{unit},F,30,north,2024-03-03,n" for unit in range(501, 561)]
CHANGED = LoadChoices(accept_changes=True, reason="a test")


class House:
    """A dataset whose older snapshot published codes that were nobody's ids."""

    def __init__(self, installation, how):
        self.installation = installation
        self._publisher = Publisher(installation, how)
        self.load(STRANGERS, dataset="school", population="pupils")
        self.older = self._load(self._publisher.write(DEFAULT_ROWS, IDS))
        self.newer = self.load(DEFAULT_ROWS)

    def load(self, rows, **more):
        return self._load(self.installation.write_manifest(rows, **more))

    def _load(self, manifest):
        with self.installation.services() as services:
            service = LoadService(services, "local:test")
            return service.load(manifest, CHANGED, None)["snapshot"]

    def activate(self, snapshot=None, **more):
        with self.installation.services() as services:
            service = SnapshotService(services, "local:test")
            return service.activate(snapshot or self.older, reason="back", **more)

    def active(self):
        with self.installation.services() as services:
            shown = SnapshotService(services, "local:test").snapshots("clinic")
        return next(one["id"] for one in shown if one["state"] == "active")

    def entries(self, action):
        with self.installation.services() as services:
            assert services.ledger.verify(RECORDED_TABLES).ok
            lines = services.ledger.export()
        return [line for line in lines if action in json.dumps(line)]

    def statement(self, population):
        with self.installation.services() as services:
            return StatementService(services).population(population)


@pytest.fixture
def house(tmp_path):
    return House(Installation(tmp_path).create(), "table")


@pytest.fixture(params=gate_first(1, ["table", "list"]))
def either(tmp_path, request):
    return House(Installation(tmp_path).create(), request.param)


def test_people_of_its_own_population_who_came_since_keep_it_inactive(either):
    house = either
    house.load(NEWCOMERS, dataset="annex")
    with pytest.raises(CommandRefusedError, match="ids of population people") as said:
        house.activate()
    assert not any(code in str(said.value) for code in IDS)
    with pytest.raises(CommandRefusedError, match="ids of population people"):
        house.activate(override_overlap=True)
    assert house.active() == house.newer
    assert not house.entries("snapshot.activate")


def test_people_of_another_population_are_an_overlap_that_is_recorded(either):
    house = either
    house.load(NEWCOMERS, dataset="others", population="others")
    with pytest.raises(CommandRefusedError, match="names people of population 'othe"):
        house.activate()
    assert house.active() == house.newer
    (refused,) = house.entries("overlap.refused")
    told = "overlap.refused: a snapshot of {} population was not activated again, since"
    for population, whose in (("people", "this"), ("others", "another")):
        assert told.format(whose) in house.statement(population)
    assert "overlap.refused" not in house.statement("pupils")
    with pytest.raises(CommandRefusedError, match="is no free question"):
        house.activate()
    assert house.entries("overlap.refused") == [refused]
    house.activate(override_overlap=True)
    assert house.active() == house.older
    for population in ("people", "others"):
        assert "with units of two populations" in house.statement(population)
    house.activate(house.older)  # what is public already is not compared again


@pytest.mark.parametrize("population", gate_first(1, ["people", "others"]))
def test_people_who_are_recorded_while_it_is_compared_are_found(
    house, population, monkeypatch
):
    held_against_units, versions = activating.held_against_units, []

    def overtaken(services, row):
        held = held_against_units(services, row)
        if not versions:
            house.load(NEWCOMERS, dataset="annex", population=population)
        versions.append(held.versions)
        return held

    monkeypatch.setattr(activating, "held_against_units", overtaken)
    with pytest.raises(CuratorError, match=population):
        house.activate()
    assert house.active() == house.newer


def test_what_names_nobody_becomes_active_again_and_loads_are_held_against_it(house):
    assert house.activate()["state"] == "active"
    assert house.active() == house.older
    left = {path.suffix for path in (house.installation.data / "snapshots").iterdir()}
    assert left == {".duckdb"}
    with pytest.raises(CuratorError, match="these units in dataset clinic"):
        house.load(NEWCOMERS, dataset="annex")


def test_an_approval_is_of_one_snapshot_and_of_what_it_shows():
    dataset = SimpleNamespace(population="people", name="clinic")
    versions = Versions("d", "s_0", {"others": "d"}, {})
    shown = (
        ("s_1", Shown("d", {"codes": "2 rows, sha256 a"}), ("others",)),
        ("s_2", Shown("d", {"codes": "2 rows, sha256 a"}), ("others",)),
        ("s_1", Shown("d", {"codes": "2 rows, sha256 b"}), ("others",)),
        ("s_1", Shown("e", {"codes": "2 rows, sha256 a"}), ("others",)),
        ("s_1", Shown("d", {"codes": "2 rows, sha256 a"}), ("others", "more")),
    )
    compared = [
        Held(versions, one, None, b"key", named).compared(snapshot, dataset, "agreed")
        for snapshot, one, named in shown
    ]
    overrides = {one.override(["others"]).digest() for one in compared}
    assert len(overrides) == len(shown)
    unaltered = [
        Held(versions, one, one, b"key").compared("s_1", dataset, "agreed")
        for _, one, _ in shown[1:4]
    ]
    assert len({one.comparison(["others"]).digest() for one in unaltered}) == 3
    comparisons = {one.comparison(["others"]).digest() for one in compared}
    assert len(comparisons) == len(shown) - 1  # whom it names is not told


def test_a_file_that_cannot_be_read_is_not_made_active(house):
    file = house.installation.data / "snapshots" / f"{house.older}.duckdb"
    file.write_bytes(b"damaged")
    with pytest.raises(CommandRefusedError, match="cannot be read"):
        house.activate()
    file.unlink()
    with pytest.raises(CommandRefusedError, match="cannot be read"):
        house.activate()
    assert house.active() == house.newer


def test_an_overlap_file_that_was_changed_refuses_the_activation(house):
    for file in (house.installation.data / "overlap").glob("pupils.*"):
        file.write_bytes(bytes(16))
    with pytest.raises(CommandRefusedError, match="curator doctor"):
        house.activate()
    assert house.active() == house.newer


def test_one_snapshot_is_compared_at_a_time_and_not_for_ever(house, monkeypatch):
    held_against_units, tried = activating.held_against_units, []

    with house.installation.services() as services:
        service = SnapshotService(services, "local:test")

        def meanwhile(services, row):
            with pytest.raises(
                BusyError, match="another snapshot of population people"
            ):
                service.activate(house.newer)
            tried.append(row.id)
            return held_against_units(services, row)

        monkeypatch.setattr(activating, "held_against_units", meanwhile)
        with pytest.raises(CommandRefusedError, match="add --reason TEXT"):
            service.activate(house.older, override_overlap=True)
        assert tried == []  # nothing was compared
        service.activate(house.older, reason="back")
        monkeypatch.setattr(activating, "held_against_units", held_against_units)
        monkeypatch.setattr(activations, "COMPARISON_SECONDS", 0.001)
        with pytest.raises(CommandRefusedError, match="was not compared"):
            service.activate(house.newer, reason="and again")
    assert tried == [house.older]
    assert house.active() == house.older


def test_over_http_it_is_refused_alike(house):
    house.load(NEWCOMERS, dataset="others", population="others")
    with house.installation.services() as services:
        service = PeopleService(services, "local:test")
        service.create_principal("dora", "custodian")
        service.add_custodian("people", "dora")
        key = service.create_key("dora")["key"]
    path = f"/v1/admin/datasets/clinic/snapshots/{house.older}/activate"
    with (
        serve_in_thread(house.installation) as url,
        client(url, key) as dora,
    ):
        refused = dora.post(path, json={"reason": "back"})
        assert refused.status_code == 422, refused.text
        assert "names people of another population" in refused.json()["detail"]
        assert house.active() == house.newer
        silent = dora.post(path, json={"override_overlap": True})
        assert silent.status_code == 422
        assert '"reason" beside "override_overlap"' in silent.json()["detail"]
        body = {"reason": "they agreed", "override_overlap": True}
        assert dora.post(path, json=body).json()["state"] == "active"
