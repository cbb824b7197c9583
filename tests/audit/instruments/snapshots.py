"""Exact vectors of one arm's files, without a server: what white-box tests compare."""

from contextlib import contextmanager

import duckdb

from engines.duckdb.snapshots import BLIND
from privacy.contributions import NO_BOUNDS
from tests.semantics.engine import exact_vectors
from tests.support.compiling import compile_query
from upstream.ingestion.ingestion import ingest
from upstream.manifests.manifest import load_manifest

SECRET = bytes(range(32))


@contextmanager
def both_arms(cohort, folder):
    """Ingest a cohort with and without its added patients; lend both databases."""
    with (
        _arm(cohort, folder / "with", added=True) as present,
        _arm(cohort, folder / "without", added=False) as absent,
    ):
        yield present, absent


@contextmanager
def _arm(cohort, folder, *, added):
    folder.mkdir(parents=True)
    manifest = load_manifest(cohort.write(folder, added=added))
    target = folder / "s.duckdb"
    ingest(manifest, base=folder, import_folder=folder, secret=SECRET, target=target)
    with duckdb.connect(str(target), read_only=True, config=dict(BLIND)) as connection:
        yield connection, manifest.schema()


def exact(arms, sql):
    """Return each arm's exact vectors."""
    return [
        exact_vectors(connection, compile_query(sql, schema, NO_BOUNDS).rendered)
        for connection, schema in arms
    ]


def distances(arms, sql):
    """Return stated L1 and the L1 distance of each vector, in order."""
    measures = compile_query(sql, arms[0][1], NO_BOUNDS).measures
    moved = [
        sum(abs(a - b) for a, b in zip(one, other, strict=True))
        for one, other in zip(*exact(arms, sql), strict=True)
    ]
    return [measure.sensitivity.l1 for measure in measures], moved
