"""The evaluator against values worked out by hand, one a sentence of the contract."""

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from privacy.contributions import NO_BOUNDS, ContributionBounds
from tests.semantics import hospital
from tests.semantics.meaning import domains, numbers
from tests.semantics.meaning.domains import Info, Range
from tests.semantics.meaning.evaluator import Prepared, present
from tests.semantics.meaning.expressions import compiled
from tests.semantics.meaning.queries import World
from tests.semantics.meaning.scopes import Entry, Scope
from tests.semantics.meaning.tree import (
    Agg,
    And,
    Arith,
    Between,
    Call,
    Case,
    Cast,
    Coalesce,
    Col,
    Compare,
    Derived,
    Divide,
    Exists,
    Extract,
    Frame,
    InList,
    InQuery,
    IsNull,
    Item,
    Join,
    Like,
    Lit,
    Minus,
    Not,
    Or,
    OrderItem,
    Query,
    Select,
    TableRef,
    Today,
    UnionAll,
    Window,
)

MAX, MIN = 2**63 - 1, -(2**63)
LEAP = date(2020, 2, 29)
WORLD = World({}, hospital.DATASET, NO_BOUNDS, hospital.HIERARCHIES)
X, Y = Col("x"), Col("y")
UNIT = Col("patient_id")
COUNT = Item(Agg("count"))


def bound(node, types=None, **columns):
    """Compile over one row of nullable columns without domains."""
    types = types or {}
    entries = tuple(
        Entry(name, None, types.get(name, Info("integer", nullable=True)))
        for name in columns
    )
    function, info = compiled(node, Scope(WORLD, entries))
    return function((tuple(columns.values()),)), info


def value(node, types=None, **columns):
    return bound(node, types, **columns)[0]


DAY = {"x": Info("date", nullable=True), "y": Info("date", nullable=True)}


def test_the_evaluator_shares_nothing_with_the_compiler():
    folder = Path(domains.__file__).parent
    meeting_places = {
        "engine.py",
        "test_fuzz.py",
        "test_literal_conditions.py",
        "test_unit_local.py",
        "long.py",
    }
    for path in folder.glob("*.py"):
        if path.name not in meeting_places:
            lines = path.read_text(encoding="utf-8").splitlines()
            assert not [
                line
                for line in lines
                if line.startswith(("import query_lang", "from query_lang"))
            ]


# -- values ---------------------------------------------------------------------

VALUES = [
    ("sums clamp to 64 bits", Arith("+", X, Y), (MAX, 1), MAX),
    ("differences clamp to 64 bits", Arith("-", X, Y), (MIN, 1), MIN),
    ("products clamp to 64 bits", Arith("*", X, Y), (MAX, -2), MIN),
    (
        "each operator clamps its own result",
        Arith("-", Arith("+", X, Lit(1)), Lit(1)),
        (MAX, 0),
        MAX - 1,
    ),
    ("the minus of the minimum clamps", Minus(X), (MIN, 0), MAX),
    ("division is cut towards zero", Divide(X, Y), (-7, 2), -3),
    ("division by zero is NULL", Divide(X, Y), (7, 0), None),
    ("the minimum by -1 saturates", Divide(X, Y), (MIN, -1), MAX),
    ("arithmetic with NULL is NULL", Arith("*", X, Y), (0, None), None),
    ("NULL = NULL is NULL", Compare("=", X, Y), (None, None), None),
    ("numbers compare exactly", Compare("=", X, Lit(Decimal("1.0"))), (1, 0), True),
    (
        "64 bits are not rounded",
        Compare("=", X, Lit(MAX - 1)),
        (MAX, 0),
        False,
    ),
    ("IN is NULL beside NULL", InList(X, (Lit(1),)), (None, 0), None),
    ("NOT IN is NULL beside NULL", InList(X, (Lit(1),), True), (None, 0), None),
    (
        "NULL AND TRUE is NULL",
        And((Compare("=", X, Lit(1)), IsNull(X))),
        (None, 0),
        None,
    ),
    (
        "NULL OR TRUE is TRUE",
        Or((Compare("=", X, Lit(1)), IsNull(X))),
        (None, 0),
        True,
    ),
    ("NOT NULL is NULL", Not(Compare("=", X, Lit(1))), (None, 0), None),
    (
        "BETWEEN is FALSE when one side is, whatever the other",
        Between(X, Y, Lit(3)),
        (5, None),
        False,
    ),
    (
        "CASE takes the first branch that is TRUE",
        Case(None, ((Compare(">", X, Lit(0)), Lit("a")), (IsNull(Y), Lit("b"))), None),
        (None, None),
        "b",
    ),
    ("CASE without ELSE is NULL", Case(X, ((Lit(1), Lit("a")),), None), (2, 0), None),
    ("CASE x WHEN compares", Case(X, ((Lit(1), Lit("a")),), None), (1, 0), "a"),
    ("COALESCE takes the first that is not NULL", Coalesce((X, Y)), (None, 4), 4),
    ("bands are aligned at 0", Call("age_band", (Col("z"), 10)), (0, 0), "20-29"),
]


