"""What a load is compared with: overlap files, and what other datasets publish."""

import json
from pathlib import Path

from sqlalchemy import Connection, Row, select

from privacy.coincidences import coinciding_places, names_in_files
from privacy.schema_json import dataset_from_json
from server.persistence import tables
from server.use_cases.loading.overlaps import Overlaps
from server.use_cases.loading.versions import Versions
from upstream.manifests.manifest import Manifest
from upstream.public_check.public_watch import Surroundings
from upstream.public_check.published_ids import Declared, EarlierSnapshot, KnownUnits


def surroundings_of(
    connection: Connection,
    manifest: Manifest,
    overlaps: Overlaps,
    snapshots: Path,
    *,
    dry_run: bool,
) -> Surroundings:
    """Return what a manifest's load is compared with.

    A dry run is compared with nothing of other populations' units, since its report
    would tell of them and leave no entry.

    Raises:
        CommandRefusedError: An overlap file is missing or was changed.
    """
    name = manifest.population.id
    known = {
        str(row.name): _known_units(overlaps, row.name, row.overlap_digest)
        for row in connection.execute(select(tables.population)).all()
        if row.name == name or not dry_run
    }
    own = known.pop(name, None)
    published = _published(connection, snapshots)
    published.pop(manifest.dataset, None)
    return Surroundings(own, known, published)


def surroundings_since(
    connection: Connection, since: Versions, overlaps: Overlaps, snapshots: Path
) -> Surroundings:
    """Return what came to be while a load was under way.

    Raises:
        CommandRefusedError: An overlap file is missing or was changed.
    """
    known = {
        name: _known_units(overlaps, name, digest)
        for name, digest in since.populations.items()
    }
    published = _published(connection, snapshots)
    return Surroundings(
        None,
        known,
        {name: one for name, one in published.items() if name in since.datasets},
    )


def _known_units(overlaps: Overlaps, population: str, digest: str) -> KnownUnits:
    return KnownUnits(overlaps.content(population, digest))


def _published(connection: Connection, snapshots: Path) -> dict[str, EarlierSnapshot]:
    """Return the active snapshot of every dataset."""
    rows = connection.execute(
        select(tables.snapshot)
        .join(tables.dataset, tables.snapshot.c.id == tables.dataset.c.active_snapshot)
        .order_by(tables.dataset.c.name)
    ).all()
    return {str(row.dataset): published_by(row, snapshots) for row in rows}


def published_by(row: Row[tuple[object, ...]], snapshots: Path) -> EarlierSnapshot:
    """Return what a stored snapshot shows to everybody."""
    manifest = json.loads(str(row.manifest))
    schema = dataset_from_json(json.loads(str(row.schema)))
    return EarlierSnapshot(
        snapshots / f"{row.id}.duckdb",
        Declared(schema, coinciding_places(manifest), names_in_files(manifest)),
    )
