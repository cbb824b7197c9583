"""Remove any unit from the source files: no other unit's stored rows move."""

import copy
import csv
import tempfile
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.effort import rounds
from upstream.ingestion.ingestion import BUCKET_BYTES, ingest
from upstream.ingestion.secrets import derive_keys
from upstream.manifests.declarations import FOLDS
from upstream.manifests.manifest import Manifest
from upstream.staging.canonical import canonical_unit_id, folded_unit_id
from upstream.staging.row_hash import unit_key

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
            "derived": [
                {
                    "name": "late",
                    "expression": "CASE WHEN patients.sex = 'F' THEN day ELSE -9 END",
                    "type": "integer",
                    "domain": {"min": 0, "max": 4},
                    "source": "test",
                },
                {
                    "name": "ward",
                    "expression": "stays.ward",
                    "type": "text",
                    "constant_in_unit": True,
                },
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

SPELLINGS = {
    "integer": ["1", "01", " 1", "2", "+2", "3", "4", "04 ", "", " "],
    "text": ["p1", "P1", "p01", " p1", "p 1", "P\u200b1", "2", "02", "x", "X", "", " "],
}
NUMBERS = st.sampled_from(["", "0", "1", "2", "9", "-9", "nan"])
TEXTS = st.sampled_from(
    ["", "A", "B", "F", "M", "x\ny", 'q"', "AB", "\u00e9", "\U0001f600"]
)


@dataclass(frozen=True)
class Declared:
    """What a manifest says of ids and texts."""

    unit_type: str = "integer"
    unit_fold: tuple = ()
    max_length: int | None = None

    def manifest(self):
        content = copy.deepcopy(MANIFEST)
        content["population"]["unit_type"] = self.unit_type
        if self.unit_fold:
            content["population"]["unit_fold"] = list(self.unit_fold)
        for table in content["tables"]:
            for column in table["columns"]:
                if column["name"] == "pid" and self.unit_type == "text":
                    column["type"] = "text"
                if self.max_length and column["name"] in ("ward", "note"):
                    column["max_length"] = self.max_length
        return Manifest.model_validate(content)

    def unit_of(self, raw):
        uid = canonical_unit_id(raw, self.unit_type)
        return None if uid is None else folded_unit_id(uid, self.unit_fold)


LENGTHS = st.sampled_from([None, 1, 2, 3, 4])
DECLARED = st.builds(Declared, max_length=LENGTHS) | st.builds(
    Declared,
    unit_type=st.just("text"),
    unit_fold=st.lists(st.sampled_from(FOLDS), unique=True).map(tuple),
    max_length=LENGTHS,
)


def rows_of(columns, unit_type):
    cell = {
        "pid": st.sampled_from(SPELLINGS[unit_type]),
        "day": NUMBERS,
        "sex": TEXTS,
        "ward": TEXTS,
        "note": TEXTS,
    }
    return st.lists(st.tuples(*(cell[c] for c in columns)), max_size=14)


@st.composite
def loads(draw):
    """Return what is declared, the files, and the spelling of a unit."""
    declared = draw(DECLARED)
    kind = declared.unit_type
    files = {name: rows_of(columns, kind) for name, columns in FILES.items()}
    spelled = st.sampled_from([raw for raw in SPELLINGS[kind] if raw.strip()])
    return declared, draw(st.fixed_dictionaries(files)), draw(spelled)


def stored(declared, sources, bucket_bytes=BUCKET_BYTES):
    """Ingest the sources and return each table's rows by unit key."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, rows in sources.items():
            with (folder / file).open("w", newline="") as out:
                writer = csv.writer(out, lineterminator="\n")
                writer.writerows([FILES[file], *rows])
        target = folder / "s.duckdb"
        ingest(
            declared.manifest(),
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


def few(examples):
    slow = [HealthCheck.too_slow]
    return settings(max_examples=examples, deadline=None, suppress_health_check=slow)


def without(declared, sources, unit):
    return {
        file: [
            row
            for row in rows
            if declared.unit_of(row[FILES[file].index("pid")]) != unit
        ]
        for file, rows in sources.items()
    }


@few(rounds(25))
@given(loads())
@example(
    (
        Declared(),
        {
            "patients.csv": [("1", "F"), ("2", "M")],
            "stays1.csv": [("1", "1", "A", "")] * 5 + [("2", "1", "A", "")] * 5,
            "stays2.csv": [("A", "1", "", "1"), ("B", "2", "", "2")],
            "labs.csv": [("2", "1"), ("1", "1"), ("2", "")] * 2,
        },
        "1",
    )
)
@example(
    (
        Declared("text", ("case", "zeros"), 1),
        {
            "patients.csv": [("p1", "F"), ("P1", "M"), ("2", "F")],
            "stays1.csv": [("P1", "1", "AB", ""), ("2", "1", "AB", "x\ny")] * 2,
            "stays2.csv": [("A", "p01", "", "1"), ("AB", "02", "", "2")],
            "labs.csv": [("p1", "1"), ("P1", "1"), ("2", "")] * 2,
        },
        "P1",
    )
)
def test_removing_a_unit_moves_no_row_of_any_other(load):
    declared, sources, spelled = load
    unit = declared.unit_of(spelled)
    gone = unit_key(derive_keys(SECRET).unit, unit)
    before = stored(declared, sources)
    after = stored(declared, without(declared, sources, unit))
    for table, rows in before.items():
        assert [row for row in rows if row[0] != gone] == after[table]
        assert gone not in {row[0] for row in after[table]}


@few(rounds(15))
@given(loads())
def test_every_promise_of_the_manifest_holds_in_each_stored_unit(load):
    declared, sources, _ = load
    tables = stored(declared, sources)
    key, most = derive_keys(SECRET).unit, declared.max_length or 1_000
    named = {
        table: {
            declared.unit_of(row[FILES[file].index("pid")])
            for file, rows in sources.items()
            if file.startswith(table)
            for row in rows
        }
        for table in tables
    }
    bounds = {"patients": 1, "stays": 3, "labs": 2}
    for table, rows in tables.items():
        units = {row[0] for row in rows}
        assert units == {unit_key(key, uid) for uid in named[table] if uid is not None}
        for unit in units:
            own = [row for row in rows if row[0] == unit]
            assert [row[2] for row in own] == list(range(1, len(own) + 1))
            assert sorted(row[1] for row in own) == [row[1] for row in own]
            assert len(own) <= bounds[table]
            if table == "stays":
                assert len({(day, ward) for *_, day, ward, _ in own}) == len(own)
                assert len({ward for *_, ward, _ in own}) == 1
                texts = [text for *_, ward, note in own for text in (ward, note)]
                assert all(len((text or "").encode()) <= most for text in texts)
    sex = {row[0]: row[3] for row in tables["patients"]}
    ward = {row[0]: row[4] for row in tables["stays"]}
    for unit, *_, day, late, home in tables["labs"]:
        given = day if sex.get(unit) == "F" else -9
        assert late == (None if given is None else min(max(given, 0), 4))
        assert home == ward.get(unit)


@few(rounds(10, 4))
@given(loads(), st.sampled_from([50, 500, 2000]))
def test_the_size_of_buckets_changes_nothing_that_is_stored(load, bucket_bytes):
    declared, sources, _ = load
    assert stored(declared, sources, bucket_bytes) == stored(declared, sources)
