"""Random plans on neighbouring source files, each ingested as a custodian would.

Neighbouring relation: add or remove all rows of one unit, from the CSV files. What is
compared is the exact vectors of the compiler's own statements; public tables are the
same on both sides.
"""

import csv
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

from privacy.errors import QueryError
from privacy.schema import ColumnType, HierarchyDomain, RangeDomain, ValuesDomain
from tests.semantics import engine, hospital
from tests.semantics.grammar import PRIVATE, constructs, random_question
from tests.support.compiling import compile_query
from upstream.ingestion.ingestion import ingest
from upstream.manifests.manifest import Manifest
from upstream.staging.canonical import canonical_unit_id

SECRET = bytes(range(32))
UNITS = ("1", "2", "3", "4", "5")
SPELLINGS = {"1": ("1", "01", " 1"), "2": ("2", "+2"), "3": ("3", "3 ")}
STRANGE = ("", " ")  # rows of nobody
CONSTANT = {
    "encounters": {"ward", "severity", "age"},
    "labs": {"analyte"},
    "diagnoses": {"certain"},
}
"""Columns declared constant within a unit; the files do not keep to it."""
MOST_ROWS = {"patients": 2, "encounters": 7, "diagnoses": 7, "labs": 7}


def _declared(table):
    """Return a table whose columns are declared constant as CONSTANT says."""
    named = CONSTANT.get(table.name, set())
    columns = tuple(
        replace(column, constant_in_unit=column.name in named)
        for column in table.columns
    )
    return replace(table, columns=columns)


DATASET = replace(
    hospital.DATASET,
    tables={name: _declared(t) for name, t in hospital.DATASET.tables.items()},
)


# -- the manifest ----------------------------------------------------------------------


def manifest():
    """Return a manifest of the private tables of DATASET.

    Code columns are declared as plain texts: the files hold codes alone.
    """
    return Manifest.model_validate(
        {
            "version": 1,
            "population": {"id": "people", "unit": "patient", "unit_type": "integer"},
            "dataset": "hospital",
            "snapshot_date": "2020-03-01",
            "tables": [_table_spec(DATASET.tables[name]) for name in PRIVATE],
        }
    )


def _table_spec(table):
    return {
        "name": table.name,
        "files": [f"{table.name}.csv"],
        "unit_column": table.unit_column,
        "key": list(table.key),
        "max_rows_per_unit": table.max_rows_per_unit,
        "source": "test",
        "columns": [_column_spec(column) for column in table.columns],
    }


def _column_spec(column):
    spec = {
        "name": column.name,
        "type": column.type.value,
        "nullable": column.nullable,
        "constant_in_unit": column.constant_in_unit,
        "null_values": [NULL],
        "source": "test",
    }
    if column.type is ColumnType.DECIMAL:
        spec["scale"] = column.scale
    match column.domain:
        case RangeDomain(low, high):
            spec["domain"] = {"min": text_of(low), "max": text_of(high)}
        case ValuesDomain(values, other):
            written = [v if isinstance(v, int) else text_of(v) for v in values]
            spec["domain"] = {"values": written, "other": other}
        case HierarchyDomain() | None:
            pass
    return spec


# -- the files -------------------------------------------------------------------------

NULL = "NULL"


def text_of(value):
    """Return a value as a CSV field holds it."""
    if value is None:
        return NULL
    match value:
        case bool():
            text = str(value).lower()
        case datetime():
            text = value.isoformat(sep=" ")
        case date():
            text = value.isoformat()
        case Decimal():
            text = f"{value:f}"
        case _:
            text = str(value)
    return text


def random_sources(rng):
    """Return {table: rows as text}: too many rows, twins, values beyond the domains."""
    sources = {}
    for name in PRIVATE:
        table = DATASET.tables[name]
        rows = []
        for unit in UNITS:
            for _ in range(rng.randint(0, MOST_ROWS[name])):
                row = _row(rng, table, rng.choice(SPELLINGS.get(unit, (unit,))))
                rows += [row] * rng.choice((1, 1, 1, 2))
        rows += [_row(rng, table, nobody) for nobody in STRANGE]
        rng.shuffle(rows)
        sources[name] = rows
    return sources


