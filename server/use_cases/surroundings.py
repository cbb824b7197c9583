"""What a load is compared with: overlap files, and what other datasets publish.

Loads of different populations run at once. So what was compared is written down, and
asked for again under the lock that recording takes: whatever is another by then is
compared first.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Select, select

from privacy.coincidences import coinciding_places
from privacy.schema_json import dataset_from_json
from server.persistence import tables
from server.use_cases.overlaps import Overlaps
from upstream.manifest import Manifest
from upstream.public_watch import Surroundings
from upstream.published_ids import EarlierSnapshot, KnownUnits


@dataclass(frozen=True, slots=True)
class Versions:
    """Which populations and datasets a load is compared with, beside its own.

    Attributes:
        populations: The digest of each one's overlap file.
        datasets: The active snapshot of each.
    """

    populations: Mapping[str, str]
    datasets: Mapping[str, str]

    @classmethod
    def now(cls, connection: Connection, manifest: Manifest) -> "Versions":
        """Return what a manifest's load has to be compared with."""
        population, dataset = tables.population.c, tables.dataset.c
        return cls(
            _pairs(
                connection,
                select(population.name, population.overlap_digest).where(
                    population.name != manifest.population.id
                ),
            ),
            _pairs(
                connection,
                select(dataset.name, dataset.active_snapshot).where(
                    dataset.name != manifest.dataset
                ),
            ),
        )

    def since(self, before: "Versions") -> "Versions":
        """Return what was not compared before, or was another then."""
        return Versions(
            dict(self.populations.items() - before.populations.items()),
            dict(self.datasets.items() - before.datasets.items()),
        )

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.populations or self.datasets)


def _pairs(connection: Connection, wanted: Select[str, str]) -> dict[str, str]:
    return {str(name): str(value) for name, value in connection.execute(wanted)}


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
    return KnownUnits(b"".join(sorted(overlaps.known(population, digest))))


def _published(connection: Connection, snapshots: Path) -> dict[str, EarlierSnapshot]:
    """Return the active snapshot of every dataset."""
    rows = connection.execute(
        select(
            tables.dataset.c.name,
            tables.snapshot.c.id,
            tables.snapshot.c.schema,
            tables.snapshot.c.manifest,
        )
        .join(tables.snapshot, tables.snapshot.c.id == tables.dataset.c.active_snapshot)
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
