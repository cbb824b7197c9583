"""What a load is compared with: overlap files, and what other datasets publish."""

import json
from pathlib import Path

from sqlalchemy import Connection, select

from privacy.coincidences import coinciding_places
from privacy.schema_json import dataset_from_json
from server.persistence import tables
from server.use_cases.overlaps import Overlaps
from upstream.manifest import Manifest
from upstream.public_watch import Surroundings
from upstream.published_ids import EarlierSnapshot, KnownUnits


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
        str(row.name): KnownUnits(
            b"".join(sorted(overlaps.known(row.name, row.overlap_digest)))
        )
        for row in connection.execute(select(tables.population)).all()
        if row.name == name or not dry_run
    }
    own = known.pop(name, None)
    return Surroundings(own, known, _published(connection, manifest.dataset, snapshots))


def _published(
    connection: Connection, dataset: str, snapshots: Path
) -> dict[str, EarlierSnapshot]:
    """Return the active snapshot of every other dataset."""
    rows = connection.execute(
        select(
            tables.dataset.c.name,
            tables.snapshot.c.id,
            tables.snapshot.c.schema,
            tables.snapshot.c.manifest,
        )
        .join(tables.snapshot, tables.snapshot.c.id == tables.dataset.c.active_snapshot)
        .where(tables.dataset.c.name != dataset)
        .order_by(tables.dataset.c.name)
    ).all()
    return {
        str(row.name): EarlierSnapshot(
            snapshots / f"{row.id}.duckdb",
            dataset_from_json(json.loads(row.schema)),
            coinciding_places(json.loads(row.manifest)),
        )
        for row in rows
    }
