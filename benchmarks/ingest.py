"""Time and memory of a load at size, beside DuckDB's own load of the same file.

python -m benchmarks.ingest [--rows 10000000] [--rows-per-unit 20]
                            [--format csv|parquet] [--folder F]

Prints seconds of each phase and of the whole, the peak memory of the loading process,
and the ratio of the speeds. ``parse`` is the reading of typed rows without hashing,
run once more by itself; ``hash`` is what reading takes beyond it. Both loads use the
same threads and a memory limit of their own; each runs in a process of its own.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import duckdb

from upstream.files.reading import reader_of
from upstream.files.sources import Folders, open_sources
from upstream.ingestion.ingestion import MEMORY_LIMIT, ingest
from upstream.manifests.manifest import Manifest
from upstream.progress import ProgressStep
from upstream.staging.raw_rows import raw_rows_sql
from upstream.staging.staging import stored_positions, typed_rows_sql

THREADS = 2
_COLUMNS = {
    "patient": "BIGINT",
    "code": "VARCHAR",
    "day": "DATE",
    "units": "BIGINT",
    "result": "DECIMAL(18, 2)",
    "note": "VARCHAR",
}


def write_rows(path: Path, rows: int, rows_per_unit: int) -> None:
    """Write the file: the same rows for the same number, whatever the machine."""
    units = max(1, rows // rows_per_unit)
    query = (
        f"SELECT 1000000 + (i * 2654435761) % 4294967296 % {units} AS patient, "
        "chr(CAST(65 + (i * 40503) % 26 AS INTEGER)) "
        "|| lpad(CAST((i * 69069) % 1000 AS VARCHAR), 3, '0') AS code, "
        "DATE '2010-01-01' + CAST((i * 1103515245) % 5000 AS INTEGER) AS day, "
        "(i * 22695477) % 200 AS units, "
        "CAST((i * 16807) % 2147483647 % 100000 / 100 AS DECIMAL(9, 2)) AS result, "
        "concat('note ', (i * 48271) % 2147483647, ' of ward ', (i * 31) % 40) AS note "
        f"FROM range({rows}) t(i)"
    )
    kind = "FORMAT parquet" if path.suffix == ".parquet" else "FORMAT csv, HEADER"
    with duckdb.connect(config={"memory_limit": "512MB"}) as connection:
        connection.execute(f"COPY ({query}) TO '{path}' ({kind})")


def manifest_of(path: Path) -> Manifest:
    """Return the declarations of the file."""
    source = {"source": "benchmark"}
    columns = [
        {"name": "patient", "type": "integer"},
        {"name": "code", "type": "text"},
        {"name": "day", "type": "date"},
        {"name": "units", "type": "integer", "domain": {"min": 0, "max": 100}} | source,
        {"name": "result", "type": "decimal", "scale": 2},
        {"name": "note", "type": "text"},
    ]
    table = {
        "name": "labs",
        "files": [path.name],
        "unit_column": "patient",
        "max_rows_per_unit": 50,
        "columns": columns,
    }
    return Manifest.model_validate(
        {
            "version": 1,
            "population": {"id": "p", "unit": "patient", "unit_type": "integer"},
            "dataset": "d",
            "snapshot_date": "2024-12-31",
            "tables": [table | source],
        }
    )


class Stopwatch:
    """Gives the time between two words of a load to the phase of the first."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._phase: str = "open"
        self._since = time.perf_counter()

    def __call__(self, step: ProgressStep) -> None:
        """Hear that a step began or went on."""
        self.lap(step.phase)

    def lap(self, phase: str) -> None:
        """End the current phase and begin another."""
        now = time.perf_counter()
        self.seconds[self._phase] += now - self._since
        self._phase, self._since = phase, now


def load_with_curator(path: Path) -> dict[str, float]:
    """Ingest the file and return seconds a phase."""
    watch = Stopwatch()
    ingest(
        manifest_of(path),
        base=path.parent,
        import_folder=path.parent,
        secret=bytes(32),
        target=path.parent / "curator.duckdb",
        threads=THREADS,
        progress=watch,
    )
    watch.lap("done")
    return dict(watch.seconds)