@pytest.mark.parametrize(
    ("node", "columns", "expected"),
    [case[1:] for case in VALUES],
    ids=[case[0] for case in VALUES],
)
def test_values_are_those_of_section_1(node, columns, expected):
    types = {"z": Info("integer", nullable=False, domain=(Range(0, 120),))}
    found = value(node, types, x=columns[0], y=columns[1], z=29)
    assert found == expected
    assert type(found) is type(expected)


DATES = [
    ("d + n counts days", Arith("+", X, Lit(1)), (LEAP, None), date(2020, 3, 1)),
    ("d - n counts back", Arith("-", X, Lit(366)), (LEAP, None), date(2019, 2, 28)),
    ("d + n is NULL after 9999", Arith("+", X, Lit(1)), (date.max, None), None),
    ("d - n is NULL before 0001", Arith("-", X, Lit(1)), (date.min, None), None),
    ("d + n takes any n", Arith("+", X, Lit(MAX)), (LEAP, None), None),
    ("d - e is in days", Arith("-", X, Y), (LEAP, date(2019, 2, 28)), 366),
    ("days from a to b", Call("date_diff", ("day", X, Y)), (LEAP, date(2020, 3, 1)), 1),
    (
        "months count boundaries",
        Call("date_diff", ("month", X, Y)),
        (date(2020, 1, 31), date(2020, 2, 1)),
        1,
    ),
    (
        "boundaries are negative when b < a",
        Call("date_diff", ("year", X, Y)),
        (date(2020, 1, 1), date(2019, 12, 31)),
        -1,
    ),
    (
        "a leap day's birthday comes on 1 March",
        Call("age_years", (X, Y)),
        (LEAP, date(2021, 2, 28)),
        0,
    ),
    (
        "and then the year is complete",
        Call("age_years", (X, Y)),
        (LEAP, date(2021, 3, 1)),
        1,
    ),
    ("no age before birth", Call("age_years", (X, Y)), (LEAP, date(2020, 2, 28)), None),
    ("weeks begin on Monday", Extract("isodow", X), (date(2020, 3, 1), None), 7),
    ("quarters", Extract("quarter", X), (date(2020, 3, 31), None), 1),
    ("CURRENT_DATE is the snapshot's", Today(), (None, None), date(2020, 3, 1)),
]


@pytest.mark.parametrize(
    ("node", "columns", "expected"),
    [case[1:] for case in DATES],
    ids=[case[0] for case in DATES],
)
def test_dates_are_those_of_section_1(node, columns, expected):
    assert value(node, DAY, x=columns[0], y=columns[1]) == expected


