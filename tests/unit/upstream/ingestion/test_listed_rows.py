"""Rows of a public table that a load hands on, to be shown with the schema."""

import json
from datetime import date
from decimal import Decimal

import pytest

from privacy.schema import MOST_LISTED_ROWS, ValuesDomain
from privacy.schema_json import dataset_from_json, dataset_to_json
from server.use_cases.approvals.declarations import changed_declarations
from server.use_cases.datasets.public_schema import public_schema_of
from server.use_cases.loading.fitting import declared_by
from server.use_cases.loading.shown_content import declared_digest
from tests.unit.upstream.conftest import Hospital
from upstream.errors import IngestionError, ManifestError

REGIONS = {
    "name": "regions",
    "files": ["regions.csv"],
    "public": True,
    "listed": True,
    "key": ["code"],
    "columns": [
        {"name": "code", "type": "text", "nullable": False},
        {"name": "name", "type": "text"},
        {"name": "people", "type": "integer"},
        {"name": "share", "type": "decimal", "scale": 2},
        {"name": "since", "type": "date"},
        {"name": "coastal", "type": "boolean"},
    ],
}
CSV = """\
code,name,people,share,since,coastal
N,North,1000,0.5,2020-01-01,true
S,South,,12.25,,false
"""


@pytest.fixture
def regions(tmp_path):
    (tmp_path / "regions.csv").write_text(CSV)
    return Hospital(tmp_path, more_tables=[dict(REGIONS)])


def test_the_rows_are_those_that_are_stored(regions):
    listed = regions.load().listed
    assert listed == {
        "regions": (
            ("N", "North", 1000, Decimal("0.50"), date(2020, 1, 1), True),
            ("S", "South", None, Decimal("12.25"), None, False),
        )
    }
    schema = regions.manifest().schema().with_rows(listed)
    told = json.loads(json.dumps(dataset_to_json(schema)))
    assert dataset_from_json(told) == schema
    (table,) = [t for t in public_schema_of(schema)["tables"] if "rows" in t]
    assert table["rows"][0] == ["N", "North", 1000, "0.50", "2020-01-01", True]
    domains = {column["name"]: column["domain"] for column in table["columns"]}
    assert domains["people"] == {"values": [1000], "other": False}
    assert domains["coastal"] is None


def test_rows_are_no_declaration(regions):
    """They have digests of their own: a later load may have others."""
    manifest = regions.manifest()
    with_rows = manifest.schema().with_rows(regions.load().listed)
    told = json.loads(manifest.canonical_json())
    digests = {
        declared_digest(dataset_to_json(schema), told)
        for schema in (manifest.schema(), with_rows)
    }
    assert len(digests) == 1


def test_a_declared_list_stays_and_a_range_becomes_the_values(regions):
    columns = [dict(column) for column in REGIONS["columns"]]
    columns[0] |= {"domain": {"values": ["S", "N", "W"]}, "source": "law"}
    columns[2] |= {"domain": {"min": 0, "max": 9_000_000}, "source": "law"}
    regions.more_tables = [{**REGIONS, "columns": columns}]
    schema = regions.manifest().schema().with_rows(regions.load().listed)
    table = schema.tables["regions"]
    assert table.domain_of(0) == ValuesDomain(("S", "N", "W"))
    assert table.domain_of(2) == ValuesDomain((1000,))


@pytest.mark.parametrize(
    "rows",
    [
        [f"c{n},x,1,1,," for n in range(MOST_LISTED_ROWS + 1)],
        [f"c{n},{'x' * 900},1,1,," for n in range(400)],
    ],
)
def test_too_many_rows_refuse_the_load(regions, rows):
    header = CSV.splitlines()[0]
    (regions.folder / "regions.csv").write_text("\n".join([header, *rows]) + "\n")
    with pytest.raises(IngestionError) as refused:
        regions.load()
    assert "remove listed: true" in str(refused.value)


def test_rows_of_patients_are_not_listed(regions):
    regions.table = {"listed": True}
    with pytest.raises(ManifestError) as refused:
        regions.manifest()
    assert "only rows of a public table are listed" in str(refused.value)


def test_that_a_table_is_listed_is_declared_by_two_persons(regions):
    listed = declared_by(regions.manifest())
    regions.more_tables = [{k: v for k, v in REGIONS.items() if k != "listed"}]
    plain = declared_by(regions.manifest())
    (change,) = changed_declarations(plain, [plain], listed)
    assert (change.place, change.old, change.new) == ("regions: listed", None, True)
