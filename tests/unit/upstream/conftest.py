"""A small hospital in a folder, and what its snapshot holds."""

from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest

from upstream.ingestion.ingestion import (
    BUCKET_BYTES,
    MEMORY_LIMIT,
    NOTHING_BEFORE,
    Ingested,
    LinkedTables,
    ingest,
)
from upstream.manifests.hierarchies import read_hierarchies
from upstream.manifests.manifest import Manifest, checked_manifest
from upstream.progress import Progress, silent
from upstream.public_check.public_watch import Surroundings

SECRET = bytes(range(32))


@dataclass
class Hospital:
    """One private table ``stays``, ready for a test to change."""

    folder: Path
    csv: str = "pid,day,ward\n1,2024-01-01,A\n2,2024-01-02,B\n"
    columns: list = field(
        default_factory=lambda: [
            {"name": "pid", "type": "integer"},
            {"name": "day", "type": "date"},
            {"name": "ward", "type": "text"},
        ]
    )
    table: dict = field(default_factory=dict)
    more_tables: list = field(default_factory=list)
    unit_type: str = "integer"
    population: dict = field(default_factory=dict)
    hierarchies: list = field(default_factory=list)
    surroundings: Surroundings = NOTHING_BEFORE
    target: str = "snapshot.duckdb"
    bucket_bytes: int = BUCKET_BYTES
    progress: Progress = silent
    memory_limit: str = MEMORY_LIMIT
    linked: LinkedTables | None = None

    def column(self, name, **keys):
        """Declare more about a column, adding it where it is new."""
        known = next((c for c in self.columns if c["name"] == name), None)
        if known is None:
            self.columns.append({"name": name, **keys})
        else:
            known.update(keys)

    def manifest(self):
        """Return the checked manifest."""
        population = {"id": "p", "unit": "patient", "unit_type": self.unit_type}
        population |= self.population
        stays = {
            "name": "stays",
            "files": ["stays.csv"],
            "unit_column": "pid",
            "max_rows_per_unit": 9,
            "source": "test",
            "columns": self.columns,
            **self.table,
        }
        content = {
            "version": 1,
            "population": population,
            "dataset": "d",
            "snapshot_date": "2024-12-31",
            "hierarchies": self.hierarchies,
            "tables": [
                {k: v for k, v in stays.items() if v is not None},
                *self.more_tables,
            ],
        }
        declared = checked_manifest(content, {}, "m.yaml")
        manifest = Manifest.from_json(declared.canonical_json())
        own = read_hierarchies(manifest.hierarchies, self.folder, self.folder)
        return manifest.with_hierarchies(own)

    def load(self, *, secret=SECRET, import_folder=None) -> Ingested:
        """Write the CSV and ingest everything."""
        if self.csv is not None:
            raw = self.csv if isinstance(self.csv, bytes) else self.csv.encode()
            (self.folder / "stays.csv").write_bytes(raw)
        return ingest(
            self.manifest(),
            base=self.folder,
            import_folder=import_folder or self.folder,
            secret=secret,
            target=self.folder / self.target,
            surroundings=self.surroundings,
            linked=self.linked,
            bucket_bytes=self.bucket_bytes,
            progress=self.progress,
            memory_limit=self.memory_limit,
            threads=1,  # of a few rows, a second one's own work is a fifth of a load
        )

    def publishes(self):
        """Ingest; return whether the public tables hold every row of their files."""
        tables = self.load().report.tables
        public = [table for table in tables[1:] if table.units == 0]
        return bool(public) and all(t.rows_kept == t.rows_read > 0 for t in public)

    def report(self):
        """Ingest and return the report on ``stays``."""
        return self.load().report.tables[0]

    def rows(self, wanted="* EXCLUDE (unit_key, row_hash, row_rank)", table="stays"):
        """Ingest once and return the stored rows, in stored order."""
        path = self.folder / self.target
        if not path.exists():
            self.load()
        with duckdb.connect(str(path), read_only=True) as connection:
            return connection.sql(f"SELECT {wanted} FROM {table}").fetchall()


@pytest.fixture
def hospital(tmp_path):
    return Hospital(tmp_path)
