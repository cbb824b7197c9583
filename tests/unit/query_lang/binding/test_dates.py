"""Dates, intervals and ages: what is known of them, and which spellings are one."""

from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.contributions import NO_BOUNDS
from privacy.errors import QueryError, SqlNotAllowedError
from privacy.schema import Column, ColumnType, Dataset, RangeDomain, Table
from query_lang.binding.bind import bind_query
from query_lang.binding.dates.amounts import amount_of
from query_lang.plans import intervals
from query_lang.plans.dates import calendar
from query_lang.plans.dates.day_names import MONTHS, WEEKDAYS
from query_lang.plans.nodes import HistogramMeasure, SumMeasure
from query_lang.reading.parse import parse_query
from query_lang.syntax.nodes import Interval, Position, StringLiteral
from tests.support.compiling import compile_query

T = ColumnType
FIRST, LAST = date(2023, 11, 15), date(2024, 2, 10)
STAYS = Table(
    "stays",
    (
        Column("patient", T.INTEGER, nullable=False),
        Column("born", T.DATE, domain=RangeDomain(date(1930, 1, 1), FIRST)),
        Column("admitted", T.DATE, nullable=False, domain=RangeDomain(FIRST, LAST)),
        Column(
            "left_on",
            T.DATE,
            nullable=False,
            domain=RangeDomain(FIRST, date(2024, 3, 1)),
        ),
        Column(
            "arrived",
            T.TIMESTAMP,
            nullable=False,
            domain=RangeDomain(
                datetime(2024, 1, 1, 8),  # noqa: DTZ001 - no zone
                datetime(2024, 1, 2, 20),  # noqa: DTZ001 - no zone
            ),
        ),
        Column("days", T.INTEGER, nullable=False, domain=RangeDomain(0, 10)),
        Column("someday", T.DATE),
    ),
    unit_column="patient",
    max_rows_per_unit=3,
)
DATASET = Dataset("ward", "people", "patient", date(2024, 3, 31), {"stays": STAYS})


def key_of(expression):
    sql = f"SELECT {expression} AS k, COUNT(*) AS n FROM stays GROUP BY 1"
    (key,) = bind_query(parse_query(sql), DATASET, NO_BOUNDS).plan.keys
    return key.values


def bounds_of(expression):
    sql = f"SELECT SUM({expression}) AS s FROM stays"
    (measure,) = bind_query(parse_query(sql), DATASET, NO_BOUNDS).plan.measures
    assert isinstance(measure, SumMeasure)
    return measure.lower, measure.upper


