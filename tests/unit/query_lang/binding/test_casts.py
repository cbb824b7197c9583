"""Casts: what is known of their values, and which spellings are one question."""

from datetime import date, datetime
from decimal import Decimal

import pytest

from privacy.contributions import NO_BOUNDS
from privacy.errors import QueryError
from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    HierarchyDomain,
    RangeDomain,
    Table,
    ValuesDomain,
)
from query_lang.binding.bind import bind_query
from query_lang.plans.nodes import SumMeasure
from query_lang.reading.parse import parse_query
from query_lang.syntax.text_values import read_text, write_value
from tests.support.compiling import compile_query

T = ColumnType
STAYS = Table(
    "stays",
    (
        Column("patient", T.INTEGER, nullable=False),
        Column("died", T.BOOLEAN, nullable=False),
        Column("readmitted", T.BOOLEAN),
        Column("age", T.INTEGER, nullable=False, domain=RangeDomain(0, 120)),
        Column("any_number", T.INTEGER, nullable=False),
        Column(
            "cost",
            T.DECIMAL,
            scale=2,
            nullable=False,
            domain=RangeDomain(Decimal("-0.50"), Decimal("99.49")),
        ),
        Column(
            "day",
            T.DATE,
            nullable=False,
            domain=RangeDomain(date(2024, 1, 1), date(2024, 1, 3)),
        ),
        Column("grade", T.TEXT, domain=ValuesDomain(("2", "1", "1.5", "none"))),
        Column("note", T.TEXT),
        Column("code", T.TEXT, domain=HierarchyDomain("icd10")),
        Column("spaced", T.TEXT, domain=ValuesDomain(("a b", "abc"))),
    ),
    unit_column="patient",
    max_rows_per_unit=3,
)
DATASET = Dataset("ward", "people", "patient", date(2024, 6, 1), {"stays": STAYS})


def key_of(expression):
    """Return the values of a key, NULL where it can be."""
    sql = f"SELECT {expression} AS k, COUNT(*) AS n FROM stays GROUP BY 1"
    (key,) = bind_query(parse_query(sql), DATASET, NO_BOUNDS).plan.keys
    return key.values


def bounds_of(expression):
    """Return what a SUM is clamped to, in steps of its last place."""
    sql = f"SELECT SUM({expression}) AS s FROM stays"
    (measure,) = bind_query(parse_query(sql), DATASET, NO_BOUNDS).plan.measures
    assert isinstance(measure, SumMeasure)
    return measure.lower, measure.upper


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("died::int", (0, 1)),
        ("readmitted::int", (0, 1, None)),
        ("CAST(readmitted AS TEXT)", ("false", "true", None)),
        ("age::bool", (False, True)),
        ("day::text", ("2024-01-01", "2024-01-02", "2024-01-03")),
        ("day::timestamp::date::text", ("2024-01-01", "2024-01-02", "2024-01-03")),
        ("grade::int", (2, 1, None)),
        ("grade::numeric", (Decimal("2.0"), Decimal("1.0"), Decimal("1.5"), None)),
        ("grade::numeric(9, 0)", (Decimal(2), Decimal(1), None)),
        ("grade::text", ("2", "1", "1.5", "none", None)),
    ],
)
def test_a_cast_key_has_the_values_that_its_operand_can_have(expression, values):
    assert key_of(expression) == values


@pytest.mark.parametrize(
    ("expression", "bounds"),
    [
        ("died", (0, 1)),
        ("readmitted::numeric(3, 1)", (0, 10)),
        ("cost::int", (-1, 99)),
        ("cost::numeric(9, 1)", (-5, 995)),
        ("cost::numeric(9, 3)", (-500, 99490)),
        ("age::float", (0, 120)),
        ("grade::numeric", (10, 20)),
        ("age > 60", (0, 1)),
    ],
)
def test_bounds_follow_a_cast(expression, bounds):
    assert bounds_of(expression) == bounds


