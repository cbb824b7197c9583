"""When others than custodians see a load tells nothing of its work on rows."""

from datetime import datetime

import pytest
from sqlalchemy import select

from budget.storage import tables
from privacy.errors import CuratorError
from server.use_cases.loading.loading import LoadChoices, LoadRequest
from server.use_cases.loading.service import LoadService
from server.use_cases.services import slots
from server.use_cases.services.slots import end_of_slot
from tests.support.installations.harness import DEFAULT_ROWS, Installation

SLOT = 3


@pytest.fixture
def installation(tmp_path):
    made = Installation(tmp_path, release_slot_s=SLOT)
    made.create()
    return made


class StoppedError(Exception):
    pass


def test_a_load_is_recorded_at_the_end_of_a_slot(installation):
    for _ in range(2):  # the second began when the first was seen
        installation.load_manifest(installation.write_manifest(DEFAULT_ROWS))
    with (
        installation.services() as services,
        services.databases.reader.connect() as connection,
    ):
        of_loads = tables.chain.c.body.contains('"action":"dataset.load"')
        told = connection.scalars(select(tables.chain.c.time).where(of_loads)).all()
    assert len(told) == 2
    for time in told:
        seconds = datetime.fromisoformat(time).timestamp()
        assert seconds % SLOT < 1  # the commit's own time


def test_a_load_that_is_stopped_while_it_waits_records_nothing(installation):
    seen = []

    def progress(step):
        if step.phase == "slot":
            seen.append(step)
            raise StoppedError

    with installation.services() as services:
        request = LoadRequest(progress=progress)
        service = LoadService(services, "local:test")
        manifest = installation.write_manifest(DEFAULT_ROWS)
        with pytest.raises(StoppedError):
            service.load(manifest, LoadChoices(), None, request)
    assert [(step.unit, step.table) for step in seen] == [("seconds", "clinic")]
    assert list(installation.settings.snapshots.glob("*.duckdb")) == []


def test_what_reads_no_rows_waits_for_nothing(installation, monkeypatch):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr(slots.time, "sleep", never)
    with installation.services() as services:
        service = LoadService(services, "local:test")
        manifest = installation.write_manifest(["1,F,no age,north,2024-03-03,n"])
        with pytest.raises(CuratorError):
            service.load(manifest, LoadChoices(), None)
        manifest = installation.write_manifest(DEFAULT_ROWS)
        assert service.load(manifest, LoadChoices(dry_run=True), None)["report"]


@pytest.mark.parametrize(
    ("worked", "width"), [(0, 10), (80, 10), (81, 20), (170, 40), (7_200, 1_280)]
)
def test_slots_grow_with_long_work(worked, width):
    for now in (1_000_000_000.0, 1_000_000_000.1, 1_000_000_009.9):
        end = end_of_slot(now, worked, 10)
        assert end % width == 0
        assert 0 <= end - now < width


def test_without_slots_a_load_is_recorded_at_once():
    assert end_of_slot(17.5, 100, 0) == 17.5
