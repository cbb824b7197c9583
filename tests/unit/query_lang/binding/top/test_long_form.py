"""Noise of a number in long form goes by the range of all kinds of values."""

from dataclasses import replace

import pytest

from privacy.schema import Column, ColumnType, RangeDomain, Table, ValuesDomain
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

T = ColumnType
ANALYTES = ("HbA1c", "LDL", "NT-proBNP", "potassium")
PATIENT = Column("patient_id", T.INTEGER, nullable=False)
VALUE = Column("value", T.DECIMAL, scale=1, domain=RangeDomain(0, 5_000))
ANALYTE = Column("analyte", T.TEXT, domain=ValuesDomain(ANALYTES))
SEX = Column("sex", T.TEXT, constant_in_unit=True, domain=ValuesDomain(("f", "m", "x")))


def dataset(*columns, rows=50):
    labs = Table(
        "labs",
        (PATIENT, Column("taken_on", T.DATE), *columns),
        unit_column="patient_id",
        max_rows_per_unit=rows,
    )
    return replace(HOSPITAL, tables={**HOSPITAL.tables, "labs": labs})


def told(sql, schema):
    found = compile_query(sql, schema).warnings
    return [w.detail for w in found if w.code == "wide_range"]


LDL = "FROM labs WHERE analyte = 'LDL'"
MOST, EACH = "SELECT patient_id, MAX(value) AS m", "GROUP BY patient_id"
JOIN = "JOIN labs AS l USING (patient_id)"
LABS = dataset(ANALYTE, VALUE, SEX, Column("comment", T.TEXT))


@pytest.mark.parametrize("function", ["SUM", "AVG", "STDDEV", "VAR_SAMP"])
@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("analyte = 'LDL'", True),
        ("analyte IN ('LDL', 'potassium')", True),
        ("analyte = 'LDL' OR analyte = 'potassium'", True),
        ("analyte LIKE 'LDL%'", True),
        ("LOWER(analyte) = 'ldl'", True),
        ("comment = 'LDL'", True),
        ("analyte = 'LDL' AND value >= 1", True),
        ("analyte = 'LDL' AND value BETWEEN 0 AND 20", False),
        ("analyte = 'LDL' AND value < 20", False),
        ("analyte <> 'LDL'", False),
        ("analyte IN ('HbA1c', 'LDL', 'NT-proBNP', 'potassium')", False),
        ("sex = 'f'", False),
        ("taken_on > '2020-01-01'", False),
    ],
)
def test_a_number_whose_kind_where_names_and_whose_range_it_leaves_is_told(
    function, where, said
):
    sql = f"SELECT {function}(value) AS x FROM labs WHERE {where}"
    found = told(sql, LABS)
    assert len(found) == said
    for detail in found:
        assert "value is declared 0 to 5,000" in detail
        assert "value BETWEEN a AND b" in detail


@pytest.mark.parametrize(
    ("select", "said"),
    [
        (f"CORR(value, value) {LDL}", 1),
        (f"SUM(value), AVG(value) {LDL}", 1),
        ("SUM(value) FILTER (WHERE analyte = 'LDL') FROM labs", 1),
        ("AVG(CASE WHEN analyte = 'LDL' THEN value END) AS x FROM labs", 1),
        ("AVG(CASE analyte WHEN 'LDL' THEN value END) AS x FROM labs", 1),
        ("AVG(CASE WHEN analyte = 'LDL' AND value < 9 THEN value END) FROM labs", 0),
        (f"AVG(ROUND(value * 18, 0)) {LDL}", 1),
        (f"AVG(LEAST(value, 20)) {LDL}", 0),
        (f"COUNT(value) {LDL}", 0),
        ("AVG(value) FROM labs", 0),
        (f"AVG(v) FROM (SELECT value AS v {LDL}) AS l", 1),
        (f"AVG(m) FROM ({MOST} {LDL} {EACH}) AS l", 1),
        # Of a roll-up's result nothing is known above.
        (f"AVG(m) FROM ({MOST} {LDL} AND value < 9 {EACH}) AS l", 1),
        (f"AVG(m) FROM ({MOST} {LDL} {EACH}) AS l WHERE m < 9", 0),
        (f"AVG(LEAST(m, 20)) FROM ({MOST} {LDL} {EACH}) AS l", 0),
        (f"AVG(l.value) FROM patients AS p {JOIN} WHERE l.analyte = 'LDL'", 1),
        (f"AVG(l.value) FROM patients AS p {JOIN} WHERE p.region = 'east'", 0),
        (f"AVG(l.value) FROM labs AS k {JOIN} WHERE k.analyte = 'LDL'", 0),
        (f"AVG(value) {LDL} OR comment = 'LDL'", 0),
    ],
)
def test_it_is_told_once_wherever_the_number_and_its_kind_are_named(select, said):
    assert len(told(f"SELECT {select}", LABS)) == said


@pytest.mark.parametrize(
    ("columns", "rows", "said"),
    [
        ((ANALYTE, VALUE), 50, True),
        ((ANALYTE, VALUE), 1, False),
        ((ANALYTE, VALUE, replace(VALUE, name="normal_up_to")), 50, True),
        (
            (ANALYTE, VALUE, Column("days", T.INTEGER, domain=RangeDomain(0, 100))),
            50,
            False,
        ),
        ((ANALYTE, replace(VALUE, domain=RangeDomain(0, 90))), 50, False),
        ((ANALYTE, replace(VALUE, type=T.INTEGER, scale=0)), 50, False),
        ((replace(ANALYTE, domain=ValuesDomain(ANALYTES[:2])), VALUE), 50, False),
        ((replace(ANALYTE, domain=None), VALUE), 50, True),
        ((replace(VALUE, domain=RangeDomain(-30, 5_000)), ANALYTE), 50, True),
    ],
)
def test_long_form_is_told_by_its_declaration_alone(columns, rows, said):
    sql = "SELECT AVG(value) FROM labs WHERE analyte = 'LDL'"
    assert bool(told(sql, dataset(*columns, rows=rows))) is said


def test_ends_on_both_sides_are_narrowed_by_the_farther_one():
    schema = dataset(ANALYTE, replace(VALUE, domain=RangeDomain(-500, 500)))
    sql = "SELECT AVG(value) FROM labs WHERE analyte = 'LDL' AND value BETWEEN -5 AND "
    assert not told(f"{sql} 5", schema)
    assert told(f"{sql} 500", schema)