def days_of(expression):
    """Return the first and last day that a date can be."""
    sql = f"SELECT MEDIAN({expression}) AS m FROM stays"
    (measure,) = bind_query(parse_query(sql), DATASET, NO_BOUNDS).plan.measures
    assert isinstance(measure, HistogramMeasure)
    return intervals.day(measure.bins.lower), intervals.day(measure.bins.upper)


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        (
            "DATE_TRUNC('month', admitted)",
            tuple(
                date(y, m, 1) for y, m in ((2023, 11), (2023, 12), (2024, 1), (2024, 2))
            ),
        ),
        ("DATE_TRUNC(admitted, QUARTER)", (date(2023, 10, 1), date(2024, 1, 1))),
        ("DATE_TRUNC('year', admitted)", (date(2023, 1, 1), date(2024, 1, 1))),
        ("DATE_TRUNC('day', arrived)", (date(2024, 1, 1), date(2024, 1, 2))),
        ("DATE_TRUNC('week', arrived)", (date(2024, 1, 1),)),
        ("DATE_TRUNC(arrived, WEEK)", (date(2023, 12, 31), None)),
        ("TO_CHAR(admitted, 'YYYY-MM')", ("2023-11", "2023-12", "2024-01", "2024-02")),
        ("FORMAT_DATE('%m', admitted)", ("11", "12", "01", "02")),
        ("FORMAT_DATE('Q%Q', born)", ("Q1", "Q2", "Q3", "Q4", None)),
        ("TO_CHAR(arrived, 'YYYY.MM.DD')", ("2024.01.01", "2024.01.02")),
        ("TO_CHAR(admitted, 'YYYY-\"Q\"Q')", ("2023-Q4", "2024-Q1")),
        ("TO_CHAR(admitted, 'IYYY-IW')", None),
        ("TO_CHAR(admitted, 'FMDay')", WEEKDAYS),
        ("DAYNAME(admitted)", WEEKDAYS),
        ("DATENAME(weekday, admitted)", WEEKDAYS),
        ("DATE_FORMAT(admitted, 'EEEE')", WEEKDAYS),
        ("DATE_FORMAT(admitted, '%W')", WEEKDAYS),
        ("FORMAT(admitted, 'ddd')", tuple(name[:3] for name in WEEKDAYS)),
        (
            "FORMAT(arrived, 'dddd dd MMMM yyyy')",
            ("Monday 01 January 2024", "Tuesday 02 January 2024"),
        ),
        (
            "TO_CHAR(arrived, 'yyyy \"added\"')",
            ("2024 added",),
        ),
        ("DATE_FORMAT(arrived, '%x-W%v')", ("2024-W01",)),
        ("DATE_FORMAT(arrived, '%d. %M %Y')", ("01. January 2024", "02. January 2024")),
        ("TO_CHAR(admitted, 'DY')", tuple(name[:3].upper() for name in WEEKDAYS)),
        ("TO_CHAR(admitted, 'Day')", tuple(name.ljust(9) for name in WEEKDAYS)),
        ("FORMAT_DATE('%A', arrived)", ("Monday", "Tuesday")),
        (
            "FORMAT_DATE('%B', admitted)",
            ("November", "December", "January", "February"),
        ),
        ("MONTHNAME(admitted)", ("November", "December", "January", "February")),
        (
            "TO_CHAR(admitted, 'Mon YYYY')",
            ("Nov 2023", "Dec 2023", "Jan 2024", "Feb 2024"),
        ),
        ("FORMAT_DATE('%b', born)", (*(name[:3] for name in MONTHS), None)),
        ("EXTRACT(ISOYEAR FROM admitted)", (2023, 2024)),
        ("EXTRACT(DOW FROM admitted)", tuple(range(7))),
        ("LAST_DAY(arrived)", (date(2024, 1, 31),)),
        ("EXTRACT(MONTH FROM AGE(left_on, admitted))", (*range(12), None)),
        ("age_years(admitted, left_on)", (0, None)),
        ("TIMESTAMPDIFF(MONTH, admitted, left_on)", (0, 1, 2, 3, None)),
    ],
)
def test_a_key_has_one_value_for_each_period_of_the_declared_days(expression, values):
    found = key_of(expression)
    if values is None:
        weeks = {
            date.fromordinal(n).strftime("%G-%V")
            for n in range(FIRST.toordinal(), LAST.toordinal() + 1)
        }
        assert found == tuple(sorted(weeks))
    else:
        assert found == values


def test_where_bounds_what_is_added_up_before_it_is_rounded():
    waited = "arrived - TIMESTAMP '2024-01-01 08:00:00'"
    where = f" WHERE {waited} BETWEEN INTERVAL '0 days' AND INTERVAL '5 minutes'"
    asked = f"SELECT AVG({waited}) AS a, COUNT({waited}) AS n FROM stays"
    for sql, most in ((asked + where, 300 * 10**6), (asked, 36 * 3600 * 10**3)):
        measures = bind_query(parse_query(sql), DATASET, NO_BOUNDS).plan.measures
        summed, counted = measures  # COUNT(x) is that of AVG(x)
        assert (summed.lower, summed.upper) == (0, most)
        assert counted.slot != summed.slot or most == 300 * 10**6


