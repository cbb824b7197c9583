"""Rows of the parts of a UNION ALL come to a hash table as rows of one relation."""

import json

import pytest

from engines.duckdb.snapshots import OPTIMIZERS_OFF
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL, connect, create_table

PARTS = (
    "(SELECT patient_id, ward, level FROM encounters WHERE level = 1 UNION ALL "
    "SELECT patient_id, ward, level FROM encounters WHERE level > 1) AS u"
)
KEPT = f"(SELECT patient_id, ward FROM {PARTS} WHERE level > 2) AS f"
UNITS = "SELECT COUNT(*) AS n FROM (SELECT patient_id FROM {} GROUP BY patient_id) g"
GROUPED = [
    UNITS.format(PARTS),
    UNITS.format(KEPT),
    f"SELECT COUNT(DISTINCT patient_id) AS n FROM {PARTS}",
    f"SELECT COUNT(DISTINCT ward) AS n FROM {PARTS}",
    f"SELECT ward, COUNT(*) AS n FROM {PARTS} GROUP BY ward",
    f"SELECT MEDIAN(level) AS m FROM {PARTS}",
]


def operators(plan, stop):
    """Return names of operators below, not beyond one that holds rows back."""
    found = set()
    for child in plan["children"]:
        name = child["name"].strip().upper().replace(" ", "_")
        found.add(name)
        if name not in stop:
            found |= operators(child, stop)
    return found


def tables_of_groups(plan):
    """Return the operators under each hash table of groups, up to the next one."""
    name = plan["name"].strip().upper().replace(" ", "_")
    own = [operators(plan, {"CROSS_PRODUCT"})] if "GROUP" in name else []
    if name == "UNGROUPED_AGGREGATE" and "DISTINCT" in json.dumps(plan).upper():
        own.append(operators(plan, {"CROSS_PRODUCT"}))
    return own + [
        each for child in plan["children"] for each in tables_of_groups(child)
    ]


@pytest.mark.parametrize("sql", GROUPED)
def test_no_part_fills_a_table_of_its_own(sql):
    """Else one row of one unit makes the engine put all units' groups together."""
    connection = connect()
    connection.execute(f"SET disabled_optimizers = '{','.join(OPTIMIZERS_OFF)}'")
    for table in HOSPITAL.tables.values():
        create_table(connection, table, ())
    (statement,) = compile_query(sql, HOSPITAL).rendered.statements
    told = connection.execute(
        f"EXPLAIN (FORMAT JSON) {statement.sql}", list(statement.parameters)
    ).fetchall()
    (plan,) = json.loads(told[0][1])
    below = tables_of_groups(plan)
    assert below
    assert "CROSS_PRODUCT" in set().union(*below)
    assert not any("UNION" in names for names in below)