def test_a_timestamp_gives_its_hour_and_its_day():
    moment = datetime(2020, 2, 29, 23, 59, 59, 999999)  # noqa: DTZ001 - no zone
    types = {"x": Info("timestamp", nullable=True)}
    assert value(Extract("hour", X), types, x=moment) == 23
    assert value(Cast(X, "date"), types, x=moment) == LEAP


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("fall", "fa%", True),
        ("Fall", "fa%", False),
        ("fallen", "%en", True),
        ("", "%a%", False),
        (None, "%a%", None),
        ("über", "\u00fc%", True),
        ("u\u0308ber", "\u00fc%", False),
    ],
)
def test_like_is_case_sensitive_and_normalises_nothing(text, pattern, expected):
    types = {"x": Info("text", nullable=True)}
    assert value(Like(X, pattern), types, x=text) is expected


def test_text_is_ordered_by_code_points():
    types = {"x": Info("text", nullable=True), "y": Info("text", nullable=True)}
    assert value(Compare("<", X, Y), types, x="Z", y="a") is True
    assert value(Compare("<", X, Y), types, x="\uffff", y="\U0001f600") is True


def test_codes_are_read_in_upper_case_with_dots_optional():
    types = {"x": Info("text", nullable=True, hierarchy="icd10")}
    assert value(Call("icd_chapter", (X,)), types, x="e11.9") == "IV"
    assert value(Call("icd_block", (X,)), types, x="E119") == "E10-E14"
    assert value(Call("icd_category", (X,)), types, x="e14") == "E14"
    assert value(Call("icd_chapter", (X,)), types, x="hello") is None


# -- rows -----------------------------------------------------------------------


def encounter(unit, row_hash, **columns):
    empty = dict.fromkeys(column.name for column in hospital.ENCOUNTERS.columns)
    given = {"unit": unit, "row_hash": row_hash, "row_rank": columns.pop("rank", 1)}
    return {**empty, "severity": 1, "urgent": False, **given, **columns}


def prepared(select, bounds=NO_BOUNDS, ctes=(), **tables):
    every = {name: tables.get(name, []) for name in hospital.DATASET.tables}
    return Prepared(
        Query(select, ctes), every, hospital.DATASET, bounds, hospital.HIERARCHIES
    )


def vectors(select, bounds=NO_BOUNDS, ctes=(), **tables):
    return prepared(select, bounds, ctes, **tables).exact_vectors()


def rows_of(select, **tables):
    """Return the rows of a subquery, without their unit key."""
    every = {name: tables.get(name, []) for name in hospital.DATASET.tables}
    world = World(every, hospital.DATASET, NO_BOUNDS, hospital.HIERARCHIES)
    found = sorted(world.bind(select, None).run(()), key=lambda row: row.tie)
    return [row.values[1:] for row in found]


ENCOUNTERS = TableRef("encounters")


def over(window, encounters):
    items = (Item(UNIT), Item(Col("days")), Item(window, "w"))
    return rows_of(Select(items, ENCOUNTERS), encounters=encounters)


def days(*pairs):
    """Return encounters of one unit, a hash and a number of days each."""
    return [encounter(1, row_hash, days=n) for row_hash, n in pairs]


def windowed(function, order=(), frame=None):
    return Window(function, (UNIT,), order, frame)


BY_DAYS = (OrderItem(Col("days")),)
DAYS = Col("days")


def test_ties_of_an_order_are_completed_by_row_hash():
    rows = days((5, 1), (-3, 1), (0, 0))
    found = over(windowed(Call("row_number", ()), BY_DAYS), rows)
    assert found == [(1, 2), (0, 1), (1, 3)]


def test_ties_keep_the_row_hash_ascending_when_the_order_descends():
    rows = days((5, 1), (-3, 1), (0, 0))
    by = (OrderItem(DAYS, descending=True),)
    assert over(windowed(Call("row_number", ()), by), rows) == [(1, 1), (0, 3), (1, 2)]


