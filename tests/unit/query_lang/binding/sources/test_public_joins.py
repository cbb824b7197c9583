"""A public table is joined by its key; who can declare one is told if it has none."""

from dataclasses import replace

import pytest

from privacy.errors import QueryError
from privacy.schema import Column, ColumnType, Table, ValuesDomain
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

T = ColumnType


def test_a_join_to_a_table_without_a_key_says_who_declares_it():
    sql = "SELECT COUNT(*) FROM encounters JOIN wards USING (ward)"
    with pytest.raises(QueryError, match="ask the custodian to declare key"):
        compile_query(sql, HOSPITAL)


PUBLIC = Table(
    "wards",
    (
        Column("ward", T.TEXT, nullable=False),
        Column("twin", T.TEXT, domain=ValuesDomain(("x", "y"))),
        Column("floor", T.INTEGER),
    ),
    key=("ward",),
)
DATASET = replace(HOSPITAL, tables={**HOSPITAL.tables, "wards": PUBLIC})


def cells(sql):
    return [cell[0] for cell in compile_query(sql, DATASET).rendered.cells]


@pytest.mark.parametrize(
    ("join", "key", "listed"),
    [
        ("JOIN wards w ON w.ward = e.ward", "w.ward", ["north", "south"]),
        ("JOIN wards w ON e.sex = w.ward", "w.ward", ["f", "m", "other"]),
        ("LEFT JOIN wards w ON w.ward = e.ward", "w.ward", ["north", "south", None]),
        ("JOIN wards w ON w.ward = LEFT(e.ward, 1)", "w.ward", ["n", "s"]),
        (
            "JOIN wards w ON w.ward = e.sex AND w.twin = e.ward",
            "w.twin",
            ["x", "y", None],
        ),
    ],
)
def test_what_on_equates_with_a_list_has_that_list(join, key, listed):
    sql = f"SELECT {key} AS k, COUNT(*) FROM encounters e {join} GROUP BY 1"
    assert cells(sql) == listed


@pytest.mark.parametrize(
    "condition", ["w.ward = e.code", "w.ward >= e.ward AND w.ward = e.code"]
)
def test_what_is_equated_with_no_list_has_none(condition):
    sql = f"SELECT w.ward, COUNT(*) FROM encounters e JOIN wards w ON {condition}"
    with pytest.raises(QueryError) as refused:
        cells(f"{sql} GROUP BY 1")
    assert refused.value.rule == "no_public_domain"
