"""Loads of different populations at once: what is public is held against both."""

import pytest

from privacy.errors import CuratorError
from server.persistence.schema import RECORDED_TABLES
from server.use_cases.loading import loading
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.overlaps import Overlaps
from server.use_cases.loading.service import LoadService
from server.use_cases.services.errors import CommandRefusedError
from tests.effort import gate_first
from tests.support.data.published_codes import Publisher
from tests.support.installations.harness import DEFAULT_ROWS, STRANGERS, Installation
from upstream.errors import IngestionError

pytestmark = pytest.mark.long

NEWCOMERS = [f"{unit},F,30,north,2024-03-03,n" for unit in range(501, 561)]
CODES = [f"c{unit}" for unit in range(501, 511)]
IDS = [str(unit) for unit in range(501, 511)]


@pytest.fixture
def installation(tmp_path):
    made = Installation(tmp_path).create()
    made.load()
    made.load(STRANGERS, dataset="school", population="pupils")
    return made


@pytest.fixture(params=gate_first(1, ["table", "list"]))
def publisher(installation, request):
    return Publisher(installation, request.param)


@pytest.fixture
def load(installation, monkeypatch):
    """Return what loads, and does something else once rows were read."""

    def loaded(manifest, meanwhile):
        ingest = loading.ingest

        def overtaken(declared, **more):
            monkeypatch.setattr(loading, "ingest", ingest)
            ingested = ingest(declared, **more)
            meanwhile()
            return ingested

        monkeypatch.setattr(loading, "ingest", overtaken)
        choices = LoadChoices(accept_changes=True, reason="a test")
        with installation.services() as services:
            service = LoadService(services, "local:test")
            return service.load(manifest, choices, None)

    return loaded


def snapshots(installation):
    return sorted(path.name for path in (installation.data / "snapshots").iterdir())


def refusals(installation):
    with installation.services() as services:
        entries = services.ledger.export()
        assert services.ledger.verify(RECORDED_TABLES).ok
    return sum("overlap.refused" in str(entry) for entry in entries)


def test_what_names_units_of_a_load_that_overtook_it_is_refused(
    installation, publisher, load
):
    manifest = publisher.write(DEFAULT_ROWS, IDS, dataset="fresh")

    def meanwhile():
        installation.load(NEWCOMERS, dataset="others", population="others")
        kept.extend(snapshots(installation))

    kept = []
    with pytest.raises(CommandRefusedError, match="names them"):
        load(manifest, meanwhile)
    own = {name for name in snapshots(installation) if not name.endswith(".wal")}
    assert len(own) == len(kept) - 1  # its own is gone
    assert refusals(installation) == 1


def test_units_that_another_dataset_published_meanwhile_are_refused(
    installation, publisher, load
):
    manifest = installation.write_manifest(DEFAULT_ROWS + NEWCOMERS)

    def meanwhile():
        published = publisher.write(
            STRANGERS, IDS, dataset="lessons", population="pupils"
        )
        installation.load_manifest(published)

    with pytest.raises(IngestionError, match="ids of these units in dataset lessons"):
        load(manifest, meanwhile)
    assert refusals(installation) == 0


def test_what_names_nobody_passes_whoever_overtook_it(
    installation, publisher, load, monkeypatch
):
    """It is compared with what came, with nothing else, and under no lock."""
    names_since, compared = loading.names_since, []

    def noted(manifest, ingested, **more):
        found = more["surroundings"]
        compared.append((found.own, sorted(found.others), sorted(found.snapshots)))
        with installation.services() as services:  # the ledger is free meanwhile
            services.ledger.refuse("somebody", "forbidden", {})
        return names_since(manifest, ingested, **more)

    monkeypatch.setattr(loading, "names_since", noted)
    manifest = publisher.write(DEFAULT_ROWS, CODES, dataset="fresh")

    def meanwhile():
        installation.load(NEWCOMERS, dataset="others", population="others")

    assert load(manifest, meanwhile)["dataset"] == "fresh"
    assert load(manifest, lambda: None)["dataset"] == "fresh"
    assert compared == [(None, ["others"], ["others"])]


def test_files_are_read_and_compared_while_the_ledger_is_free(
    installation, publisher, monkeypatch
):
    """Questions wait for the lock of recording: it is held for decisions alone."""
    installation.load_manifest(publisher.write(DEFAULT_ROWS, CODES, dataset="fresh"))
    seen = []

    def watched(owner, name):
        works = getattr(owner, name)

        def noted(*given, **more):
            seen.append(name)
            with installation.services() as services:
                services.ledger.refuse("somebody", "forbidden", {})
            return works(*given, **more)

        monkeypatch.setattr(owner, name, noted)

    watched(Overlaps, "known")
    watched(Overlaps, "sharing")
    watched(loading, "public_rows")
    watched(loading, "public_rows_if_readable")
    rows = DEFAULT_ROWS + NEWCOMERS
    installation.load_manifest(publisher.write(rows, CODES, dataset="fresh"))
    assert {"known", "sharing", "public_rows"} <= set(seen)


def test_a_load_that_is_overtaken_again_is_compared_again(
    installation, publisher, load, monkeypatch
):
    names_since, left = loading.names_since, [NEWCOMERS, STRANGERS]

    def overtaken(manifest, ingested, **more):
        if more["surroundings"].others.keys() == {"pupils"}:
            installation.load(NEWCOMERS, dataset="others", population="others")
        left.pop()
        return names_since(manifest, ingested, **more)

    monkeypatch.setattr(loading, "names_since", overtaken)
    more = [f"{unit},F,30,north,2024-03-03,n" for unit in range(2001, 2061)]

    def meanwhile():
        installation.load(STRANGERS + more, dataset="school", population="pupils")

    manifest = publisher.write(DEFAULT_ROWS, IDS, dataset="fresh")
    with pytest.raises(CuratorError, match="names them"):
        load(manifest, meanwhile)
    assert left == []
