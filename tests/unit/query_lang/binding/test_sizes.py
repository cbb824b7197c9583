"""What binding lists and repeats is counted, whichever form does it."""

from dataclasses import replace
from datetime import date

import pytest

from privacy.contributions import NO_BOUNDS
from privacy.errors import QueryError
from privacy.schema import RangeDomain
from query_lang.binding.bind import bind_query
from query_lang.reading.parse import parse_query
from tests.support.data.hospital import ENCOUNTERS, HOSPITAL

WHERE = "SELECT COUNT(*) FROM encounters WHERE "
DAYS = RangeDomain(date(2013, 1, 1), date(2024, 12, 31))
COLUMNS = tuple(
    replace(column, domain=DAYS) if column.name == "admitted" else column
    for column in ENCOUNTERS.columns
)
YEARS = replace(
    HOSPITAL,
    tables={**HOSPITAL.tables, "encounters": replace(ENCOUNTERS, columns=COLUMNS)},
)
"""In which two lists of days are 8,766 values: few enough to be listed."""


def steps_of(sql):
    return bind_query(parse_query(sql), YEARS, NO_BOUNDS).steps


def joined(form, many, joining=" AND "):
    return joining.join(form.replace("{i}", str(i + 1)) for i in range(many))


@pytest.mark.parametrize("name", ["LEAST", "GREATEST"])
def test_the_least_of_two_days_lists_none(name):
    form = f"{name}(admitted, admitted + {{i}}) > DATE '2024-01-31'"
    assert steps_of(WHERE + joined(form, 100)) < 1_000


LISTING = {
    "case": "CASE WHEN age > 3 THEN admitted + {i} ELSE admitted END > '2024-01-31'",
    "coalesce": "COALESCE(admitted + {i}, admitted) > DATE '2024-01-31'",
}


@pytest.mark.parametrize("form", sorted(LISTING))
def test_what_may_be_one_of_many_days_is_counted(form):
    steps_of(WHERE + joined(LISTING[form], 5))
    with pytest.raises(QueryError, match="more than 100,000 values") as refused:
        steps_of(WHERE + joined(LISTING[form], 30))
    assert refused.value.rule == "too_complex"
    assert refused.value.steps > 4_000


def union_of(many):
    listed = joined("admitted + {i} AS d{i}", many, ", ")
    plain = joined("admitted AS d{i}", many, ", ")
    return (
        f"SELECT COUNT(*) FROM (SELECT patient_id, {listed} FROM encounters "
        f"UNION ALL SELECT patient_id, {plain} FROM encounters) AS u"
    )


def test_so_is_what_a_union_may_show():
    steps_of(union_of(5))
    with pytest.raises(QueryError, match="more than 100,000 values"):
        steps_of(union_of(30))


@pytest.mark.parametrize("form", sorted(LISTING))
def test_the_same_days_are_listed_once(form):
    same = LISTING[form].replace("{i}", "1").replace("> 3", "> {i}")
    once = steps_of(WHERE + joined(same, 1))
    assert steps_of(WHERE + joined(same, 60)) < once + 60 * 30


def test_a_refusal_says_how_many_steps_it_took():
    with pytest.raises(QueryError) as early:
        steps_of(WHERE + "agee > 3 AND " + joined("age > {i}", 50))
    with pytest.raises(QueryError) as late:
        steps_of(WHERE + joined("age > {i}", 50) + " AND agee > 3")
    assert early.value.steps < 5
    assert late.value.steps > 50


def test_literals_that_few_letters_stand_for_are_counted():
    """256 days of a series took a quarter of a second, and counted a fifth of it."""
    begun = "SELECT d, COUNT(*) FROM generate_series(DATE '2020-01-01', DATE '{}', "
    days = "INTERVAL '1 day') AS d JOIN encounters e ON e.admitted = d GROUP BY d"
    few, many = (
        steps_of(begun.format(last) + days) for last in ("2020-03-12", "2020-09-12")
    )
    assert many > few + 184  # days more, beside what follows of each


def test_values_of_keys_that_are_tried_are_counted():
    """Nine keys of a day took a third of a second, and counted nothing."""
    key = "CASE WHEN admitted > DATE '2020-01-10' THEN 'late' ELSE 'early' END"
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM encounters {{}} GROUP BY 1"
    alone = steps_of(sql.format(""))
    later = "WHERE admitted <> DATE '2021-03-10' AND admitted > DATE '2020-01-01'"
    tried = steps_of(sql.format(later))
    assert tried > alone + 500
