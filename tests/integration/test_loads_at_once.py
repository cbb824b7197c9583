"""Loads of different populations at once: what is public is held against both."""

import pytest
import yaml

from privacy.errors import CuratorError
from server.persistence.schema import RECORDED_TABLES
from server.use_cases import loading
from server.use_cases.custody import CustodyOffice, LoadChoices
from server.use_cases.errors import CommandRefusedError
from tests.harness import DEFAULT_ROWS, STRANGERS, Installation
from upstream.errors import IngestionError

NEWCOMERS = [f"{unit},F,30,north,2024-03-03,n" for unit in range(501, 561)]
CODES = [f"c{unit}" for unit in range(501, 511)]
IDS = [str(unit) for unit in range(501, 511)]


@pytest.fixture
def installation(tmp_path):
    made = Installation(tmp_path).create()
    made.load()
    made.load(STRANGERS, dataset="school", population="pupils")
    return made


class Publisher:
    """Writes manifests that publish codes, as a table or as a list."""

    def __init__(self, installation, how):
        self._installation = installation
        self._how = how

    def write(self, rows, codes, **more):
        manifest = self._installation.write_manifest(rows, **more)
        content = yaml.safe_load(manifest.read_text())
        if self._how == "table":
            content["tables"].append(self._table(manifest, codes))
        else:
            ward = next(
                c for c in content["tables"][0]["columns"] if c["name"] == "ward"
            )
            ward["domain"]["values"] += codes
        manifest.write_text(yaml.safe_dump(content))
        return manifest

    def _table(self, manifest, codes):
        file = manifest.with_name(f"{manifest.stem}-codes.csv")
        file.write_text("\n".join(["code", *codes]) + "\n")
        return {
            "name": "codes",
            "files": [file.name],
            "public": True,
            "source": "list",
            "columns": [{"name": "code", "type": "text"}],
        }


@pytest.fixture(params=["table", "list"])
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
            office = CustodyOffice(services, "local:test")
            return office.load(manifest, choices, None)

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