@pytest.mark.parametrize("descending", [False, True])
def test_nulls_come_last_in_both_directions(descending):
    rows = days((1, None), (2, 1))
    by = (OrderItem(DAYS, descending),)
    assert over(windowed(Call("row_number", ()), by), rows) == [(None, 2), (1, 1)]


def test_nulls_come_first_where_it_is_written():
    rows = days((1, 1), (2, None))
    by = (OrderItem(DAYS, nulls_first=True),)
    assert over(windowed(Call("row_number", ()), by), rows) == [(1, 2), (None, 1)]


def test_without_order_by_the_frame_is_the_whole_partition():
    rows = days((1, 1), (2, 2))
    assert over(windowed(Agg("sum", DAYS)), rows) == [(1, 3), (2, 3)]


def test_with_order_by_the_frame_ends_at_the_current_row_not_at_its_peers():
    rows = days((1, 1), (2, 1))
    found = over(windowed(Agg("sum", DAYS), BY_DAYS), rows)
    assert found == [(1, 1), (1, 2)]


def test_an_empty_frame_counts_0_and_sums_to_null():
    frame = Frame(-2, -1)
    rows = days((1, 4), (2, 5))
    assert over(windowed(Agg("count"), (), frame), rows) == [(4, 0), (5, 1)]
    assert over(windowed(Agg("sum", DAYS), (), frame), rows) == [(4, None), (5, 4)]


def test_lag_counts_nulls_and_defaults_to_null():
    rows = days((1, 4), (2, None), (3, 5))
    found = over(windowed(Call("lag", (DAYS,))), rows)
    assert found == [(4, None), (None, 4), (5, None)]
    assert over(windowed(Call("lead", (DAYS, 2))), rows)[0] == (4, 5)


def rolled(aggregate, encounters, having=None):
    items = (Item(UNIT), Item(aggregate, "a"))
    select = Select(items, ENCOUNTERS, group_by=(UNIT,), having=having)
    return rows_of(select, encounters=encounters)


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        (Agg("sum", DAYS), None),
        (Agg("count", DAYS), 0),
        (Agg("count"), 2),
        (Agg("min", DAYS), None),
        (Agg("bool_and", Compare("=", DAYS, Lit(1))), None),
    ],
)
def test_roll_ups_of_no_value(aggregate, expected):
    assert rolled(aggregate, days((1, None), (2, None))) == [(expected,)]


def test_sum_saturates_once_at_its_end():
    rows = [encounter(1, n, wide=w) for n, w in enumerate((MAX, MAX, -MAX))]
    assert rolled(Agg("sum", Col("wide")), rows) == [(MAX,)]
    rows = [encounter(1, n, wide=w) for n, w in enumerate((MAX, 5, -5))]
    assert rolled(Agg("sum", Col("wide")), rows) == [(MAX,)]


def test_an_average_is_compared_as_an_exact_ratio():
    rows = days((1, 1), (2, 1), (3, 2))
    third = Lit(Decimal("1.333333333333333333"))
    having = Compare(">", Agg("avg", DAYS), third)
    assert rolled(Agg("count"), rows, having) == [(3,)]
    equal = Compare("=", Agg("avg", DAYS), third)
    assert rolled(Agg("count"), rows, equal) == []


def test_first_and_last_take_nulls_and_break_ties_by_row_hash():
    rows = [
        encounter(1, 9, started=LEAP, days=1),
        encounter(1, -9, started=LEAP, days=None),
    ]
    by = (OrderItem(Col("started")),)
    assert rolled(Agg("first", DAYS, order_by=by), rows) == [(None,)]
    assert rolled(Agg("last", DAYS, order_by=by), rows) == [(1,)]


def test_distinct_is_a_roll_up_of_its_columns():
    items = (Item(UNIT), Item(DAYS))
    select = Select(items, ENCOUNTERS, distinct=True)
    rows = days((1, 4), (2, 4), (3, None))
    assert rows_of(select, encounters=rows) == [(4,), (None,)]