def _row(rng, table, unit):
    made = hospital.MAKERS[table.name](rng)
    return [
        unit if column.name == table.unit_column else _field(rng, column, made)
        for column in table.columns
    ]


def _field(rng, column, made):
    beyond = {
        ColumnType.INTEGER: ("-999999999999", "999999999999"),
        ColumnType.DATE: ("0001-01-01", "9999-12-31"),
    }.get(column.type)
    if beyond and column.domain is not None and rng.random() < 0.1:
        ranged = isinstance(column.domain, RangeDomain)
        return rng.choice(beyond) if ranged else text_of(made[column.name])
    return text_of(made[column.name])


def without(sources, unit):
    """Return a neighbour's files: all rows of one unit removed."""
    return {
        name: [row for row in rows if canonical_unit_id(row[0], "integer") != unit]
        for name, rows in sources.items()
    }


# -- databases -------------------------------------------------------------------------


@contextmanager
def ingested(sources, public):
    """Ingest files and lend a database of the stored rows, and of public tables."""
    with tempfile.TemporaryDirectory() as name, engine.connect() as connection:
        folder = Path(name)
        for table, rows in sources.items():
            columns = [column.name for column in DATASET.tables[table].columns]
            with (folder / f"{table}.csv").open("w", newline="") as out:
                csv.writer(out, lineterminator="\n").writerows([columns, *rows])
        snapshot = folder / "s.duckdb"
        ingest(
            manifest(),
            base=folder,
            import_folder=folder,
            secret=SECRET,
            target=snapshot,
        )
        engine.load(connection, public)
        connection.execute(f"ATTACH '{snapshot}' AS snapshot (READ_ONLY)")
        for table in PRIVATE:
            connection.execute(f"INSERT INTO {table} FROM snapshot.{table}")
        connection.execute("DETACH snapshot")
        yield connection


@dataclass(frozen=True)
class Moved:
    """How far one vector moved, beside what was stated: L1, L2 squared, L-infinity."""

    found: tuple
    stated: tuple

    @property
    def too_far(self):
        return any(a > b for a, b in zip(self.found, self.stated, strict=True))

    @property
    def attained(self):
        return self.found[0] == self.stated[0]


def moves(whole, others, question):
    """Return how far each vector moves, or None where the compiler refuses."""
    try:
        compiled = compile_query(question.sql, DATASET, question.bounds)
    except QueryError:
        return None
    before = engine.exact_vectors(whole, compiled.rendered)
    after = engine.exact_vectors(others, compiled.rendered)
    return [
        Moved(norms(a, b), (s.l1, s.l2_squared, s.linf))
        for a, b, s in zip(
            before,
            after,
            (measure.sensitivity for measure in compiled.measures),
            strict=True,
        )
    ]


def norms(before, after):
    """Return L1, L2 squared and L-infinity between two vectors."""
    steps = [abs(a - b) for a, b in zip(before, after, strict=True)]
    return sum(steps), sum(step * step for step in steps), max(steps)


def run_pair(rng, questions):
    """Ask random questions of one pair of neighbours; return what was counted.

    Raises:
        AssertionError: A vector moved further than stated; names text and rows.
    """
    sources, unit = random_sources(rng), rng.choice(UNITS)
    tables = hospital.random_tables(rng)
    public = {name: rows for name, rows in tables.items() if name not in PRIVATE}
    counts = Counter()
    with (
        ingested(sources, public) as whole,
        ingested(without(sources, unit), public) as others,
    ):
        for _ in range(questions):
            question = random_question(rng)
            found = moves(whole, others, question)
            if found is None:
                counts["refused"] += 1
                continue
            wrong = [moved for moved in found if moved.too_far]
            assert not wrong, f"{wrong}\n{question}\n{unit}\n{sources}\n{public}"
            counts["asked"] += 1
            counts["attained"] += any(moved.attained for moved in found)
            counts["moved"] += any(moved.found[0] for moved in found)
            counts.update(constructs(question.tree))
    return counts