@pytest.mark.parametrize(
    "spellings",
    [
        ("died::int = 1", "CAST(died AS INTEGER) = 1", "TRY_CAST(died AS int8) = 1"),
        ("day = '2024-01-02'::date", "day = DATE '2024-01-02'", "day = '2024-01-02'"),
        ("age = CAST('5' AS INTEGER)", "age = 5", "age::bigint = 5", "age = 5.4::int"),
        ("note = 'x'", "note::text = 'x'::varchar(3)"),
        ("day = '2024-01-02 08:00:00'::timestamp::date", "day = DATE '2024-01-02'"),
        ("age = CAST(-2.5 AS NUMERIC(3, 0))", "age = -3"),
        ("died = 'yes'::bool", "died = TRUE", "died = 1::boolean"),
        ("cost = 0.05", "cost = 0.045::numeric(9, 2)"),
    ],
)
def test_spellings_of_a_cast_are_one_question(spellings):
    texts = {
        compile_query(f"SELECT COUNT(*) FROM stays WHERE {each}", DATASET).canonical
        for each in spellings
    }
    assert len(texts) == 1


def test_a_mean_of_a_condition_is_that_of_its_number():
    texts = {
        compile_query(f"SELECT AVG({each}) AS m FROM stays", DATASET).canonical
        for each in ("died", "died::int", "CASE WHEN died THEN 1 ELSE 0 END")
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("condition", "rule"),
    [
        ("died::date = day", "cast"),
        ("day::int = 1", "cast"),
        ("note::numeric = 1", "cast"),
        ("note::varchar(3) = 'x'", "cast"),
        ("day = 'soon'::date", "literal_type"),
        ("age = 'x'::int", "literal_type"),
        ("day = 5::date", "literal_type"),
    ],
)
def test_a_cast_that_can_have_no_value_is_refused(condition, rule):
    with pytest.raises(QueryError) as refused:
        compile_query(f"SELECT COUNT(*) FROM stays WHERE {condition}", DATASET)
    assert refused.value.rule == rule


@pytest.mark.parametrize(
    ("cut", "hint"),
    [
        ("grade::varchar(3)", "write LEFT(x, 3)"),
        ("CAST(note AS character varying(3))", "write LEFT(x, 3)"),
        ("age::varchar(2)", "write LEFT(x::text, 2)"),
        ("grade::char(1)", "write LEFT(x, 1)"),
        ("code::nchar(3)", "write LEFT(x, 3)"),
        ("grade::char(3)", "write LEFT(x, 3): a shorter text stays as it is, "),
        ("code::char(5)", "write LEFT(x, 5): a shorter text stays as it is, "),
        ("spaced::char(2)", "write LEFT(x, 2): a shorter text stays as it is, "),
    ],
)
def test_a_cast_that_would_cut_names_what_cuts(cut, hint):
    """The hint was x::text, which is another key."""
    with pytest.raises(QueryError) as refused:
        compile_query(f"SELECT COUNT(*) FROM stays WHERE {cut} = 'x'", DATASET)
    assert refused.value.hint.startswith(hint)
    is_filled = hint.endswith(", ")
    assert ("blanks of char" in refused.value.hint) is is_filled


def test_an_integer_of_any_size_may_have_no_decimal():
    assert None in key_of("any_number::numeric(38, 2) > 0")
    assert None not in key_of("age::numeric(38, 2) > 0")


@pytest.mark.parametrize(
    ("value", "scale"),
    [
        (7, 0),
        (Decimal("-0.05"), 2),
        (Decimal("9.223372036854775807"), 18),
        (date(1, 1, 1), 0),
        (datetime(9999, 12, 31, 23, 59, 59, 10), 0),  # noqa: DTZ001 - no zone
        (True, 0),
    ],
)
def test_a_written_value_is_read_back(value, scale):
    kinds = {int: "integer", Decimal: "decimal", date: "date", bool: "boolean"}
    kind = T(kinds.get(type(value), "timestamp"))
    assert read_text(write_value(value, scale), kind, scale) == value


def test_casts_of_results_round_them_and_cost_nothing():
    spellings = (
        "(SUM(died) / COUNT(*))::numeric(5, 2) AS share",
        "CAST(SUM(died::int) / COUNT(*) AS DECIMAL(5, 2)) AS share",
        "ROUND(SUM(died)::float / COUNT(*)::int, 2) AS share",
    )
    texts = {
        compile_query(f"SELECT {each} FROM stays", DATASET).canonical
        for each in spellings
    }
    assert len(texts) == 1