def test_rows_of_a_union_that_share_a_hash_are_ordered_by_part():
    part = Select((Item(UNIT), Item(Lit("b"), "p")), ENCOUNTERS)
    other = Select((Item(UNIT), Item(Lit("a"), "q")), ENCOUNTERS)
    rows = days((1, 4), (2, 5))
    found = rows_of(UnionAll((part, other)), encounters=rows)
    assert found == [("b",), ("a",), ("b",), ("a",)]


def test_joined_rows_are_ordered_by_the_hashes_in_join_order():
    join = Join(
        "inner",
        TableRef("encounters", "b"),
        on=Compare("=", Col("patient_id", "a"), Col("patient_id", "b")),
    )
    items = (
        Item(Col("patient_id", "a"), "u"),
        Item(Col("days", "a"), "m"),
        Item(Col("days", "b"), "n"),
    )
    select = Select(items, TableRef("encounters", "a"), (join,))
    found = rows_of(select, encounters=days((2, 20), (1, 10)))
    assert found == [(10, 10), (10, 20), (20, 10), (20, 20)]


def test_conditions_of_a_left_join_stay_in_on():
    tie = Compare("=", Col("patient_id", "a"), Col("patient_id", "b"))
    on = And((tie, Compare("=", Col("days", "b"), Lit(99))))
    join = Join("left", TableRef("encounters", "b"), on=on)
    items = (Item(Col("patient_id", "a"), "u"), Item(Col("days", "b"), "n"))
    select = Select(items, TableRef("encounters", "a"), (join,))
    assert rows_of(select, encounters=days((2, 20))) == [(None,)]


def test_exists_may_read_outer_columns_of_any_level():
    def tied(name, *parts):
        tie = Compare("=", Col("patient_id", name), Col("patient_id", "a"))
        where = And((tie, *parts)) if parts else tie
        return Exists(
            Select((Item(Lit(1)),), TableRef("encounters", name), where=where)
        )

    inner = tied("c", Compare(">", Col("days", "c"), Col("days", "a")))
    middle = tied("b", inner)
    select = Select((COUNT,), TableRef("encounters", "a"), where=middle)
    assert vectors(select, encounters=days((1, 1), (2, 2), (3, 3))) == [[2]]


def test_not_in_an_empty_cohort_is_true():
    cohort = Select((Item(UNIT),), TableRef("labs"))
    select = Select((COUNT,), ENCOUNTERS, where=InQuery(UNIT, cohort, negated=True))
    assert vectors(select, encounters=days((1, 1))) == [[1]]


# -- groups and aggregates -------------------------------------------------------


def cells(*keys, **tables):
    items = (*(Item(key, f"k{n}") for n, key in enumerate(keys)), COUNT)
    select = Select(items, ENCOUNTERS, group_by=tuple(range(1, len(keys) + 1)))
    return prepared(select, **tables).cells


def test_cells_come_in_declared_order_with_other_then_null_last():
    assert cells(Col("ward")) == [("icu",), ("er",), ("other",), (None,)]
    assert cells(Col("severity")) == [(2,), (1,), (3,)]


def test_the_first_key_is_the_slowest():
    found = cells(Col("urgent"), Col("severity"))
    assert found[:4] == [(False, 2), (False, 1), (False, 3), (True, 2)]


def test_the_cells_of_case_are_its_labels_in_order_of_appearance():
    case = Case(None, ((Col("urgent"), Lit("z")), (IsNull(DAYS), Lit("a"))), Lit("z"))
    assert cells(case) == [("z",), ("a",)]
    assert cells(Case(None, ((Col("urgent"), Lit("z")),), None)) == [("z",), (None,)]


def test_the_cells_of_coalesce_are_the_firsts_then_new_ones():
    found = cells(Coalesce((Col("ward"), Lit("er"))))
    assert found == [("icu",), ("er",), ("other",)]
    assert cells(Coalesce((Col("severity"), Lit(9))))[-1] == (9,)


