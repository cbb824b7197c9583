"""Remove any unit from the source files: no other unit's stored rows move."""

import csv
import tempfile
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from upstream.canonical import canonical_unit_id
from upstream.ingestion import BUCKET_BYTES, ingest
from upstream.manifest import Manifest
from upstream.row_hash import unit_key
from upstream.secrets import derive_keys

pytestmark = pytest.mark.thorough

SECRET = b"\x01" * 32

MANIFEST = {
    "version": 1,
    "population": {"id": "p", "unit": "patient", "unit_type": "integer"},
    "dataset": "d",
    "snapshot_date": "2024-12-31",
    "tables": [
        {
            "name": "patients",
            "files": ["patients.csv"],
            "unit_column": "pid",
            "key": ["pid"],
            "max_rows_per_unit": 1,
            "source": "test",
            "columns": [
                {"name": "pid", "type": "integer"},
                {
                    "name": "sex",
                    "type": "text",
                    "domain": {"values": ["F", "M"], "other": True},
                    "source": "test",
                },
            ],
        },
        {
            "name": "stays",
            "files": ["stays*.csv"],
            "unit_column": "pid",
            "key": ["day", "ward"],
            "max_rows_per_unit": 3,
            "source": "test",
            "columns": [
                {"name": "pid", "type": "text"},
                {
                    "name": "day",
                    "type": "integer",
                    "domain": {"min": 0, "max": 4},
                    "source": "test",
                },
                {"name": "ward", "type": "text", "constant_in_unit": True},
                {"name": "note", "type": "text"},
            ],
        },
        {
            "name": "labs",
            "files": ["labs.csv"],
            "unit_column": "pid",
            "max_rows_per_unit": 2,
            "keep": {"first_by": "day"},
            "source": "test",
            "columns": [
                {"name": "pid", "type": "integer"},
                {"name": "day", "type": "integer"},
            ],
        },
    ],
}
FILES = {
    "patients.csv": ("pid", "sex"),
    "stays1.csv": ("pid", "day", "ward", "note"),
    "stays2.csv": ("ward", "pid", "note", "day"),
    "labs.csv": ("pid", "day"),
}

SPELLINGS = st.sampled_from(["1", "01", " 1", "2", "+2", "3", "4", "04 ", "", " "])
NUMBERS = st.sampled_from(["", "0", "1", "2", "9", "-9", "nan"])
TEXTS = st.sampled_from(["", "A", "B", "F", "M", "x\ny", 'q"'])


def rows_of(columns):
    cell = {
        "pid": SPELLINGS,
        "day": NUMBERS,
        "sex": TEXTS,
        "ward": TEXTS,
        "note": TEXTS,
    }
    return st.lists(st.tuples(*(cell[c] for c in columns)), max_size=14)


SOURCES = st.fixed_dictionaries({name: rows_of(c) for name, c in FILES.items()})


def stored(sources, bucket_bytes=BUCKET_BYTES):
    """Ingest the sources and return each table's rows by unit key."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, rows in sources.items():
            with (folder / file).open("w", newline="") as out:
                writer = csv.writer(out, lineterminator="\n")
                writer.writerows([FILES[file], *rows])
        target = folder / "s.duckdb"
        ingest(
            Manifest.model_validate(MANIFEST),
            base=folder,
            import_folder=folder,
            secret=SECRET,
            target=target,
            bucket_bytes=bucket_bytes,
        )
        tables = {}
        with duckdb.connect(str(target), read_only=True) as connection:
            for table in ("patients", "stays", "labs"):
                rows = connection.sql(f"FROM {table}").fetchall()
                tables[table] = rows
        return tables


def without(sources, unit):
    return {
        file: [
            row
            for row in rows
            if canonical_unit_id(row[FILES[file].index("pid")], "integer") != unit
        ]
        for file, rows in sources.items()
    }


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SOURCES, st.sampled_from(["1", "2", "3", "4"]))
@example(
    {
        "patients.csv": [("1", "F"), ("2", "M")],
        "stays1.csv": [("1", "1", "A", "")] * 5 + [("2", "1", "A", "")] * 5,
        "stays2.csv": [("A", "1", "", "1"), ("B", "2", "", "2")],
        "labs.csv": [("2", "1"), ("1", "1"), ("2", "")] * 2,
    },
    "1",
)
def test_removing_a_unit_moves_no_row_of_any_other(sources, unit):
    gone = unit_key(derive_keys(SECRET).unit, unit)
    before, after = stored(sources), stored(without(sources, unit))
    for table, rows in before.items():
        assert [row for row in rows if row[0] != gone] == after[table]
        assert gone not in {row[0] for row in after[table]}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SOURCES)
def test_every_promise_of_the_manifest_holds_in_each_stored_unit(sources):
    tables = stored(sources)
    bounds = {"patients": 1, "stays": 3, "labs": 2}
    for table, rows in tables.items():
        units = {row[0] for row in rows}
        for unit in units:
            own = [row for row in rows if row[0] == unit]
            assert [row[2] for row in own] == list(range(1, len(own) + 1))
            assert sorted(row[1] for row in own) == [row[1] for row in own]
            assert len(own) <= bounds[table]
            if table == "stays":
                assert len({(day, ward) for *_, day, ward, _ in own}) == len(own)
                assert len({ward for *_, ward, _ in own}) == 1


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SOURCES, st.sampled_from([50, 500, 2000]))
def test_the_size_of_buckets_changes_nothing_that_is_stored(sources, bucket_bytes):
    assert stored(sources, bucket_bytes) == stored(sources)
