import re
from datetime import date, datetime
from decimal import Decimal

import pytest

from privacy.contributions import ContributionBounds
from tests.support.compiling import compile_query
from tests.support.data.hospital import (
    ENCOUNTERS,
    HOSPITAL,
    connect,
    create_table,
    ranked,
    run,
)

W = "SELECT COUNT(*) FROM encounters WHERE "


@pytest.fixture(scope="module")
def database():
    with connect() as connection:
        yield connection


def count(database, condition, rows):
    base = {"sex": "f", "level": 1, "dose": Decimal("0.5"), "urgent": False}
    numbered = [{**base, **row, "unit": n, "row_hash": n} for n, row in enumerate(rows)]
    create_table(database, ENCOUNTERS, ranked(numbered))
    ((found,),) = run(database, compile_query(W + condition, HOSPITAL).rendered)
    return found


def test_text_is_ordered_by_code_points_whatever_the_language(database):
    texts = ["", " ", "A", "Z", "a", "z", "é", "\uffff", "\U0001fa7a", "z\u0301", "zz"]
    rows = [{"code": text} for text in texts]
    for text in texts:
        quoted = text.replace("'", "''")
        expected = sum(other < text for other in texts)
        assert count(database, f"code < '{quoted}'", rows) == expected


def test_text_is_equal_only_to_itself(database):
    rows = [{"code": text} for text in ["é", "e\u0301", "É", "e", "é "]]
    assert count(database, "code = 'é'", rows) == 1


EXTREME = [
    {"visits": 2**63 - 1, "stay": Decimal("922337203685477580.7"), "age": 0},
    {"visits": -(2**63), "stay": Decimal("-922337203685477580.8"), "age": 120},
    {"visits": None, "stay": None, "age": None},
    {"visits": 0, "cost": Decimal("-92233720368547758.08"), "stay": Decimal(0)},
    {
        "seen": datetime(9999, 12, 31, 23, 59, 59, 999_999),  # noqa: DTZ001 - no zone
        "admitted": date.max,
        "discharged": date.min,
        "code": "a" * 70_000,
    },
]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("visits > stay", 1),
        ("visits < stay", 1),
        ("visits = stay", 1),
        ("cost < stay", 1),
        ("visits >= -9223372036854775808", 3),
        ("visits > 9223372036854775806.5", 1),
        ("visits <> 0.5", 3),
        ("NOT visits <> 0.5", 0),
        ("NOT visits = 0.5", 3),
        ("visits IN (0.5, 1.5)", 0),
        ("NOT visits IN (0.5, 1.5)", 3),
        ("stay <= 9223372036854775807", 3),
        ("seen > '9999-12-31'", 1),
        ("admitted > discharged", 1),
        ("code > 'a'", 1),
        ("smoker", 0),
        ("NOT smoker", 0),
        ("smoker IS NULL", 5),
        ("smoker = urgent OR NOT urgent", 5),
    ],
)
def test_hostile_rows_are_answered_and_never_raise(database, condition, expected):
    assert count(database, condition, EXTREME) == expected


HOSTILE = "x'; DROP TABLE encounters; --\"$1?"


def test_no_text_of_a_query_reaches_the_sql():
    quoted = HOSTILE.replace("'", "''")
    sql = (
        f"SELECT ward AS hidden_name, COUNT(*) FROM encounters AS hidden_table "
        f"WHERE code = '{quoted}' AND age > 12345 AND admitted < '2024-01-31' "
        f"GROUP BY 1 -- hidden_comment"
    )
    (rendered,) = compile_query(sql, HOSPITAL).rendered.statements
    assert rendered.parameters == (HOSTILE, 12346, date(2024, 1, 31))
    assert "hidden" not in rendered.sql
    assert set(re.findall(r'"([^"]*)"', rendered.sql)) == {
        "encounters",
        "ward",
        "code",
        "age",
        "admitted",
    }
    assert not re.search(r"'|\b[0-9]", rendered.sql)
    assert rendered.sql.count("?") == len(rendered.parameters)


def test_rendering_names_its_tables_cells_and_vectors():
    sql = "SELECT dose, COUNT(*), COUNT(DISTINCT patient_id) FROM encounters GROUP BY 1"
    rendered = compile_query(sql, HOSPITAL).rendered
    assert rendered.tables == ("encounters",)
    assert rendered.vector_count == 2
    assert rendered.cells == ((Decimal("0.5"),), (Decimal("1.5"),))
    (statement,) = rendered.statements
    assert statement.places == ((5,), (15,))
    assert statement.vectors == (0, 1)


def test_bounds_are_parameters_in_the_order_of_the_sql():
    bounds = ContributionBounds((("encounters", 3),), 2, 1)
    sql = "SELECT ward, COUNT(*) FROM encounters WHERE age = 7 GROUP BY ward"
    (statement,) = compile_query(sql, HOSPITAL, bounds).rendered.statements
    assert statement.parameters == (3, 7, 1, 2)


def test_groups_of_a_unit_are_kept_by_their_least_row_hash_then_rows(database):
    row = {"unit": 1, "sex": "f", "level": 1, "dose": Decimal("0.5"), "urgent": False}
    wards = [(5, "north"), (-9, None), (0, "south"), (1, None)]
    rows = [{**row, "row_hash": h, "ward": ward} for h, ward in wards]
    create_table(database, ENCOUNTERS, ranked(rows))
    sql = "SELECT ward, COUNT(*) FROM encounters GROUP BY ward"

    def counted(**bounds):
        bound = ContributionBounds((), **bounds)
        return run(database, compile_query(sql, HOSPITAL, bound).rendered)[0]

    assert counted(max_groups_per_unit=1) == (0, 0, 2)
    assert counted(max_groups_per_unit=2) == (0, 1, 2)
    assert counted(max_rows_per_unit=2) == (0, 1, 1)
    assert counted(max_groups_per_unit=1, max_rows_per_unit=2) == (0, 0, 2)
    assert counted(max_groups_per_unit=2, max_rows_per_unit=1) == (0, 0, 1)