def test_the_last_band_is_not_cut():
    found = cells(Call("age_band", (Col("age"), 10)))
    assert found[0] == ("0-9",)
    assert found[-2:] == [("120-129",), (None,)]


def test_parts_of_dates_have_their_fixed_cells_and_years_those_of_the_bounds():
    assert len(cells(Extract("day", Col("started")))) == 31
    assert cells(Extract("quarter", Col("started"))) == [(1,), (2,), (3,), (4,)]
    assert cells(Extract("year", Col("started"))) == [(2020,)]


def test_where_shows_nothing_about_null():
    items = (Item(Col("ward")), COUNT)
    where = IsNull(Col("ward"), negated=True)
    select = Select(items, ENCOUNTERS, where=where, group_by=(Col("ward"),))
    assert (None,) in prepared(select).cells


def test_arithmetic_has_the_least_interval_that_holds_every_result():
    def ends(operator, *bounds):
        infos = [domains.integer(domains.whole(*b), nullable=False) for b in bounds]
        columns = Col("a"), Col("b")
        return domains.hull(numbers.operate(operator, columns, infos)[1].domain)

    assert ends("*", (-3, 14), (-3, 14)) == (-42, 196)
    assert ends("/", (-7, 5), (-2, 3)) == (-7, 7)
    assert ends("/", (1, 5), (0, 0)) == (0, 0)
    assert ends("+", (MAX - 1, MAX), (0, 5)) == (MAX - 1, MAX)
    assert ends("%", (-3, 14), (0, 5)) == (-3, 4)


def test_a_quotient_of_decimals_is_rounded_half_away_from_zero():
    value = domains.Info("decimal", nullable=False, scale=2)
    step, info = numbers.operate("/", (Col("a"), Col("b")), (value, value))
    assert (step(Decimal(2), Decimal(3)), info.scale) == (Decimal("0.666667"), 6)
    assert step(Decimal(-1), Decimal(8_000_000)) == Decimal(0)
    assert step(Decimal(-1), Decimal(2_000_000)) == Decimal("-0.000001")
    assert step(Decimal(1), Decimal(0)) is None


def test_least_is_bounded_by_what_is_never_null():
    known = domains.integer(domains.whole(60, 60), nullable=False)
    unknown = domains.Info("integer", nullable=True)
    step, info = numbers.extreme("least", (unknown, known))
    assert (step(None, 60), step(70, 60), info.half) == (60, 60, (None, 60))
    assert numbers.extreme("greatest", (info, known))[1].domain is not None


def test_sums_of_a_roll_up_range_over_one_to_k_rows():
    assert domains.sum_interval((-3, 14), 4) == (-12, 56)
    assert domains.sum_interval((2, 14), 4) == (2, 56)
    assert domains.sum_interval((-5, -2), 4) == (-20, -2)


def test_the_age_interval_begins_at_0_where_births_may_be_late():
    births = (date(1920, 1, 1), date(2020, 2, 29))
    assert domains.age_interval(births, (LEAP, LEAP)) == (0, 100)


def test_distinct_patients_rows_and_values_are_counted_each_in_its_way():
    rows = [
        encounter(1, 1, ward="icu"),
        encounter(1, 2, ward="er"),
        encounter(2, 1, ward="icu"),
        encounter(2, 2, ward=None),
    ]
    items = (
        COUNT,
        Item(Agg("count", Col("ward")), "wards"),
        Item(Agg("count", UNIT, distinct=True), "patients"),
        Item(Agg("count", Col("ward"), distinct=True), "kinds"),
    )
    assert vectors(Select(items, ENCOUNTERS), encounters=rows) == [[4], [3], [2], [2]]


def test_the_sum_of_nothing_is_0_at_the_top():
    assert vectors(Select((Item(Agg("sum", DAYS)),), ENCOUNTERS)) == [[0]]