@pytest.mark.parametrize(
    ("expression", "bounds"),
    [
        ("left_on - admitted", (-87, 107)),
        ("EXTRACT(DAY FROM left_on - admitted)", (-87, 107)),
        ("EXTRACT(EPOCH FROM left_on - admitted)", (-87 * 86400, 107 * 86400)),
        ("arrived - DATE '2024-01-01'", (8 * 3600 * 10**3, 44 * 3600 * 10**3)),
        (
            "LEAST(arrived, TIMESTAMP '2024-01-02 12:00:00') - DATE '2024-01-01'",
            (8 * 3600 * 10**3, 36 * 3600 * 10**3),
        ),
        (
            "COALESCE(arrived, TIMESTAMP '2024-01-05 00:00:00') - DATE '2024-01-01'",
            (8 * 3600 * 10**3, 96 * 3600 * 10**3),
        ),
        (
            "CASE WHEN days > 3 THEN arrived ELSE TIMESTAMP '2024-01-03' END - arrived",
            (-36 * 3600 * 10**3, 40 * 3600 * 10**3),
        ),
        ("EXTRACT(DAY FROM arrived - DATE '2024-01-01')", (0, 1)),
        ("TIMESTAMPDIFF(HOUR, DATE '2024-01-01', arrived)", (8, 44)),
        ("DATE_DIFF('hour', DATE '2024-01-01', arrived)", (8, 44)),
        ("DATE_DIFF('quarter', admitted, left_on)", (-1, 1)),
        ("DATE_DIFF('week', admitted, left_on)", (-12, 15)),
        ("EXTRACT(YEAR FROM AGE(admitted, born))", (0, 94)),
        ("EXTRACT(YEAR FROM AGE(born))", (0, 94)),
    ],
)
def test_differences_have_public_bounds(expression, bounds):
    assert bounds_of(expression) == bounds


@pytest.mark.parametrize(
    ("expression", "ends"),
    [
        ("admitted + INTERVAL '1 month'", (date(2023, 12, 15), date(2024, 3, 10))),
        ("admitted - INTERVAL 1 YEAR", (date(2022, 11, 15), date(2023, 2, 10))),
        ("admitted + days * INTERVAL '1 week'", (FIRST, date(2024, 4, 20))),
        ("DATEADD(month, days, admitted)", (FIRST, date(2024, 12, 10))),
        ("DATE_SUB(admitted, INTERVAL 3 DAY)", (date(2023, 11, 12), date(2024, 2, 7))),
    ],
)
def test_a_moved_date_has_public_bounds(expression, ends):
    assert days_of(expression) == ends


ONE_QUESTION = (
    (
        "admitted >= CURRENT_DATE - INTERVAL '1 month'",
        "admitted >= DATE '2024-02-29'",
        "CURRENT_DATE - INTERVAL 1 MONTH <= admitted",
        "admitted >= DATE_ADD(NOW(), INTERVAL -1 MONTH)",
        "admitted >= ADD_MONTHS(TODAY(), -1)",
        "admitted >= DATEADD(month, -1, GETDATE())",
        "admitted >= DATE_SUB(CURRENT_DATE(), INTERVAL 1 MONTH)",
        "admitted >= LAST_DAY(DATE '2024-02-01')",
    ),
    (
        "left_on - admitted <= 30",
        "left_on - admitted <= INTERVAL '30 days'",
        "INTERVAL 30 DAY >= left_on - admitted",
        "DATE_DIFF('day', admitted, left_on) <= 30",
        "DATE_DIFF(left_on, admitted, DAY) <= 30",
        "DATEDIFF(day, admitted, left_on) <= 30",
        "DATEDIFF(left_on, admitted) <= 30",
        "TIMESTAMPDIFF(DAY, admitted, left_on) <= 30",
        "EXTRACT(DAY FROM left_on - admitted) <= 30",
    ),
    (
        "left_on > admitted + 90",
        "left_on > admitted + INTERVAL '90 days'",
        "left_on > INTERVAL 90 DAY + admitted",
        "left_on > DATE_ADD(admitted, INTERVAL 90 DAY)",
        "left_on > DATE_ADD(admitted, 90)",
        "left_on > admitted + 9 * INTERVAL '10 days'",
        "left_on > 90 + admitted",
    ),
    (
        "age_years(born, admitted) >= 65",
        "EXTRACT(YEAR FROM AGE(admitted, born)) >= 65",
        "DATE_PART('year', AGE(admitted, born)) >= 65",
        "TIMESTAMPDIFF(YEAR, born, admitted) >= 65",
    ),
    (
        "EXTRACT(YEAR FROM admitted) = 2024",
        "YEAR(admitted) = 2024",
        "DATE_PART('year', admitted) = 2024",
        "DATEPART(year, admitted) = 2024",
        "DATEPART(yyyy, admitted) = 2024",
    ),
    (
        "DATE_TRUNC('month', admitted) = DATE '2024-01-01'",
        "DATE_TRUNC(admitted, MONTH) = '2024-01-01'",
        "DATETRUNC(month, admitted) = MAKE_DATE(2024, 1, 1)",
        "DATE_TRUNC('month', admitted) = DATE(2024, 1, 1)",
    ),
    (
        "TO_CHAR(admitted, 'YYYY-MM') = '2024-01'",
        "FORMAT_DATE('%Y-%m', admitted) = '2024-01'",
        "STRFTIME(admitted, '%Y-%m') = '2024-01'",
        "DATE_FORMAT(admitted, '%Y-%m') = '2024-01'",
    ),
    (
        "arrived - TIMESTAMP '2024-01-01 00:00:00' > INTERVAL '6 hours'",
        "arrived - DATE '2024-01-01' > INTERVAL 6 HOUR",
        "EXTRACT(EPOCH FROM arrived - DATE '2024-01-01') > 21600",
    ),
)