def load_with_duckdb(path: Path) -> dict[str, float]:
    """Load the file as DuckDB does by itself, declared types, into a file."""
    start = time.perf_counter()
    with _limited(str(path.parent / "own.duckdb")) as connection:
        connection.execute(f"CREATE TABLE labs AS FROM {_typed(path)}")
        connection.execute("CHECKPOINT")
    return {"load": time.perf_counter() - start}


def _limited(database: str) -> duckdb.DuckDBPyConnection:
    """Open a database with the memory and threads of a load."""
    limits = {"memory_limit": MEMORY_LIMIT, "threads": str(THREADS)}
    connection = duckdb.connect(database, config={**limits})
    connection.execute("SET enable_progress_bar = false")
    return connection


def _typed(path: Path) -> str:
    if path.suffix == ".parquet":
        return f"read_parquet('{path}')"
    types = ", ".join(f"'{name}': '{type_}'" for name, type_ in _COLUMNS.items())
    return (
        f"read_csv('{path}', auto_detect=false, header=true, delim=',', quote='\"', "
        f"columns={{{types}}})"
    )


def parse_alone(path: Path) -> dict[str, float]:
    """Type every row as the load does, without a hash and without storing it."""
    table = manifest_of(path).tables[0]
    with _limited(":memory:") as connection:
        connection.execute("SET preserve_insertion_order = false")
        folders = Folders(path.parent, path.parent)
        files = open_sources(table, folders, connection)
        readers = {i: reader_of(table.columns[i]) for i, _ in stored_positions(table)}
        rows = typed_rows_sql(raw_rows_sql(table, files), readers)
        kept = ", ".join(f"v{i}, s{i}" for i in readers)
        start = time.perf_counter()
        connection.execute(
            f"SELECT count(COLUMNS(*)) FROM (SELECT {kept} FROM ({rows}))"
        )
    return {"parse": time.perf_counter() - start}


WORK = {"curator": load_with_curator, "duckdb": load_with_duckdb, "parse": parse_alone}


def peak_memory_mib() -> float:
    """Return the most memory that this process held at once (VmHWM)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def in_a_child(work: str, path: Path) -> dict[str, float]:
    """Do one load in a process of its own; return its seconds and peak memory."""
    command = [sys.executable, "-m", "benchmarks.ingest", "--work", work, str(path)]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    measured: dict[str, float] = json.loads(found.stdout)
    return measured


def report(rows: int, path: Path) -> None:
    """Measure both loads and print what they took."""
    own = in_a_child("duckdb", path)
    parse = in_a_child("parse", path)["parse"]
    ours = in_a_child("curator", path)
    peak, cpu = ours.pop("peak_mib"), ours.pop("cpu")
    total = sum(ours.values())
    stored = (path.parent / "curator.duckdb").stat().st_size
    shown = {
        "check": ours["open"] + ours.get("check", 0.0),
        "units": ours["units"],
        "parse": parse,
        "hash": ours["read"] - parse,
        "rank": ours["rank"],
        "write": ours["write"],
        "whole": total,
        "DuckDB's own": own["load"],
    }
    print(f"{rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB of {path.suffix}")
    for name, seconds in shown.items():
        print(f"  {name:<14}{seconds:8.1f} s")
    print(f"  {'peak memory':<14}{peak:8.0f} MiB (DuckDB's own {own['peak_mib']:.0f})")
    print(f"  {'snapshot':<14}{stored / 1e6:8.0f} MB")
    print(f"  speed         {own['load'] / total:8.3f} of DuckDB's own, by the clock")
    print(f"                {own['cpu'] / cpu:8.3f} by processor time")


def main() -> None:
    """Read the arguments, write the file, measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rows-per-unit", type=int, default=20)
    parser.add_argument("--format", choices=["csv", "parquet"], default="csv")
    parser.add_argument("--folder", type=Path, help="where to write; a temporary one")
    parser.add_argument("--work", nargs=2, metavar=("WORK", "PATH"))
    chosen = parser.parse_args()
    if chosen.work:
        measured = WORK[chosen.work[0]](Path(chosen.work[1]))
        spent = {"peak_mib": peak_memory_mib(), "cpu": time.process_time()}
        print(json.dumps(measured | spent))
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        path = Path(folder).resolve() / f"labs.{chosen.format}"
        write_rows(path, chosen.rows, chosen.rows_per_unit)
        report(chosen.rows, path)


if __name__ == "__main__":
    main()