def test_a_sum_of_decimals_lies_on_its_grid():
    rows = [encounter(1, n, cost=Decimal(c)) for n, c in enumerate(("0.05", "-1.50"))]
    select = Select((Item(Agg("sum", Col("cost"))),), ENCOUNTERS)
    assert vectors(select, encounters=rows) == [[-145]]


def test_an_average_shares_its_sum_and_its_count():
    items = (
        Item(Agg("avg", DAYS), "a"),
        Item(Agg("sum", DAYS), "s"),
        Item(Agg("count", DAYS), "n"),
        COUNT,
    )
    found = vectors(Select(items, ENCOUNTERS), encounters=days((1, 4), (2, None)))
    assert found == [[4], [1], [2]]


def test_vectors_come_from_the_list_then_having_then_order_by():
    select = Select(
        (Item(Col("urgent")), COUNT),
        ENCOUNTERS,
        group_by=(1,),
        having=Compare(">", Agg("sum", DAYS), Lit(0)),
        order_by=(OrderItem(Agg("count", DAYS)),),
    )
    found = vectors(select, encounters=days((1, 4), (2, None)))
    assert found == [[2, 0], [4, 0], [1, 0]]


def test_a_domain_of_few_integers_has_one_bin_a_value():
    select = Select((Item(Agg("median", Col("days"))),), ENCOUNTERS)
    found = vectors(select, encounters=days((1, -3), (2, 14), (3, 14)))[0]
    assert len(found) == 18
    assert (found[0], found[17]) == (1, 2)


def test_bins_are_half_open_but_the_last():
    median = Agg("quantile", Col("age"), fraction=Decimal("0.5"), bins=2)
    rows = [encounter(1, n, age=a) for n, a in enumerate((0, 59, 60, 120, None))]
    assert vectors(Select((Item(median),), ENCOUNTERS), encounters=rows) == [[2, 2]]


# -- bounds ---------------------------------------------------------------------


def test_a_table_bound_acts_before_filters():
    rows = [encounter(1, 1, days=1, rank=1), encounter(1, 2, days=2, rank=2)]
    where = Compare("=", DAYS, Lit(2))
    select = Select((COUNT,), ENCOUNTERS, where=where)
    bounds = ContributionBounds((("encounters", 1),))
    assert vectors(select, bounds, encounters=rows) == [[0]]
    after = ContributionBounds(max_rows_per_unit=1)
    assert vectors(select, after, encounters=rows) == [[1]]


def test_groups_are_bounded_first_then_rows():
    rows = [
        encounter(1, 1, severity=3),
        encounter(1, 2, severity=1),
        encounter(1, 3, severity=3),
        encounter(1, 4, severity=3),
    ]
    items = (Item(Col("severity")), COUNT)
    select = Select(items, ENCOUNTERS, group_by=(1,))
    bounds = ContributionBounds(max_rows_per_unit=2, max_groups_per_unit=1)
    assert vectors(select, bounds, encounters=rows) == [[0, 0, 2]]


def test_a_lowered_table_narrows_the_counts_of_its_roll_ups():
    items = (Item(UNIT), Item(Agg("count"), "n"))
    inner = Select(items, ENCOUNTERS, group_by=(UNIT,))
    select = Select((Item(Col("n")), COUNT), Derived(inner, "d"), group_by=(1,))
    assert prepared(select).cells == [(1,), (2,), (3,), (4,)]
    bounds = ContributionBounds((("encounters", 2),))
    assert prepared(select, bounds).cells == [(1,), (2,)]


