"""Declared sizes: long texts do not get in, too many rows or units refuse the load."""

import subprocess
import sys

import duckdb
import pytest

from tests.effort import gate_first
from upstream.errors import IngestionError, ManifestError
from upstream.files.long_texts import MARK
from upstream.manifests.declarations import MOST_LENGTH
from upstream.staging.canonical import MOST_ID_BYTES

HEADER = "pid,day,ward\n"
LONG = "x" * 1_001


def test_a_longer_text_becomes_null_and_is_counted_and_told(hospital):
    hospital.csv = f"{HEADER}1,,{LONG}\n2,,{LONG[:1000]}\n3,,A\n"
    report = hospital.load().report
    (ward,) = [c for c in report.tables[0].columns if c.name == "ward"]
    assert (ward.too_long, ward.to_null, ward.values) == (1, 1, 3)
    assert hospital.rows("count(*), count(ward), max(strlen(ward))") == [(3, 2, 1000)]
    assert any("max_length of 1,000 bytes" in said for said in report.warnings)


def test_a_declared_length_counts_bytes_and_not_characters(hospital):
    hospital.column("ward", max_length=4)
    hospital.csv = f"{HEADER}1,,\xe9\xe9\n2,,\xe9\xe9e\n3,,\U0001f600\n4,,abcde\n"
    hospital.load()
    kept = sorted(ward for (ward,) in hospital.rows("ward") if ward is not None)
    assert kept == ["\xe9\xe9", "\U0001f600"]


@pytest.mark.sampled
@pytest.mark.parametrize("size", [1_001, 5_000, MOST_LENGTH])
def test_a_column_may_declare_a_greater_length(hospital, size):
    hospital.column("ward", max_length=size)
    hospital.csv = f"{HEADER}1,,{'x' * size}\n2,,{'x' * (size + 1)}\n"
    report = hospital.report()
    assert [c.too_long for c in report.columns] == [0, 1]
    assert hospital.rows("strlen(ward)") == [(size,), (None,)] or hospital.rows(
        "strlen(ward)"
    ) == [(None,), (size,)]


def test_where_null_is_refused_a_longer_text_refuses_the_file_with_its_line(hospital):
    hospital.column("ward", nullable=False)
    hospital.csv = f"{HEADER}1,,A\n2,,{LONG}\n"
    with pytest.raises(IngestionError, match="max_length of 1,000 bytes") as refusal:
        hospital.load()
    assert (refusal.value.problems[0].line, refusal.value.problems[0].column) == (3, 3)


def test_a_long_text_outside_a_list_becomes_other_and_a_mapped_one_is_read(hospital):
    hospital.column(
        "ward",
        map={LONG * 2: "A"},
        domain={"values": ["A", "B"], "other": True},
        source="test",
    )
    hospital.csv = f"{HEADER}1,,{LONG * 2}\n2,,{LONG * 3}\n3,,{LONG}\n"
    report = hospital.report()
    assert [(c.to_other, c.too_long) for c in report.columns] == [(0, 0), (2, 0)]
    assert sorted(hospital.rows("ward")) == [("A",), ("other",), ("other",)]


def test_long_texts_that_differ_have_different_row_hashes(hospital):
    hospital.csv = f"{HEADER}1,,{LONG}a\n1,,{LONG}b\n1,,{LONG}a\n"
    assert hospital.report().rows_kept == 3
    assert len(set(hospital.rows("row_hash"))) == 3


def test_a_text_that_begins_as_the_mark_of_a_longer_one_counts_as_long(hospital):
    hospital.csv = f"{HEADER}1,,{MARK}12:ab\n".encode()
    assert hospital.report().columns[1].too_long == 1
    assert hospital.rows("ward") == [(None,)]


def test_a_number_of_thousands_of_digits_is_refused(hospital):
    hospital.column("age", type="integer", domain={"min": 0, "max": 9}, source="t")
    hospital.csv = f"pid,day,ward,age\n1,,A,{'9' * 1_000}\n2,,A,{'9' * 1_001}\n"
    with pytest.raises(IngestionError, match="cannot be read") as refusal:
        hospital.load()
    assert [p.line for p in refusal.value.problems] == [3]


@pytest.mark.parametrize("unit_type", ["integer", "text"])
def test_an_id_longer_than_its_bound_refuses_the_file(hospital, unit_type):
    hospital.unit_type = unit_type
    hospital.column("pid", type=unit_type)
    long = "0" * MOST_ID_BYTES
    hospital.csv = f"{HEADER}{long}1,,A\n"
    with pytest.raises(IngestionError, match=r"1,000 bytes|no integer") as refusal:
        hospital.load()
    assert refusal.value.problems[0].line == 2
    hospital.csv = f"{HEADER}{long},,A\n"
    assert hospital.report().units == 1


