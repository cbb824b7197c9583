"""What ordinary questions cost with default settings, and what their refusals say."""

import json
import re
from datetime import date

import pytest

from privacy.contributions import ContributionBounds
from privacy.errors import SqlNotAllowedError
from privacy.schema import Column, ColumnType, Dataset, Table
from tests.support.compiling import compile_query
from tests.support.data.ordinary import DATASETS, QUESTIONS, default_limits, schema_of

SCHEMAS = {name: schema_of(name) for name in DATASETS}
PAIRING = {
    "drug within 90 days of a condition",
    "a condition again within 30 days",
    "drug and measurement",
    "stroke after diabetes",
    "stroke within a year of diabetes",
}
"""Refused: nearly all pair rows of a unit that may have hundreds in each table."""

NAMED = [pytest.param(*each, id=each[1]) for each in QUESTIONS]


@pytest.fixture
def limits(tmp_path):
    return default_limits(tmp_path)


@pytest.mark.parametrize(
    ("dataset", "name", "sql"), [each for each in NAMED if each.id not in PAIRING]
)
def test_ordinary_questions_are_not_too_costly(limits, dataset, name, sql):
    assert compile_query(sql, SCHEMAS[dataset], limits=limits).cost.steps, name


@pytest.mark.parametrize(
    ("dataset", "name", "sql"), [each for each in NAMED if each.id in PAIRING]
)
def test_what_a_refusal_says_is_enough_at_once(limits, dataset, name, sql):
    with pytest.raises(SqlNotAllowedError) as refused:
        compile_query(sql, SCHEMAS[dataset], limits=limits)
    assert refused.value.rule == "too_costly", name
    kept, dropped = refused.value.hint.split("Or drop rows: ")
    assert kept.startswith("to keep every row: filter and roll up by the unit key")
    assert "IN (SELECT unit key" in kept
    assert "number those that count" in dropped
    written = re.search(r'{"tables": ({.*?})}', refused.value.hint)
    bounds = ContributionBounds(tables=tuple(json.loads(written.group(1)).items()))
    compile_query(sql, SCHEMAS[dataset], bounds, limits=limits)


SEARCHES = "SUM(CASE WHEN note ILIKE '%{0}%' THEN 1 ELSE 0 END) AS {0}"
NOTES = Table(
    "notes",
    (
        Column("patient_id", ColumnType.INTEGER, nullable=False),
        Column("note", ColumnType.TEXT, max_length=4_000),
    ),
    unit_column="patient_id",
    max_rows_per_unit=50,
)


def test_what_is_dear_in_one_table_is_told_without_joins(limits):
    day = date(2024, 3, 31)
    dataset = Dataset("ward", "people", "patient", day, {"notes": NOTES})
    words = ("pain", "chest", "fever", "cough", "fall", "rash")
    sql = f"SELECT {', '.join(map(SEARCHES.format, words))} FROM notes"
    with pytest.raises(SqlNotAllowedError) as refused:
        compile_query(sql, dataset, limits=limits)
    assert refused.value.rule == "too_costly"
    assert "LOWER(note) AS n FROM notes" in refused.value.hint
    assert "joining" not in refused.value.hint


def test_numbering_the_rows_that_count_suffices(limits):
    """Five first strokes and five first diabetes codes, each after its filter."""

    def first(name, code):
        return (
            f"{name} AS (SELECT patient_id, event_date FROM (SELECT patient_id,"
            " event_date, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY"
            f" event_date) AS n FROM fact_event WHERE diagnosis LIKE '{code}%') AS e"
            " WHERE n <= 5)"
        )

    sql = (
        f"WITH {first('d', 'E11')}, {first('s', 'I63')} SELECT COUNT(DISTINCT"
        " d.patient_id) FROM d JOIN s ON s.patient_id = d.patient_id AND"
        " s.event_date > d.event_date"
    )
    assert compile_query(sql, SCHEMAS["star"], limits=limits).cost.unit_steps


def test_the_hint_lowers_what_keeps_most_rows(limits):
    """Two tables at 10 keep a 200th at least; one alone would keep a 400th."""
    sql = {name: text for _, name, text in QUESTIONS}["drug and measurement"]
    with pytest.raises(SqlNotAllowedError) as refused:
        compile_query(sql, SCHEMAS["omop"], limits=limits)
    assert '"drug_exposure": ' in refused.value.hint
    assert '"measurement": ' in refused.value.hint