@pytest.mark.parametrize("spellings", ONE_QUESTION, ids=lambda s: s[0])
def test_spellings_of_one_condition_are_one_question(spellings):
    texts = {
        each: compile_query(
            f"SELECT COUNT(*) FROM stays WHERE {each}", DATASET
        ).canonical
        for each in spellings
    }
    assert len(set(texts.values())) == 1, texts


@pytest.mark.parametrize(
    ("age", "meant"),
    [
        (
            "AGE(left_on, born) >= INTERVAL '1 year'",
            "TIMESTAMPDIFF(MONTH, born, left_on) >= 12",
        ),
        (
            "AGE(left_on, '2023-11-01'::date) < INTERVAL '1 month'",
            "TIMESTAMPDIFF(MONTH, DATE '2023-11-01', left_on) < 1",
        ),
        (
            "AGE(admitted, left_on) >= INTERVAL '1 month'",
            "TIMESTAMPDIFF(MONTH, left_on, admitted) >= 1 AND admitted >= left_on",
        ),
        (
            "NOT AGE(admitted, left_on) >= INTERVAL '0 months'",
            (
                "NOT (TIMESTAMPDIFF(MONTH, left_on, admitted) >= 0"
                " AND admitted >= left_on)"
            ),
        ),
        (
            "AGE(someday, born) < INTERVAL '2 years'",
            "TIMESTAMPDIFF(MONTH, born, someday) < 24 OR someday < born",
        ),
    ],
)
def test_an_age_before_birth_is_less_than_any_other(age, meant):
    """As in PostgreSQL, where it is negative: its row met no condition at all."""
    texts = {
        compile_query(f"SELECT COUNT(*) FROM stays WHERE {each}", DATASET).canonical
        for each in (age, meant)
    }
    assert len(texts) == 1


def test_an_age_below_nothing_is_asked_for_the_other_way_round():
    sql = "SELECT COUNT(*) FROM stays WHERE AGE({}) >= -INTERVAL '1 month'"
    assert compile_query(sql.format("left_on, born"), DATASET)
    with pytest.raises(SqlNotAllowedError, match="exchange the dates") as refused:
        compile_query(sql.format("admitted, left_on"), DATASET)
    assert refused.value.rule == "age_years"


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("EXTRACT(YEAR FROM AGE(left_on, admitted)) < 1", True),
        ("DATE_PART('month', AGE(admitted, arrived)) = 0", True),
        ("TIMESTAMPDIFF(MONTH, admitted, left_on) = 0", True),
        ("EXTRACT(YEAR FROM AGE(DATE '2024-01-01', admitted)) = 0", True),
        ("EXTRACT(YEAR FROM AGE(left_on, born)) = 0", False),  # nobody is unborn
        ("EXTRACT(YEAR FROM AGE(DATE '2000-01-01', born)) = 0", False),  # a birth
        ("EXTRACT(YEAR FROM AGE(admitted)) = 0", False),
        ("EXTRACT(YEAR FROM AGE(someday, admitted)) = 0", False),
        ("AGE(left_on, admitted) < INTERVAL '1 year'", False),
        ("age_years(admitted, left_on) = 0", False),
    ],
)
def test_an_age_of_two_events_says_where_it_is_null(condition, said):
    sql = f"SELECT COUNT(*) FROM stays WHERE {condition}"
    codes = [warning.code for warning in compile_query(sql, DATASET).warnings]
    assert codes == ["null_ages"] * said


