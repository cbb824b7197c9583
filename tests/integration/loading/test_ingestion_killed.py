"""A load that is killed leaves no snapshot, and the next load is none the worse."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from upstream.ingestion.ingestion import ingest
from upstream.manifests.manifest import Manifest

ROOT = Path(__file__).resolve().parents[3]
MANIFEST = {
    "version": 1,
    "population": {"id": "p", "unit": "patient", "unit_type": "integer"},
    "dataset": "d",
    "snapshot_date": "2024-12-31",
    "tables": [
        {
            "name": "stays",
            "files": ["stays.csv"],
            "unit_column": "pid",
            "max_rows_per_unit": 50,
            "source": "test",
            "columns": [
                {"name": "pid", "type": "integer"},
                {"name": "ward", "type": "text"},
            ],
        }
    ],
}
LOADER = """
import sys
from pathlib import Path
from upstream.ingestion.ingestion import ingest
from upstream.manifests.manifest import Manifest
folder = Path(sys.argv[1])
ingest(Manifest.from_json((folder / "m.json").read_text()), base=folder,
       import_folder=folder, secret=bytes(32), target=folder / "s.duckdb",
       progress=lambda step: print(step.phase, step.percent, flush=True))
"""
STARTED, RANKED, STORED = b"read 0\n", b"rank 0\n", b"write 100\n"


def kill_a_load(folder, *, after, delay_seconds):
    """Start a load, wait for its word, and kill it so much later."""
    loader = subprocess.Popen(
        [sys.executable, "-c", LOADER, str(folder)], cwd=ROOT, stdout=subprocess.PIPE
    )
    with loader:
        while loader.stdout.readline() != after:
            assert loader.poll() is None
        time.sleep(delay_seconds)
        loader.send_signal(signal.SIGKILL)


@pytest.mark.long
@pytest.mark.slow
def test_a_killed_load_leaves_no_target_and_can_be_repeated(tmp_path):
    lines = "".join(f"{i % 9000},W{i % 10}\n" for i in range(200_000))
    (tmp_path / "stays.csv").write_text("pid,ward\n" + lines)
    manifest = Manifest.model_validate(MANIFEST)
    (tmp_path / "m.json").write_text(manifest.canonical_json())
    for delay_seconds in (0, 0.05, 0.2):
        kill_a_load(tmp_path, after=STARTED, delay_seconds=delay_seconds)
        assert not (tmp_path / "s.duckdb").exists()
        assert (tmp_path / "s.duckdb.part").exists()
    kill_a_load(tmp_path, after=STORED, delay_seconds=0)  # about to be published
    if (tmp_path / "s.duckdb").exists():
        with duckdb.connect(str(tmp_path / "s.duckdb"), read_only=True) as whole:
            assert whole.sql("SELECT count(*) FROM stays").fetchall() == [(200_000,)]
        (tmp_path / "s.duckdb").unlink()
    ingested = ingest(
        manifest,
        base=tmp_path,
        import_folder=tmp_path,
        secret=bytes(32),
        target=tmp_path / "s.duckdb",
    )
    assert ingested.report.tables[0].rows_kept == 200_000
    assert {p.name for p in tmp_path.iterdir()} == {"m.json", "s.duckdb", "stays.csv"}
