import json
from datetime import date, datetime
from decimal import Decimal

from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    Hierarchy,
    HierarchyDomain,
    RangeDomain,
    Table,
    ValuesDomain,
)
from privacy.schema_json import dataset_from_json, dataset_to_json

MOMENTS = RangeDomain(
    datetime.fromisoformat("2024-01-01"),
    datetime.fromisoformat("9999-12-31T23:59:59.999999"),
)
TOWNS = Hierarchy(
    "towns", ("region", "land"), {"Ghent": ("east", "be"), "x": (None,) * 2}
)
STAYS = Table(
    "stays",
    (
        Column("patient", ColumnType.INTEGER, nullable=False),
        Column("code", ColumnType.TEXT, domain=HierarchyDomain("icd10cm")),
        Column("town", ColumnType.TEXT, domain=HierarchyDomain("towns"), max_length=40),
        Column("sex", ColumnType.TEXT, domain=ValuesDomain(("F", "M"), other=True)),
        Column(
            "weight", ColumnType.DECIMAL, 2, domain=ValuesDomain((Decimal("1.50"),))
        ),
        Column("seen", ColumnType.TIMESTAMP, domain=MOMENTS),
        Column("day", ColumnType.DATE, domain=RangeDomain(date.min, date.max)),
    ),
    unit_column="patient",
    max_rows_per_unit=5,
    key=("day", "code"),
    max_rows=70_000,
)
DRUGS = Table(
    "drugs",
    (Column("drug", ColumnType.TEXT), Column("class", ColumnType.TEXT)),
    fan_out=((("drug",), 3), (("class", "drug"), 7)),
)
TABLES = {table.name: table for table in (STAYS, DRUGS)}


def test_a_schema_comes_back_from_json_as_it_was():
    today = date(2024, 5, 1)
    dataset = Dataset("d", "p", "patient", today, TABLES, {"towns": TOWNS}, 20_000)
    text = json.dumps(dataset_to_json(dataset))
    assert dataset_from_json(json.loads(text)) == dataset


def test_a_schema_stored_before_hierarchies_is_read():
    document = dataset_to_json(Dataset("d", "p", "patient", date(2024, 5, 1), TABLES))
    del document["hierarchies"]
    assert dataset_from_json(document).hierarchies == {}


def test_a_schema_tells_whether_its_rows_were_held_to_its_sizes():
    """At their defaults too; what an earlier version stored says nothing of them."""
    dataset = Dataset("d", "p", "patient", date(2024, 5, 1), TABLES)
    document = dataset_to_json(dataset)
    assert dataset_from_json(document).sizes_are_held
    del document["max_units"]
    earlier = dataset_from_json(document)
    assert not earlier.sizes_are_held
    assert dataset_to_json(earlier) == document