def test_a_key_of_which_more_is_known_is_not_the_same_arithmetic_written_out():
    known = "EXTRACT(MONTH FROM AGE(left_on, born))"
    written = (
        "TIMESTAMPDIFF(MONTH, born, left_on) - TIMESTAMPDIFF(YEAR, born, left_on) * 12"
    )
    texts, sizes = set(), set()
    for each in (known, written):
        sql = f"SELECT {each} AS k, COUNT(*) AS n FROM stays GROUP BY 1"
        texts.add(compile_query(sql, DATASET).canonical)
        sizes.add(len(key_of(each)))
    assert len(texts) == len(sizes) == 2


@pytest.mark.parametrize(
    "expression",
    ["DATE_TRUNC('month', someday)", "TO_CHAR(someday, 'YYYY')", "YEAR(someday)"],
)
def test_a_key_of_undeclared_days_says_what_is_missing(expression):
    with pytest.raises(QueryError) as refused:
        key_of(expression)
    assert refused.value.rule == "no_public_domain"


DAYS = st.dates()
MONTHS = st.integers(-130_000, 130_000)


@settings(deadline=None)
@given(DAYS, DAYS, MONTHS, MONTHS)
def test_bounds_of_moved_dates_hold_every_result(one, other, months, more):
    low, high = sorted((one, other))
    fewest, most = sorted((months, more))
    ends = tuple(map(intervals.grid_value, (low, high)))
    found = calendar.months_shifted((ends[0], ends[1]), (fewest, most))
    for day in (low, high):
        for number in (fewest, most, (fewest + most) // 2):
            moved = calendar.months_added(day, number)
            if moved is not None:
                assert found is not None
                assert found[0] <= intervals.grid_value(moved) <= found[1]


@settings(deadline=None)
@given(
    DAYS,
    st.integers(0, 400),
    st.sampled_from(sorted({"day", "week", "month", "quarter", "year"})),
)
def test_periods_begin_where_the_first_day_of_each_lies(first, more, unit):
    last = min(date.max.toordinal(), first.toordinal() + more)
    days = (intervals.grid_value(first), intervals.grid_value(date.fromordinal(last)))
    starts = list(calendar.period_starts(days, unit))
    expected = {
        calendar.period_start(date.fromordinal(n), unit)
        for n in range(first.toordinal(), last + 1)
    }
    assert starts == sorted(expected)


@settings(deadline=None)
@given(DAYS, DAYS, DAYS, DAYS)
def test_bounds_of_completed_months_hold_every_age(a, b, c, d):
    births, dates = sorted((a, b)), sorted((c, d))
    number = intervals.grid_value
    found = calendar.ages_in_months(
        (number(births[0]), number(births[1])), (number(dates[0]), number(dates[1]))
    )
    for birth in births:
        for at in dates:
            if at >= birth:
                months = calendar.completed_months(birth, at)
                assert found is not None
                assert found[0] <= months <= found[1]


def test_texts_of_weeks_and_months_list_days_between_both():
    """1 January 2027 lies in week 53 of 2026, which begins in December."""
    days = tuple(
        intervals.grid_value(date(*day)) for day in ((2026, 12, 1), (2027, 1, 31))
    )
    pieces = ("YYYY", "IW")
    unit = calendar.written_period(pieces)
    texts = {
        calendar.written_day(day, pieces)
        for day in calendar.period_starts((days[0], days[1]), unit)
    }
    assert "202753" in texts


@pytest.mark.parametrize(
    "written",
    [
        *("TO_CHAR(admitted, 'DDDD')", "TO_CHAR(admitted, 'MMMM')"),
        *("DATE_FORMAT(admitted, '%h')", "DATE_FORMAT(admitted, 'yyyy MMMMM')"),
        *("TO_CHAR(admitted, 'YYYYYYYY')", "FORMAT(admitted, 'ddddd')"),
        *("FORMAT(admitted, 'MMMMMM')", "FORMAT(admitted, 'yyyyyyyy')"),
        *(f"DATE_FORMAT(admitted, '%Y-{each}')" for each in ("%V", "%G", "%F", "%Q")),
        *("DATE_FORMAT(admitted, '%A')", "DATE_FORMAT(admitted, '%B')"),
        *("DATE_FORMAT(admitted, 'yyyy-MM-DD')", "DATE_FORMAT(admitted, 'DD')"),
        *("DATE_FORMAT(admitted, 'YYYY-MM-dd')", "FORMAT(admitted, 'YYYY')"),
        *("DATE_FORMAT(admitted, '%hh')", "DATE_FORMAT(admitted, '%MM')"),
    ],
)
def test_what_another_dialect_reads_otherwise_is_refused(written):
    with pytest.raises(SqlNotAllowedError) as refused:
        key_of(written)
    assert refused.value.rule == "date_format"
    assert ("'yyyy-MM-dd'" in refused.value.hint) == ("FORMAT(" in written)


@pytest.mark.parametrize("before", ["", "1 DAY ", "+", "* ", "'1' YEAR "])
@pytest.mark.parametrize("text", [" " * 15_000 + "!", "1" * 15_000])
def test_a_long_interval_is_no_work_for_the_parser(before, text):
    """Its own patterns took five to twenty seconds for one."""
    with pytest.raises(QueryError):
        compile_query(
            "SELECT COUNT(*) FROM stays WHERE admitted > left_on - "
            f"INTERVAL {before}'{text}'",
            DATASET,
        )


def test_an_intervals_text_is_read_once():
    """Tried from each space anew, this one took minutes."""
    place = Position(1, 1)
    long = Interval(StringLiteral(" " * 300_000 + "!", place), None, place)
    with pytest.raises(SqlNotAllowedError, match="interval"):
        amount_of(long, None)


# -- strings beside dates --------------------------------------------------------

BESIDE = (
    ("COALESCE(someday, '2099-12-31') >= admitted", "DATE '2099-12-31'"),
    ("LEAST('2024-01-31', someday) > admitted", "DATE '2024-01-31'"),
    ("GREATEST(someday, admitted, '2024-01-31') > born", "DATE '2024-01-31'"),
    ("NULLIF(someday, '2024-01-31') > admitted", "DATE '2024-01-31'"),
    (
        "CASE WHEN days > 3 THEN '2024-01-31' ELSE someday END > born",
        "DATE '2024-01-31'",
    ),
    ("CASE days WHEN 3 THEN someday ELSE '2024-01-31' END > born", "DATE '2024-01-31'"),
    (
        "'2024-01-31' BETWEEN born AND COALESCE(someday, '2024-01-31')",
        "DATE '2024-01-31'",
    ),
    ("COALESCE(someday, '2099-12-31') IN ('2099-12-31')", "DATE '2099-12-31'"),
    ("COALESCE(someday, '2024-01-31') - admitted > 3", "DATE '2024-01-31'"),
    ("COALESCE(arrived, '2024-01-31') > admitted", "TIMESTAMP '2024-01-31 00:00:00'"),
)


@pytest.mark.parametrize(("condition", "typed"), BESIDE)
def test_a_string_among_dates_is_the_date_that_it_writes(condition, typed):
    """As in PostgreSQL, where COALESCE, CASE and LEAST resolve what has no type."""
    written = typed.split(" ", 1)[1][:11] + "'"
    assert written in condition
    plans = [
        bind_query(
            parse_query(f"SELECT COUNT(*) FROM stays WHERE {text}"), DATASET, NO_BOUNDS
        ).plan
        for text in (condition, condition.replace(written, typed))
    ]
    assert plans[0] == plans[1]


@pytest.mark.parametrize(
    ("condition", "rule", "place"),
    [
        ("COALESCE(someday, 'never') > admitted", "literal_type", "'never'"),
        ("COALESCE(someday, '2024-02-30') > born", "literal_type", "'2024-02-30'"),
        ("COALESCE(arrived, 'never') > admitted", "literal_type", "'never'"),
        ("COALESCE('2024-01-31', '2024-02-01') > born", "column_types", "born"),
        ("COALESCE(someday, '2024-01-31', days) > 1", "result_types", "'2024-01-31'"),
        ("COALESCE(someday, arrived, '2024-01-31') > born", "result_types", "arrived"),
        ("COALESCE(days, '3') > 1", "result_types", "'3'"),
    ],
)
def test_a_string_that_is_no_date_or_stands_beside_other_types_is_refused(
    condition, rule, place
):
    sql = f"SELECT COUNT(*) FROM stays WHERE {condition}"
    with pytest.raises(QueryError) as refused:
        compile_query(sql, DATASET)
    assert refused.value.rule == rule
    assert sql[refused.value.column - 1 :].startswith(place)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("left_on - admitted > 5", True),
        ("left_on > admitted + 5", True),
        ("left_on - admitted < -5", True),
        ("left_on - admitted BETWEEN 5 AND 30", False),
        ("left_on - admitted > 5 AND left_on <= admitted + 30", False),
        ("left_on < DATE '2023-12-01' AND left_on > admitted", False),
    ],
)
def test_a_difference_of_which_where_lifts_one_end_is_told(where, said):
    """Its noise goes by the end that is left, as wide as before."""
    for value in ("left_on - admitted", "(left_on - admitted) / 7.0"):
        sql = f"SELECT AVG({value}) AS x FROM stays WHERE {where}"
        codes = [warning.code for warning in compile_query(sql, DATASET).warnings]
        assert codes.count("wide_difference") == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("left_on - admitted", True),
        ("DATE_DIFF(left_on, admitted, DAY)", True),
        ("2 * (left_on - admitted)", True),
        ("DATE_DIFF('hour', admitted, left_on)", True),
        ("DATE_DIFF('minute', arrived, left_on)", True),
        ("CASE WHEN left_on > DATE '2024-01-01' THEN left_on - admitted END", True),
        ("CASE WHEN left_on >= admitted THEN left_on - admitted END", True),
        ("CASE WHEN left_on > admitted THEN 2 * (left_on - admitted) END", True),
        (
            "CASE WHEN left_on - admitted BETWEEN 0 AND 9 THEN left_on - admitted END",
            False,
        ),
        (
            "CASE WHEN left_on - admitted IN (1, 9) THEN 2 * (left_on - admitted) END",
            False,
        ),
        ("left_on - born", False),
        ("ABS(left_on - admitted)", True),
        ("LEAST(ABS(left_on - admitted), 60)", False),
        ("DATE_DIFF('hour', DATE '2023-12-01', left_on)", False),
        ("LEAST(GREATEST(left_on - admitted, 0), 60)", False),
        ("left_on - DATE '2023-12-01'", False),
        ("EXTRACT(YEAR FROM left_on) - EXTRACT(YEAR FROM admitted)", False),
    ],
)
@pytest.mark.parametrize("function", ["SUM", "AVG", "STDDEV"])
def test_a_difference_that_reaches_both_ways_is_told(function, value, said):
    """Its noise goes by the domains' width, whichever stays there are."""
    key = next(iter(DATASET.tables["stays"].columns)).name
    derived = f"(SELECT {key}, {value} AS v FROM stays) AS d"
    for sql in (
        f"{function}({value}) AS x FROM stays",
        f"{function}(v) FROM {derived}",
    ):
        found = bind_query(parse_query(f"SELECT {sql}"), DATASET, NO_BOUNDS).warnings
        codes = [warning.code for warning in found]
        assert codes.count("wide_difference") == said
        for warning in found:
            if warning.code == "wide_difference":
                assert "LEAST(GREATEST(x, 0), 60)" in warning.detail
