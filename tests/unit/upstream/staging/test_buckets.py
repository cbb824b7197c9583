"""Whatever the size of a bucket, the same rows are stored."""

import decimal
import math
import random
import subprocess
import sys

import duckdb
import pytest

from tests.unit.upstream.conftest import Hospital
from upstream.progress import ProgressStep

pytestmark = pytest.mark.long

SPELLINGS = ["{}", "+{}", " {}", "0{}"]


def busy_hospital(folder, rows=6_000, units=400):
    """Return a hospital with equal rows, shared keys, constants, and lost units."""
    dice = random.Random(7)
    lines = []
    for _ in range(rows):
        unit = dice.choice(SPELLINGS).format(dice.randrange(units))
        day = f"2024-01-{dice.randrange(1, 29):02d}" if dice.random() < 0.9 else ""
        lines.append(f"{unit},{day},{dice.choice('ABC')}")
    lines += ["5,2024-01-01,A"] * 500 + [",2024-01-01,A"] * 10
    hospital = Hospital(folder, csv="\n".join(["pid,day,ward", *lines, ""]))
    hospital.column("ward", constant_in_unit=True)
    return hospital


TABLES = {
    "plain": {"max_rows_per_unit": 12},
    "keyed": {"max_rows_per_unit": 12, "key": ["day"]},
    "kept": {"max_rows_per_unit": 12, "keep": {"first_by": "day"}},
}


@pytest.mark.parametrize("kind", TABLES)
def test_buckets_change_nothing_that_is_stored_or_reported(tmp_path, kind):
    hospital = busy_hospital(tmp_path)
    hospital.table = TABLES[kind]
    whole = hospital.load()
    rows = hospital.rows("*")
    hospital.target, hospital.bucket_bytes = "again.duckdb", 30_000
    assert hospital.load() == whole
    assert hospital.rows("*") == rows
    assert len(rows) > 1000


@pytest.mark.parametrize("kind", TABLES)
def test_ids_too_many_to_join_change_nothing(tmp_path, monkeypatch, kind):
    hospital = busy_hospital(tmp_path, rows=2000)
    hospital.table = TABLES[kind]
    whole = hospital.load()
    rows = hospital.rows("*")
    monkeypatch.setattr("upstream.staging.staging.MOST_JOINED_IDS", 10)
    hospital.target = "again.duckdb"
    assert hospital.load() == whole
    assert hospital.rows("*") == rows


def test_a_small_bucket_splits_a_table(tmp_path):
    hospital = busy_hospital(tmp_path)
    hospital.bucket_bytes = 10_000
    told: list[ProgressStep] = []
    hospital.progress = told.append
    hospital.load()
    assert len([step for step in told if step.phase == "rank"]) > 100


def test_the_share_that_is_told_never_falls_within_a_phase(tmp_path):
    hospital = busy_hospital(tmp_path)
    hospital.bucket_bytes = 100_000
    told: list[ProgressStep] = []
    hospital.progress = told.append
    hospital.load()
    for phase in ("check", "units", "read", "rank", "write"):
        shares = [step.percent for step in told if step.phase == phase]
        assert shares == sorted(shares)
    assert told[-1].percent == 100


LOADER = """
import sys
from pathlib import Path
from tests.unit.upstream.staging.test_buckets import busy_hospital
hospital = busy_hospital(Path(sys.argv[1]), rows=300_000, units=9_000)
hospital.bucket_bytes = 2**21
hospital.load()
line, = [l for l in open("/proc/self/status") if l.startswith("VmHWM")]
print(int(line.split()[1]) // 1024)
"""


@pytest.mark.slow
def test_a_load_of_300_000_rows_keeps_within_its_memory(tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", LOADER, str(tmp_path)],
        check=True,
        stdout=subprocess.PIPE,
    )
    assert int(found.stdout) < 700  # MiB, of which 100 are Python and its libraries


def test_floats_are_written_out_as_python_writes_them(hospital):
    dice = random.Random(3)
    values = [0.1, 1e15, 1e16, 1.5e300, 5e-324, 1e-5, -2.5e-7, 123456789.125, 1e22]
    values += [
        math.ldexp(dice.random() - 0.5, dice.randrange(-900, 900)) for _ in range(400)
    ]
    path = hospital.folder / "stays.parquet"
    rows = "SELECT x, x AS day, '' AS ward, 1 AS pid FROM f"
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE f AS SELECT unnest(?::DOUBLE[]) AS x", [values]
        )
        connection.execute(f"COPY ({rows}) TO '{path}'")
    hospital.csv, hospital.table = None, {"files": ["stays.parquet"]}
    hospital.table["max_rows_per_unit"] = 1000
    hospital.columns = [
        {"name": "pid", "type": "integer"},
        {"name": "day", "type": "text"},
    ]
    expected = {plain(value) for value in values}
    assert {day for (day,) in hospital.rows("day")} == expected


def plain(value):
    """Write a float in decimal digits, as its shortest text says."""
    return format(decimal.Decimal(repr(value)), "f").removesuffix(".0")