def test_a_longer_text_of_a_public_table_becomes_null_too(hospital):
    hospital.more_tables.append(
        {
            "name": "wards",
            "files": ["wards.csv"],
            "public": True,
            "columns": [{"name": "name", "type": "text"}],
        }
    )
    (hospital.folder / "wards.csv").write_text(f"name\nA\n{LONG}\n")
    assert hospital.load().report.tables[1].columns[0].too_long == 1
    assert hospital.rows("name", table="wards") == [("A",), (None,)]


@pytest.mark.parametrize("public", [False, True])
def test_a_table_with_more_rows_than_declared_refuses_the_load(hospital, public):
    hospital.csv = HEADER + "".join(f"{i},,A\n" for i in range(1, 13))
    if public:
        table = {"name": "wards", "files": ["wards.csv"], "public": True}
        columns = [{"name": "name", "type": "text"}]
        (hospital.folder / "wards.csv").write_text("name\n" + "A\n" * 12)
        more = {"max_rows": 11, "source": "test", "columns": columns}
        hospital.more_tables.append({**table, **more})
    else:
        hospital.table = {"max_rows": 11}
    with pytest.raises(IngestionError, match="declare max_rows: 20 ") as refusal:
        hospital.load()
    assert "12 rows" in str(refusal.value)
    assert not (hospital.folder / hospital.target).exists()


def test_rows_count_as_they_are_kept(hospital):
    hospital.csv = HEADER + "1,,A\n" * 30
    hospital.table = {"max_rows": 9}
    assert hospital.report().rows_kept == 9


def test_more_units_than_declared_refuse_the_load(hospital):
    hospital.csv = HEADER + "".join(f"{i},,A\n" for i in range(1, 13))
    hospital.population = {"max_units": 11, "source": "test"}
    with pytest.raises(IngestionError, match="declare max_units: 20 "):
        hospital.load()
    hospital.population["max_units"] = 12
    assert hospital.report().units == 12


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"type": "integer", "max_length": 9}, "only a text column"),
        ({"max_length": 4, "map": {"x": "abcde"}}, "5 bytes"),
        ({"max_length": 4, "domain": {"values": ["a"], "other": True}}, "5 bytes"),
    ],
)
def test_a_length_that_cannot_be_is_refused(hospital, column, words):
    hospital.column("ward", source="test", **column)
    with pytest.raises(ManifestError, match=words):
        hospital.manifest()


def test_a_unit_column_has_no_length_and_sizes_need_a_source(hospital):
    hospital.column("pid", type="text", max_length=9)
    with pytest.raises(ManifestError, match="a unit column has no max_length"):
        hospital.manifest()
    del hospital.columns[0]["max_length"]
    hospital.population = {"max_units": 9}
    with pytest.raises(ManifestError, match="source is missing"):
        hospital.manifest()


LOAD = """
import resource, sys
from pathlib import Path
from upstream.ingestion.ingestion import ingest
from upstream.manifests.manifest import load_manifest
folder = Path(sys.argv[1])
manifest = load_manifest(folder / "m.yaml")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ingest(manifest, base=folder, import_folder=folder, secret=bytes(32),
       target=folder / "s.duckdb")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
MANIFEST = """
version: 1
population: {id: p, unit: patient, unit_type: integer}
dataset: d
snapshot_date: 2024-12-31
tables:
- name: stays
  files: [stays.FORMAT]
  unit_column: pid
  max_rows_per_unit: 9
  source: test
  columns:
  - {name: pid, type: integer}
  - {name: note, type: text}
"""


@pytest.mark.long
@pytest.mark.parametrize("form", gate_first(1, ["csv", "parquet"]))
def test_texts_of_megabytes_do_not_fill_the_memory_of_a_load(tmp_path, form):
    (tmp_path / "m.yaml").write_text(MANIFEST.replace("FORMAT", form))
    if form == "csv":
        row = "x" * 1_000_000
        rows = (f"{i % 9},{row}\n" for i in range(120))
        (tmp_path / "stays.csv").write_text("pid,note\n" + "".join(rows))
    else:
        with duckdb.connect() as connection:
            connection.execute(
                "COPY (SELECT i AS pid, repeat('x', 60_000_000 * (i = 3)::INT) AS note "
                f"FROM range(9) t(i)) TO '{tmp_path / 'stays.parquet'}'"
            )
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    grown_bytes = int(done.stdout) * 1024
    assert grown_bytes < 450_000_000