def test_a_join_multiplies_the_counts_unless_it_looks_up_a_key():
    def counts(on):
        join = Join("inner", TableRef("diagnoses", "b"), on=on)
        items = (Item(Col("patient_id", "a")), Item(Agg("count"), "n"))
        unit = Col("patient_id", "a")
        inner = Select(items, TableRef("encounters", "a"), (join,), group_by=(unit,))
        outer = Select((Item(Col("n")), COUNT), Derived(inner, "d"), group_by=(1,))
        return len(prepared(outer).cells)

    tie = Compare("=", Col("patient_id", "a"), Col("patient_id", "b"))
    assert counts(tie) == 16
    assert counts(And((tie, Compare("=", Col("severity"), Col("seq", "b"))))) == 4


# -- noisy values ---------------------------------------------------------------


def shown(select, noisy):
    return present(
        Query(select), hospital.DATASET, noisy, hierarchies=hospital.HIERARCHIES
    )


def test_an_average_is_rounded_half_to_even_and_clamped_to_its_bounds():
    select = Select((Item(Agg("avg", DAYS)),), ENCOUNTERS)
    assert shown(select, [[2], [3]]) == [("0.666667",)]
    assert shown(select, [[1], [2_000_000]]) == [("0.000000",)]
    assert shown(select, [[3], [2_000_000]]) == [("0.000002",)]
    assert shown(select, [[900], [3]]) == [("14.000000",)]
    assert shown(select, [[5], [0]]) == [(None,)]


def test_a_sum_of_decimals_is_written_with_its_digits():
    select = Select((Item(Agg("sum", Col("cost"))),), ENCOUNTERS)
    assert shown(select, [[-5]]) == [("-0.05",)]


def test_a_quantile_is_linear_inside_its_bin_and_ignores_negative_counts():
    quantile = Agg("quantile", Col("age"), fraction=Decimal("0.25"), bins=2)
    select = Select((Item(quantile),), ENCOUNTERS)
    assert shown(select, [[2, 2]]) == [("30.000000",)]
    assert shown(select, [[-7, 4]]) == [("75.000000",)]
    assert shown(select, [[-1, 0]]) == [(None,)]


def test_a_quantile_of_single_values_is_one_of_them():
    quantile = Agg("quantile", DAYS, fraction=Decimal("0.5"))
    select = Select((Item(quantile),), ENCOUNTERS)
    noisy = [0] * 18
    noisy[4] = 1
    assert shown(select, [noisy]) == [("1.000000",)]


def test_a_quantile_of_dates_rounds_down():
    quantile = Agg("quantile", Col("started"), fraction=Decimal("0.5"), bins=2)
    select = Select((Item(quantile),), ENCOUNTERS)
    assert shown(select, [[1, 0]]) == [("2020-02-07",)]  # 30 January and 8 days


def test_a_key_is_ordered_as_declared_and_its_null_stays_last():
    def order(**how):
        term = OrderItem(Col("ward"), **how)
        select = Select(
            (Item(Col("ward")), COUNT), ENCOUNTERS, group_by=(1,), order_by=(term,)
        )
        return [row[0] for row in shown(select, [[1, 2, 3, 4]])]

    assert order() == ["icu", "er", "other", None]
    assert order(descending=True) == ["other", "er", "icu", None]
    assert order(descending=True, nulls_first=True) == [None, "other", "er", "icu"]


def test_having_and_limit_act_on_noisy_values_and_ties_keep_declared_order():
    select = Select(
        (Item(Col("ward")), Item(Agg("count"), "n")),
        ENCOUNTERS,
        group_by=(1,),
        having=Compare("<", Agg("count"), Lit(9)),
        order_by=(OrderItem(Col("n"), descending=True),),
        limit=2,
    )
    assert shown(select, [[9, 5, 5, -1]]) == [("er", 5), ("other", 5)]


def test_an_average_is_compared_before_it_is_rounded():
    select = Select(
        (Item(Agg("avg", DAYS)),),
        ENCOUNTERS,
        having=Compare("=", Agg("avg", DAYS), Lit(Decimal("0.666667"))),
    )
    assert shown(select, [[2], [3]]) == []
    assert Fraction(2, 3) != Fraction("0.666667")
